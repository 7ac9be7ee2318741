"""The worked examples of paper 000, section 4.3, and its Table 7."""

from __future__ import annotations

import numpy as np
import pytest

from sfumato.evaluation.clusters import (
    clusters_kept,
    contingency,
    f_measure,
    f_measure_of,
    f_measures,
    match_point,
    match_point_of,
    misclassification,
)

# Table 4: raw clusters C1, C2 against masked clusters K1, K2; Table 1 tells who is where.
SHARED = {(1, 2): 19, (1, 1): 2, (2, 2): 3, (2, 1): 10}
RAW = np.array([raw for (raw, _), n in SHARED.items() for _ in range(n)])
MASKED = np.array([masked for (_, masked), n in SHARED.items() for _ in range(n)])


def test_table_4_is_the_contingency_table() -> None:
    assert contingency(RAW, MASKED).tolist() == [[2, 19], [10, 3]]


def test_table_5_has_the_f_of_each_pair() -> None:
    assert f_measures(contingency(RAW, MASKED)) == pytest.approx(np.array([[0.12, 0.88], [0.8, 0.17]]), abs=0.005)


def test_example_4_3_overall_f() -> None:
    exact = (21 * (2 * 19 / (21 + 22)) + 13 * (2 * 10 / (13 + 12))) / 34
    assert f_measure(RAW, MASKED) == pytest.approx(exact, abs=1e-12)
    assert round(f_measure(RAW, MASKED), 4) == 0.8517  # printed as 0.85


def test_example_4_4_match_point() -> None:
    """Printed as 924/1156 = 0.80. The contingency table gives 866/1156: PAPERS.md, 002-9.

    29 records stand in their own cluster and 5 do not. With two clusters a pair matches exactly when both
    records are in place or both are not, so 29^2 + 5^2 = 866 of the 34^2 ordered pairs match.
    """
    assert 29**2 + 5**2 == 866
    assert match_point(RAW, MASKED) == 866 / 34**2
    assert round(match_point(RAW, MASKED), 3) == 0.749


def test_example_4_4_by_the_two_matrices_of_eq_10() -> None:
    together_raw = RAW[:, None] == RAW[None, :]
    together_masked = MASKED[:, None] == MASKED[None, :]
    assert (together_raw == together_masked).sum() == 866


def test_five_of_34_are_misclassified() -> None:
    assert misclassification(RAW, MASKED) == pytest.approx(5 / 34)


# Columns K2, K5, K1, K3, K6, K4.
TABLE_7 = np.array(
    [
        [12655, 0, 0, 0, 13, 1],
        [0, 6198, 0, 0, 19, 22],
        [0, 0, 6513, 0, 0, 59],
        [0, 0, 0, 4239, 386, 0],
        [0, 0, 0, 3846, 3171, 0],
        [0, 0, 0, 0, 0, 8100],
    ]
)


def test_table_7_gives_the_printed_figures() -> None:
    assert TABLE_7.sum() == 45_222
    assert round(f_measure_of(TABLE_7), 2) == 0.90
    assert round(match_point_of(TABLE_7), 2) == 0.97


def test_table_7_as_what_became_of_each_cluster() -> None:
    at = np.argwhere(TABLE_7 >= 0)
    raw, masked = (np.repeat(part, TABLE_7.ravel()) for part in at.T)
    kept = clusters_kept(raw, masked)
    assert [row.found_as for row in kept] == [0, 1, 2, 3, 4, 5]
    assert (kept[0].size, kept[0].found) == (12_669, 12_655)
    assert kept[4].recall == pytest.approx(3171 / 7017)
    assert f_measure(raw, masked) == pytest.approx(sum(row.size * row.f for row in kept) / 45_222)
