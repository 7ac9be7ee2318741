"""Interval texts are read back as what they were written from, by Sfumato, by verify and by the lines of the README."""

from __future__ import annotations

import datetime as dt
import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.data import calendar
from sfumato.data.schema import Calendar
from sfumato.data.shown import interval_splits
from sfumato.maskers.recoding.intervals import interval_labels
from sfumato.privacy.verify.intervals import between, ends_of
from sfumato.privacy.verify.intervals import discretize as verified
from sfumato.privacy.verify.texts.earlier_lines import ENDS
from sfumato.structure.masked_positions import Ends, interval_ends

NUMBERS = st.one_of(
    st.integers(-(10**9), 10**9).map(float),
    st.decimals(-1000, 1000, places=3).map(float),
    st.floats(-1e18, 1e18, allow_nan=False).map(lambda number: number + 0.0),
    st.floats(1e-9, 1e-4),
)
DAYS = st.dates(dt.date(1600, 1, 1), dt.date(2400, 1, 1)).map(str)


def by_readme(text: str) -> tuple[str, str]:
    found = re.match(ENDS, text)
    assert found is not None
    return found[1], found[2]


@given(st.lists(NUMBERS, min_size=1, max_size=5, unique=True).map(sorted), st.booleans())
def test_numbers_come_back(breaks: list[float], told: bool) -> None:
    ends = (breaks[0] - 1e19, breaks[-1] + 1e19) if told else None
    marks = [ends[0] if ends else None, *breaks, ends[1] if ends else None]
    for text, (low, high) in zip(interval_labels(ends, breaks), pairwise(marks), strict=True):
        assert len(list(interval_splits(text))) == 1, "there is one way to read it"
        assert interval_ends(text) == interval_ends(f"{text} or missing") == Ends(low, high)
        assert ends_of(text, dates=False) == (low, high)
        assert [None if end == "*" else float(end) for end in by_readme(text)] == [low, high]


@given(st.lists(DAYS, min_size=1, max_size=5, unique=True).map(sorted), st.booleans())
def test_dates_come_back(days: list[str], told: bool) -> None:
    ends = ("1500-01-01", "2500-12-31") if told else None
    marks = [ends[0] if ends else None, *days, "2501-01-01" if ends else None]
    moments = [float(calendar.parse(day)) for day in days]
    for text, (low, high) in zip(interval_labels(ends, moments, "day"), pairwise(marks), strict=True):
        assert len(list(interval_splits(text))) == 1
        assert ends_of(text, dates=True) == (low, high)
        places = (None if end is None else float(calendar.parse(end)) for end in (low, high))
        assert interval_ends(text, "day") == Ends(*places)
        assert by_readme(text) == (low or "*", high or "*")
        assert text.endswith(")"), "every interval of dates is read alike"


@given(st.lists(NUMBERS, min_size=1, max_size=5, unique=True).map(sorted))
def test_verify_writes_the_same_texts_by_itself(breaks: list[float]) -> None:
    rule = verified({"kind": "discretize", "range": None, "breaks": breaks})
    assert rule.shown == frozenset(interval_labels(None, breaks))


UNITS: list[Calendar] = ["year", "quarter", "month", "week", "day", "hour", "minute", "second"]


@given(DAYS, DAYS, st.sampled_from(UNITS), st.sampled_from([4, 7, 10]), st.booleans())
def test_every_interval_of_dates_is_read_by_one_rule(a: str, b: str, unit: Calendar, exact: int, told: bool) -> None:
    """From where a unit begins to before where one begins, however exactly the range was declared."""
    low, high = sorted((a, b))
    ends = (low[:exact], high[:exact]) if told else None
    within = (low, high) if ends is None else (low[:exact], high)
    cuts = sorted({calendar.show(calendar.parse(day), unit) for day in within})[1:]
    shown = interval_labels(ends, [float(calendar.parse(cut)) for cut in cuts], unit)
    if ends is None or ends[0] < ends[1]:
        form = {"kind": "discretize", "range": ends and list(ends), "breaks": cuts, "calendar": unit}
        assert verified(form).shown == frozenset(shown), "verify writes the same by itself"
    assert all(text.startswith("[") and text.endswith(")") for text in shown)
    marks = [end for text in shown for end in by_readme(text) if end != "*"]
    assert len({len(mark) for mark in marks}) <= 1, "all ends are as exact"
    assert all(calendar.show(calendar.parse(mark), unit) == mark for mark in marks)
    if ends is not None:
        reach = interval_ends(shown[-1], unit)
        assert reach is not None
        assert reach.high is not None
        assert calendar.parse(ends[1], end=True) < reach.high, "the last day of the range is inside"


@pytest.mark.parametrize(
    ("text", "ends"),
    [
        ("[17-37)", Ends(17, 37)),
        ("[-5--1)", Ends(-5, -1)),
        ("[..-0.5)", Ends(None, 0.5)),
        ("[..--0.16)", Ends(None, -0.16)),
        ("[0.675-..]", Ends(0.675, None)),
        ("[..-..]", Ends(None, None)),
        ("[-1000-1000]", Ends(-1000, 1000)),
    ],
)
def test_texts_of_earlier_releases_are_still_read(text: str, ends: Ends) -> None:
    assert interval_ends(text) == ends
    assert ends_of(text, dates=False) == (ends.low, ends.high)


def test_earlier_dates_are_still_read() -> None:
    text = "[1897-01-01-1946-12-31]"
    assert ends_of(text, dates=True) == ("1897-01-01", "1946-12-31")
    found = interval_ends(text, "day")
    assert found == Ends(float(calendar.parse("1897-01-01")), float(calendar.parse("1946-12-31")))


def test_a_minus_sign_parts_only_ends_that_have_none() -> None:
    assert [between(*ends) for ends in (("17", "37"), ("-5", "3"), ("1e-05", "1"), ("*", "3"))] == [
        "-",
        "..",
        "..",
        "..",
    ]
