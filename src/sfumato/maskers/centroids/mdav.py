"""MDAV, the field's standard: classes of the k records nearest to the farthest ones."""

from __future__ import annotations

from sfumato.maskers.centroids.points import Ints, Points


def mdav(points: Points, k: int) -> Ints:
    """Classes of k to 2k - 1 records, all but the last of exactly k.

    While 3k records are left: the record farthest from the mean and the record farthest from that one each
    make a class with their k - 1 nearest. Of 2k to 3k - 1 records the farthest from the mean makes a class;
    what is left is the last. Distances to all records left are taken three times in each turn: n * n / k.

    >>> import numpy as np
    >>> mdav(Points.of(np.array([[1.0], [9.0], [2.0], [8.0]])), 2).tolist()
    [0, 1, 0, 1]
    """
    from sfumato.maskers.centroids import mdav_kernels

    return mdav_kernels.mdav(points.vectors, k)
