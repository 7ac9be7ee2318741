"""Clusterers by name. Each is deterministic given its seed: it runs in one thread and draws from nothing else.

| name | is | centres | weights |
|---|---|---|---|
| `kmeans` | Lloyd's k-means on codes: `sfumato.structure.kmeans` | yes | yes |
| `bisecting` | bisecting k-means, on the same | yes | yes |
| `ward`, `complete`, `average`, `single` | agglomerative clustering, on a sample | no | no |
| `agglomerative` | the same, with `linkage=` among the options (ward if none) | no | no |
| `dbscan`, `hdbscan` | density clusters, on a sample; they find the number of clusters, and noise (-1) | no | no |
| `kmedoids` | alternating k-medoids on the path distance, on a sample | yes | no |
| `sklearn.cluster.Birch`, ... | those of scikit-learn that `options` lists, by their import path | maybe | no |

k-means takes records in codes, however many there are; it draws, begins and ends as scikit-learn's does. "On a
sample": above `SAMPLE_ROWS` rows a seeded sample of that size is clustered. The other records join the nearest medoid
or cluster mean; after single linkage, density clustering and clusterers given by import path they join the cluster of
their nearest sampled neighbour.

Which options each takes is listed here, plain numbers, truth values and names, each within its limits: options reach
scikit-learn's constructors, where a text can mean much, the name of a cache of pickles or of a module's function. So
everything else is refused before it gets there.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any

import numpy as np

from sfumato.arrays import Ints
from sfumato.errors import RecipeError, did_you_mean
from sfumato.events import checkpoint, watched
from sfumato.structure.coded_points import Placed, Vectors
from sfumato.structure.methods import (
    LINKAGES,
    NOISE,
    Clustering,
    Job,
    Number,
    Weights,
    method,
    sample,
)
from sfumato.structure.silhouettes import silhouettes_of


@dataclass(frozen=True)
class Numbers:
    """Numbers from `least` to `most`, whole ones alone if it says so."""

    least: float
    most: float
    whole: bool = False

    def takes(self, given: object) -> bool:
        """Whether it is such a number; true is none."""
        kinds = int if self.whole else int | float
        return isinstance(given, kinds) and not isinstance(given, bool) and self.least <= given <= self.most

    def __str__(self) -> str:
        return f"a {'whole ' if self.whole else ''}number from {self.least:g} to {self.most:g}"


@dataclass(frozen=True)
class Names:
    """One of some texts."""

    names: tuple[str, ...]

    def takes(self, given: object) -> bool:
        """Whether it is one of them."""
        return isinstance(given, str) and given in self.names

    def __str__(self) -> str:
        return "one of " + ", ".join(self.names)


@dataclass(frozen=True)
class Truth:
    """True or false."""

    def takes(self, given: object) -> bool:
        """Whether it is one of both."""
        return isinstance(given, bool)

    def __str__(self) -> str:
        return "true or false"


Takes = Numbers | Names | Truth
_ROUNDS = Numbers(1, 10_000, whole=True)
_SHARE = Numbers(0, 1)
_DISTANCE = Numbers(1e-9, 1e9)
_FEW = Numbers(1, 5_000, whole=True)
_METRIC = Names(("euclidean", "manhattan", "l1", "l2", "cosine"))
_CENTRED: dict[str, Takes] = {
    "init": Names(("k-means++", "random")),
    "max_iter": _ROUNDS,
    "tol": _SHARE,
    "algorithm": Names(("lloyd",)),
}
_THEIRS: dict[str, Takes] = {**_CENTRED, "algorithm": Names(("lloyd", "elkan"))}
_STRATEGY: dict[str, Takes] = {"bisecting_strategy": Names(("biggest_inertia", "largest_cluster"))}
_DENSE: dict[str, Takes] = {
    "min_samples": _FEW,
    "metric": _METRIC,
    "algorithm": Names(("auto", "brute", "kd_tree", "ball_tree")),
    "leaf_size": _FEW,
}
_MIXED: dict[str, Takes] = {
    "covariance_type": Names(("full", "tied", "diag", "spherical")),
    "tol": _SHARE,
    "reg_covar": _SHARE,
    "max_iter": _ROUNDS,
    "init_params": Names(("kmeans", "k-means++", "random", "random_from_data")),
}
_DBSCAN = {**_DENSE, "eps": _DISTANCE}
_HDBSCAN = {
    **_DENSE,
    "min_cluster_size": Numbers(2, 5_000, whole=True),
    "max_cluster_size": Numbers(2, 5_000, whole=True),
    "cluster_selection_epsilon": Numbers(0, 1e9),
    "cluster_selection_method": Names(("eom", "leaf")),
    "allow_single_cluster": Truth(),
    "alpha": _DISTANCE,
}
_LINKED: dict[str, Takes] = {"metric": _METRIC}

OURS: Mapping[str, Mapping[str, Takes]] = {
    "kmeans": _CENTRED,
    "bisecting": {**_CENTRED, **_STRATEGY},
    "agglomerative": {**_LINKED, "linkage": Names(LINKAGES)},
    **{name: {} if name == "ward" else _LINKED for name in LINKAGES},
    "dbscan": _DBSCAN,
    "hdbscan": _HDBSCAN,
    "kmedoids": {},
}
"""The clusterers of ours, with the options of each."""

IMPORTED: Mapping[str, Mapping[str, Takes]] = {
    "sklearn.cluster.AffinityPropagation": {"damping": Numbers(0.5, 0.999), "max_iter": _ROUNDS},
    "sklearn.cluster.AgglomerativeClustering": {**_LINKED, "linkage": Names(LINKAGES)},
    "sklearn.cluster.Birch": {"threshold": _DISTANCE, "branching_factor": Numbers(2, 1_000, whole=True)},
    "sklearn.cluster.BisectingKMeans": {**_THEIRS, **_STRATEGY},
    "sklearn.cluster.DBSCAN": _DBSCAN,
    "sklearn.cluster.HDBSCAN": _HDBSCAN,
    "sklearn.cluster.KMeans": _THEIRS,
    "sklearn.cluster.MeanShift": {"bandwidth": _DISTANCE, "cluster_all": Truth(), "max_iter": _ROUNDS},
    "sklearn.cluster.MiniBatchKMeans": {
        **{name: takes for name, takes in _CENTRED.items() if name != "algorithm"},
        "batch_size": Numbers(1, 1_000_000, whole=True),
    },
    "sklearn.cluster.OPTICS": {**_DENSE, "max_eps": _DISTANCE, "xi": _SHARE},
    "sklearn.cluster.SpectralClustering": {
        "affinity": Names(("rbf", "nearest_neighbors")),
        "gamma": _DISTANCE,
        "n_neighbors": _FEW,
        "assign_labels": Names(("kmeans", "discretize", "cluster_qr")),
    },
    "sklearn.mixture.BayesianGaussianMixture": _MIXED,
    "sklearn.mixture.GaussianMixture": _MIXED,
}
"""The clusterers of scikit-learn that can be named by their import path, with the options of each."""


def check_options(clusterer: str, options: object) -> None:
    """Refuse options that are not listed for a clusterer, and values that are none of theirs."""
    takes = {**OURS, **IMPORTED}[clusterer]
    if not isinstance(options, Mapping):
        raise RecipeError(
            "options", "options are given by their names", given=type(options).__name__, remedy="write {eps: 0.3}"
        )
    for name, given in options.items():
        if name not in takes:
            raise RecipeError(
                clusterer,
                "an option is one that is listed for the clusterer",
                given=_told(name),
                remedy=did_you_mean(str(name), takes),
            )
        if not takes[name].takes(given):
            raise RecipeError(
                f"{clusterer}: {name}", f"it is {takes[name]}", given=_told(given), remedy="mend it, or leave it out"
            )


def _told(given: Any) -> str:
    return repr(given) if isinstance(given, str | int | float) else type(given).__name__


AUTO_RANGE = range(2, 11)
"""The numbers of clusters that k = "auto" tries; the highest silhouette wins, the smaller number on a tie."""
AUTO_ROWS = 2_000
"""Above this many rows that silhouette is taken on a sample of this size."""

LOADED = ("scipy.optimize", "scipy.stats", "sklearn.utils", "sklearn.metrics", "sklearn.cluster")
"""What scikit-learn's clusterers need, loaded one after the other: all of it at once takes a second."""
OURS_LOADED = ("llvmlite.binding", "numba", "sfumato.structure.kmeans.lloyd")
"""What k-means on codes needs."""
_ON_CODES = ("kmeans", "bisecting")
_FINDS_K = ("dbscan", "hdbscan")
_TAKES_WEIGHTS = ("kmeans", "bisecting")
_TAKES_STARTS = ("kmeans", "bisecting", "kmedoids")
NAMES = tuple(OURS)


def check_clusterer(name: str) -> None:
    """Refuse a clusterer that is neither a name of ours nor the import path of a listed one of scikit-learn."""
    if not isinstance(name, str) or name not in (*NAMES, *IMPORTED):
        raise RecipeError(
            "clusters",
            "a clusterer is one of ours, or one of scikit-learn's that are listed, by its import path",
            given=repr(name),
            remedy=did_you_mean(str(name), [*NAMES, *IMPORTED]),
        )


def finds_k(name: str) -> bool:
    """Whether a clusterer finds the number of clusters by itself."""
    return name in _FINDS_K


def takes_weights(name: str) -> bool:
    """Whether a clusterer can cluster each distinct record once, weighted by how often it occurs."""
    return name in _TAKES_WEIGHTS


def takes_starts(name: str) -> bool:
    """Whether a clusterer begins at random, several times, and keeps the best."""
    return name in _TAKES_STARTS


def cluster(
    records: Placed | Vectors,
    clusterer: str,
    *,
    k: Number = "auto",
    seed: int = 0,
    n_init: int = 10,
    centres: Vectors | None = None,
    weights: Weights | None = None,
    **options: Any,
) -> Clustering:
    """Cluster records, placed or as vectors. `centres` starts k-means there, once. `options` go to the clusterer.

    >>> cluster(np.array([[0.0], [0.1], [5.0]]), "kmeans", k=2).labels.tolist()
    [0, 0, 1]
    """
    check_clusterer(clusterer)
    check_options(clusterer, options)
    _refuse_unused(clusterer, centres, weights)
    placed = records if isinstance(records, Placed) else Placed.of(records)
    job = Job(placed=placed, k=k, seed=seed, n_init=n_init, centres=centres, weights=weights, options=options)
    for library in OURS_LOADED if clusterer in _ON_CODES else LOADED:
        checkpoint()
        import_module(library)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # fewer distinct points than clusters: what is found says so
        if k == "auto" and not finds_k(clusterer):
            return _auto(job, clusterer)
        return by_size(method(clusterer)(job), weights)


def _refuse_unused(clusterer: str, centres: Vectors | None, weights: Weights | None) -> None:
    if centres is not None and clusterer != "kmeans":
        raise RecipeError(
            "clusters",
            "only k-means starts from given centres",
            given=clusterer,
            remedy="leave the centres out, or use kmeans",
        )
    if weights is not None and not takes_weights(clusterer):
        raise RecipeError(
            "clusters",
            "this clusterer takes no weights",
            given=clusterer,
            remedy="give it all records, or use one of: " + ", ".join(_TAKES_WEIGHTS),
        )


def _auto(job: Job, name: str) -> Clustering:
    """The number of clusters with the best silhouette on a sample."""
    best, best_score = None, -2.0
    rows = _some(job)
    vectors = job.placed.vectors(rows)
    for k in watched(AUTO_RANGE):
        found = by_size(method(name)(replace(job, k=k)), job.weights)
        score = _silhouette(vectors, found.labels[rows])
        if best is None or score > best_score + 1e-12:
            best, best_score = found, score
    if best is None:
        raise AssertionError("the range of k is not empty")
    return best


def _some(job: Job) -> Ints:
    """Records whose silhouette is taken, each as often as its weight says."""
    if job.weights is None:
        return sample(job.placed.rows, AUTO_ROWS, job.seed)
    ends = np.cumsum(job.weights)
    return np.searchsorted(ends, sample(int(ends[-1]), AUTO_ROWS, job.seed), side="right").clip(max=len(ends) - 1)


def _silhouette(vectors: Vectors, labels: Ints) -> float:
    clusters, codes = np.unique(labels, return_inverse=True)
    return silhouettes_of(vectors, [codes])[0] if 1 < len(clusters) < len(labels) else -1.0


def by_size(found: Clustering, weights: Weights | None) -> Clustering:
    """The same clusters, the largest first and empty ones gone; of equal size, the one that appears first."""
    labels, first = np.unique(found.labels[found.labels != NOISE], return_index=True)
    real = found.labels != NOISE
    sizes = np.bincount(found.labels[real], weights=None if weights is None else weights[real])
    order = sorted(range(len(labels)), key=lambda at: (-sizes[labels[at]], first[at]))
    rank = np.full(len(sizes) + 1, NOISE, dtype=np.int64)  # the last entry is for noise
    rank[labels[order]] = np.arange(len(order))
    centres = None if found.centres is None else found.centres[labels[order]]
    return Clustering(rank[found.labels], len(order), centres, found.inertia, found.chosen)
