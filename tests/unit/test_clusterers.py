"""Every clusterer by name: it finds planted groups, repeats itself, and refuses what it cannot use."""

from __future__ import annotations

import threading
from importlib import import_module
from typing import Any

import numpy as np
import pytest

from sfumato.errors import NoStructure, RecipeError, Stopped
from sfumato.evaluation.clusters import f_measure
from sfumato.events import Stop, running
from sfumato.structure import methods
from sfumato.structure.clusterers import NAMES, cluster, finds_k, takes_weights
from sfumato.structure.methods import k_medoids

threadpool_info: Any = import_module("threadpoolctl").threadpool_info
SIZES = (60, 40, 20)
PLANTED = np.repeat([0, 1, 2], SIZES)


def blobs(seed: int = 0) -> np.ndarray:
    """Three groups far apart; the largest comes first."""
    generator = np.random.default_rng(seed)
    middles = np.array([[0, 0], [1, 0], [0, 1]])[PLANTED]
    return np.asarray(middles + generator.normal(0, 0.03, middles.shape), dtype=np.float32)


def k_for(name: str) -> Any:
    return "auto" if finds_k(name) else 3


def options_for(name: str) -> dict[str, Any]:
    return {"threshold": 0.2} if name.endswith("Birch") else {"eps": 0.2} if name == "dbscan" else {}


@pytest.mark.parametrize("name", [*NAMES, "sklearn.cluster.Birch", "sklearn.cluster.SpectralClustering"])
def test_planted_groups_are_found(name: str) -> None:
    found = cluster(blobs(), name, k=k_for(name), **options_for(name))
    assert f_measure(PLANTED, found.labels) > 0.9
    assert found.k == 3


@pytest.mark.parametrize("name", [*NAMES, "sklearn.cluster.Birch"])
def test_above_the_sample_size_the_others_join_the_nearest(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(methods, "SAMPLE_ROWS", 50)
    monkeypatch.setattr(methods, "_SCALES", ())
    found = cluster(blobs(), name, k=k_for(name), **options_for(name))
    assert len(found.labels) == sum(SIZES)
    assert f_measure(PLANTED, found.labels) > 0.85


@pytest.mark.parametrize("name", NAMES)
def test_the_same_seed_gives_the_same_clusters(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(methods, "SAMPLE_ROWS", 70)
    runs = [cluster(blobs(), name, k=k_for(name), seed=5, n_init=1) for _ in range(2)]
    assert np.array_equal(runs[0].labels, runs[1].labels)


@pytest.mark.parametrize("name", ["kmeans", "ward", "kmedoids"])
def test_the_largest_cluster_comes_first(name: str) -> None:
    found = cluster(blobs()[::-1].copy(), name, k=3)
    assert np.bincount(found.labels).tolist() == list(SIZES)


def test_centres_stand_in_the_order_of_the_clusters() -> None:
    found = cluster(blobs(), "kmeans", k=3)
    assert found.centres is not None
    assert found.centres == pytest.approx(np.array([[0, 0], [1, 0], [0, 1]]), abs=0.05)


def test_auto_finds_how_many_there_are() -> None:
    assert cluster(blobs(), "kmeans", k="auto").k == 3
    assert cluster(blobs(), "ward", k="auto").k == 3


@pytest.mark.parametrize("name", ["kmeans", "bisecting"])
def test_weighted_rows_are_repeated_rows(name: str) -> None:
    points = np.array([[0.0], [0.3], [1.0], [1.2]], dtype=np.float32)
    weights = np.array([3.0, 1.0, 1.0, 1.0])
    assert takes_weights(name)
    whole = cluster(np.repeat(points, weights.astype(int), axis=0), name, k=2)
    short = cluster(points, name, k=2, weights=weights)
    assert short.labels.tolist() == [0, 0, 1, 1]
    assert whole.labels.tolist() == [0, 0, 0, 0, 1, 1]
    assert short.inertia == pytest.approx(whole.inertia)
    assert short.centres == pytest.approx(whole.centres)


def test_k_means_starts_from_given_centres() -> None:
    """One Lloyd run from a bad start stays there; ten cold ones do not."""
    points = np.array([[0, 0], [0, 1], [10, 0], [10, 1]], dtype=np.float32)
    stuck = cluster(points, "kmeans", k=2, centres=np.array([[5, 0], [5, 1]], dtype=np.float32))
    assert stuck.labels.tolist() == [0, 1, 0, 1]
    assert cluster(points, "kmeans", k=2).labels.tolist() == [0, 0, 1, 1]


@pytest.mark.parametrize("name", ["kmeans", "bisecting", "ward", "kmedoids"])
def test_equal_records_are_one_cluster(name: str) -> None:
    found = cluster(np.zeros((20, 3), dtype=np.float32), name, k=4)
    assert found.k == (1 if name != "ward" else found.k)
    assert found.labels.max() == found.k - 1


def test_fewer_records_than_clusters() -> None:
    two = np.array([[0.0], [1.0]], dtype=np.float32)
    assert cluster(two, "kmeans", k=5).k == 2
    assert cluster(two, "kmeans", k=3, centres=np.array([[0.0], [0.4], [9.0]], dtype=np.float32)).k == 2


def test_noise_stays_noise() -> None:
    vectors = np.vstack([blobs(), [[9.0, 9.0]]]).astype(np.float32)
    found = cluster(vectors, "dbscan", eps=0.3)
    assert found.labels[-1] == -1
    assert found.k == 3


@pytest.mark.parametrize("name", ["kmeans", "bisecting"])
def test_options_of_k_means_are_used(name: str) -> None:
    vectors = np.random.default_rng(0).normal(size=(300, 4))

    def inertia(**options: Any) -> float | None:
        return cluster(vectors, name, k=5, n_init=1, **options).inertia

    for option in ({"max_iter": 1}, {"tol": 1.0}, {"init": "random" if name == "kmeans" else "k-means++"}):
        assert inertia(**option) != inertia(), option
    assert inertia(algorithm="lloyd") == inertia()


def test_the_largest_cluster_is_split_by_weight_where_that_is_asked() -> None:
    points = np.array([[0.0], [0.1], [10.0], [20.0]])
    weights = np.array([50.0, 50.0, 1.0, 1.0])
    found = cluster(points, "bisecting", k=3, weights=weights, bisecting_strategy="largest_cluster")
    assert found.labels.tolist() == [0, 1, 2, 2]
    assert cluster(points, "bisecting", k=3, weights=weights).labels.tolist() == [0, 0, 1, 2]


def test_no_records_have_no_clusters() -> None:
    with pytest.raises(NoStructure, match="there are records"):
        cluster(np.zeros((0, 2)), "kmeans", k=2)


@pytest.mark.parametrize(
    ("name", "settings", "told"),
    [
        ("kmean", {"k": 3}, "did you mean 'kmeans'"),
        ("os.system", {"k": 3}, "sklearn.cluster.Birch"),
        ("sklearn.cluster.Nothing", {"k": 3}, "one of scikit-learn's that are listed"),
        ("sklearn.externals.conftest.Birch", {"k": 3}, "one of scikit-learn's that are listed"),
        ("sklearn.preprocessing.StandardScaler", {"k": 3}, "one of scikit-learn's that are listed"),
        ("ward", {"k": 3, "memory": "cache"}, "leave it out"),
        ("agglomerative", {"k": 3, "memory": "cache"}, "is listed"),
        ("agglomerative", {"k": 3, "metric": print}, "one of euclidean"),
        ("kmeans", {"k": 3, "n_jobs": 10**6}, "is listed"),
        ("dbscan", {"metric_params": {"a": 1}}, "is listed"),
        ("dbscan", {"metric": "precomputed"}, "one of euclidean"),
        ("dbscan", {"eps": float("nan")}, "a number from"),
        ("hdbscan", {"min_samples": True}, "a whole number"),
        ("kmeans", {"k": 3, "max_itre": 3}, "did you mean 'max_iter'"),
        ("kmeans", {"k": 3, "max_iter": -1}, "max_iter"),
        ("kmeans", {"k": 3, "algorithm": "elkan"}, "one of lloyd"),
        ("bisecting", {"k": 3, "algorithm": "elkan"}, "one of lloyd"),
        ("kmedoids", {"k": 3, "max_iter": 3}, "leave it out"),
        ("ward", {"k": 3, "weights": np.ones(120)}, "takes no weights"),
        ("ward", {"k": 3, "centres": np.zeros((3, 2))}, "only k-means"),
    ],
)
def test_what_cannot_be_used_is_refused(name: str, settings: dict[str, Any], told: str) -> None:
    with pytest.raises(RecipeError, match=told):
        cluster(blobs(), name, **settings)


def test_medoids_are_the_best_records_of_any() -> None:
    """Against all pairs of records, on few points."""
    points = np.random.default_rng(3).normal(size=(12, 2))
    found = k_medoids(points, 2, seed=0, n_init=20)
    gaps = ((points[:, None] - points[None]) ** 2).sum(axis=2)
    least = min(gaps[:, [i, j]].min(axis=1).sum() for i in range(12) for j in range(i))
    assert found.cost == pytest.approx(least)


def test_a_stop_in_the_middle_leaves_the_number_of_threads_as_it_was() -> None:
    cluster(np.zeros((4, 2), dtype=np.float32), "kmeans", k=2)  # libraries are loaded
    before = [library["num_threads"] for library in threadpool_info()]
    vectors = np.random.default_rng(0).normal(size=(60_000, 20)).astype(np.float32)
    stop = Stop()
    threading.Timer(0.1, stop.ask).start()
    with running(stop=stop), pytest.raises(Stopped):
        cluster(vectors, "kmeans", k=9, n_init=50)
    with running():
        assert [library["num_threads"] for library in threadpool_info()] == before
