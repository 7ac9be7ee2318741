"""Fields of the release's JSON files, each of the kind that it should be.

A JSON file of a release has one form: what `json.dumps` makes of its content with an indent of one, in UTF-8, with a
line end. Spaces, escapes and other spellings of the same number could say anything, so they are refused. What cannot be
recomputed has a narrow form and a bounded size: a text that may be anything can carry anything, a raw table too.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from fractions import Fraction
from pathlib import Path
from typing import NoReturn, TypeVar

from sfumato.events import checkpoint
from sfumato.privacy.verify.files.regular_files import MOST_OF_JSON, most_of, read_regular
from sfumato.privacy.verify.letters import why_no_name
from sfumato.privacy.verify.verdict import CheckError

Form = Mapping[str, object]
T = TypeVar("T")
DEEPEST = 256  # mappings and lists inside each other; in the one form each is one space further to the right
SHORT = 100  # entries of a list or mapping that are written at once
LONGEST = 40  # characters of a number
LABEL = 1000  # characters of a name that no row of the table shows
OTHERWISE = "is not written in the one form that its content has: spaces, escapes or numbers differ"
_TOO_DEEP = re.compile(rb"\n {%d}" % (DEEPEST + 1))
_SURROGATE = re.compile("[\ud800-\udfff]")


def read_json(path: Path, *, formed: bool = True) -> Form:
    """A JSON file that holds one mapping, written in the one form; no key stands twice and every number is finite.

    `formed`: it goes out, and another form could hide something. What the holder keeps may have any.
    """
    name = path.name
    content = read_regular(path, most=most_of(name) or MOST_OF_JSON)
    if _TOO_DEEP.search(content):
        raise CheckError(f"{name} is nested more than {DEEPEST} deep, or has spaces that say nothing")
    try:
        form = json.loads(
            content.decode("utf-8"),
            object_pairs_hook=_unique,
            parse_constant=_refuse_constant,
            parse_int=_int,
            parse_float=_float,
        )
        if formed:
            _check_form(name, form, content)
    except RecursionError:
        raise CheckError(f"{name} is nested more than {DEEPEST} deep") from None
    except ValueError:
        raise CheckError(f"{name} is no JSON") from None
    return mapping(form, name)


def _check_form(name: str, form: object, content: bytes) -> None:
    """The bytes are those that the content gives when it is written again.

    Piece by piece, up to the first that differs: what is not in the one form can be far larger in it.
    """
    at = 0
    for number, piece in enumerate(_pieces(form, "\n")):
        if number % SHORT == 0:
            checkpoint()
        if _SURROGATE.search(piece):
            raise CheckError(f"{name} holds half a character: a surrogate that stands alone")
        expected = piece.encode()
        if not content.startswith(expected, at):
            raise CheckError(f"{name} {OTHERWISE}")
        at += len(expected)
    if content[at:] != b"\n":
        raise CheckError(f"{name} {OTHERWISE}")


def _pieces(form: object, line: str) -> Iterator[str]:
    """The one form, some of it at a time: a short list or mapping of plain values at once, by the compiled encoder.

    `line`: a line end, and the spaces with which the lines of this form begin.
    """
    inner = line + " "
    if not isinstance(form, dict | list) or not form:
        yield json.dumps(form, ensure_ascii=False, allow_nan=False)
        return
    values = list(form.values()) if isinstance(form, dict) else form
    if len(form) <= SHORT and not any(isinstance(value, dict | list) for value in values):
        text = json.dumps(form, ensure_ascii=False, allow_nan=False, separators=("," + inner, ": "))
        yield text[0] + inner + text[1:-1] + line + text[-1]
        return
    if isinstance(form, list) and not any(isinstance(value, dict | list) for value in values):
        for at in range(0, len(values), SHORT):
            some = json.dumps(
                values[at : at + SHORT], ensure_ascii=False, allow_nan=False, separators=("," + inner, "")
            )
            yield ("," if at else "[") + inner + some[1:-1]
        yield line + "]"
        return
    keys = [json.dumps(key, ensure_ascii=False) + ": " for key in form] if isinstance(form, dict) else [""] * len(form)
    for at, (key, value) in enumerate(zip(keys, values, strict=True)):
        yield ("," if at else "{" if isinstance(form, dict) else "[") + inner + key
        yield from _pieces(value, inner)
    yield line + ("}" if isinstance(form, dict) else "]")


def _unique(pairs: Iterable[tuple[str, object]]) -> dict[str, object]:
    checkpoint()
    found: dict[str, object] = {}
    for key, value in pairs:
        if key in found:
            raise CheckError("a key stands twice in one mapping")
        found[key] = value
    return found


def _refuse_constant(name: str) -> NoReturn:
    raise CheckError(f"{name} is no number of JSON")


def _int(text: str) -> int:
    if len(text) > LONGEST:
        raise CheckError(f"a number has more than {LONGEST} digits")
    return int(text)


def _float(text: str) -> float:
    number = float(text) if len(text) <= LONGEST else float("inf")
    if number in (float("inf"), float("-inf")):
        raise CheckError(f"a number has more than {LONGEST} digits, or is larger than a number can be")
    if number == 0 and text.startswith("-"):
        raise CheckError("a number is -0.0, which is 0.0")
    return number


def only_keys(form: Form, keys: set[str], where: str) -> None:
    """Refuse what is not understood: it might be anything, raw values too."""
    extra = set(form) - keys
    if extra:
        raise CheckError(f"{where} holds {min(extra)!r}, which is not understood")


def exact_keys(form: Form, keys: Sequence[str], where: str) -> None:
    """The mapping has these keys, in this order, and no others: neither keys nor their order say anything more."""
    if list(form) == list(keys):
        return
    extra, gone = set(form) - set(keys), set(keys) - set(form)
    if extra:
        raise CheckError(f"{where} holds a key that is not understood")
    raise CheckError(f"{where} has no {min(gone)!r}" if gone else f"the keys of {where} stand in another order")


def ascending(texts: Sequence[str | None], where: str) -> None:
    """Different texts in the order of their letters, null last: their order says nothing."""
    expected = sorted(text for text in set(texts) if text is not None)
    if list(texts) != [*expected, *([None] if None in texts else [])]:
        raise CheckError(f"{where}: labels are different, and stand in the order of their letters")


def short(text: str, where: str) -> str:
    """A name that no row shows is no longer than a name is."""
    if len(text) > LABEL:
        raise CheckError(f"{where} has a name of more than {LABEL} characters that the table does not show")
    return text


def field(form: Form, key: str, kind: type[T]) -> T:
    """What stands under a key; it is of this kind."""
    value = form.get(key)
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise CheckError(f"{key!r} is missing, or is no {kind.__name__}")
    return value


def whole(form: Form, key: str) -> int:
    """A whole number that is not negative."""
    number = field(form, key, int)
    if number < 0:
        raise CheckError(f"{key!r} is negative")
    return number


def number(form: Form, key: str) -> float:
    """A number."""
    value = form.get(key)
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise CheckError(f"{key!r} is missing, or is no number")
    return value


def share(form: Form, key: str) -> float:
    """A number above 0 and below 1: a bound of 1 is kept by every table, and claims nothing."""
    value = number(form, key)
    if not 0 < value < 1:
        raise CheckError(f"{key!r} is no share above 0 and below 1")
    return value


def one_of(form: Form, key: str, known: Sequence[str]) -> str:
    """One of some words."""
    word = field(form, key, str)
    if word not in known:
        raise CheckError(f"{key!r} is one of {', '.join(known)}")
    return word


def forms(form: Form, key: str) -> tuple[Form, ...]:
    """A list of mappings."""
    entries: list[object] = field(form, key, list)
    return tuple(mapping(entry, key) for entry in entries)


def names(form: Form, key: str) -> tuple[str, ...]:
    """A list of different texts."""
    entries: list[object] = field(form, key, list)
    texts = tuple(entry for entry in entries if isinstance(entry, str))
    if len(set(texts)) != len(entries):
        raise CheckError(f"{key!r} is a list of different names")
    return texts


def mapping(entry: object, key: str) -> Form:
    """The entry, if it is a mapping."""
    if not isinstance(entry, dict):
        raise CheckError(f"what stands under {key!r} is no mapping")
    return entry


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
