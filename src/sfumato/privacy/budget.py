"""Budget: how much privacy one release may cost, in exact fractions, and who spent what.

Differential privacy is a property of the process. The unit of privacy is one record, added or removed. A process
spends through a `Spending`: each part is taken before the mechanism that uses it looks at the data, and what would
exceed the budget is refused there.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, Self

from sfumato.calls import constructed
from sfumato.display import Card, Grid
from sfumato.errors import RecipeError, SfumatoError

UNIT = "one record added or removed"
Composition = Literal["sequential", "parallel"]
Exact = int | str | float | Fraction
LARGEST = Fraction(10**12)
"""No epsilon is larger, and none smaller than one part of it."""
_WRITTEN = re.compile(r"\s*[+-]?\d{0,20}(\.\d{0,20})?([eE][+-]?\d{1,2})?(/\d{1,20})?\s*")


class BudgetError(SfumatoError):
    """More would be spent than was declared, or than is left."""


def exact(value: object, *, what: str = "epsilon") -> Fraction:
    """A number as the fraction that its written form says: 0.1 is one tenth.

    >>> exact(0.1), exact("1/3"), exact(2)
    (Fraction(1, 10), Fraction(1, 3), Fraction(2, 1))
    """
    try:
        if isinstance(value, bool) or not isinstance(value, int | str | float | Fraction):
            raise ValueError
        if isinstance(value, str) and not _WRITTEN.fullmatch(
            value
        ):  # 1e999999999 would be worked out to its last digit
            raise ValueError
        found = Fraction(repr(value)) if isinstance(value, float) else Fraction(value)
    except (ValueError, ZeroDivisionError):
        raise RecipeError(
            what, "it is a positive number", given=repr(value), remedy=f"write for example {what}: 0.5 or {what}: 1/2"
        ) from None
    if found > LARGEST or 0 < found < 1 / LARGEST:
        raise RecipeError(
            what,
            f"it is at most {int(LARGEST):,} and at least one part of that",
            given="another size",
            remedy=f"write for example {what}: 0.5",
        )
    if found <= 0:
        raise RecipeError(
            what,
            "it is a positive number: 0 would tell nothing, and less does not exist",
            given=str(value),
            remedy=f"write for example {what}: 0.5",
        )
    return found


@constructed
@dataclass(frozen=True)
class Budget:
    """The epsilon of one release, and the most that all releases of the same people may cost together.

    `total` caps the sum over runs that the holder's ledger remembers (None: it is added up and not capped).
    Who the same people are, the recipe says (`people`), and the ledger sees by the table's content.

    >>> Budget(0.5).epsilon
    Fraction(1, 2)
    >>> Budget(0)
    Traceback (most recent call last):
        ...
    sfumato.errors.RecipeError: epsilon: it is a positive number: 0 would tell nothing, and less does not exist. \
Given: 0. To mend it: write for example epsilon: 0.5.
    """

    epsilon: Fraction
    total: Fraction | None = None

    def __init__(self, epsilon: Exact, total: Exact | None = None) -> None:
        object.__setattr__(self, "epsilon", exact(epsilon))
        object.__setattr__(self, "total", None if total is None else exact(total, what="total"))
        if self.total is not None and self.total < self.epsilon:
            raise RecipeError(
                "budget",
                "one release costs no more than all together",
                given=f"epsilon {self.epsilon} and total {self.total}",
                remedy="raise total, or lower epsilon",
            )

    def to_json(self) -> dict[str, str]:
        """Plain texts; fractions stay exact."""
        found = {"epsilon": str(self.epsilon)}
        if self.total is not None:
            found["total"] = str(self.total)
        return found


@dataclass(frozen=True)
class Event:
    """One use of the data: which mechanism, for what, at which price.

    "parallel": it ran on `parts` disjoint parts of the records at once, so the price is paid once for all of them.
    Everything here goes out with the release: it follows from public settings and from noisy answers, and no field
    counts records, or cells that have records.
    """

    mechanism: str
    purpose: str
    epsilon: Fraction
    composition: Composition
    parts: int

    def to_json(self) -> dict[str, Any]:
        """Plain mapping; epsilon as an exact fraction."""
        return {
            "mechanism": self.mechanism,
            "purpose": self.purpose,
            "epsilon": str(self.epsilon),
            "composition": self.composition,
            "parts": self.parts,
        }


@dataclass(frozen=True)
class Share:
    """A part of the budget with a name: what is planned before anything is spent."""

    purpose: str
    epsilon: Fraction


class Plan(tuple[Share, ...]):
    """All parts of a budget, in the order in which they are spent; `note`: what to know before, if anything."""

    note: str

    def __new__(cls, parts: Iterable[Share] = (), note: str = "") -> Self:
        """Parts, with or without a note."""
        found = super().__new__(cls, parts)
        found.note = note
        return found

    def __repr__(self) -> str:
        return self._card().text()

    def _repr_html_(self) -> str:
        return self._card().html()

    def _card(self) -> Card:
        rows = [[share.purpose, float(share.epsilon)] for share in self]
        title = f"Plan: epsilon = {float(sum(share.epsilon for share in self)):g}, in {len(rows)} parts"
        note = [self.note] if self.note else []
        return Card(title, note, [Grid(("spent on", "epsilon"), rows)] if rows else [])


def shares(epsilon: Fraction, weights: Mapping[str, float | Fraction]) -> dict[str, Fraction]:
    """Split an amount by weights, exactly: each part is a whole number of 1/2^20ths, the last takes what is left.

    >>> split = shares(Fraction(1), {"a": 1.0, "b": 2.0, "c": 3.0})
    >>> sum(split.values()) == 1, float(split["a"]) < 0.17
    (True, True)
    """
    if not weights or any(not 0 < float(weight) < math.inf for weight in weights.values()):
        raise ValueError("every share has a positive weight")
    whole = sum(Fraction(weight) for weight in weights.values())
    grain = 2**20
    names = list(weights)
    found = {name: Fraction(max(1, int(Fraction(weights[name]) / whole * grain)), grain) * epsilon for name in names}
    largest = max(names, key=lambda name: found[name])
    found[largest] += epsilon - sum(found.values())
    return found


class Spending:
    """Owns the events of one run. What is asked beyond the budget is refused before the data is looked at."""

    def __init__(self, budget: Budget) -> None:
        self.budget = budget
        self._events: list[Event] = []

    @property
    def events(self) -> Sequence[Event]:
        """What has been spent, in order."""
        return tuple(self._events)

    @property
    def spent(self) -> Fraction:
        """The sum, exactly."""
        return sum((event.epsilon for event in self._events), Fraction(0))

    @property
    def left(self) -> Fraction:
        """What may still be spent."""
        return self.budget.epsilon - self.spent

    def spend(self, event: Event) -> None:
        """Take this much; called before the mechanism sees anything."""
        if event.epsilon <= 0 or event.epsilon > self.left:
            raise BudgetError(
                event.purpose,
                "no more is spent than is left of the budget",
                given=f"{event.epsilon} asked, {self.left} left of {self.budget.epsilon}",
                remedy="report this: a plan adds up to its budget",
            )
        self._events.append(event)

    def check_complete(self) -> None:
        """The events add up to the declared epsilon, exactly: what the certificate says is what happened."""
        if self.spent != self.budget.epsilon:
            raise BudgetError(
                "budget",
                "what was spent is what was declared, exactly",
                given=f"{self.spent} of {self.budget.epsilon}",
                remedy="report this: a plan adds up to its budget",
            )
