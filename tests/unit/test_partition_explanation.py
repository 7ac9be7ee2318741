"""Why values of a partition look as they do: counted again here by hand, group by group."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as pv
import pytest
from typer.testing import CliRunner

import sfumato as sf
from sfumato.cli.main import app
from sfumato.maskers.partition.explanation import Why, whys, whys_to_json
from sfumato.maskers.partition.explanation import explain as explained
from sfumato.publishing import explain

SEXES = ["f", "m"]
PEOPLE = pa.table(
    {
        "age": [20 + at for at in range(20) for _ in range(3)],
        "sex": [SEXES[at % 2] for at in range(60)],
        "ill": ["yes" if at % 5 == 0 else "no" for at in range(60)],
    }
)
SCHEMA = sf.Schema(
    age=sf.Number(role="quasi", range=(0, 100)), sex=sf.Category(role="quasi"), ill=sf.Category(role="sensitive")
)


def published(tmp_path: Path, *privacy: sf.KAnonymity | sf.LDiversity) -> Path:
    recipe = sf.Recipe(schema=SCHEMA, privacy=privacy, mask=sf.Partition())
    return sf.publish(PEOPLE, recipe, run=sf.Run(trial=True, report=False)).keep(tmp_path / "out")


def told(folder: Path) -> list[Why]:
    return whys(json.loads(json.dumps(explain(PEOPLE, folder))))


def test_the_smaller_side_of_the_most_even_cut_is_the_k_that_would_allow_it(tmp_path: Path) -> None:
    folder = published(tmp_path, sf.KAnonymity(["age", "sex"], 10))
    found = told(folder)
    assert {one.attribute for one in found} == {"age", "sex"}
    for name in ("age", "sex"):
        assert sum(one.people for one in found if one.attribute == name) == PEOPLE.num_rows
    blocked = [one for one in found if 2 <= one.side < 10]
    assert blocked
    for one in blocked:
        assert one.group < 2 * 10 + 10
        assert one.side <= one.group / 2
        assert f"one side would have {one.side}, and k is 10" in one.next
        assert (one.remedy or "").startswith(f"A k of {one.side} or less")


def test_a_single_label_is_as_fine_as_it_can_be() -> None:
    alone = Why("sex", "f", 12, 1, 12, 0, ("", ""), 10)
    assert "as fine as it can be" in alone.next
    assert alone.remedy is None
    assert "in 1 group." in alone.shows


def test_what_is_asked_of_secrets_stands_in_the_way_whatever_k_is(tmp_path: Path) -> None:
    folder = published(tmp_path, sf.KAnonymity(["age", "sex"], 2), sf.LDiversity(["age", "sex"], "ill", 2))
    short = [one for one in told(folder) if one.short]
    assert short
    assert "different value" in short[0].next or "ill" in short[0].next
    assert short[0].remedy == "No k allows it: what is asked of sensitive values forbids it."


def test_the_command_tells_it_beside_the_raw_table(tmp_path: Path) -> None:
    folder = published(tmp_path, sf.KAnonymity(["age", "sex"], 10))
    pv.write_csv(PEOPLE, tmp_path / "people.csv")
    refused = CliRunner().invoke(app, ["explain", str(folder)])
    assert refused.exit_code != 0
    assert "--raw" in str(refused.exception)
    words = ["explain", str(folder), "age", "--raw", str(tmp_path / "people.csv")]
    answer = CliRunner().invoke(app, words)
    assert answer.exit_code == 0, answer.output
    assert answer.output.startswith("age\n")
    assert "rows show them, in 2 groups" in answer.output
    shown = sf.load(folder, verify=False, kind="arrow").table.column("sex")[0].as_py()
    one = CliRunner().invoke(app, [*words[:2], "sex", "--value", shown, *words[3:]])
    assert one.output.startswith(f"sex\n  {shown}: ")
    assert len(one.output.strip().split("\n")) == 2
    row = CliRunner().invoke(app, [*words, "--row", "31"]).output.split("\n")
    assert row[0].startswith("Row 31 is in a group of ")
    assert row[0].endswith(" rows that look alike on age, sex.")
    assert row[1].startswith("  age: shown as [")
    assert "one side would have" in row[1]
    beyond = CliRunner().invoke(app, [*words, "--row", "61"])
    assert "rows 1 to 60" in str(beyond.exception)
    none = CliRunner().invoke(app, [*words, "--value", "[7-9)"])
    assert "as the table shows it" in str(none.exception)
    unknown = CliRunner().invoke(app, ["explain", str(folder), "town", "--raw", str(tmp_path / "people.csv")])
    assert unknown.exit_code != 0


def test_python_explains_beside_the_table_that_the_recipe_names(tmp_path: Path) -> None:
    pv.write_csv(PEOPLE, tmp_path / "people.csv")
    recipe = sf.Recipe(
        schema=SCHEMA,
        privacy=[sf.KAnonymity(["age", "sex"], 10)],
        mask=sf.Partition(),
        table=str(tmp_path / "people.csv"),
    )
    folder = sf.publish(PEOPLE, recipe, run=sf.Run(trial=True, report=False)).keep(tmp_path / "out")
    found = sf.explain(folder, "age")
    assert repr(found) == str(found) == sf.explain(folder, "age", raw=PEOPLE).text
    assert found.text.startswith("age\n")
    assert "rows show" in found._repr_html_()
    (tmp_path / "people.csv").unlink()
    with pytest.raises(sf.ReleaseError, match=r"no table where out\.holder/recipe\.yaml would have it.*raw=TABLE"):
        sf.explain(folder, "age")


def test_what_the_same_stands_in_the_way_of_is_told_once() -> None:
    sides = ("those below 7", "those above")
    some = [Why("age", f"[{at}-{at + 9})", 40 + at, 1, 39, 19, sides, 20) for at in range(40)]
    other = Why("age", "[60-90]", 30, 1, 30, 12, sides, 20)
    text = explained({"values": whys_to_json([*some, other])})
    assert len(text.split("\n")) == 3
    assert "40 values ([0-9), [1-10), [2-11), [3-12) and 36 more): 2,380 rows show them, in 40 groups." in text
    assert text.count("A k of 19 or less") == 1


def test_of_pure_parts_it_is_not_known_who_is_in_them(tmp_path: Path) -> None:
    needs = [sf.KAnonymity(["age", "sex"], 10)]
    recipe = sf.Recipe(schema=SCHEMA, structure=sf.Clusters("kmeans", k=2), privacy=needs, mask=sf.Partition(pure=True))
    folder = sf.publish(PEOPLE, recipe, run=sf.Run(trial=True, report=False)).keep(tmp_path / "out")
    assert told(folder) == []
