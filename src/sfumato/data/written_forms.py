"""Dates and numbers as people write them, such as 31.12.1990 and 1.234,56, turned into the one form that is read.

Lists as Python and JSON write them are known, and not read.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from sfumato.data.schema import DateOrder, Decimal

_TIME = r"(?:[T ,]+(\d{1,2}:\d{2}(?::\d{2}(?:\.\d{1,6})?)?))?"
_LAST = re.compile(r"(\d{1,2})([-./])(\d{1,2})\2(\d{4})" + _TIME, re.ASCII)
_FIRST = re.compile(r"(\d{4})([-./]?)(\d{1,2})\2(\d{1,2})" + _TIME, re.ASCII)
_GROUPED = {
    "comma": re.compile(r"([+-]?)(\d{1,3}(?:([. '\u00a0\u202f])\d{3})(?:\3\d{3})*|\d+)(?:,(\d+))?", re.ASCII),
    "point": re.compile(r"([+-]?)(\d{1,3}(?:([, '\u00a0\u202f])\d{3})(?:\3\d{3})*|\d+)(?:\.(\d+))?", re.ASCII),
}
COMMA = r"^[+-]?[0-9][0-9. ']*,[0-9]+$"
"""Texts in which a comma may stand before decimals."""
OTHER_MARK = r"^\?[+-]?[0-9]+[.,][0-9]+$"
"""Of texts that `plain_numbers` does not read, those with the other mark before decimals."""

_QUOTED = re.compile(r"""[\[({]\s*(["']).*\1,?\s*[])}]""", re.DOTALL)
_BRACKETS = re.compile(r"\[[^]]*\]|\([^)]*\)|\{[^}]*\}")


def like_lists(texts: Iterable[str], *, quoted: bool = False) -> bool:
    """Whether most texts are lists as Python or JSON write them: in brackets, or with `quoted` in quotation marks, too.

    >>> like_lists(["['flu', 'gout']", "[]", '["flu"]'], quoted=True), like_lists(["[1, 2]", "[3]"])
    (True, True)
    >>> like_lists(["[20, 30]", "[30, 40]"], quoted=True), like_lists(["(flu);(gout)", "flu", "[unknown]"])
    (False, False)
    """
    bare = [text.strip() for text in texts]
    found = [bool(_QUOTED.fullmatch(text)) for text in bare]
    if not quoted or any(found):
        found = [one or bool(_BRACKETS.fullmatch(text)) for one, text in zip(found, bare, strict=True)]
    return 2 * sum(found) > len(found)


def iso_dates(texts: pa.Array[Any], order: DateOrder) -> pa.Array[Any]:
    """Texts with dates in this order in ISO 8601; other texts stay what they are.

    >>> iso_dates(pa.array(["31.12.1990", "1/2/2003 9:05", None, "x"]), "dmy").to_pylist()
    ['1990-12-31', '2003-02-01T09:05', None, 'x']
    >>> iso_dates(pa.array(["19901231"]), "ymd").to_pylist()
    ['1990-12-31']
    """
    return _each(texts, lambda text: iso_date(text, order) or text)


def iso_date(text: str, order: DateOrder) -> str | None:
    """One date in ISO 8601; None if the text has another shape.

    >>> iso_date("12/31/1990", "mdy"), iso_date("1990-12-31", "mdy")
    ('1990-12-31', None)
    """
    if order == "ymd":
        found = _FIRST.fullmatch(text)
        return None if found is None or not _whole(found) else _iso(found[1], found[3], found[4], found[5])
    found = _LAST.fullmatch(text)
    if found is None:
        return None
    day, month = (found[1], found[3]) if order == "dmy" else (found[3], found[1])
    return _iso(found[4], month, day, found[5])


def _whole(found: re.Match[str]) -> bool:
    """Without marks between them month and day have two digits each."""
    return bool(found[2]) or len(found[3]) == len(found[4]) == 2


def _iso(year: str, month: str, day: str, time: str | None) -> str:
    clock = "" if time is None else "T" + time.zfill(len(time) + (time.index(":") == 1))
    return f"{year}-{month:0>2}-{day:0>2}{clock}"


def plain_numbers(texts: pa.Array[Any], decimal: Decimal) -> pa.Array[Any]:
    """Numbers without marks between thousands and with a point before decimals; other texts stay what they are.

    >>> plain_numbers(pa.array(["1.234,56", "-3,5", "12", "1.5"]), "comma").to_pylist()
    ['1234.56', '-3.5', '12', '?1.5']
    """
    return _each(texts, lambda text: plain_number(text, decimal) or _no_number(text))


def plain_number(text: str, decimal: Decimal) -> str | None:
    """One number as it is read; None if the text has another shape.

    >>> plain_number("12 345,5", "comma"), plain_number("1,234.5", "point"), plain_number("1.5", "comma")
    ('12345.5', '1234.5', None)
    """
    found = _GROUPED[decimal].fullmatch(text)
    if found is None:
        return None
    whole = found[2].replace(found[3], "") if found[3] else found[2]
    return found[1] + whole + (f".{found[4]}" if found[4] else "")


def _no_number(text: str) -> str:
    """A text that reads as a number only under the other mark is none: 1.5 where commas stand before decimals."""
    return f"?{text}" if text[:1].isdigit() or text[:1] in "+-." else text


def digits(array: pa.Array[Any]) -> pa.Array[Any]:
    """Whole numbers such as 19901231 as text; numbers with a fraction stay what they are."""
    try:
        return array.cast(pa.int64()).cast(pa.string())
    except pa.ArrowInvalid:
        return array


def _each(texts: pa.Array[Any], change: Callable[[str], str]) -> pa.Array[Any]:
    """Every different text changed once."""
    coded: Any = texts.dictionary_encode()
    changed = pa.array([None if text is None else change(text) for text in coded.dictionary.to_pylist()], pa.string())
    return pc.take(changed, coded.indices)


_SEPARATORS = ("; ", ";", "|", ", ", ",", "/")
_LONGEST_ITEM = 40


def separator_of(texts: Sequence[str]) -> str | None:
    """The separator of texts that list items: the items come again, and their number varies.

    >>> separator_of(["flu;asthma", "flu", "asthma;flu;gout", "gout;flu", "asthma;gout"])
    ';'
    >>> separator_of(["Paris, France", "Lyon, France", "Nice, France"]) is None
    True
    """
    return next((mark for mark in _SEPARATORS if _lists_items(texts, mark)), None)


def _lists_items(texts: Sequence[str], separator: str) -> bool:
    lists = [text.split(separator) for text in texts]
    if sum(len(items) > 1 for items in lists) < 0.3 * len(lists):
        return False
    items = Counter(item for found in lists for item in found)
    comes_again = len(items) * 2 <= items.total()
    short = all(len(item) <= _LONGEST_ITEM for item in items)
    return comes_again and short and len({len(found) for found in lists}) > 1
