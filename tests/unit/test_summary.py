"""What the terminal says of a release."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.cli.columns import columns_note, columns_table
from sfumato.cli.output import show
from sfumato.cli.summary import (
    beside_earlier,
    bounding,
    centres_stay,
    feasible_bound,
    found_again,
    show_certain,
    tries_told,
)
from sfumato.evaluation.columns import ColumnKept
from sfumato.evaluation.tries import Tries, Try
from sfumato.evaluation.worth import GivenAway, Lost, Worth
from sfumato.privacy.requirements import Requirement

CODES = sf.Taxonomy.flat(map(str, range(600)))
SCHEMA = sf.Schema(
    age=sf.Number(role="quasi", range=(0, 99)),
    weight=sf.Number(role="quasi"),
    born=sf.Number(role="quasi", calendar="year", range=("1900", "2020")),
    drugs=sf.ItemSet(role="quasi"),
    food=sf.ItemSet(role="plain"),
    codes=sf.ItemSet(role="plain", taxonomy=CODES),
    ill=sf.Category(role="sensitive"),
)
RECIPE = sf.Recipe(
    schema=SCHEMA,
    structure=sf.Clusters("kmeans", k=3),
    mask=sf.Microaggregate(),
    privacy=[sf.KAnonymity(SCHEMA.quasi, 5)],
)
PUBLIC = sf.Schema(age=SCHEMA["age"], food=sf.ItemSet(role="quasi", values=("fig", "plum")))


def test_why_centres_stay_is_told_of_each_attribute() -> None:
    told = centres_stay(RECIPE)
    assert "weight, a number without a declared range (declare it)" in told
    assert "born, a date or time" in told
    assert "drugs, an item set;" in told
    assert "codes, an item set of more than 512 labels" in told
    assert "age" not in told
    assert "food" not in told


def test_dates_and_numbers_in_intervals_keep_no_centres_back() -> None:
    numbers = sf.Schema({name: SCHEMA[name] for name in ("weight", "born")})
    told = centres_stay(
        sf.Recipe(schema=numbers, structure=sf.Clusters("kmeans", k=3), privacy=[sf.KAnonymity(numbers.quasi, 5)])
    )
    assert "weight" not in told
    assert "born" not in told


def test_only_what_clusters_are_found_by_keeps_centres_back() -> None:
    told = centres_stay(replace(RECIPE, structure=sf.Clusters("kmeans", k=3, attributes=("born", "age"))))
    assert "born" in told
    assert "weight" not in told


def test_generalized_rows_have_no_centres() -> None:
    told = centres_stay(
        sf.Recipe(
            schema=PUBLIC, structure=RECIPE.structure, mask=sf.PrivateTree(rows="generalized"), budget=sf.Budget(1)
        )
    )
    assert "rows: values" in told
    assert "more than the table" not in told


def test_generated_dates_have_no_centres_and_it_is_told_what_to_do_instead() -> None:
    public = sf.Schema(age=SCHEMA["age"], born=SCHEMA["born"])
    told = centres_stay(
        sf.Recipe(schema=public, structure=RECIPE.structure, mask=sf.PrivateTree(), budget=sf.Budget(1))
    )
    assert "dates (born)" in told
    assert "sfumato clusters RELEASE --k 5" in told


def test_centres_that_nobody_wanted_are_not_explained() -> None:
    assert "as the recipe says" in centres_stay(replace(RECIPE, release=sf.Along(starting_centres=False)))


COLUMNS = [
    ColumnKept("age", 80, 4, "[20-40)", 0.5, 0.25),
    ColumnKept("town", 12, 1, "*", 1.0, 0.0),
    ColumnKept("pay", 90, 30, "17", 0.1, None, alone=1.0),
    ColumnKept("sex", 2, 2, "f", 0.5, None),
    ColumnKept("town drawn", 2, 2, "f", 0.5, None, off=0.034),
]


def test_every_masked_column_has_a_line_with_its_detail(capsys: pytest.CaptureFixture[str]) -> None:
    show(columns_table(COLUMNS))
    lines = capsys.readouterr().out.splitlines()
    (age,) = (line for line in lines if " age " in line)
    assert "80 -> 4" in age
    assert "25%" in age
    assert any("town" in line and "100%" in line and " 0%" in line for line in lines)
    assert any("pay" in line and "numbers moved" in line for line in lines)
    assert any("sex" in line and "generated" in line for line in lines)
    assert any("town drawn" in line and "3% off" in line for line in lines)


@pytest.mark.parametrize(
    ("kept", "alone", "mask", "headings", "said"),
    [
        (0.5, 0.25, sf.Partition(), ["detail kept", "rows with", "one value"], "ask for detail: {COLUMN: 1}."),
        (0.5, 0.25, sf.Mondrian(), ["detail kept", "rows with"], "an interval of several."),
        (None, None, sf.PrivateTree(), [], ""),
    ],
)
def test_in_80_letters_every_heading_and_value_is_read(
    kept: float | None,
    alone: float | None,
    mask: sf.PrivateTree | sf.Partition | sf.Mondrian,
    headings: list[str],
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """What has no measure under a budget is left out, and so is advice that the masker refuses."""
    monkeypatch.setenv("COLUMNS", "80")
    columns = [ColumnKept("Startdatum ondersteuning", 13_155, 13_757, "Noordoost", 0.61, kept, alone=alone)]
    show(columns_table(columns))
    out = capsys.readouterr().out
    assert max(map(len, out.splitlines())) <= 80
    assert "…" not in out
    assert all(word in out for word in (*headings, "Startdatum", "Noordoost", "13,155 -> 13,757", "61%"))
    assert ("detail kept" in out) == (kept is not None)
    assert columns_note(columns, mask, {}).endswith(said)
    assert bool(columns_note(columns, mask, {})) == bool(said)


def test_lost_clusters_and_both_numbers_of_starts_are_told() -> None:
    names = {"f_measure.cold1": 0.87, "f_measure.cold10": 0.95, "f_measure.ceiling.mean": 0.9}
    scores = {"scores": {name: {"value": value} for name, value in names.items()}}
    lines = found_again(scores, Worth((), clusters=3, lost=(Lost(2, 1200, 0.3, 0.9),)))
    assert lines[0] == "Lost: cluster 2 (1,200 records): 30% of them are still together."
    assert (
        "0.87 with one start, 0.95 with the best of ten; raw data clustered again with another seed: 0.90" in lines[1]
    )
    assert "structure: {k: auto} tries 2 to 10" in lines[2]
    (said,) = found_again(scores, Worth((), clusters=3), auto=True)[1:]
    assert "{k: auto}" not in said, "it was tried already"
    assert "structure: attributes" in said


def test_what_was_tried_is_shown_to_be_copied_and_what_is_certain_beside_raw(
    capsys: pytest.CaptureFixture[str],
) -> None:
    better = Try(("mask={mondrian: {}}", "privacy.0.k=5"), "less privacy", 9, 1, 0.5, "F-measure", 0.9)
    tries = Tries(100, 100, 3, Try((), "", 9, 7, 0.1, "F-measure", 0.8), (better,))
    certain = {
        "attribute": "ill",
        "certain": 0.25,
        "nearly_certain": 0.5,
        "certain.raw": 0.9,
        "nearly_certain.raw": 1.0,
    }
    for line in tries_told({"tries": tries.to_json()}):
        show(line)
    show_certain({"certain": [certain]})
    assert tries_told({}) == []
    show_certain({})
    out = capsys.readouterr().out
    assert "--set 'mask={mondrian: {}}' --set privacy.0.k=5\n" in out
    assert "as it is: 7 of 9 columns tell nothing" in out
    assert [share in out for share in ("25%", "50%", "90%", "100%")] == [True] * 4


@pytest.mark.parametrize(
    ("commonest", "bound", "proposed"),
    [(40, None, 0.75), (85, 0.95, 0.88), (89, 0.95, None), (85, 0.86, 0.86)],
)
def test_a_bound_is_proposed_that_the_whole_table_can_keep(
    commonest: int, bound: float | None, proposed: float | None
) -> None:
    """Never one below the share of the commonest value, and none that would leave it nearly certain."""
    shown = pa.table({"ill": ["n"] * commonest + [f"y{at}" for at in range(100 - commonest)]})
    assert feasible_bound(shown, GivenAway("ill", 0.5, bound)) == proposed


def test_a_bound_on_few_columns_is_proposed_on_all() -> None:
    schema = sf.Schema({name: SCHEMA[name] for name in ("age", "born", "ill")})
    asked: list[Requirement] = [sf.KAnonymity(schema.quasi, 5), sf.ConfidenceBound(["age"], h=0.6, sensitive="ill")]
    told = bounding(sf.Recipe(schema=schema, privacy=asked), GivenAway("ill", 0.5, 0.6), 0.6)
    assert (
        told
        == "to bound what is told of ill, --set 'privacy.1={confidence_bound: 0.6, on: [age, born], sensitive: ill}'"
    )


def test_beside_earlier_releases_a_poor_table_is_not_left_without_advice() -> None:
    schema = sf.Schema({name: SCHEMA[name] for name in ("age", "born", "ill")}, stay=sf.Number(role="plain"))
    alone = sf.Recipe(schema=schema, privacy=[sf.KAnonymity(schema.quasi, 5)], mask=sf.TopDown())
    later = replace(alone, earlier=sf.Earlier(releases=("out/1",), people="growing"))
    poor = Worth((ColumnKept("age", 9, 1, "*", 1.0, 0.0), ColumnKept("born", 9, 1, "*", 1.0, 0.0)))
    (line,) = beside_earlier(later, poor)
    assert "fewer plain columns (stay)" in line
    assert "under a budget" in line
    assert beside_earlier(alone, poor) == beside_earlier(later, Worth(())) == []
