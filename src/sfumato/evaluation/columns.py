"""What each masked column still tells: how many values it had and has, the commonest of them, how much detail is kept.

Most of it is measured against the raw table, and for the holder's eyes only.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sfumato.data.masked import Masked
from sfumato.data.table import AnyColumn, Table
from sfumato.errors import quoted
from sfumato.evaluation.distributions import distribution_off
from sfumato.evaluation.loss import column_penalty, distance_lost, one_value, set_size
from sfumato.evaluation.scores import MOVED, OFF, Score
from sfumato.events import watched

SILENT = 0.97
"""A column of which so many records show one value tells nothing."""
MISSING = "(missing)"
LOST = 0.2
"""A generated column whose shares are so far from the raw ones has lost its distribution."""
DECIMALS = re.compile(r"-?\d{1,3}\.\d{5,}(e-?\d+)?")
"""A number of more decimals than anybody reads."""
MANY = 10
"""Sets of so many labels are told as such beside the detail kept, which is a share of all labels."""
NAMED = 4
"""So many columns are named in one sentence."""


@dataclass(frozen=True)
class Commonest:
    """The value that most rows of a column show, their share, and how many different values there are."""

    label: str
    share: float
    values: int

    @classmethod
    def of(cls, column: AnyColumn) -> Commonest:
        """A missing value is a value; of equally common ones it is the first by letters."""
        counts = column.counts
        there = int(np.count_nonzero(counts))
        if not there:
            return cls(MISSING, 0.0, 0)
        most = np.flatnonzero(counts == counts.max())
        gone = [MISSING] if most[-1] == column.missing_code else []
        label = min([*gone, *column.texts(most[: len(most) - len(gone)])])
        return cls(label, float(counts[most[0]] / counts.sum()), there)


@dataclass(frozen=True)
class ColumnKept:
    """One masked column: different values before and after, the commonest that is shown, and the detail kept.

    `share_before`: that of the commonest raw value. `kept`: 1 - NCP; None where numbers are shown that are not the
    record's, which has no such measure: `moved` is then how much is lost by distance (SSE / SST). `alone`: the share of
    the rows that show one value, not a set or an interval of several; None likewise. `off`: of generated columns how
    far their shares are from the raw ones, from 0 to 1. `labels`: half of the rows show sets of so many labels or
    more; None where they are few.
    """

    name: str
    before: int
    after: int
    commonest: str
    share: float
    kept: float | None
    share_before: float = 0.0
    alone: float | None = None
    moved: float | None = None
    off: float | None = None
    labels: int | None = None

    @property
    def wide_words(self) -> str:
        """Of sets so large that a share of all labels says little of them, how large; nothing of others.

        >>> ColumnKept("zip", 3_737, 603, "{1, 2}", 0.0, 0.99, labels=59).wide_words
        'sets of 59'
        """
        return f"sets of {self.labels:,}" if self.labels is not None and self.kept else ""

    @property
    def lost(self) -> bool:
        """Whether a generated column says no longer how its values lie."""
        return self.off is not None and self.off > LOST

    @property
    def silent(self) -> bool:
        """Whether masking left one value for nearly everybody; a column that had no more before tells what it did."""
        fewer = self.share_before < SILENT or self.after == 1 < self.before
        return self.share >= SILENT and fewer

    @property
    def moved_words(self) -> str:
        """How much is lost of numbers that are not the record's; nothing of other columns."""
        return "" if self.moved is None else MOVED.format(self.moved)

    @property
    def off_words(self) -> str:
        """How far a generated column is from the raw one; nothing of other columns."""
        return "" if self.off is None else OFF.format(self.off)

    @property
    def kept_or_off(self) -> float | str | None:
        """What a table of columns shows of it: the detail kept, or of numbers that moved and generated values what
        stands in its place."""
        return self.kept if self.kept is not None else self.moved_words or self.off_words or None

    @property
    def unmeasured(self) -> str:
        """Why the detail that it keeps has no measure."""
        return "generated" if self.moved is None and self.alone is None else "numbers moved"

    @property
    def commonest_words(self) -> str:
        """The commonest value, to be read: of a number with many decimals the first digits.

        >>> ColumnKept("pay", 9, 9, "0.009849685597767277", 0.0, None).commonest_words
        '0.00985'
        """
        decimals = DECIMALS.fullmatch(self.commonest)
        return self.commonest if decimals is None else f"{float(self.commonest):.3g}"

    def to_json(self) -> dict[str, Any]:
        """By plain names."""
        return {
            "column": self.name,
            "values_before": self.before,
            "values_after": self.after,
            "most_frequent": self.commonest,
            "most_frequent_share": self.share,
            "most_frequent_share_before": self.share_before,
            "information_kept": self.kept,
            "one_value_share": self.alone,
            "distance_lost": self.moved,
            "tells_nothing": self.silent,
            **({} if self.labels is None else {"labels_shown": self.labels}),
            **({} if self.off is None else {"distribution_off": self.off}),
        }

    @classmethod
    def from_json(cls, form: dict[str, Any]) -> ColumnKept:
        """As `to_json` wrote it."""
        return cls(
            name=form["column"],
            before=form["values_before"],
            after=form["values_after"],
            commonest=form["most_frequent"],
            share=form["most_frequent_share"],
            kept=form["information_kept"],
            share_before=form["most_frequent_share_before"],
            alone=form.get("one_value_share"),
            moved=form.get("distance_lost"),
            off=form.get("distribution_off"),
            labels=form.get("labels_shown"),
        )


def columns_kept(table: Table, masked: Masked) -> tuple[ColumnKept, ...]:
    """Every masked column, in the order of the table. Rows that were generated stand beside no record."""
    names = [name for name in masked.names if name in masked]
    return tuple(_kept(table, masked, name) for name in watched(names))


def _kept(table: Table, masked: Masked, name: str) -> ColumnKept:
    most, raw = Commonest.of(masked[name]), Commonest.of(table.columns[name])
    return ColumnKept(
        name=name,
        before=raw.values,
        after=most.values,
        commonest=most.label,
        share=most.share,
        kept=_detail(table, masked, name),
        share_before=raw.share,
        alone=one_value(table, name, masked[name]) if masked.row_by_row else None,
        labels=_many(set_size(table, name, masked[name])) if masked.row_by_row else None,
        moved=distance_lost(table, name, masked[name]) if masked.of_records else None,
        off=None if masked.row_by_row else distribution_off(table.schema[name], table.columns[name], masked[name]),
    )


def _many(labels: int | None) -> int | None:
    return None if labels is None or labels < MANY else labels


def _detail(table: Table, masked: Masked, name: str) -> float | None:
    penalty = column_penalty(table, name, masked[name]) if masked.row_by_row else None
    return None if penalty is None else 1.0 - penalty


def column_scores(columns: Sequence[ColumnKept]) -> list[Score]:
    """How many columns are masked, how many tell nothing, and the detail that is kept on average.

    Where numbers were moved the others' detail is no average of the table's, and is not told.
    """
    kept = [column.kept for column in columns if column.kept is not None] if not moved(columns) else []
    silent = sum(column.silent for column in columns)
    told = f"masked columns in which at least {SILENT:.0%} of the records show one value, and did not before"
    return [
        Score("columns.masked", float(len(columns)), True, "masked columns"),
        Score("columns.silent", float(silent), False, told),
        *([Score("information_kept", float(np.mean(kept)), False, MEANING)] if kept else []),
    ]


def shows_one_value(silent: Sequence[ColumnKept]) -> str:
    """Columns that tell nothing, sets among them, by name.

    >>> shows_one_value([ColumnKept("town", 9, 1, "*", 1.0, 0.0), ColumnKept("ills", 9, 2, "{ANY}", 0.98, None)])
    '"town" and "ills" show one value for nearly everybody'
    """
    told = _names(silent)
    whom = "everybody" if all(column.share == 1 for column in silent) else "nearly everybody"
    return f"{told} {'shows' if len(silent) == 1 else 'show'} one value for {whom}"


def lost_distributions(lost: Sequence[ColumnKept]) -> str:
    """Generated columns that say no longer how their values lie, by name, the farthest first.

    >>> lost_distributions([ColumnKept("debts", 9, 9, "0", 0.1, None, off=0.53)])
    '"debts" lost its distribution (its shares are 53% off; of numbers, bins that are declared keep it)'
    """
    first = sorted(lost, key=lambda column: -(column.off or 0))
    whose, most = ("its distribution", "its") if len(lost) == 1 else ("their distributions", "the first one's")
    kept = f"of numbers, bins that are declared keep {'it' if len(lost) == 1 else 'them'}"
    return f"{_names(first)} lost {whose} ({most} shares are {first[0].off:.0%} off; {kept})"


def kept_heading(columns: Sequence[ColumnKept]) -> str:
    """What stands above the column of `kept_or_off`."""
    generated = any(one.off is not None for one in columns)
    return "drawn" if generated and all(one.kept is None and one.moved is None for one in columns) else "detail kept"


def _names(columns: Sequence[ColumnKept]) -> str:
    """Some columns by name, and how many more there are."""
    names = [quoted(column.name) for column in columns[:NAMED]]
    names += [f"{len(columns) - NAMED} more"] if len(columns) > NAMED else []
    return " and ".join([*([", ".join(names[:-1])] if names[:-1] else []), names[-1]])


def moved(columns: Sequence[ColumnKept]) -> bool:
    """Whether some column shows numbers that are not the record's."""
    return any(column.moved is not None for column in columns)


MEANING = "detail that masked columns keep, on average: 1 - NCP"
