"""Every compiled loop against a slow twin that says the same in plain words."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from sfumato.arrays import Floats, Ints
from sfumato.errors import RecipeError
from sfumato.maskers.centroids import grouping, kernels, local_search
from sfumato.maskers.centroids import microaggregation as ours
from sfumato.maskers.centroids.points import Link, Points, Sums, loss, nearest


def cloud(seed: int, rows: int = 40, dims: int = 3) -> Floats:
    """Random records on a coarse grid, so that there are ties and duplicates."""
    return np.random.default_rng(seed).integers(-3, 4, size=(rows, dims)).astype(np.float64) / 2


def slow_loss(vectors: Floats, labels: Ints) -> float:
    classes = (vectors[labels == c] for c in np.unique(labels))
    return float(sum(((members - members.mean(axis=0)) ** 2).sum() for members in classes))


def slow_mdav(vectors: Floats, k: int) -> list[Floats]:
    """The classes in the order in which they are made."""
    left = [np.array(row) for row in vectors]
    made = []

    def take(place: Floats) -> None:
        left.sort(key=lambda row: float(((row - place) ** 2).sum()))
        made.append(np.array([left.pop(0) for _ in range(k)]))

    def far(place: Floats) -> Floats:
        return max(left, key=lambda row: float(((row - place) ** 2).sum()))

    while len(left) >= 2 * k:
        first = far(np.mean(left, axis=0))
        second, both = far(first), len(left) >= 3 * k
        take(first)
        if both:
            take(second)
    return [*made, np.array(left)] if left else made


@pytest.mark.parametrize("rows", [9, 12, 14, 31, 40])
@pytest.mark.parametrize("k", [2, 3, 4])
def test_mdav_makes_the_classes_of_its_definition(rows: int, k: int) -> None:
    vectors = np.random.default_rng(rows * k).normal(size=(rows, 3))
    labels = grouping.mdav(Points.of(vectors), k)
    slow = slow_mdav(vectors, k)
    assert len(slow) == labels.max() + 1
    for at, members in enumerate(slow):
        np.testing.assert_array_equal(np.sort(members, axis=0), np.sort(vectors[labels == at], axis=0))


def test_sums_and_gathering() -> None:
    vectors, labels = cloud(1), np.random.default_rng(1).integers(0, 6, 40)
    sums = Sums.of(vectors, labels)
    for c in range(6):
        np.testing.assert_allclose(sums.totals[c], vectors[labels == c].sum(axis=0))
    np.testing.assert_array_equal(kernels.gather(labels, sums.sizes), np.argsort(labels, kind="stable"))
    assert loss(vectors, labels) == pytest.approx(slow_loss(vectors, labels))


@pytest.mark.parametrize("seed", range(5))
def test_selection_puts_the_smallest_first(seed: int) -> None:
    keys = cloud(seed, rows=30, dims=1)[:, 0]
    for nth in (1, 7, 15, 29):
        sorted_keys, rows, vectors = keys.copy(), np.arange(30), np.stack([keys, -keys], axis=1)
        kernels.select(sorted_keys, rows, vectors, nth)
        np.testing.assert_array_equal(keys[rows], sorted_keys)
        np.testing.assert_array_equal(vectors, np.stack([sorted_keys, -sorted_keys], axis=1))
        np.testing.assert_array_equal(np.sort(sorted_keys[:nth]), np.sort(keys)[:nth])


@pytest.mark.parametrize("dims", [1, 2, 5])
def test_the_axis_is_the_one_of_most_spread(dims: int) -> None:
    vectors = np.random.default_rng(dims).normal(size=(60, dims)) * (4.0 ** np.arange(dims))
    axis = np.empty(dims)
    kernels.principal_axis(vectors, axis)
    _, axes = np.linalg.eigh(np.cov(vectors.T).reshape(dims, dims))
    assert abs(axis @ axes[:, -1]) == pytest.approx(1.0, abs=1e-3)


@pytest.mark.parametrize("rows", [4, 7, 33])
@pytest.mark.parametrize("k", [1, 2, 3])
def test_bisection_keeps_every_class_between_k_and_2k(rows: int, k: int) -> None:
    sizes = np.bincount(ours.bisection(Points.of(cloud(rows, rows)), k))
    assert sizes.min() >= k
    assert sizes.max() < 2 * k


def test_bisection_cuts_across_the_longest_axis() -> None:
    line = np.stack([np.arange(12.0)[::-1], np.zeros(12)], axis=1)
    assert slow_loss(line, ours.bisection(Points.of(line), 3)) == 8.0  # neighbours by threes


def slow_gain(vectors: Floats, labels: Ints, x: int, b: int, y: int | None) -> float:
    """How much the loss falls, by taking it before and after."""
    after = labels.copy()
    after[x] = b
    if y is not None:
        after[y] = labels[x]
    return slow_loss(vectors, labels) - slow_loss(vectors, after)


@pytest.mark.parametrize("seed", range(4))
def test_swap_gains_are_exact(seed: int) -> None:
    vectors, labels = cloud(seed, 24), np.arange(24) % 4
    sums = Sums.of(vectors, labels)
    for x, y in [(0, 1), (4, 3), (8, 6)]:
        a, b = int(labels[x]), int(labels[y])
        both = 1 / sums.sizes[a] + 1 / sums.sizes[b]
        found = local_search.swap_gain(vectors, sums.centres, x, y, a, b, both)
        assert found == pytest.approx(slow_gain(vectors, labels, x, b, y), abs=1e-9)


@pytest.mark.parametrize("seed", range(8))
def test_search_ends_where_no_single_move_helps_and_never_raises_the_loss(seed: int) -> None:
    vectors, k = np.random.default_rng(seed).normal(size=(36, 2)), 3
    labels = np.arange(36) % 9
    before, sums = slow_loss(vectors, labels), Sums.of(vectors, labels)
    everyone = np.tile(np.arange(9), (9, 1))
    ours.swept(vectors, labels, sums, everyone, least=k, sweeps=100)
    assert slow_loss(vectors, labels) <= before
    np.testing.assert_array_equal(sums.sizes, np.bincount(labels, minlength=9))
    np.testing.assert_allclose(sums.totals, Sums.of(vectors, labels).totals, atol=1e-9)
    assert sums.sizes.min() >= k
    movable = [x for x in range(36) if sums.sizes[labels[x]] > k]
    gains = [slow_gain(vectors, labels, x, b, None) for x in movable for b in range(9) if b != labels[x]]
    assert max(gains, default=0.0) <= 1e-8


@pytest.mark.parametrize("seed", range(6))
def test_every_round_of_search_lowers_the_loss(seed: int) -> None:
    vectors = cloud(seed, 60, 2)
    labels = ours.bisection(Points.of(vectors), 3)
    for least in (1, 3):
        for _ in range(3):
            before = slow_loss(vectors, labels)
            ours.improve(vectors, labels, least=least, effort=ours.Effort(1, 1))
            assert slow_loss(vectors, labels) <= before + 1e-9


def test_merging_takes_the_cheapest_neighbour() -> None:
    vectors = np.array([[0.0], [0.1], [0.2], [1.0], [5.0], [5.1], [5.2]])
    labels = np.array([0, 0, 0, 1, 2, 2, 2])
    merged = ours.merge_small(vectors, labels, 3)
    assert merged.tolist() == [0, 0, 0, 0, 1, 1, 1]
    sums = Sums.of(vectors, labels)
    grown = slow_loss(vectors, merged) - slow_loss(vectors, labels)
    assert kernels.merger_cost(sums.sizes, sums.totals, 0, 1) == pytest.approx(grown)


@pytest.mark.parametrize("seed", range(6))
def test_merging_and_splitting_leave_classes_of_k_to_2k(seed: int) -> None:
    vectors, labels = cloud(seed, 50, 2), np.random.default_rng(seed).integers(0, 20, 50)
    labels = np.unique(labels, return_inverse=True)[1].astype(np.int64)
    merged = ours.merge_small(vectors, labels, 4)
    assert np.bincount(merged).min() >= 4
    split = ours.split_large(vectors, merged, 4)
    assert np.bincount(split).min() >= 4
    assert np.bincount(split).max() < 8
    assert slow_loss(vectors, split) <= slow_loss(vectors, merged) + 1e-9


def cheapest_cuts(numbers: Floats, k: int) -> float:
    """The least loss over all ways to cut a sorted line into classes of at least k."""
    n = len(numbers)
    ways = (cuts for count in range(n // k) for cuts in combinations(range(1, n), count))
    legal = (np.diff([0, *cuts, n]) for cuts in ways)
    return min(slow_loss(numbers[:, None], np.repeat(np.arange(len(s)), s)) for s in legal if s.min() >= k)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("k", [2, 3])
def test_one_dimension_is_cut_in_the_best_way_there_is(seed: int, k: int) -> None:
    numbers = cloud(seed, 11, 1)[:, 0] ** 3
    labels = ours.microaggregate(Points.of(numbers[:, None]), k)
    assert np.bincount(labels).min() >= k
    assert slow_loss(numbers[:, None], labels) == pytest.approx(cheapest_cuts(np.sort(numbers), k), abs=1e-9)


def slow_linkage(vectors: Floats, k: int, link: str) -> list[list[int]]:
    classes = [[i] for i in range(len(vectors))]

    def apart(one: list[int], other: list[int]) -> float:
        pairs = [float(((vectors[i] - vectors[j]) ** 2).sum()) for i in one for j in other]
        return min(pairs) if link == "single" else max(pairs) if link == "complete" else sum(pairs) / len(pairs)

    while any(len(c) < k for c in classes):
        a, b = min(
            (pair for pair in combinations(classes, 2) if min(map(len, pair)) < k), key=lambda pair: apart(*pair)
        )
        classes = [*(c for c in classes if c is not a and c is not b), a + b]
    return sorted(sorted(c) for c in classes)


@pytest.mark.parametrize("link", ["single", "complete", "average"])
@pytest.mark.parametrize("k", [2, 4])
def test_linkage_merges_the_nearest_pairs(link: Link, k: int) -> None:
    vectors = np.random.default_rng(k).normal(size=(22, 2))
    labels = grouping.linkage(Points.of(vectors), k, link=link)
    assert sorted(np.flatnonzero(labels == c).tolist() for c in range(labels.max() + 1)) == slow_linkage(
        vectors, k, link
    )


def test_linkage_refuses_what_does_not_fit_into_memory() -> None:
    with pytest.raises(RecipeError, match="every pair of records"):
        grouping.linkage(Points.of(np.zeros((grouping.MOST + 1, 1))), 2)


def test_distances_are_squared_and_infinite_to_oneself() -> None:
    found = np.full((2, 2), np.inf)
    grouping.distances(np.array([[0.0, 0.0], [3.0, 4.0]]), found, 0, 2)
    assert found[0, 1] == found[1, 0] == 25.0
    assert np.isinf(np.diag(found)).all()


@pytest.mark.parametrize("dims", [1, 3, 12, 13, 30])
def test_the_nearest_place_is_nearest(dims: int) -> None:
    rng = np.random.default_rng(dims)
    vectors, places = rng.normal(size=(50, dims)), rng.normal(size=(9, dims))
    places[:, 0] = 1.0
    apart = ((vectors[:, None, :] - places) ** 2).sum(axis=2)
    np.testing.assert_array_equal(nearest(vectors, places), apart.argmin(axis=1))


def test_places_that_are_all_the_same_are_equally_near() -> None:
    assert nearest(np.ones((3, 2)), np.zeros((2, 2))).tolist() == [0, 0, 0]


def test_many_axes_are_reduced_to_the_main_ones() -> None:
    rng = np.random.default_rng(0)
    places = rng.normal(size=(100, 20)) * np.array([5.0] * 8 + [0.001] * 12)
    found = ours.principal(places)
    assert found.shape == (100, ours.AXES)
    assert ((found - found.mean(axis=0)) ** 2).sum() == pytest.approx(((places - places.mean(axis=0)) ** 2).sum())


@pytest.mark.parametrize("way", ["mdav", "microaggregate", "bisection", "linkage", "nearest"])
def test_loops_in_pieces_give_the_same_to_the_last_bit(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def made() -> Ints:
        points = Points.of(np.random.default_rng(4).normal(size=(400, 5)))
        if way == "nearest":
            return nearest(points.vectors, points.vectors[:9])
        ways = {"mdav": grouping.mdav, "linkage": grouping.linkage}
        return (ways[way] if way in ways else getattr(ours, way))(points, 4)

    whole, asked = made(), 0
    for module in (grouping, ours):
        monkeypatch.setattr(module, "AT_ONCE", 3)
    monkeypatch.setattr(grouping, "ROWS_AT_ONCE", 3)
    monkeypatch.setattr("sfumato.maskers.centroids.points.ROWS", 7)

    def count(done: float | None = None) -> None:
        nonlocal asked
        asked += 1

    monkeypatch.setattr("sfumato.events.checkpoint", count)
    for module in (grouping, ours):
        monkeypatch.setattr(module, "checkpoint", count)
    np.testing.assert_array_equal(made(), whole)
    assert asked > 20
