"""Differential privacy as an adversary would test it, on neighbouring tables chosen to hurt; and four planted bugs."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from sfumato.maskers.histogram.domains import Domain, NumberDomain, declared
from sfumato.maskers.histogram.growth import scores
from sfumato.maskers.histogram.marginals import _count, histograms
from sfumato.maskers.histogram.pairs import FINE, apart, joint
from sfumato.maskers.histogram.public_space import PublicSpace, diameter
from sfumato.maskers.histogram.records import Box, Records, records_of, splits
from sfumato.maskers.histogram.specialization import GRAIN, gain, reach, whole
from sfumato.privacy.budget import Budget, Spending
from sfumato.privacy.mechanisms import Mechanisms, Noise, OpenDPNoise, Question
from tests.statistical.audit import Draws, Leak, Outputs, leak
from tests.statistical.many_at_once import Kept, ManyAtOnce
from tests.statistical.neighbours import BASE, HURT, SCHEMA, WITH_ITEMS, Row, far_labels, table_of, with_items
from tests.statistical.whole import WHOLE, spendthrift, worst_of

ONE = Fraction(1)
SOME, RUNS = 2_000, 4_000
OF_A_WHOLE = 600
MANY = 100_000


def records(rows: Sequence[Row], domains: dict[str, Domain] | None = None) -> Records:
    return records_of(table_of(rows), domains or declared(SCHEMA, bins=4, may_miss=()))


def door(noise: Noise, epsilon: Fraction = ONE) -> Mechanisms:
    return Mechanisms(Spending(Budget(epsilon)), noise)


def choices(
    rows: Sequence[Row],
    *,
    domains: dict[str, Domain] | None = None,
    noise: Fraction = ONE,
    many: ManyAtOnce | None = None,
) -> Draws:
    """The choice of two splits of the tree; what comes out are the splits as values."""
    people = records(rows, domains)
    space = PublicSpace.of(people.domains, dict.fromkeys(people.domains, 1.0))
    offered = list(combinations(splits(people.domains, list(people.domains)), 2))
    question = Question(
        scores(people, space, np.zeros(people.rows, dtype=np.int64), offered),
        diameter(space, Box.whole(people.domains)) + 1,
    )
    shown = [_as_values(people.domains, choice) for choice in offered]
    source = many or ManyAtOnce()
    return lambda n: [
        shown[at] for at in door(source, noise).choose("splits", [question] * n, epsilon=noise, monotone=True)
    ]


def _as_values(domains: Any, choice: Any) -> Hashable:
    def value(split: Any) -> Hashable:
        domain = domains[split.attribute]
        return domain.edges[len(split.tests)] if isinstance(domain, NumberDomain) else split.tests

    return tuple((split.attribute, value(split)) for split in choice)


def marginals(rows: Sequence[Row], *, noise: Fraction = ONE, many: ManyAtOnce | None = None) -> Draws:
    """All histograms at an even share of epsilon; what comes out are the cells that the hurting records are in."""
    people = records(rows)
    names = histograms(people.domains)
    each = noise / len(names)
    parts = np.zeros(people.rows, dtype=np.int64)
    exact = {name: _count(people, name, parts, (1, cells)) for name, cells in names.items()}

    def draw(n: int) -> list[Hashable]:
        found = []
        for counts, most in exact.values():
            watched = np.repeat(counts[0, -1:], n)  # the last cell of each histogram: 16, d, r and three items
            noisy = (many or OpenDPNoise()).laplace(watched, epsilon=each, sensitivity=most)
            found.append(np.clip(np.floor(noisy / most * float(each)), -2, 2).astype(int))
        return [tuple(row) for row in np.stack(found, axis=1).tolist()]

    return draw


def one_count(rows: Sequence[Row], *, noise: Fraction = ONE, many: ManyAtOnce | None = None) -> Draws:
    """The noisy number of records with label d."""
    count, source = sum(row[1] == "d" for row in rows), many or OpenDPNoise()
    return lambda n: np.clip(source.laplace(np.full(n, count), epsilon=noise, sensitivity=1), -4, 5).tolist()


def cells(rows: Sequence[Row], *, skip_empty: bool = False, many: ManyAtOnce | None = None) -> Draws:
    """Which combinations of items pass the threshold, and with how many: {p}, {p, q} and {r}, as the records have."""
    bits = [sum(1 << "pqr".index(item) for item in row[2]) for row in rows]
    filled = {code: bits.count(code) for code in set(bits)}
    source = many or ManyAtOnce()

    def draw(n: int) -> Outputs:
        found = door(source).sparse_counts("items", [filled] * n, cells=8, least=2, epsilon=ONE)
        seen = [{code: n for code, n in passed.items() if code in filled or not skip_empty} for passed in found]
        return [tuple(min(passed.get(code, 0), 7) for code in (0b001, 0b011, 0b100)) for passed in seen]

    return draw


def gains(rows: Sequence[Row], *, sensitivity: int | None = None, many: ManyAtOnce | None = None) -> Draws:
    """DPHeter's choice of what to specialize, by information gain on labels of the raw table."""
    labels = far_labels(rows)
    parts = [np.array([row[0] >= 4 for row in rows]), np.array([row[1] in "ab" for row in rows])]
    parts.append(np.array(["q" in row[2] for row in rows]))
    utilities = [whole(gain([np.bincount(labels[half], minlength=2) for half in (part, ~part)])) for part in parts]
    question = Question(utilities, sensitivity or reach(2))
    source = many or ManyAtOnce()
    return lambda n: door(source).choose("gain", [question] * n, epsilon=ONE, monotone=False)


def pairs(rows: Sequence[Row], *, sensitivity: int = FINE, many: ManyAtOnce | None = None) -> Draws:
    """Which pair of attributes is chosen, beside shares that are known, and the noisy count of its last cell; the half
    of epsilon each. Sets stand by themselves, so two of their items are attributes here."""
    people = records_of(with_items(rows), declared(WITH_ITEMS, bins=4, may_miss=()))
    even = {name: np.full(domain.size, 1 / domain.size) for name, domain in people.domains.items()}
    found = [(pair, joint(people, pair)) for pair in combinations(people.domains, 2)]
    question = Question([apart(counts, even, 9.0, pair) for pair, counts in found], sensitivity)
    half, source, last = ONE / 2, many or ManyAtOnce(), int(found[0][1][-1, -1])

    def draw(n: int) -> Outputs:
        chosen = door(source, half).choose("pair", [question] * n, epsilon=half, monotone=False)
        counted = np.clip(source.laplace(np.full(n, last), epsilon=half, sensitivity=1), -4, 5).tolist()
        return list(zip(chosen, counted, strict=True))

    return draw


def raw_label_counts(rows: Sequence[Row]) -> Draws:
    """A planted bug: class counts by raw labels, as if one record changed one of them."""
    count = int(far_labels(rows).sum())
    return lambda n: np.clip(OpenDPNoise().laplace(np.full(n, count), epsilon=ONE, sensitivity=1), -3, 9).tolist()


def data_edges(rows: Sequence[Row]) -> dict[str, Domain]:
    """A planted bug: the candidates for splitting a number are the values that occur."""
    domains = dict(declared(SCHEMA, bins=4, may_miss=()))
    number = domains["number"]
    assert isinstance(number, NumberDomain)
    seen = sorted({float(row[0]) for row in rows})
    return {**domains, "number": replace(number, edges=(0.0, *[value for value in seen if value > 0], 17.0))}


SOUND: dict[str, Callable[..., Draws]] = {
    "splits": choices,
    "marginals": marginals,
    "a count": one_count,
    "combinations": cells,
    "gains": gains,
    "pairs": pairs,
}


def worst(make: Callable[[Sequence[Row]], Draws], record: Row, runs: int) -> Leak:
    return leak(make([*BASE, record])(runs), make(BASE)(runs))


FEW = [
    (mechanism, hurt)
    for row, mechanism in enumerate(SOUND)
    for column, hurt in enumerate(HURT)
    if (row + column) % 2 == 0
]
"""Each mechanism with half of the records, each record with half of the mechanisms; many runs are made of all."""


@pytest.mark.parametrize(("mechanism", "hurt"), FEW)
def test_no_event_tells_neighbours_apart(mechanism: str, hurt: str) -> None:
    assert worst(SOUND[mechanism], HURT[hurt], SOME).epsilon <= 1


@pytest.mark.slow
@pytest.mark.parametrize("mechanism", SOUND)
def test_no_event_tells_neighbours_apart_in_many_runs(mechanism: str) -> None:
    """The runs on the table without the hurting record serve all four pairs, and so does the noise of those with it."""
    kept, drawn = Kept(), SOUND[mechanism]
    without = drawn(BASE)(MANY)
    found = {
        hurt: leak(drawn([*BASE, record], many=kept.again())(MANY), without).epsilon for hurt, record in HURT.items()
    }
    assert {hurt: epsilon for hurt, epsilon in found.items() if epsilon > 1} == {}


def test_many_draws_at_once_are_those_of_single_calls() -> None:
    scores, runs = [0, 2, 5], 2_000
    for monotone in (True, False):
        ways = [
            np.bincount([noise.noisy_max(scores, epsilon=ONE, sensitivity=2, monotone=monotone) for _ in range(runs)])
            for noise in (OpenDPNoise(), ManyAtOnce())
        ]
        assert np.abs(ways[0] - ways[1]).max() < 5 * np.sqrt(runs / 2)
    drawn = ManyAtOnce().laplace(np.full(8_000, 3), epsilon=ONE, sensitivity=2)
    assert abs(drawn.mean() - 3) < 0.2
    single = OpenDPNoise().laplace(np.zeros(8_000, dtype=np.int64), epsilon=ONE, sensitivity=2)
    assert 0.85 < np.var(drawn) / np.var(single) < 1.15


def test_kept_noise_is_used_once_for_each_table() -> None:
    kept, zeros = Kept(), np.zeros(2_000, dtype=np.int64)
    one, other = kept.again(), kept.again()
    first, second = (one.laplace(zeros, epsilon=ONE, sensitivity=9) for _ in range(2))
    assert not np.array_equal(first, second)
    assert np.array_equal(other.laplace(zeros + 3, epsilon=ONE, sensitivity=9), first + 3)
    assert not np.array_equal(other.laplace(zeros, epsilon=ONE, sensitivity=8), second)


def test_answers_that_are_left_belong_to_their_own_question() -> None:
    noise = ManyAtOnce()
    for at in [0, 1] * 20:  # each list is gone before the next one, which may stand in its place
        found = noise.noisy_max([10_000 * (at == 0), 10_000 * (at == 1)], epsilon=ONE, sensitivity=1, monotone=True)
        assert found == at


def test_the_harness_flags_data_dependent_split_values() -> None:
    found = worst(lambda rows: choices(rows, domains=data_edges(rows)), HURT["an extreme number"], RUNS)
    assert found.epsilon > 1


def test_the_harness_flags_skipped_empty_cells() -> None:
    assert worst(lambda rows: cells(rows, skip_empty=True), HURT["an item nobody else has"], RUNS).epsilon > 1


def test_the_harness_flags_half_noise() -> None:
    found = worst(lambda rows: one_count(rows, noise=2 * ONE), HURT["a category nobody else has"], 10 * RUNS)
    assert found.epsilon > 1


def test_the_harness_flags_raw_labels() -> None:
    assert worst(raw_label_counts, HURT["an extreme number"], RUNS).epsilon > 1
    assert worst(lambda rows: gains(rows, sensitivity=GRAIN // 10), HURT["an extreme number"], RUNS).epsilon > 1


def test_the_harness_flags_pairs_that_are_chosen_with_a_hundredth_of_the_noise() -> None:
    found = worst(lambda rows: pairs(rows, sensitivity=FINE // 100), HURT["an extreme number"], RUNS)
    assert found.epsilon > 1


@pytest.mark.slow
@pytest.mark.parametrize("masker", WHOLE)
def test_whole_maskers_tell_no_neighbours_apart(masker: str) -> None:
    """`python -m tools.audit` does the same with 100,000 runs."""
    found = {hurt: lost.epsilon for hurt, lost in worst_of(masker, OF_A_WHOLE).items()}
    assert {hurt: epsilon for hurt, epsilon in found.items() if epsilon > WHOLE[masker].epsilon} == {}


@pytest.mark.slow
def test_the_harness_flags_a_masker_that_learns_its_domain() -> None:
    rows, tree = [*BASE, HURT["a category nobody else has"]], WHOLE["private tree"]
    found = leak(*(tree.outputs(some, 1_000, seed=at, learn=True) for at, some in enumerate((rows, BASE))))
    assert found.epsilon > 1


@pytest.mark.slow
@pytest.mark.parametrize("masker", WHOLE)
def test_the_harness_flags_a_masker_that_spends_too_much(masker: str) -> None:
    assert spendthrift(masker, OF_A_WHOLE).epsilon > WHOLE[masker].epsilon
