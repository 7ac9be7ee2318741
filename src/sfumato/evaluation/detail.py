"""Whether everybody is shown as finely as the recipe wishes, read off what is shown.

What a masker knows of its own values is not asked: texts are read again, as a recipient does.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from sfumato.data.axis import labels_of
from sfumato.data.detail import Detail, Few, Span, Width, Wish, ends_of
from sfumato.data.masked import Masked
from sfumato.data.schema import Attribute, Category, Number
from sfumato.data.shown import OR_MISSING, SUPPRESSED, set_members
from sfumato.data.table import Column, Table
from sfumato.errors import ReleaseError
from sfumato.structure.masked_positions import interval_ends


@dataclass(frozen=True)
class DetailKept:
    """A wish that was kept, in words."""

    name: str
    wish: str

    def to_json(self) -> dict[str, Any]:
        """By plain names."""
        return {"column": self.name, "shown": self.wish}


def check_detail(table: Table, masked: Masked, detail: Detail) -> tuple[DetailKept, ...]:
    """Every wish, each of them kept by every shown value; a masked table that does not keep one never comes out."""
    for name, wish in detail.items():
        shown = masked[name]
        if masked.lifted is not None or not shown.shows_labels or _coarse(table, name, shown.labels, wish):
            raise ReleaseError(
                f"detail: {name}",
                f"everybody must be shown {wish}",
                given="a value that is coarser",
                remedy="report this: the masker and the check of what it shows disagree",
            )
    return tuple(DetailKept(name, str(wish)) for name, wish in detail.items())


def _coarse(table: Table, name: str, labels: Collection[str], wish: Wish) -> bool:
    """Whether some shown value is coarser than wished; a missing one shows all that there is."""
    attribute = table.schema[name]
    if isinstance(wish, Few):
        counted = Labels.of(attribute, table.column(name))
        return any(counted.in_shown(label) > wish.most for label in labels)
    if not isinstance(attribute, Number):
        raise TypeError(f"{name} is no number")
    return not all(_narrow(attribute, label, wish) for label in labels)


def _narrow(attribute: Number, label: str, wish: Width | Span) -> bool:
    low, high = ends_of(attribute)
    if label == SUPPRESSED:
        return wish.fits(low, high)
    ends = interval_ends(label, attribute.calendar)
    if ends is None or ends.low is None or ends.high is None:
        return False
    closed = label.removesuffix(OR_MISSING).endswith("]")  # reaches to the end of the range, of dates its last unit
    return wish.fits(ends.low, high if closed else ends.high)


@dataclass(frozen=True, eq=False)
class Labels:
    """All labels of a column: those that are declared or occur, what stands for several of them, and missing ones."""

    known: Collection[str]
    above: dict[str, int]
    every: int

    @classmethod
    def of(cls, attribute: Attribute, column: Column) -> Labels:
        """A category's labels."""
        tree = attribute.taxonomy if isinstance(attribute, Category) else None
        declared = attribute.values or () if isinstance(attribute, Category) and tree is None else ()
        known = dict.fromkeys(tree.leaves if tree is not None else (*declared, *labels_of(column.values)))
        every = len(known) + (column.missing > 0)
        above = {} if tree is None else {label: len(tree.leaves_of(label)) for label in tree.labels}
        return cls(known, {**above, **({tree.root: every} if tree is not None else {})}, every)

    def in_shown(self, text: str) -> int:
        """How many labels a shown text stands for.

        >>> labels = Labels({"a": 1, "b": 1, "a, b": 1}, {"ANY": 3}, 3)
        >>> [labels.in_shown(text) for text in ("a", "{a, b}", '{"a, b"} or missing', "ANY", "*", "?")]
        [1, 2, 2, 3, 3, 3]
        """
        if text in self.known or text in self.above:
            return self.above.get(text, 1)
        return len(set_members(text, self.known)) or self.every
