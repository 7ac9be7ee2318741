"""Sets of items in numbers: what is counted, compared and told of them without looking at one row after the other."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.data.encoding import encode
from sfumato.data.table import ItemColumn
from sfumato.evaluation.columns import MISSING, Commonest
from sfumato.maskers.histogram.domains import ItemDomain, declared
from sfumato.maskers.histogram.growth import Patterns, scores
from sfumato.maskers.histogram.marginals import SIZE, Part, apportion, drawn_sets
from sfumato.maskers.histogram.public_space import WHOLE_SET, PublicSpace
from sfumato.maskers.histogram.records import Records, records_of, splits
from sfumato.privacy.verify.private.differential import _check_column, _domain
from sfumato.privacy.verify.verdict import CheckError
from sfumato.structure.coded_points import Placed, SetBlock

TREE = sf.Taxonomy.from_tree({"any": {"left": ["a", "b"], "right": {"upper": ["c", "d"], "lower": ["e"]}}})
SCHEMA = sf.Schema(
    age=sf.Number(role="quasi", range=(0, 64), integer=True),
    items=sf.ItemSet(role="quasi", taxonomy=TREE, most=5),
)


def people(rows: int, seed: int) -> pa.Table:
    """Ages, and sets that may be empty or missing."""
    draw = np.random.default_rng(seed)
    sets = [list(draw.choice(list("abcde"), int(draw.integers(0, 6)), replace=False)) for _ in range(rows)]
    held = [None if draw.random() < 0.1 else some for some in sets]
    return pa.table({"age": draw.integers(0, 64, rows), "items": pa.array(held, pa.list_(pa.string()))})


def vector(space: PublicSpace, records: Records, row: int) -> list[int]:
    """One row's values by the definition: a cell is 1; a set's labels share the whole, and so do those above them."""
    found = [0] * space.values
    for name, place in space.places.items():
        if not isinstance(place.domain, ItemDomain):
            found[place.columns.start + int(records.cells[name][row])] = 1
            continue
        sets = records.sets[name]
        held = sets.items[sets.offsets[row] : sets.offsets[row + 1]].tolist()
        for label in held:
            for node in place.domain.paths[label]:
                found[place.columns.start + node] += WHOLE_SET // len(held)
        if sets.missing[row]:
            found[place.columns.start + len(place.domain.nodes)] = WHOLE_SET
    return found


@pytest.mark.parametrize("seed", range(3))
def test_sums_by_group_are_those_of_one_row_after_the_other(seed: int) -> None:
    table = encode(people(80, seed), SCHEMA)
    domains = declared(SCHEMA, bins=4, may_miss=("items",))
    records, space = records_of(table, domains), PublicSpace.of(domains, {"age": 1.0, "items": 2.0})
    groups = np.random.default_rng(seed + 9).integers(0, 7, 80)
    wanted = np.zeros((8, space.values + 2), dtype=np.int64)  # one group has no rows
    for row, group in enumerate(groups):
        values = np.array(vector(space, records, row))
        place = space.project(values)
        wanted[group] += np.array([*values, int((place**2).sum()), 1])
    assert space.sums(records, groups, 8).tolist() == wanted.tolist()


@pytest.mark.parametrize("names", [["age", "items"], ["age"], ["items"]])
@pytest.mark.parametrize("seed", range(2))
def test_one_split_is_scored_as_by_patterns_of_answers(seed: int, names: list[str]) -> None:
    schema = sf.Schema({name: SCHEMA[name] for name in names})
    domains = declared(schema, bins=4, may_miss=names[-1:])
    records = records_of(encode(people(120, seed).select(names), schema), domains)
    space = PublicSpace.of(domains, {"age": 1.0, "items": 2.0})
    part_of = np.random.default_rng(seed).choice([0, 2, 3], 120)  # one part has no rows
    offered = splits(domains, list(domains))
    wanted = np.zeros(len(offered), dtype=object)
    for patterns in Patterns.of_parts(records, space, part_of, offered):
        wanted -= np.array(patterns.errors_left(space, [(split,) for split in offered]), dtype=object)
    assert scores(records, space, part_of, [(split,) for split in offered]) == wanted.tolist()


def test_some_sets_are_told_as_all_of_them_are() -> None:
    column = ItemColumn.of(pa.array([["b", "a"], [], None, ["c"], ["b", "a"]], pa.list_(pa.string())))
    assert column.labels == ("{b, a}", "{}", "{}", "{c}")
    assert column.texts(np.array([3, 0])) == ["{c}", "{b, a}"]
    assert column.texts(np.array([], dtype=np.int64)) == []


def test_some_rows_are_those_of_the_lists() -> None:
    lists = pa.array([["b", "a"], [], None, ["c", "a"], ["d"]], pa.large_list(pa.string()))
    rows = np.array([3, 2, 1, 0, 3])
    found, wanted = ItemColumn.of(lists).take(rows), ItemColumn.of(lists.take(pa.array(rows)))
    assert found.to_pylist() == wanted.to_pylist() == [["c", "a"], None, [], ["b", "a"], ["c", "a"]]
    assert found.codes.tolist() == wanted.codes.tolist()
    assert found.values.equals(wanted.values)
    assert found.codes.dtype == wanted.codes.dtype


def test_drawn_sets_are_those_of_the_largest_keys() -> None:
    domain = declared(SCHEMA, bins=4, may_miss=("items",))["items"]
    assert isinstance(domain, ItemDomain)
    sizes = np.full(domain.most + 2, 1 / (domain.most + 2))
    shares = np.array([0.5, 0.0, 0.3, 0.1, 0.1])
    part = Part(300, {"items": shares, "items" + SIZE: sizes})
    found = drawn_sets(domain, part, np.random.default_rng(5))
    chance = np.random.default_rng(5)
    apportion(sizes, 300, chance)
    with np.errstate(divide="ignore"):
        keys = np.log(shares) + chance.gumbel(size=(300, 5))
    wanted = [np.sort(np.argsort(-row)[:size]).tolist() for row, size in zip(keys, found.sizes, strict=True)]
    assert found.items.tolist() == [item for some in wanted for item in some]
    assert set(found.sizes.tolist()) == {0, 1, 2, 3, 4}


@pytest.mark.parametrize(
    ("sets", "label", "share", "values"),
    [
        ([["b", "a"], [], ["c"], ["b", "a"]], "{b, a}", 0.5, 3),
        ([["b"], ["a", "c"], ["a"]], "{a, c}", 1 / 3, 3),  # equally common: the first by letters
        ([None, None, ["a"]], MISSING, 2 / 3, 2),
        ([None, ["a"]], MISSING, 0.5, 2),
        ([], MISSING, 0.0, 0),
    ],
)
def test_the_commonest_set(sets: list[list[str] | None], label: str, share: float, values: int) -> None:
    found = Commonest.of(ItemColumn.of(pa.array(sets, pa.list_(pa.string()))))
    assert (found.label, found.values) == (label, values)
    assert found.share == pytest.approx(share)


def test_a_few_of_many_records_keep_their_sets() -> None:
    draw = np.random.default_rng(4)
    held = [np.sort(draw.choice(12, int(draw.integers(1, 5)), replace=False)) for _ in range(200)]
    members = np.concatenate(held).astype(np.uint32)
    block = SetBlock(np.arange(200), np.cumsum([0, *map(len, held)]), members, 12, 0.7)
    centres = draw.random((3, 12)).astype(np.float32)
    few = Placed((block,), 200).take(np.array([190, 3, 3, 77]))
    wanted = ((few.vectors()[:, None, :] - centres[None]) ** 2).sum(axis=2).argmin(axis=1)
    assert few.nearest(centres).tolist() == wanted.tolist()
    assert len(few.points.ground.share) == 3  # what no record holds is left aside
    assert len(few.packed(together=False).ground.share) == 200  # batches have one ground


DOMAIN = {"kind": "sets", "labels": ["a", "b"], "most": 2, "separator": ";", "missing": True}


@pytest.mark.parametrize("texts", [False, True])
def test_sets_of_the_domain_are_taken(texts: bool) -> None:
    lists = pl.Series("items", [["a", "b"], [], None, ["b"]], dtype=pl.List(pl.String))
    column = pl.Series("items", ["a;b", "", None, "b"]) if texts else lists
    _check_column(column, DOMAIN, dotted=False)
    _domain("items", DOMAIN, column, cut=False)


@pytest.mark.parametrize(
    ("sets", "by_value", "by_file"),
    [
        ([["a", "a"], ["b"]], "outside its declared domain", None),
        ([["a", "b"], ["c"]], "outside its declared domain", "lists labels that no row shows"),
        ([["a", None], ["b"]], "outside its declared domain", "lists labels that no row shows"),
        ([["a"], ["b"]], None, "another number of labels"),
        ([["a"], ["a"]], None, "lists labels that no row shows"),
    ],
)
def test_other_sets_are_refused(sets: list[list[str | None]], by_value: str | None, by_file: str | None) -> None:
    column = pl.Series("items", sets, dtype=pl.List(pl.String))
    with pytest.raises(CheckError, match=by_value) if by_value else nullcontext():
        _check_column(column, DOMAIN, dotted=False)
    with pytest.raises(CheckError, match=by_file) if by_file else nullcontext():
        _domain("items", DOMAIN, column, cut=False)


def test_a_larger_set_than_declared_is_refused() -> None:
    column = pl.Series("items", [["a", "b"]], dtype=pl.List(pl.String))
    with pytest.raises(CheckError, match="outside its declared domain"):
        _check_column(column, {**DOMAIN, "most": 1}, dotted=False)


def test_the_text_of_a_recipe_is_written_once_and_anew_where_it_changes() -> None:
    recipe = sf.Recipe(schema=SCHEMA, mask=sf.PrivateTree(), budget=sf.Budget(1))
    assert recipe.to_yaml() is recipe.to_yaml()
    other = replace(recipe, budget=sf.Budget(2))
    assert "epsilon: '2'" in other.to_yaml()
    assert "epsilon: '2'" not in recipe.to_yaml()
    assert sf.Recipe.from_yaml(other.to_yaml()) == other
