"""What is told of a table before it is masked: nothing of it is refused, all of it is easily overlooked.

Rows that a recipe leaves out, labels that look alike, columns that name people and go out as they are, and columns that
go out as they are and tell a masked one, or with which most people are alone. Under a budget nothing is told: it would
follow from the records.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from sfumato.data.alone import share_alone_coded
from sfumato.data.drafting.people import NUMBERS_OF_THINGS, names_people
from sfumato.data.drafting.words import IDENTIFYING, SOFT, concept_of, says
from sfumato.data.lookalikes import alike
from sfumato.data.schema import Category, Number
from sfumato.data.table import Column, Table
from sfumato.errors import quoted, warn
from sfumato.maskers.sensitive import look_alikes
from sfumato.recipe import Recipe

MOST_LABELS = 2_000
"""Labels of a column that are looked at."""
MOST_ROWS = 20_000
"""Rows that are looked at to see whether one column tells another."""
KINDS = 50
"""A column of no more values names kinds of things, whatever it is called."""
ENOUGH = 5
"""Rows for each value, without which one column tells another by accident."""
TOLD = 0.95
"""The share of what could be guessed beyond the commonest value that gives a masked column away."""
IN_STEP = 0.98
"""The rank correlation of numbers from which on one of them tells the other."""

MOST_ALONE = 0.5
"""Where more rows than this are alone with what goes out as it is, that is told."""


def tell(people: Table, recipe: Recipe, *, read: int) -> tuple[str, ...]:
    """Warn of what is easily overlooked, and give it back; `read`: how many rows the table had."""
    if recipe.mask.guarantee.spends:
        return ()
    tables = (*_alike(people, recipe), *_named(people), *_telling(people), *_alone(people))
    remarks = (*_left_out(people, recipe, read), *tables)
    for remark in remarks:
        warn(remark)
    return remarks


def _left_out(people: Table, recipe: Recipe, read: int) -> Iterator[str]:
    if gone := read - people.rows:
        names = ", ".join(map(quoted, recipe.missing))
        yield f"{gone:,} of {read:,} rows are left out: they miss a value in {names} (missing: drop)"


def _alike(people: Table, recipe: Recipe) -> Iterator[str]:
    sensitive = look_alikes(people, recipe.privacy)
    found = dict.fromkeys(sensitive, "Requirements count those that look alike as one value")
    numbers = dict(sensitive)
    for name in people.schema.kept:
        if name not in found and (number := _alike_labels(people, name)):
            numbers[name], found[name] = number, "They are masked as different values: write them alike in the table"
    for name, meaning in found.items():
        yield (
            f"{name}: {numbers[name]} labels look like another one (letters' case, spaces, invisible marks, letters of "
            f"other alphabets). {meaning}; the table shows them as they are"
        )


def _alike_labels(people: Table, name: str) -> int:
    column = people.columns[name]
    if not isinstance(people.schema[name], Category) or not isinstance(column, Column) or not column.shows_labels:
        return 0
    return sum(map(len, alike(column.labels))) if len(column.labels) <= MOST_LABELS else 0


def _named(people: Table) -> Iterator[str]:
    for name in _bare(people):
        if said := _said(people, name):
            yield (
                f"{quoted(name)} goes out as it is, and {said}: nobody must be found by it. Declare it an identifier, "
                "which is left out, unless it names no people"
            )


def _said(people: Table, name: str) -> str | None:
    """Why a column seems to name people."""
    column = people.columns[name]
    if isinstance(column, Column):
        texts = [str(value) for value in column.values[:MOST_LABELS].to_pylist()]
        if found := names_people(name, texts, text=column.shows_labels):
            return found.replace("the name says", "its name says")
    said = says(name, NUMBERS_OF_THINGS) or says(name, IDENTIFYING)
    kind_of = said is not None and SOFT.fullmatch(said) is not None and concept_of(name) is not None
    return f"its name says {said!r}" if said and not kind_of and len(column.values) > KINDS else None


def _bare(people: Table) -> list[str]:
    """Columns that are shown as they are."""
    return [name for name in people.schema.kept if people.schema[name].role != "quasi"]


def _telling(people: Table) -> Iterator[str]:
    """Of each column that is shown as it is, the first masked one that it gives away."""
    rows = np.linspace(0, people.rows - 1, min(people.rows, MOST_ROWS)).astype(np.int64)
    masked = [name for name in people.schema.quasi if isinstance(people.columns[name], Column)]
    for name in _bare(people):
        if isinstance(people.columns[name], Column) and (told := _told(people, name, masked, rows)):
            yield (
                f"{quoted(name)} goes out as it is and {told}, which is masked: who sees the one can undo the masking "
                "of the other. Declare it quasi, or an identifier"
            )


def _told(people: Table, name: str, masked: list[str], rows: NDArray[np.int64]) -> str | None:
    shown = people.column(name).codes[rows].astype(np.int64)
    number = isinstance(people.schema[name], Number)
    for other in masked:
        hidden = people.column(other).codes[rows].astype(np.int64)
        if _decides(shown, hidden):
            return f"tells {quoted(other)} of nearly everybody"
        if number and isinstance(people.schema[other], Number) and abs(_in_step(shown, hidden)) >= IN_STEP:
            return f"rises or falls with {quoted(other)} so closely that it nearly tells it"
    return None


def _alone(people: Table) -> Iterator[str]:
    """Who is alone with all that is shown as it is; sets are left out, which are rarely the same."""
    names = [name for name in _bare(people) if isinstance(people.columns[name], Column)]
    share = share_alone_coded([people.column(name).codes for name in names])
    if share > MOST_ALONE:
        yield (
            f"{share:.0%} of the rows are alone with what goes out as it is: {', '.join(map(quoted, names))}. No "
            "requirement speaks of these columns: make those quasi that somebody else can know of a person"
        )


def _decides(shown: NDArray[np.int64], hidden: NDArray[np.int64]) -> bool:
    """Whether nearly all rows with one value have one value of the other, and that is no accident.

    >>> ages = np.arange(600) % 60
    >>> _decides(ages // 2, ages // 4), _decides(ages // 4, ages), _decides(np.arange(600), ages)
    (True, False, False)
    """
    pairs, counts = np.unique(shown * (int(hidden.max(initial=0)) + 1) + hidden, return_counts=True)
    first = pairs // (int(hidden.max(initial=0)) + 1)
    starts = np.flatnonzero(np.diff(first, prepend=-1))
    if not len(starts) or len(shown) < ENOUGH * len(starts):
        return False
    guessed = float(np.maximum.reduceat(counts, starts).sum()) / len(shown)
    usual = float(np.bincount(hidden).max()) / len(hidden)
    return usual < 1 and guessed - usual >= TOLD * (1 - usual)


def _in_step(one: NDArray[np.int64], other: NDArray[np.int64]) -> float:
    """The rank correlation of two columns, whose codes ascend with their values.

    >>> round(_in_step(np.arange(100), 100 - np.arange(100)), 3)
    -1.0
    """
    first, second = _ranks(one), _ranks(other)
    if np.ptp(first) == 0 or np.ptp(second) == 0:
        return 0.0
    return float(np.corrcoef(first, second)[0, 1])


def _ranks(codes: NDArray[np.int64]) -> NDArray[np.float64]:
    """Of equal values the middle one."""
    counts = np.bincount(codes)
    middles = np.cumsum(counts) - counts / 2
    return np.asarray(middles[codes], dtype=np.float64)
