"""Partition: the compiled loops are their twin in plain Python, and what it shows holds against the rows."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date, timedelta
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.data.axis import make_axis
from sfumato.data.encoding import encode
from sfumato.data.schema import Attribute, Schema
from sfumato.data.table import Table
from sfumato.engines import LocalEngine
from sfumato.maskers.masker import Labels, Outcome, Task
from sfumato.maskers.partition import cutting, growth, kernels
from sfumato.maskers.partition.cells import Binned, guide_of, soft_guide
from sfumato.maskers.partition.fit import Partition
from sfumato.maskers.partition.mask import RegionTree
from sfumato.maskers.partition.problem import NOTHING, Problem, terms_for, work_for
from tests.contracts.mixes import Mix, random_mix
from tests.contracts.test_engines import random_column
from tests.partition_twin import Twin
from tests.properties.definitions import Row, holds

NO_LIMITS = np.zeros((0, 0, 0), dtype=np.bool_)
KINDS = ("anonymity", "diversity", "confidence", "alpha", "closeness", "lkc")
BOTH = ("parts", "cuts")


# The compiled loops and their twin.


def random_problem(seed: int) -> Problem:
    """20 to 60 rows of 2 to 4 attributes, with classes or with what is likely of each."""
    rng = np.random.default_rng(seed)
    rows, k = int(rng.integers(20, 61)), int(rng.integers(2, 7))
    columns = {f"a{number}": random_column(rng, rows) for number in range(int(rng.integers(2, 5)))}
    schema = Schema({name: attribute for name, (attribute, _) in columns.items()})
    table = encode(pa.table({name: values for name, (_, values) in columns.items()}), schema)
    axes = [make_axis(name, schema[name], table.column(name), many=k) for name in schema]
    cells = Binned.of(table, axes, least=k if rng.random() < 0.5 else 2).cells
    n = int(rng.integers(1, 5))
    hard, soft = rng.integers(0, n, rows), rng.random((rows, n)).astype(np.float32)
    guide = guide_of(hard, n) if rng.random() < 0.6 else soft_guide(soft)
    weight = float(rng.choice([1.0, 3.0])) / len(axes)
    return Problem(cells, guide, terms_for(k, 2 * k, weight, rows))


def check_twin(seed: int) -> int:
    """The best cut of every attribute, and the whole tree; how many parts it has."""
    problem = random_problem(seed)
    cells, rows = problem.cells, len(problem.cells.bins)
    order, twin = np.arange(rows, dtype=np.int32), Twin(problem)
    work = work_for(cells, problem.guide, rows, 4)
    kernels.evaluate(problem, order, 0, rows, NO_LIMITS, work, depth=0)
    for a, cut in enumerate(twin.cuts(list(range(rows)))):
        side = work.side[0, cells.first[a] : cells.first[a + 1]]
        if cut is None:
            assert work.gain[0, a] == NOTHING, f"case {seed}"
        else:
            assert work.gain[0, a] == pytest.approx(cut[0], rel=1e-7, abs=1e-7), f"case {seed}"
            assert frozenset(np.flatnonzero(side == 1).tolist()) == cut[1], f"case {seed}"
    depths = [0, 0, 8 * problem.terms.k if seed % 4 == 0 else 0]  # one in four looks one cut ahead
    nodes, _ = growth.grow(problem, order, 0, rows, np.array(depths), work)
    found = [(sorted(order[lo:hi].tolist()), cut, (left, right)) for lo, hi, cut, left, right in nodes.tolist()]
    expected = [(node.rows, node.attribute, node.below) for node in twin.tree(depths)]
    assert [one[:2] for one in found] == [one[:2] for one in expected], f"case {seed}"
    assert [one[2] for one in found if one[1] >= 0] == [one[2] for one in expected if one[1] >= 0], f"case {seed}"
    return len(nodes)


def test_the_loops_are_their_twin() -> None:
    assert sum(check_twin(seed) for seed in range(60)) > 600


@pytest.mark.slow
def test_the_loops_are_their_twin_on_many_tables() -> None:
    assert sum(check_twin(seed) for seed in range(60, 260)) > 2000


# What is shown, against the rows: read by what partition.json tells, with no code of the masker.


def mixed(seed: int, kinds: Sequence[str] = KINDS, extent: Any = "parts") -> tuple[Mix, Outcome] | None:
    """A random table and requirements, masked; None if the whole table breaks them."""
    mix = random_mix(seed, kinds)
    try:
        return mix, Partition(extent=extent).mask(Task(mix.table, mix.labels, mix.needs, LocalEngine()))
    except (sf.Infeasible, sf.SchemaError):
        return None


def rows_of(columns: Mapping[str, Any]) -> list[Row]:
    lists = {name: column.to_pylist() for name, column in columns.items()}
    return [dict(zip(lists, row, strict=True)) for row in zip(*lists.values(), strict=True)]


def whole_units(declared: Sequence[str], unit: str) -> list[str]:
    """Where the first unit of a range of dates begins, and where its last one is over."""
    (first, last), length = declared, {"year": 4, "month": 7, "day": 10}[unit]
    begins = (first + "0000-01-01"[len(first) :])[:length]
    year, month, day = (int(part) for part in (last + "0000-12-31"[len(last) :]).split("-"))
    over = {
        "year": lambda: date(year + 1, 1, 1),
        "month": lambda: date(year + month // 12, month % 12 + 1, 1),
        "day": lambda: date(year, month, day) + timedelta(days=1),
    }[unit]()
    return [begins, over.isoformat()[:length]]


def _quoted(label: str) -> str:
    """A label as it stands in a set: in quotation marks where it would be read as something else."""
    plain = label and label.strip() == label and not set(label) & set(',"{}\r\n')
    return label if plain else '"' + label.replace('"', '""') + '"'


class Told:
    """Owns what partition.json says of one column: what each shown text covers."""

    def __init__(self, form: Mapping[str, Any]) -> None:
        self.number, self.calendar = form["kind"] == "number", "calendar" in form
        self.reach = form.get("range") or [None, None]
        if self.calendar and form["range"]:
            self.reach = whole_units(form["range"], form["calendar"])
        self.entries = {self._text(entry): entry for entry in form["shown"]}
        assert list(self.entries) == sorted(self.entries)

    def covers(self, shown: str | None, value: Any) -> bool:
        """Whether a value lies in what is shown."""
        if shown == "*":
            return True
        if shown is None:
            return value is None
        entry = self.entries[shown]
        if value is None:
            return None in (entry[2:] if self.number else entry)
        if not self.number:
            return value in entry
        low, high = entry[:2]
        at = str(value) if self.calendar else value
        return (low is None or low <= at) and (high is None or at < high)

    def _text(self, entry: list[Any]) -> str:
        if not self.number:
            names = [str(label) for label in entry if label is not None]
            if len(entry) == 1 and not (names[0].startswith("{") and names[0].endswith(("}", "} or missing"))):
                return names[0]
            return "{" + ", ".join(map(_quoted, names)) + "}" + (" or missing" if None in entry else "")
        low, high = (end if told is None else told for told, end in zip(entry[:2], self.reach, strict=True))
        closed = "]" if entry[1] is None and not self.calendar else ")"
        ends = ["*" if end is None else end for end in (low, high)]
        plain = [f"{end:g}" if isinstance(end, float) else str(end) for end in ends]
        between = ".." if "*" in plain or "-" in "".join(plain) else "-"
        return f"[{plain[0]}{between}{plain[1]}{closed}" + (" or missing" if len(entry) > 2 else "")


def check_shown(table: Table, outcome: Outcome) -> None:
    """Every record lies in what it shows and in no other region of its tree; what no row shows is not told."""
    mask = outcome.mask
    assert isinstance(mask, RegionTree)
    told = {name: Told(form) for name, form in mask.files()["partition.json"]["attributes"].items()}
    shown = {name: column.to_pylist() for name, column in outcome.masked.items()}
    raw = {name: table.column(name).to_pylist() for name in told}
    for name, of in told.items():
        assert set(of.entries) == set(shown[name]) - {None, "*"}
    for tree in mask.trees:
        mine = list(zip(*(shown[name] for name in tree.on), strict=True))
        regions = set(mine)
        assert len(regions) == len(tree.leaves)
        for row, own in enumerate(mine):
            inside = [
                region
                for region in regions
                if all(told[n].covers(text, raw[n][row]) for n, text in zip(tree.on, region, strict=True))
            ]
            assert inside == [own]


def check_same(left: Mapping[str, Any], right: Mapping[str, Any]) -> None:
    assert list(left) == list(right)
    for name in left:
        assert left[name].to_pylist() == right[name].to_pylist()


def check_all(table: Table, outcome: Outcome) -> None:
    """What is shown is true; apply shows the same rows the same; what the holder keeps reads back."""
    check_shown(table, outcome)
    mask = outcome.mask
    assert isinstance(mask, RegionTree)
    check_same(outcome.masked, mask.apply(table))
    again = Partition.read_mask({name.rpartition("/")[2]: form for name, form in mask.kept_back().items()})
    assert again == mask
    check_same(outcome.masked, again.apply(table))


@pytest.mark.parametrize("extent", BOTH)
@pytest.mark.parametrize("kind", [*KINDS, "mix"])
def test_every_requirement_holds_by_definition_and_what_is_shown_is_true(kind: str, extent: str) -> None:
    done = [check_mix(seed, KINDS if kind == "mix" else (kind,), extent) for seed in range(9000, 9010)]
    assert sum(done) > 4


@pytest.mark.slow
@pytest.mark.parametrize("extent", BOTH)
def test_every_mix_holds(extent: str) -> None:
    assert sum(check_mix(seed, KINDS, extent) for seed in range(9100, 9220)) > 60


def check_mix(seed: int, kinds: Sequence[str], extent: str) -> bool:
    """Whether there was anything to check."""
    found = mixed(seed, kinds, extent)
    if found is None:
        return False
    mix, outcome = found
    rows = rows_of({**outcome.masked, **{name: mix.table.column(name) for name in ("illness", "wage", "grade")}})
    grade = mix.table.schema["grade"]
    assert isinstance(grade, sf.Category)
    for need in mix.needs:
        assert holds(need, rows, tree=grade.taxonomy), f"case {seed}: {need}"
    check_all(mix.table, outcome)
    return True


# Tables that are hard in one way.

ROWS = 240


def column_of(kind: str, rng: np.random.Generator) -> tuple[Attribute, pa.Array[Any]]:
    number, label = sf.Number(role="quasi"), sf.Category(role="quasi")
    whole = rng.integers(0, 1000, ROWS)
    gone = rng.random(ROWS) < 0.3
    days = [date(1950 + int(n) // 20, 1 + int(n) % 12, 1 + int(n) % 28) for n in whole]
    found: dict[str, tuple[Attribute, Any]] = {
        "whole": (replace(number, range=(0, 1000)), pa.array(whole)),
        "cents": (number, pa.array(np.round(rng.lognormal(0, 1, ROWS), 2))),
        "minus": (number, pa.array(rng.normal(-1, 30, ROWS))),
        "ties": (number, pa.array(whole // 300)),
        "two": (number, pa.array(whole // 500)),
        "missing": (number, pa.array(whole, mask=gone)),
        "mostly missing": (number, pa.array(whole, mask=rng.random(ROWS) < 0.97)),
        "constant": (number, pa.array([7] * ROWS)),
        "nobody": (number, pa.array([None] * ROWS, type=pa.int64())),
        "years": (replace(number, calendar="year"), pa.array(days)),
        "months": (replace(number, calendar="month", range=("1950", "2005")), pa.array(days, mask=gone)),
        "days": (replace(number, calendar="day"), pa.array(days)),
        "labels": (label, pa.array([f"v{n}" for n in whole // 90])),
        "labels missing": (label, pa.array([f"v{n}" for n in whole // 90], mask=gone)),
        "one label": (label, pa.array(["x"] * ROWS)),
        "one label or none": (label, pa.array(["x"] * ROWS, mask=gone)),
        "no label": (label, pa.array([None] * ROWS, type=pa.string())),
        "many labels": (label, pa.array([f"v{n}" for n in range(ROWS)])),
        "empty label": (label, pa.array(["" if n < 300 else "b" if n < 700 else "c" for n in whole], mask=gone)),
    }
    return found[kind]


COLUMNS = (
    *("whole", "cents", "minus", "ties", "two", "missing", "mostly missing", "constant", "nobody"),
    *("years", "months", "days", "labels", "labels missing", "one label", "one label or none", "no label"),
    *("many labels", "empty label"),
)


def task_of(
    columns: Mapping[str, tuple[Attribute, pa.Array[Any]]], *needs: sf.KAnonymity, order: Any = None, n: int = 3
) -> Task:
    table = pa.table({name: values for name, (_, values) in columns.items()})
    classes = np.random.default_rng(0).integers(0, n, table.num_rows).astype(np.uint8)
    if order is not None:
        table, classes = table.take(order), classes[order]
    schema = Schema({name: attribute for name, (attribute, _) in columns.items()})
    return Task(encode(table, schema), Labels(classes, n), needs or (sf.KAnonymity(tuple(columns), 5),), LocalEngine())


def mask(task: Task, extent: Any = "parts") -> Outcome:
    return Partition(extent=extent).mask(task)


def smallest(outcome: Outcome, on: Sequence[str]) -> int:
    groups = list(zip(*(outcome.masked[name].to_pylist() for name in on), strict=True))
    return min(groups.count(group) for group in set(groups))


@pytest.mark.parametrize("extent", BOTH)
@pytest.mark.parametrize("kind", COLUMNS)
def test_a_column_beside_another(kind: str, extent: str) -> None:
    rng = np.random.default_rng(4)
    columns = {"a": column_of(kind, rng), "b": column_of("labels", rng)}
    task = task_of(columns)
    outcome = mask(task, extent)
    assert smallest(outcome, ("a", "b")) >= 5
    assert len(set(outcome.masked["b"].to_pylist())) > 1
    check_all(task.table, outcome)


@pytest.mark.parametrize("kind", ["constant", "nobody", "one label", "no label"])
def test_a_column_with_nothing_to_cut_alone(kind: str) -> None:
    task = task_of({"a": column_of(kind, np.random.default_rng(4))})
    outcome = mask(task)
    assert len(set(outcome.masked["a"].to_pylist())) == 1
    check_all(task.table, outcome)


def test_a_thousand_labels() -> None:
    rng = np.random.default_rng(1)
    labels = [f"v{n}" for n in (rng.pareto(1.2, 4000) * 60).astype(int) % 1000]
    columns = {"a": (sf.Category(role="quasi"), pa.array(labels)), "b": (sf.Number(role="quasi"), rng.random(4000))}
    task = task_of(columns)  # type: ignore[arg-type]
    outcome = mask(task)
    assert smallest_fast(outcome) >= 5
    assert outcome.mask.apply(task.table)["a"].to_pylist() == outcome.masked["a"].to_pylist()


def smallest_fast(outcome: Outcome) -> int:
    codes = np.stack([column.codes for column in outcome.masked.values()], axis=1)
    return int(np.unique(codes, axis=0, return_counts=True)[1].min())


@pytest.mark.parametrize(
    "labels",
    [
        ["a", "b", "a, b"],  # a set of the first two is written as the third
        ["a", "b", "{a, b}"],
        ["*", "b", "c"],
        ["{a, b", "c", "a", "b, c}"],
        ["a", "{a} or missing", "b", None],  # a set of the first and a missing one is written as the second
        ["a", "a or missing", "b", None],
        ["a", "b} or missing", "{a", None],
    ],
)
def test_labels_that_look_like_sets_are_refused_or_told_apart(labels: list[str | None]) -> None:
    """Whatever is shown stands for one thing, or the masker says what to rename."""
    rng, refused = np.random.default_rng(2), list[str]()
    for k in (2, 20, 40, 60, 90):
        values = pa.array([labels[at] for at in rng.integers(0, len(labels), ROWS)], pa.string())
        task = task_of({"a": (sf.Category(role="quasi"), values)}, sf.KAnonymity(("a",), k))
        try:
            outcome = mask(task)
        except sf.TableError as error:
            refused.append(str(error))
        else:
            check_all(task.table, outcome)
    assert len(refused) < 5
    assert all("rename them before publishing" in text for text in refused)


# Several quasi-identifiers, threads and orders of rows.


def some_columns(*kinds: str, seed: int = 3) -> dict[str, tuple[Attribute, pa.Array[Any]]]:
    rng = np.random.default_rng(seed)
    return {f"a{at}": column_of(kind, rng) for at, kind in enumerate(kinds)}


def test_connected_quasi_identifiers_are_cut_together_and_others_by_trees_of_their_own() -> None:
    columns = some_columns("whole", "labels", "missing", "years", "ties")
    needs = [sf.KAnonymity(("a0", "a1"), 8), sf.KAnonymity(("a3", "a4"), 5), sf.KAnonymity(("a1", "a2"), 4)]
    task = task_of(columns, *needs)
    outcome = mask(task)
    assert isinstance(outcome.mask, RegionTree)
    assert [tree.on for tree in outcome.mask.trees] == [("a0", "a1", "a2"), ("a3", "a4")]
    assert list(outcome.masked) == ["a0", "a1", "a2", "a3", "a4"]
    for need in needs:
        assert smallest(outcome, need.on) >= need.k
    assert smallest(outcome, ("a0", "a1", "a2", "a3", "a4")) < 5, "trees of their own"
    check_all(task.table, outcome)


@pytest.mark.parametrize("extent", BOTH)
def test_any_order_of_rows_and_any_number_of_threads_show_the_same(
    extent: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cutting, "CHUNK", 60)  # several subtrees, each by a thread
    columns = some_columns("cents", "labels missing", "months", "ties")
    first = mask(task_of(columns), extent)
    for seed, threads in ((1, 1), (2, 8)):
        monkeypatch.setattr(os, "cpu_count", lambda threads=threads: threads)
        order = np.random.default_rng(seed).permutation(ROWS)
        other = mask(task_of(columns, order=order), extent)
        assert other.mask.files() == first.mask.files()
        assert other.mask.kept_back() == first.mask.kept_back()
        for name, column in first.masked.items():
            assert np.array(other.masked[name].to_pylist(), dtype=object)[np.argsort(order)].tolist() == (
                column.to_pylist()
            )


def test_classes_that_are_told_in_part_guide_the_same_twice() -> None:
    columns = some_columns("whole", "labels")
    task = task_of(columns)
    task = replace(task, labels=Labels(task.labels.classes, task.labels.n, told_in_part=True))
    first, second = mask(task), mask(task)
    assert first.mask == second.mask
    check_all(task.table, first)


@pytest.mark.parametrize(("told_in_part", "rows", "weight"), [(True, 240, 0.3), (False, 240, 1.0), (False, 1200, 3.0)])
def test_detail_counts_less_where_a_class_must_survive(
    told_in_part: bool, rows: int, weight: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the other columns show of a class says little of it; clusters follow from what is shown."""
    asked: list[float] = []

    def terms(k: int, m: int, weight: float, rows: int) -> Any:
        asked.append(weight)
        return terms_for(k, m, weight, rows)

    monkeypatch.setattr(cutting, "terms_for", terms)
    rng = np.random.default_rng(3)
    columns = {name: (sf.Number(role="quasi"), pa.array(rng.integers(0, 90, rows))) for name in ("a", "b")}
    task = task_of(columns)
    mask(replace(task, labels=replace(task.labels, told_in_part=told_in_part)))
    assert asked == [weight / 2]


def test_amounts_in_cents_end_on_round_numbers_with_k_records_between() -> None:
    rng = np.random.default_rng(5)
    amounts = np.round(rng.gamma(2.0, 900.0, 4_000), 2)
    columns: dict[str, Any] = {
        "amount": (sf.Number(role="quasi"), pa.array(amounts)),
        "b": (sf.Category(role="quasi"), pa.array(rng.choice(["x", "y", "z"], 4_000))),
    }
    shown = mask(task_of(columns)).masked["amount"].to_pylist()
    ends = np.unique([float(end) for text in set(shown) for end in re.findall(r"\d+(?:\.\d+)?", text)])
    held, _ = np.histogram(amounts, [-np.inf, *ends, np.inf])
    assert len(ends) > 100
    assert held.min() >= 5, "an end is told among k people"
    assert (ends * 2 == np.round(ends * 2)).mean() > 0.95, "no amount can be read off an end beside it"


# Rows that were not there.


def test_new_rows_outside_are_refused_or_suppressed() -> None:
    columns = some_columns("whole", "labels", "ties")
    task = task_of(columns)
    learned = mask(task).mask
    known = task.table.to_arrow().slice(0, 1).to_pylist()[0]
    strange = [known, {**known, "a1": "w"}, {**known, "a1": None}, {**known, "a0": None}]
    table = encode(pa.Table.from_pylist(strange, schema=task.table.to_arrow().schema), task.table.schema)
    with pytest.raises(sf.TableError, match="unseen='suppress'"):
        learned.apply(table)
    shown = rows_of(learned.apply(table, unseen="suppress"))
    assert "*" not in shown[0].values()
    assert all(set(row.values()) == {"*"} for row in shown[1:]), "no range is told of a number that is missing"


@pytest.mark.parametrize("pure", [False, True])
def test_cuts_leave_no_gaps_between_values_of_the_table(pure: bool) -> None:
    rng = np.random.default_rng(5)
    task = task_of(some_columns("missing", "labels missing", "ties"))
    raw = task.table.to_arrow()
    mixed_up = [column.take(rng.permutation(raw.num_rows)) for column in raw.columns]
    new = encode(pa.table(mixed_up, names=raw.column_names), task.table.schema)
    found = Partition(extent="cuts", pure=pure).mask(task).mask
    told = {name: Told(form) for name, form in found.files()["partition.json"]["attributes"].items()}
    shown = found.apply(new)
    for name, of in told.items():
        pairs = zip(shown[name].to_pylist(), new.column(name).to_pylist(), strict=True)
        assert all(of.covers(text, value) for text, value in pairs)
    with pytest.raises(sf.TableError, match=r"rows that lie in none: \d+ have values that no part .* \{extent: cuts\}"):
        Partition(pure=pure).mask(task).mask.apply(new)


def test_a_release_alone_places_no_rows() -> None:
    learned = mask(task_of(some_columns("whole", "labels"))).mask
    with pytest.raises(sf.TableError, match="keep the holder's folder"):
        Partition.read_mask(learned.files())


def test_what_it_does_not_do_is_said() -> None:
    schema = Schema(a=sf.Number(role="quasi"), b=sf.ItemSet(role="quasi"))
    with pytest.raises(sf.RecipeError, match="say mask: top_down"):
        Partition().check(schema, [sf.KMap(["a"], 5, "voters.csv")])
    with pytest.raises(sf.RecipeError, match="item set"):
        Partition().check(schema, [sf.KAnonymity(["a", "b"], 5)])
    with pytest.raises(sf.RecipeError, match="at least one requirement"):
        Partition().check(schema, [])
    with pytest.raises(sf.RecipeError, match="parts or cuts"):
        Partition(extent="cells")  # type: ignore[arg-type]
