"""Rotate: pairwise rotations that reach every attribute (004 section 4.4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, ClassVar, Literal

import numpy as np

from sfumato.data.schema import Number, Schema
from sfumato.errors import RecipeError
from sfumato.maskers.geometric.checking import (
    Distributions,
    Round,
    check_recipe,
    check_settings,
    finite,
    refuse_strangers,
)
from sfumato.maskers.geometric.fit import Given, Plan, refuse_missing, spread, transform
from sfumato.maskers.geometric.mask import KEY, Frame, Transformation
from sfumato.maskers.geometric.noise import Chance
from sfumato.maskers.geometric.operations import Turn, untouched
from sfumato.maskers.masker import Outcome, Task
from sfumato.privacy.requirements import Requirement

Pair = tuple[str, str] | tuple[str, str, float]
Normalise = bool | Literal["range", "spread"]


@dataclass(frozen=True, kw_only=True)
class Rotate:
    """Attributes are rotated two by two, clockwise. It promises nothing: see docs/geometric.md.

    `pairs`: two attributes and an angle in degrees, in order; an angle that is not given is drawn, and so are
    the pairs if there are none. A rotation mixes units, so a scale is fixed first: `normalise=True` (or "range")
    takes each attribute's range about its middle, the scale in which clusters are found; "spread" its standard
    deviation about its mean; False the numbers as they are, counted in `units` ({"salary": 1000}: in thousands).
    What comes out is in each attribute's own unit again. For the others see `checking.Settings`.

    >>> Rotate(pairs=[("age", "salary", 13.7)]).pairs
    (('age', 'salary', 13.7),)
    """

    pairs: tuple[Pair, ...] | None = None
    normalise: Normalise = True
    units: Mapping[str, float] = field(default_factory=dict)
    attributes: tuple[str, ...] | None = None
    round: Round = None
    enhance: float = 0.0
    enhance_noise: Distributions = field(default_factory=dict)
    seed: int | None = None
    guarantee: ClassVar[str] = "none"

    def __post_init__(self) -> None:
        check_settings(self)
        check_scale(self.normalise, self.units)
        if self.pairs is not None:
            object.__setattr__(self, "pairs", tuple(_pair(pair) for pair in self.pairs))

    def check(self, schema: Schema, requirements: Sequence[Requirement]) -> None:
        """Two numbers or more, each of them rotated, and no requirement."""
        names = check_recipe(self, schema, requirements)
        refuse_strangers("units", self.units, names)
        if len(names) < 2:
            raise RecipeError(names[0], "a rotation needs two attributes", given="a single attribute",
                              remedy="rotate it with another number, or use translate or scale")  # fmt: skip
        if self.pairs is not None:
            _check_pairs(self.pairs, names)

    def mask(self, task: Task) -> Outcome:
        """Rotate the numbers."""
        self.check(task.table.schema, task.requirements)
        names = check_recipe(self, task.table.schema, task.requirements)
        return transform(task, names, self, lambda given: self._plan(given, task.table.schema))

    @staticmethod
    def read_mask(files: Mapping[str, Any]) -> Transformation:
        """The transformation, from the key in the holder's folder."""
        return Transformation.from_json(files[KEY])

    def _plan(self, given: Given, schema: Schema) -> Plan:
        refuse_missing(given.columns)
        pairs = drawn_pairs(given.names, given.chance) if self.pairs is None else self.pairs
        turns = (
            Turn(pair[0], pair[1], float(pair[2]) if len(pair) == 3 else angle(f"angle {at}", given.chance))
            for at, pair in enumerate(pairs)
        )
        return Plan(frames(given, schema, self.normalise, self.units), tuple(turns))


def check_scale(normalise: Normalise, units: Mapping[str, float]) -> None:
    """Refuse a scale that is unknown, or fixed twice."""
    if normalise not in (True, False, "range", "spread"):
        raise RecipeError("normalise", "it is true, false, range or spread", given=repr(normalise),
                          remedy="leave it out: the range is used")  # fmt: skip
    if units and normalise:
        raise RecipeError("units", "the scale is fixed once", given="units beside normalise",
                          remedy="say normalise: false, or leave units out")  # fmt: skip
    for name, unit in units.items():
        if finite(f"unit of {name}", unit) <= 0:
            raise RecipeError(name, "a unit is a positive number", given=repr(unit), remedy="give for example 1000")


def _pair(form: Any) -> Pair:
    parts = tuple(form) if isinstance(form, list | tuple) else ()
    if len(parts) not in (2, 3) or not all(isinstance(part, str) for part in parts[:2]):
        raise RecipeError("pairs", "a pair is two attributes and an angle", given=repr(form),
                          remedy="write [age, salary, 13.7], or [age, salary] to have the angle drawn")  # fmt: skip
    Turn(parts[0], parts[1], finite("angle", parts[2]) if len(parts) == 3 else 1.0)
    return parts


def _check_pairs(pairs: tuple[Pair, ...], names: tuple[str, ...]) -> None:
    refuse_strangers("pairs", [name for pair in pairs for name in pair[:2]], names)
    seen = {name for pair in pairs for name in pair[:2]}
    bare = [name for name in names if name not in seen]
    turns = tuple(Turn(pair[0], pair[1], float(pair[2]) if len(pair) == 3 else 1.0) for pair in pairs)
    same = [] if any(len(pair) == 2 for pair in pairs) else untouched(turns, names)
    if bare or same:
        raise RecipeError(", ".join(bare or same), "every attribute is rotated, else it goes out raw",
                          given="in no pair" if bare else "in pairs that cancel out",
                          remedy="add a pair with it, or leave pairs out to have them drawn")  # fmt: skip


def drawn_pairs(names: tuple[str, ...], chance: Chance) -> tuple[Pair, ...]:
    """A chain through all attributes in a drawn order: each is rotated, all but the ends twice."""
    order = [names[at] for at in np.argsort(chance.uniform("order", len(names)))]
    return tuple(pairwise(order))


def angle(label: str, chance: Chance) -> float:
    """A drawn angle, at least 15 degrees away from the axes, where attributes would only change places."""
    quarter, inside = chance.uniform(label, 2)
    return float(90 * int(4 * quarter) + 15 + 60 * inside)


def frames(given: Given, schema: Schema, normalise: Normalise, units: Mapping[str, float]) -> dict[str, Frame]:
    """The scale of each attribute."""
    if not normalise:
        return {name: Frame(0.0, float(units.get(name, 1.0)), whole) for name, whole in given.wholes.items()}
    return {name: _frame(name, given, schema[name], normalise) for name in given.names}


def _frame(name: str, given: Given, attribute: Any, normalise: Normalise) -> Frame:
    column, whole = given.columns[name], given.wholes[name]
    if normalise == "spread":
        return Frame(float(np.nanmean(column)), spread(column), whole)
    declared = attribute.range if isinstance(attribute, Number) else None
    low, high = (float(end) for end in declared or (np.nanmin(column), np.nanmax(column)))
    return Frame((low + high) / 2, high - low or 1.0, whole)
