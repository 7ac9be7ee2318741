"""What screens do to a recipe: roles and requirements stay in step, trees stay trees, and mistakes change nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.data.taxonomy.taxonomy import Taxonomy
from sfumato.privacy.ledger.ledger import ledger_path
from sfumato.studio import form as forms
from sfumato.studio.jobs import Job
from sfumato.studio.tables import look
from sfumato.studio.uploads import safe_name
from sfumato.studio.wording import in_words
from sfumato.studio.workspace import Work, usual_folder
from tests.studio_visitor import Visitor

RECIPE = """sfumato: 1
table: table/people.csv
attributes:
  name: {kind: category, role: identifier}
  age: {kind: number, role: quasi, range: [0, 100]}
  town: {kind: category, role: quasi, taxonomy: {ANY: {North: [a, b], South: [c]}}}
  job: {kind: category, role: plain}
  disease: {kind: category, role: sensitive}
structure: {classes: disease}
privacy:
  - {k_anonymity: 5, on: [age, town]}
  - {l_diversity: 2, on: [age], sensitive: disease}
mask: partition
"""
LABELS = {"town": ["a", "b", "c"], "job": ["x", "y"]}


def form() -> forms.Form:
    return forms.parsed(RECIPE)


def sound(changed: forms.Form) -> None:
    from sfumato.data.yaml_files import dump_yaml
    from sfumato.recipe import Recipe

    Recipe.from_yaml(dump_yaml(changed))


@pytest.fixture
def opened(tmp_path: Path) -> tuple[Visitor, Work]:
    """A piece of work as its files tell it, whose table was looked at."""
    visitor = Visitor.of(tmp_path / "studio").enter()
    work = visitor.new()
    work.save_recipe(RECIPE)
    look = work.job("look")
    look.mkdir(parents=True)
    columns = [
        {
            "name": name,
            "distinct": 3,
            "missing": 0,
            "alone": 0.0,
            "bins": None,
            "top": [],
            "labels": LABELS.get(name),
            "reason": "",
            "asked": False,
            "drafted": part,
        }
        for name, part in forms.attributes(form()).items()
    ]
    told: dict[str, Any] = {"rows": 3, "encoding": "UTF-8", "bytes": 1, "columns": columns, "first": []}
    (look / "result.json").write_text(json.dumps(told))
    return visitor, work


def test_the_first_question_stands_above_the_attributes(opened: tuple[Visitor, Work]) -> None:
    visitor, work = opened
    path = work.job("look") / "result.json"
    counted = {**json.loads(path.read_text()), "alone": [[["age", "town"], 0.0], [["job", "disease"], 0.0]]}
    asked = {"several": "Is one row one person?", "questions": ["Is one row one person?", "Are these known?"]}
    path.write_text(json.dumps(counted))
    assert "of 3 people are alone" in visitor.get(f"/w/{work.id}/attributes").text
    path.write_text(json.dumps({**counted, **asked}))
    page = visitor.get(f"/w/{work.id}/attributes").text
    assert "of 3 rows are alone" in page
    assert page.count("Is one row one person?") == 1
    assert "<li>Are these known?</li>" in page


def tree(work: Work) -> Any:
    return forms.read(work)["attributes"]["town"].get("taxonomy")


def test_what_others_may_know_stands_in_the_widest_requirement() -> None:
    changed = forms.change_roles(form(), ["job"], "quasi")
    assert [need["on"] for need in changed["privacy"]] == [["age", "town", "job"], ["age"]]
    sound(changed)


def test_what_others_do_not_know_stands_in_none() -> None:
    changed = forms.change_roles(form(), ["age"], "plain")
    assert [need["on"] for need in changed["privacy"]] == [["town"]]
    sound(changed)


def test_a_secret_that_is_dropped_is_asked_about_no_more() -> None:
    changed = forms.change_roles(form(), ["disease"], "identifier")
    assert "structure" not in changed
    assert [forms.requirement_name(need) for need in changed["privacy"]] == ["k_anonymity"]
    sound(changed)


def test_another_kind_loses_what_only_the_first_has() -> None:
    changed = forms.change_kind(form(), "age", "category", {})
    assert changed["attributes"]["age"] == {"kind": "category", "role": "quasi"}
    drafted = {"kind": "number", "range": [0, 90]}
    assert forms.change_kind(changed, "age", "number", drafted)["attributes"]["age"]["range"] == [0, 90]


def test_a_budget_and_back() -> None:
    spent = forms.change_budget(form(), "0.5", "2", "patients")
    assert spent["budget"] == {"epsilon": "0.5", "total": 2}
    assert (spent["privacy"], spent["mask"], spent["people"]) == ([], "private_tree", "patients")
    back = forms.change_budget(spent, "", "", "")
    assert "budget" not in back
    sound(back)


@pytest.mark.parametrize(
    ("action", "fields", "wanted"),
    [
        ("rename", {"node": "South", "label": "Sud"}, {"ANY": {"North": ["a", "b"], "Sud": ["c"]}}),
        ("move", {"node": "c", "target": "North"}, {"ANY": {"North": ["a", "b", "c"]}}),
        ("cut", {"node": "North"}, {"ANY": {"South": ["c"], "a": None, "b": None}}),
        ("group", {"node": "a", "label": "A"}, {"ANY": {"North": {"A": ["a"], "b": None}, "South": ["c"]}}),
        ("propose", {"way": "flat"}, {"ANY": ["a", "b", "c"]}),
        ("remove", {}, None),
        ("move", {"node": "North", "target": "North"}, ...),
        ("move", {"node": "a", "target": "c"}, ...),
        ("move", {"node": "ANY", "target": "North"}, ...),
        ("cut", {"node": "ANY"}, ...),
        ("rename", {"node": "a", "label": "b"}, ...),
        ("group", {"node": "a", "label": "South"}, ...),
        ("rename", {"node": "nobody", "label": "x"}, ...),
    ],
)
def test_trees_are_edited(opened: tuple[Visitor, Work], action: str, fields: dict[str, str], wanted: Any) -> None:
    visitor, work = opened
    before = tree(work)
    answer = visitor.post(f"/w/{work.id}/trees/{action}", {"name": "town", **fields})
    assert answer.status_code == 200
    if wanted is ...:
        assert "That was not possible" in answer.text
        assert tree(work) == before
    else:
        found = tree(work)
        assert _sorted(found) == _sorted(wanted)


def _sorted(found: Any) -> Any:
    if isinstance(found, dict):
        return {key: _sorted(found[key]) for key in sorted(found)}
    return sorted(found) if isinstance(found, list) else found


def test_a_tree_is_imported_and_checked_against_the_table(opened: tuple[Visitor, Work]) -> None:
    visitor, work = opened
    arx = b"a;North;ANY\nb;North;ANY\nz;South;ANY\n"
    answer = visitor.post(f"/w/{work.id}/trees/upload", {"name": "town"}, files={"file": ("town.csv", arx)})
    assert tree(work) == {"ANY": {"North": ["a", "b"], "South": ["z"]}}
    assert "a value of the data is no leaf" in answer.text


def test_the_screens_follow_the_text_of_the_recipe(opened: tuple[Visitor, Work]) -> None:
    visitor, work = opened
    answer = visitor.post(f"/w/{work.id}/recipe", {"text": RECIPE.replace("k_anonymity: 5", "k_anonymity: 77")})
    assert "It is sound" in answer.text
    assert 'value="77"' in visitor.get(f"/w/{work.id}/privacy").text


@pytest.mark.parametrize("text", ["", "a: [", "[]", "attributes: 3", "x" * 100])
def test_a_text_that_is_no_recipe_changes_nothing(opened: tuple[Visitor, Work], text: str) -> None:
    visitor, work = opened
    assert 'role="alert"' in visitor.post(f"/w/{work.id}/recipe", {"text": text}).text
    assert work.recipe_text() == RECIPE


def test_a_recipe_that_was_spoilt_by_hand_is_shown_to_be_mended(opened: tuple[Visitor, Work]) -> None:
    visitor, work = opened
    work.save_recipe("attributes: [")
    for screen in ("attributes", "privacy", "run"):
        assert "<textarea" in visitor.get(f"/w/{work.id}/{screen}").text


@pytest.mark.parametrize("fields", [{"at": "9"}, {"at": "x"}, {"at": "0", "number": "many"}, {"at": ""}])
def test_a_change_of_nothing_is_told(opened: tuple[Visitor, Work], fields: dict[str, str]) -> None:
    visitor, work = opened
    assert "That was not possible" in visitor.post(f"/w/{work.id}/privacy/change", fields).text
    assert work.recipe_text() == RECIPE


def test_it_works_beside_the_ledger() -> None:
    assert usual_folder() == ledger_path().with_name("studio")


def test_names_of_files() -> None:
    assert safe_name("-x.tar.parquet") == "x_tar.parquet"
    assert safe_name("日本.csv") == "table.csv"


def test_a_piece_of_work_opens_where_it_stands(opened: tuple[Visitor, Work]) -> None:
    visitor, work = opened
    assert visitor.get(f"/w/{work.id}").url.path.endswith("/table")
    visitor.get(f"/w/{work.id}/privacy")
    assert visitor.get(f"/w/{work.id}").url.path.endswith("/privacy")
    assert visitor.get("/start").url.path == f"/w/{work.id}/privacy"
    (work.folder / "place.json").write_text('{"screen": "../../etc"}')
    assert visitor.get(f"/w/{work.id}").url.path.endswith("/table")


def test_without_work_the_address_opens_the_first_page(tmp_path: Path) -> None:
    visitor = Visitor.of(tmp_path / "studio").enter()
    assert visitor.get("/start").url.path == "/"


def test_how_the_table_is_written_is_asked_before_a_run(opened: tuple[Visitor, Work]) -> None:
    visitor, work = opened
    visitor.studio.jobs.at_once = 0  # it stays in line
    visitor.post(f"/w/{work.id}/run/start", {"format": "csv"})
    assert Job(work.trials[-1]).form["format"] == "csv"
    assert "Waiting for its turn" in visitor.get(f"/w/{work.id}/run").text
    assert visitor.studio.jobs.ahead(work.trials[-1]) == 0
    other = visitor.studio.jobs.start(work.job("explain"), "explain", {})
    assert visitor.studio.jobs.ahead(other.folder) == 1
    visitor.post(f"/w/{work.id}/run/cancel")
    assert visitor.studio.jobs.ahead(other.folder) == 0
    assert '<option value="csv" selected>' in visitor.get(f"/w/{work.id}/run").text


def test_a_search_is_ended_early_while_it_masks_and_not_before(opened: tuple[Visitor, Work]) -> None:
    visitor, work = opened
    visitor.studio.jobs.at_once = 0
    visitor.post(f"/w/{work.id}/run/start")
    assert 'data-while="Masking" disabled' in visitor.get(f"/w/{work.id}/run").text
    assert "a run that is not masking" in visitor.post(f"/w/{work.id}/run/settle").text
    (work.trials[-1] / "events.jsonl").write_text('{"step": "Masking"}\n')
    page = visitor.get(f"/w/{work.id}/run").text
    assert 'data-while="Masking">Stop here and keep the best' in page
    work.save_recipe(RECIPE.replace("mask: partition", "mask: mondrian"))
    assert "Stop here" not in visitor.get(f"/w/{work.id}/run").text


def test_rows_that_show_nothing_are_told(opened: tuple[Visitor, Work]) -> None:
    visitor, work = opened
    visitor.studio.jobs.at_once = 0
    visitor.post(f"/w/{work.id}/run/start")
    told = {
        **{"statement": "", "rows": 100, "lifted": 0, "holds": True, "checks": 1, "seconds": 1.0, "warnings": []},
        **{"headline": [], "columns": [], "sample": {"names": [], "rows": []}, "nothing_shown": 0.21},
    }
    (work.trials[-1] / "result.json").write_text(json.dumps(told))
    Job(work.trials[-1]).set(state="done")
    assert "For 21 % of the rows nothing is shown" in visitor.get(f"/w/{work.id}/run").text
    del told["nothing_shown"]  # as trials of earlier versions have it
    (work.trials[-1] / "result.json").write_text(json.dumps(told))
    assert "nothing is shown in any" not in visitor.get(f"/w/{work.id}/run").text


def test_what_the_terminal_says_first_is_said_where_a_trial_is_shown_compared_and_handed_over(
    opened: tuple[Visitor, Work], tmp_path: Path
) -> None:
    """A secret that groups give away, within its bound."""
    visitor, work = opened
    town, ill = ["a"] * 60 + ["b"] * 60, ["flu"] * 55 + ["cold"] * 5 + ["flu", "cold"] * 30
    schema = sf.Schema(town=sf.Category(role="quasi"), ill=sf.Category(role="sensitive"))
    bound = sf.ConfidenceBound(["town"], "ill", 0.95)
    asked = sf.Recipe(schema=schema, privacy=[sf.KAnonymity(["town"], 20), bound])
    table = pa.table({"town": town, "ill": ill})
    made = sf.publish(table, asked, run=sf.Run(report=False, ledger=sf.Ledger(tmp_path / "ledger.jsonl")))
    said = made.worth.sentence("VERIFIED")
    assert said.startswith("VERIFIED, but ill can be told with 90 % certainty or more for 50% of the records")
    visitor.studio.jobs.at_once = 0
    visitor.post(f"/w/{work.id}/run/start")
    made.write(work.trials[-1] / "release")
    (work.folder / "releases").mkdir()
    made.write(work.folder / "releases" / "out")
    told = {
        **{"statement": "", "rows": 120, "lifted": 0, "holds": True, "checks": 1, "seconds": 1.0, "warnings": []},
        **{"headline": [], "columns": [], "sample": {"names": [], "rows": []}},
    }
    (work.trials[-1] / "result.json").write_text(json.dumps(told))
    Job(work.trials[-1]).set(state="done")
    pages = {screen: visitor.get(f"/w/{work.id}/{screen}").text for screen in ("run", "compare", "release")}
    assert {screen: page.count(said) for screen, page in pages.items()} == {"run": 1, "compare": 1, "release": 2}


def test_the_first_look_counts_labels_as_publish_does(opened: tuple[Visitor, Work], tmp_path: Path) -> None:
    """Blanks at the end make another label, which is masked as one; numbers are read without them."""
    _, work = opened
    towns = ["north", "north ", " north", "south", "South", ""] * 5
    table = tmp_path / "towns.csv"
    table.write_text("town,age\n" + "".join(f"{town},{at} \n" for at, town in enumerate(towns)))
    town, age = look(work.folder, str(table), encoding=None)["columns"]
    raw = sf.read(table, sf.Schema(town=sf.Category(role="quasi"), age=sf.Category(role="quasi"))).column("town")
    assert (town["distinct"], town["missing"]) == (len(raw.values), raw.missing) == (5, 5)
    assert town["labels"] == sorted(raw.labels)
    assert age["bins"] is not None


ZIPS = Taxonomy.from_tree({"*": {"537**": {"5370*": ["53703", "53706"], "5371*": ["53715"]}, "9021*": ["90210"]}})


@pytest.mark.parametrize(
    ("shown", "read"),
    [
        ("{53703, 53706}", "5370*"),
        ("{53703, 53706, 53715}", "537**"),
        ("{53703, 53706, 90210}", "{5370*, 9021*}"),
        ("{53703, 53706} or missing", "{5370*} or missing"),
        ("{53703, 53706, }", "{5370*} or missing"),  # as it was written up to format 4
        ("{53703, 53715}", "{53703, 5371*}"),
        ("{53703, nobody}", "{53703, nobody}"),
        ("53703", "53703"),
        ("*", "*"),
    ],
)
def test_a_set_is_read_by_the_groups_of_its_tree(shown: str, read: str) -> None:
    assert in_words(shown, ZIPS) == read
    assert in_words(shown, None) == shown
