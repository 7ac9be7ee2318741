"""Labels that rows probably have, which show sets of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.people.likely_labels import ROUNDS, TOWARDS_ALL, leaves_sets, likely_labels, likely_shares
from sfumato.people.shown_columns import Labels
from sfumato.structure.released import Told

LABELS = 4
Entry = tuple[dict[int, float], set[int], float, float, int]
"""Rows by label that are told, the labels of the others, how many they are and each has at least, the cluster."""


def entries() -> st.SearchStrategy[list[Entry]]:
    label = st.integers(0, LABELS - 1)
    rows = st.integers(0, 40).map(float)
    one = st.tuples(st.dictionaries(label, rows), st.sets(label), rows, st.sampled_from([0.0, 1.0, 2.5]), label)
    return st.lists(one, min_size=1, max_size=6)


def plain(given: Sequence[Entry]) -> list[list[float]]:
    """The same in loops, in the words of the module: every row first, then each cluster."""
    floor = [min(sure, rest / len(some)) if some else 0.0 for _, some, rest, sure, _ in given]

    def counts(at: int, shares: Sequence[float]) -> list[float]:
        told, some, rest, _, _ = given[at]
        among = some or {*range(LABELS)}
        free, of_all = rest - floor[at] * len(some), sum(shares[label] for label in among)
        found = [told.get(label, 0.0) + (floor[at] if label in some else 0.0) for label in range(LABELS)]
        for label in among:
            found[label] += free * (shares[label] / of_all if of_all > 0 else 1 / len(among))
        return found

    def agreed(those: Sequence[int], usual: Sequence[float], towards: float) -> list[list[float]]:
        shares = [*usual]
        for _ in range(ROUNDS):
            sums = [sum(counts(at, shares)[label] for at in those) + towards * usual[label] for label in range(LABELS)]
            shares = [one / sum(sums) for one in sums] if sum(sums) else [0.0] * LABELS
        return [counts(at, shares) for at in those]

    every = agreed(range(len(given)), [1 / LABELS] * LABELS, 0.0)
    total = sum(map(sum, every))
    if not total or not any(one[-1] for one in given):
        return every
    usual = [sum(row[label] for row in every) / total for label in range(LABELS)]
    found: list[list[float]] = [[]] * len(given)
    for cluster in {one[-1] for one in given}:
        those = [at for at, one in enumerate(given) if one[-1] == cluster]
        rows = sum(sum(given[at][0].values()) + given[at][2] for at in those)
        for at, row in zip(those, agreed(those, usual, TOWARDS_ALL * rows), strict=True):
            found[at] = row
    return found


@settings(max_examples=15, deadline=None)
@given(entries())
def test_arrays_say_what_loops_say(some: list[Entry]) -> None:
    told = np.array([[one[0].get(label, 0.0) for label in range(LABELS)] for one in some])
    members = np.array([[label in one[1] for label in range(LABELS)] for one in some])
    rest, sure, cluster = (np.array([one[at] for one in some]) for at in (2, 3, 4))
    found = likely_shares(told, members, rest, sure, cluster)
    assert found == pytest.approx(np.array(plain(some)), abs=0.05)
    assert found.sum(axis=1) == pytest.approx(told.sum(axis=1) + rest), "every row has one label"
    assert (found >= told - 1e-9).all(), "what is told stays"
    assert not found[~members & (told == 0) & (members.sum(axis=1) > 0)[:, None]].any(), "and others are not in a set"


def made(clusters: int = 1) -> tuple[Told, np.ndarray, np.ndarray, np.ndarray]:
    """A table in groups of ten to twenty that show what occurs in them: (told, groups, clusters, raw codes)."""
    chance = np.random.default_rng(0)
    usual = np.array([[0.75, 0.15, 0.07, 0.03], [0.02, 0.08, 0.2, 0.7]])[:clusters]
    raw, groups, of_row, texts = [], [], [], []
    for group in range(200):
        cluster, size = group % clusters, int(chance.integers(10, 20))
        labels = chance.choice(4, size, p=usual[cluster])
        names = ["abcd"[one] for one in np.unique(labels)]
        texts.append(names[0] if len(names) == 1 else "{" + ", ".join(names) + "}")
        raw += labels.tolist()
        groups += [group] * size
        of_row += [cluster] * size
    shown = sorted(set(texts))
    codes = np.array([shown.index(texts[group]) for group in groups], dtype=np.uint8)
    return Told(codes, shown, [{}] * len(shown)), np.array(groups), np.array(of_row), np.array(raw)


@pytest.mark.parametrize("clusters", [1, 2])
def test_counts_are_nearer_than_those_of_even_draws(clusters: int) -> None:
    told, groups, of_row, raw = made(clusters)
    true = np.bincount(raw, minlength=5)

    def off(labels: Labels) -> float:
        return float(np.abs(labels.shares[labels.codes].sum(axis=0) - true).sum() / 2 / len(raw))

    even, likely = off(Labels.of(told)), off(likely_labels(told, groups=groups, clusters=of_row))
    assert even > 0.25
    assert likely < 0.75 * even
    assert likely <= off(likely_labels(told, groups=groups, clusters=None)), "clusters that are told help"


def test_told_shares_stay_and_one_label_alone_does_too() -> None:
    shown = ["a", "{a, b}", "{a, b, c}", "*", None]
    spreads = [{}, {"a": 0.25, "b": 0.75}, {"a": 0.6, "{a, b, c}": 0.4}, {}, {}]
    told = Told(np.repeat(np.arange(5, dtype=np.uint8), 20), shown, spreads)
    assert leaves_sets(told)
    assert not leaves_sets(Told(told.codes[:40], shown[:2], spreads[:2]))
    found = likely_labels(told, groups=told.codes.astype(np.int64), clusters=None)
    assert found.labels == ("a", "b", "c")
    assert found.shares[0].tolist() == [1, 0, 0, 0]
    assert found.shares[1].tolist() == [0.25, 0.75, 0, 0]
    assert found.shares[2][0] == pytest.approx(0.6)
    assert found.shares[2][1] > found.shares[2][2] > 0, "b is the commoner one of the two that are not told"
    assert found.shares[3] == pytest.approx(found.shares.mean(axis=0), abs=0.01), "what stands for anything, as all"
    assert found.shares[4].tolist() == [0, 0, 0, 1]
