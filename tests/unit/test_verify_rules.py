"""verify's own reading of recoding.json: what may be shown, and what a raw value becomes."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal

import pytest

from sfumato.privacy.verify.explained.recoding import generalize, suppress
from sfumato.privacy.verify.fields import Form
from sfumato.privacy.verify.intervals import discretize
from sfumato.privacy.verify.values import iso, moment
from sfumato.privacy.verify.verdict import CheckError

TREE: Form = {
    "label": "ANY",
    "below": [
        {"label": "North", "below": ["a", "b"]},
        {"label": "South", "below": ["c", {"label": "Deep", "below": ["d", "e"]}]},
    ],
}


def numbers(**more: object) -> Form:
    return {"kind": "discretize", "range": None, "breaks": [], **more}


@pytest.mark.parametrize(
    "cut", [["ANY"], ["North", "South"], ["a", "b", "South"], ["North", "c", "Deep"], ["a", "b", "c", "d", "e", None]]
)
def test_cuts(cut: list[str | None]) -> None:
    rule = generalize({"kind": "generalize", "cut": cut}, TREE)
    assert rule.shown == set(cut)
    assert rule.top == "ANY"
    assert all(rule.becomes(leaf) in cut for leaf in "abcde")


@pytest.mark.parametrize(
    "cut", [[], ["North"], ["ANY", "a"], ["North", "South", "c"], ["North", "c", "d"], ["x"], ["North", "South", 3]]
)
def test_what_is_no_cut(cut: list[object]) -> None:
    with pytest.raises(CheckError):
        generalize({"kind": "generalize", "cut": cut}, TREE)


@pytest.mark.parametrize(
    "tree",
    [
        {},
        {"A": ["x", "y"]},
        {"label": "A", "below": ["x", "x"]},
        {"label": "A", "below": [{"label": "B", "below": ["x"]}, {"label": "C", "below": ["x"]}]},
        {"label": "A", "below": ["A"]},
        {"label": "A", "below": 3},
        {"label": "A", "below": [3]},
        {"label": 3, "below": ["A"]},
        {"label": None, "below": []},
        {"label": "A", "below": [{"label": "x", "below": []}]},
        {"label": "A", "below": [{"label": None, "below": ["x"]}]},
        {"below": ["x"], "label": "A"},
        {"label": "A", "below": ["x"], "name": "Ada"},
    ],
)
def test_what_is_no_tree(tree: Form) -> None:
    with pytest.raises(CheckError):
        generalize({"kind": "generalize", "cut": ["A"]}, tree)


def test_missing_labels() -> None:
    whole = generalize({"kind": "generalize", "cut": ["ANY"]}, TREE)
    apart = generalize({"kind": "generalize", "cut": ["North", "South", None]}, TREE)
    none = generalize({"kind": "generalize", "cut": ["North", "South"]}, TREE)
    assert whole.becomes(None) == "ANY"
    assert apart.becomes(None) is None
    with pytest.raises(CheckError):
        none.becomes(None)
    with pytest.raises(CheckError):
        none.becomes("North")


def test_suppressed_labels() -> None:
    rule = suppress({"kind": "suppress", "disclosed": ["7", None], "complete": False})
    assert rule.shown == {"7", None, "*"}
    assert (rule.becomes(7), rule.becomes("8"), rule.becomes(None)) == ("7", "*", None)
    whole = suppress({"kind": "suppress", "disclosed": ["7"], "complete": True})
    assert whole.shown == {"7"}
    with pytest.raises(CheckError):
        whole.becomes("8")


@pytest.mark.parametrize(
    ("form", "shown", "top"),
    [
        (numbers(), {"[*..*]"}, "[*..*]"),
        (numbers(range=[0, 1], breaks=[0.1, 0.25]), {"[0-0.1)", "[0.1-0.25)", "[0.25-1]"}, "[0-1]"),
        (numbers(range=[-5, 5.0], breaks=[0]), {"[-5..0)", "[0-5]"}, "[-5..5]"),
        (numbers(breaks=[37.0], missing="apart"), {"[*..37)", "[37..*]", None}, "*"),
        (numbers(breaks=[], missing="together"), {"*"}, "*"),
        (numbers(breaks=[1e22]), {"[*..1e+22)", "[1e+22..*]"}, "[*..*]"),
        (numbers(breaks=["1990"], calendar="year"), {"[*..1990)", "[1990..*)"}, "[*..*)"),
        (
            numbers(range=["1900-01-01", "2026-12-31"], breaks=["1990-03-01T12:00"], calendar="hour"),
            {"[1900-01-01T00:00..1990-03-01T12:00)", "[1990-03-01T12:00..2027-01-01T00:00)"},
            "[1900-01-01T00:00..2027-01-01T00:00)",
        ),
    ],
)
def test_intervals(form: Form, shown: set[str | None], top: str) -> None:
    rule = discretize(form)
    assert rule.shown == shown
    assert rule.top == top


@pytest.mark.parametrize(
    "form",
    [
        numbers(breaks=[2, 1]),
        numbers(breaks=[1, 1]),
        numbers(breaks=["1"]),
        numbers(breaks=[True]),
        numbers(range=[0], breaks=[]),
        numbers(range=[0, 1], breaks=[0]),
        numbers(range=[0, 1], breaks=[2]),
        numbers(range=[1, 0]),
        numbers(missing="maybe"),
        numbers(calendar="decade"),
        numbers(breaks=["1990-03"], calendar="year"),
        numbers(breaks=["1990", "1980"], calendar="year"),
        numbers(range=["1990", "2000"], breaks=["2001"], calendar="year"),
        numbers(breaks=[1990], calendar="year"),
    ],
)
def test_what_are_no_intervals(form: Form) -> None:
    with pytest.raises(CheckError):
        discretize(form)


def test_numbers_become_intervals() -> None:
    rule = discretize(numbers(range=[0, 10], breaks=[5], missing="apart"))
    low, high = "[0-5)", "[5-10]"
    shown = {0: low, 4.999: low, 5: high, 10: high, "4": low, " 5.0 ": high, Decimal("4.9"): low, None: None}
    assert {value: rule.becomes(value) for value in shown} == shown
    assert rule.becomes(float("nan")) is None
    for outside in (-1, 10.5, "x", ""):
        with pytest.raises(CheckError):
            rule.becomes(outside)


def test_dates_become_intervals() -> None:
    rule = discretize(numbers(range=["1980", "1999"], breaks=["1990-03"], calendar="month"))
    low, high = "[1980-01..1990-03)", "[1990-03..2000-01)"
    shown = {
        date(1980, 1, 1): low,
        date(1990, 2, 28): low,
        date(1990, 3, 1): high,
        datetime(1999, 12, 31, 23, 59): high,
        datetime(1990, 3, 1, 0, 30, tzinfo=timezone(timedelta(hours=1))): low,
        "1990-03-01": high,
        "1990-03-01 00:30+01:00": low,
    }
    assert {value: rule.becomes(value) for value in shown} == shown
    for outside in (date(1979, 12, 31), date(2000, 1, 1), "1990-13-01", "March"):
        with pytest.raises(CheckError):
            rule.becomes(outside)


def test_midnight_is_where_a_day_begins() -> None:
    rule = discretize(numbers(breaks=["1990-03-01T00:00"], calendar="minute"))
    assert rule.becomes(date(1990, 3, 1)) == rule.becomes(datetime(1990, 3, 1, tzinfo=UTC)) == "[1990-03-01T00:00..*)"
    assert rule.becomes(datetime(1990, 2, 28, 23, 59, 59)) == "[*..1990-03-01T00:00)"


def test_texts_of_dates() -> None:
    assert iso("1990-03-01T12:00Z") == "1990-03-01T12:00"
    assert iso("1990-03-01T12") == "1990-03-01T12"
    assert iso("1990-03-01T12:00:00.5") == "1990-03-01T12:00:00.5"
    assert iso("19900301") is None
    assert moment("1990-02-30") is None
