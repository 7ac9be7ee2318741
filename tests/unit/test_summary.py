"""What the terminal says of a release."""

from __future__ import annotations

from dataclasses import replace

import pytest

import sfumato as sf
from sfumato.cli.output import show
from sfumato.cli.summary import centres_stay, columns_table, found_again, show_certain, tries_told
from sfumato.evaluation.columns import ColumnKept
from sfumato.evaluation.tries import Tries, Try
from sfumato.evaluation.worth import Lost, Worth

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


def test_centres_that_nobody_wanted_are_not_explained() -> None:
    assert "as the recipe says" in centres_stay(replace(RECIPE, release=sf.Along(starting_centres=False)))


COLUMNS = [
    ColumnKept("age", 80, 4, "[20-40)", 0.5, 0.25),
    ColumnKept("town", 12, 1, "*", 1.0, 0.0),
    ColumnKept("pay", 90, 30, "17", 0.1, None),
    ColumnKept("sex", 2, 2, "f", 0.5, None, off=0.034),
]


def test_every_masked_column_has_a_line_with_its_detail(capsys: pytest.CaptureFixture[str]) -> None:
    show(columns_table(COLUMNS))
    lines = capsys.readouterr().out.splitlines()
    (age,) = (line for line in lines if " age " in line)
    assert "80 -> 4" in age
    assert "25%" in age
    assert any("town" in line and "100%" in line and " 0%" in line for line in lines)
    assert any("pay" in line and "numbers moved" in line for line in lines)
    assert any("sex" in line and "drawn, 3% off" in line for line in lines), "labels that are drawn are no numbers"


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
