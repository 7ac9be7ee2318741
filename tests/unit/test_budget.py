"""Budgets in exact fractions, and the one door through which they are spent."""

from __future__ import annotations

import sys
from fractions import Fraction
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.arrays import Ints
from sfumato.privacy.budget import Budget, BudgetError, Event, Spending, shares
from sfumato.privacy.mechanisms import Mechanisms, OpenDPNoise, Question, SeededNoise, noise_of
from sfumato.randomness import Secure, Seeded


def event(epsilon: Fraction) -> Event:
    return Event("discrete Laplace", "a count", epsilon, "sequential", 1)


@pytest.mark.parametrize("epsilon", [0, -1, 0.0, "0", "nan", float("inf"), float("nan"), True, "one", None])
def test_an_epsilon_that_is_no_positive_number_is_refused(epsilon: object) -> None:
    with pytest.raises(sf.RecipeError, match="positive number"):
        Budget(cast("Any", epsilon))


def test_what_is_written_is_what_is_meant() -> None:
    assert Budget(0.1).epsilon == Fraction(1, 10)
    assert Budget("1/3", total=1).total == 1
    with pytest.raises(sf.RecipeError, match="all together"):
        Budget(2, total=1)


@given(st.fractions(min_value="1/1000", max_value=50), st.lists(st.floats(1e-3, 1e3), min_size=1, max_size=20))
def test_shares_add_up_exactly(epsilon: Fraction, weights: list[float]) -> None:
    split = shares(epsilon, {str(at): weight for at, weight in enumerate(weights)})
    assert sum(split.values()) == epsilon
    assert all(share > 0 for share in split.values())


def test_overspending_is_refused_before_the_data_is_seen() -> None:
    class Watching(OpenDPNoise):
        def laplace(self, values: Ints, *, epsilon: Fraction, sensitivity: int) -> Ints:
            raise AssertionError("the data was looked at")

    spending = Spending(Budget(1))
    spending.spend(event(Fraction(2, 3)))
    with pytest.raises(sf.BudgetError, match="1/3 left"):
        Mechanisms(spending, Watching()).counts("too much", np.array([1]), epsilon=Fraction(1, 2))
    assert spending.left == Fraction(1, 3)
    with pytest.raises(sf.BudgetError, match="2/3 of 1"):
        spending.check_complete()
    spending.spend(event(Fraction(1, 3)))
    spending.check_complete()


def test_a_huge_epsilon_gives_the_exact_answer_and_a_tiny_one_ignores_it() -> None:
    huge, tiny = Fraction(10**9), Fraction(1, 10**9)
    counts = np.array([5, 0, 7])
    assert OpenDPNoise().laplace(counts, epsilon=huge, sensitivity=1).tolist() == [5, 0, 7]
    assert OpenDPNoise().noisy_max([1, 9, 3], epsilon=huge, sensitivity=1, monotone=True) == 1
    chosen = [OpenDPNoise().noisy_max([0, 10**6], epsilon=tiny, sensitivity=1, monotone=False) for _ in range(200)]
    assert 50 < sum(chosen) < 150


def test_seeded_noise_repeats_and_is_not_private() -> None:
    one, two = noise_of(Seeded(3)), noise_of(Seeded(3))
    counts = np.arange(20)
    first = one.laplace(counts, epsilon=Fraction(1, 2), sensitivity=1)
    assert (first == two.laplace(counts, epsilon=Fraction(1, 2), sensitivity=1)).all()
    assert not one.private
    assert noise_of(Secure()).private


@pytest.mark.parametrize("chance", [Seeded(3), Secure()])
def test_without_opendp_one_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch, chance: Seeded | Secure) -> None:
    monkeypatch.setitem(sys.modules, "opendp", None)
    with pytest.raises(BudgetError, match=r"pip install 'sfumato\[dp\]'"):
        noise_of(chance)


@pytest.mark.parametrize("noise", [OpenDPNoise(), SeededNoise(1)])
def test_noise_is_as_wide_as_its_epsilon_says(noise: OpenDPNoise | SeededNoise) -> None:
    drawn = noise.laplace(np.zeros(4_000, dtype=np.int64), epsilon=Fraction(1, 2), sensitivity=3)
    assert 0.85 < np.var(drawn) / (2 * 6**2) < 1.15


def test_every_use_writes_an_event() -> None:
    mechanisms = Mechanisms(Spending(Budget(1)), OpenDPNoise())
    third = Fraction(1, 3)
    mechanisms.counts("how many", np.array([[1, 2], [3, 4]]), epsilon=third, parts=2)
    mechanisms.choose("which", [Question([1, 2], 1)], epsilon=third, monotone=True)
    mechanisms.sparse_counts("cells", [{3: 50}], cells=1 << 19, least=60, epsilon=third)
    events = mechanisms.spending.events
    assert [e.composition for e in events] == ["parallel", "sequential", "sequential"]
    assert mechanisms.spending.spent == 1


def test_empty_cells_pass_as_often_as_their_noise_says() -> None:
    mechanisms = Mechanisms(Spending(Budget(1)), SeededNoise(2))
    passed = mechanisms.sparse_counts("cells", [{}], cells=200_000, least=5, epsilon=Fraction(1))[0]
    expected = 200_000 * np.exp(-5) / (1 + np.exp(-1))
    assert abs(len(passed) - expected) < 5 * np.sqrt(expected)
    assert min(passed.values()) == 5
    assert abs(np.mean(list(passed.values())) - (5 + 1 / (np.e - 1))) < 0.2


@pytest.mark.parametrize("noise", [OpenDPNoise(), SeededNoise(1)])
@pytest.mark.parametrize("epsilon", [40, 100, 700, 1000])
def test_empty_cells_that_never_pass_end_the_search(noise: OpenDPNoise | SeededNoise, epsilon: int) -> None:
    mechanisms = Mechanisms(Spending(Budget(epsilon)), noise)
    assert mechanisms.sparse_counts("cells", [{2: 9}], cells=8, least=1, epsilon=Fraction(epsilon)) == [{2: 9}]
