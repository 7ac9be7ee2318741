from __future__ import annotations

import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

import sfumato
from sfumato.cli.main import main

PEOPLE = "name,age,town,disease\n" + "".join(
    f"person {n},{20 + n % 50},{('Bern', 'Basel', 'Chur', 'Genf', 'Olten')[n % 5]},{('flu', 'gout')[n % 2]}\n"
    for n in range(100)
)
TREE = "ANY:\n  West: [Bern, Basel, Genf]\n  East: [Chur, Olten]\n"


@dataclass(frozen=True)
class Ended:
    code: int
    out: str
    err: str


Run = Callable[..., Ended]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Run:
    """Runs the program in a folder that holds a table and a taxonomy."""
    monkeypatch.chdir(tmp_path)
    Path("people.csv").write_text(PEOPLE)
    Path("town.yaml").write_text(TREE)

    def call(*arguments: str) -> Ended:
        monkeypatch.setattr(sys, "argv", ["sfumato", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        shown = capsys.readouterr()
        code = ended.value.code
        return Ended(code if isinstance(code, int) else 0, shown.out, shown.err)

    return call


def test_draft_asks_whether_one_row_is_one_person(run: Run) -> None:
    stays = "".join(f"{n // 2},{20 + n % 50},{('Bern', 'Chur')[n % 2]}\n" for n in range(100))
    Path("stays.csv").write_text("patient_no,age,town\n" + stays)
    ended = run("draft", "stays.csv", "--output", "recipe.yaml")
    told = " ".join(ended.err.split())
    assert (
        "Is one row one person? 100 rows have 50 different patient_no, 50 of them in more than one row, at most 2"
        in told
    )
    assert "5 x 2 = 10" in told
    assert sfumato.draft("stays.csv").questions[0].startswith("Is one row one person? 100 rows have 50 different")


def test_draft_prints_a_recipe(run: Run) -> None:
    ended = run("draft", "people.csv")
    assert ended.code == 0
    recipe = yaml.safe_load(ended.out)
    roles = {name: entry["role"] for name, entry in recipe["attributes"].items()}
    assert roles == {"name": "identifier", "age": "quasi", "town": "quasi", "disease": "sensitive"}


@pytest.fixture
def address(run: Run) -> str:
    """The same table in a database, under a name with a blank in it."""
    people = [line.split(",") for line in PEOPLE.splitlines()[1:]]
    with closing(sqlite3.connect("people.db")) as database:
        database.execute('CREATE TABLE "People 2026" (name TEXT, age INTEGER, town TEXT, disease TEXT)')
        database.executemany('INSERT INTO "People 2026" VALUES (?, ?, ?, ?)', people)
        database.commit()
    return "sqlite:///people.db?table=People%202026"


def test_a_database_drafts_what_a_file_drafts(run: Run, address: str) -> None:
    counted, read = (yaml.safe_load(run("draft", table).out) for table in (address, "people.csv"))
    assert counted["table"] == address
    assert {**counted, "table": ""} == {**read, "table": ""}
    assert sfumato.draft(address).schema == sfumato.draft("people.csv").schema
    assert run("draft", address, "--output", "recipe.yaml").code == 0
    assert run("publish", "recipe.yaml", "--output", "out", "--no-report", "--no-suggest").code == 0


def test_a_draft_takes_a_query(run: Run, address: str) -> None:
    bare, query = address.partition("?")[0], 'SELECT age, town, disease FROM "People 2026" WHERE age > 20'
    assert "to draft or apply, --query 'SELECT ...'" in run("draft", bare).err
    assert "a query is for a database" in run("draft", "people.csv", "--query", query).err
    assert run("draft", bare, "--query", query, "--output", "recipe.yaml").code == 0
    recipe = yaml.safe_load(Path("recipe.yaml").read_text())
    assert (recipe["query"], list(recipe["attributes"])) == (query, ["age", "town", "disease"])
    drafted = sfumato.draft(bare, query=query)
    assert drafted.query == query
    assert sfumato.read(bare, drafted.schema, query=query).rows == 98


def test_columns_that_a_database_cannot_give_and_digits_that_it_holds_as_text(run: Run) -> None:
    import duckdb

    with duckdb.connect("people.duckdb") as database:
        database.execute(
            "CREATE TABLE people AS SELECT 20 + n % 50 AS age, ['f', 'm'][n % 2 + 1] AS sex, [n, 2] AS tags, "
            "{'a': n} AS doc, CAST(1000 + n % 40 AS VARCHAR) AS xcode9, CAST(60 + n * 7 % 33 AS VARCHAR) AS peso "
            "FROM range(400) AS t(n)"
        )
    drafted = run("draft", "duckdb:///people.duckdb?table=people", "--output", "recipe.yaml")
    assert drafted.code == 0
    text = Path("recipe.yaml").read_text()
    entries = yaml.safe_load(text)["attributes"]
    assert list(entries) == ["age", "sex", "tags", "doc", "xcode9", "peso"]
    assert [entries[name]["role"] for name in ("tags", "doc")] == ["identifier", "identifier"]
    assert [entries[name]["kind"] for name in ("xcode9", "peso")] == ["category", "number"]
    told = " ".join(text.replace("\n#", " ").split())
    assert "Not read, and dropped: tags (type list" in told
    assert "Are these codes? xcode9." in told
    assert sfumato.read("duckdb:///people.duckdb?table=people", sfumato.Recipe.from_yaml(text).schema).rows == 400


def test_trees_are_drafted_and_checked_against_a_database(run: Run, address: str) -> None:
    Path("town.yaml").write_text("ANY: [Bern, Basel, Chur]\n")
    ended = run("taxonomy", "check", "town.yaml", "--table", address, "--column", "town")
    assert ended.code == 1
    assert all(town in ended.out for town in ("Genf", "Olten"))
    drafted = [run("taxonomy", "draft", table, "town").out for table in (address, "people.csv")]
    assert drafted[0] == drafted[1]
    wrong = run("taxonomy", "draft", address, "twon")
    assert "did you mean 'town'?" in wrong.err


def test_draft_writes_and_does_not_overwrite(run: Run) -> None:
    assert run("draft", "people.csv", "--output", "recipe.yaml").code == 0
    first = Path("recipe.yaml").read_text()
    Path("recipe.yaml").write_text("mine\n")
    refused = run("draft", "people.csv", "--output", "recipe.yaml")
    assert refused.code == 2
    assert "error: recipe.yaml: an existing file is not overwritten" in refused.err
    assert Path("recipe.yaml").read_text() == "mine\n"
    assert run("draft", "people.csv", "--output", "recipe.yaml", "--force").code == 0
    assert Path("recipe.yaml").read_text() == first


def test_draft_writes_taxonomies_beside_the_recipe(run: Run) -> None:
    Path("out").mkdir()
    Path("people.csv").write_text("plz,age\n" + "".join(f"0{1000 + n % 40},{n % 60}\n" for n in range(200)))
    drafted = run("draft", "people.csv", "-o", "out/recipe.yaml", "--taxonomies", "out/trees")
    assert drafted.code == 0
    assert "where somebody lives: many know it" in drafted.out
    assert "sfumato publish out/recipe.yaml --output out --allow" in drafted.out
    recipe = yaml.safe_load(Path("out/recipe.yaml").read_text())
    assert recipe["table"] == "../people.csv"
    assert recipe["attributes"]["plz"]["taxonomy"] == "trees/plz.yaml"
    assert not sfumato.Taxonomy.from_file("out/trees/plz.yaml").draft


def test_a_second_draft_keeps_the_tree_of_the_first(run: Run) -> None:
    def table(lowest: int) -> str:
        return "plz,age\n" + "".join(f"0{lowest + n % 40},{n % 60}\n" for n in range(200))

    Path("people.csv").write_text(table(1000))
    assert run("draft", "people.csv", "-o", "first.yaml").code == 0
    assert run("draft", "people.csv", "-o", "second.yaml").code == 0
    Path("people.csv").write_text(table(2000))
    refused = run("draft", "people.csv", "-o", "third.yaml")
    assert refused.code == 2
    assert "add --taxonomies FOLDER" in refused.err
    assert run("draft", "people.csv", "-o", "third.yaml", "--taxonomies", "third").code == 0


@pytest.mark.parametrize("table", ["zips.csv", "sqlite:///zips.db?table=zips"])
def test_a_draft_for_a_policy_in_another_folder_names_its_files_from_there(run: Run, table: str) -> None:
    """Neither a tree nor a policy of the current folder is taken for that of the recipe's."""
    rows = [(20 + n % 50, f"{10000 + n % 60 * 137}", ("flu", "gout")[n % 2]) for n in range(240)]
    Path("zips.csv").write_text("age,zip,disease\n" + "".join(f"{a},{z},{d}\n" for a, z, d in rows))
    with closing(sqlite3.connect("zips.db")) as database, database:
        database.execute("CREATE TABLE zips (age INTEGER, zip TEXT, disease TEXT)")
        database.executemany("INSERT INTO zips VALUES (?, ?, ?)", rows)
    Path("zip.yaml").write_text(TREE)
    Path("ours.yaml").write_text(run("policies", "cell-size-11", "--yaml").out.replace("cell-size-11", "ours", 1))
    Path("sub").mkdir()
    ended = run("draft", table, "--policy", "ours.yaml", "--output", "sub/recipe.yaml")
    assert ended.code == 0, ended.err
    recipe = sfumato.Recipe.from_yaml(Path("sub/recipe.yaml"), allow=["."])
    assert len(recipe.schema["zip"].taxonomy.leaves) == 60  # type: ignore[union-attr]
    assert "policies: [../ours.yaml]" in Path("sub/recipe.yaml").read_text()
    at = Path("sub/..").joinpath("zips.csv").as_posix()
    assert recipe.table in (at, "sqlite:///sub/../zips.db?table=zips")


def test_another_mark_between_columns_is_told(run: Run) -> None:
    Path("people.csv").write_text(PEOPLE.replace(",", ":"))
    assert "one column alone, with ':' in every line" in run("draft", "people.csv").err
    Path("people.csv").write_text(PEOPLE.replace(",", " ").replace("name age", "name " * 60 + "age"))
    assert "one column alone, with a very long name" in run("draft", "people.csv").err
    Path("people.csv").write_text("at\n" + "10:30\n" * 30)
    assert "one column alone" not in run("draft", "people.csv").err


def test_check_is_clean_or_lists_findings(run: Run) -> None:
    clean = run("taxonomy", "check", "town.yaml", "--table", "people.csv", "--column", "town")
    assert (clean.code, clean.out) == (0, "")
    Path("town.yaml").write_text("ANY:\n  West: [Bern, Basel]\n  East: [Chur, Bern]\n  no: [x, y]\n")
    ended = run("taxonomy", "check", "town.yaml", "--table", "people.csv", "--column", "town")
    assert ended.code == 1
    assert [line.split(":")[1:3] for line in ended.out.splitlines()] == [
        ["3", " two-parents"],
        ["3", " unary"],
        ["4", " type"],
        [" not-a-leaf", " 'Genf'"],
        [" not-a-leaf", " 'Olten'"],
    ]
    assert "5 findings" in ended.err


def test_check_needs_table_and_column_together(run: Run) -> None:
    ended = run("taxonomy", "check", "town.yaml", "--column", "town")
    assert ended.code == 2
    assert "add --table FILE" in ended.err


def test_taxonomy_draft(run: Run) -> None:
    ended = run("taxonomy", "draft", "people.csv", "town")
    assert ended.code == 0
    assert yaml.safe_load(ended.out)["ANY"]
    assert "a draft, balanced" in ended.err
    assert run("taxonomy", "draft", "people.csv", "town", "--output", "new.csv").code == 0
    assert set(sfumato.Taxonomy.from_file("new.csv").leaves) == {"Bern", "Basel", "Chur", "Genf", "Olten"}
    assert "did you mean 'town'?" in run("taxonomy", "draft", "people.csv", "twon").err
    assert "calendar, prefix, balanced" in run("taxonomy", "draft", "people.csv", "town", "--kind", "x").err


def test_texts_for_missing_are_left_out_and_told(run: Run) -> None:
    Path("people.csv").write_text(PEOPLE + "x,30,NA,flu\ny,31,nowhere,flu\n")
    check = ("taxonomy", "check", "town.yaml", "--table", "people.csv", "--column", "town")
    told = run(*check)
    assert told.code == 1
    assert "'nowhere'" in told.out
    assert "'NA'" not in told.out
    assert "taken for missing: 'NA'" in told.err
    assert run(*check, "--missing", "nowhere").code == 0
    drafted = run("taxonomy", "draft", "people.csv", "town", "--missing", "nowhere")
    assert "NA" not in drafted.out.replace("ANY", "")
    assert "nowhere" not in drafted.out


def test_messages_speak_as_the_program_does(run: Run) -> None:
    assert "--kind balanced" in run("taxonomy", "draft", "people.csv", "town", "--kind", "calendar").err
    Path("empty.csv").write_text("a,b\n")
    assert "error: empty.csv: " in run("draft", "empty.csv").err
    Path("old.csv").write_bytes("name,town\nZoë,Köniz\nAda,Bern\n".encode("cp1252"))
    guessed = run("draft", "old.csv")
    assert "old.csv is not UTF-8. It was read as cp1252" in guessed.err
    assert yaml.safe_load(guessed.out)["encoding"] == "cp1252"
    refused = run("taxonomy", "draft", "old.csv", "town").err
    assert "error: old.csv, line 2: the text must be UTF-8" in refused
    assert "--encoding cp1252" in refused
    assert yaml.safe_load(run("draft", "old.csv", "--encoding", "cp1252").out)["encoding"] == "cp1252"


def test_convert_goes_round(run: Run) -> None:
    for source, target in [
        ("town.yaml", "a.csv"),
        ("a.csv", "b.json"),
        ("b.json", "c.csv"),
        ("c.csv", "d.yaml"),
    ]:
        assert run("taxonomy", "convert", source, target).code == 0
    assert Path("a.csv").read_bytes() == Path("c.csv").read_bytes()
    assert sfumato.Taxonomy.from_file("d.yaml") == sfumato.Taxonomy.from_file("town.yaml")
    assert run("taxonomy", "convert", "town.yaml", "e.csv", "--as", "parents").code == 0
    assert Path("e.csv").read_text().startswith("parent,child\nANY,West\n")
    assert run("taxonomy", "convert", "town.yaml", "a.csv").code == 2


def test_show_draws_the_tree(run: Run) -> None:
    ended = run("taxonomy", "show", "town.yaml")
    assert ended.code == 0
    assert "── West" in ended.out
    assert "5 leaves, 3 levels" in ended.err


@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"],
        ["draft", "--help"],
        ["taxonomy", "--help"],
        *(["taxonomy", name, "--help"] for name in ("check", "draft", "convert", "show")),
    ],
)
def test_every_help_shows_an_example(run: Run, arguments: list[str]) -> None:
    ended = run(*arguments)
    assert ended.code == 0
    assert "Example" in ended.out
    assert "sfumato " in ended.out.split("Example")[1]


def test_version(run: Run) -> None:
    assert run("--version").out == f"sfumato {sfumato.__version__}\n"


def test_a_user_s_mistake_is_one_message_without_traceback(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "sfumato.cli.main", "draft", str(tmp_path / "none.csv")],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 2
    assert done.stderr.startswith("error: ")
    assert "to mend it: " in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


def test_ctrl_c_and_unexpected_errors(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr("sfumato.data.taxonomy.taxonomy.Taxonomy.from_file", interrupted)
    assert run("taxonomy", "show", "town.yaml").code == 130

    def broken(*_: object) -> None:
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr("sfumato.data.taxonomy.taxonomy.Taxonomy.from_file", broken)
    monkeypatch.setattr(sys, "argv", ["sfumato", "taxonomy", "show", "town.yaml"])
    with pytest.raises(ZeroDivisionError):
        main()
