"""Clusters by density in a masked table: settings that follow from its rows alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from sfumato.people.clusters import clusters_by_density
from sfumato.structure.clusterers import cluster
from sfumato.structure.coded_points import Block, Placed
from sfumato.structure.density import masked_options

ROWS = 10


def masked() -> tuple[NDArray[Any], NDArray[Any]]:
    """Three heaps of 20 points with ten rows at each, as a mask makes them; and the heap of each row."""
    chance = np.random.default_rng(2)
    points = np.repeat([(0, 0), (1, 0.2), (0.3, 1)], 20, axis=0) + chance.normal(0, 0.04, (60, 2))
    return np.repeat(points, ROWS, axis=0), np.repeat(np.arange(3), 20 * ROWS)


@pytest.mark.parametrize("method", ["dbscan", "hdbscan"])
def test_heaps_of_masked_rows_are_found_where_raw_settings_find_points(method: str) -> None:
    rows, heap = masked()
    options: dict[str, Any] = {"eps": 1e-4} if method == "dbscan" else {}
    raw = cluster(rows, method, **options)
    found = clusters_by_density(rows, method)
    assert raw.k == 60, "every point is a cluster of its own"
    near = [np.bincount(found[heap == one] + 1).argmax() - 1 for one in range(3)]
    assert sorted(near) == [0, 1, 2]
    assert np.mean(found == np.array(near)[heap]) > 0.9


def test_settings_follow_from_rows_and_never_fall_below_those_that_are_given() -> None:
    points, of_row = np.unique(masked()[0], axis=0, return_inverse=True)
    placed = Placed((Block(of_row.ravel(), points.astype(np.float32)),), len(of_row))
    assert masked_options("hdbscan", {}, placed) == {"min_samples": 5, "min_cluster_size": 4 * ROWS}
    assert masked_options("hdbscan", {"min_cluster_size": 90, "alpha": 0.5}, placed)["min_cluster_size"] == 90
    found = masked_options("dbscan", {"eps": 0.001}, placed)
    assert found["min_samples"] == 2 * ROWS
    assert 0.01 < found["eps"] < 0.2
    assert masked_options("kmeans", {"tol": 0.1}, placed) == {"tol": 0.1}
    few = placed.take(np.arange(30 * ROWS))
    assert masked_options("hdbscan", {"min_samples": 7}, few) == {"min_samples": 7}, "each point may be a cluster"
