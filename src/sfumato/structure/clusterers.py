"""Clusterers by name. Each is deterministic given its seed: it runs in one thread and draws from nothing else.

| name | is | centres | weights |
|---|---|---|---|
| `kmeans` | Lloyd's k-means from scikit-learn; its mini-batch form above `MINI_BATCH_ROWS` rows | yes | yes |
| `bisecting` | bisecting k-means from scikit-learn | yes | yes |
| `ward`, `complete`, `average`, `single` | agglomerative clustering, on a sample | no | no |
| `agglomerative` | the same, with `linkage=` among the options (ward if none) | no | no |
| `dbscan`, `hdbscan` | density clusters, on a sample; they find the number of clusters, and noise (-1) | no | no |
| `kmedoids` | alternating k-medoids on the path distance, on a sample | yes | no |
| `sklearn.cluster.Birch`, ... | any clusterer of scikit-learn by its import path | maybe | no |

"On a sample": above `SAMPLE_ROWS` rows a seeded sample of that size is clustered. The other records join the
nearest medoid or cluster mean; after single linkage, density clustering and clusterers given by import path
they join the cluster of their nearest sampled neighbour.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import RecipeError, did_you_mean
from sfumato.randomness import Seeded
from sfumato.structure.medoids import k_medoids

Vectors = NDArray[np.float32] | NDArray[np.float64]
Weights = NDArray[np.float64]
Ints = NDArray[np.int64]
Number = int | Literal["auto"]

MINI_BATCH_ROWS = 500_000
"""Above this many rows k-means learns from batches."""
SAMPLE_ROWS = 5_000
"""Above this many rows quadratic methods cluster a sample of this size."""
AUTO_RANGE = range(2, 11)
"""The numbers of clusters that k = "auto" tries; the highest silhouette wins, the smaller number on a tie."""
AUTO_ROWS = 2_000
"""Above this many rows that silhouette is taken on a sample of this size."""
NOISE = -1

_LINKAGES = ("ward", "complete", "average", "single")
_FINDS_K = ("dbscan", "hdbscan")
_TAKES_WEIGHTS = ("kmeans", "bisecting")
_SCALES = ("Birch", "KMeans", "MiniBatchKMeans", "BisectingKMeans")
_PATH = re.compile(r"sklearn(\.[a-z]\w*)+\.[A-Z]\w*")
NAMES = ("kmeans", "bisecting", "agglomerative", *_LINKAGES, *_FINDS_K, "kmedoids")


@dataclass(frozen=True, eq=False)
class Clustering:
    """Clusters of records, the largest first: `labels` from 0 to k - 1, and -1 for noise.

    `centres` (k, dims) and `inertia` (squared distances to them, added up) where the method has them.
    """

    labels: Ints
    k: int
    centres: Vectors | None = None
    inertia: float | None = None


@dataclass(frozen=True, eq=False)
class _Job:
    vectors: Vectors
    k: Number
    seed: int
    n_init: int
    centres: Vectors | None
    weights: Weights | None
    options: Mapping[str, Any]

    @property
    def clusters(self) -> int:
        """The number of clusters, never more than there are rows."""
        return min(int(self.k), len(self.vectors))


def check_clusterer(name: str) -> None:
    """Refuse a clusterer that is neither a name of ours nor an import path of scikit-learn."""
    if name not in NAMES and not _PATH.fullmatch(name):
        raise RecipeError(
            "clusters",
            "a clusterer is one of ours, or a class of scikit-learn by its import path",
            given=repr(name),
            remedy=did_you_mean(name, NAMES) + ", or an import path such as sklearn.cluster.Birch",
        )


def finds_k(name: str) -> bool:
    """Whether a clusterer finds the number of clusters by itself."""
    return name in _FINDS_K


def takes_weights(name: str) -> bool:
    """Whether a clusterer can cluster each distinct record once, weighted by how often it occurs."""
    return name in _TAKES_WEIGHTS


def cluster(
    vectors: Vectors,
    clusterer: str,
    *,
    k: Number = "auto",
    seed: int = 0,
    n_init: int = 10,
    centres: Vectors | None = None,
    weights: Weights | None = None,
    **options: Any,
) -> Clustering:
    """Cluster records. `centres` starts k-means there, once. `options` go to the clusterer.

    >>> cluster(np.array([[0.0], [0.1], [5.0]]), "kmeans", k=2).labels.tolist()
    [0, 0, 1]
    """
    check_clusterer(clusterer)
    _refuse_unused(clusterer, centres, weights)
    job = _Job(vectors, k, seed, n_init, centres, weights, options)
    limits = import_module("threadpoolctl").threadpool_limits
    with limits(limits=1), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # fewer distinct points than clusters: what is found says so
        if k == "auto" and not finds_k(clusterer):
            return _auto(job, clusterer)
        return _by_size(_fit(clusterer)(job), weights)


def _refuse_unused(clusterer: str, centres: Vectors | None, weights: Weights | None) -> None:
    if centres is not None and clusterer != "kmeans":
        raise RecipeError("clusters", "only k-means starts from given centres", given=clusterer,
                          remedy="leave the centres out, or use kmeans")  # fmt: skip
    if weights is not None and not takes_weights(clusterer):
        raise RecipeError("clusters", "this clusterer takes no weights", given=clusterer,
                          remedy="give it all records, or use one of: " + ", ".join(_TAKES_WEIGHTS))  # fmt: skip


def _fit(name: str) -> Callable[[_Job], Clustering]:
    if name in _LINKAGES:
        return lambda job: _agglomerative(replace(job, options={**job.options, "linkage": name}))
    ours = {"kmeans": _kmeans, "bisecting": _bisecting, "agglomerative": _agglomerative, "dbscan": _dbscan,
            "hdbscan": _hdbscan, "kmedoids": _kmedoids}  # fmt: skip
    return ours[name] if name in ours else lambda job: _by_path(name, job)


def _auto(job: _Job, name: str) -> Clustering:
    """The number of clusters with the best silhouette on a sample."""
    best, best_score = None, -2.0
    rows = _sample(len(job.vectors), AUTO_ROWS, job.seed)
    for k in AUTO_RANGE:
        found = _by_size(_fit(name)(replace(job, k=k)), job.weights)
        score = _silhouette(job.vectors[rows], found.labels[rows])
        if best is None or score > best_score + 1e-12:
            best, best_score = found, score
    if best is None:
        raise AssertionError("the range of k is not empty")
    return best


def _silhouette(vectors: Vectors, labels: Ints) -> float:
    if not 1 < len(np.unique(labels)) < len(labels):
        return -1.0
    return float(import_module("sklearn.metrics").silhouette_score(vectors, labels))


def _kmeans(job: _Job) -> Clustering:
    if job.centres is not None and len(job.centres) > len(job.vectors):
        return Clustering(_join(job.vectors, job.centres), len(job.centres), job.centres)  # nothing to average
    module = import_module("sklearn.cluster")
    kind = module.MiniBatchKMeans if len(job.vectors) > MINI_BATCH_ROWS else module.KMeans
    batch = {"batch_size": 10_000} if kind is module.MiniBatchKMeans else {}
    start = {"init": job.centres, "n_init": 1} if job.centres is not None else {"n_init": job.n_init}
    k = job.clusters if job.centres is None else len(job.centres)
    return _centred(_made(kind, job, n_clusters=k, random_state=job.seed, **batch, **start), job)


def _bisecting(job: _Job) -> Clustering:
    kind = import_module("sklearn.cluster").BisectingKMeans
    return _centred(_made(kind, job, n_clusters=job.clusters, random_state=job.seed, n_init=job.n_init), job)


def _centred(estimator: Any, job: _Job) -> Clustering:
    fitted = _run(lambda: estimator.fit(job.vectors, sample_weight=job.weights))
    return Clustering(_ints(fitted.labels_), job.clusters, fitted.cluster_centers_, float(fitted.inertia_))


def _agglomerative(job: _Job) -> Clustering:
    kind = import_module("sklearn.cluster").AgglomerativeClustering
    near = _join_neighbour if job.options.get("linkage") == "single" else _join_mean
    return _on_sample(job, lambda part: _made(kind, part, n_clusters=part.clusters), near)


def _dbscan(job: _Job) -> Clustering:
    kind = import_module("sklearn.cluster").DBSCAN

    def make(part: _Job) -> Any:
        given = {} if "eps" in part.options else {"eps": _usual_gap(part)}
        return _made(kind, part, **given)

    return _on_sample(job, make, _join_neighbour)


def _usual_gap(job: _Job) -> float:
    """What 90 % of the records are at most away from as many neighbours as make a cluster."""
    wanted = min(int(job.options.get("min_samples", 5)), len(job.vectors))
    finder = import_module("sklearn.neighbors").NearestNeighbors(n_neighbors=wanted).fit(job.vectors)
    distances = finder.kneighbors(job.vectors)[0][:, -1]
    return max(float(np.quantile(distances, 0.9)), 1e-6)


def _hdbscan(job: _Job) -> Clustering:
    kind = import_module("sklearn.cluster").HDBSCAN
    return _on_sample(job, lambda part: _made(kind, part, copy=True), _join_neighbour)


def _kmedoids(job: _Job) -> Clustering:
    if job.options:
        raise RecipeError("kmedoids", "it has no options", given=", ".join(job.options), remedy="leave them out")
    rows = _sample(len(job.vectors), SAMPLE_ROWS, job.seed)
    found = k_medoids(job.vectors[rows], job.clusters, seed=job.seed, n_init=job.n_init)
    centres = job.vectors[rows][found.medoids]
    return Clustering(_join(job.vectors, centres), job.clusters, centres)


def _by_path(name: str, job: _Job) -> Clustering:
    module, _, kind_name = name.rpartition(".")
    try:
        kind = getattr(import_module(module), kind_name)
        known = kind().get_params()
    except (ImportError, AttributeError, TypeError):
        raise RecipeError("clusters", "the import path names a clusterer of scikit-learn", given=name,
                          remedy="write for example sklearn.cluster.Birch") from None  # fmt: skip
    if not hasattr(kind, "fit_predict"):
        raise RecipeError("clusters", "a clusterer labels records (fit_predict)", given=name,
                          remedy="name a class of sklearn.cluster")  # fmt: skip

    def make(part: _Job) -> Any:
        given = {"n_clusters": part.clusters, "n_components": part.clusters, "random_state": part.seed}
        return _made(kind, part, **{key: value for key, value in given.items() if key in known})

    return _on_sample(job, make, _join_neighbour, always_whole=kind_name in _SCALES)


def _made(kind: Any, job: _Job, **given: Any) -> Any:
    """An estimator with our settings and the caller's options; unknown options are refused."""
    known = kind().get_params()
    for option in job.options:
        if option not in known:
            raise RecipeError(kind.__name__, "an option is one of the clusterer's parameters", given=repr(option),
                              remedy=did_you_mean(option, known))  # fmt: skip
    return kind(**{**given, **job.options})


def _run(fit: Callable[[], Any]) -> Any:
    """Fit, and tell of parameters that scikit-learn refuses: its message shows those, and no data."""
    try:
        return fit()
    except ValueError as error:
        if type(error).__name__ != "InvalidParameterError":
            raise
        raise RecipeError("clusters", "the clusterer's options are what scikit-learn takes", given=str(error),
                          remedy="mend the option") from None  # fmt: skip


Joining = Callable[[Vectors, Vectors, Ints], Ints]


def _on_sample(job: _Job, make: Callable[[_Job], Any], join: Joining, *, always_whole: bool = False) -> Clustering:
    """Cluster all rows, or a sample of them that the others join."""
    n = len(job.vectors)
    rows = np.arange(n) if always_whole else _sample(n, SAMPLE_ROWS, job.seed)
    part = replace(job, vectors=job.vectors[rows])
    found = _ints(_run(lambda: make(part).fit_predict(part.vectors)))
    labels = np.empty(n, dtype=np.int64)
    labels[rows] = found
    others = np.setdiff1d(np.arange(n), rows, assume_unique=True)
    if len(others):
        labels[others] = join(job.vectors[others], part.vectors, found)
    return Clustering(labels, len(np.unique(labels[labels != NOISE])))


def _join_neighbour(others: Vectors, sample: Vectors, labels: Ints) -> Ints:
    return np.asarray(labels[_join(others, sample)], dtype=np.int64)


def _join_mean(others: Vectors, sample: Vectors, labels: Ints) -> Ints:
    means = [sample[labels == label].mean(axis=0) for label in range(int(labels.max()) + 1)]
    return _join(others, np.asarray(means, dtype=np.float32).astype(sample.dtype, copy=False))


def _join(vectors: Vectors, centres: NDArray[Any]) -> Ints:
    return _ints(import_module("sklearn.metrics").pairwise_distances_argmin(vectors, centres))


def _sample(n: int, most: int, seed: int) -> Ints:
    """(rows,): all rows, or a repeatable sample of them, ascending."""
    if n <= most:
        return np.arange(n)
    return np.sort(Seeded(seed).generator().choice(n, most, replace=False))


def _ints(labels: Any) -> Ints:
    return np.asarray(labels, dtype=np.int64)


def _by_size(found: Clustering, weights: Weights | None) -> Clustering:
    """The same clusters, the largest first and empty ones gone; of equal size, the one that appears first."""
    labels, first = np.unique(found.labels[found.labels != NOISE], return_index=True)
    real = found.labels != NOISE
    sizes = np.bincount(found.labels[real], weights=None if weights is None else weights[real])
    order = sorted(range(len(labels)), key=lambda at: (-sizes[labels[at]], first[at]))
    rank = np.full(len(sizes) + 1, NOISE, dtype=np.int64)  # the last entry is for noise
    rank[labels[order]] = np.arange(len(order))
    centres = None if found.centres is None else found.centres[labels[order]]
    return Clustering(rank[found.labels], len(order), centres, found.inertia)
