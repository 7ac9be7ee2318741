"""Fields of the release's JSON files, each of the kind that it should be."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NoReturn, TypeVar

from sfumato.privacy.verify.verdict import CheckError

Form = Mapping[str, object]
T = TypeVar("T")


def read_json(path: Path) -> Form:
    """A JSON file that holds one mapping; no key stands twice and every number is finite."""
    try:
        form = json.loads(path.read_bytes(), object_pairs_hook=_unique, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        raise CheckError(f"{path.name} is no JSON") from None
    return mapping(form, path.name)


def _unique(pairs: Iterable[tuple[str, object]]) -> dict[str, object]:
    found: dict[str, object] = {}
    for key, value in pairs:
        if key in found:
            raise CheckError(f"the key {key!r} stands twice in one mapping")
        found[key] = value
    return found


def _refuse_constant(name: str) -> NoReturn:
    raise CheckError(f"{name} is no number of JSON")


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
