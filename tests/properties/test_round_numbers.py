"""Laws of round numbers: an end parts its neighbours, is nobody's own, and nothing rounder lies between them."""

from __future__ import annotations

import math
from datetime import date
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from sfumato.data import calendar
from sfumato.data.axis import NumberAxis, make_axis
from sfumato.data.encoding import encode
from sfumato.data.round_numbers import Grid, Holders, Real, end_between, roundest, roundness, separable
from sfumato.data.schema import Calendar, Number, Schema
from sfumato.engines import LocalEngine
from sfumato.maskers.masker import Labels, Masker, Task
from sfumato.maskers.mondrian.fit import Mondrian
from sfumato.maskers.partition.fit import Partition
from sfumato.maskers.recoding.intervals import show_number
from sfumato.maskers.recoding.rules import Discretize
from sfumato.maskers.topdown.masker import TopDown
from sfumato.privacy.requirements import KAnonymity

FLOATS = st.floats(allow_nan=False)
WHOLE = st.integers(-(2**63), 2**63 - 1)
UNITS: tuple[Calendar, ...] = ("year", "quarter", "month", "week", "day", "hour", "minute", "second")
TINY = 5e-324


def axis_of(values: list[Any], many: int, **declared: Any) -> NumberAxis:
    attribute = Number(role="quasi", **declared)
    column = encode(pa.table({"x": values}), Schema(x=attribute)).column("x")
    found = make_axis("x", attribute, column, many=many)
    assert isinstance(found, NumberAxis)
    return found


def steps(most: int) -> list[Fraction]:
    return [digit * Fraction(10) ** power for power in range(most, -4, -1) for digit in (5, 2, 1)]


def by_looking(low: Fraction, high: Fraction) -> Fraction:
    """Every multiple of every step, from the largest step down; the nearest to the middle, the lower on a tie."""
    if low < 0 < high:
        return Fraction(0)
    for step in steps(3):
        inside = [n * step for n in range(math.floor(low / step), math.ceil(high / step) + 1) if low < n * step < high]
        if inside:
            return min(inside, key=lambda number: (abs(number - (low + high) / 2), number))
    raise AssertionError("the steps are too coarse")


@given(st.integers(-2_000, 2_000), st.integers(1, 900), st.sampled_from([1, 10, 100]))
def test_nothing_rounder_lies_between(first: int, width: int, parts: int) -> None:
    low, high = Fraction(first, parts), Fraction(first + width, parts)
    found = roundest(float(low), float(high))
    assert found is not None
    assert Fraction(repr(float(found))) == by_looking(low, high)


@given(FLOATS, FLOATS)
@example(0.0, TINY)
@example(-TINY, TINY)
@example(TINY, 3 * TINY)
@example(1.7e308, math.inf)
@example(-math.inf, math.inf)
@example(0.1, 0.30000000000000004)
@example(0.3, 0.30000000000000004)
def test_floats_are_parted_where_a_float_lies_between(first: float, second: float) -> None:
    low, high = sorted((first, second))
    found = roundest(low, high)
    between = low < high and math.nextafter(low, math.inf) < high
    assert (found is not None) == between
    if low < high:
        assert separable(np.array([low, high])).tolist() == [False, between]
    if found is not None:
        assert low < found < high
        assert math.isfinite(found)
        assert math.copysign(1, found) == 1 or found < 0


@given(WHOLE, WHOLE)
@example(2**62, 2**62 + 1)
@example(2**62, 2**62 + 2)
@example(2**52 - 1, 2**52)
@example(2**52, 2**52 + 1)
@example(-(2**52), 1 - 2**52)
@example(-(2**63), 2**63 - 1)
def test_whole_numbers_are_parted_exactly(first: int, second: int) -> None:
    low, high = sorted((first, second))
    found = roundest(low, high)
    if low < high:
        assert separable(np.array([low, high])).tolist() == [False, found is not None]
    if found is not None:
        assert low < Fraction(found) < high
        assert isinstance(found, int) or high == low + 1


@given(FLOATS, FLOATS)
@example(36.0, 37.0)
def test_the_upper_number_is_an_end_only_if_many_share_it_and_it_is_rounder(first: float, second: float) -> None:
    low, high = sorted((first, second))
    assume(low < high)
    alone, shared = (end_between(low, high, shared=many) for many in (False, True))
    assert alone == roundest(low, high)
    if shared == high:
        assert alone is None or roundness(high) > roundness(alone)
    elif math.isfinite(high):
        assert shared == alone


@pytest.mark.parametrize(
    ("low", "high", "shown"),
    [
        (36, 37, "36.5"),
        (36, 38, "37"),
        (30, 41, "40"),
        (41234.56, 41234.59, "41234.58"),
        (39_999.99, 40_000.01, "40000"),
        (-3, 8, "0"),
        (-41, -30, "-40"),
        (0.1, 0.2, "0.15"),
        (0.001, 0.00101, "0.001005"),
        (1e22, 2e22, "1.5e+22"),
        (98, 1003, "1000"),
        (99.5, 100.5, "100"),
        (19, 41, "20"),
    ],
)
def test_ends_are_spelt_shortly(low: Real, high: Real, shown: str) -> None:
    found = roundest(low, high)
    assert found is not None
    assert show_number(found) == shown


@given(st.lists(st.integers(0, 30), min_size=2, max_size=60), st.integers(1, 6), st.data())
def test_an_axis_ends_on_nobodys_own_number(values: list[int], many: int, data: st.DataObject) -> None:
    """Also where an interval has no records at some of the positions before its end, as regions of Mondrian may."""
    if len(set(values)) < 2:
        return
    axis = axis_of(values, many)
    below, at = sorted(data.draw(st.lists(st.integers(0, len(axis.numbers) - 1), min_size=2, max_size=2, unique=True)))
    assert axis.separable[1:].all()
    end = axis.end(at, below)
    assert axis.numbers[below] < end <= axis.numbers[at]
    assert values.count(int(end)) >= many if end in values else True


def test_where_all_round_numbers_are_somebodys_another_is_found() -> None:
    values = [
        0.0,
        1.0,
        *(math.nextafter(1.0, 2), 100.0),
        *(step * n for step in (0.5, 0.2, 0.1, 5, 2) for n in range(50)),
    ]
    axis = axis_of(sorted(set(values)), 2)
    for at in range(2, len(axis.numbers)):
        if axis.separable[1 : at + 1].any():
            end = axis.end(at, 0)
            assert axis.numbers[0] < end < axis.numbers[at]
            assert end not in values


NEXT = math.nextafter(1.0, 2)
TOGETHER, APART = {"[0-9]"}, {"[0-1.0000000000000002)", "[1.0000000000000002-9]"}


@pytest.mark.parametrize(
    "masker", [TopDown(), TopDown(split="best_valid"), Mondrian(), Mondrian(score="median"), Partition()]
)
@pytest.mark.parametrize(
    ("values", "shown"),
    [
        ([1.0] * 3 + [NEXT] * 2 + [5.0], TOGETHER),
        ([1.0] * 3 + [NEXT] * 3, APART),
        ([1.0] * 3 + [2.25] * 2 + [5.0], {"[0-2)", "[2-9]"}),
    ],
)
def test_what_no_number_parts_stays_together_unless_many_share_it(
    masker: Masker, values: list[float], shown: set[str]
) -> None:
    table = encode(pa.table({"x": values}), Schema(x=Number(role="quasi", range=(0, 9))))
    labels = Labels(np.array([0, 0, 0, 1, 1, 1], dtype=np.uint8), 2)
    outcome = masker.mask(Task(table, labels, (KAnonymity(["x"], 3),), LocalEngine()))
    assert set(outcome.masked["x"].to_pylist()) == shown


def test_large_whole_numbers_are_not_rounded_beside_a_break_with_a_fraction() -> None:
    large = 2**60 + 1
    rule = Discretize(None, (36.5, large))
    assert rule.places(pa.array([36, 37, large - 1, large]))[:-1].tolist() == [0, 1, 1, 2]
    assert rule.places(pa.array([36, 37], pa.int8()))[:-1].tolist() == [0, 1]


def moment(text: str, unit: Calendar) -> int:
    return int(calendar.floor(np.array([calendar.parse(text)]), unit)[0])


@given(st.sampled_from(UNITS), st.integers(-(10**15), 10**15), st.integers(1, 60), st.booleans())
def test_dates_end_at_the_start_of_a_unit_and_nothing_rounder_lies_between(
    unit: Calendar, first: int, later: int, shared: bool
) -> None:
    low, high = calendar.floor(np.array([first, first + later * calendar.LONGEST[unit]]), unit).tolist()
    end = calendar.end_between(low, high, unit, shared=shared)
    assert calendar.separable(np.array([low, high]), unit)[1] or shared == (end is not None)
    if end is None:
        return
    starts = [low]
    while starts[-1] < high:
        starts.append(calendar._next(starts[-1], unit))
    assert end in starts[1:]
    ranks = [calendar._rank(start, unit) for start in starts[1:-1]]
    if end == high:
        public = calendar.PUBLIC.get(unit)
        assert shared or (not ranks and (public is None or calendar.floor(np.array([end]), public)[0] == end))
        assert not ranks or calendar._rank(end, unit) < min(ranks)
    else:
        assert calendar._rank(end, unit) == min(ranks)


@pytest.mark.parametrize(
    ("unit", "low", "high", "shown"),
    [
        ("day", "1987-03-05", "1994-11-30", "1990-01-01"),
        ("day", "1994-12-02", "1994-12-09", "1994-12-05"),
        ("day", "1994-12-02", "1994-12-19", "1994-12-11"),
        ("day", "1994-11-30", "1994-12-01", "1994-12-01"),
        ("day", "1994-12-02", "1994-12-03", None),
        ("month", "1994-10", "1994-11", "1994-11"),
        ("week", "1999-10-11", "2003-02-03", "2000-01-03"),
        ("year", "1985", "2003", "2000"),
        ("hour", "1994-12-02T10:00", "1994-12-02T17:00", "1994-12-02T12:00"),
        ("second", "1994-12-02T10:00:07", "1994-12-02T10:00:08", None),
    ],
)
def test_round_dates_by_hand(unit: Calendar, low: str, high: str, shown: str | None) -> None:
    found = calendar.end_between(moment(low, unit), moment(high, unit), unit, shared=False)
    assert (None if found is None else calendar.show(found, unit)) == shown


def test_days_that_follow_on_each_other_are_parted_at_the_first_of_a_month_or_where_many_share_one() -> None:
    days = [date(1990, 1, 29 + at) if at < 3 else date(1990, 2, at - 2) for at in range(9)]
    axis = axis_of([*days, *[days[6]] * 4], 5, calendar="day")
    assert [bool(able) for able in axis.separable] == [at in (3, 6) for at in range(9)]
    assert [calendar.show(axis.end(at), "day") for at in (3, 6)] == ["1990-02-01", "1990-02-04"]


@given(st.lists(st.integers(0, 10_000), min_size=3, max_size=40), st.integers(2, 5))
def test_a_mean_is_on_the_grid_and_near_and_nobodys_own(cents: list[int], k: int) -> None:
    numbers = np.array(cents) / 100
    holders = Holders.of(numbers, np.ones(len(numbers), dtype=np.int64), k)
    mean, low, high = float(numbers.mean()), float(numbers.min()), float(numbers.max())
    shown = Grid.of((0, 100), holders).show(mean, low, high)
    assert shown == round(shown, 1)
    near = [round(math.floor(mean * 10) / 10, 1), round(math.ceil(mean * 10) / 10, 1)]
    assert shown in near or holders.few(near[0])
    assert holders.free(shown) or all(holders.few(number) for number in near)


@pytest.mark.parametrize(
    ("ends", "whole", "mean", "held", "shown"),
    [
        ((0, 500_000), False, 41_260.0, [], 41_300.0),
        ((0, 500_000), False, 41_260.0, [41_300.0], 41_200.0),
        ((0, 500_000), False, 41_260.0, [41_300.0, 41_200.0], 41_400.0),
        (None, False, 41_234.567, [], 41_234.6),
        (None, False, 41_234.567, [41_234.6], 41_234.5),
        (None, True, 41_234.4, [41_234.0], 41_235.0),
        (None, True, 4_123_456.7, [], 4_123_460.0),
        ((17, 90), True, 85.8, [86.0], 86.0),
        (None, True, 85.8, [86.0], 86.0),
        (None, False, 0.0, [0.0], 0.0),
        (None, False, -1e-320, [], -1e-320),
        (None, False, 1.7976931348623157e308, [], 1.79769e308),
    ],
)
def test_means_by_hand(
    ends: tuple[float, float] | None, whole: bool, mean: float, held: list[float], shown: float
) -> None:
    holders = Holders.of(np.array(held), np.ones(len(held), dtype=np.int64), 5)
    assert Grid.of(ends, holders, whole=whole).show(mean, -1e308, 1e308) == shown


def test_roundness_falls_along_the_steps() -> None:
    rising = [0.001, 0.02, 0.25, 37, 36, 35, 30, 20, 50, 100]
    assert all(roundness(a) <= roundness(b) for a, b in pairwise(rising))


@pytest.mark.parametrize(
    ("whole", "numbers", "held", "shown"),
    [
        (False, [41_210.0, 41_290.0], [], 41_250.0),  # the grid is of hundreds
        (False, [41_210.0, 41_290.0], [41_250.0], 41_240.0),
        (False, [41_190.0, 41_290.0, 41_290.0], [], 41_200.0),  # not the nearer 41,300, which lies outside
        (False, [41_234.56] * 3, [], 41_234.56),
        (True, [41_234, 41_235], [], 41_200.0),  # no whole number lies between
        (True, [41_234, 41_240], [], 41_235.0),
    ],
)
def test_a_class_shows_a_number_between_its_own(
    whole: bool, numbers: list[float], held: list[float], shown: float
) -> None:
    few = np.array([*held, *(number for number in set(numbers) if numbers.count(number) < 3)])
    grid = Grid.of((0, 500_000), Holders.of(few, np.ones(len(few), dtype=np.int64), 3), whole=whole)
    assert grid.show_within(sum(numbers) / len(numbers), min(numbers), max(numbers)) == shown
