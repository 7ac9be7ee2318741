"""How much of a cluster structure survived masking, always beside what a perfect and a worthless masking would give.

The masked table is clustered again, as in steps 3 and 4 of 000 section 4.1:

- *cold*: as by a recipient who knows nothing, once per seed, with as many starts as the structure asks for. This
  measures k-means' own instability as well, so it is told with its mean, best and worst;
- *cold1* and *cold10*: the same with one start (on average over a few), and with the best of ten;
- *start*: from the raw clusters' means in the masked space, which the holder may hand along.

Beside them stand the *ceiling* (the raw table clustered again with other seeds, starts and help as cold, which a
masked table may well exceed) and two *floors* (random labels in the same sizes; every masked attribute at its top).
All of it is measured against the raw table: for the holder's eyes only.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.arrays import Ints
from sfumato.data.masked import Masked
from sfumato.data.table import Table
from sfumato.errors import RecipeError
from sfumato.evaluation import clusters as measure
from sfumato.evaluation.clusters import ClusterKept, Contingency
from sfumato.evaluation.loss import benefit
from sfumato.evaluation.scores import Score, scores_to_json
from sfumato.events import checkpoint, part, watched
from sfumato.randomness import Seeded
from sfumato.structure.clusterers import finds_k, takes_starts
from sfumato.structure.coded_points import Placed
from sfumato.structure.density import masked_options
from sfumato.structure.embedding import Embedding
from sfumato.structure.measures import Measure, figure_of, measures_named
from sfumato.structure.methods import Clustering
from sfumato.structure.released_groups import Codebook
from sfumato.structure.structures import Clusters, Found, cluster_placed, starting_centres

Labels = NDArray[Any]
ONE_START_RUNS = 5
TEN = 10
"""Starts of which the best counts, as scikit-learn's k-means had it for long and most users have it still."""


@dataclass(frozen=True)
class Figure:
    """One way of comparing two cluster structures."""

    name: str
    of: Callable[[Contingency], float]
    meaning: str
    more_is_better: bool = True


FIGURES = (
    Figure("f_measure", measure.f_measure_of, "how well each cluster is found again (000 Eq. 9)"),
    Figure("match_point", measure.match_point_of, "pairs of records together in both or apart in both (000 Eq. 10)"),
    Figure("misclassification", measure.misclassification_of, "records outside their own cluster (004)", False),
    Figure("adjusted_rand", measure.adjusted_rand_of, "Rand index adjusted for chance"),
    Figure("nmi", measure.nmi_of, "normalised mutual information"),
)


@dataclass(frozen=True)
class Evaluation:
    """Scores by name, such as `f_measure.cold.mean` or `agreement`, and what became of each raw cluster.

    `again` (rows,): the clusters found from the raw clusters' means, those that `f_measure.start` is about, and
    `kept_from_start` what became of each raw cluster there.
    """

    scores: tuple[Score, ...]
    kept: tuple[ClusterKept, ...]
    settings: Mapping[str, Any] = field(default_factory=dict)
    again: Labels | None = field(default=None, compare=False)
    kept_from_start: tuple[ClusterKept, ...] = ()

    def __getitem__(self, name: str) -> float:
        return next(score.value for score in self.scores if score.name == name)

    def to_json(self, *, publishable_only: bool = False) -> dict[str, Any]:
        """Plain mappings; with `publishable_only`, without anything that was measured against the raw table."""
        scores = scores_to_json(self.scores, publishable_only=publishable_only)
        if publishable_only:
            return {"scores": scores}
        return {
            "scores": scores,
            "clusters": [row.to_json() for row in self.kept],
            "clusters_from_start": [row.to_json() for row in self.kept_from_start],
            "settings": dict(self.settings),
        }


def evaluate_clusters(
    found: Found,
    table: Table,
    masked: Masked,
    structure: Clusters,
    *,
    seeds: Sequence[int] | int = 3,
    released: Codebook | None = None,
    others: Mapping[str, Masked] | None = None,
    most: int | None = None,
) -> Evaluation:
    """Cluster the masked table again and compare with the raw structure `found` in `table`.

    `seeds`: cold starts, or how many of them from the structure's seed on. `released`: the codebook that goes
    along with the release (None: learned from the table). `others`: further masked tables to be measured in the
    same way, such as {"distortion": ...} for masking that is blind to clusters; their scores carry that name, and
    so does the benefit over them. `most`: of a larger table the ceiling is measured on a sample of so many records.
    """
    if found.embedding is None or found.placed is None:
        raise RecipeError(
            "evaluate",
            "clusters are compared with clusters",
            given="a class column",
            remedy="evaluate classes by how well they are predicted",
        )
    cold = tuple(range(structure.seed, structure.seed + seeds)) if isinstance(seeds, int) else tuple(seeds)
    view = _View(found, found.embedding, found.placed, table, structure, cold)
    tables = 1 + len(others or {})
    with part(0.0, 0.8 / tables):
        placed = view.place(masked, released)
        mine = _measure_masked(view, placed, "")
    with part(0.8 / tables, 0.2 + 0.8 / tables):
        starts = _starts(view, placed, mine.first)
        scores = [*mine.scores, *starts, *_bounds(view, masked, most), *_silhouettes(view, mine.first)]
    with part(0.2 + 0.8 / tables, 1.0):
        for name, columns in watched((others or {}).items()):
            theirs = _measure_masked(view, view.place(columns, None), f"{name}.").scores
            scores += [*theirs, *_benefits(scores, theirs, name)]
    if structure.measures or found.measures:
        own = {**measures_named(structure.measures), **found.measures}
        scores += own_scores(own, found, {"start": mine.from_start, "cold": mine.first.labels})
    kept, helped = (measure.clusters_kept(found.labels, labels) for labels in (mine.first.labels, mine.from_start))
    return Evaluation(tuple(scores), kept, _settings(view, placed), mine.from_start, helped)


def own_scores(measures: Mapping[str, Measure], found: Found, again: Mapping[str, Labels]) -> list[Score]:
    """What the holder's own measures say of labels that were found again, by how; and of random ones."""
    if not measures:
        return []
    mixed = Seeded(0).generator().permutation(found.labels)
    told = {
        "start": "the masked table clustered from the raw clusters' means",
        "cold": "the masked table clustered again without help",
        "nearest": "each raw record takes the nearest centre of the generated table",
        "floor": "random labels, clusters of the same sizes",
    }
    return [
        _holder(
            f"own.{name}.{how}",
            figure_of(name, one, found.labels.astype(np.int64), _from_zero(labels)),
            f"{name}, a measure of the holder's choice; {told[how]}",
        )
        for name, one in watched(measures.items())
        for how, labels in {**again, "floor": mixed}.items()
    ]


def _from_zero(labels: Labels) -> Ints:
    """Labels from 0, noise the last of them."""
    codes = np.asarray(labels).astype(np.int64)
    return np.where(codes < 0, int(codes.max()) + 1, codes)


@dataclass(frozen=True, eq=False)
class _View:
    """What every part of the evaluation looks at."""

    found: Found
    embedding: Embedding
    placed: Placed
    table: Table
    structure: Clusters
    seeds: tuple[int, ...]

    def place(self, masked: Masked, released: Codebook | None) -> Placed:
        return self.embedding.place_masked(self.table, masked, released=released, placement=self.structure.placement)

    def again(self, placed: Placed, seed: int, *, starts: int | None = None) -> Clustering:
        """Records clustered again by the recipient's method, into as many clusters as were found."""
        found, structure = self.found.clustering, self.structure
        if starts is not None:
            structure = replace(structure, n_init=starts)
        options = self.options(placed)
        k = found.k if found else None
        return cluster_placed(structure, placed, method=structure.again, k=k, seed=seed, options=options)

    def options(self, placed: Placed) -> dict[str, Any]:
        """Of the recipient's method: of masked records those that whoever has them can find by himself."""
        found, structure = self.found.clustering, self.structure
        same = structure.again == structure.method
        raw = {**(found.chosen if found else {}), **structure.options} if same else {}
        return raw if placed is self.placed else masked_options(structure.again, raw, placed)

    def compare(self, labels: Labels) -> dict[str, float]:
        checkpoint()
        shared = measure.contingency(self.found.labels, labels)
        return {figure.name: figure.of(shared) for figure in FIGURES}


@dataclass(frozen=True, eq=False)
class _Measured:
    """Scores of one masked table, its clustering with the first seed, and its clusters found from the means."""

    scores: list[Score]
    first: Clustering
    from_start: Labels


def _measure_masked(view: _View, placed: Placed, prefix: str) -> _Measured:
    with part(0.0, 0.8):
        runs = [view.again(placed, seed) for seed in watched(view.seeds)]
    told = "the masked table clustered again without help"
    scores = _spread([view.compare(run.labels) for run in runs], f"{prefix}%s.cold", told)
    checkpoint(0.8)
    start = _from_start(view, placed)
    scores += _named(
        view.compare(start), f"{prefix}%s.start", "the masked table clustered from the raw clusters' means"
    )
    if view.found.centres is not None:
        same = measure.agreement(view.placed, placed, view.found.centres)
        told = "share of records whose nearest raw centre is unchanged by masking"
        scores.append(_holder(f"{prefix}agreement", same, told))
    return _Measured(scores, runs[0], start)


def _starts(view: _View, placed: Placed, first: Clustering) -> list[Score]:
    """Found again from one start, on average, and from the best of ten, as whoever uses k-means has it."""
    if not takes_starts(view.structure.again):
        return []
    seeds = range(view.structure.seed, view.structure.seed + ONE_START_RUNS)
    ones = [view.compare(view.again(placed, seed, starts=1).labels) for seed in watched(seeds)]
    best = first if view.structure.n_init == TEN else view.again(placed, view.seeds[0], starts=TEN)
    mean = {figure.name: float(np.mean([one[figure.name] for one in ones])) for figure in FIGURES}
    told = "the masked table clustered again without help, "
    return [
        *_named(mean, "%s.cold1", f"{told}one start; mean of {len(ones)}"),
        *_named(view.compare(best.labels), "%s.cold10", f"{told}the best of ten starts"),
    ]


def _from_start(view: _View, placed: Placed) -> Labels:
    """k-means from the raw clusters' means in the masked space; other methods: the nearest of those means."""
    centres = starting_centres(placed, view.found.labels, view.found.n)
    if view.structure.again != "kmeans":
        return placed.nearest(centres)
    return cluster_placed(view.structure, placed, method="kmeans", centres=centres).labels


def _bounds(view: _View, masked: Masked, most: int | None) -> list[Score]:
    """The raw table clustered again, with as many starts and as little help as the masked one; and floors."""
    told = "the raw table clustered again with another seed, which may find others"
    mixed = Seeded(view.structure.seed).generator().permutation(view.found.labels)
    hidden = view.again(view.embedding.without(view.table, masked), view.seeds[0])
    part = _sampled(view, most)
    if part is not view:
        error = 50 / math.sqrt(part.placed.rows)
        told += f" (on a sample of {part.placed.rows:,} records: the standard error is at most {error:.2f} of 100)"
    other = [seed for seed in view.seeds if seed != view.structure.seed] or [view.structure.seed + 1]
    ceiling = [part.compare(part.again(part.placed, seed).labels) for seed in watched(other)]
    return [
        *_spread(ceiling, "%s.ceiling", told),
        *_named(view.compare(mixed), "%s.floor.random", "random labels, clusters of the same sizes"),
        *_named(view.compare(hidden.labels), "%s.floor.top", "every masked attribute at its top"),
    ]


def _sampled(view: _View, most: int | None) -> _View:
    """The same, of some records of a large table, the same ones whenever it is asked."""
    if most is None or view.placed.rows <= most:
        return view
    rows = np.sort(Seeded(0).generator().choice(view.placed.rows, most, replace=False))
    found = replace(view.found, labels=view.found.labels[rows])
    return replace(view, found=found, placed=view.placed.take(rows))


def _silhouettes(view: _View, masked: Clustering) -> list[Score]:
    """How well separated, in the raw space, the raw clusters are and those found in the masked table."""
    told = "how much nearer records are to their own cluster than to the next, in the raw space: "
    values = measure.silhouettes(view.placed, [view.found.labels, masked.labels])
    named = zip(("silhouette.raw", "silhouette.masked"), values, strict=True)
    return [_holder(name, value, told + name) for name, value in named if value is not None]


def _benefits(ours: list[Score], theirs: list[Score], name: str) -> list[Score]:
    """What guidance by the structure gains over another masked table (000 section 5)."""
    mine = {score.name: score.value for score in ours}
    blind = {score.name: score.value for score in theirs}
    return [
        _holder(
            f"benefit.{name}.{figure}",
            benefit(mine[key], blind[f"{name}.{key}"]),
            f"gain in {figure} (cold, mean) over {name}, as a share of the latter",
        )
        for figure in ("f_measure", "match_point")
        for key in [f"{figure}.cold.mean"]
    ]


def _spread(runs: list[dict[str, float]], name: str, told: str) -> list[Score]:
    scores = []
    for figure in FIGURES:
        values = [run[figure.name] for run in runs]
        best, worst = (max, min) if figure.more_is_better else (min, max)
        for kind, value in (("mean", float(np.mean(values))), ("best", best(values)), ("worst", worst(values))):
            text = f"{figure.meaning}; {told}; {kind} of {len(runs)}"
            scores.append(_holder(f"{name % figure.name}.{kind}", value, text))
    return scores


def _named(run: dict[str, float], name: str, told: str) -> list[Score]:
    return [_holder(name % figure.name, run[figure.name], f"{figure.meaning}; {told}") for figure in FIGURES]


def _holder(name: str, value: float, meaning: str) -> Score:
    return Score(name, value, publishable=False, meaning=meaning)


def _settings(view: _View, masked: Placed) -> dict[str, Any]:
    options = view.options(masked) if finds_k(view.structure.again) else {}
    return {
        "method": view.structure.method,
        "recluster": view.structure.again,
        "clusters": view.found.n,
        "seed": view.structure.seed,
        "cold_seeds": list(view.seeds),
        "n_init": view.structure.n_init,
        "placement": view.structure.placement,
        "attributes": list(view.embedding.attributes),
        **({} if view.found.clustering is None else view.found.clustering.chosen),
        **({"options_masked": options} if options else {}),
    }
