"""What a report is made of: what everybody may see, and what only the holder may see, in two separate values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.types as pt
from numpy.typing import NDArray

from sfumato.data.masked import Masked
from sfumato.data.table import AnyColumn, ItemColumn, Table
from sfumato.evaluation.attacks.results import Measured
from sfumato.maskers.masker import Mask
from sfumato.privacy.verify import Verdict
from sfumato.recipe.policies.policy import Policy
from sfumato.release.certificate import Facts
from sfumato.release.report.markup import Html
from sfumato.structure.released_groups import Codebook
from sfumato.structure.space import Space
from sfumato.structure.structures import Found

MISSING = "(missing)"


@dataclass(frozen=True, eq=False)
class Released:
    """What is in the release folder. The public edition is made of this and of nothing else.

    `mask`: as far as it is released. `space`: where it goes along. `drawn`: what both editions show, drawn once.
    """

    facts: Facts
    masked: Masked
    mask: Mask
    space: Space | None
    drawn: dict[str, Html] = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        """The masked columns, in the order of the table."""
        return tuple(name for name in self.masked.names if name in self.masked)

    def once(self, what: str, draw: Callable[[], Html]) -> Html:
        """A part that both editions show: drawn for the first, kept for the other."""
        if what not in self.drawn:
            self.drawn[what] = draw()
        return self.drawn[what]


@dataclass(frozen=True, eq=False, kw_only=True)
class Held:
    """What only the holder has: the raw table and everything that was measured against it.

    `masked`: what is shown of the raw rows, in their order. `again`: the clusters found again in it.
    `attacks`: how far attacks got, where any apply. `name`: what the table is called, where it has a name.
    `people`: under which name the ledger knows them. `policies` and `attest`: as the recipe has them.
    `remarks`: what publish warned of before it masked the table.
    """

    table: Table
    found: Found
    masked: Masked
    values: Codebook
    again: NDArray[Any] | None
    scores: Mapping[str, Any]
    history: Mapping[str, Any]
    timings: Mapping[str, float]
    verdict: Verdict
    attacks: Measured | None = None
    name: str | None = None
    people: str | None = None
    policies: Sequence[Policy] = ()
    attest: Mapping[str, str] = field(default_factory=dict)
    remarks: Sequence[str] = ()


@dataclass(frozen=True)
class Frequency:
    """A value and how many rows show it."""

    label: str
    count: int


def frequencies(column: AnyColumn) -> list[Frequency]:
    """Every value of a column of labels, the most frequent first; of sets their items. Row order does not matter."""
    labels = column.items if isinstance(column, ItemColumn) else column.labels
    found = [Frequency(label, n) for label, n in zip((*labels, MISSING), _counts(column).tolist(), strict=True) if n]
    return sorted(found, key=lambda one: (-one.count, one.label))


def different(column: AnyColumn) -> int:
    """How many values of a column of labels occur; of sets how many items."""
    return int(np.count_nonzero(_counts(column)))


def _counts(column: AnyColumn) -> NDArray[np.int64]:
    """(values + 1,): of each value, or item of sets, how often it occurs."""
    return (
        np.bincount(column.codes, minlength=len(column.items) + 1) if isinstance(column, ItemColumn) else column.counts
    )


def is_numeric(column: AnyColumn) -> bool:
    """Whether a masked column holds numbers, not labels."""
    kind = column.values.type
    return pt.is_integer(kind) or pt.is_floating(kind)


def numbers(column: AnyColumn) -> NDArray[np.float64]:
    """The numbers of a column, without the missing ones, in ascending order."""
    values = np.append(column.values.cast(pa.float64()).to_numpy(zero_copy_only=False), np.nan)
    found = values[column.keys]
    return np.sort(found[np.isfinite(found)])
