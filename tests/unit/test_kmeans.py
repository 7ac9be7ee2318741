"""k-means on codes: against its slow twin, against scikit-learn from the same start, and the laws that it obeys."""

from __future__ import annotations

import threading
import warnings
from importlib import import_module
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from sfumato.errors import Stopped
from sfumato.events import Stop, running
from sfumato.randomness import Seeded
from sfumato.structure.clusterers import cluster
from sfumato.structure.coded_points import Block, Placed, SetBlock
from sfumato.structure.kmeans import points as packing
from sfumato.structure.kmeans.lloyd import Settled, far_apart, lloyd, some_of, start, tolerance_of
from sfumato.structure.kmeans.points import Points
from sfumato.structure.kmeans.tally import Tally, assign, look_ups, settled, tally
from sfumato.structure.structures import starting_centres
from tests import kmeans_twin as twin

theirs: Any = import_module("sklearn.cluster")
threadpool_limits: Any = import_module("threadpoolctl").threadpool_limits
Floats = NDArray[np.float64]


def coded(rows: int, values: int, dims: int, draw: np.random.Generator) -> Block:
    places = draw.normal(0, 1 / dims, (values, dims)).astype(np.float32)
    return Block(draw.integers(0, values, rows), places)


def in_sets(rows: int, sets: int, dims: int, draw: np.random.Generator) -> SetBlock:
    """Sets of up to three coordinates, the first one empty."""
    held = [np.sort(draw.choice(dims, int(draw.integers(1, 4)), replace=False)) for _ in range(sets - 1)]
    offsets = np.cumsum([0, 0, *map(len, held)])
    return SetBlock(draw.integers(0, sets, rows), offsets, np.concatenate(held).astype(np.uint32), dims, 0.6)


def people(rows: int, seed: int, *, sets: bool = True, wide: bool = True) -> Placed:
    """Categories of several widths, a number with many values, an attribute with own coordinates, sets."""
    draw = np.random.default_rng(seed)
    blocks: list[Block | SetBlock] = [coded(rows, values, dims, draw) for values, dims in ((7, 3), (2, 1), (40, 5))]
    if wide:
        blocks.append(coded(rows, 3000, 1, draw))
    if sets:
        blocks.append(in_sets(rows, 9, 6, draw))
    own = coded(rows, 4, 2, draw)
    blocks.insert(1, Block(own.codes, own.positions, draw.normal(0, 0.2, (4, 3)).astype(np.float32)))
    return Placed(tuple(blocks), rows)


def vectors_of(placed: Placed) -> Floats:
    return placed.vectors().astype(np.float64)


WEIGHTS = ("none", "whole", "any")


def weights_of(kind: str, rows: int, seed: int) -> Floats | None:
    draw = np.random.default_rng(seed + 100)
    if kind == "none":
        return None
    return draw.integers(1, 5, rows).astype(np.float64) if kind == "whole" else draw.random(rows) + 0.1


def starts(placed: Placed, k: int, seed: int) -> Floats:
    """Records, a little beside themselves: no two centres are equally far."""
    draw = np.random.default_rng(seed + 200)
    vectors = vectors_of(placed)
    return np.asarray(
        vectors[draw.choice(len(vectors), k, replace=False)] + draw.normal(0, 1e-3, (k, vectors.shape[1]))
    )


@pytest.fixture
def in_stretches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stretches so short that a small table has several."""
    monkeypatch.setattr(packing, "AT_ONCE", 64)


@pytest.mark.usefixtures("in_stretches")
@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("k", [1, 3, 11])
def test_rounds_on_codes_are_rounds_on_vectors(k: int, weights: str) -> None:
    for seed in range(3):
        placed, given = people(150, seed), weights_of(weights, 150, seed)
        points = placed.points.weighted(given)
        begins, tolerance = starts(placed, k, seed), tolerance_of(points)
        slow = twin.lloyd(vectors_of(placed), points.weights, begins, tolerance=tolerance, rounds=40)
        found = lloyd(points, begins, tolerance=tolerance, rounds=40)
        assert found.rounds == slow.rounds
        assert found.labels.tolist() == slow.labels
        assert found.centres == pytest.approx(slow.centres, abs=1e-9)
        assert found.inertia == pytest.approx(slow.inertia)


@pytest.mark.parametrize("weights", WEIGHTS)
def test_the_draws_for_a_start_are_those_of_the_slow_twin(weights: str) -> None:
    for seed in range(4):
        placed = people(120, seed)
        points = placed.points.weighted(weights_of(weights, 120, seed))
        rows = far_apart(points, 7, Seeded(seed).lasting())
        assert rows.tolist() == twin.far_apart(vectors_of(placed), points.weights, 7, Seeded(seed).lasting())
        assert start(points, 7, Seeded(seed).lasting()) == pytest.approx(vectors_of(placed)[rows], abs=1e-6)


def fitted(kind: Any, vectors: Floats, weights: Floats | None) -> Any:
    with threadpool_limits(limits=1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return kind.fit(vectors, sample_weight=weights)


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize(("rows", "k"), [(500, 4), (3_000, 6), (2_000, 17)])
def test_from_the_same_start_it_ends_where_scikit_learn_does(rows: int, k: int, weights: str) -> None:
    for seed in range(3):
        placed, given = people(rows, seed), weights_of(weights, rows, seed)
        begins, points = starts(placed, k, seed), placed.points.weighted(given)
        other = fitted(theirs.KMeans(k, init=begins, n_init=1), vectors_of(placed), given)
        found = lloyd(points, begins, tolerance=tolerance_of(points))
        assert np.abs(found.centres - other.cluster_centers_).max() < 1e-6
        assert found.labels.tolist() == other.labels_.tolist()
        assert found.inertia == pytest.approx(other.inertia_)
        assert found.rounds == other.n_iter_


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("init", ["k-means++", "random"])
def test_from_the_same_seed_it_finds_what_scikit_learn_finds(weights: str, init: str) -> None:
    for seed in range(3):
        vectors = np.random.default_rng(seed).normal(size=(400, 3))
        given = weights_of(weights, 400, seed)
        other = fitted(theirs.KMeans(5, n_init=4, init=init, random_state=seed), vectors, given)
        found = cluster(vectors, "kmeans", k=5, n_init=4, seed=seed, weights=given, init=init)
        assert found.inertia == pytest.approx(other.inertia_)
        assert found.centres is not None
        assert np.sort(found.centres, axis=0) == pytest.approx(np.sort(other.cluster_centers_, axis=0), abs=1e-6)


@pytest.mark.parametrize("weights", WEIGHTS)
def test_bisecting_splits_what_scikit_learn_splits(weights: str) -> None:
    for seed in range(4):
        vectors = np.random.default_rng(seed).normal(size=(300, 3))
        given = weights_of(weights, 300, seed)
        other = fitted(theirs.BisectingKMeans(6, n_init=3, random_state=seed), vectors, given)
        found = cluster(vectors, "bisecting", k=6, n_init=3, seed=seed, weights=given)
        assert found.inertia == pytest.approx(other.inertia_)
        assert found.centres is not None
        assert np.sort(found.centres, axis=0) == pytest.approx(np.sort(other.cluster_centers_, axis=0), abs=1e-6)


def test_an_empty_cluster_begins_again_at_the_farthest_record_as_in_scikit_learn() -> None:
    for seed in range(4):
        placed = people(400, seed)
        begins = starts(placed, 5, seed)
        begins[2] += 50  # nobody is near
        other = fitted(theirs.KMeans(5, init=begins, n_init=1), vectors_of(placed), None)
        found = lloyd(placed.points, begins, tolerance=tolerance_of(placed.points))
        assert len(np.unique(found.labels)) == 5
        assert np.abs(found.centres - other.cluster_centers_).max() < 1e-6


def bits(found: Settled) -> tuple[bytes, bytes, bytes]:
    return found.labels.tobytes(), found.centres.tobytes(), found.spent.tobytes()


@pytest.mark.usefixtures("in_stretches")
@pytest.mark.parametrize("weights", WEIGHTS)
def test_the_number_of_threads_changes_no_bit(weights: str) -> None:
    placed = people(900, 5)
    points = placed.points.weighted(weights_of(weights, 900, 5))
    begins = [start(points, 6, Seeded(1).lasting(), threads=threads) for threads in (1, 2, 3)]
    assert begins[0].tobytes() == begins[1].tobytes() == begins[2].tobytes()
    found = [bits(lloyd(points, begins[0], threads=threads)) for threads in (1, 2, 3)]
    assert found[0] == found[1] == found[2]


def test_sums_add_up_over_any_split_of_the_records() -> None:
    placed = people(500, 1)
    points = placed.points.weighted(weights_of("whole", 500, 1))
    look = look_ups(points.ground, starts(placed, 6, 1))
    labels = np.empty(500, dtype=np.uint16)
    far = np.empty(500)
    assign(points.rows, points.ground, look, labels, far)
    whole = tally(points, labels, 6)
    parts = np.split(np.random.default_rng(0).permutation(500), [20, 21, 300])
    some = [points.take(part) for part in parts]
    seen = [np.empty(len(part), dtype=np.uint16) for part in parts]
    for one, into in zip(some, seen, strict=True):
        assign(one.rows, one.ground, look, into)
    assert all(np.array_equal(into, labels[part]) for into, part in zip(seen, parts, strict=True))
    spent = np.bincount(labels, far * points.weights, minlength=6)
    assert settled(points, look, labels.copy()) == pytest.approx(spent)
    first, *others = (tally(one, into, 6) for one, into in zip(some, seen, strict=True))
    for other in others:
        first += other
    assert np.array_equal(first.counts.codes, whole.counts.codes)
    assert first.sums == pytest.approx(whole.sums)


def test_a_record_of_weight_three_is_three_records() -> None:
    placed, given = people(200, 2), weights_of("whole", 200, 2)
    assert given is not None
    begins = starts(placed, 4, 2)
    repeated = placed.take(np.repeat(np.arange(200), given.astype(int)))
    once, thrice = lloyd(placed.points.weighted(given), begins), lloyd(repeated.points, begins)
    assert np.repeat(once.labels, given.astype(int)).tolist() == thrice.labels.tolist()
    assert once.centres == pytest.approx(thrice.centres)


def test_the_order_of_the_records_changes_no_count() -> None:
    """Centres of codes are made of whole counts, so they are the same to the last bit."""
    placed, order = people(600, 3, sets=False, wide=False), np.random.default_rng(3).permutation(600)
    begins = starts(placed, 5, 3)
    one, other = lloyd(placed.points, begins), lloyd(placed.take(order).points, begins)
    assert one.centres.tobytes() == other.centres.tobytes()
    assert np.array_equal(one.labels[order], other.labels)


@pytest.mark.parametrize("many", [0, 1 << 30])
def test_attributes_looked_up_together_are_the_same_attributes(many: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packing, "MANY", many)
    placed = people(300, 4)
    twice = Placed((*placed.blocks, coded(300, 5, 2, np.random.default_rng(0)), placed.blocks[0]), 300)
    packed = twice.points.rows.codes.shape[1]
    assert packed == (2 if many == 0 else 5)  # of six in codes; one stands there twice
    rows = np.arange(300)
    assert twice.points.vectors(rows) == pytest.approx(vectors_of(twice), abs=1e-6)
    begins = starts(twice, 4, 4)
    slow = twin.lloyd(vectors_of(twice), np.ones(300), begins, tolerance=0.0, rounds=30)
    assert lloyd(twice.points, begins, rounds=30).labels.tolist() == slow.labels


@pytest.mark.parametrize(("values", "kind"), [(256, np.uint8), (257, np.uint16), (70_000, np.uint32)])
def test_codes_are_as_narrow_as_their_number_lets_them(values: int, kind: type) -> None:
    placed = Placed((coded(400, values, 2, np.random.default_rng(1)), coded(400, 3, 1, np.random.default_rng(2))), 400)
    assert placed.points.rows.codes.dtype == kind
    begins = starts(placed, 3, 0)
    slow = twin.lloyd(vectors_of(placed), np.ones(400), begins, tolerance=0.0, rounds=20)
    assert lloyd(placed.points, begins, rounds=20).labels.tolist() == slow.labels


def test_a_number_of_many_values_is_held_as_it_is() -> None:
    points = people(300, 0).points
    assert points.rows.numbers.shape == (300, 1)
    assert points.rows.numbers.dtype == np.float32
    assert points.rows.codes.dtype == np.uint8


def test_sets_stand_where_their_vectors_do() -> None:
    block = in_sets(50, 9, 6, np.random.default_rng(0))
    dense = block.at(block.codes)
    lengths = np.linalg.norm(dense, axis=1)
    assert np.allclose(lengths[block.codes > 0], 0.6)
    assert not dense[block.codes == 0].any()
    assert np.array_equal(block.scaled(4).at(block.codes), dense * 2)
    assert block.take(np.array([3])).at(block.codes[[3]]).tolist() == dense[[3]].tolist()


def test_the_nearest_centre_is_that_of_the_shared_space_the_first_on_a_tie() -> None:
    own = Block(np.array([0, 1, 1]), np.array([[0.0], [1.0]], dtype=np.float32), np.array([[9.0], [0.0]]))
    placed = Placed((own,), 3)
    assert placed.nearest(np.array([[1.0], [0.0], [1.0]])).tolist() == [1, 0, 0]
    assert placed.nearest(np.array([[0.5], [0.5]])).tolist() == [0, 0, 0]


def test_means_of_labels_are_means_of_vectors() -> None:
    placed = people(200, 6)
    labels = np.random.default_rng(0).integers(0, 3, 200)
    wanted = [vectors_of(placed)[labels == at].mean(axis=0) for at in range(3)]
    assert starting_centres(placed, labels, 3) == pytest.approx(np.array(wanted), abs=1e-6)


def test_more_centres_than_labels_hold_are_refused() -> None:
    points: Points = people(10, 0).points
    with pytest.raises(ValueError, match="at most 65535"):
        look_ups(points.ground, np.zeros((65_536, points.dims)))


def test_a_stop_is_asked_in_the_middle_of_a_run() -> None:
    placed = people(60_000, 0)
    stop = Stop()
    threading.Timer(0.2, stop.ask).start()
    with running(stop=stop), pytest.raises(Stopped):
        lloyd(placed.points, starts(placed, 60, 0), rounds=100_000)


def test_attributes_that_are_told_by_group_are_looked_up_once() -> None:
    """Where every attribute has a place for each group, the group is all that there is to look up."""
    draw = np.random.default_rng(2)
    groups = draw.integers(0, 1000, 2_000)
    told = [Block(groups.copy(), draw.random((1000, dims)).astype(np.float32)) for dims in (1, 4, 1)]
    points = Placed(tuple(told), 2_000).points
    assert points.rows.codes.shape == (2_000, 1)
    assert points.rows.numbers.shape == (2_000, 0)


def test_attributes_without_coordinates_are_in_nobodys_way() -> None:
    nowhere = Block(np.arange(80) % 3, np.zeros((3, 0), dtype=np.float32))
    placed = people(80, 0)
    beside = Placed((nowhere, *placed.blocks, nowhere), 80)
    begins = starts(placed, 3, 0)
    assert bits(lloyd(beside.points, begins)) == bits(lloyd(placed.points, begins))
    alone = cluster(Placed((nowhere,), 80), "kmeans", k=2)
    assert alone.k == 1
    assert alone.labels.tolist() == [0] * 80


def test_batches_of_records_share_a_ground_and_their_sums_add_up() -> None:
    """Whoever reads records in batches packs each by itself, and sends the same look-ups to all."""
    placed = people(700, 7)
    batches = [placed.take(rows).packed(together=False) for rows in np.split(np.arange(700), [1, 60, 400])]
    whole = placed.packed(together=False)
    now = starts(placed, 5, 7)
    look = look_ups(whole.ground, now)
    sums = Tally.nothing(whole, 5)
    for batch in batches:
        labels = np.empty(len(batch), dtype=np.uint16)
        assign(batch.rows, batch.ground, look, labels)
        sums += tally(batch, labels, 5)
    means = sums.sums / sums.counts.sizes[:, None]
    assert means == pytest.approx(lloyd(placed.points, now, rounds=1).centres)


def test_starts_of_very_many_records_are_tried_on_some_and_settled_on_all(monkeypatch: pytest.MonkeyPatch) -> None:
    placed, weights = people(3_000, 5), weights_of("whole", 3_000, 5)
    whole = cluster(placed, "kmeans", k=4, weights=weights)
    monkeypatch.setattr("sfumato.structure.kmeans.lloyd.MANY", 600)
    monkeypatch.setattr("sfumato.structure.kmeans.lloyd.TRIED", 600)
    found, again = (cluster(placed, "kmeans", k=4, weights=weights) for _ in range(2))
    assert found.centres is not None
    assert again.centres is not None
    assert found.inertia is not None
    assert whole.inertia is not None
    assert found.centres.tobytes() == again.centres.tobytes()
    assert np.array_equal(found.labels, again.labels)
    settled_there = lloyd(placed.points.weighted(weights), found.centres, rounds=300)
    assert np.square(settled_there.centres - found.centres).sum() < 1e-2
    assert whole.inertia * 0.99 < found.inertia < whole.inertia * 1.05


def test_draws_are_by_weight_and_at_even_distances() -> None:
    weights = np.ones(2_000)
    weights[700] = 2_000
    drawn = some_of(people(2_000, 3).points.weighted(weights), 400, seed=1)
    assert drawn.total == 400
    assert abs(drawn.weights.max() - 200) <= 1
    assert abs(int(drawn.weights.argmax()) - 70) <= 1
