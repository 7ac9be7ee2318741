"""Means of intervals of which none is told."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.people.likely_means import likely_means, with_likely_means
from sfumato.people.shown_columns import Numbers
from sfumato.structure.released import Told

Entry = tuple[int, int, float | None, int]
"""An interval by its ends, where its mean lies between them (None: it is not told), and how many rows it has."""


def entries() -> st.SearchStrategy[list[Entry]]:
    ends = st.tuples(st.integers(0, 20), st.integers(1, 20)).map(lambda one: (one[0], one[0] + one[1]))
    one = st.tuples(ends, st.none() | st.sampled_from([0.0, 0.1, 0.5, 1.0]), st.integers(1, 30))
    return st.lists(one.map(lambda found: (*found[0], *found[1:])), min_size=1, max_size=6)


def numbers(some: list[Entry]) -> Numbers:
    spreads = [{} if share is None else {"mean": low + share * (high - low)} for low, high, share, _ in some]
    codes = np.repeat(np.arange(len(some), dtype=np.uint8), [rows for *_, rows in some])
    return Numbers.of(Told(codes, [f"[{low}-{high})" for low, high, *_ in some], spreads))


def plain(some: list[Entry], low: int, high: int) -> float:
    """The mean of what told intervals have inside another one, piece by piece; its middle where they have nothing."""
    inside = sums = 0.0
    for begin, end, share, rows in some:
        if share is None:
            continue
        mean = begin + share * (end - begin)
        for first, last, part in ((begin, mean, rows * (1 - share)), (mean, end, rows * share)):
            start, stop = max(first, low), min(last, high)
            if first == last:
                piece = part if low <= first < high else 0.0
            else:
                piece = part * max(stop - start, 0) / (last - first)
            inside, sums = inside + piece, sums + piece * (first if first == last else (start + stop) / 2)
    return sums / inside if inside > 1e-6 else (low + high) / 2


@settings(max_examples=60, deadline=None)
@given(entries())
def test_arrays_say_what_loops_say(some: list[Entry]) -> None:
    found = likely_means(numbers(some))
    for (low, high, share, _), mean in zip(some, found.tolist(), strict=True):
        assert mean == pytest.approx(plain(some, low, high) if share is None else low + share * (high - low), abs=1e-6)


def test_means_of_skewed_amounts_are_nearer_than_middles() -> None:
    chance = np.random.default_rng(0)
    debts = np.sort(np.where(chance.random(6_000) < 0.5, 0, chance.lognormal(7, 1.2, 6_000)).clip(0, 49_999))
    groups = [debts[chance.integers(0, [1_500, 4_000, 6_000][n % 3], 25)] for n in range(200)]
    texts = [f"[{np.floor(one.min())}-{np.floor(one.max()) + 1})" for one in groups]
    means = np.array([one.mean() for one in groups])
    hidden = chance.random(200) < 0.2
    spreads = [{} if gone else {"mean": float(mean)} for gone, mean in zip(hidden, means, strict=True)]
    found = Numbers.of(Told(np.repeat(np.arange(200, dtype=np.uint8), 25), texts, spreads))
    likely = with_likely_means(found)
    assert np.abs(likely.mean - means)[hidden].mean() < 0.5 * np.abs(found.mean - means)[hidden].mean()
    assert (likely.mean[~hidden] == found.mean[~hidden]).all(), "what is told stays"
    silent = replace(found, told=np.zeros(200, dtype=np.bool_))
    assert with_likely_means(silent) is silent, "where nothing is told, middles stay"
