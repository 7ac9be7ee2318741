"""Information loss."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from sfumato.data.encoding import encode
from sfumato.data.masked import Masked
from sfumato.data.schema import Category, Number, Schema
from sfumato.data.table import Table
from sfumato.data.taxonomy.taxonomy import Taxonomy
from sfumato.errors import TableError
from sfumato.evaluation.columns import ColumnKept, column_scores, columns_kept
from sfumato.evaluation.loss import (
    average_class_size,
    benefit,
    certainty_penalty,
    discernibility,
    distance_lost,
    information_loss,
    nothing_shown,
)
from sfumato.evaluation.worth import Worth

TREE = Taxonomy.from_tree({"ANY": {"Secondary": ["9th", "10th"], "University": ["Bachelors", "Masters"]}})


@pytest.fixture
def table() -> Table:
    schema = Schema(
        education=Category(role="quasi", taxonomy=TREE),
        age=Number(role="quasi", range=(0, 100)),
        country=Category(role="quasi"),
        pay=Number(role="quasi"),
    )
    columns = {
        "education": ["9th", "10th", "Bachelors", "Masters"],
        "age": [10, 30, 50, None],
        "country": ["a", "b", "c", "a"],
        "pay": [0, 5, 10, 20],
    }
    return encode(pa.table(columns), schema)


def test_a_label_costs_its_share_of_the_leaves(table: Table) -> None:
    shown = Masked.of({"education": pa.array(["Secondary", "Secondary", "Bachelors", "ANY"])})
    assert certainty_penalty(table, shown).value == pytest.approx((0.5 + 0.5 + 0 + 1) / 4)


def test_an_interval_costs_its_share_of_the_range(table: Table) -> None:
    shown = Masked.of({"age": pa.array(["[0-40)", "[0-40)", "[40-100]", None])})
    score = certainty_penalty(table, shown)
    assert score.value == pytest.approx((0.4 + 0.4 + 0.6 + 0) / 4)
    assert score.publishable


def test_a_suppressed_value_costs_1(table: Table) -> None:
    assert certainty_penalty(table, Masked.of({"country": pa.array(["a", "*", "*", "a"])})).value == 0.5


def test_labels_in_braces_cost_their_share(table: Table) -> None:
    shown = Masked.of({"country": pa.array(["{a, b}", "{a, b}", "c", "*"])})
    assert certainty_penalty(table, shown).value == pytest.approx((2 / 3 + 2 / 3 + 0 + 1) / 4)
    leaves = Masked.of({"education": pa.array(["{10th, 9th}", "{10th, 9th}", "Bachelors", "Masters"])})
    assert certainty_penalty(table, leaves).value == pytest.approx((0.5 + 0.5) / 4)


def test_how_large_sets_are_is_told_beside_the_detail_that_they_keep() -> None:
    codes = [f"{at:03}" for at in range(300)]
    people = encode(
        pa.table({"zip": codes, "age": range(300)}), Schema(zip=Category(role="quasi"), age=Number(role="quasi"))
    )
    sets = ["{" + ", ".join(codes[at // 12 * 12 : at // 12 * 12 + 12]) + "}" for at in range(156)]
    found = columns_kept(
        people, Masked.of({"zip": pa.array([*sets, *codes[156:]]), "age": pa.array(["[0-299]"] * 300)})
    )
    assert [column.wide_words for column in found] == ["sets of 12", ""]
    assert (found[0].kept or 0.0) > 0.97
    assert ColumnKept.from_json(found[0].to_json()) == found[0]


def test_a_missing_value_in_braces_is_one_of_the_labels() -> None:
    people = encode(pa.table({"town": ["a", "b", "c", None]}), Schema(town=Category(role="quasi")))
    shown = Masked.of({"town": pa.array(["{a} or missing", "b", "c", "{a} or missing"])})
    assert certainty_penalty(people, shown).value == pytest.approx(2 * 0.5 / 4)


def test_another_records_label_tells_nothing(table: Table) -> None:
    assert certainty_penalty(table, Masked.of({"country": pa.array(["a", "a", "a", "a"])})).value == 0.5


def test_attributes_count_alike(table: Table) -> None:
    shown = Masked.of({"country": pa.array(["*"] * 4), "education": pa.array(["9th", "10th", "Bachelors", "Masters"])})
    assert certainty_penalty(table, shown).value == 0.5


def test_with_an_observed_range_it_is_for_the_holder(table: Table) -> None:
    score = certainty_penalty(table, Masked.of({"pay": pa.array(["[..-5)", "[5-..]", "[5-..]", "[5-..]"])}))
    assert score.value == pytest.approx((0.25 + 3 * 0.75) / 4)
    assert not score.publishable


def test_without_masked_columns_there_is_nothing_to_measure(table: Table) -> None:
    with pytest.raises(TableError):
        certainty_penalty(table, Masked.of({"pay": pa.array([1, 2, 3, 4])}))


def test_groups_are_those_of_the_shown_values(table: Table) -> None:
    shown = Masked.of(
        {"education": pa.array(["Secondary", "Secondary", "ANY", "ANY"]), "age": pa.array(["x", "x", "x", None])}
    ).over(table)
    assert sorted(shown.sizes(["education", "age"]).tolist()) == [1, 1, 2]
    assert sorted(shown.sizes(["education"]).tolist()) == [2, 2]
    assert sorted(shown.sizes(["country"]).tolist()) == [1, 1, 2]


def test_discernibility_counts_pairs_that_look_alike() -> None:
    groups = np.array([0, 0, 0, 1, 1])
    alike = (groups[:, None] == groups[None]).sum()
    assert discernibility(np.array([3, 2])).value == alike


def test_average_class_size_is_in_multiples_of_k() -> None:
    assert average_class_size(np.array([5, 15]), k=5).value == 2.0


def test_benefit() -> None:
    assert benefit(0.5, 0.4) == pytest.approx(0.25)
    assert benefit(0.4, 0.5) == pytest.approx(-0.2)
    with pytest.raises(TableError):
        benefit(0.5, 0.0)


def test_rows_in_which_no_column_shows_anything(table: Table) -> None:
    shown = {"education": ["ANY", "ANY", "University", "*"], "age": ["[0-100]", "[0-50)", "[0-100]", "*"]}
    masked = Masked.of({name: pa.array(texts) for name, texts in shown.items()})
    assert nothing_shown(table, masked) == 0.5
    moved = Masked.of({"pay": pa.array([1.0, 2.0, 3.0, 4.0])})
    assert nothing_shown(table, moved) == 0.0
    assert nothing_shown(table, Masked.of({"country": pa.array(["{a, b, c}", "*", "a", "b"])})) == 0.5


def test_numbers_of_others_are_measured_by_distance(table: Table) -> None:
    centres = Masked.of({"pay": pa.array([2.5, 2.5, 15.0, 15.0]), "education": pa.array(["9th", "10th", "ANY", "ANY"])})
    lost = 2 * (2.5**2 + 5**2) / (8.75**2 + 3.75**2 + 1.25**2 + 11.25**2)
    assert distance_lost(table, "pay", centres["pay"]) == pytest.approx(lost)
    assert distance_lost(table, "education", centres["education"]) is None
    score = information_loss(table, centres)
    assert score is not None
    assert score.value == pytest.approx(lost)
    assert distance_lost(table, "age", Masked.of({"age": pa.array([10, 30, 50, None])})["age"]) == 0.0
    assert information_loss(table, Masked.of({"age": pa.array(["[0-50)", "[0-50)", "[50-100]", None])})) is None


def test_where_numbers_are_moved_no_average_of_the_other_columns_is_told(table: Table) -> None:
    centres = Masked.of({"pay": pa.array([2.5, 2.5, 15.0, 15.0]), "country": pa.array(["a", "b", "c", "a"])})
    found = columns_kept(table, replace(centres, released=centres.columns))
    assert [(one.kept, one.moved is None) for one in found] == [(None, False), (1.0, True)]
    assert "information_kept" not in {score.name for score in column_scores(found)}
    assert Worth(found).kept is None
    assert found[0].moved_words == f"moved: {found[0].moved:.0%} lost"
    assert ColumnKept.from_json(found[0].to_json()) == found[0]
