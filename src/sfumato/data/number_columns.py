"""Numbers out of text, and whether numbers are what was declared."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, get_args

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt
from numpy.typing import NDArray

from sfumato.data import calendar, written_forms
from sfumato.data.codes import is_text
from sfumato.data.schema import DateOrder, Number
from sfumato.data.table import Column, Place
from sfumato.errors import SchemaError, TableError

_WHOLE = r"^[+-]?[0-9]+$"
_NUMBER = r"^[+-]?(([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?|(?i:nan|inf|infinity))$"
_DATE = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}"
_ENDLESS = r"(?i)inf"
_UNIT = (
    r"^(?:[+-]?[0-9]+(?:[.,][0-9]+)*\s*[^0-9\s.,+:/_-][^0-9]*[23]?|(?:[€$£¥]|EUR|USD|GBP|CHF)\s*[0-9]+(?:[.,][0-9]+)*)$"
)
"""A number with its unit: 3 kg, 12 months, 20 m2, $5."""
ASK_ORDER = "say `dates: dmy` (mdy, ymd) for the order of day, month and year, "
_EXACT = 2**53  # every whole number below is a float


def to_numbers(name: str, array: pa.Array[Any], attribute: Number, *, place: Place) -> pa.Array[Any]:
    """An array of numbers, dates or times as declared; text is read, everything else is refused."""
    if attribute.dates == "ymd" and (pt.is_integer(array.type) or pt.is_floating(array.type)):
        array = written_forms.digits(array)
    if is_text(array.type):
        texts = written = pc.utf8_trim_whitespace(array)
        if attribute.dates:
            texts = written_forms.iso_dates(texts, attribute.dates)
        if attribute.decimal:
            texts = written_forms.plain_numbers(texts, attribute.decimal)
        if attribute.calendar:
            return _read_moments(name, texts, place=place, written=written, order=attribute.dates)
        return _read_numbers(name, texts, place=place, clip=attribute.range if attribute.outside == "clip" else None)
    if pt.is_null(array.type):
        return array.cast(pa.date32() if attribute.calendar else pa.int64())
    if attribute.calendar:
        return _moments(name, array)
    if pt.is_decimal(array.type):
        return _from_decimal(array)
    if pt.is_integer(array.type) or pt.is_floating(array.type):
        return array
    raise _not_a_number(name, array.type)


def _not_a_number(name: str, kind: pa.DataType) -> SchemaError:
    remedy = "declare it a category"
    if calendar.is_calendar_type(kind):
        remedy = "declare its calendar, for example calendar: day, or declare it a category"
    return SchemaError(name, "a number holds whole or decimal numbers", given=f"type {kind}", remedy=remedy)


def _moments(name: str, array: pa.Array[Any]) -> pa.Array[Any]:
    if calendar.is_calendar_type(array.type):
        return array
    raise SchemaError(
        name,
        "a number with a calendar holds dates or times",
        given=f"type {array.type}",
        remedy="leave calendar out, or convert the column to dates",
    )


def _from_decimal(array: pa.Array[Any]) -> pa.Array[Any]:
    """The nearest number, by its text: Arrow multiplies, and makes 9202.050000000001 of 9202.05.

    >>> _from_decimal(pa.array(["9202.05"]).cast(pa.decimal128(10, 2))).to_pylist()
    [9202.05]
    """
    if array.type.scale <= 0:
        with suppress(pa.ArrowInvalid):
            return array.cast(pa.int64())
    return array.cast(pa.string()).cast(pa.float64())


def _read_moments(
    name: str, texts: pa.Array[Any], *, place: Place, written: pa.Array[Any], order: DateOrder | None
) -> pa.Array[Any]:
    found, bad = calendar.from_text(texts)
    if not bad.any():
        return found
    orders: tuple[DateOrder, ...] = get_args(DateOrder)
    fits = [one for one in orders if not calendar.from_text(written_forms.iso_dates(written, one))[1].any()]
    if fits:
        raise TableError(
            name,
            f"{place(bad)} holds no date in the order that is declared",
            given=f"dates: {order}" if order else "no order, which is ISO 8601",
            remedy=f"say dates: {' or '.join(fits)}, in which every date of the column can be read",
        )
    if order and (no_day := _no_days(written, order)).any():
        raise TableError(
            name,
            f"{place(no_day)} holds a date that is not in the calendar",
            given=f"no such day or time in the declared order, dates: {order}",
            remedy="mend the cells (30 February and the like), or list their text under `missing`",
        )
    raise TableError(
        name,
        f"{place(bad)} holds no ISO 8601 date or time, or one with a zone beside others without",
        given=f"other text, nor is it a date in the declared order, dates: {order}" if order else "other text",
        remedy=f"write 1990-03-01 or 1990-03-01T12:00:00, {'' if order else ASK_ORDER}list the text under `missing`, "
        "or declare a category",
    )


def _no_days(written: pa.Array[Any], order: DateOrder) -> NDArray[np.bool_]:
    """Which texts have the shape of a date in this order, of a day or time that there is not."""
    dates = [None if text is None else written_forms.iso_date(text, order) for text in written.to_pylist()]
    shaped = np.flatnonzero([date is not None for date in dates])
    found = np.zeros(len(dates), dtype=np.bool_)
    found[shaped] = calendar.from_text(pa.array([dates[at] for at in shaped], pa.string()))[1]
    return found


Range = tuple[float, float] | tuple[str, str]


def _read_numbers(name: str, texts: pa.Array[Any], *, place: Place, clip: Range | None = None) -> pa.Array[Any]:
    """Texts as numbers, each exactly; outside a range to which numbers are moved anyway, nearly is enough."""
    whole = _matches(texts, _WHOLE)
    if whole.all():
        return _whole_numbers(name, texts, place=place, clip=clip is not None)
    bad = ~whole & ~_matches(texts, _NUMBER)
    if bad.any():
        raise TableError(
            name,
            f"{place(bad)} holds no number",
            given="other text" if bad.sum() == 1 else f"{bad.sum():,} different texts that are none",
            remedy=_otherwise(texts, bad),
        )
    floats = texts.cast(pa.float64())
    numbers = floats.fill_null(0).to_numpy()
    bad = np.isinf(numbers) & ~_matches(texts, _ENDLESS)
    for at in np.flatnonzero(whole & (np.abs(numbers) >= _EXACT)):
        bad[at] = bad[at] or int(numbers[at]) != int(str(texts[int(at)]))
    if clip is not None:
        bad &= (numbers >= float(clip[0])) & (numbers <= float(clip[1]))
    if bad.any():
        raise _too_large(name, place(bad))
    return floats


def _otherwise(texts: pa.Array[Any], bad: NDArray[np.bool_]) -> str:
    """What to do about texts that are no numbers."""
    dates = _matches(texts, _DATE)[bad]
    if dates.any():
        return "if these are dates, declare their calendar, for example `calendar: day`"
    if 2 * np.count_nonzero(_matches(texts, _UNIT)[bad]) > len(texts):
        return "most cells have a unit beside their number: take it out of the column, and write all in the same unit"
    if _matches(texts, written_forms.OTHER_MARK)[bad].any():
        return "some cells have a comma before decimals and some a point: write them alike"
    if _matches(texts, written_forms.COMMA)[bad].any():
        return "if a comma stands before decimals, say `decimal: comma`; else list the text under `missing`"
    return "list the text under `missing`, or declare the column a category"


def _whole_numbers(name: str, texts: pa.Array[Any], *, place: Place, clip: bool = False) -> pa.Array[Any]:
    plain = pc.utf8_ltrim(texts, characters="+")
    for kind in (pa.int64(), pa.uint64()):
        try:
            return plain.cast(kind)
        except pa.ArrowInvalid:
            continue
    numbers = [_nearly(str(text)) if text.is_valid else None for text in plain]
    limit = 2**63 if min(n for n in numbers if n is not None) < 0 else 2**64
    if clip:
        bounded = [None if n is None else max(-(2**63), min(n, limit - 1)) for n in numbers]
        return pa.array(bounded, type=pa.int64() if limit == 2**63 else pa.uint64())
    raise _too_large(name, place(np.array([n is not None and not -(2**63) <= n < limit for n in numbers])))


def _nearly(text: str) -> int:
    """A whole number of at most 20 digits exactly; of more, one that needs more than 64 bits as well."""
    digits = text.lstrip("+-").lstrip("0")
    return int(text) if len(digits) <= 20 else -(2**65) if text.startswith("-") else 2**65


def _too_large(name: str, where: str) -> TableError:
    return TableError(
        name,
        f"the number in {where} is too large to be kept exactly",
        given="more than 64 bits, or more than a decimal number keeps",
        remedy="declare the column a category",
    )


def _matches(texts: pa.Array[Any], pattern: str) -> NDArray[np.bool_]:
    """Which texts match; a null does."""
    found = pc.match_substring_regex(texts, pattern).fill_null(True)
    return found.to_numpy(zero_copy_only=False)


def check_number(name: str, column: Column, attribute: Number, *, place: Place) -> None:
    """Refuse fractions among declared whole numbers, and numbers outside the declared range; `place` tells of rows."""
    if attribute.integer and pt.is_floating(column.values.type):
        floats = column.values.to_numpy()
        if not (np.floor(floats) == floats).all():
            raise TableError(
                name,
                "whole numbers were declared",
                given="numbers with a fraction, or what is no number",
                remedy="leave integer out, or round the column",
            )
    if attribute.range is not None:
        _check_range(name, column, attribute, place=place)


def _check_range(name: str, column: Column, attribute: Number, *, place: Place) -> None:
    lower, upper = attribute.range or (0, 0)
    if attribute.calendar:
        first, last = calendar.parse(str(lower)), calendar.parse(str(upper), end=True)
        numbers: NDArray[Any] = calendar.to_number(column.values)
        inside = (numbers >= first) & (numbers <= last)
    else:
        numbers = column.values.to_numpy()
        inside = (numbers >= lower) & (numbers <= upper)
    if inside.all():
        return
    outside: NDArray[np.bool_] = np.append(~inside, False)[column.codes]
    one = "date or time" if attribute.calendar else "number"
    rows = int(outside.sum())
    raise TableError(
        name,
        f"every {one} must lie within the declared range [{lower}, {upper}], but {place(outside)} holds another",
        given=f"{rows:,} row{'s' if rows > 1 else ''} outside",
        remedy=f"widen the range, mend the rows, say outside: clip, or list the {one} for missing under `missing`",
    )


_LEADING_ZERO = r"^[+-]?0[0-9]"


def guessed(texts: pa.Array[Any]) -> pa.Array[Any]:
    """Numbers or dates if every text is one and none would change, such as 007; else the texts."""
    if texts.null_count == len(texts) or _matches(texts, _LEADING_ZERO).any():
        return texts
    if _matches(texts, _NUMBER).all():
        try:
            return _read_numbers("", texts, place=lambda _: "")
        except TableError:
            return texts
    found, bad = calendar.from_text(texts)
    return texts if bad.any() else found
