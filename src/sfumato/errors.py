"""Every error a user can meet: the thing, the rule, what was given, and what to do.

No message carries a cell's value or a count below k.
"""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import Any

MOST_NAMED = 60
"""Names in one message."""
# Characters that draw nothing, or that steer a terminal, a line or the order of its letters: Unicode's Cc, Cf, Zl, Zp,
# Cs and Co, what may be ignored when text is drawn, and code points that are no characters. They are written out,
# because Python's own tables differ from version to version.
HIDDEN = (
    "\x00-\x1f\x7f-\x9f\xad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b-\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164\ud800-\uf8ff\ufdd0-\ufdef\ufe00-\ufe0f\ufeff\uffa0"
    "\ufff0-\ufffb\ufffe\uffff\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3"
    "\U0001d173-\U0001d17a\U0001fffe\U0001ffff\U0002fffe\U0002ffff\U0003fffe-\U0010ffff"
)
_HIDDEN = re.compile(f"[{HIDDEN}]")
LONGEST = 2000
"""Characters of a part of a message that are still shown."""


def visible(text: str, *, most: int | None = None) -> str:
    """A text that speaks for nobody else: hidden characters are written out, and from `most` on it is cut.

    >>> visible("age\x1b[2J\u202e"), visible("a" * 10, most=4)
    ('age\\\\x1b[2J\\\\u202e', 'aaa…')
    """
    cut = text if most is None or len(text) <= most else text[: most - 1] + "…"
    return _HIDDEN.sub(lambda found: _written_out(ord(found[0])), cut)


def hides(text: str) -> bool:
    """Whether a text holds a hidden character."""
    return _HIDDEN.search(text) is not None


def _shown(text: str) -> str:
    return visible(text, most=LONGEST)


def _ended(sentence: str) -> str:
    """With a full stop at its end; a question has its own mark."""
    return sentence if sentence.endswith("?") else f"{sentence.rstrip('.')}."


def _written_out(code: int) -> str:
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


class SfumatoError(Exception):
    """A mistake that a user can mend.

    >>> print(SfumatoError("age", "a range needs its lower end first", given="(90, 17)", remedy="write (17, 90)"))
    age: a range needs its lower end first. Given: (90, 17). To mend it: write (17, 90).
    """

    def __init__(self, thing: str, rule: str, *, given: str = "", remedy: str = "") -> None:
        self.thing, self.rule, self.given, self.remedy = map(_shown, (thing, rule, given, remedy))
        parts = [
            f"{self.thing}: {self.rule}",
            f"Given: {self.given}" if given else "",
            f"To mend it: {self.remedy}" if remedy else "",
        ]
        super().__init__(" ".join(map(_ended, filter(None, parts))))

    def __reduce__(self) -> tuple[Any, ...]:
        """As it goes from one process to another: with its words, which are not made again."""
        return _as_it_was, (type(self), self.args, self.__dict__)


def _as_it_was(kind: type[SfumatoError], args: tuple[Any, ...], told: dict[str, Any]) -> SfumatoError:
    error = kind.__new__(kind, *args)
    error.__dict__.update(told)
    return error


class SchemaError(SfumatoError):
    """The description of the attributes does not hold together, or does not fit the table."""


class TableError(SfumatoError):
    """A table cannot be read, or cannot be written."""


class TaxonomyError(SfumatoError):
    """A taxonomy is not a tree of unique labels, or misses values of the table."""


class RecipeError(SfumatoError):
    """A recipe asks for something unknown or unsound."""


class PolicyError(RecipeError):
    """A policy cannot be understood, or a recipe, a table or a release does not satisfy a check of one."""


class NoStructure(RecipeError):
    """The records of a table do not have the structure that is asked for."""


class DatasetError(SfumatoError):
    """A bundled or downloadable table is not to be had."""


class Infeasible(SfumatoError):
    """A requirement cannot be met: even the most masked table fails it, or all that this masker can do."""


class ReleaseError(SfumatoError):
    """A release folder cannot be read or written."""


class Stopped(BaseException):
    """A run was asked to end and did. It is no mistake of anybody, so it is no SfumatoError; nothing was left.

    Like KeyboardInterrupt it is no Exception: whoever handles mistakes must not take it for one.
    """

    def __init__(self, step: str = "") -> None:
        super().__init__(f"stopped while {step[:1].lower()}{step[1:]}" if step else "stopped")


def warn(message: str) -> None:
    """A warning that points at the line of the user, however deep in the program it was raised."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in _OURS:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, stacklevel=level)


_OURS = {"sfumato", "contextlib"}


def quoted(name: str) -> str:
    """A name as it stands in a sentence: in quotation marks that it cannot end, so that it speaks for nobody.

    >>> print(quoted("age"), quoted('a "b" c'))
    "age" "a \\"b\\" c"
    """
    inside = visible(name).replace("\\", "\\\\").replace('"', '\\"')
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
    close = nearest(name, names)
    more = f" and {len(names) - MOST_NAMED:,} more" if len(names) > MOST_NAMED else ""
    return f"did you mean {close!r}?" if close is not None else f"use one of: {', '.join(names[:MOST_NAMED])}{more}"


def nearest(name: str, names: Sequence[str]) -> str | None:
    """The name that is spelt most alike, if one is."""
    few = len(name) <= 100 and len(names) <= 2_000  # a guess among more takes seconds
    return next(iter(get_close_matches(name, names, n=1)), None) if few else None
