"""The rule of a set-valued attribute: a set is shown as the set of the cut's labels that it has items under."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import pyarrow as pa

from sfumato.arrays import Ints, Marks
from sfumato.data.masked import Masked
from sfumato.data.table import AnyColumn, ItemColumn
from sfumato.errors import RecipeError, TableError
from sfumato.maskers.recoding.rules import Generalize, Points, Rule

KIND = "generalize_sets"


@dataclass(frozen=True)
class GeneralizeSets(Rule):
    """A cut through the taxonomy of the items. `apart`: empty and missing sets are shown as such; else everybody shows
    the root, whatever set there is, or none. `separator`: what stands between two labels in a text file."""

    kind: ClassVar[str] = KIND
    tells_domain: ClassVar[bool] = False

    items: Generalize
    apart: bool = True
    separator: str = ";"

    @property
    def top(self) -> str:
        """The root: what the most masked record shows, alone."""
        return self.items.top

    @property
    def shown(self) -> tuple[str | None, ...]:
        """Every label that a set may show."""
        return self.items.cut

    @property
    def known(self) -> frozenset[str]:
        """The leaves of the tree."""
        return self.items.known

    def places(self, values: pa.Array[Any]) -> Ints:
        """(items + 1,): which label of the cut each item is shown by; -1 where it was never seen."""
        return self.items.places(values)

    def reach(self, points: Points) -> Marks:
        """Refused: what sets tell beside other releases is not counted."""
        raise RecipeError(
            "earlier",
            "several releases are counted together where no quasi-identifier is set-valued",
            given="an item set",
            remedy="leave it out of the requirements",
        )

    def shown_in(self, masked: Masked, name: str) -> Collection[str | None]:
        """The labels that some set shows."""
        column = masked[name]
        return set(column.items) if isinstance(column, ItemColumn) else masked.labels(name)

    def masked(self, name: str, column: AnyColumn, *, unseen: str, lifted: Marks | None) -> AnyColumn:
        """What each row shows; of an unseen item the root stands alone, or it is refused."""
        if not isinstance(column, ItemColumn):
            raise TypeError(f"{name} is not set-valued")
        places = self.places(column.values)[: len(column.values)]
        strange = bool((places < 0).any()) and self.apart
        if strange and unseen == "refuse":
            raise TableError(
                name,
                "every item has a place in the recoding",
                given="items that were not there when the recoding was learned",
                remedy="say unseen='suppress' to show them as the top label",
            )
        texts = [self._set(items, places) for items in _distinct(column)]
        arrays = pa.array([texts[at] for at in column.keys.tolist()], type=pa.list_(pa.string()))
        return ItemColumn.of(arrays)

    def _set(self, items: Ints | None, places: Ints) -> list[str] | None:
        """What a set shows, in the order of letters."""
        if not self.apart or (items is not None and bool((places[items] < 0).any())):
            return [self.top]
        if items is None:
            return None
        return sorted({str(self.items.cut[place]) for place in places[items].tolist()})

    def released(self, shown: Collection[str | None], needed: Collection[str]) -> GeneralizeSets:
        """The labels of the cut that some set shows."""
        return replace(self, items=self.items.released(shown, ()))

    def tree_form(self) -> dict[str, Any]:
        """The tree of the items."""
        return self.items.tree_form()

    def sentence(self, values: int) -> str:
        """How many labels sets are made of."""
        of = len(self.items.taxonomy.leaves)
        return f"Sets of {len(self.items.cut):,} labels of a taxonomy with {of:,} leaves; {values:,} different ones."

    def drawn(self) -> str:
        """The tree down to the cut."""
        return self.items.drawn()

    def to_json(self) -> dict[str, Any]:
        """The public form; the tree is kept in a file of its own."""
        return {"kind": KIND, "cut": list(self.items.cut), "apart": self.apart, "separator": self.separator}


def _distinct(column: ItemColumn) -> list[Ints | None]:
    """Every different set by its key: item codes, None where it is missing; missing once more at the end."""
    sets = column.sets
    found: list[Ints | None] = [
        None if gone else sets.items[first:end]
        for first, end, gone in zip(sets.offsets[:-1], sets.offsets[1:], sets.missing, strict=True)
    ]
    return [*found, None]
