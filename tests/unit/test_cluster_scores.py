"""Figures from the contingency table, against brute force and scikit-learn."""

from __future__ import annotations

from importlib import import_module
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from sfumato.errors import TableError
from sfumato.evaluation import clusters
from sfumato.evaluation.clusters import (
    adjusted_rand,
    agreement,
    clusters_kept,
    contingency,
    f_measure,
    match_point,
    misclassification,
    nmi,
    silhouettes,
)
from sfumato.evaluation.scores import Score, scores_to_json
from sfumato.structure import silhouettes as in_structure
from sfumato.structure.coded_points import Block, Placed

FIGURES = [f_measure, match_point, adjusted_rand, nmi]
Labels = NDArray[np.int64]


@st.composite
def labellings(draw: st.DrawFn) -> tuple[Labels, Labels]:
    n = draw(st.integers(1, 30))
    one = st.lists(st.integers(0, 4), min_size=n, max_size=n)
    return np.array(draw(one)), np.array(draw(one))


@given(labellings())
def test_match_point_is_the_share_of_equal_entries_of_both_matrices(both: tuple[Labels, Labels]) -> None:
    raw, masked = both
    equal = (raw[:, None] == raw[None]) == (masked[:, None] == masked[None])
    assert match_point(raw, masked) == pytest.approx(equal.mean())


@given(labellings())
def test_f_is_the_weighted_best_harmonic_mean(both: tuple[Labels, Labels]) -> None:
    raw, masked = both
    total = 0.0
    for cluster in set(raw.tolist()):
        best = 0.0
        for query in set(masked.tolist()):
            shared = int(((raw == cluster) & (masked == query)).sum())
            if shared:
                recall, precision = shared / (raw == cluster).sum(), shared / (masked == query).sum()
                best = max(best, 2 * recall * precision / (recall + precision))
        total += best * (raw == cluster).mean()
    assert f_measure(raw, masked) == pytest.approx(total)


@given(labellings())
def test_as_scikit_learn_says(both: tuple[Labels, Labels]) -> None:
    metrics = import_module("sklearn.metrics")
    assert adjusted_rand(*both) == pytest.approx(metrics.adjusted_rand_score(*both))
    assert nmi(*both) == pytest.approx(metrics.normalized_mutual_info_score(*both), abs=1e-7)


@given(labellings())
def test_misclassification_is_the_best_over_all_matchings(both: tuple[Labels, Labels]) -> None:
    raw, masked = both
    least = min(np.mean(np.array(order)[masked] != raw) for order in permutations(range(5)))
    assert misclassification(raw, masked) == pytest.approx(least)


@given(labellings(), st.permutations(range(5)))
def test_names_of_clusters_do_not_matter(both: tuple[Labels, Labels], order: list[int]) -> None:
    raw, masked = both
    renamed = np.array(order)[masked]
    texts = np.array(["a", "b", "c", "d", "e"])[masked]
    for figure in FIGURES:
        assert figure(raw, renamed) == pytest.approx(figure(raw, masked))
        assert figure(raw, texts) == pytest.approx(figure(raw, masked))


@given(labellings())
def test_the_same_clusters_score_exactly_1(both: tuple[Labels, Labels]) -> None:
    raw, _ = both
    assert f_measure(raw, raw + 7) == 1.0
    assert match_point(raw, raw + 7) == 1.0
    assert misclassification(raw, raw + 7) == 0.0
    assert adjusted_rand(raw, raw) == 1.0


def test_noise_and_large_numbers_are_labels_too() -> None:
    assert contingency([-1, -1, 10**12], [5, 5, -1]).tolist() == [[0, 2], [1, 0]]


@pytest.mark.parametrize(("raw", "masked"), [([0, 1], [0]), ([], [])])
def test_labels_of_different_records_are_refused(raw: list[int], masked: list[int]) -> None:
    with pytest.raises(TableError, match="same records"):
        contingency(raw, masked)


def test_what_became_of_each_cluster() -> None:
    kept = clusters_kept([0, 0, 0, 1], [1, 1, 0, 0])
    assert kept[0].to_json() == {
        "cluster": 0,
        "size": 3,
        "found_as": 1,
        "found": 2,
        "recall": 2 / 3,
        "precision": 1.0,
        "f": 0.8,
    }


def test_silhouette_of_far_groups_is_high_on_a_sample_too(monkeypatch: pytest.MonkeyPatch) -> None:
    vectors = np.random.default_rng(0).normal(0, 0.01, (100, 2)).astype(np.float32)
    labels = np.repeat([0, 1], 50)
    vectors[labels == 1] += 1
    placed = Placed.of(vectors)
    (whole,) = silhouettes(placed, [labels])
    monkeypatch.setattr(clusters, "SILHOUETTE_ROWS", 20)
    part, none = silhouettes(placed, [labels, labels * 0])
    assert whole is not None
    assert part is not None
    assert whole > 0.9
    assert part == pytest.approx(whole, abs=0.05)
    assert none is None


def test_silhouettes_are_those_of_scikit_learn(monkeypatch: pytest.MonkeyPatch) -> None:
    theirs = import_module("sklearn.metrics").silhouette_score
    draw = np.random.default_rng(1)
    vectors = draw.random((60, 3))
    alone = np.append(draw.integers(0, 3, 59), 3)  # the last record has a cluster of its own
    both = [alone, draw.permutation(alone)]
    monkeypatch.setattr(in_structure, "AT_ONCE", 7)
    assert silhouettes(Placed.of(vectors), both) == pytest.approx([theirs(vectors, labels) for labels in both])


def test_agreement_counts_records_that_stay_with_their_centre() -> None:
    centres = np.array([[0.0], [1.0]], dtype=np.float32)
    raw = np.array([[0.1], [0.2], [0.9], [0.8]], dtype=np.float32)
    masked = np.array([[0.3], [0.9], [0.9], [0.6]], dtype=np.float32)
    assert agreement(Placed.of(raw), Placed.of(raw), centres) == 1.0
    assert agreement(Placed.of(raw), Placed.of(masked), centres) == 0.75
    further = Placed((Block(np.arange(4), masked, np.ones((4, 2), dtype=np.float32)),), 4)
    assert agreement(Placed.of(raw), further, centres) == 0.75


def test_only_publishable_scores_leave_the_house() -> None:
    scores = [Score("a", 1.0, True, "open"), Score("b", 0.5, False, "holder")]
    assert list(scores_to_json(scores)) == ["a", "b"]
    assert list(scores_to_json(scores, publishable_only=True)) == ["a"]
