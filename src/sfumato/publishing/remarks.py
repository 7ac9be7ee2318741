"""What is told of a table before it is masked: nothing of it is refused, all of it is easily overlooked.

Rows that a recipe leaves out, labels that look alike, secrets that nothing bounds, or of which a distance ignores the
size, columns that name people and go out as they are, and columns that go out as they are and tell a secret beyond its
bound, or with which most people are alone. Once there is a masked table, `undone` tells of columns that go out as they
are and tell a masked one, whole or in part. Under a budget nothing is told: it would follow from the records.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.data.alone import share_alone_coded
from sfumato.data.drafting.people import NUMBERS_OF_THINGS, names_people
from sfumato.data.drafting.words import IDENTIFYING, SOFT, concept_of, says
from sfumato.data.lookalikes import spelt_alike
from sfumato.data.masked import Masked
from sfumato.data.schema import Attribute, Category, ItemSet, Number
from sfumato.data.table import Column, Table
from sfumato.errors import quoted, warn
from sfumato.evaluation.loss import one_value
from sfumato.maskers.sensitive import look_alikes
from sfumato.privacy.requirements import Requirement, Sensitive
from sfumato.privacy.requirements.requirement import codes_of
from sfumato.recipe import Recipe

MOST_LABELS, MOST_SPELT = 2_000, 5_000
"""Labels of a column that are looked at, and those of which spellings are compared."""
MOST_ROWS = 20_000
"""Rows that are looked at to see whether one column tells another."""
KINDS = 50
"""A column of no more values names kinds of things, whatever it is called."""
ENOUGH = 5
"""Rows for each value, without which one column tells another by accident."""
TOLD = 0.95
"""The share of what could be guessed beyond the commonest value that gives a masked column away."""
FOLLOWS = 0.99
"""The share of rows in which a column is as a masked one says, from which on it is a part of what that tells."""
IN_STEP = 0.98
"""The rank correlation of numbers from which on one of them tells the other."""
FEWEST, STRANGE, NOTABLE = 20, 3.0, 0.01
"""Rows with one value of a plain column, and standard deviations from chance, from which on that value tells a secret;
and the share of all rows with such values from which on it is told."""
MOST_CELLS = 2_000_000
"""Pairs of values that are counted."""

MOST_ALONE = 0.5
"""Where more rows than this are alone with what goes out as it is, that is told."""
MOST_NAMED, MOST_LINES = 8, 3
"""Columns that a line to be copied names, and such lines."""
FEW_NUMBERS = 20
"""Different numbers up to which each may be taken for a value of its own, as labels are."""


AS_IT_IS = 0.97
"""The share of rows that show a masked column's own value from which on there is no masking of it to undo."""
DECLARE = "Declare it quasi, or an identifier, which is left out"
UNDONE = (
    f", which is masked: who sees the one can undo the masking of the other. {DECLARE}; or, as {{}} is told anyway, "
    "make that one an identifier, or plain as well"
)


@dataclass(frozen=True)
class Remarks:
    """What was told. `alone`: the share of the rows that are alone with what goes out as it is, where that is large.

    `followed`: columns that decide the clusters of most records nearly alone.
    """

    lines: tuple[str, ...] = ()
    alone: float = 0.0
    followed: tuple[str, ...] = ()


def tell(people: Table, recipe: Recipe, *, read: int, more: Iterable[str] = ()) -> Remarks:
    """Warn of what is easily overlooked, and give it back; `read`: how many rows the table had.

    `more`: what is said of its rows besides, asked for where anything may be told.
    """
    if recipe.mask.guarantee.spends:
        return Remarks()
    bare, share = _alone(people)
    secrets = (*_unbounded(people, recipe), *_unordered(people, recipe))
    tables = (*_alike(people, recipe), *_named(people), *secrets, *_betraying(people, recipe))
    lines = (*_left_out(people, recipe, read), *more, *tables, *([_lonely(bare, share)] if share else []))
    for line in lines:
        warn(line)
    return Remarks(lines, share)


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
    return sum(map(len, spelt_alike(column.labels))) if len(column.labels) <= MOST_SPELT else 0


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
    kind_of = said is not None and re.fullmatch(SOFT, said) is not None and concept_of(name) is not None
    return f"its name says {said!r}" if said and not kind_of and len(column.values) > KINDS else None


def _unbounded(people: Table, recipe: Recipe) -> Iterator[str]:
    """Secrets of which no requirement speaks; where nothing is asked for at all, nothing is said."""
    bounded = {need.sensitive for need in recipe.privacy}
    free = [name for name in recipe.schema.with_role("sensitive") if name not in bounded]
    if not free or not recipe.privacy:
        return
    known = max((need.on for need in recipe.privacy), key=len)
    on = ", ".join(known) if len(known) <= MOST_NAMED else "..."
    nearly = ", or nearly the same number" if any(isinstance(recipe.schema[name], Number) for name in free) else ""
    asks = ", ".join(_ask(people, name, recipe.schema[name]) for name in free[:MOST_LINES])
    sets = all(isinstance(recipe.schema[name], ItemSet) for name in free)  # no confidence bound speaks of items
    yield (
        f"{', '.join(map(quoted, free))} {'is' if len(free) == 1 else 'are'} sensitive, and no requirement bounds what "
        f"is learned of {'it' if len(free) == 1 else 'them'}: all in a group may have the same value{nearly}. Add to "
        f"privacy, with on: [{on}]: {asks}{'' if sets else ', or a confidence_bound'}; what is no secret is plain"
    )


def _ask(people: Table, name: str, attribute: Attribute) -> str:
    """The requirement that bounds a secret, as its kind takes it; several holders may keep it from this table."""
    if isinstance(attribute, ItemSet):
        return f"{{l_diversity: 2, kind: items, sensitive: {name}}}"
    return _close(people, name, 0.2) if isinstance(attribute, Number) else f"{{l_diversity: 2, sensitive: {name}}}"


def _close(people: Table, name: str, t: float) -> str:
    """t-closeness of a number by its size; missing values, which have none, must go."""
    column = people.columns.get(name)
    gone = f" with missing: {{{name}: drop}}" if column is not None and column.missing else ""
    return f"{{t_closeness: {t:g}, sensitive: {name}, distance: ordered}}{gone}"


def _unordered(people: Table, recipe: Recipe) -> Iterator[str]:
    """Numbers of many values whose distributions are compared as if any two values were equally far apart."""
    asked: Sequence[Any] = recipe.privacy
    for need in asked:
        name = need.sensitive
        column = people.columns.get(name)
        if getattr(need, "distance", None) != "equal" or not isinstance(recipe.schema.get(name), Number):
            continue
        if column is not None and len(column.values) > FEW_NUMBERS:
            yield (
                f"{quoted(name)} has many different numbers, and its t_closeness takes any two of them for equally "
                "different: every group must have nearly all of them, which costs much detail, and a group of nearly "
                f"the same number is as good as any other. Ask by size: {_close(people, name, need.t)}"
            )


def _bare(people: Table) -> list[str]:
    """Columns that are shown as they are."""
    return [name for name in people.schema.kept if people.schema[name].role != "quasi"]


def undone(people: Table, masked: Masked, recipe: Recipe) -> tuple[str, ...]:
    """Warn of columns that go out as they are and give a masked one away, and give it back. Nothing is undone of one
    that is shown to nearly everybody as it is."""
    if recipe.mask.guarantee.spends:
        return ()
    shares = {name: one_value(people, name, masked[name]) for name in masked if masked.row_by_row}
    shown = [name for name, share in shares.items() if (share or 0.0) >= AS_IT_IS]
    lines = tuple(_telling(people, [name for name in people.schema.quasi if name not in shown]))
    for line in lines:
        warn(line)
    return lines


def _telling(people: Table, hidden: Sequence[str]) -> Iterator[str]:
    """Of each column that is shown as it is, the first masked one that it gives away."""
    rows = _some_rows(people)
    masked = [name for name in hidden if isinstance(people.columns[name], Column)]
    for name in _bare(people):
        if isinstance(people.columns[name], Column) and (told := _told(people, name, masked, rows)):
            yield f"{quoted(name)} goes out as it is and {told}"


def _betraying(people: Table, recipe: Recipe) -> Iterator[str]:
    """Of each plain column the first secret that it alone tells beyond what a requirement allows on other columns."""
    rows = _some_rows(people)
    needs = [need for need in recipe.privacy if isinstance(people.columns.get(need.sensitive or ""), Column)]
    for name in people.schema.with_role("plain"):
        if not isinstance(people.columns[name], Column):
            continue
        for need in needs:
            if (share := _beyond(people, name, need, rows)) >= NOTABLE:
                yield (
                    f"{quoted(name)} goes out as it is, and tells {quoted(need.sensitive or '')} of {share:.0%} of the "
                    f"rows beyond what {need.name} allows, which is asked on other columns: who knows the one of a "
                    "person learns the other. Declare it quasi and name it in `on`, or an identifier, which is left out"
                )
                break


def _beyond(people: Table, name: str, need: Requirement, rows: NDArray[np.int64]) -> float:
    """The share of the rows whose value of a column makes a group that a requirement would not allow, not by chance.

    Groups are those of the column's values; few rows make none. Chance: no secret is so much commoner in the group than
    in the table that draws from the table would hardly give it.
    """
    part = next(part for part in need.parts() if part.sensitive is not None)
    shown, secret = people.column(name).codes[rows], codes_of(people, part.sensitive or "")[rows]
    held = Sensitive.of(people, part.sensitive or "")
    sizes = np.bincount(shown)
    large = np.flatnonzero(sizes >= FEWEST)
    if not len(large) or len(held.values) < 2 or len(large) * len(held.values) > MOST_CELLS:
        return 0.0
    at = np.full(len(sizes), -1)
    at[large] = np.arange(len(large))
    inside = at[shown] >= 0
    cells = at[shown[inside]] * len(held.values) + secret[inside]
    counts = np.bincount(cells, minlength=len(large) * len(held.values)).reshape(len(large), len(held.values))
    usual, size = held.totals / held.totals.sum(), sizes[large]
    apart = (counts / size[:, None] - usual) / np.sqrt(np.maximum(usual * (1 - usual), 1e-12) / size[:, None])
    broken = (part.measure(held)(counts) < part.threshold) & (apart.max(axis=1) > STRANGE)
    return float(size[broken].sum() / len(rows))


def _some_rows(people: Table) -> NDArray[np.int64]:
    return np.linspace(0, people.rows - 1, min(people.rows, MOST_ROWS)).astype(np.int64)


def _told(people: Table, name: str, masked: list[str], rows: NDArray[np.int64]) -> str | None:
    """What it gives away of a masked column, the gravest first: the column, nearly so, or a part of what it tells."""
    shown = people.column(name).codes[rows].astype(np.int64)
    number, part = isinstance(people.schema[name], Number), None
    for other in masked:
        hidden = people.column(other).codes[rows].astype(np.int64)
        if _decides(shown, hidden):
            return f"tells {quoted(other)} of nearly everybody{UNDONE.format(quoted(other))}"
        if number and isinstance(people.schema[other], Number) and abs(_in_step(shown, hidden)) >= IN_STEP:
            close = f"rises or falls with {quoted(other)} so closely that it nearly tells it"
            return f"{close}{UNDONE.format(quoted(other))}"
        part = part or (other if _follows(shown, hidden) else None)
    left = ", which is masked: of what is shown for that it leaves the values that go with it, often one alone"
    return None if part is None else f"follows from {quoted(part)}{left}. {DECLARE}"


def _alone(people: Table) -> tuple[list[str], float]:
    """What is shown as it is, and the share of rows that are alone with all of it, where that is large. A set counts as
    a whole: who knows of all that somebody takes, or has, finds him by it."""
    names = _bare(people)
    share = share_alone_coded([people.columns[name].marks for name in names])
    return names, share if share > MOST_ALONE else 0.0


def _lonely(names: Sequence[str], share: float) -> str:
    return (
        f"{share:.0%} of the rows are alone with what goes out as it is: {', '.join(map(quoted, names))}. No "
        "requirement speaks of these columns: make those quasi that somebody else can know of a person"
    )


def _follows(shown: NDArray[np.int64], hidden: NDArray[np.int64]) -> bool:
    """Whether nearly all rows with one hidden value show one value, and that is no accident.

    Values of few rows tell nothing, whatever they show: they are left out, and half of the rows must be left.

    >>> ages = np.arange(600) % 60
    >>> _follows(ages // 10, ages), _follows(ages, ages // 10), _follows(ages * 0, ages), _follows(ages % 2, ages * 0)
    (True, False, False, False)
    """
    often = np.bincount(hidden)[hidden] >= ENOUGH
    if 2 * np.count_nonzero(often) < len(hidden) or not often.any():
        return False
    shown, hidden = shown[often], hidden[often]
    pairs, counts = np.unique(hidden * (int(shown.max()) + 1) + shown, return_counts=True)
    starts = np.flatnonzero(np.diff(pairs // (int(shown.max()) + 1), prepend=-1))
    guessed = float(np.maximum.reduceat(counts, starts).sum()) / len(shown)
    usual = float(np.bincount(shown).max()) / len(shown)
    return usual < 1 and guessed >= FOLLOWS and guessed - usual >= TOLD * (1 - usual)


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
