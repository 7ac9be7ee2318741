"""Paper 000, section 5: one test case from the raw structure to its figures."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.papers.cluster_settings import Setting, people, requirements
from benchmarks.papers.ranking import rank_attributes
from sfumato.arrays import Ints
from sfumato.data.masked import Masked
from sfumato.data.table import Table
from sfumato.engines import LocalEngine
from sfumato.evaluation.clusters import contingency, f_measure_of, match_point_of
from sfumato.evaluation.evaluate import agreement_with
from sfumato.maskers.masker import Labels, Objective, Task
from sfumato.maskers.topdown.masker import TopDown
from sfumato.structure.clusterers import cluster
from sfumato.structure.coded_points import AnyBlock, Block, Placed, SetBlock
from sfumato.structure.embedding import Embedding
from sfumato.structure.methods import Clustering
from sfumato.structure.released import ReleasedValues
from sfumato.structure.structures import Clusters, Found, find, starting_centres

RAW_STARTS = 10
"""The raw structure is the best of this many starts."""
COLD_SEED = 100
"""Cold starts take this seed and the following ones, one start each."""

Vectors = NDArray[np.float32]


@dataclass(frozen=True)
class Row:
    """What one test case gave. `start`: k-means from the raw clusters' means in the masked space. `joined`: each
    record takes the nearest of those means. `cold`: without help. `agreement`: records whose nearest raw centre is
    unchanged, values placed exactly; `agreement_told`: placed as in the clustering. `cut` names the masked table:
    equal names, equal tables. `at_top`: attributes that show one value only. `f_ten`: cold, the best of ten starts, and
    `f_ten_raw` the same of the raw table; `penalty`: NCP.
    """

    setting: Setting
    f_start: float = float("nan")
    mp_start: float = float("nan")
    f_joined: float = float("nan")
    mp_joined: float = float("nan")
    agreement: float = float("nan")
    agreement_told: float = float("nan")
    f_cold_mean: float = float("nan")
    f_cold_best: float = float("nan")
    f_cold_worst: float = float("nan")
    mp_cold_mean: float = float("nan")
    mp_cold_best: float = float("nan")
    mp_cold_worst: float = float("nan")
    lifted: int = 0
    cut: str = ""
    at_top: str = ""
    table: str = ""
    f_ten: float = float("nan")
    f_ten_raw: float = float("nan")
    penalty: float = float("nan")


@dataclass(frozen=True, eq=False)
class Study:
    """One raw structure and what every test case on it needs."""

    table: Table
    found: Found
    embedding: Embedding
    placed: Placed
    centres: Vectors
    ranking: tuple[str, ...]
    objective: Objective = field(repr=False)

    @cached_property
    def before(self) -> Ints:
        """(rows,): each raw record's nearest raw centre."""
        return self.placed.nearest(self.centres)


@lru_cache(maxsize=6)
def study(dataset: str, method: str, clusters: int, seed: int, rows: int = 0) -> Study:
    """Step 1 of 000 section 4.1, and the ranking that makes Top9."""
    table = people(dataset, rows)
    found = find(Clusters(method, k=clusters, seed=seed, n_init=RAW_STARTS), table)
    objective = agreement_with(found, table)
    if found.embedding is None or found.placed is None or found.centres is None or objective is None:
        raise AssertionError("clusters have an embedding and centres")
    ranking = tuple(rank_attributes(table, found.labels, names=tuple(table.schema)))
    return Study(table, found, found.embedding, found.placed, found.centres, ranking, objective)


@dataclass(frozen=True, eq=False)
class Shown:
    """A masked table: where its records stand, and what is to be told of it."""

    placed: Placed
    agreement: float = 1.0
    lifted: int = 0
    cut: str = ""
    at_top: str = ""


def measure(setting: Setting) -> Row:
    """Steps 2 to 4: mask, cluster again, compare."""
    raw = study(setting.dataset, setting.method, setting.clusters, setting.seed, setting.rows)
    masked = _masked(setting, raw)
    points = _Points.of(masked.placed)
    centres = starting_centres(points.rows, raw.found.labels, raw.found.n)
    started = points.cluster("kmeans", centres=centres, k=raw.found.n)
    joined = contingency(raw.found.labels, points.joined(centres))
    shared = contingency(raw.found.labels, started)
    cold = [
        contingency(raw.found.labels, points.cluster(setting.again, k=raw.found.n, seed=COLD_SEED + at, n_init=1))
        for at in range(setting.cold)
    ]
    return Row(
        setting,
        f_start=f_measure_of(shared),
        mp_start=match_point_of(shared),
        f_joined=f_measure_of(joined),
        mp_joined=match_point_of(joined),
        agreement=masked.agreement,
        agreement_told=float((masked.placed.nearest(raw.centres) == raw.before).mean()),
        **_spread("f_cold", [f_measure_of(table) for table in cold]),
        **_spread("mp_cold", [match_point_of(table) for table in cold]),
        lifted=masked.lifted,
        cut=masked.cut,
        at_top=masked.at_top,
        table=json.dumps(shared.tolist()) if setting.experiment == "contingency" else "",
    )


def masker(name: str) -> TopDown:
    """A mask of a setting by its name."""
    if name.startswith("portfolio"):
        share = name.removeprefix("portfolio").removesuffix("%").strip()
        return TopDown(search="portfolio", suppress=int(share or 0) / 100)
    return TopDown() if name == "dropped" else TopDown(score=name)


def _masked(setting: Setting, raw: Study) -> Shown:
    """Step 2. Dropping a QID is to ask that all records be alike in it."""
    if setting.mask == "raw":
        return Shown(raw.placed)
    if setting.mask == "dropped":
        setting = replace(setting, h=raw.table.rows)
    needs = requirements(setting, raw.table, raw.ranking)
    task = Task(raw.table, Labels(raw.found.labels, raw.found.n), needs, LocalEngine(), objective=raw.objective)
    outcome = masker(setting.mask).mask(task)
    masked = outcome.masked
    return Shown(
        _place(setting, raw, masked),
        raw.objective(masked),
        0 if masked.lifted is None else int(masked.lifted.sum()),
        _cut_name(masked),
        " ".join(name for name, column in masked.items() if len(column.labels) == 1),
    )


def _place(setting: Setting, raw: Study, masked: Masked) -> Placed:
    if setting.placement == "own":
        return raw.embedding.place_masked(raw.table, masked, placement="own")
    least = 1 if setting.placement == "exact" else setting.h
    return raw.embedding.place_masked(
        raw.table, masked, released=ReleasedValues.learn(raw.table, masked, minimum=least)
    )


def _cut_name(masked: Masked) -> str:
    """A short name of what is shown in every row."""
    digest = hashlib.sha256()
    for name in sorted(masked):
        shown: Any = masked[name].to_arrow()
        digest.update(json.dumps([name, shown.dictionary.to_pylist()]).encode())
        digest.update(shown.indices.fill_null(-1).to_numpy(zero_copy_only=False).tobytes())
    return digest.hexdigest()[:8]


def _spread(name: str, values: list[float]) -> dict[str, float]:
    if not values:
        return {}
    return {f"{name}_mean": float(np.mean(values)), f"{name}_best": max(values), f"{name}_worst": min(values)}


@dataclass(frozen=True, eq=False)
class _Points:
    """Masked records laid out once for many clusterings, each distinct one once."""

    rows: Placed
    once: Placed
    weights: NDArray[np.float64]
    of_row: Ints

    @classmethod
    def of(cls, placed: Placed) -> _Points:
        thin = Placed(tuple(_thin(block) for block in placed.blocks), placed.rows)
        once = thin.distinct
        return cls(thin, once.placed, once.weights, once.of_row.astype(np.int64))

    def cluster(self, method: str, **options: Any) -> Ints:
        found: Clustering = cluster(self.once, method, weights=self.weights, **options)
        return self._of_rows(found.labels)

    def joined(self, centres: Vectors) -> Ints:
        return self._of_rows(self.once.nearest(centres))

    def _of_rows(self, labels: Ints) -> Ints:
        return labels[self.of_row]


def _thin(block: AnyBlock) -> AnyBlock:
    """The same distances in as few coordinates as there are: moved to the middle and turned to the main axes."""
    if isinstance(block, SetBlock):
        return block
    places = block.positions if block.own is None else np.hstack([block.positions, block.own])
    used = np.bincount(block.codes, minlength=len(places)) > 0
    middle = places[used].mean(axis=0, dtype=np.float64)
    left, spread, _ = np.linalg.svd(np.where(used[:, None], places - middle, 0.0), full_matrices=False)
    kept = spread > 1e-6
    return Block(block.codes, np.asarray(left[:, kept] * spread[kept], dtype=np.float32))
