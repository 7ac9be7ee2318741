"""The methods behind the clusterers' names: each turns a job into clusters, in whatever order and with gaps."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from sfumato.arrays import Floats, Ints
from sfumato.errors import NoStructure, RecipeError
from sfumato.events import checkpoint, limited, watched
from sfumato.randomness import Seeded
from sfumato.structure.coded_points import Placed, Vectors
from sfumato.structure.kmeans.points import Points

if TYPE_CHECKING:
    from sfumato.structure.kmeans.lloyd import Settled

Weights = NDArray[np.float64]
Number = int | Literal["auto"]

SAMPLE_ROWS = 5_000
"""Above this many rows quadratic methods cluster a sample of this size."""
JOINED = 1 << 16
"""Rows that join their nearest centres at once."""
NOISE = -1
_SCALES = ("Birch", "KMeans", "MiniBatchKMeans", "BisectingKMeans")
LINKAGES = ("ward", "complete", "average", "single")


@dataclass(frozen=True, eq=False)
class Clustering:
    """Clusters of records, the largest first: `labels` from 0 to k - 1, and -1 for noise.

    `centres` (k, dims) and `inertia` (squared distances to them, added up) where the method has them. `chosen`: options
    that the method chose by the records itself, in round numbers: whoever clusters the masked table needs them, since
    records that were masked alike have no gaps between them.
    """

    labels: NDArray[Any]
    k: int
    centres: Vectors | None = None
    inertia: float | None = None
    chosen: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Job:
    """What to cluster, into how many, and how."""

    placed: Placed
    k: Number
    seed: int
    n_init: int
    centres: Vectors | None
    weights: Weights | None
    options: Mapping[str, Any]

    @property
    def clusters(self) -> int:
        """The number of clusters, never more than there are rows."""
        return min(int(self.k), self.placed.rows)

    @property
    def points(self) -> Points:
        """The records as k-means takes them, with their weights."""
        if not self.placed.rows:
            raise NoStructure(
                "clusters", "there are records to be clustered", given="none", remedy="give a table that has some"
            )
        return self.placed.points.weighted(self.weights)


def method(name: str) -> Callable[[Job], Clustering]:
    """The method of a name or an import path that was checked before."""
    if name in LINKAGES:
        return lambda job: _agglomerative(replace(job, options={**job.options, "linkage": name}))
    ours = {
        "kmeans": _kmeans,
        "bisecting": _bisecting,
        "agglomerative": _agglomerative,
        "dbscan": _dbscan,
        "hdbscan": _hdbscan,
        "kmedoids": _kmedoids,
    }
    return ours[name] if name in ours else lambda job: _by_path(name, job)


def _kmeans(job: Job) -> Clustering:
    """k-means on codes: from the given centres once, or the best of several starts."""
    from sfumato.structure.kmeans.lloyd import ROUNDS, TOLERANCE, best_start, lloyd, start, tolerance_of

    points, options = job.points, job.options
    tolerance = tolerance_of(points, options.get("tol", TOLERANCE))
    rounds = options.get("max_iter", ROUNDS)
    if job.centres is not None:
        if len(job.centres) > len(points):
            return Clustering(job.placed.nearest(job.centres), len(job.centres), job.centres)  # nothing to average
        return _settled(lloyd(points, job.centres, tolerance=tolerance, rounds=rounds))
    draws = Seeded(job.seed).lasting()

    def settle(some: Points, centres: Floats) -> Settled:
        return lloyd(some, centres, tolerance=tolerance, rounds=rounds)

    def begin(some: Points) -> Floats:
        return start(some, job.clusters, draws, init=options.get("init", "k-means++"))

    return _settled(best_start(points, job.n_init, begin, settle, job.seed))


def _bisecting(job: Job) -> Clustering:
    """Bisecting k-means on codes. Its tolerance is no share of the variance, as in scikit-learn."""
    from sfumato.structure.kmeans.bisecting import bisect
    from sfumato.structure.kmeans.lloyd import ROUNDS, TOLERANCE, lloyd, start

    options, draws = job.options, Seeded(job.seed).lasting()

    def split(part: Points) -> Settled:
        centres = start(part, 2, draws, init=options.get("init", "random"))
        return lloyd(part, centres, tolerance=options.get("tol", TOLERANCE), rounds=options.get("max_iter", ROUNDS))

    strategy = options.get("bisecting_strategy", "biggest_inertia")
    return _settled(bisect(job.points, job.clusters, split, starts=job.n_init, strategy=strategy))


def _settled(found: Settled) -> Clustering:
    return Clustering(found.labels.astype(np.int64), len(found.centres), found.centres, found.inertia)


def _agglomerative(job: Job) -> Clustering:
    kind = import_module("sklearn.cluster").AgglomerativeClustering
    near = _join_neighbour if job.options.get("linkage") == "single" else _join_mean
    return _on_sample(job, lambda part: _made(kind, part, n_clusters=part.clusters), near)


def _dbscan(job: Job) -> Clustering:
    kind = import_module("sklearn.cluster").DBSCAN

    chosen: dict[str, float] = {}

    def make(part: Job) -> Any:
        near = int(part.options.get("min_samples", 5))
        given = {} if "eps" in part.options else {"eps": usual_gap(part.placed.vectors(), near)}
        chosen.update({name: float(f"{value:.2g}") for name, value in given.items()})
        return _made(kind, part, **given)

    return replace(_on_sample(job, make, _join_neighbour), chosen=chosen)


def usual_gap(vectors: Vectors, neighbours: int) -> float:
    """What 90 % of the records are at most away from as many neighbours as make a cluster, themselves among them."""
    wanted = min(neighbours, len(vectors))
    finder = import_module("sklearn.neighbors").NearestNeighbors(n_neighbors=wanted).fit(vectors)
    distances = _run(lambda: finder.kneighbors(vectors))[0][:, -1]
    return max(float(np.quantile(distances, 0.9)), 1e-6)


def _hdbscan(job: Job) -> Clustering:
    kind = import_module("sklearn.cluster").HDBSCAN
    return _on_sample(job, lambda part: _made(kind, part, copy=True), _join_neighbour)


def _kmedoids(job: Job) -> Clustering:
    vectors = job.placed.vectors(sample(job.placed.rows, SAMPLE_ROWS, job.seed))
    found = k_medoids(vectors, job.clusters, seed=job.seed, n_init=job.n_init)
    centres = vectors[found.medoids]
    return Clustering(_join(job.placed, centres), job.clusters, centres)


def _by_path(name: str, job: Job) -> Clustering:
    """A class of scikit-learn that is listed by its import path."""
    module, _, kind_name = name.rpartition(".")
    kind = getattr(import_module(module), kind_name)
    known = kind().get_params()

    def make(part: Job) -> Any:
        given = {"n_clusters": part.clusters, "n_components": part.clusters, "random_state": part.seed}
        return _made(kind, part, **{key: value for key, value in given.items() if key in known})

    return _on_sample(job, make, _join_neighbour, always_whole=kind_name in _SCALES)


def _made(kind: Any, job: Job, **given: Any) -> Any:
    """An estimator with the caller's options, which were checked before, and our settings, which come first."""
    return kind(**{**job.options, **given})


def _run(fit: Callable[[], Any]) -> Any:
    """Fit, and tell of parameters that scikit-learn refuses: its message shows those, and no data.

    What else it refuses it refuses for the records, such as one record alone: its message would count them.
    """
    try:
        return limited(fit)
    except ValueError as error:
        if type(error).__name__ != "InvalidParameterError":
            raise NoStructure(
                "clusters",
                "the clusterer finds clusters in the records",
                given="records that it refuses",
                remedy="ask for fewer clusters, or use another clusterer",
            ) from None
        raise RecipeError(
            "clusters",
            "the clusterer's options are what scikit-learn takes",
            given=str(error),
            remedy="mend the option",
        ) from None


Joining = Callable[[Placed, Vectors, Ints], Ints]


def _on_sample(job: Job, make: Callable[[Job], Any], join: Joining, *, always_whole: bool = False) -> Clustering:
    """Cluster all rows, or a sample of them that the others join. Only the sample becomes vectors."""
    n = job.placed.rows
    rows = np.arange(n) if always_whole else sample(n, SAMPLE_ROWS, job.seed)
    part = replace(job, placed=job.placed.take(rows))
    vectors = part.placed.vectors()
    found = _ints(_run(lambda: make(part).fit_predict(vectors)))
    labels = np.empty(n, dtype=np.int64)
    labels[rows] = found
    others = np.setdiff1d(np.arange(n), rows, assume_unique=True)
    if len(others):
        labels[others] = join(job.placed.take(others), vectors, found)
    return Clustering(labels, len(np.unique(labels[labels != NOISE])))


def _join_neighbour(others: Placed, sample: Vectors, labels: Ints) -> Ints:
    return np.asarray(labels[_join(others, sample)], dtype=np.int64)


def _join_mean(others: Placed, sample: Vectors, labels: Ints) -> Ints:
    means = [sample[labels == label].mean(axis=0) for label in range(int(labels.max()) + 1)]
    return _join(others, np.asarray(means, dtype=np.float32).astype(sample.dtype, copy=False))


def _join(placed: Placed, centres: NDArray[Any]) -> Ints:
    """The nearest centre of each record; some of them become vectors at a time."""
    nearest = import_module("sklearn.metrics").pairwise_distances_argmin
    found = []
    for at in watched(range(0, max(placed.rows, 1), JOINED)):
        part = placed.vectors(np.arange(at, min(at + JOINED, placed.rows)))
        found.append(_ints(_run(partial(nearest, part, centres))))
    return np.concatenate(found)


def sample(n: int, most: int, seed: int) -> Ints:
    """(rows,): all rows, or a repeatable sample of them, ascending."""
    if n <= most:
        return np.arange(n)
    return np.sort(Seeded(seed).generator().choice(n, most, replace=False))


def _ints(labels: Any) -> Ints:
    return np.asarray(labels, dtype=np.int64)


MOST_ROUNDS = 100


@dataclass(frozen=True, eq=False)
class Medoids:
    """The rows that represent their clusters, and the distances to them, added up."""

    medoids: Ints
    cost: float


def k_medoids(vectors: NDArray[Any], k: int, *, seed: int, n_init: int = 10) -> Medoids:
    """The best of `n_init` runs from medoids drawn far apart.

    >>> k_medoids(np.array([[0.0], [0.1], [0.2], [5.0]]), 2, seed=0).medoids.tolist()
    [1, 3]
    """
    measure = import_module("sklearn.metrics").pairwise_distances
    distances = limited(lambda: measure(vectors, metric="sqeuclidean"))
    generator = Seeded(seed).generator()
    runs = (_alternate(distances, _spread(distances, k, generator)) for _ in watched(range(n_init)))
    return min(runs, key=lambda run: run.cost)


def _spread(distances: NDArray[Any], k: int, generator: np.random.Generator) -> Ints:
    """Rows drawn with a chance in proportion to their distance from those drawn before."""
    chosen = [int(generator.integers(len(distances)))]
    while len(chosen) < k:
        gaps = distances[:, chosen].min(axis=1).astype(np.float64)
        if gaps.sum() <= 0:
            break
        chosen.append(int(generator.choice(len(gaps), p=gaps / gaps.sum())))
    return np.array(chosen, dtype=np.int64)


def _alternate(distances: NDArray[Any], medoids: Ints) -> Medoids:
    for _ in range(MOST_ROUNDS):
        checkpoint()
        nearest = distances[:, medoids].argmin(axis=1)
        better = np.array([_middle(distances, np.flatnonzero(nearest == at)) for at in np.unique(nearest)])
        if np.array_equal(better, medoids):
            break
        medoids = better
    return Medoids(np.sort(medoids), float(distances[:, medoids].min(axis=1).sum()))


def _middle(distances: NDArray[Any], members: Ints) -> int:
    """The member with the least total distance to the others."""
    return int(members[distances[np.ix_(members, members)].sum(axis=0).argmin()])
