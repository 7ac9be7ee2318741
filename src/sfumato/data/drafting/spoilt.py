"""Columns of numbers or dates that a few cells spoil: words among them, or another mark before decimals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.data.drafting.profile import Profile
from sfumato.data.drafting.shapes import no_dates
from sfumato.data.drafting.words import CODED, says
from sfumato.data.schema import Decimal
from sfumato.data.table import RowPlace
from sfumato.data.written_forms import plain_number

FEW_MARKS = 0.01
"""Where fewer cells than this hold words without a digit, the words are taken for missing."""
FEW_OF_ONE = 0.1
"""The same where all of them hold one and the same word: nothing else can be meant by it among numbers."""
_NAMED = 3


@dataclass(frozen=True)
class Spoilt:
    """Cells that keep a column from being read as numbers or dates: how many of how many, and where the first stand.

    `decimal`: the mark before decimals that most numbers have. `other_mark`: how many cells have the other one.
    `texts` are the different ones. `dates`: the others are dates.
    """

    cells: int
    of: int
    texts: tuple[str, ...]
    decimal: Decimal
    other_mark: int
    places: tuple[str, ...] = ()
    dates: bool = False

    @property
    def marks(self) -> tuple[str, ...]:
        """The texts, if they are few words without a digit, which stand for what is missing."""
        few = self.cells < (FEW_OF_ONE if len(self.texts) == 1 else FEW_MARKS) * self.of
        return self.texts if few and not any(map(str.isdigit, "".join(self.texts))) else ()

    def __str__(self) -> str:
        where = f" ({', '.join(self.places)}{', ...' if self.cells > len(self.places) else ''})" if self.places else ""
        said = f"{self.cells:,} of {self.of:,} cells are no {'dates' if self.dates else 'numbers'}{where}"
        if not self.other_mark:
            return said
        mark, other = ("comma", "point") if self.decimal == "comma" else ("point", "comma")
        return f"{said}: {self.other_mark:,} have a {other} before decimals where the others have a {mark}"


def spoilt(seen: Profile, column: pa.ChunkedArray[Any], *, place: RowPlace | None) -> Spoilt | None:
    """What spoils a column of texts of which nearly all are numbers or dates; None where nothing does, and of codes.

    `place` tells where a row stands; None where rows have no order.
    """
    if seen.nearly_dates:
        return _spoilt_dates(seen, column, place=place)
    if not seen.nearly_numbers or says(seen.name, CODED):
        return None
    texts = [str(text) for text in seen.values.to_pylist()]
    read = {mark: [plain_number(text, mark) is not None for text in texts] for mark in _MARKS}
    decimal = max(_MARKS, key=lambda mark: sum(n for n, fits in zip(seen.counts, read[mark], strict=True) if fits))
    other = _MARKS[1 - _MARKS.index(decimal)]
    odd = [at for at, fits in enumerate(read[decimal]) if not fits]
    if not odd:
        return None
    found = tuple(texts[at] for at in odd)
    return Spoilt(
        cells=sum(seen.counts[at] for at in odd),
        of=sum(seen.counts),
        texts=found,
        decimal=decimal,
        other_mark=sum(seen.counts[at] for at in odd if read[other][at]),
        places=() if place is None else tuple(map(place, _rows(column, found))),
    )


def _spoilt_dates(seen: Profile, column: pa.ChunkedArray[Any], *, place: RowPlace | None) -> Spoilt | None:
    texts = [str(text) for text in seen.values.to_pylist()]
    odd = [at for at, bad in enumerate(no_dates(texts)) if bad]
    found = tuple(texts[at] for at in odd)
    where = () if place is None else tuple(map(place, _rows(column, found)))
    cells = sum(seen.counts[at] for at in odd)
    return Spoilt(cells, sum(seen.counts), found, "point", 0, where, dates=True) if odd else None


_MARKS: tuple[Decimal, Decimal] = ("point", "comma")


def _rows(column: pa.ChunkedArray[Any], texts: Sequence[str]) -> list[int]:
    """The first rows that hold one of the texts."""
    trimmed = pc.utf8_trim_whitespace(column.cast(pa.string()))
    held: Any = pc.is_in(trimmed, value_set=pa.array(texts, pa.string()))
    return [int(row) for row in np.flatnonzero(held.to_numpy(zero_copy_only=False))[:_NAMED]]
