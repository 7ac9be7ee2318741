"""Whether one row is one person: how many rows share the number, or the name, of a person with another row.

Requirements count rows. Identifiers go out nowhere and are no part of a table in codes: their columns are read for this
alone, by themselves, and nothing of them is kept. A database, or Spark, counts them itself: two numbers come up, and no
value. Tables that are read by batches, or only once, are not asked.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.data.drafting.people import look_like_numbers, numbers_people, says_name
from sfumato.data.grouping import group_numbers
from sfumato.data.safe_files import Progress
from sfumato.data.sources.openers import Opening, in_order, open_source
from sfumato.data.sources.source import Loaded, Tallied
from sfumato.data.table import Column
from sfumato.errors import SfumatoError, quoted
from sfumato.privacy.requirements import largest_k
from sfumato.recipe import Recipe

NUMBERS = tuple(map(str, range(100)))
"""Such values leave it to the name of their column whether they are numbers of people."""
LOOKED_AT = 2_000
"""Different values that tell whether they are numbers of people."""
NAMESAKES = 0.05
"""Where no more rows than this share a name, they may be namesakes."""


@dataclass(frozen=True)
class Repeated:
    """Columns that stand for a person, and the share of the rows that have the same in them as another row."""

    names: tuple[str, ...]
    share: float


class _Identifiers(Protocol):
    """Columns that are left out and stand for a person: by a number, or by parts of a name."""

    @property
    def numbers(self) -> Sequence[str]:
        """Columns of numbers."""

    @property
    def names(self) -> Sequence[str]:
        """Columns of names."""

    @property
    def numbered(self) -> bool:
        """Whether another column has a number of its own in each row, as far as can be seen."""

    def share(self, names: Sequence[str]) -> float:
        """Of the rows that miss none of these, the share of those that have the same in them as another row."""


def repeated(source: object, recipe: Recipe, *, stream: bool | None = None) -> Iterator[str]:
    """What is said where people seem to have several rows; nothing where that cannot be seen."""
    try:
        asked = _identifiers(source, recipe, stream)
        found = None if asked is None else _most_repeated(asked)
    except (SfumatoError, pa.ArrowException, OSError):  # what is left out need not be readable
        return
    if found is None:
        return
    ks = set(largest_k(recipe.privacy).values())
    k = f"{min(ks)} " if len(ks) == 1 else ""
    share = f"{found.share:.0%}" if found.share >= 0.01 else "some"
    yield (
        f"{share} of the rows share their {' and '.join(map(quoted, found.names))} with another row: k counts rows, so "
        f"that a group of {k}rows may be fewer people. Make one row a person first (leave out those that came twice), "
        "or multiply k by the most rows that a person has"
    )


def _identifiers(source: object, recipe: Recipe, stream: bool | None) -> _Identifiers | None:
    """The columns that are left out, if one is called as numbers or names of people are and they can be asked again.

    One that counts by itself is asked of those; of others all that can be read twice.
    """
    left_out = recipe.schema.with_role("identifier")
    names = [name for name in left_out if numbers_people(name, NUMBERS) or says_name(name)]
    ordered = in_order(source)
    if not names or (ordered and not isinstance(source, str | Path) and not hasattr(type(source), "__len__")):
        return None
    query = None if ordered else recipe.query
    opened = open_source(source, Opening(encoding=recipe.encoding, expected=recipe.schema, stream=stream, query=query))
    if isinstance(opened, Loaded):
        loaded = opened.load(left_out, progress=Progress())
        return _Read({name: Column.of(loaded.column(name)) for name in left_out})
    return _Asked(opened, names) if isinstance(opened, Tallied) else None


def _most_repeated(asked: _Identifiers) -> Repeated | None:
    """The number of people that most rows share with others; without any, their names together.

    Names say nothing where another column numbers the rows, each with its own: these are namesakes.
    """
    found = [Repeated((name,), asked.share([name])) for name in asked.numbers]
    if not asked.numbers and asked.names and not asked.numbered:
        found = [one for one in [Repeated(tuple(asked.names), asked.share(asked.names))] if one.share > NAMESAKES]
    most = max(found, key=lambda one: one.share, default=None)
    return most if most is not None and most.share else None


class _Read:
    """Columns that were read: their values say whether they are numbers of people."""

    def __init__(self, columns: dict[str, Column]) -> None:
        self.columns = columns
        looked = {name: column.labels[:LOOKED_AT] for name, column in columns.items()}
        self.numbers: Sequence[str] = [name for name, labels in looked.items() if numbers_people(name, labels)]
        self.names: Sequence[str] = [name for name in columns if name not in self.numbers and says_name(name)]

    @property
    def numbered(self) -> bool:
        """By a number that somebody gave out."""
        others = [column for name, column in self.columns.items() if name not in self.names]
        return any(map(_own_number, others))

    def share(self, names: Sequence[str]) -> float:
        """Cells of spaces alone are no better than missing ones."""
        columns = [self.columns[name] for name in names]
        known = np.logical_and.reduce([_there(column) for column in columns])
        if not known.any():
            return 0.0
        groups = group_numbers([column.codes[known] for column in columns], int(known.sum()))
        return float((np.bincount(groups)[groups] > 1).mean())


class _Asked:
    """Columns of a source that counts by itself: their names alone say what they are."""

    def __init__(self, source: Tallied, names: Sequence[str]) -> None:
        self.source = source
        self.names: Sequence[str] = [name for name in names if says_name(name)]
        self.numbers: Sequence[str] = [name for name in names if name not in self.names]
        self.numbered = False

    def share(self, names: Sequence[str]) -> float:
        """As it counts itself; of a type that it does not read it tells nothing."""
        try:
            return self.source.repeats(names).share
        except SfumatoError:
            return 0.0


def _own_number(column: Column) -> bool:
    """Whether each row has a number of its own that somebody gave out."""
    whole = len(column.labels) == len(column.codes) and bool(_there(column).all())
    return whole and look_like_numbers(column.labels[:LOOKED_AT])


def _there(column: Column) -> NDArray[np.bool_]:
    filled = np.array([bool(label.strip()) for label in column.labels] + [False])
    return np.asarray(filled[column.codes])
