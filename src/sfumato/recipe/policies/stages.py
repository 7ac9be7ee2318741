"""What a check can be asked of: a recipe before anything is read, a table before it is masked, and what is shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.data.masked import Masked
from sfumato.data.table import AnyColumn, ItemColumn, Table
from sfumato.evaluation.attacks.results import Measured
from sfumato.recipe.policies.contents import contents_of
from sfumato.recipe.policies.policy import Policy

MOST = 1000
"""Labels of a column that are looked at to see what it holds."""


@dataclass(frozen=True)
class Wrong:
    """Why a check is not satisfied, and what to do."""

    given: str
    remedy: str


@dataclass(frozen=True, eq=False)
class Asked:
    """A check that is asked: its settings, the recipe, the policy that it belongs to, and what is known so far.

    `people`: the raw table, once it is read. `masked`: what is shown. `attacks`: how far attacks get.
    """

    terms: Mapping[str, Any]
    recipe: Any
    policy: Policy
    people: Table | None = None
    masked: Masked | None = None
    attacks: Measured = field(default_factory=Measured)
    year: int = field(default_factory=lambda: datetime.now(UTC).year)

    @property
    def contents(self) -> dict[str, str]:
        """What each released column holds."""
        tables = [self.people.columns if self.people is not None else {}]
        tables += [{name: self.masked.shown(name) for name in self.masked.names}] if self.masked is not None else []
        return contents_of(
            self.recipe.schema, self.policy.columns, *({n: some(c) for n, c in t.items()} for t in tables)
        )

    def holding(self, *contents: str) -> list[str]:
        """The columns that hold such things."""
        return [name for name, held in self.contents.items() if held in contents]

    @property
    def bare(self) -> list[str]:
        """Columns that are shown as they are."""
        return [name for name in self.recipe.schema.kept if self.recipe.schema[name].role != "quasi"]

    def column(self, name: str) -> AnyColumn:
        """A column as it is shown, or before that as it is."""
        if self.masked is not None:
            return self.masked.shown(name)
        assert self.people is not None, "a column is asked for once there is a table"
        return self.people.columns[name]


def some(column: AnyColumn) -> list[str]:
    """Some labels of a column that rows have, each once; of sets their items."""
    labels = column.items if isinstance(column, ItemColumn) else column.labels
    had = np.flatnonzero(_counts(column)[: len(labels)])[:MOST]
    return [labels[at] for at in had]


def held(column: AnyColumn) -> list[int]:
    """How many rows have each whole cell that somebody has: a label, a number, a set of items; a missing one is one."""
    return [int(count) for count in column.counts[column.counts > 0]]


def _counts(column: AnyColumn) -> NDArray[np.int64]:
    return np.bincount(column.codes) if isinstance(column, ItemColumn) else column.counts
