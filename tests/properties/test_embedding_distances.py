"""Distances in the embedding are those of the papers, on any tree and any table."""

from __future__ import annotations

from random import Random

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.data.encoding import encode
from sfumato.data.masked import Masked
from sfumato.data.schema import Category, ItemSet, Number, Schema
from sfumato.data.table import Table
from sfumato.data.taxonomy.taxonomy import Taxonomy
from sfumato.structure.embedding import Embedding


@st.composite
def trees(draw: st.DrawFn) -> Taxonomy:
    """Any tree of up to 25 labels; node i hangs below an earlier one."""
    size = draw(st.integers(3, 25))
    parents = {str(node): str(draw(st.integers(0, node - 1))) for node in range(1, size)}
    return Taxonomy.from_parents({"0": None, **parents})


def path(tree: Taxonomy, one: str, other: str) -> int:
    """Edges between two labels, counted by walking up."""
    above = [(one, *tree.ancestors(one)), (other, *tree.ancestors(other))]
    meeting = next(label for label in above[0] if label in above[1])
    return above[0].index(meeting) + above[1].index(meeting)


def squared(vectors: np.ndarray) -> np.ndarray:
    gaps = vectors[:, None, :].astype(np.float64) - vectors[None, :, :]
    return np.asarray((gaps**2).sum(axis=2))


@given(trees())
def test_squared_distance_is_the_path_over_twice_the_height(tree: Taxonomy) -> None:
    """003 Eq. 6, leaves at different depths included."""
    schema = Schema(a=Category(taxonomy=tree))
    table = encode(pa.table({"a": list(tree.leaves)}), schema)
    found = squared(Embedding.of(table).raw(table))
    wanted = [[path(tree, x, y) / (2 * (tree.levels - 1)) for y in tree.leaves] for x in tree.leaves]
    assert found == pytest.approx(np.array(wanted), abs=1e-5)


@given(trees())
def test_a_single_item_is_as_far_as_its_label_if_all_leaves_are_equally_deep(tree: Taxonomy) -> None:
    deep = [leaf for leaf in tree.leaves if len(tree.ancestors(leaf)) == tree.levels - 1]
    table = encode(pa.table({"a": [[leaf] for leaf in deep]}), Schema(a=ItemSet(taxonomy=tree)))
    wanted = [[path(tree, x, y) / (2 * (tree.levels - 1)) for y in deep] for x in deep]
    assert squared(Embedding.of(table).raw(table)) == pytest.approx(np.array(wanted), abs=1e-5)


@st.composite
def tables(draw: st.DrawFn) -> Table:
    n = draw(st.integers(2, 20))
    labels = st.lists(st.sampled_from(["a", "b", "c", None]), min_size=n, max_size=n)
    numbers = st.lists(st.one_of(st.none(), st.integers(0, 10)), min_size=n, max_size=n)
    sets = st.lists(st.one_of(st.none(), st.sets(st.sampled_from("xyz")).map(sorted)), min_size=n, max_size=n)
    columns = {
        "tree": pa.array(draw(labels), pa.string()),
        "flat": pa.array(draw(labels), pa.string()),
        "number": pa.array(draw(numbers), pa.int64()),
        "items": pa.array(draw(sets), pa.list_(pa.string())),
    }
    tree = Taxonomy.from_tree({"ANY": {"ab": ["a", "b"], "c": None}})
    schema = Schema(tree=Category(taxonomy=tree), flat=Category(), number=Number(range=(0, 10)), items=ItemSet())
    return encode(pa.table(columns), schema)


@given(tables())
@settings(max_examples=25)
def test_no_two_records_are_more_than_1_apart(table: Table) -> None:
    assert squared(Embedding.of(table).raw(table)).max() <= 1 + 1e-5


@given(tables())
@settings(max_examples=25)
def test_distinct_vectors_spread_out_are_all_vectors(table: Table) -> None:
    placed = Embedding.of(table).place(table)
    distinct = placed.distinct
    once = distinct.placed.vectors()
    assert np.array_equal(once[distinct.of_row], placed.vectors())
    assert len(np.unique(once, axis=0)) == len(once)
    assert np.array_equal(np.bincount(distinct.of_row), distinct.weights)


@given(tables(), st.randoms(use_true_random=False))
@settings(max_examples=25)
def test_distinct_vectors_stand_in_an_order_of_their_own(table: Table, chance: Random) -> None:
    placed = Embedding.of(table).place(table)
    order = np.array(chance.sample(range(table.rows), table.rows))
    one, other = placed.distinct, placed.take(order).distinct
    assert np.array_equal(one.placed.vectors(), other.placed.vectors())
    assert np.array_equal(one.weights, other.weights)
    assert np.array_equal(one.of_row[order], other.of_row)


@given(tables())
@settings(max_examples=25)
def test_what_shows_the_raw_values_stands_where_they_stand(table: Table) -> None:
    embedding = Embedding.of(table)
    masked = Masked.of({name: column.decode() for name, column in table.columns.items()})
    for placement in ("expected", "own"):
        vectors = embedding.masked(table, masked, placement=placement)
        assert np.array_equal(vectors, embedding.raw(table))


@given(tables(), st.lists(st.sampled_from(["u", "v"]), min_size=20, max_size=20))
@settings(max_examples=25)
def test_an_expected_position_is_the_mean_of_the_raw_ones(table: Table, shown: list[str]) -> None:
    """A label outside the tree, over any records."""
    embedding = Embedding.of(table, attributes=["tree", "flat"])
    column = pa.array(shown[: table.rows]).dictionary_encode()
    raw, found = embedding.raw(table), embedding.masked(table, Masked.of({"tree": column, "flat": column}))
    for label in set(shown[: table.rows]):
        rows = np.array(shown[: table.rows]) == label
        assert found[rows] == pytest.approx(np.tile(raw[rows].mean(axis=0), (rows.sum(), 1)), abs=2e-4)
