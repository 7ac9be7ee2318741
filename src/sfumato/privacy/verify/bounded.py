"""Values of a certificate that cannot be recomputed: each of a narrow form and of a bounded size.

A text that may be anything can carry anything, a raw table too. So there is none: names are those of the table's
columns, times and versions are digits, and numbers have an end.
"""

from __future__ import annotations

import re
from datetime import datetime
from fractions import Fraction

from sfumato.privacy.verify.fields import Form, field, number
from sfumato.privacy.verify.letters import why_no_name
from sfumato.privacy.verify.verdict import CheckError

MOST = 2**53  # every program that reads JSON reads whole numbers up to here exactly
LONGEST_FRACTION = 80
_SHA256 = re.compile(r"[0-9a-f]{64}")
_VERSION = re.compile(r"[0-9]{1,4}(\.[0-9]{1,4}){0,3}((a|b|rc|\.post|\.dev)[0-9]{1,4})?")
_EXACT = re.compile(r"[0-9]+(/[0-9]+)?")


def count(form: Form, key: str, *, least: int = 0, most: int = MOST) -> int:
    """A whole number in its bounds."""
    found = field(form, key, int)
    if not least <= found <= most:
        raise CheckError(f"{key!r} is no whole number from {least} to {most}")
    return found


def column_name(form: Form, key: str) -> str:
    """A name that can be shown: not empty, not endless, without characters that cannot be seen."""
    found = field(form, key, str)
    if wrong := why_no_name(found):
        raise CheckError(f"{key!r} is no name that can be shown: the column {wrong}")
    return found


def sha256(form: Form, key: str) -> str:
    """64 hexadecimal digits."""
    return _matched(form, key, _SHA256, "the SHA-256 of a file")


def version(form: Form, key: str) -> str:
    """The version of a program: a few numbers."""
    return _matched(form, key, _VERSION, "a version such as 1.2.3")


def moment(form: Form, key: str) -> str:
    """A time to the second, in UTC, as `2026-01-31T12:00:00+00:00`."""
    found = field(form, key, str)
    try:
        same = datetime.fromisoformat(found).isoformat(timespec="seconds") == found and found.endswith("+00:00")
    except ValueError:
        same = False
    if not same:
        raise CheckError(f"{key!r} is no time such as 2026-01-31T12:00:00+00:00")
    return found


def fraction(form: Form, key: str) -> Fraction:
    """An exact fraction above 0, in its lowest terms."""
    text = field(form, key, str)
    exact = Fraction(text) if len(text) <= LONGEST_FRACTION and _denominated(text) else Fraction(0)
    if exact <= 0 or str(exact) != text:
        raise CheckError(f"{key!r} is no exact fraction above 0 in its lowest terms")
    return exact


def _denominated(text: str) -> bool:
    return _EXACT.fullmatch(text) is not None and not re.search("/0+$", text)


def figure(form: Form, key: str) -> float:
    """A figure that was counted, with at most six digits after the point."""
    found = number(form, key)
    if not abs(found) < MOST or round(found, 6) != found:
        raise CheckError(f"{key!r} is no number with at most six digits after the point")
    return found


def _matched(form: Form, key: str, shape: re.Pattern[str], what: str) -> str:
    found = field(form, key, str)
    if not shape.fullmatch(found):
        raise CheckError(f"{key!r} is not {what}")
    return found
