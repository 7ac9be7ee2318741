"""Routes: which group of a release covers a raw row, by what the group shows and by nothing else."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.data import calendar
from sfumato.data.shown import OR_MISSING, SUPPRESSED, holds_missing
from sfumato.events import checkpoint
from sfumato.structure.masked_positions import Ends, interval_ends

NOWHERE = -1
Bools = NDArray[np.bool_]


def routed(
    columns: Mapping[str, Any],
    shown: Mapping[str, Sequence[str | None]],
    *,
    numbers: Collection[str],
    suppressed: Collection[str],
) -> NDArray[np.int64]:
    """(raw rows,): the one group that covers each row; -1 where none does, or several do.

    In a column among `suppressed`, `*` stands for the labels that are not shown anywhere; else for any value.
    """
    rows = len(next(iter(columns.values()))) if columns else 0
    alike = np.zeros(rows, dtype=np.int64)  # rows of the same raw values are looked at once
    covers: list[tuple[NDArray[np.int64], Bools]] = []
    for name, column in columns.items():
        coded = column.dictionary_encode() if not hasattr(column, "dictionary") else column
        values = [*coded.dictionary.to_pylist(), None]
        codes = coded.indices.fill_null(len(values) - 1).to_numpy(zero_copy_only=False).astype(np.int64)
        covering = _covering(values, shown[name], number=name in numbers)
        if name in suppressed:
            _only_others(covering, values, shown[name])
        covers.append((codes, covering))
        alike = np.unique(alike * len(values) + codes, return_inverse=True)[1].reshape(-1)
    first = np.unique(alike, return_index=True)[1]
    found = np.full(len(first), NOWHERE, dtype=np.int64)
    for at, row in enumerate(first.tolist()):
        checkpoint()
        inside = np.flatnonzero(np.logical_and.reduce([table[codes[row]] for codes, table in covers]))
        if len(inside) == 1:
            found[at] = inside[0]
    return found[alike]


def _covering(values: Sequence[Any], texts: Sequence[str | None], *, number: bool) -> Bools:
    """(values, groups): whether what a group shows covers a raw value."""
    different = list(dict.fromkeys(texts))
    held = np.array([[_covers(text, value, number=number) for text in different] for value in values], dtype=np.bool_)
    place = {text: at for at, text in enumerate(different)}
    return held.reshape(len(values), -1)[:, [place[text] for text in texts]]


def _only_others(covering: Bools, values: Sequence[Any], texts: Sequence[str | None]) -> None:
    """A label that some group shows by its name is in no group that shows `*`."""
    named = np.array([value in texts if value is None else str(value) in texts for value in values], dtype=np.bool_)
    hidden = np.array([text == SUPPRESSED for text in texts], dtype=np.bool_)
    covering[np.ix_(named, hidden)] = False


def _covers(text: str | None, value: Any, *, number: bool) -> bool:
    if text is None or value is None:
        return (text is None and value is None) or (value is None and (text == SUPPRESSED or _may_miss(text)))
    if text in (SUPPRESSED, str(value)):
        return True
    if number:
        return _inside(text, value)
    return text.startswith("{") and str(value) in text[1:-1].split(", ")


def _may_miss(text: str | None) -> bool:
    return text is not None and holds_missing(text)


def _inside(text: str, value: Any) -> bool:
    dates = not isinstance(value, int | float)
    ends = interval_ends(text, "second" if dates else None)
    if ends is None:
        return False
    at = float(calendar.parse(str(value)) if dates else value)
    closed = text.removesuffix(OR_MISSING).endswith("]")
    return (ends.low is None or ends.low <= at) and _below(ends, at, closed=closed)


def _below(ends: Ends, at: float, *, closed: bool) -> bool:
    return ends.high is None or at < ends.high or (closed and at == ends.high)
