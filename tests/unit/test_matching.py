"""Clusters matched one to one, against scipy."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from sfumato.evaluation.matching import matched


@given(st.integers(1, 9), st.integers(1, 9), st.sampled_from([2, 50, 10**9]), st.integers(0, 2**20))
@settings(max_examples=150)
def test_pairs_share_as_much_as_those_of_scipy(rows: int, columns: int, most: int, seed: int) -> None:
    shared = np.random.default_rng(seed).integers(0, most, (rows, columns))
    found = matched(shared)
    paired = np.flatnonzero(found >= 0)
    assert len(set(found[paired].tolist())) == len(paired) == min(rows, columns)
    best = shared[linear_sum_assignment(shared, maximize=True)].sum()
    assert shared[paired, found[paired]].sum() == best


def test_many_clusters() -> None:
    shared = np.random.default_rng(0).integers(0, 1000, (120, 100))
    found = matched(shared)
    paired = np.flatnonzero(found >= 0)
    assert shared[paired, found[paired]].sum() == shared[linear_sum_assignment(shared, maximize=True)].sum()
