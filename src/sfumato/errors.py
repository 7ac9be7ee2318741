"""Every error a user can meet: the thing, the rule, what was given, and what to do.

No message carries a cell's value or a count below k.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

MOST_LONG = 2_000
"""Characters of one part of a message."""
MOST_NAMED = 60
"""Names in one message."""


class SfumatoError(Exception):
    """A mistake that a user can mend.

    >>> print(SfumatoError("age", "a range needs its lower end first", given="(90, 17)", remedy="write (17, 90)"))
    age: a range needs its lower end first. Given: (90, 17). To mend it: write (17, 90).
    """

    def __init__(self, thing: str, rule: str, *, given: str = "", remedy: str = "") -> None:
        thing, given, remedy = _short(thing), _short(given), _short(remedy)
        self.thing, self.rule, self.given, self.remedy = thing, rule, given, remedy
        parts = [
            f"{thing}: {rule}",
            f"Given: {given}" if given else "",
            f"To mend it: {remedy}" if remedy else "",
        ]
        super().__init__(" ".join(f"{part.rstrip('.')}." for part in parts if part))


class SchemaError(SfumatoError):
    """The description of the attributes does not hold together, or does not fit the table."""


class TableError(SfumatoError):
    """A table cannot be read, or cannot be written."""


class TaxonomyError(SfumatoError):
    """A taxonomy is not a tree of unique labels, or misses values of the table."""


class RecipeError(SfumatoError):
    """A recipe asks for something unknown or unsound."""


class NoStructure(RecipeError):
    """The records of a table do not have the structure that is asked for."""


class DatasetError(SfumatoError):
    """A bundled or downloadable table is not to be had."""


class Infeasible(SfumatoError):
    """A requirement cannot be met: even the most masked table fails it, or all that this masker can do."""


class ReleaseError(SfumatoError):
    """A release folder cannot be read or written."""


def quoted(name: str) -> str:
    """A name as it stands in a sentence: in quotation marks that it cannot end, so that it speaks for nobody.

    >>> print(quoted("age"), quoted('a "b" c'))
    "age" "a \\"b\\" c"
    """
    inside = name.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{inside}"'


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A remedy for a misspelt name.

    >>> did_you_mean("eduction", ["age", "education"])
    "did you mean 'education'?"
    >>> did_you_mean("zzz", ["age", "education"])
    'use one of: age, education'
    """
    names = list(known)
    if not names:
        return "leave it out: there is nothing to set here"
    few = len(name) <= 100 and len(names) <= 2_000  # a guess among more takes seconds
    close = get_close_matches(name, names, n=1) if few else []
    more = f" and {len(names) - MOST_NAMED:,} more" if len(names) > MOST_NAMED else ""
    return f"did you mean {close[0]!r}?" if close else f"use one of: {', '.join(names[:MOST_NAMED])}{more}"


def _short(text: str) -> str:
    return text if len(text) <= MOST_LONG else f"{text[:MOST_LONG]}... ({len(text):,} characters)"
