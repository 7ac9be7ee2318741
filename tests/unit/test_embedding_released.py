"""The codebook of released values, and reading intervals back."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from sfumato.data.encoding import encode
from sfumato.data.masked import Masked
from sfumato.data.schema import Attribute, Category, Number, Schema
from sfumato.data.table import Table
from sfumato.data.taxonomy.taxonomy import Taxonomy
from sfumato.maskers.recoding.intervals import interval_labels
from sfumato.structure.embedding import Embedding
from sfumato.structure.masked_positions import Ends, interval_ends
from sfumato.structure.released import ReleasedValues

TREE = Taxonomy.from_tree({"ANY": {"Secondary": ["9th", "10th", "11th"], "University": ["Bachelors"]}})


def one(attribute: Attribute, values: list[Any]) -> Table:
    return encode(pa.table({"a": values}), Schema(a=attribute))


def learn(attribute: Attribute, values: list[Any], shown: list[str], minimum: int = 1) -> dict[str, Any]:
    return ReleasedValues.learn(one(attribute, values), Masked.of({"a": pa.array(shown)}), minimum=minimum).to_json()[
        "a"
    ]


def test_an_interval_has_its_mean() -> None:
    assert learn(Number(range=(0, 73)), [10, 20, 27, 60], ["[0-30)"] * 3 + ["[30-73]"]) == {
        "[0-30)": {"mean": 19.0},
        "[30-73]": {"mean": 60.0},
    }


def test_a_mean_is_told_to_a_thousandth_of_the_range() -> None:
    assert learn(Number(range=(0, 99999)), [1234, 1235, 1241], ["x"] * 3) == {"x": {"mean": 1240.0}}


def test_a_date_has_its_mean_as_a_date() -> None:
    """Of the dates themselves: the mean of the years they fall into would be half a year early."""
    found = learn(Number(calendar="year"), ["2001-02-01", "2003-05-01", "2005-01-01"], ["[..-..]"] * 3)
    assert found == {"[..-..]": {"mean": "2003-02-16"}}


def test_a_time_in_a_short_range_has_its_mean_to_the_second() -> None:
    found = learn(Number(calendar="minute"), ["2001-02-01T10:00", "2001-02-01T10:01"], ["[..-..]"] * 2)
    assert found == {"[..-..]": {"mean": "2001-02-01T10:00:30"}}


def test_a_label_has_the_shares_of_its_leaves_and_a_leaf_no_entry() -> None:
    found = learn(
        Category(taxonomy=TREE), ["9th", "10th", "10th", "10th", "Bachelors"], ["Secondary"] * 4 + ["Bachelors"]
    )
    assert found == {"Secondary": {"9th": 0.25, "10th": 0.75}}


def test_missing_values_under_a_label_are_told_apart() -> None:
    assert learn(Category(), ["x", "x", None, "y"], ["*"] * 4) == {"*": {"x": 0.5, "(missing)": 0.25, "y": 0.25}}


def test_labels_below_the_minimum_are_told_as_the_rest() -> None:
    values = ["9th"] * 6 + ["10th"] * 2 + ["11th"] * 2
    found = learn(Category(taxonomy=TREE), values, ["Secondary"] * 10, minimum=3)
    assert found == {"Secondary": {"9th": 0.6, "Secondary": 0.4}}


def test_a_rest_below_the_minimum_takes_the_smallest_label_with_it() -> None:
    values = ["9th"] * 6 + ["10th"] * 3 + ["11th"]
    found = learn(Category(taxonomy=TREE), values, ["Secondary"] * 10, minimum=3)
    assert found == {"Secondary": {"9th": 0.6, "Secondary": 0.4}}


@pytest.mark.parametrize("minimum", [2, 3, 5, 8])
def test_no_share_tells_a_count_below_the_minimum(minimum: int) -> None:
    generator = np.random.default_rng(minimum)
    for _ in range(50):
        values = generator.choice(list(TREE.leaves), 40, p=generator.dirichlet([0.4] * 4)).tolist()
        for spread in learn(Category(taxonomy=TREE), values, ["ANY"] * 40, minimum=minimum).values():
            assert all(round(share * 40) >= minimum for share in spread.values())
            assert sum(spread.values()) == pytest.approx(1, abs=1e-3)


def test_nothing_is_told_of_an_attribute_with_a_value_shown_by_too_few() -> None:
    shown = ["Secondary", "Secondary", "Bachelors"]
    assert learn(Category(taxonomy=TREE), ["9th", "10th", "Bachelors"], shown)
    assert not learn(Category(taxonomy=TREE), ["9th", "10th", "Bachelors"], shown, minimum=2)


def test_it_survives_json() -> None:
    table = one(Category(taxonomy=TREE), ["9th", "10th", "Bachelors"])
    column = Masked.of({"a": pa.array(["Secondary", "Secondary", "Bachelors"])})
    book = ReleasedValues.learn(table, column)
    again = ReleasedValues.from_json(json.loads(json.dumps(book.to_json())))
    assert again == book
    embedding = Embedding.of(table)
    assert np.array_equal(embedding.masked(table, column, released=again), embedding.masked(table, column))


def test_the_rest_stands_at_the_shown_label() -> None:
    table = one(Category(taxonomy=TREE), ["9th"] * 6 + ["10th"] * 2 + ["11th"] * 2)
    column = Masked.of({"a": pa.array(["Secondary"] * 10)})
    embedding = Embedding.of(table)
    vector = embedding.masked(table, column, released=ReleasedValues.learn(table, column, minimum=3))[0]
    scale = 0.5  # sqrt(1 / 2H), H = 2
    assert sorted(vector[vector > 0].tolist()) == pytest.approx([0.6 * scale, scale])


def test_a_date_on_its_mean_is_placed_by_it() -> None:
    table = one(Number(range=("2000", "2010"), calendar="year"), ["2000-01-01", "2010-01-01", "2008-01-01"])
    column = Masked.of({"a": pa.array(["[2000-2005)", "[2005-2010]", "[2005-2010]"])})
    assert Embedding.of(table).masked(table, column)[:, 0] == pytest.approx([0, 0.9, 0.9], abs=5e-3)
    assert Embedding.of(table).masked(table, column, placement="own")[:, 0] == pytest.approx(
        [0.25, 0.75, 0.75], abs=1e-3
    )


@pytest.mark.parametrize(
    ("ends", "breaks"),
    [((17, 90), [37.0]), ((-10, -1), [-5.0, -1.5]), (None, [0.5]), ((0, 1), [1e-05, 0.1]), ((0, 1e300), [1e20])],
)
def test_intervals_read_back_as_they_were_written(ends: tuple[float, float] | None, breaks: list[float]) -> None:
    low, high = ends or (None, None)
    bounds = [low, *breaks, high]
    wanted = [Ends(a, b) for a, b in pairwise(bounds)]
    assert [interval_ends(label) for label in interval_labels(ends, breaks)] == wanted


def test_intervals_of_dates_read_back() -> None:
    months = interval_ends("[1990-04-1995-01)", "month")
    assert months is not None
    assert months.low == pytest.approx(np.datetime64("1990-04", "us").astype(np.int64))
    assert months.high == pytest.approx(np.datetime64("1995-01", "us").astype(np.int64))
    assert interval_ends("[1990-01-01-1995]", "year") is not None


@pytest.mark.parametrize("label", ["*", "", "[", "[]", "[a-b)", "[1)", "Secondary"])
def test_what_is_no_interval_is_none(label: str) -> None:
    assert interval_ends(label) is None
