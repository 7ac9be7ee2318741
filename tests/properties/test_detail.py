"""Wishes for detail: what comes out keeps them, counted from the texts that are shown, or it is infeasible in words."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date, timedelta
from decimal import Decimal
from itertools import combinations, pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.data.axis import NumberAxis, make_axis
from sfumato.data.detail import read_detail
from sfumato.data.encoding import encode
from sfumato.data.schema import Attribute, Schema
from sfumato.engines import LocalEngine
from sfumato.evaluation.detail import check_detail
from sfumato.maskers.detail.bands import Effort, Line, bands
from sfumato.maskers.masker import Labels, Masker, Outcome, Task
from tests.contracts.mixes import random_mix
from tests.properties.definitions import holds

MASKERS: dict[str, Masker] = {
    "partition": sf.Partition(),
    "pure": sf.Partition(pure=True),
    "top_down": sf.TopDown(),
    "best_valid": sf.TopDown(split="best_valid"),
}
TREE: Any = {"ANY": {"low": {"lower": ["v0", "v1"], "middle": ["v2", "v3", "v4"]}, "high": ["v5", "v6", "v7"]}}
Detail = dict[str, float | str]


# What is shown, read again without the product.


def width(text: str, whole: str) -> Decimal:
    text = whole if text == "*" else text
    found = re.fullmatch(r"\[(-?[\d.]+?)(?:-|\.\.)(-?[\d.]+)[)\]](?: or missing)?", text)
    assert found is not None, text
    return Decimal(found[2]) - Decimal(found[1])


def days(text: str) -> int:
    """How many days an interval of days has."""
    text = "[1990-01-01..1990-02-11)" if text == "*" else text
    found = re.fullmatch(r"\[(\d{4}-\d\d-\d\d)\.\.(\d{4}-\d\d-\d\d)\)(?: or missing)?", text)
    assert found is not None, text
    return (date.fromisoformat(found[2]) - date.fromisoformat(found[1])).days


def leaves(tree: Any) -> list[str]:
    return [tree] if isinstance(tree, str) else [leaf for one in _below(tree) for leaf in leaves(one)]


def _below(tree: Any) -> list[Any]:
    return list(tree.values()) if isinstance(tree, Mapping) else tree


def nodes(tree: Mapping[str, Any]) -> Iterator[tuple[str, int]]:
    for name, below in tree.items():
        yield name, len(leaves(below))
        if isinstance(below, Mapping):
            yield from nodes(below)


NODES = dict(nodes(TREE))


def labels_in(text: str, every: int) -> int:
    if text in ("*", "ANY"):
        return every
    named = text.removesuffix(" or missing")
    return NODES.get(text) or len(named.strip("{}").split(", ")) + (named != text)


def check_kept(rows: list[dict[str, Any]], raw: list[dict[str, Any]], wishes: Detail) -> None:
    """Every cell of every row."""
    for name, wish in wishes.items():
        missing = any(row[name] is None for row in raw)
        every = missing + (8 if name == "tree" else len({row[name] for row in raw} - {None}))
        for text in {row[name] for row in rows} - {None}:
            if name == "born":
                assert days(text) <= int(str(wish).split()[0]), (text, wish)
            elif name in ("tree", "label"):
                assert labels_in(text, every) <= int(wish), (text, wish)
            else:
                assert width(text, "[0-4]" if name == "cents" else "[0-40]") <= Decimal(str(wish)), (text, wish)


# Random tables.


def column(kind: str, rng: np.random.Generator, rows: int) -> tuple[Attribute, pa.Array[Any]]:
    gone = rng.random(rows) < float(rng.choice([0.0, 0.0, 0.2]))
    whole = rng.integers(0, 41, rows)
    labels = [f"v{int(n)}" for n in np.minimum(rng.geometric(0.3, rows) - 1, 7)]
    made: dict[str, tuple[Attribute, Any]] = {
        "age": (sf.Number(role="quasi", range=(0, 40)), whole),
        "cents": (sf.Number(role="quasi", range=(0.0, 4.0)), np.round(rng.random(rows) * 4, 1)),
        "born": (
            sf.Number(role="quasi", calendar="day", range=("1990-01-01", "1990-02-10")),
            [date(1990, 1, 1) + timedelta(days=int(n)) for n in whole],
        ),
        "label": (sf.Category(role="quasi"), labels),
        "tree": (sf.Category(role="quasi", taxonomy=sf.Taxonomy.from_tree(TREE)), labels),
    }
    attribute, values = made[kind]
    return attribute, pa.array(values, mask=gone)


def wished(kind: str, rng: np.random.Generator) -> float | str:
    if kind == "cents":
        return float(rng.choice([0.3, 0.5, 1.1, 2.0, 4.0]))
    if kind == "born":
        return f"{int(rng.integers(2, 30))} days"
    return int(rng.integers(1, 6) if kind in ("label", "tree") else rng.integers(2, 30))


def random_task(seed: int) -> tuple[Task, Detail]:
    rng = np.random.default_rng(seed)
    rows, k = int(rng.integers(30, 160)), int(rng.integers(2, 14))
    kinds = [
        str(kind) for kind in rng.permutation(["age", "cents", "born", "label", "tree"])[: int(rng.integers(1, 5))]
    ]
    columns = {kind: column(kind, rng, rows) for kind in kinds}
    secret = pa.array([f"s{n}" for n in rng.integers(0, 4, rows)])
    schema = Schema({**{kind: one for kind, (one, _) in columns.items()}, "secret": sf.Category(role="sensitive")})
    table = encode(pa.table({**{kind: values for kind, (_, values) in columns.items()}, "secret": secret}), schema)
    needs: list[Any] = [sf.KAnonymity(kinds, k)]
    if rng.random() < 0.3:
        needs.append(sf.LDiversity(kinds[:2], "secret", 2))
    if rng.random() < 0.3 and len(kinds) > 1:
        needs = [sf.KAnonymity(kinds[:1], k), *(sf.KAnonymity(kinds[i : i + 2], k) for i in range(len(kinds) - 1))][1:]
    wishes: Detail = {kind: wished(kind, rng) for kind in kinds if rng.random() < 0.5} or {
        kinds[0]: wished(kinds[0], rng)
    }
    classes = rng.integers(0, 3, rows).astype(np.uint8)
    return Task(table, Labels(classes, 3), needs, LocalEngine(), detail=read_detail(wishes, schema)), wishes


def rows_of(columns: Mapping[str, Any]) -> list[dict[str, Any]]:
    lists = {name: one.to_pylist() for name, one in columns.items()}
    return [dict(zip(lists, row, strict=True)) for row in zip(*lists.values(), strict=True)]


def check_release(task: Task, outcome: Outcome, wishes: Detail) -> None:
    rows = rows_of(outcome.masked)
    check_kept(rows, rows_of(task.table.columns), wishes)
    for need in task.requirements:
        if isinstance(need, sf.KAnonymity):
            assert min(Counter(tuple(row[name] for name in need.on) for row in rows).values()) >= need.k
    secrets = task.table.column("secret").to_pylist()
    for need in task.requirements:
        if isinstance(need, sf.LDiversity):
            told: dict[tuple[Any, ...], set[Any]] = {}
            for row, secret in zip(rows, secrets, strict=True):
                told.setdefault(tuple(row[name] for name in need.on), set()).add(secret)
            assert min(map(len, told.values())) >= 2


def check_nobodys_own(task: Task, outcome: Outcome) -> None:
    """No interval ends on a number that fewer people have than are asked for."""
    k = min(need.k for need in task.requirements if isinstance(need, sf.KAnonymity))
    for name in (name for name in ("age", "cents") if name in outcome.masked):
        held = Counter(task.table.column(name).to_pylist())
        texts = set(outcome.masked[name].to_pylist()) - {None, "*"}
        ends = {float(end) for text in texts for end in re.findall(r"[\d.]+", text)} - {
            0.0,
            4.0 if name == "cents" else 40.0,
        }
        assert all(held[end] == 0 or held[end] >= k for end in ends)


def check_refused(task: Task, masker: Masker, error: sf.Infeasible) -> None:
    """The attribute is named; with the k that is named the wish can be kept."""
    assert error.thing.startswith("detail: ")
    assert set(error.thing.removeprefix("detail: ").split(", ")) <= set(task.detail)
    found = re.search(r"k of at most (\d+)", error.remedy)
    if found is None:
        assert "no k of at least 2" in error.remedy
        return
    smaller = [
        sf.KAnonymity(need.on, min(need.k, int(found[1]))) if isinstance(need, sf.KAnonymity) else need
        for need in task.requirements
    ]
    masker.mask(replace(task, requirements=smaller))


def check_case(name: str, seed: int) -> bool:
    """Whether the wish could be kept."""
    task, wishes = random_task(seed)
    try:
        outcome = MASKERS[name].mask(task)
    except sf.Infeasible as error:
        if error.thing.startswith("detail"):
            check_refused(task, MASKERS[name], error)
        return False
    except sf.SchemaError:  # such as a column with a single value
        return False
    check_release(task, outcome, wishes)
    check_nobodys_own(task, outcome)
    return True


@pytest.mark.parametrize("name", MASKERS)
def test_a_release_keeps_the_wish_or_is_infeasible(name: str) -> None:
    kept = [check_case(name, seed) for seed in range(12)]
    assert 0 < sum(kept) < 12


@pytest.mark.slow
@pytest.mark.parametrize("name", MASKERS)
def test_many_releases_keep_the_wish_or_are_infeasible(name: str) -> None:
    kept = [check_case(name, seed) for seed in range(1000, 1040)]
    assert 6 < sum(kept) < 36


# Beside every kind of requirement.


def check_mix(masker: Masker, seed: int, kinds: Sequence[str]) -> bool:
    """Whether the wish could be kept; then every requirement holds by its definition, and what is shown passes."""
    mix, rng = random_mix(seed, kinds), np.random.default_rng(seed)
    schema = mix.table.schema
    able = [name for name in schema.quasi if getattr(schema[name], "range", True) is not None]
    wishes = read_detail({name: int(rng.integers(1, 5)) for name in able if rng.random() < 0.6}, schema)
    try:
        outcome = masker.mask(Task(mix.table, mix.labels, mix.needs, LocalEngine(), detail=wishes))
    except (sf.Infeasible, sf.SchemaError):
        return False
    check_detail(mix.table, outcome.masked, wishes)
    secrets = {name: mix.table.column(name) for name in ("illness", "wage", "grade")}
    rows, grade = rows_of({**outcome.masked, **secrets}), schema["grade"]
    assert isinstance(grade, sf.Category)
    for need in mix.needs:
        people = rows_of(masked_people(need, outcome, schema)) if isinstance(need, sf.KMap) else []
        assert holds(need, rows, people=people, tree=grade.taxonomy), f"case {seed}: {need}"
    return bool(wishes)


def masked_people(need: sf.KMap, outcome: Outcome, schema: Schema) -> Mapping[str, Any]:
    population: Any = need.population
    table = encode(population.select(list(need.on)), Schema({name: schema[name] for name in need.on}))
    return outcome.mask.only(need.on).apply(table, unseen="suppress")


ALL = ("anonymity", "diversity", "confidence", "alpha", "closeness", "lkc")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["partition", "top_down"])
def test_every_requirement_holds_beside_a_wish(name: str) -> None:
    kinds = (*ALL, "map") if name == "top_down" else ALL
    assert sum(check_mix(MASKERS[name], seed, kinds) for seed in range(25)) > 2


# What can be kept is kept: against every way there is.


Way = list[int]


def every_way(line: Line, able: np.ndarray[Any, Any]) -> list[Way]:
    n = len(line.sizes)
    ways: list[Way] = [[*inner, n] for size in range(n) for inner in combinations(range(1, n), size)]
    return [
        way
        for way in ways
        if all(
            line.first[end - 1] <= first and able[first, end] and line.sizes[first:end].sum() >= line.least
            for first, end in pairwise([0, *way])
        )
    ]


def cost(way: Way, sizes: np.ndarray[Any, Any]) -> tuple[int, int]:
    """How many bands, and how uneven they are."""
    return len(way), sum(int(sizes[first:end].sum()) ** 2 for first, end in pairwise([0, *way]))


@pytest.mark.parametrize("seed", range(40))
def test_bands_are_the_fewest_and_most_even(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 9))
    first = np.maximum.accumulate(rng.integers(0, np.arange(n) + 1))
    line = Line(first, rng.integers(0, 9, n), int(rng.integers(0, 6)))
    able = rng.random((n + 1, n + 1)) < 0.7
    ways = every_way(line, able)
    found = bands(line, lambda first, end: bool(able[first, end]), Effort())
    if not ways:
        assert found is None
    else:
        assert found in ways
        assert cost(found, line.sizes) == min(cost(way, line.sizes) for way in ways)


def can_be_kept(axis: NumberAxis, most: int, k: int) -> bool:
    """Whether some way to end intervals on this axis leaves none too wide and none with fewer than k records."""
    able = [at for at in range(1, len(axis.numbers)) if axis.separable[at]]
    reached = {0}
    for end in [*able, len(axis.numbers)]:
        high = 40 if end == len(axis.numbers) else axis.close(end)
        for first in sorted(reached):
            low = 0 if first == 0 else axis.end(first)
            if high - low <= most and int(axis.held[first:end].sum()) >= k:
                reached.add(end)
                break
    return len(axis.numbers) in reached


@pytest.mark.slow
@pytest.mark.parametrize("name", ["partition", "top_down"])
def test_one_number_is_given_up_only_if_there_is_no_way(name: str) -> None:
    seen = Counter[bool]()
    for seed in range(60):
        rng = np.random.default_rng(seed)
        rows, k, most = int(rng.integers(20, 90)), int(rng.integers(2, 9)), int(rng.integers(4, 16))
        schema = Schema(age=sf.Number(role="quasi", range=(0, 40)))
        table = encode(pa.table({"age": np.minimum(40, rng.gamma(2.0, 8.0, rows).astype(int))}), schema)
        need = sf.KAnonymity(["age"], k)
        wishes = read_detail({"age": most}, schema)
        axis = make_axis("age", schema["age"], table.column("age"), many=k, wish=wishes["age"])
        assert isinstance(axis, NumberAxis)
        able = can_be_kept(axis, most, k)
        task = Task(table, Labels(np.zeros(rows, dtype=np.uint8), 1), [need], LocalEngine())
        try:
            outcome = MASKERS[name].mask(replace(task, detail=wishes))
            check_kept(rows_of(outcome.masked), rows_of(table.columns), {"age": most})
            assert able, f"case {seed}"
        except sf.Infeasible:
            assert not able, f"case {seed}"
        seen[able] += 1
    assert min(seen[True], seen[False]) > 10
