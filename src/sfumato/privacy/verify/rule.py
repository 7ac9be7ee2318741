"""What recoding.json says about one column."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NoReturn
from urllib.parse import quote

from sfumato.privacy.verify.fields import Form
from sfumato.privacy.verify.verdict import CheckError

SUPPRESSED = "*"


@dataclass(frozen=True)
class Rule:
    """Which values may be shown (None: missing), what a lifted record shows, what a raw value becomes."""

    kind: str
    shown: frozenset[str | None]
    top: str
    becomes: Callable[[object], str | None]


def has_no_place() -> NoReturn:
    """A raw value that the rule cannot show."""
    raise CheckError("a raw value has no place in the recoding")


def only_keys(form: Form, keys: set[str], where: str) -> None:
    """Refuse what is not understood: it might be anything, raw values too."""
    extra = set(form) - keys
    if extra:
        raise CheckError(f"{where} holds {min(extra)!r}, which is not understood")


def tree_file(name: str) -> str:
    """The file of a column's taxonomy; what a file name cannot hold is written as in an address."""
    return f"taxonomies/{quote(name, safe=' ')}.json"
