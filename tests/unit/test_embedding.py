"""Where raw and masked records stand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from sfumato.data.encoding import encode
from sfumato.data.masked import Masked
from sfumato.data.schema import Attribute, Category, ItemSet, Number, Schema
from sfumato.data.table import Sets, Table
from sfumato.data.taxonomy.taxonomy import Taxonomy
from sfumato.errors import RecipeError, SchemaError
from sfumato.structure import layouts
from sfumato.structure.embedding import Embedding, default_attributes
from sfumato.structure.released import ReleasedValues

TREE = Taxonomy.from_tree({"ANY": {"Secondary": ["9th", "10th"], "University": ["Bachelors"]}})


def one(attribute: Attribute, values: list[Any]) -> Table:
    return encode(pa.table({"a": values}), Schema(a=attribute))


def raw(attribute: Attribute, values: list[Any]) -> np.ndarray:
    table = one(attribute, values)
    return Embedding.of(table).raw(table)


def gap(vectors: np.ndarray, i: int, j: int) -> float:
    return float(((vectors[i].astype(float) - vectors[j]) ** 2).sum())


def test_a_number_is_scaled_by_its_declared_range() -> None:
    assert raw(Number(range=(0, 100)), [0, 25, 50])[:, 0].tolist() == [0.0, 0.25, 0.5]


def test_without_a_range_a_number_is_scaled_by_what_occurs() -> None:
    assert raw(Number(), [10, 15, 20])[:, 0].tolist() == [0.0, 0.5, 1.0]


def test_a_missing_number_stands_at_the_mean_of_the_others() -> None:
    assert raw(Number(range=(0, 10)), [0, 0, 9, None])[:, 0] == pytest.approx([0, 0, 0.9, 0.3])


def test_a_constant_number_tells_nothing() -> None:
    assert raw(Number(), [7, 7])[:, 0].tolist() == [0.0, 0.0]


def test_a_date_is_scaled_by_its_calendar_units() -> None:
    attribute = Number(range=("2000", "2010"), calendar="year")
    assert raw(attribute, ["2000-03-01", "2005-07-01", "2010-12-31"])[:, 0] == pytest.approx([0, 0.5, 1], abs=1e-3)


def test_labels_without_a_taxonomy_are_1_apart_and_missing_is_one_of_them() -> None:
    vectors = raw(Category(), ["a", "b", None])
    assert [gap(vectors, i, j) for i, j in [(0, 1), (0, 2), (1, 2)]] == pytest.approx([1, 1, 1])


def test_labels_with_a_taxonomy_are_their_path_apart() -> None:
    vectors = raw(Category(taxonomy=TREE), ["9th", "10th", "Bachelors"])
    assert gap(vectors, 0, 1) == pytest.approx(2 / 4)
    assert gap(vectors, 0, 2) == pytest.approx(4 / 4)


def test_sets_are_compared_by_what_they_share() -> None:
    vectors = raw(ItemSet(), [["a", "b"], ["b", "a"], ["c"], ["a"], [], None])
    assert gap(vectors, 0, 1) == 0
    assert gap(vectors, 0, 2) == pytest.approx(1)
    assert 0 < gap(vectors, 0, 3) < gap(vectors, 2, 3)
    assert vectors[4].any() == np.False_
    assert gap(vectors, 0, 5) == pytest.approx(1)


def test_rare_labels_have_no_coordinate_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layouts, "MOST_NODES", 2)
    vectors = raw(Category(taxonomy=TREE), ["9th", "9th", "10th", "Bachelors"])
    assert vectors.shape[1] == 2  # Secondary and 9th
    assert gap(vectors, 0, 2) == pytest.approx(1 / 4)  # 10th stands at Secondary
    assert vectors[3].any() == np.False_


def test_weights_are_shares() -> None:
    table = encode(pa.table({"a": ["x", "y"], "b": ["x", "y"]}), Schema(a=Category(), b=Category()))
    equal = Embedding.of(table)
    assert equal.weights == {"a": 0.5, "b": 0.5}
    heavy = Embedding.of(table, weights={"a": 3})
    assert heavy.weights == {"a": 0.75, "b": 0.25}
    first = heavy.raw(table)[:, :2]
    assert gap(first, 0, 1) == pytest.approx(0.75)


def test_what_is_embedded_unless_told_otherwise() -> None:
    schema = Schema(
        name=Category(role="identifier"),
        a=Number(role="quasi"),
        b=Category(),
        c=Category(role="sensitive"),
        d=Category(unique_ok=True),
    )
    assert default_attributes(schema) == ("a", "b")


@pytest.mark.parametrize(
    ("settings", "kind"),
    [
        ({"attributes": ["agee"]}, SchemaError),
        ({"attributes": []}, SchemaError),
        ({"attributes": ["a", "a"]}, SchemaError),
        ({"weights": {"b": 1}}, RecipeError),
        ({"weights": {"a": 0}}, RecipeError),
        ({"weights": {"a": float("nan")}}, RecipeError),
    ],
)
def test_attributes_and_weights_are_checked(settings: dict[str, Any], kind: type[Exception]) -> None:
    with pytest.raises(kind):
        Embedding.of(one(Number(), [1, 2]), **settings)


def test_an_unknown_placement_is_refused() -> None:
    table = one(Number(), [1, 2])
    wrong: Any = "midpoint"
    with pytest.raises(RecipeError, match="expected, middle, own"):
        Embedding.of(table).masked(table, Masked.of({}, rows=2), placement=wrong)


def test_own_labels_have_a_coordinate_each_after_all_others() -> None:
    table = one(Category(taxonomy=TREE), ["9th", "10th", "Bachelors"])
    embedding = Embedding.of(table)
    vectors = embedding.masked(
        table, Masked.of({"a": pa.array(["Secondary", "Secondary", "Bachelors"])}), placement="own"
    )
    assert vectors.shape == (3, embedding.dims + 1)
    assert vectors[:, embedding.dims] == pytest.approx([0.5**0.5, 0.5**0.5, 0])
    assert np.array_equal(vectors[2, : embedding.dims], embedding.raw(table)[2])


def test_an_interval_on_its_own_stands_in_the_middle() -> None:
    table = one(Number(range=(0, 100)), [5, 30, 90])
    embedding = Embedding.of(table)
    shown = Masked.of({"a": pa.array(["[0-20)", "[20-100]", "[20-100]"])})
    assert embedding.masked(table, shown, placement="own")[:, 0] == pytest.approx([0.1, 0.6, 0.6])
    assert embedding.masked(table, shown)[:, 0] == pytest.approx([0.05, 0.6, 0.6])


def test_masked_numbers_may_be_numbers() -> None:
    table = one(Number(range=(0, 10)), [0, 4, None])
    shown = Masked.of({"a": pa.array([2.0, 2.0, None])})
    assert Embedding.of(table).masked(table, shown)[:, 0] == pytest.approx([0.2, 0.2, 0.2])


def test_masked_sets_may_hold_inner_labels() -> None:
    table = one(ItemSet(taxonomy=TREE), [["9th"], ["9th", "Bachelors"]])
    vectors = Embedding.of(table).masked(
        table, Masked.of({"a": pa.array([["Secondary"], ["Secondary", "University"]])})
    )
    assert (vectors > 0).sum(axis=1).tolist() == [1, 2]
    hidden = Embedding.of(table).masked(table, Masked.of({"a": pa.array(["*", "*"])}))
    assert not hidden.any()


def test_a_label_without_an_entry_stands_at_its_own_node() -> None:
    table = one(Category(taxonomy=TREE), ["9th", "10th", "Bachelors"])
    shown = Masked.of({"a": pa.array(["Secondary", "Secondary", "ANY"])})
    vectors = Embedding.of(table).masked(table, shown, released=ReleasedValues())
    assert (vectors > 0).sum(axis=1).tolist() == [1, 1, 0]


def test_everything_at_its_top_stands_in_one_place() -> None:
    table = one(Category(taxonomy=TREE), ["9th", "10th", "Bachelors"])
    assert len(Embedding.of(table).without(table, ["a"]).distinct.weights) == 1


def test_many_attributes_do_not_overflow_the_key() -> None:
    generator = np.random.default_rng(0)
    columns = {f"a{i}": generator.integers(0, 1000, 200) for i in range(12)}
    table = encode(pa.table(columns), Schema({name: Number() for name in columns}))
    assert len(Embedding.of(table).place(table).distinct.weights) == 200


def test_sets_stand_at_the_coordinates_of_all_their_items(monkeypatch: pytest.MonkeyPatch) -> None:
    """Collected a few at a time, against one set after the other."""
    monkeypatch.setattr(layouts, "SETS_AT_ONCE", 3)
    draw = np.random.default_rng(0)
    of_label, of_missing = draw.random((6, 9)) < 0.3, np.arange(9) == 8
    held = [sorted(draw.choice(6, int(draw.integers(0, 4)), replace=False).tolist()) for _ in range(10)]
    held[4] = []
    gone = np.arange(10) == 4
    offsets = np.cumsum([0, *map(len, held)])
    items = np.array([item for some in held for item in some], dtype=np.int64)
    found = layouts.unions(of_label, of_missing, Sets(np.arange(10), offsets, items, gone))
    for at, some in enumerate(held):
        wanted = (of_missing if gone[at] else of_label[some].any(axis=0)).astype(np.float64)
        wanted *= np.sqrt(0.5 / max(wanted.sum(), 1))
        assert found.at(np.array([at]))[0] == pytest.approx(wanted)
