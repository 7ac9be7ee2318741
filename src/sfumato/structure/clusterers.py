"""Clusterers by name. Each is deterministic given its seed: it runs in one thread and draws from nothing else.

| name | is | centres | weights |
|---|---|---|---|
| `kmeans` | Lloyd's k-means from scikit-learn; its mini-batch form above `MINI_BATCH_ROWS` rows | yes | yes |
| `bisecting` | bisecting k-means from scikit-learn | yes | yes |
| `ward`, `complete`, `average`, `single` | agglomerative clustering, on a sample | no | no |
| `agglomerative` | the same, with `linkage=` among the options (ward if none) | no | no |
| `dbscan`, `hdbscan` | density clusters, on a sample; they find the number of clusters, and noise (-1) | no | no |
| `kmedoids` | alternating k-medoids on the path distance, on a sample | yes | no |
| `sklearn.cluster.Birch`, ... | those of scikit-learn that `options` lists, by their import path | maybe | no |

"On a sample": above `SAMPLE_ROWS` rows a seeded sample of that size is clustered. The other records join the
nearest medoid or cluster mean; after single linkage, density clustering and clusterers given by import path
they join the cluster of their nearest sampled neighbour.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from importlib import import_module
from typing import Any

import numpy as np

from sfumato.errors import RecipeError, did_you_mean
from sfumato.structure.methods import NOISE, Clustering, Ints, Job, Number, Vectors, Weights, method, sample
from sfumato.structure.options import IMPORTED, OURS, check_options

AUTO_RANGE = range(2, 11)
"""The numbers of clusters that k = "auto" tries; the highest silhouette wins, the smaller number on a tie."""
AUTO_ROWS = 2_000
"""Above this many rows that silhouette is taken on a sample of this size."""

_FINDS_K = ("dbscan", "hdbscan")
_TAKES_WEIGHTS = ("kmeans", "bisecting")
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
    check_options(clusterer, options)
    _refuse_unused(clusterer, centres, weights)
    job = Job(vectors, k, seed, n_init, centres, weights, options)
    limits = import_module("threadpoolctl").threadpool_limits
    with limits(limits=1), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # fewer distinct points than clusters: what is found says so
        if k == "auto" and not finds_k(clusterer):
            return _auto(job, clusterer)
        return _by_size(method(clusterer)(job), weights)


def _refuse_unused(clusterer: str, centres: Vectors | None, weights: Weights | None) -> None:
    if centres is not None and clusterer != "kmeans":
        raise RecipeError("clusters", "only k-means starts from given centres", given=clusterer,
                          remedy="leave the centres out, or use kmeans")  # fmt: skip
    if weights is not None and not takes_weights(clusterer):
        raise RecipeError("clusters", "this clusterer takes no weights", given=clusterer,
                          remedy="give it all records, or use one of: " + ", ".join(_TAKES_WEIGHTS))  # fmt: skip


def _auto(job: Job, name: str) -> Clustering:
    """The number of clusters with the best silhouette on a sample."""
    best, best_score = None, -2.0
    rows = sample(len(job.vectors), AUTO_ROWS, job.seed)
    for k in AUTO_RANGE:
        found = _by_size(method(name)(replace(job, k=k)), job.weights)
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
