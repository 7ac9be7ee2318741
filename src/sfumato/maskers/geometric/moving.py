"""Translate and Scale: one number per attribute, added or multiplied (004 sections 4.2 and 4.3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from sfumato.data.schema import Schema
from sfumato.errors import RecipeError
from sfumato.maskers.geometric.checking import (
    Distributions,
    Round,
    check_recipe,
    check_settings,
    finite,
    refuse_strangers,
)
from sfumato.maskers.geometric.fit import Given, Plan, spread, transform
from sfumato.maskers.geometric.mask import KEY, Transformation
from sfumato.maskers.geometric.noise import Chance
from sfumato.maskers.geometric.operations import Add, Multiply
from sfumato.maskers.masker import Outcome, Task
from sfumato.privacy.requirements import Requirement


@dataclass(frozen=True, kw_only=True)
class Translate:
    """Every value of an attribute is moved by the same distance. It promises nothing: see docs/geometric.md.

    `by`: the distance per attribute; drawn where none is given. For the others see `checking.Settings`.

    >>> Translate(by={"age": -3, "salary": 5000}).enhance
    0.0
    """

    by: Mapping[str, float] = field(default_factory=dict)
    attributes: tuple[str, ...] | None = None
    round: Round = None
    enhance: float = 0.0
    enhance_noise: Distributions = field(default_factory=dict)
    seed: int | None = None
    guarantee: ClassVar[str] = "none"

    def __post_init__(self) -> None:
        check_settings(self)
        for name, by in self.by.items():
            if finite(f"translate {name}", by) == 0:
                raise RecipeError(f"translate {name}", "a distance of 0 changes nothing", given="0",
                                  remedy="give another distance, or leave it out to have one drawn")  # fmt: skip

    def check(self, schema: Schema, requirements: Sequence[Requirement]) -> None:
        """Numbers only, and no requirement."""
        refuse_strangers("translate", self.by, check_recipe(self, schema, requirements))

    def mask(self, task: Task) -> Outcome:
        """Move the numbers."""
        names = check_recipe(self, task.table.schema, task.requirements)
        return transform(task, names, self, self._plan)

    @staticmethod
    def read_mask(files: Mapping[str, Any]) -> Transformation:
        """The transformation, from the key in the holder's folder."""
        return Transformation.from_json(files[KEY])

    def _plan(self, given: Given) -> Plan:
        moves = (Add(name, float(self.by[name]) if name in self.by else shift(name, given)) for name in given.names)
        return Plan(given.frames(), tuple(moves))


@dataclass(frozen=True, kw_only=True)
class Scale:
    """Every value of an attribute is multiplied by the same factor. It promises nothing: see docs/geometric.md.

    `by`: one factor for all attributes, which keeps every cluster, or one per attribute; where none is given,
    one common factor is drawn. For the others see `checking.Settings`.

    >>> Scale(by=0.93).by
    0.93
    """

    by: Mapping[str, float] | float | None = None
    attributes: tuple[str, ...] | None = None
    round: Round = None
    enhance: float = 0.0
    enhance_noise: Distributions = field(default_factory=dict)
    seed: int | None = None
    guarantee: ClassVar[str] = "none"

    def __post_init__(self) -> None:
        check_settings(self)
        for name, by in (self.by if isinstance(self.by, Mapping) else {"scale": self.by}).items():
            if by is not None:
                Multiply(name, finite(name, by))
        if self.by == 1:
            raise RecipeError("scale", "a factor of 1 changes nothing", given="1",
                              remedy="give another factor, or leave it out to have one drawn")  # fmt: skip

    def check(self, schema: Schema, requirements: Sequence[Requirement]) -> None:
        """Numbers only, and no requirement."""
        names = check_recipe(self, schema, requirements)
        refuse_strangers("scale", self.by if isinstance(self.by, Mapping) else (), names)

    def mask(self, task: Task) -> Outcome:
        """Multiply the numbers."""
        names = check_recipe(self, task.table.schema, task.requirements)
        return transform(task, names, self, self._plan)

    @staticmethod
    def read_mask(files: Mapping[str, Any]) -> Transformation:
        """The transformation, from the key in the holder's folder."""
        return Transformation.from_json(files[KEY])

    def _plan(self, given: Given) -> Plan:
        own = self.by if isinstance(self.by, Mapping) else {}
        common = factor(given.chance) if self.by is None or isinstance(self.by, Mapping) else float(self.by)
        return Plan(given.frames(), tuple(Multiply(name, float(own.get(name, common))) for name in given.names))


def shift(name: str, given: Given) -> float:
    """A drawn distance: one to three standard deviations up or down; whole for a whole attribute."""
    size, sign = given.chance.uniform(f"shift {name}", 2)
    by = float((1 + 2 * size) * spread(given.columns[name]) * (1 if sign < 0.5 else -1))
    return by if not given.wholes[name] else float(np.rint(by)) or 1.0


def factor(chance: Chance) -> float:
    """A drawn factor: between 0.5 and 0.9 or between 1.1 and 2."""
    size, side = chance.uniform("factor", 2)
    return float(0.5 + 0.4 * size if side < 0.5 else 1.1 + 0.9 * size)
