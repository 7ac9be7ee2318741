"""Routes: which group of a release covers a raw row, by what the group shows and by nothing else."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.data import calendar
from sfumato.data.schema import Calendar
from sfumato.data.shown import OR_MISSING, SUPPRESSED, holds_missing, listed
from sfumato.events import checkpoint
from sfumato.structure.masked_positions import interval_ends

NOWHERE = -1
AT_ONCE = 512
"""Rows that are looked at together."""
Bools = NDArray[np.bool_]


def routed(
    columns: Mapping[str, Any],
    shown: Mapping[str, Sequence[str | None]],
    *,
    numbers: Collection[str],
    suppressed: Collection[str],
    quoted: bool = True,
) -> NDArray[np.int64]:
    """(raw rows,): the one group that covers each row; -1 where none does, or several do.

    In a column among `suppressed`, `*` stands for the labels that are not shown anywhere; else for any value. `quoted`:
    labels with commas in them stand in quotation marks; before format 6 they are told by the raw labels.
    """
    rows = len(next(iter(columns.values()))) if columns else 0
    alike = np.zeros(rows, dtype=np.int64)  # rows of the same raw values are looked at once
    covers: list[tuple[NDArray[np.int64], Bools]] = []
    for name, column in columns.items():
        coded = column.dictionary_encode() if not hasattr(column, "dictionary") else column
        values = [*coded.dictionary.to_pylist(), None]
        codes = coded.indices.fill_null(len(values) - 1).to_numpy(zero_copy_only=False).astype(np.int64)
        covering = _covering(values, shown[name], number=name in numbers, quoted=quoted)
        if name in suppressed:
            _only_others(covering, values, shown[name])
        covers.append((codes, covering))
        alike = np.unique(alike * len(values) + codes, return_inverse=True)[1].reshape(-1)
    first = np.unique(alike, return_index=True)[1]
    found = np.full(len(first), NOWHERE, dtype=np.int64)
    for start in range(0, len(first), AT_ONCE):
        checkpoint()
        some = first[start : start + AT_ONCE]
        inside = np.logical_and.reduce([table[codes[some]] for codes, table in covers])
        found[start : start + AT_ONCE] = np.where(inside.sum(axis=1) == 1, inside.argmax(axis=1), NOWHERE)
    return found[alike]


def _covering(values: Sequence[Any], texts: Sequence[str | None], *, number: bool, quoted: bool) -> Bools:
    """(values, groups): whether what a group shows covers a raw value. Each different text is read once."""
    different = list(dict.fromkeys(texts))
    held = np.zeros((len(values), len(different)), dtype=np.bool_)
    gone = np.array([value is None for value in values], dtype=np.bool_)
    written: dict[str, list[int]] = {}
    for at, value in enumerate(values):
        written.setdefault("" if value is None else str(value), []).append(at)
    inside = _Inside(values) if number else None
    commas = () if quoted else {label for label in written if ", " in label}
    for at, text in enumerate(different):
        if text is None or text == SUPPRESSED:
            held[:, at] = gone if text is None else True
            continue
        members = () if number else listed(text, commas)
        for member in (text, *members):
            held[written.get(member, []), at] = True
        if inside is not None:
            held[:, at] |= inside(text)
        held[gone, at] = holds_missing(text) and text not in written  # a raw label may be written alike
    place = {text: at for at, text in enumerate(different)}
    return held[:, [place[text] for text in texts]]


def _only_others(covering: Bools, values: Sequence[Any], texts: Sequence[str | None]) -> None:
    """A label that some group shows by its name is in no group that shows `*`."""
    named = np.array([value in texts if value is None else str(value) in texts for value in values], dtype=np.bool_)
    hidden = np.array([text == SUPPRESSED for text in texts], dtype=np.bool_)
    covering[np.ix_(named, hidden)] = False


class _Inside:
    """Owns the raw numbers or dates of a column, missing ones as NaN, which lie in no interval."""

    def __init__(self, values: Sequence[Any]) -> None:
        known = [value for value in values if value is not None]
        dates = any(not isinstance(value, int | float) for value in known)
        self.unit: Calendar | None = "second" if dates else None
        self.at = np.array([np.nan if value is None else self._number(value) for value in values], dtype=np.float64)

    def _number(self, value: Any) -> float:
        return float(calendar.parse(str(value)) if self.unit else value)

    def __call__(self, text: str) -> Bools:
        """(values,): whether each lies in an interval; an end that is not told is none."""
        ends = interval_ends(text, self.unit)
        if ends is None:
            return np.zeros(len(self.at), dtype=np.bool_)
        low, high = -np.inf if ends.low is None else ends.low, np.inf if ends.high is None else ends.high
        last = (self.at == high) if text.removesuffix(OR_MISSING).endswith("]") else False
        found: Bools = (self.at >= low) & ((self.at < high) | last)
        return found
