"""What is told of a masked table's numbers: one that many have and few rows show, and ends between two of somebody.

Both are for the holder, who sees the raw table: nothing of it is refused, and under a budget nothing is told.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.data.masked import Masked
from sfumato.data.schema import Number
from sfumato.data.table import Column, Table
from sfumato.errors import quoted, warn
from sfumato.evaluation.loss import stand_alone
from sfumato.recipe import Recipe
from sfumato.structure.masked_positions import interval_ends

COMMON, SHOWN = 0.1, 0.5
"""The share of the rows from which on a number is looked for, and of those with it that must show it alone."""
FEW_NUMBERS, PEAK = 20, 3
"""A column of no more different numbers is a scale, and one of neighbours as common as each other has no such number:
it is had by so many times as many rows as the next."""
DECIMALS = (0, 1, 2)
"""The grids on which numbers may stand: whole ones, tenths and hundredths."""
DENSE = 0.5
"""Where so much of the grid between the lowest and the highest number is taken, that two of it occur is no news."""
OFF_GRID = 1e-4
"""An end so far from the grid, in its steps, lies between two of its numbers."""


@dataclass(frozen=True, eq=False)
class _Numbers:
    """A column of numbers, raw and as intervals show it."""

    name: str
    attribute: Number
    column: Column
    shown: Column

    @property
    def numbers(self) -> NDArray[np.float64]:
        """Each once, in ascending order."""
        found: NDArray[np.float64] = self.column.values.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
        return found


def of_numbers(people: Table, masked: Masked, recipe: Recipe) -> tuple[str, ...]:
    """Warn of what intervals hide, and of what their ends tell, and give it back."""
    if recipe.mask.guarantee.spends or not masked.row_by_row:
        return ()
    found = [one for name in masked if (one := _in_intervals(people, masked, name)) is not None]
    lines = (*(line for one in found for line in _hidden(people, one)), *_telling(found))
    for line in lines:
        warn(line)
    return lines


def _in_intervals(people: Table, masked: Masked, name: str) -> _Numbers | None:
    """A column of numbers, no dates, of which intervals are shown; None of any other."""
    attribute, column, shown = people.schema[name], people.columns[name], masked[name]
    if not isinstance(attribute, Number) or attribute.calendar is not None or not shown.shows_labels:
        return None
    if not isinstance(column, Column) or not isinstance(shown, Column) or not len(column.values):
        return None
    return _Numbers(name, attribute, column, shown)


def _hidden(people: Table, one: _Numbers) -> Iterator[str]:
    """The least or greatest number of a column, as 0 of amounts, that many rows have and few of these show alone."""
    counts = one.column.counts[:-1]
    if len(counts) <= FEW_NUMBERS:
        return
    next_one, most = np.sort(counts)[-2:].tolist()
    if most < COMMON * people.rows or most < PEAK * next_one:
        return
    common = int(np.argmax(counts))
    held = np.flatnonzero(counts)
    if common not in (held[0], held[-1]):
        return
    alone = stand_alone(people, one.name, one.shown)
    if alone is None or alone[one.shown.codes[one.column.codes == common]].mean() >= SHOWN:
        return
    zero = one.numbers[common] == 0.0
    it, told = ("0", "0") if zero else ("that number", "the same number")
    yield (
        f"{quoted(one.name)}: {most / people.rows:.0%} of the rows have {told}, and less than half of these show it "
        "alone, which the detail kept does not tell: where it matters, make the column a category of amounts in which "
        f"{it} is a label of its own, or give whether it is {it} a column of its own"
    )


def _telling(columns: Sequence[_Numbers]) -> Iterator[str]:
    """Ends that can only stand where they do because the two numbers beside them occur, one of them in a single row."""
    found = {one.name: many for one in columns if (many := _own_ends(one))}
    if not found:
        return
    total = sum(found.values())
    ends = "1 end of a shown interval lies" if total == 1 else f"{total:,} ends of shown intervals lie"
    yield (
        f"{ends} half a step between two numbers that follow on each other, and one row alone has at least one of the "
        f"two ({', '.join(map(quoted, found))}): that both occur in the table can be read off, not whose they are. "
        "Where that is news to somebody, round these columns in the table (to tens, to hundreds), or give them a tree "
        "of intervals (taxonomy, with mask: top_down)"
    )


def _own_ends(one: _Numbers) -> int:
    """How many of a column's ends lie between two neighbours of its grid that occur, one of them in a single row."""
    if one.attribute.taxonomy is not None:  # its intervals were given
        return 0
    numbers = one.numbers
    scale = _grid(numbers)
    if scale is None:
        return 0
    between = _ends(one.shown) * scale
    between = between[np.abs(between - np.round(between)) > OFF_GRID]
    on_grid, counts = np.round(numbers * scale), one.column.counts[:-1]
    if len(on_grid) >= DENSE * (on_grid[-1] - on_grid[0] + 1):
        return 0
    below, above = (_rows_at(on_grid, counts, beside) for beside in (np.floor(between), np.ceil(between)))
    return int(np.count_nonzero((below > 0) & (above > 0) & (np.minimum(below, above) == 1)))


def _ends(shown: Column) -> NDArray[np.float64]:
    """(ends,): where the intervals that rows show begin and end, each once."""
    there = np.flatnonzero(shown.counts[: len(shown.values)])
    read = [interval_ends(text) for text in shown.texts(there)]
    ends = {end for one in read if one is not None for end in (one.low, one.high) if end is not None}
    return np.array(sorted(ends), dtype=np.float64)


def _grid(numbers: NDArray[np.float64]) -> float | None:
    """How many steps of the coarsest grid that all numbers stand on make one; None where they stand on none.

    >>> _grid(np.array([1.0, 20.0])), _grid(np.array([0.5, 2.0])), _grid(np.array([0.01])), _grid(np.array([1 / 3]))
    (1.0, 10.0, 100.0, None)
    """
    if not len(numbers) or not np.isfinite(numbers).all() or np.abs(numbers).max(initial=0.0) >= 2**40:
        return None
    return next((10.0**digits for digits in DECIMALS if (np.round(numbers, digits) == numbers).all()), None)


def _rows_at(numbers: NDArray[np.float64], counts: NDArray[np.int64], wanted: NDArray[np.float64]) -> NDArray[np.int64]:
    """(wanted,): how many rows have each of these numbers, of ascending ones with their counts."""
    at = np.minimum(np.searchsorted(numbers, wanted), len(numbers) - 1)
    found: NDArray[np.int64] = np.where(numbers[at] == wanted, counts[at], 0)
    return found
