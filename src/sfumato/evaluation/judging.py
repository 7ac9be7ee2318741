"""Judging a masked table before it is released: what survived, what it costs, and what may go along."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from sfumato.data.table import Table
from sfumato.structure.released import ReleasedValues
from sfumato.structure.structures import Found


@dataclass(frozen=True, eq=False)
class Judged:
    """What was measured: `scores` for the holder's eyes, `released` and `centres` as aggregates that may go along."""

    scores: Mapping[str, Any]
    released: ReleasedValues
    centres: Mapping[str, Any] | None


def judge(found: Found, table: Table, masked: Mapping[str, pa.Array[Any]]) -> Judged:
    """Measure a masked table against the raw one."""
    return Judged({}, ReleasedValues.learn(table, masked), None)


def agreement_with(found: Found, table: Table) -> Callable[[Mapping[str, pa.Array[Any]]], float] | None:
    """A measure of masked columns: the share of records whose nearest raw centre is unchanged; None for classes."""
    embedding, placed, centres = found.embedding, found.placed, found.centres
    if embedding is None or placed is None or centres is None:
        return None
    before = placed.nearest(centres)

    def agreement(masked: Mapping[str, pa.Array[Any]]) -> float:
        return float((embedding.place_masked(table, masked).nearest(centres) == before).mean())

    return agreement
