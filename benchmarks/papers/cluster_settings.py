"""Paper 000, section 5: which test cases there are, and the tables they are run on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from itertools import product
from typing import Any, Literal

import numpy as np
import pyarrow as pa

from sfumato.data import datasets
from sfumato.data.encoding import encode
from sfumato.data.schema import Attribute, Number, Schema
from sfumato.data.table import Table
from sfumato.privacy.requirements import KAnonymity

METHODS = ("kmeans", "bisecting")
CLUSTERS = (2, 6, 10)
THRESHOLDS = tuple(range(5, 101, 5))
FEW = (5, 20, 50, 100)
"""The thresholds at which Adult is clustered cold 20 times, and the portfolio is tried."""
LARGER = (20, 50, 100)
"""The thresholds at which Adult is published, which takes long."""
MULTI = (20, 50, 80)
CASES = 30
CASES_SEED = 2009

Placement = Literal["expected", "exact", "own"]
"""Where masked values stand: where a released codebook tells (no label of fewer than h records), where the holder
knows them to be on average, or each in a place of its own."""


@dataclass(frozen=True, kw_only=True)
class Setting:
    """One test case: whose structure is found how, what must hold, how it is masked and clustered again.

    `qid`: "Top9", or "multi 7" and "union 7" for the seventh random requirement and its union. `mask`: a score,
    "portfolio", "portfolio 1 %" (lifting up to that share), "partition", "dropped" (the QID at its top) or "raw".
    `cold`: how many cold starts. `rows`: how many records of the table, 0 for all.
    """

    experiment: str
    dataset: str
    method: str
    clusters: int
    h: int
    mask: str
    qid: str = "Top9"
    recluster: str = ""
    placement: Placement = "expected"
    seed: int = 0
    cold: int = 1
    rows: int = 0

    @property
    def again(self) -> str:
        """The method that clusters the masked table."""
        return self.recluster or self.method


@dataclass(frozen=True)
class Extent:
    """How much of section 5 is run."""

    clusters: tuple[int, ...] = CLUSTERS
    thresholds: tuple[int, ...] = THRESHOLDS
    few: tuple[int, ...] = FEW
    sizes: tuple[int, ...] = tuple(range(3, 9))
    multi: tuple[int, ...] = MULTI
    cases: int = CASES
    seeds: int = 5
    starts: int = 20
    contingency: int = 120
    rows: int = 0


FULL = Extent()
QUICK = Extent(
    clusters=(6,), thresholds=(5, 50), few=(50,), sizes=(3,), multi=(50,), cases=2, seeds=1, starts=2, rows=4_000
)


@cache
def people(dataset: str, rows: int = 0) -> Table:
    """The complete records (or the first `rows`) without their class: 14 attributes of Adult, 15 of CRX.

    CRX's numbers get the observed range: the paper normalises them and declares none.
    """
    found = datasets.load(dataset, complete=True)
    names = list(found.schema.quasi)
    arrow = found.table.select(names).slice(0, rows or None)
    schema = {name: found.schema[name] for name in names}
    if dataset == "crx":
        schema = {name: _observed(part, arrow[name]) for name, part in schema.items()}
    return encode(arrow, Schema(schema))


def settings(dataset: str, extent: Extent) -> Iterator[Setting]:
    """Every test case of one table; those that share a raw structure come together where it matters."""
    for part in (_single, _published, _seeds, _sizes, _multi, _heterogeneous, _encodings, _portfolio, _bounds):
        yield from (replace(setting, rows=extent.rows) for setting in part(dataset, extent))


def random_requirements(names: tuple[str, ...], count: int) -> list[tuple[frozenset[str], ...]]:
    """000 section 5.1.4: U[3,7] QIDs of one length U[2,9] from all attributes; repeated QIDs are discarded."""
    rng = np.random.default_rng(CASES_SEED)
    found = []
    for _ in range(count):
        number, length = int(rng.integers(3, 8)), int(rng.integers(2, 10))
        drawn = [frozenset(str(n) for n in rng.choice(names, length, replace=False)) for _ in range(number)]
        found.append(tuple(dict.fromkeys(drawn)))
    return found


def requirements(setting: Setting, table: Table, ranking: tuple[str, ...]) -> tuple[KAnonymity, ...]:
    """What the masked table must have."""
    if setting.qid.startswith("Top"):
        return (KAnonymity(ranking[: int(setting.qid[3:])], setting.h),)
    kind, case = setting.qid.split()
    qids = random_requirements(tuple(table.schema), int(case))[-1]
    if kind == "union":
        qids = (frozenset().union(*qids),)
    return tuple(KAnonymity([name for name in table.schema if name in qid], setting.h) for qid in qids)


def _single(dataset: str, extent: Extent) -> Iterator[Setting]:
    """Figures 3, 4, 10, 11, with other ways of masking as additional rows."""
    for method, clusters, h in product(METHODS, extent.clusters, extent.thresholds):
        base = Setting(
            experiment="single",
            dataset=dataset,
            method=method,
            clusters=clusters,
            h=h,
            mask="tradeoff",
            cold=extent.starts if dataset == "crx" or h in extent.few else 1,
        )
        yield base
        yield replace(base, mask="distortion")
        yield replace(base, mask="total_gain", cold=0)
        if h in extent.few or dataset == "crx":
            yield replace(base, mask="portfolio 1 %", cold=0)


def _published(dataset: str, extent: Extent) -> Iterator[Setting]:
    """Figures 3, 4, 10, 11 once more through `publish`, which measures itself: the papers' method and ours."""
    thresholds = extent.few if dataset == "crx" else [h for h in extent.few if h in LARGER]
    for method, clusters, h, mask in product(METHODS, extent.clusters, thresholds, ("tradeoff", "partition")):
        yield Setting(experiment="published", dataset=dataset, method=method, clusters=clusters, h=h, mask=mask)


def _seeds(dataset: str, extent: Extent) -> Iterator[Setting]:
    """Partition through `publish` over seeds of the raw clustering, and with parts that are pure of clusters."""
    thresholds = extent.few if dataset == "crx" else [h for h in extent.few if h in LARGER]
    for clusters, seed, h, mask in product(extent.clusters, range(extent.seeds), thresholds, ("partition", "pure")):
        if mask == "partition" or dataset == "crx":
            yield Setting(
                experiment="seeds", dataset=dataset, method="kmeans", clusters=clusters, h=h, mask=mask, seed=seed
            )


def _sizes(dataset: str, extent: Extent) -> Iterator[Setting]:
    """Figures 6 and 12; Top9 is among the single ones."""
    for method, size, h, mask in product(METHODS, extent.sizes, extent.thresholds, ("tradeoff", "distortion")):
        yield Setting(
            experiment="size", dataset=dataset, method=method, clusters=6, h=h, mask=mask, qid=f"Top{size}", cold=0
        )


def _multi(dataset: str, extent: Extent) -> Iterator[Setting]:
    """Figures 7 and 13, with another score as additional rows."""
    for method, h, case, kind, mask in product(
        METHODS, extent.multi, range(1, extent.cases + 1), ("multi", "union"), ("tradeoff", "total_gain")
    ):
        yield Setting(
            experiment="multi", dataset=dataset, method=method, clusters=6, h=h, mask=mask, qid=f"{kind} {case}", cold=0
        )


def _heterogeneous(dataset: str, extent: Extent) -> Iterator[Setting]:
    """Figures 8 and 14."""
    for (one, other), clusters in product((METHODS, METHODS[::-1]), extent.clusters):
        base = Setting(
            experiment="heterogeneous", dataset=dataset, method=one, clusters=clusters, h=0, mask="raw", recluster=other
        )
        yield base
        yield from (replace(base, h=h, mask="tradeoff") for h in extent.thresholds)


def _encodings(dataset: str, extent: Extent) -> Iterator[Setting]:
    """How masked values enter clustering: PAPERS.md, 002-11."""
    placements: tuple[Placement, ...] = ("own", "expected", "exact")
    for h, mask, placement in product(extent.few, ("tradeoff", "distortion"), placements):
        yield Setting(
            experiment="encoding",
            dataset=dataset,
            method="kmeans",
            clusters=6,
            h=h,
            mask=mask,
            placement=placement,
            cold=extent.starts,
        )
    yield Setting(
        experiment="contingency",
        dataset=dataset,
        method="kmeans",
        clusters=6,
        h=extent.contingency,
        mask="tradeoff",
        cold=extent.starts,
    )


def _portfolio(dataset: str, extent: Extent) -> Iterator[Setting]:
    """Searching several ways, over seeds of the raw clustering; lifting more for six clusters alone."""
    masks = ("tradeoff", "portfolio", "portfolio 1 %", "portfolio 5 %")
    for clusters, seed, h, mask in product(extent.clusters, range(extent.seeds), extent.few, masks):
        if clusters == 6 or mask != "portfolio 5 %":
            yield Setting(
                experiment="portfolio",
                dataset=dataset,
                method="kmeans",
                clusters=clusters,
                h=h,
                mask=mask,
                seed=seed,
                cold=0,
            )


def _bounds(dataset: str, extent: Extent) -> Iterator[Setting]:
    """Raw against raw with other seeds, and what dropping the quasi-identifiers gives."""
    for method, clusters, mask in product(METHODS, extent.clusters, ("raw", "dropped")):
        yield Setting(
            experiment="bounds", dataset=dataset, method=method, clusters=clusters, h=0, mask=mask, cold=extent.starts
        )


def _observed(attribute: Attribute, column: pa.ChunkedArray[Any]) -> Attribute:
    if not isinstance(attribute, Number):
        return attribute
    values = column.to_numpy()
    return replace(attribute, range=(values.min().item(), values.max().item()))
