"""Numbers and dates that a recipe moves to an end of their range (`outside: clip`): how many, told to the holder.

A release says that the ends of such columns stand for themselves and beyond, and not how many records are there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from sfumato.data.encoding import moved_rows
from sfumato.data.schema import Number
from sfumato.data.sources.source import RawColumn, RawTable
from sfumato.errors import quoted
from sfumato.privacy.requirements import largest_k
from sfumato.privacy.requirements.anonymity import FEW
from sfumato.recipe import Recipe

Witness = Callable[[RawTable], None]


@dataclass
class Clipped:
    """Owns the columns of a table that is being read from which something may be moved, as they came in."""

    recipe: Recipe
    witness: Witness
    columns: dict[str, RawColumn] = field(default_factory=dict)
    rows: int = 0

    def __call__(self, raw: RawTable) -> None:
        """Keep them, and let the other witness look."""
        self.witness(raw)
        self.rows = raw.rows
        self.columns = {name: column for name, column in raw.columns.items() if _clips(self.recipe, name)}

    def told(self) -> Iterator[str]:
        """What is said of each column of which rows are moved; numbers below k are not told."""
        k = max([FEW, *largest_k(self.recipe.privacy).values()])
        for name, column in self.columns.items():
            attribute = self.recipe.schema[name]
            count = moved_rows(name, column, attribute) if isinstance(attribute, Number) else 0
            if count:
                many = f"{count:,} of {self.rows:,}" if count >= k else f"some (fewer than {k}) of {self.rows:,}"
                yield (
                    f"{quoted(name)}: {many} rows lie outside the declared range and are moved to its nearer end "
                    "(outside: clip). The release says that an end stands for itself and beyond, not how many are there"
                )


def _clips(recipe: Recipe, name: str) -> bool:
    attribute = recipe.schema[name]
    return isinstance(attribute, Number) and attribute.outside is not None
