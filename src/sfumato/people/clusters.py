"""Clusters that a recipient finds in the points of a release, beyond those that its centres lead to."""

from __future__ import annotations

from importlib import import_module

import numpy as np
from numpy.typing import NDArray

from sfumato.arrays import Floats
from sfumato.structure.clusterers import cluster
from sfumato.structure.coded_points import Block, Placed
from sfumato.structure.density import masked_options

STARTS = 30
"""Cold starts of k-means, where there are no centres to start from."""


def cluster_points(points: Floats, k: int) -> NDArray[np.int64]:
    """(rows,): k clusters by scikit-learn's k-means, the best of many starts, the largest first."""
    kmeans = import_module("sklearn.cluster").KMeans(n_clusters=k, n_init=STARTS, random_state=0)
    labels: NDArray[np.int64] = kmeans.fit(points).labels_.astype(np.int64)
    order = np.argsort(-np.bincount(labels), kind="stable")
    return np.argsort(order)[labels]


def clusters_by_density(points: Floats, method: str) -> NDArray[np.int64]:
    """(rows,): clusters of masked rows, the largest first; -1 where there is none."""
    places, of_row = np.unique(points, axis=0, return_inverse=True)
    placed = Placed((Block(of_row.ravel(), places.astype(np.float32)),), len(points))
    return cluster(placed, method, **masked_options(method, {}, placed)).labels
