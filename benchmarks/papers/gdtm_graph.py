"""Clustering by a graph of neighbours, in the place of Chameleon, of which there is no kept library (PAPERS.md, 004-6).

Parts of the graph are merged along its edges, those first whose points stay nearest to their mean: scikit-learn's Ward
linkage with the graph as its connectivity. Chameleon begins with parts that hMETIS cuts and weighs how strongly they
are tied; merging by such ties alone was tried, and leaves records moved by noise as clusters of their own.
"""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray

from sfumato.arrays import Floats

NEIGHBOURS = 10


def by_graph(data: Floats, k: int, seed: int) -> NDArray[np.int64]:
    """(rows,): k clusters of points; nothing is left to chance."""
    from sklearn.cluster import AgglomerativeClustering
    from sklearn.neighbors import kneighbors_graph

    points = data / (1, 1000)
    near = kneighbors_graph(points, NEIGHBOURS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a graph in several pieces is joined, as it should be
        found = AgglomerativeClustering(k, connectivity=near.maximum(near.T), linkage="ward").fit_predict(points)
    return np.asarray(found, dtype=np.int64)
