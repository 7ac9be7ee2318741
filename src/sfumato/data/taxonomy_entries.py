"""What a taxonomy says, entry by entry, before anybody asks whether it is a tree.

Reading and checking both start here, so a file that can be read and a file that is checked mean the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from sfumato.data.taxonomy import Taxonomy

Layout = Literal["yaml", "json", "arx", "parents"]
Typed = Literal["text", "number", "boolean", "nothing"]
Place = Literal["anywhere", "leaf", "group"]


class Entry(NamedTuple):
    """One place where a label stands: below which label, in which line, and what YAML or JSON takes it for.

    `place` is what the layout says about it: an ARX row begins with a leaf and repeats its groups.
    """

    label: str
    parent: str | None
    line: int | None = None
    typed: Typed = "text"
    place: Place = "anywhere"


@dataclass(frozen=True)
class Finding:
    """Something wrong with a taxonomy: the rule it breaks, the label, the line of the file, and what to do.

    >>> str(Finding("unary", "North", 3, "it has one child only"))
    "line 3: unary: 'North': it has one child only"
    """

    rule: str
    label: str
    line: int | None
    message: str

    def __str__(self) -> str:
        line = "" if self.line is None else f"line {self.line}: "
        label = f"{self.label!r}: " if self.label else ""
        return f"{line}{self.rule}: {label}{self.message}"


@dataclass(frozen=True)
class Listing:
    """All entries of one taxonomy in file order, and what could not be understood."""

    layout: Layout
    entries: tuple[Entry, ...]
    findings: tuple[Finding, ...] = ()
    draft: bool = False


def entries_of(taxonomy: Taxonomy) -> Listing:
    """The entries of a taxonomy that is no file: without lines."""
    entries = (Entry(label, taxonomy.parent(label)) for label in taxonomy)
    return Listing("yaml", tuple(entries), draft=taxonomy.draft)
