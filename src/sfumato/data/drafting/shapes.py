"""What texts and numbers look like: dates in the usual orders, decimals, ranges, lists, texts that mean missing."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from sfumato.data import calendar, written_forms
from sfumato.data.number_columns import guessed
from sfumato.data.schema import Calendar, DateOrder, Decimal

_USUAL = (
    "?,??,na,n/a,#n/a,n.a.,nan,null,none,nil,missing,unknown,not available,not known,not stated,not specified,-,--,---,"
    ".,..,k.a.,k. a.,k.a,k/a"
)
_ABROAD = (
    "keine angabe,keine angaben,ohne angabe,unbekannt,nicht bekannt,nicht angegeben,inconnu,inconnue,non renseigné,"
    "non renseignée,non renseigne,non communiqué,non précisé,non disponible,non connu,desconocido,desconocida,sin dato,"
    "sin datos,s/d,s/i,sin información,sin informacion,no consta,no disponible,no informado,ns/nc,sconosciuto,"
    "sconosciuta,non disponibile,non noto,dato mancante,onbekend,niet bekend,niet opgegeven,geen opgave,"
    "n.v.t.,n.v.t,nvt,niet van toepassing,desconhecido,"
    "desconhecida,não informado,nao informado,não informada,não disponível,sem informação,sem dados,n/d,n/r,n/c"
)
MISSING = frozenset(("", *_USUAL.split(","), *_ABROAD.split(",")))
"""Texts that usually mean missing, whatever the column holds: in lower case, without spaces around them."""
_SHORT = "nd,n.d.,n.d,nc,n.c.,nr,n.r.,ni,n.i.,sd,s.d.,ns,n.s.,nk,n.b."
AMONG_NUMBERS = frozenset(_SHORT.split(","))
"""Texts that mean missing where nearly all others are numbers or dates; among labels they may be a state or a party."""
_NUMERIC = r"^[+-]?[\d.,:/\-' ]*\d[\d.,:/\-' TZ%]*$"
_NEARLY = 0.9
MISSING_NUMBERS = (-9, -99, -999, -9999)
"""Numbers that mean missing where no other number is below zero."""
_PARTS = re.compile(r"(\d{1,2})([-./])(\d{1,2})\2\d{4}(?:[T ,].*)?", re.ASCII)
_YEAR_FIRST = re.compile(r"\d{4}([-./])\d{1,2}\1\d{1,2}(?:[T ,].*)?", re.ASCII)
_GROUPS = re.compile(r"[+-]?\d{1,3}(,\d{3})+(\.\d+)?", re.ASCII)
_LEADING_ZERO = re.compile(r"[+-]?0\d", re.ASCII)
_FEWEST_DATES = 10
_YEARS = range(1900, 2101)


@dataclass(frozen=True, eq=False)
class Reading:
    """Texts as what they mean, and how they are written; `unsure` of the order of days and months."""

    values: pa.Array[Any]
    dates: DateOrder | None = None
    decimal: Decimal | None = None
    unsure: bool = False


def read_texts(texts: pa.Array[Any], *, dated: bool = False) -> Reading:
    """Different texts as numbers or dates if all of them are; else as they are. `dated`: the name says so.

    >>> read_texts(pa.array(["31.12.1990", "01.02.2003"])).values.to_pylist()
    [datetime.date(1990, 12, 31), datetime.date(2003, 2, 1)]
    >>> read_texts(pa.array(["1.234,50", "7,25"])).decimal
    'comma'
    """
    plain = guessed(texts)
    if not len(texts) or plain.type != texts.type:
        return compact_dates(plain, dated=dated) or Reading(plain)
    listed = [str(text) for text in texts.to_pylist()]
    for order in _orders(listed):
        values, bad = calendar.from_text(written_forms.iso_dates(texts, order))
        if not bad.any():
            return Reading(values, dates=order, unsure=order != "ymd" and _ambiguous(listed))
    decimal = _decimal(listed)
    if decimal is not None:
        return Reading(guessed(written_forms.plain_numbers(texts, decimal)), decimal=decimal)
    return Reading(texts)


def compact_dates(numbers: pa.Array[Any], *, dated: bool) -> Reading | None:
    """Numbers such as 19901231 as dates, if all are; few of them only if the name says that they are dates."""
    if not pa.types.is_integer(numbers.type) or not (dated or len(numbers) >= _FEWEST_DATES):
        return None
    texts = written_forms.digits(numbers)
    if not all(len(text) == 8 and int(text[:4]) in _YEARS for text in map(str, texts.to_pylist())):
        return None
    values, bad = calendar.from_text(written_forms.iso_dates(texts, "ymd"))
    return None if bad.any() else Reading(values, dates="ymd")


def is_dated(text: str) -> bool:
    """Whether a text has the shape of a date, whether or not there is such a day.

    >>> is_dated("31/12/1990"), is_dated("1990-02-31 9:05"), is_dated("flu/gout"), is_dated("1/2")
    (True, True, False, False)
    """
    return (_PARTS.fullmatch(text) or _YEAR_FIRST.fullmatch(text)) is not None


def no_dates(texts: Sequence[str]) -> list[bool]:
    """Which texts are no dates in the order in which most of them are: other shapes, and days that do not exist."""
    dated = next(text for text in texts if is_dated(text))
    tried = [
        [not is_dated(text) or bool(no) for text, no in zip(texts, bad, strict=True)]
        for order in _orders([dated])
        for _, bad in [calendar.from_text(written_forms.iso_dates(pa.array(texts), order))]
    ]
    return min(tried, key=sum)


def _orders(texts: Sequence[str]) -> Sequence[DateOrder]:
    """The orders that may be meant, the likelier first: only America puts months first, and never with points."""
    first = texts[0]
    if _PARTS.fullmatch(first) is None:
        return ("ymd",) if re.match(r"\d{4}[-./]?\d", first) else ()
    return ("dmy",) if "." in first[:6] else ("dmy", "mdy")


def _ambiguous(texts: Sequence[str]) -> bool:
    """Whether no day is above 12, so that days and months could be swapped; points are never American."""
    parts = [_PARTS.fullmatch(text) for text in texts]
    return all(part is not None and part[2] != "." and int(part[1]) <= 12 and int(part[3]) <= 12 for part in parts)


def _decimal(texts: Sequence[str]) -> Decimal | None:
    """The mark before decimals of numbers that are not plain ones; codes such as 01,02 are none."""
    if any(_LEADING_ZERO.match(text) for text in texts) or not any("," in text for text in texts):
        return None
    if all(_GROUPS.fullmatch(text) or "," not in text for text in texts):
        return "point" if all(written_forms.plain_number(text, "point") for text in texts) else None
    return "comma" if all(written_forms.plain_number(text, "comma") for text in texts) else None


@dataclass(frozen=True)
class CalendarGuess:
    """A unit for intervals, and whole years around all dates and times."""

    unit: Calendar
    range: tuple[str, str]


_UNITS: tuple[tuple[timedelta, Calendar], ...] = (
    (timedelta(days=365 * 30), "year"),
    (timedelta(days=365), "month"),
    (timedelta(days=3), "day"),
    (timedelta(hours=3), "hour"),
    (timedelta(minutes=3), "minute"),
)


class FewAt(NamedTuple):
    """Whether so few people are at the lower end, and at the upper one, that a range ending there tells of them."""

    low: bool = False
    high: bool = False


MANY = FewAt()
"""Nobody stands out at either end."""


def calendar_for(first: datetime, last: datetime, *, timed: bool, few: FewAt = MANY) -> CalendarGuess:
    """The calendar of dates from the first to the last; `timed` if they have times of day. `few`: of those in the years
    of the first and the last date.

    >>> calendar_for(datetime(1990, 5, 17), datetime(2003, 1, 1), timed=False)
    CalendarGuess(unit='month', range=('1990-01-01', '2003-12-31'))
    >>> calendar_for(datetime(1990, 5, 17), datetime(2003, 1, 1), timed=False, few=FewAt(True, True)).range
    ('1980-01-01', '2009-12-31')
    """
    span = last - first
    shortest: Calendar = "second" if timed else "day"
    unit = next((unit for length, unit in _UNITS if span > length), shortest)
    unit = unit if timed or unit in ("year", "month") else "day"
    since = max(1, (first.year - 1) // 10 * 10) if few.low else first.year
    until = min(9999, (last.year + 1) // 10 * 10 + 9) if few.high else last.year
    end = f"{until + 1:04}-01-01" if timed and until < 9999 else f"{until:04}-12-31"
    return CalendarGuess(unit, (f"{since:04}-01-01", end))


def rounded_range(lowest: float, highest: float, *, few: FewAt = MANY) -> tuple[float, float]:
    """Round ends around the numbers, so that the exact extremes are not told. `few`: of those who have them.

    >>> rounded_range(17, 90), rounded_range(0.13, 0.87), rounded_range(5, 5)
    ((10, 90), (0.1, 0.9), (5, 6))
    >>> rounded_range(140, 200, few=FewAt(True, True)), rounded_range(0, 95, few=FewAt(True, True))
    ((130, 210), (0, 100))
    """
    span = highest - lowest
    power = math.floor(math.log10(span)) if span > 0 else 0
    step = 10.0**power
    digits = max(0, -power)
    lower, upper = round(math.floor(lowest / step) * step, digits), round(math.ceil(highest / step) * step, digits)
    while lower > lowest:  # what is divided and multiplied again may have moved
        lower = round(lower - step, digits)
    while upper < highest or upper <= lower:
        upper = round(upper + step, digits)
    if few.low and lower == lowest != 0:  # nobody is told by a range that begins with nothing
        lower = round(lower - step, digits)
    if few.high and upper == highest != 0:
        upper = round(upper + step, digits)
    if float(lower).is_integer() and float(upper).is_integer():
        return (int(lower), int(upper))
    return (lower, upper)


def is_missing(texts: pa.Array[Any], more: Sequence[str] = ()) -> pa.Array[Any]:
    """Which texts mean missing: the usual ones in any case, and `more` exactly. Of those, none is a word among words,
    such as a disease that somebody does not have; None, as Python writes it, is not.

    >>> is_missing(pa.array(["asthma", "none", "None", "unknown"])).to_pylist()
    [False, False, True, True]
    >>> is_missing(pa.array(["12", "none"])).to_pylist()
    [False, True]
    >>> is_missing(pa.array(["12,50", "n.d."])).to_pylist(), is_missing(pa.array(["ND", "NY"])).to_pylist()
    ([False, True], [False, False])
    """
    bare = pc.utf8_trim_whitespace(texts)
    plain = pc.utf8_lower(bare)
    held = {text for text in plain.to_pylist() if text is not None}
    known = MISSING - {"-", "--"} if "+" in held else MISSING  # plus and minus
    if _numeric(held - MISSING - AMONG_NUMBERS):
        known |= AMONG_NUMBERS
    usual = pc.or_(
        pc.is_in(plain, value_set=pa.array(sorted(known))),
        pc.is_in(bare, value_set=pa.array(["n.b."])),  # not known, in Dutch; N.B. is a province
    )
    if (words := held - MISSING) and not any(letter.isdigit() for text in words for letter in text):
        word: Any = pc.and_not(
            pc.is_in(plain, value_set=pa.array(["none"])), pc.is_in(bare, value_set=pa.array(["None"]))
        )
        usual = pc.and_not(usual, word)
    return pc.or_(usual, pc.is_in(texts, value_set=pa.array(more, pa.string()))) if more else usual


def _numeric(texts: Collection[str]) -> bool:
    """Whether nearly all texts are written as numbers or dates are."""
    shaped: Any = pc.match_substring_regex(pa.array(sorted(texts), pa.string()), _NUMERIC)
    return bool(texts) and (pc.sum(shaped).as_py() or 0) >= _NEARLY * len(texts)
