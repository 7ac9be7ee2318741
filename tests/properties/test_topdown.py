"""Laws of top-down refinement on random tables, and what an independent checker says."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module

import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import NDArray

from sfumato.counting import Records
from sfumato.data.encoding import encode
from sfumato.data.schema import Schema
from sfumato.data.table import Table
from sfumato.engines import LocalEngine
from sfumato.maskers.masker import Labels
from sfumato.maskers.topdown.fit import fit
from sfumato.maskers.topdown.masker import TopDown
from sfumato.maskers.topdown.problem import make_problem
from sfumato.maskers.topdown.scores import tradeoff
from sfumato.maskers.topdown.search import Limits, Rules, Search
from sfumato.privacy.requirements import basic
from tests.contracts.test_engines import Case, random_case, run, smallest_group
from tests.sampling import some

PLAIN = TopDown(score="tradeoff")


def plain(seed: int) -> Case:
    return replace(random_case(seed), settings=PLAIN)


@pytest.mark.parametrize("block", range(4))
def test_the_final_state_is_maximal(block: int) -> None:
    """Every further refinement breaks a requirement: each blocked one is tried on the final table."""
    for seed in range(block * 25, block * 25 + 25):
        case = plain(seed)
        fitted = run(case, LocalEngine())
        search = replayed(case)
        assert list(search.scored()) == [], f"case {seed}"
        assert fitted.history.stopped == "maximal"


def replayed(case: Case) -> Search:
    """A search run to its end, so that what is still offered can be looked at."""
    search = make_problem(case.table, case.labels, Rules(basic(case.needs), tradeoff), LocalEngine()).open(None)
    search.run(Limits())
    return search


@pytest.mark.parametrize("block", range(4))
def test_a_refinement_of_the_final_cut_breaks_a_requirement(block: int) -> None:
    """Brute force: undo nothing, refine one more value by hand, and recount."""
    tried = 0
    for seed in range(300 + block * 20, 300 + block * 20 + 20):
        case = plain(seed)
        search = replayed(case)
        records = search_records(case)
        value_at = [np.zeros(size, dtype=np.int64) for size in records.sizes]
        for step in search.steps:
            for (first, end), child in zip(step.parts, step.children, strict=False):
                value_at[step.attribute][first:end] = child
        names = [name for name in case.table.schema.quasi if any(name in need.on for need in case.needs)]
        for candidate in search.dropped:
            step = candidate.refinement
            inside = value_at[step.attribute][step.parts[0][0] : step.parts[-1][1]]
            if not (inside == step.value).all():
                continue
            after = [v.copy() for v in value_at]
            for at, (first, end) in enumerate(step.parts):
                after[step.attribute][first:end] = 10_000 + at
            assert any(
                smallest(records, after, [names.index(name) for name in need.on]) < need.k for need in case.needs
            ), f"case {seed}"
            tried += 1
    assert tried > 10


def search_records(case: Case) -> Records:
    return make_problem(case.table, case.labels, Rules(basic(case.needs), tradeoff), LocalEngine()).records


def smallest(records: Records, value_at: list[NDArray[np.int64]], on: list[int]) -> int:
    rows = zip(*(value_at[at][records.positions[at]].tolist() for at in on), strict=True)
    counts: dict[tuple[int, ...], int] = {}
    for row in rows:
        counts[row] = counts.get(row, 0) + 1
    return min(counts.values())


@pytest.mark.parametrize("block", range(3))
def test_records_repeated_are_records_weighted(block: int) -> None:
    for seed in range(500 + block * 20, 500 + block * 20 + 20):
        case = plain(seed)
        times = np.random.default_rng(seed).integers(1, 4, case.table.rows)
        order = np.repeat(np.arange(case.table.rows), times)
        repeated = encode(case.table.to_arrow().take(order), case.table.schema)
        labels = Labels(case.labels.classes[order], case.labels.n)
        nobody = dict.fromkeys(case.table.schema, 10**9)  # no number is an end because many share it: weights are none
        whole = fit(repeated, labels, case.needs, settings=PLAIN, engine=LocalEngine(), many=nobody)
        rules = Rules(basic(case.needs), tradeoff, many=nobody)
        problem = make_problem(case.table, case.labels, rules, LocalEngine())
        search = replace(problem, records=replace(problem.records, weights=times.astype(np.int64))).open(None)
        search.run(Limits())
        assert tuple(search.rounds) == whole.history.rounds, f"case {seed}"


@pytest.mark.parametrize("block", range(3))
def test_column_order_changes_only_ties(block: int) -> None:
    """With the attributes in another order every state is still valid, and without ties the cut is the same."""
    for seed in range(700 + block * 20, 700 + block * 20 + 20):
        case = plain(seed)
        turned = Schema(dict(reversed(list(case.table.schema.items()))))
        table = encode(case.table.to_arrow().select(list(turned)), turned)
        found, whole = run(replace(case, table=table), LocalEngine()), run(case, LocalEngine())
        scores = [r.score for r in whole.history.rounds]
        if len(set(scores)) == len(scores) and all(scores):
            assert dict(found.recoding.attributes) == dict(whole.recoding.attributes), f"case {seed}"
        for need in case.needs:
            assert smallest_group(replace(case, table=table), found, need.on) >= need.k


@pytest.mark.filterwarnings("ignore::Warning:pycanon")
@pytest.mark.parametrize("seed", some(range(40), 4))
def test_pycanon_counts_the_same_k(seed: int) -> None:
    """An independent checker from the package index; it does not count missing values, so those cases are left out."""
    anonymity = import_module("pycanon.anonymity")
    case = plain(seed + 2000)
    if any(column.missing for column in case.table.columns.values()):
        case = replace(case, table=without_missing(case), labels=kept_labels(case))
        if case.table.rows < max(need.k for need in case.needs):
            return
    fitted = run(case, LocalEngine())
    masked = fitted.recoding.apply(case.table)
    frame = pa.table({name: column.decode().cast(pa.string()) for name, column in masked.items()}).to_pandas()
    for need in case.needs:
        on = list(need.on)
        assert anonymity.k_anonymity(frame.astype(str), on) == smallest_group(case, fitted, need.on) >= need.k


def whole_rows(case: Case) -> NDArray[np.bool_]:
    arrow = case.table.to_arrow()
    whole: NDArray[np.bool_] = np.logical_and.reduce([column.is_valid().to_numpy() for column in arrow.columns])
    return whole


def without_missing(case: Case) -> Table:
    return encode(case.table.to_arrow().filter(pa.array(whole_rows(case))), case.table.schema)


def kept_labels(case: Case) -> Labels:
    return Labels(case.labels.classes[whole_rows(case)], case.labels.n)
