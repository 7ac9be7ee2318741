"""Names of columns: they stand in messages, pages and certificates, so they must be what they look like."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

from sfumato.errors import hides, visible

LONGEST = 200
"""Characters of a name."""


@dataclass(frozen=True)
class BadName:
    """A name that cannot be used: the rule, what was given, and what to do."""

    name: str
    rule: str
    given: str
    remedy: str


def bad_name(names: Iterable[str]) -> BadName | None:
    """The first name that is empty, too long, hides characters, or looks like an earlier one; None where all are good.

    >>> bad_name(["age", "sex\u200b"]).given
    "'sex\\\\u200b'"
    """
    seen: dict[str, str] = {}
    for name in names:
        found = _bad(name)
        if found is not None:
            return found
        twin = seen.setdefault(_look(name), name)
        if twin != name:
            rule = "names of columns must differ by more than their code or their spaces"
            return BadName(name, rule, f"{twin!a} and {name!a}, which look alike", "rename one of them")
    return None


def _bad(name: str) -> BadName | None:
    shown = visible(name, most=60)
    if not name.strip():
        return BadName(shown, "an attribute has a name", "an empty name", "name it")
    if len(name) > LONGEST:
        rule = f"a column's name has at most {LONGEST} characters"
        return BadName(shown, rule, f"{len(name)} characters", "rename the column")
    if hides(name):
        rule = "a column's name has no line breaks, control, direction or invisible characters"
        return BadName(shown, rule, f"'{shown}'", "rename the column in the table and in the recipe")
    return None


def _look(name: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", name).split())
