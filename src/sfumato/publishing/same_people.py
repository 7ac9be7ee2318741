"""Whether one row is one person: how many rows share the number, or the name, of a person with another row.

Requirements count rows. Identifiers go out nowhere and are no part of a table in codes: their columns are read for this
alone, by themselves, and nothing of them is kept. A database is never asked for them, and nor are tables that are
read by batches, or only once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.data.drafting.people import look_like_numbers, numbers_people, says_name
from sfumato.data.grouping import group_numbers
from sfumato.data.safe_files import Progress
from sfumato.data.sources.openers import Opening, in_order, open_source
from sfumato.data.sources.source import Loaded
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


def repeated(source: object, recipe: Recipe, *, stream: bool | None = None) -> Iterator[str]:
    """What is said where people seem to have several rows; nothing where that cannot be seen."""
    found = _most_repeated(_identifiers(source, recipe, stream))
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


def _identifiers(source: object, recipe: Recipe, stream: bool | None) -> dict[str, Column]:
    """The columns that are left out, if one is called as numbers or names of people are and they can be read again."""
    names = recipe.schema.with_role("identifier")
    called = [name for name in names if numbers_people(name, NUMBERS) or says_name(name)]
    if not called or not in_order(source) or not (isinstance(source, str | Path) or hasattr(type(source), "__len__")):
        return {}
    try:
        opened = open_source(source, Opening(encoding=recipe.encoding, expected=recipe.schema, stream=stream))
        if not isinstance(opened, Loaded):
            return {}
        loaded = opened.load(names, progress=Progress())
        return {name: Column.of(loaded.column(name)) for name in names}
    except (SfumatoError, pa.ArrowException, OSError):  # what is left out need not be readable
        return {}


def _most_repeated(columns: dict[str, Column]) -> Repeated | None:
    """The number of people that most rows share with others; without any, their names together.

    Names say nothing where another column numbers the rows, each with its own: these are namesakes.
    """
    numbers = [name for name, column in columns.items() if numbers_people(name, column.labels[:LOOKED_AT])]
    names = [name for name, column in columns.items() if name not in numbers and says_name(name)]
    found = [Repeated((name,), _share([columns[name]])) for name in numbers]
    others = [column for name, column in columns.items() if name not in names]
    if not numbers and names and not any(map(_own_number, others)):
        found = [one for one in [Repeated(tuple(names), _share([columns[name] for name in names]))] if _many(one)]
    most = max(found, key=lambda one: one.share, default=None)
    return most if most is not None and most.share else None


def _own_number(column: Column) -> bool:
    """Whether each row has a number of its own that somebody gave out."""
    whole = len(column.labels) == len(column.codes) and bool(_there(column).all())
    return whole and look_like_numbers(column.labels[:LOOKED_AT])


def _many(one: Repeated) -> bool:
    return one.share > NAMESAKES


def _share(columns: Sequence[Column]) -> float:
    """Of rows that miss none of them; cells of spaces alone are no better than missing ones."""
    known = np.logical_and.reduce([_there(column) for column in columns])
    if not known.any():
        return 0.0
    groups = group_numbers([column.codes[known] for column in columns], int(known.sum()))
    return float((np.bincount(groups)[groups] > 1).mean())


def _there(column: Column) -> NDArray[np.bool_]:
    filled = np.array([bool(label.strip()) for label in column.labels] + [False])
    return np.asarray(filled[column.codes])
