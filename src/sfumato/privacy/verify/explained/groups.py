"""Groups of rows that look alike, as a codebook by groups tells of them and as centres.json places them.

A group is a combination of what a row shows in the columns of the codebook. Groups are numbered in the order of their
letters, column by column, missing last: the numbers follow from the table, and so does how many there are.
"""

from __future__ import annotations

from collections.abc import Collection, Container, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from sfumato.events import checkpoint, many, watched
from sfumato.privacy.verify.explained.bags import MOST, SIGNIFICANT
from sfumato.privacy.verify.explained.places import DIGITS, Block, check_coordinates, numbers
from sfumato.privacy.verify.fields import Form, exact_keys, field, mapping
from sfumato.privacy.verify.intervals import Shape, ends_of
from sfumato.privacy.verify.spelling import Spelling
from sfumato.privacy.verify.tallies import ROWS, tallied
from sfumato.privacy.verify.values import iso, moment
from sfumato.privacy.verify.verdict import CheckError

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

    from sfumato.privacy.verify.folder import Folder

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

MISSING = "(missing)"
SECONDS = 19  # characters of a time to the second


def by_groups(form: Form) -> bool:
    """Whether a codebook tells of groups: of values it holds nothing but mappings."""
    return isinstance(form.get("groups"), int) and not isinstance(form.get("groups"), bool)


SIZE, NUMBER = "\0size", "\0number"  # no column has these names


@dataclass(frozen=True, eq=False)
class Groups:
    """What each group shows, column by column; how many rows it has; and which group each row is in."""

    names: tuple[str, ...]
    shown: tuple[tuple[str | None, ...], ...]
    sizes: tuple[int, ...]
    of_row: NDArray[np.integer[Any]]

    @classmethod
    def of(cls, table: pl.DataFrame, names: Sequence[str]) -> Groups:
        """Of the rows of a table, by these columns."""
        import numpy as np
        import polars as pl

        if not names or not set(names) <= set(table.columns):
            raise CheckError("a codebook by groups is about columns of the table")
        parts = tallied(table, names, SIZE)
        texts = parts.select(pl.col(names).cast(pl.String))
        shown, order = texts.rows(), texts.select(pl.arg_sort_by(names, nulls_last=True)).to_series().to_list()
        numbers = np.empty(len(order), dtype=np.int64)
        numbers[order] = np.arange(len(order))
        parts = parts.with_columns(pl.Series(NUMBER, numbers, dtype=pl.UInt32))
        of_row = np.empty(table.height, dtype=np.uint32)
        for start in watched(range(0, table.height, ROWS)):
            some = table.slice(start, ROWS).select(names)
            found = some.join(parts, on=list(names), how="left", nulls_equal=True, maintain_order="left")
            of_row[start : start + ROWS] = found[NUMBER].to_numpy()
        checkpoint()
        sizes = parts[SIZE].to_list()
        return cls(tuple(names), tuple(shown[at] for at in order), tuple(sizes[at] for at in order), of_row)

    def column(self, name: str) -> list[str | None]:
        """What each group shows in one column."""
        at = self.names.index(name)
        return [group[at] for group in self.shown]


def groups_of(release: Folder, names: Sequence[str]) -> Groups:
    """Of the rows of a release, by these columns; found once, whatever check asks first."""
    return release.made((Groups, tuple(names)), lambda: Groups.of(release.table, names))


def entries_of(form: Form, name: str, groups: Groups) -> list[object]:
    """What a codebook tells of each group in one column; nothing of each where it tells nothing at all."""
    entries = mapping(form.get("columns"), "columns").get(name)
    if not isinstance(entries, list) or len(entries) not in (0, len(groups.shown)):
        raise CheckError("it has an entry for every group that the table shows, and no other")
    return entries or [None] * len(groups.shown)


def group_block(
    part: Form, shown: Sequence[str | None], entries: Sequence[object], groups: Groups, *, spelling: Spelling
) -> Block:
    """A column whose groups stand where the codebook says."""
    checkpoint()
    at = _book(part, shown, entries, spelling) if "labels" in part else _means(part, shown, entries, groups)
    return Block(groups.of_row, len(at), at.shape[1], lambda first, end: at[first:end])


def _means(part: Form, shown: Sequence[str | None], entries: Sequence[object], groups: Groups) -> Floats:
    """A group stands at its mean, or at the middle of its interval; a missing number at the mean of all others."""
    import numpy as np

    exact_keys(part, ["low", "high", "factor"], "a scale of means")
    factor = field(part, "factor", float)
    if not 0 < factor <= 1 or round(factor, SIGNIFICANT) != factor:
        raise CheckError(f"a factor is above 0 and at most 1, of {SIGNIFICANT} digits")
    dates = isinstance(part["low"], str)
    low, high = (_number(part[key], dates=dates) for key in ("low", "high"))
    if not low <= high:
        raise CheckError("a scale has a lower end below an upper end")
    found = np.array([_shown(text, entry, low, high, dates=dates) for text, entry in zip(shown, entries, strict=True)])
    known = ~np.isnan(found)
    sizes = np.array(groups.sizes, dtype=np.float64)
    mean = float((found[known] * sizes[known]).sum() / sizes[known].sum()) if known.any() else low
    placed: Floats = (np.where(known, found, mean) - low) / (high - low or 1.0) * factor
    return placed[:, None]


def _number(entry: object, *, dates: bool) -> float:
    if not dates:
        return field({"end": entry}, "end", float)
    text = moment(entry) if isinstance(entry, str) else None
    if text is None:
        raise CheckError("an end of a scale is a date")
    return (datetime.fromisoformat(text) - datetime(1970, 1, 1)).total_seconds()


def _shown(text: str | None, entry: object, low: float, high: float, *, dates: bool) -> float:
    if text is None:
        return float("nan")
    if entry is not None:
        return _number(entry, dates=dates)
    ends = ends_of(text, dates=dates) or (None, None)
    below, above = (None if end is None else _number(end, dates=dates) for end in ends)
    return ((low if below is None else below) + (high if above is None else above)) / 2


def check_ends(part: Form, shape: Shape, shown: Sequence[str | None], entries: Sequence[object]) -> None:
    """A scale reaches over the declared range; where there is none, and of dates, over the ends and means told."""
    dates = shape.calendar is not None
    if not dates and shape.low is not None and shape.high is not None:
        expected: list[float | str] = [float(shape.low), float(shape.high)]
    else:
        told = [entry for entry in entries if isinstance(entry, str if dates else float)]
        ends = [end for text in set(shown) - {None} for end in ends_of(str(text), dates=dates) or () if end is not None]
        every = sorted(_second(one) if dates else float(one) for one in (*told, *ends))
        expected = [every[0], every[-1]] if every else [_second("1970") if dates else 0.0] * 2
    if [part.get("low"), part.get("high")] != expected:
        raise CheckError("a scale reaches over the declared range, or over the ends and means that are told")


def _second(text: object) -> str:
    return str(moment(iso(str(text))))[:SECONDS]


def _book(part: Form, shown: Sequence[str | None], entries: Sequence[object], spelling: Spelling) -> Floats:
    """A group stands at its labels, each by its share; what is left over among the other labels of a shown set, or at
    the shown label."""
    import numpy as np

    exact_keys(part, ["labels", "missing"], "a book")
    places = mapping(part["labels"], "labels")
    gone = numbers(field(part, "missing", list), digits=DIGITS)
    rows = [numbers(place if isinstance(place, list) else [None], digits=DIGITS) for place in places.values()]
    if any(len(row) != len(gone) for row in rows) or len(gone) > MOST:
        raise CheckError(f"the labels of a column have as many coordinates each, at most {MOST}")
    spreads = [{} if entry is None else mapping(entry, "a group") for entry in entries]
    told = {label for text, spread in zip(shown, spreads, strict=True) for label in spread if label != text}
    missing = _check_labels(list(places), {*shown, *told}, spelling)
    matrix = np.array([*rows, gone], dtype=np.float64).reshape(len(rows) + 1, len(gone))
    check_coordinates(matrix, missing=missing, told=0, shown=len(rows))
    where = {label: at for at, label in enumerate(places)}
    places_of = _Places(matrix, where, spelling)
    return places_of.expected(shown, spreads)


def _check_labels(known: list[str], needed: Collection[str | None], spelling: Spelling) -> bool:
    """The book has the labels that are shown or told, of a set those that it lists, and no other; whether some value
    is missing."""
    wanted: set[str] = set()
    for label in needed - {None, MISSING} if isinstance(needed, set) else ():
        wanted |= set(_members(str(label), known, spelling) if label not in known else ()) or {str(label)}
    wanted |= {MISSING} & set(known) & set(needed)
    exact_keys(dict.fromkeys(known), sorted(wanted - {""}), "a book")
    return None in needed or MISSING in needed or "" in wanted


def _members(text: str, known: Container[str], spelling: Spelling) -> list[str]:
    """The labels of a set as it is written, an empty text for missing values; none where it is no set of known ones."""
    inner = spelling.pieces(text)
    return inner if all(one == "" or one in known for one in inner) else []


@dataclass(frozen=True, eq=False)
class _Places:
    """(labels + 1, dims): where labels stand, missing last; and which row each label has."""

    matrix: Floats
    where: dict[str, int]
    spelling: Spelling

    def expected(self, shown: Sequence[str | None], spreads: Sequence[Form]) -> Floats:
        """(groups, dims): label after label, so that sums do not depend on how many groups there are."""
        import numpy as np

        number: dict[tuple[str | None, tuple[str, ...]], int] = {}  # of each kind of group
        groups: list[int] = []  # of each share that is told: its group, the row of its label, and the share
        rows: list[int] = []
        shares: list[float] = []
        left: list[tuple[int, float]] = []  # of each group its kind, and the share of what is left over
        for at, (text, spread) in enumerate(many(zip(shown, spreads, strict=True))):
            kind = number.setdefault((text, tuple(spread)), len(number))
            if text is None or not spread:
                left.append((kind, 1.0))
                continue
            others = [label for label in spread if label != text]
            groups += [at] * len(others)
            rows += [self.where.get(label, -1) for label in others]
            shares += [field(spread, label, float) for label in others]
            left.append((kind, field(spread, text, float) if text in spread else 0.0))
        checkpoint()
        found: Floats = np.zeros((len(shown), self.matrix.shape[1]))
        places = self.matrix[np.array(rows, dtype=np.intp)]
        np.add.at(found, np.array(groups, dtype=np.intp), places * np.array(shares, dtype=np.float64)[:, None])
        alone = np.array([self.matrix[-1] if text is None else self._alone(text, labels) for text, labels in number])
        rests = np.array([rest for _, rest in left])
        return found + rests[:, None] * alone[[kind for kind, _ in left]] if left else found

    def _alone(self, text: str, spread: Collection[str]) -> Floats:
        every = [] if text in self.where else _members(text, self.where, self.spelling)
        named = {"" if label == MISSING else label for label in spread}
        others = [one for one in every if one not in named] or every or [text]
        total: Floats = sum((self._of(one) for one in others), self.matrix[-1] * 0.0) / len(others)
        return total

    def _of(self, label: str) -> Floats:
        row: Floats = self.matrix[self.where.get(label, -1)]
        return row
