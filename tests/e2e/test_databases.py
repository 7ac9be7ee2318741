"""Tables in databases: what moves, what is sent, what goes wrong, and what is written back."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import quote

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import sfumato as sf
from sfumato.cli.main import app
from sfumato.data.safe_files import Progress
from sfumato.data.sources import counted
from sfumato.data.sources.openers import Opening, open_source
from sfumato.data.sources.sql import source as sql_source
from sfumato.data.sources.sql.address import parse
from sfumato.data.sources.sql.copies import address_of, try_copy
from sfumato.data.sources.sql.session import in_words
from sfumato.publishing import Run
from sfumato.publishing.same_people import repeated
from tests import engines

SCHEMA = sf.Schema(
    name=sf.Category(role="identifier"),
    age=sf.Number(role="quasi", range=(17, 90)),
    town=sf.Category(role="quasi"),
    disease=sf.Category(role="sensitive"),
)
RECIPE = sf.Recipe(schema=SCHEMA, privacy=[sf.KAnonymity(on=["age", "town"], k=10)])
HOSTILE = (
    'people"; DROP TABLE canary; --',
    "people'; DROP TABLE canary; --",
    "people; DROP TABLE canary",
    'x" UNION SELECT * FROM canary --',
    "') ; DELETE FROM canary; --",
    "$1; DROP TABLE canary",
    "\\'; DROP TABLE canary; --",
    "/* */ DROP TABLE canary",
    'a""; DROP TABLE canary; --',
    "people\n; DROP TABLE canary;\n--",
)
UNENDED = "SELECT 1 AS age /*"
QUERIES = (
    'SELECT 1 AS age) AS "s"; DROP TABLE canary; --',
    "SELECT 1 AS age; DROP TABLE canary",
    "DROP TABLE canary",
    "DELETE FROM canary RETURNING *",
    "WITH gone AS (DELETE FROM canary RETURNING *) SELECT * FROM gone",
    'SELECT 1 AS age) AS "s" WHERE 1 = 0; COMMIT; DROP TABLE canary; SELECT * FROM (SELECT 1',
    UNENDED,
    "INSERT INTO canary VALUES (2) RETURNING *",
    "UPDATE canary SET bird = 2 RETURNING *",
    "CREATE TABLE nest AS SELECT 1",
    "SELECT bird INTO nest FROM canary",
)


def people(rows: int = 400) -> pa.Table:
    chance = np.random.default_rng(3)
    return pa.table(
        {
            "name": [f"Anna Secret {row}" for row in range(rows)],
            "age": pa.array(chance.integers(17, 60, rows), mask=chance.random(rows) < 0.02),
            "town": pa.array(
                np.array(["Ulm", "O'Fallon", 'a"; --', "Köln"], dtype=object)[chance.integers(0, 4, rows)]
            ),
            "disease": pa.array(
                np.array(["flu", "'); DROP TABLE canary; --"], dtype=object)[chance.integers(0, 2, rows)]
            ),
        }
    )


PLACES: Mapping[str, Callable[[pa.Table, Path], str]] = {
    "duckdb": engines.in_duckdb,
    "sqlite": engines.in_sqlite,
    "postgresql": lambda table, _: engines.in_postgres(table),
}


@pytest.fixture(params=PLACES)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def quiet(table: object, recipe: sf.Recipe = RECIPE) -> sf.Release:
    return sf.publish(table, recipe, run=Run(report=False))


def run_sql(address: str, statement: str) -> None:
    """A statement of somebody else."""
    scheme, _, rest = address.partition("://")
    path = rest.partition("?")[0][1:]
    if scheme == "postgresql":
        with engines.connected(address.partition("?")[0]) as cursor:
            cursor.execute(statement)
    elif scheme == "sqlite":
        with closing(sqlite3.connect(path, timeout=0.2)) as connection, connection:
            connection.execute(statement)
    else:
        with duckdb.connect(path) as opened:
            opened.execute(statement)


def run_elsewhere(address: str, statement: str) -> None:
    """The same in a process of its own, as locks hold between processes; it may fail."""
    code = "import sys; from tests.e2e.test_databases import run_sql; run_sql(*sys.argv[1:])"
    subprocess.run([sys.executable, "-c", code, address, statement], check=False, capture_output=True)


def with_canary(kind: str, folder: Path) -> str:
    """The address of a database with people and a bird."""
    address = PLACES[kind](people(), folder)
    run_sql(address, "CREATE TABLE IF NOT EXISTS canary AS SELECT 1 AS bird")
    return address


def count_of(address: str, table: str) -> int:
    found = open_source(address.partition("?")[0], Opening(query=f"SELECT COUNT(*) AS n FROM {table}"))
    return int(found.raw(["n"], progress=Progress()).columns["n"].values[0].as_py())  # type: ignore[union-attr]


# What moves.
def test_no_row_comes_up_and_of_identifiers_two_numbers(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = people()
    came: list[tuple[str, pa.RecordBatch]] = []

    def watched(job: Any, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in counted.receive(job, batches):
            came.append((job, batch))
            yield batch

    monkeypatch.setattr(sql_source, "receive", watched)
    release = quiet(PLACES[kind](table, tmp_path))
    assert release.verdict.holds
    values = [batch for job, batch in came if job == "values"]
    tuples = [batch for job, batch in came if job == "tuples"]
    assert [batch.to_pylist() for job, batch in came if job == "repeats"] == [[{"rows": 400, "shared": 0}]]
    assert len({job for job, _ in came}) == 3
    assert all(batch.num_columns == 2 for batch in values)  # one column at a time, with counts
    distinct = sum(len(table.column(name).unique()) for name in ("age", "town", "disease"))
    assert sum(batch.num_rows for batch in values) == distinct
    assert all(pa.types.is_integer(kind) for batch in tuples for kind in batch.schema.types)
    assert sum(batch.column(3).to_numpy().sum() for batch in tuples) == table.num_rows
    told = "".join(str(batch.to_pydict()) for _, batch in came)
    assert "Anna" not in told


def test_only_whole_numbers_pass_the_door_of_the_second_job() -> None:
    with pytest.raises(AssertionError, match="whole numbers"):
        list(counted.receive("tuples", [pa.record_batch({"town": ["Ulm"]})]))


# What is sent.
def test_people_with_several_rows_are_told_as_of_a_file(kind: str, tmp_path: Path) -> None:
    numbers = [None, "  ", *(f"P{row // 2}" for row in range(160)), *(f"Q{row}" for row in range(238))]
    firsts, lasts = [f"f{row % 20}" for row in range(400)], [f"l{row // 40}" for row in range(400)]
    table = people().append_column("person_id", pa.array(numbers)).drop_columns(["name"])
    names = people().append_column("first_name", pa.array(firsts)).append_column("last_name", pa.array(lasts))
    for rows, left_out, said in (
        (table, ["person_id"], '40% of the rows share their "person_id" with another row'),
        (names.drop_columns(["name"]), ["first_name", "last_name"], '100% of the rows share their "first_name" and'),
    ):
        kept = {name: SCHEMA[name] for name in SCHEMA if name != "name"}
        schema = sf.Schema({**kept, **{name: sf.Category(role="identifier") for name in left_out}})
        recipe = sf.Recipe(schema=schema, privacy=RECIPE.privacy)
        (tmp_path / left_out[0]).mkdir()
        (told,) = repeated(PLACES[kind](rows, tmp_path / left_out[0]), recipe)
        assert told.startswith(said)
        assert [told] == list(repeated(rows, recipe))


def test_names_of_tables_and_columns_are_never_code(kind: str, tmp_path: Path) -> None:
    address = with_canary(kind, tmp_path)
    bare = address.partition("?")[0]
    for hostile in HOSTILE:
        quoted = '"' + hostile.replace('"', '""') + '"'
        for named in (hostile, quoted):
            with pytest.raises(sf.TableError) as caught:
                open_source(f"{bare}?table={quote(named)}").names()
            assert "DROP" not in caught.value.given
        source = open_source(bare, Opening(query=f"SELECT age AS {quoted}, town FROM people"))
        assert source.names() == [hostile, "town"]
        assert source.raw([hostile, "town"], progress=Progress()).rows == 400
        assert count_of(address, "canary") == 1
    if kind == "postgresql":
        _nothing_dropped_in(engines.postgres_log())


def test_a_query_can_only_be_read_from(kind: str, tmp_path: Path) -> None:
    address = with_canary(kind, tmp_path)
    for query in QUERIES:
        with pytest.raises(sf.TableError) as caught:
            open_source(address.partition("?")[0], Opening(query=query)).names()
        if query != UNENDED:
            assert caught.value.rule == "one SELECT is read, and nothing that writes"
            assert "own program" not in caught.value.remedy, "nobody is told to run it"
        assert count_of(address, "canary") == 1
        assert count_of(address, "people") == 400


def _nothing_dropped_in(log: str) -> None:
    """Of what the server ran, nothing begins with what was smuggled in; what it refused is logged as STATEMENT."""
    ran = [line.partition("LOG:  ")[2] for line in log.splitlines() if "LOG:  " in line]
    statements = [line.partition(": ")[2].strip().lower() for line in ran]
    assert not [text for text in statements if text.startswith(("drop table canary", "delete from canary"))]


def test_values_are_never_code_and_come_out_as_they_are(kind: str, tmp_path: Path) -> None:
    address = with_canary(kind, tmp_path)
    release = quiet(address)
    assert set(release.shown.column("disease").to_pylist()) == {"flu", "'); DROP TABLE canary; --"}
    assert count_of(address, "canary") == 1
    if kind == "postgresql":
        assert "Fallon" not in engines.postgres_log()  # no value goes down


def test_duckdb_reads_its_file_alone(tmp_path: Path) -> None:
    address = engines.in_duckdb(people(), tmp_path).partition("?")[0]
    (tmp_path / "other.csv").write_text("age\n1\n")
    with pytest.raises(sf.TableError):
        open_source(address, Opening(query=f"SELECT * FROM read_csv('{tmp_path}/other.csv')")).names()


# What goes wrong.
@pytest.mark.slow
def test_a_table_that_changes_between_the_jobs_is_seen_as_it_was(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = PLACES[kind](people(), tmp_path)

    def changing(job: Any, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield from counted.receive(job, batches)
        if job == "values":
            run_elsewhere(address, "INSERT INTO people (age, town, disease) VALUES (44, 'Rome', 'flu')")

    monkeypatch.setattr(sql_source, "receive", changing)
    found = open_source(address).raw(["age", "town", "disease"], progress=Progress())
    assert found.rows == 400  # one state of the database from the first statement to the last


def test_a_query_that_gives_something_else_each_time_is_refused(kind: str, tmp_path: Path) -> None:
    address = PLACES[kind](people(), tmp_path).partition("?")[0]
    draw = {"sqlite": "ABS(RANDOM()) % 7", "duckdb": "CAST(FLOOR(RANDOM() * 7) AS INT)"}
    chance = draw.get(kind, "CAST(FLOOR(RANDOM() * 7) AS INT)")
    query = f"SELECT {chance} AS age, town, disease FROM people"
    with pytest.raises(sf.TableError, match="changed while it was counted"):
        quiet(address, _with_query(query))


def _with_query(query: str) -> sf.Recipe:
    return sf.Recipe(schema=SCHEMA, privacy=RECIPE.privacy, query=query)


def test_a_connection_that_is_cut_in_the_middle_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    address = engines.in_postgres(people()) + "&application_name=cut"
    kill = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'cut'"

    def cutting(job: Any, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield from counted.receive(job, batches)
        if job == "values":
            run_sql(address, kill)

    monkeypatch.setattr(sql_source, "receive", cutting)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    with pytest.raises(sf.TableError, match="a connection that was ended"):
        quiet(address)
    assert not list(tmp_path.iterdir())


def test_a_wrong_password_is_told_without_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    address = engines.in_postgres(people())
    monkeypatch.setenv("PGPASSWORD", "hunter2-is-wrong")
    with pytest.raises(sf.TableError, match="a wrong user or password") as caught:
        quiet(address)
    assert "hunter2" not in str(caught.value)
    assert all(way in caught.value.remedy for way in ("PGPASSWORD", ".pgpass", "password_env"))
    assert caught.value.given == address.partition("?")[0].removeprefix("postgresql://"), "who asked where"
    assert caught.value.__cause__ is None
    monkeypatch.setenv("SFUMATO_CENSUS", "hunter2-is-wrong")
    (tmp_path / "pass.txt").write_text("hunter2-is-wrong\n")
    (tmp_path / "pass.txt").chmod(0o600)
    for option in (f"password_file={tmp_path}/pass.txt", "password_env=SFUMATO_CENSUS"):
        with pytest.raises(sf.TableError, match="a wrong user or password") as caught:
            try_copy(address_of(f"{address}&{option}", None))
        assert option.partition("=")[2] in caught.value.remedy, "the one that was given"
        assert "hunter2" not in str(caught.value)
        assert "PGPASSWORD" not in caught.value.remedy


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://anna:hunter2@127.0.0.1/x?table=people",
        "postgresql://127.0.0.1/x?table=people&password=hunter2",
        "postgresql://127.0.0.1/x?table=people&password_env=HOME",
        "postgresql://127.0.0.1/x?table=people&options=-c",
        "sqlite:///hunter2.db?table=people",
        "duckdb:///hunter2.db",
        "sqlite://host/hunter2.db?table=people",
        "mysql://anna:hunter2@host/x?table=people",
    ],
)
def test_addresses_that_are_refused_are_not_shown(address: str) -> None:
    with pytest.raises(sf.TableError) as caught:
        open_source(address).names()
    assert "hunter2" not in str(caught.value)


def test_the_password_is_in_no_file_and_no_output(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    address = engines.in_postgres(people())
    secret = os.environ["PGPASSWORD"]
    monkeypatch.delenv("PGPASSWORD")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (tmp_path / "pass.txt").write_text(secret + "\n")
    recipe = tmp_path / "recipe.yaml"
    recipe.write_text(sf.Recipe(schema=SCHEMA, privacy=RECIPE.privacy).to_yaml() + "\n")
    text = recipe.read_text().replace("sfumato: 1\n", f"sfumato: 1\ntable: {address}&password_file=pass.txt\n")
    recipe.write_text(text)
    found = CliRunner().invoke(app, ["publish", str(recipe), "--output", str(tmp_path / "out"), "--no-suggest"])
    assert found.exit_code == 0, found.output
    written = [path for path in tmp_path.rglob("*") if path.is_file() and path.name != "pass.txt"]
    assert len(written) > 8
    for path in written:
        assert secret.encode() not in path.read_bytes(), path
    assert secret not in found.output


# What is written back.
def test_a_copy_is_written_in_one_transaction_and_counted_by_the_database(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    address = PLACES[kind](people(), tmp_path).partition("?")[0]
    run_sql(address, 'DROP TABLE IF EXISTS "masked people"')
    release = quiet(people())
    with pytest.raises(sf.ReleaseError, match="write the folder first"):
        release.write(address, table="masked people")
    folder = release.write(tmp_path / "out")
    assert release.write(address, table="masked people") == folder
    with pytest.raises(sf.TableError, match="there already"):
        release.write(address, table="masked people")
    copy = open_source(f'{address}?table="masked people"').raw(release.shown.column_names, progress=Progress())
    shown = pa.table({name: column.decode() for name, column in copy.columns.items()})  # type: ignore[union-attr]
    assert engines.rows_of(shown) == engines.rows_of(_plain(release.shown))
    assert all(claim.holds for claim in sf.recount(address, folder, table="masked people"))
    run_sql(address, """UPDATE "masked people" SET town = 'alone' WHERE town = 'Ulm'""")
    run_sql(address, """INSERT INTO "masked people" (town) VALUES ('alone')""")
    assert not all(claim.holds for claim in sf.recount(address, folder, table="masked people"))


def _plain(table: pa.Table) -> pa.Table:
    plain = {name: table.column(name) for name in table.column_names}
    return pa.table({n: c.cast(c.type.value_type) if pa.types.is_dictionary(c.type) else c for n, c in plain.items()})


def test_the_command_line_writes_a_copy_and_counts_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    engines.in_sqlite(people(), tmp_path)
    recipe, out, copy = tmp_path / "recipe.yaml", tmp_path / "out", f"sqlite:///{tmp_path}/copies.db?table=masked"
    text = RECIPE.to_yaml().replace("sfumato: 1\n", "sfumato: 1\ntable: sqlite:///people.db?table=people\n")
    recipe.write_text(text)
    run = ["publish", str(recipe), "--output", str(out), "--no-suggest", "--no-report", "--copy", copy]
    made = CliRunner().invoke(app, run)
    assert made.exit_code == 0, made.output
    checked = CliRunner().invoke(app, ["verify", str(out), "--copy", copy])
    assert checked.exit_code == 0, checked.output
    assert "counted by the database on age, town" in checked.output
    beside = ["verify", str(out), "--raw", f"sqlite:///{tmp_path}/people.db?table=people"]
    held = CliRunner().invoke(app, beside)
    assert held.exit_code == 0, held.output
    assert "400 released rows are the raw rows" in held.output
    holders = out.with_name("out.holder").rename(tmp_path / "away")
    alone = CliRunner().invoke(app, beside)
    assert isinstance(alone.exception, sf.ReleaseError)
    assert "Parquet" in alone.exception.remedy
    holders.rename(out.with_name("out.holder"))
    with closing(sqlite3.connect(tmp_path / "copies.db")) as connection, connection:
        connection.execute("DELETE FROM masked WHERE rowid = 1")
    broken = CliRunner().invoke(app, ["verify", str(out), "--copy", copy])
    assert broken.exit_code == 1
    assert broken.output.startswith("DOES NOT HOLD: the folder is what its certificate says, and its copy is not")
    assert "FAILS: counted by the database on age, town: 399 rows of 400" in broken.output
    _copied_later(out, copy)
    entered = (tmp_path / "state" / "sfumato" / "ledger.jsonl").read_bytes()
    again = CliRunner().invoke(app, [*run[:3], str(tmp_path / "again"), *run[4:]])
    assert again.exit_code != 0
    assert f"sfumato copy {tmp_path / 'again'} ADDRESS" in str(again.exception)
    assert not (tmp_path / "again").exists(), "a copy that cannot be made is refused before anything is published"
    assert (tmp_path / "state" / "sfumato" / "ledger.jsonl").read_bytes() == entered


def _copied_later(folder: Path, address: str) -> None:
    """A release that is out is copied by itself, and the database counts it; a name that is taken is refused."""
    later = CliRunner().invoke(app, ["copy", str(folder), address.replace("masked", "later")])
    assert later.exit_code == 0, later.output
    assert "age, town: " in later.output
    taken = CliRunner().invoke(app, ["copy", str(folder), address])
    assert isinstance(taken.exception, sf.TableError)
    assert taken.exception.rule.startswith("a table of that name that is there already: ")
    assert "as it was" in taken.exception.remedy


def test_a_copy_that_fails_after_publishing_is_told_as_such(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The release stands and is entered: it has an exit code of its own, and nobody says that nothing was written."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    engines.in_sqlite(people(), tmp_path)
    (tmp_path / "recipe.yaml").write_text(RECIPE.to_yaml())
    copy = f"sqlite:///{tmp_path}/copies.db?table=masked"
    monkeypatch.setattr(
        "sfumato.data.sources.sql.copies.try_copy", lambda address: run_sql(copy, "CREATE TABLE masked (a)")
    )
    places = ("--table", f"sqlite:///{tmp_path}/people.db?table=people", "--output", str(tmp_path / "out"))
    made = CliRunner().invoke(
        app,
        ["publish", str(tmp_path / "recipe.yaml"), *places, "--no-suggest", "--no-report", "--copy", copy, "--json"],
    )
    assert made.exit_code == 3
    told = json.loads(made.stdout)
    assert told["holds"]
    assert told["copy"]["written"] is False
    assert "there already" in told["copy"]["why"]
    assert "which is released and entered, and not copied" in " ".join(made.stderr.split())
    assert "nothing was written" not in made.stderr
    assert "then say sfumato copy" in made.stderr
    assert "try again" not in told["copy"]["why"]
    assert sf.verify(tmp_path / "out").holds


@pytest.mark.parametrize(
    "address", ["sqlite:///{}/none/copies.db?table=masked", "duckdb:///{}/none/copies.db?table=masked"]
)
def test_a_copy_in_a_folder_that_is_not_there_is_refused_at_once(address: str, tmp_path: Path) -> None:
    (tmp_path / "recipe.yaml").write_text(RECIPE.to_yaml())
    run = [
        "publish",
        str(tmp_path / "recipe.yaml"),
        "--output",
        str(tmp_path / "out"),
        "--copy",
        address.format(tmp_path),
    ]
    made = CliRunner().invoke(app, run)
    assert isinstance(made.exception, sf.TableError)
    assert made.exception.rule.startswith("no folder that may be written to")


def test_sets_are_refused_before_they_are_published(tmp_path: Path) -> None:
    sets = sf.Schema(age=sf.Number(role="quasi"), drugs=sf.ItemSet(role="plain"))
    recipe = sf.Recipe(schema=sets, privacy=[sf.KAnonymity(on=["age"], k=5)])
    (tmp_path / "recipe.yaml").write_text(recipe.to_yaml())
    copy = f"sqlite:///{tmp_path}/copies.db?table=masked"
    made = CliRunner().invoke(app, ["publish", str(tmp_path / "recipe.yaml"), "--copy", copy])
    assert isinstance(made.exception, sf.TableError)
    assert made.exception.given == "an item set"


@pytest.mark.parametrize(
    ("query", "words", "state"),
    [
        ("SELEC age FROM people", "a query with a mistake in it", "42601"),
        ("SELECT ages FROM people", "a column that is not there", "42703"),
        ("SELECT age FROM poeple", "no such table", "42P01"),
    ],
)
def test_the_first_words_say_what_is_wrong_with_a_query(
    kind: str, query: str, words: str, state: str, tmp_path: Path
) -> None:
    address = PLACES[kind](people(), tmp_path).partition("?")[0]
    with pytest.raises(sf.TableError) as caught:
        open_source(address, Opening(query=query)).names()
    assert caught.value.rule.startswith(f"{words}")
    assert caught.value.thing.endswith(", query")
    assert "address" not in caught.value.remedy
    assert "?table=" not in caught.value.remedy
    assert caught.value.given == (f"SQLSTATE {state}" if kind == "postgresql" else "")


@pytest.mark.parametrize(
    ("kind", "expression", "state"),
    [
        ("postgresql", "1 / (n - 70000)", "22012"),
        ("postgresql", "CAST(CASE WHEN n = 70000 THEN 'SECRET' ELSE '1' END AS int)", "22P02"),
        ("duckdb", "CAST(CASE WHEN n = 70000 THEN 'SECRET' ELSE '1' END AS int)", None),
    ],
)
def test_a_query_that_fails_half_way_is_told_without_its_cell(
    kind: str, expression: str, state: str | None, tmp_path: Path
) -> None:
    address = PLACES[kind](people(), tmp_path).partition("?")[0]
    query = f"SELECT {expression} AS x FROM (SELECT * FROM generate_series(1, 80000)) AS t(n)"
    with pytest.raises(sf.TableError, match="a view or a query that fails at some row") as caught:
        open_source(address, Opening(query=query)).raw(["x"], progress=Progress())
    assert caught.value.given == (f"SQLSTATE {state}" if state else "")
    assert "SECRET" not in str(caught.value)


def test_what_is_not_the_databases_fault_is_not_said_to_be() -> None:
    with pytest.raises(sf.TableError, match=r"(?s)of this machine.*No space left.*TMPDIR"), in_words("PostgreSQL"):
        raise OSError(28, "No space left on device")
    with pytest.raises(sf.TableError, match="a statement that the database refused"), in_words("PostgreSQL"):
        raise OSError('ERROR: "SECRET"')  # as the streams of drivers say it
    with pytest.raises(sf.TableError, match="an empty one"):
        open_source("postgresql://127.0.0.1:1/x", Opening(query=" ; "))
    assert parse("postgres://127.0.0.1/x?table=people") == parse("postgresql://127.0.0.1/x?table=people")


def test_a_missing_permission_is_told_with_what_to_grant() -> None:
    address = engines.in_postgres(people())
    with engines.connected(address.partition("?")[0]) as cursor:
        cursor.execute("DROP ROLE IF EXISTS stranger")
        cursor.execute("CREATE SCHEMA IF NOT EXISTS vault")
        cursor.execute("CREATE ROLE stranger LOGIN PASSWORD 'stranger'")
    where = address.partition("?")[0].replace("holder@", "stranger@")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PGPASSWORD", "stranger")
        with pytest.raises(sf.TableError, match=r"a missing permission: .* GRANT SELECT"):
            open_source(f"{where}?table=people").raw(["town"], progress=Progress())
        for table, words in (
            ("vault.masked", "a missing permission: .*GRANT CREATE"),
            ("nowhere.masked", "no such schema: "),
        ):
            with pytest.raises(sf.TableError, match=words):
                try_copy(address_of(f"{where}?table={table}", None))


def test_a_recipe_names_no_database_outside_its_folder(tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    engines.in_sqlite(people(), tmp_path)
    text = RECIPE.to_yaml().replace("sfumato: 1\n", "sfumato: 1\ntable: sqlite:///../people.db?table=people\n")
    (tmp_path / "inner" / "recipe.yaml").write_text(text)
    with pytest.raises(sf.RecipeError):
        sf.Recipe.from_yaml(tmp_path / "inner" / "recipe.yaml")


def test_rows_that_are_counted_have_no_order_and_no_sample(tmp_path: Path) -> None:
    address = engines.in_duckdb(people(), tmp_path)
    with pytest.raises(sf.RecipeError, match="no order"):
        quiet(address, sf.Recipe(schema=SCHEMA, privacy=RECIPE.privacy, keep_order=True))
    with pytest.raises(sf.TableError, match="identifiers of a database stay there"):
        open_source(address).arrow(["age"], guess=True, progress=Progress())


def test_a_release_is_evaluated_against_its_database_and_new_rows_are_shown_from_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    address = engines.in_sqlite(people(), tmp_path)
    release = quiet(address)
    again = sf.evaluate(address, release.write(tmp_path / "out"), seeds=2)
    assert again["headline"] == release.scores["headline"]
    told = CliRunner().invoke(app, ["evaluate", address, str(tmp_path / "out"), "--seeds", "2"])
    assert told.exit_code == 0, told.output
    new = ["apply", str(tmp_path / "out"), address, "--output", str(tmp_path / "new.parquet")]
    assert CliRunner().invoke(app, new).exit_code == 0
    shown, out = pq.read_table(tmp_path / "new.parquet"), pq.read_table(tmp_path / "out" / "table.parquet")
    assert engines.rows_of(_plain(shown)) == engines.rows_of(_plain(out))
    some = ["--query", "SELECT age, town FROM people WHERE age < 40", "--output", str(tmp_path / "some.parquet")]
    asked = CliRunner().invoke(app, ["apply", str(tmp_path / "out"), address.partition("?")[0], *some])
    assert asked.exit_code == 0, asked.output
    assert pq.read_table(tmp_path / "some.parquet").num_rows == count_of(address, "people WHERE age < 40")
    ordered = CliRunner().invoke(app, [*new, "--force", "--keep-order"])
    assert isinstance(ordered.exception, sf.TableError)
    run_sql(address, "UPDATE people SET age = 95 WHERE age = (SELECT MAX(age) FROM people)")
    beyond = CliRunner().invoke(app, [*new, "--force"])
    assert "or say --unseen suppress" in str(beyond.exception), "in the words of the shell"
