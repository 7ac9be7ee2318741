"""Hybrid and AddNoise: one operation per attribute (004 section 4.5), and noise on every value (section 3.1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from sfumato.data.schema import Schema
from sfumato.errors import RecipeError
from sfumato.maskers.geometric.checking import (
    Distributions,
    Round,
    check_recipe,
    check_settings,
    distributions,
    finite,
    refuse_strangers,
)
from sfumato.maskers.geometric.fit import Given, Plan, refuse_missing, spread, transform
from sfumato.maskers.geometric.mask import KEY, Transformation
from sfumato.maskers.geometric.moving import factor, shift
from sfumato.maskers.geometric.noise import Distribution, How, Noise
from sfumato.maskers.geometric.operations import Add, Multiply, Operation, Turn
from sfumato.maskers.geometric.rotating import Normalise, angle, check_scale, frames
from sfumato.maskers.masker import Outcome, Task
from sfumato.privacy.requirements import Requirement

Step = tuple[Any, ...]
"""("add", distance), ("multiply", factor) or ("rotate", other attribute, angle); the last part may be left out."""
_PARTS = {"add": 1, "multiply": 1, "rotate": 2}


@dataclass(frozen=True, kw_only=True)
class Hybrid:
    """One operation per attribute: add, multiply, or rotate with another one. It promises nothing.

    `operations`: by attribute; drawn for those that have none and take part in no rotation. Additions and
    multiplications come first, rotations after them in the scale of `normalise` and `units` (see `Rotate`; here
    the numbers are taken as they are unless it says otherwise).

    >>> Hybrid(operations={"age": ("add", 2), "salary": ("multiply", 0.93)}).operations["age"]
    ('add', 2)
    """

    operations: Mapping[str, Step] = field(default_factory=dict)
    normalise: Normalise = False
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
        object.__setattr__(self, "operations", {name: _step(name, form) for name, form in self.operations.items()})

    def check(self, schema: Schema, requirements: Sequence[Requirement]) -> None:
        """Numbers only, and no requirement."""
        names = check_recipe(self, schema, requirements)
        refuse_strangers("units", self.units, names)
        refuse_strangers("operations", self.operations, names)
        refuse_strangers("rotate", [step[1] for step in self.operations.values() if step[0] == "rotate"], names)

    def mask(self, task: Task) -> Outcome:
        """Transform the numbers."""
        self.check(task.table.schema, task.requirements)
        names = check_recipe(self, task.table.schema, task.requirements)
        return transform(task, names, self, lambda given: self._plan(given, task.table.schema))

    @staticmethod
    def read_mask(files: Mapping[str, Any]) -> Transformation:
        """The transformation, from the key in the holder's folder."""
        return Transformation.from_json(files[KEY])

    def _plan(self, given: Given, schema: Schema) -> Plan:
        steps = _complete(self.operations, given)
        turned = {name for at, step in steps.items() if step[0] == "rotate" for name in (at, step[1])}
        refuse_missing({name: given.columns[name] for name in turned})
        scales = frames(given, schema, self.normalise, self.units)
        made = [_operation(name, step, given, scales[name].unit) for name, step in steps.items()]
        return Plan(scales, tuple(sorted(made, key=lambda operation: isinstance(operation, Turn))))


def _step(name: str, form: Any) -> Step:
    parts = (form,) if isinstance(form, str) else tuple(form) if isinstance(form, list | tuple) else ()
    kind = parts[0] if parts else None
    if kind not in _PARTS or not (kind == "rotate") < len(parts) <= 1 + _PARTS[kind]:
        raise RecipeError(name, "an operation is [add, distance], [multiply, factor] or [rotate, other, angle]",
                          given=repr(form), remedy="write for example [multiply, 0.93]")  # fmt: skip
    if kind == "rotate":
        Turn(name, str(parts[1]), finite("angle", parts[2]) if len(parts) == 3 else 1.0)
    elif len(parts) == 2:
        by = finite(name, parts[1])
        if by == {"add": 0, "multiply": 1}[kind]:
            raise RecipeError(name, "an operation changes something", given=repr(form),
                              remedy="give another number, or leave it out to have it drawn")  # fmt: skip
        Multiply(name, by if kind == "multiply" else 1.0)
    return parts


def _complete(given_steps: Mapping[str, Step], given: Given) -> dict[str, Step]:
    """An operation for every attribute: those that are given, the others drawn."""
    taken = {name for at, step in given_steps.items() for name in (at, *step[1:2]) if isinstance(name, str)}
    free = [name for name in given.names if name not in taken]
    luck = given.chance.uniform("operations", len(free))
    drawn = {name: ("add", "multiply", "rotate")[int(3 * u)] for name, u in zip(free, luck, strict=True)}
    turning = [name for name, kind in drawn.items() if kind == "rotate"]
    steps: dict[str, Step] = dict(given_steps)
    steps |= {name: (kind,) for name, kind in drawn.items() if kind != "rotate"}
    steps |= {a: ("rotate", b) for a, b in zip(turning[::2], turning[1::2], strict=False)}
    return steps | ({turning[-1]: ("add",)} if len(turning) % 2 else {})


def _operation(name: str, step: Step, given: Given, unit: float) -> Operation:
    """In the scale of the attribute: a distance in its own unit becomes one in that scale."""
    if step[0] == "add":
        return Add(name, (float(step[1]) if len(step) > 1 else shift(name, given)) / unit)
    if step[0] == "multiply":
        return Multiply(name, float(step[1]) if len(step) > 1 else factor(given.chance.below(name)))
    return Turn(name, step[1], float(step[2]) if len(step) > 2 else angle(f"angle {name}", given.chance))


@dataclass(frozen=True, kw_only=True)
class AddNoise:
    """Every value gets noise of its own: added (ADP), or multiplied (MDP, with mean 1). It promises nothing.

    `noise`: the distribution per attribute; where none is given, normal with `strength` times the attribute's
    own spread (or around 1 with that spread, if it is multiplied). For the others see `checking.Settings`.

    >>> AddNoise(noise={"age": {"normal": [0, 10]}}).how
    'add'
    """

    noise: Distributions = field(default_factory=dict)
    how: How = "add"
    strength: float = 0.5
    attributes: tuple[str, ...] | None = None
    round: Round = None
    enhance: float = 0.0
    enhance_noise: Distributions = field(default_factory=dict)
    seed: int | None = None
    guarantee: ClassVar[str] = "none"

    def __post_init__(self) -> None:
        check_settings(self)
        distributions(self.noise)
        if self.how not in ("add", "multiply"):
            raise RecipeError("how", "noise is added or multiplied", given=repr(self.how), remedy="say add")
        if finite("strength", self.strength) <= 0:
            raise RecipeError("strength", "it is a positive share of the spread", given=repr(self.strength),
                              remedy="give for example 0.5")  # fmt: skip

    def check(self, schema: Schema, requirements: Sequence[Requirement]) -> None:
        """Numbers only, and no requirement."""
        refuse_strangers("noise", self.noise, check_recipe(self, schema, requirements))

    def mask(self, task: Task) -> Outcome:
        """Add noise to the numbers."""
        names = check_recipe(self, task.table.schema, task.requirements)
        return transform(task, names, self, self._plan)

    @staticmethod
    def read_mask(files: Mapping[str, Any]) -> Transformation:
        """The transformation, from the key in the holder's folder."""
        return Transformation.from_json(files[KEY])

    def _plan(self, given: Given) -> Plan:
        own = distributions(self.noise)
        draws = {name: own.get(name) or self._default(given, name) for name in given.names}
        return Plan(given.frames(), (), (Noise(1.0, draws, given.chance.below("noise"), self.how),))

    def _default(self, given: Given, name: str) -> Distribution:
        if self.how == "multiply":
            return Distribution("normal", 1.0, self.strength)
        return Distribution("normal", 0.0, self.strength * spread(given.columns[name]))
