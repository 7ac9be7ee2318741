"""Paper 000: figures that stand in the page's sentences and in none of its tables, counted in the kept results."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from benchmarks.papers.cluster_measuring import Row
from benchmarks.papers.cluster_rows import SAME, figures, pick, series
from benchmarks.papers.cluster_text import NAMES, Case, cases

GUIDED, BLIND, LIFTED = "tradeoff", "distortion", "portfolio 1 %"
LATE = 65
"""From this threshold on blind masking happens to show what holds Adult's two clusters apart."""
NEARLY = 0.01


def said(rows: Sequence[Row]) -> Iterator[str]:
    """A line for each."""
    yield from _two_clusters(rows)
    yield from _thresholds(rows)
    yield from _requirements(rows)
    yield from _placements(rows)
    yield from _searches(rows)


def _single(rows: Sequence[Row], case: Case, mask: str) -> list[Row]:
    return pick(rows, experiment="single", mask=mask, **case)


def _case(dataset: str, method: str, clusters: int) -> Case:
    return {"dataset": dataset, "method": method, "clusters": clusters}


def _range(values: Any) -> str:
    return f"{np.min(values):.3f} to {np.max(values):.3f}"


def _two_clusters(rows: Sequence[Row]) -> Iterator[str]:
    pairs = [p for c in cases(rows) for p in zip(_single(rows, c, GUIDED), _single(rows, c, BLIND), strict=True)]
    same = [(one, other) for one, other in pairs if abs(one.f_start - other.f_start) <= SAME]
    one_table = sum(one.cut == other.cut for one, other in same)
    yield f"F from starting centres is the same at {len(same)} of {len(pairs)}; {one_table} of them are one table"
    case = _case("adult", "kmeans", 2)
    late = {m: [r for r in _single(rows, case, m) if r.setting.h >= LATE] for m in (GUIDED, BLIND, "total_gain")}
    lead = figures(late[GUIDED], "f_start") - figures(late[BLIND], "f_start")
    yield f"Adult, 2 clusters, h >= {LATE}: lead in F {_range(lead)}"
    told = ", ".join(f"{mask} {_range(figures(found, 'agreement'))}" for mask, found in late.items())
    lifted = _range(series(rows, "agreement", experiment="single", mask=LIFTED, **case))
    yield f"its agreement there: {told}; {LIFTED} at h = 5, 20, 50, 100 {lifted}"
    yield f"its cost: {100 * (1 - series(rows, 'f_start', experiment='single', mask=GUIDED, **case).mean()):.2f} %"


def _thresholds(rows: Sequence[Row]) -> Iterator[str]:
    adult = _single(rows, _case("adult", "kmeans", 6), GUIDED)
    yield f"Adult, 6 clusters: {len({row.cut for row in adult})} different tables at {len(adult)} thresholds"
    found = pick(rows, experiment="portfolio", dataset="adult", clusters=6, mask=GUIDED)
    cost = [100 * (1 - series(found, "f_start", seed=at).mean()) for at in sorted({r.setting.seed for r in found})]
    yield f"its cost by seed: {', '.join(f'{value:.1f}' for value in cost)} %, mean {np.mean(cost):.1f} %"
    crx = _single(rows, _case("crx", "kmeans", 6), GUIDED)
    yield "CRX, 6 clusters, F: " + ", ".join(f"{row.f_start:.2f} (h = {row.setting.h})" for row in crx[:7])
    yield f"and {_range([row.f_start for row in crx if row.setting.h >= 30])} from h = 30 on"
    for case, mask in ((_case("crx", "kmeans", 6), GUIDED), (_case("crx", "bisecting", 2), BLIND)):
        hidden = [r.setting.h for r in _single(rows, case, mask) if {"A4", "A5"} <= set(r.at_top.split())]
        name = f"CRX, {NAMES[case['method']]}, {case['clusters']} clusters, {mask}"
        yield f"{name}: A4 and A5 are hidden at {len(hidden)} thresholds, from h = {min(hidden)} on"


def _requirements(rows: Sequence[Row]) -> Iterator[str]:
    found = pick(rows, experiment="multi", dataset="adult")
    for mask in (GUIDED, "total_gain"):
        several, union = (
            {(r.setting.qid.split()[1], r.setting.method, r.setting.h): r.f_start for r in found if _is(r, kind, mask)}
            for kind in ("multi", "union")
        )
        lead = {key: several[key] - union[key] for key in several}
        lost = {key for key, value in lead.items() if value < -NEARLY}
        many = len({key[0] for key in lead})
        yield f"Adult, {many} requirements, {mask}: {len({key[0] for key in lost})} below its union by {NEARLY} or more"
        if lost:
            yield f"that one: F {_range([several[k] for k in lost])}, its union {_range([union[k] for k in lost])}"
        means = [np.mean([v for k, v in lead.items() if k[1:] == part]) for part in {key[1:] for key in lead}]
        yield f"lead of several on average: {min(means):.4f} to {max(means):.4f}"


def _is(row: Row, kind: str, mask: str) -> bool:
    return row.setting.mask == mask and row.setting.qid.startswith(kind)


def _placements(rows: Sequence[Row]) -> Iterator[str]:
    for dataset in ("adult", "crx"):
        for mask in (GUIDED, BLIND):
            of = {"experiment": "encoding", "dataset": dataset, "mask": mask, "placement": "expected"}
            less = series(rows, "agreement", **of) - series(rows, "agreement_told", **of)
            yield f"{NAMES[dataset]}, {mask}: agreement with the codebook is lower by {_range(less)}"


def _searches(rows: Sequence[Row]) -> Iterator[str]:
    found = [row for row in rows if row.setting.experiment == "portfolio"]
    lifted, greedy = pick(found, mask=LIFTED), pick(found, mask=GUIDED)
    at = {_key(row): row.f_start for row in greedy}
    worse = [(at[_key(row)] - row.f_start, row.setting) for row in lifted if row.f_start < at[_key(row)] - SAME]
    most, where = max(worse, key=lambda pair: pair[0])
    name = f"{NAMES[where.dataset]}, {where.clusters} clusters, h = {where.h}, seed {where.seed}"
    yield f"{LIFTED}: F is worse in {len(worse)} of {len(lifted)}, by at most {most:.3f} ({name})"


def _key(row: Row) -> tuple[str, int, int, int]:
    return row.setting.dataset, row.setting.clusters, row.setting.h, row.setting.seed
