"""The settings of the geometric maskers: Translate, Scale, Rotate, Hybrid and AddNoise (004)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Literal

import numpy as np

from sfumato.calls import constructed
from sfumato.data.schema import Number, Schema
from sfumato.errors import RecipeError
from sfumato.maskers.geometric.fit import (
    Distributions,
    GeometricMasker,
    Given,
    Plan,
    distributions,
    finite,
    refuse_missing,
    refuse_strangers,
    spread,
    transformed,
)
from sfumato.maskers.geometric.mask import Chance, Distribution, Frame, How, Noise
from sfumato.maskers.geometric.operations import Add, Multiply, Operation, Turn, untouched
from sfumato.privacy.requirements import Requirement


@constructed
@dataclass(frozen=True, kw_only=True)
class Translate(GeometricMasker):
    """Every value of an attribute is moved by the same distance (004 section 4.2). `GeometricMasker` tells the others.

    - `by`: the distance per attribute; drawn where none is given.

    >>> Translate(by={"age": -3, "salary": 5000}).enhance
    0.0
    """

    by: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, by in self.by.items():
            if finite(f"translate {name}", by) == 0:
                raise RecipeError(
                    f"translate {name}",
                    "a distance of 0 changes nothing",
                    given="0",
                    remedy="give another distance, or leave it out to have one drawn",
                )

    def named(self) -> Mapping[str, Iterable[str]]:
        """Those with a distance."""
        return {"translate": self.by}

    def steps(self, given: Given, schema: Schema) -> Plan:
        """A distance for each."""
        moves = (Add(name, float(self.by[name]) if name in self.by else shift(name, given)) for name in given.names)
        return Plan(given.frames(), tuple(moves))


@constructed
@dataclass(frozen=True, kw_only=True)
class Scale(GeometricMasker):
    """Every value of an attribute is multiplied by the same factor (004 section 4.3).

    `GeometricMasker` tells the others.

    - `by`: one factor for all attributes, which keeps every cluster, or one per attribute; where none is given,
      one common factor is drawn.

    >>> Scale(by=0.93).by
    0.93
    """

    by: Mapping[str, float] | float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, by in (self.by if isinstance(self.by, Mapping) else {"scale": self.by}).items():
            if by is not None:
                Multiply(name, finite(name, by))
        if self.by == 1:
            raise RecipeError(
                "scale",
                "a factor of 1 changes nothing",
                given="1",
                remedy="give another factor, or leave it out to have one drawn",
            )

    def named(self) -> Mapping[str, Iterable[str]]:
        """Those with a factor of their own."""
        return {"scale": self.by if isinstance(self.by, Mapping) else ()}

    def steps(self, given: Given, schema: Schema) -> Plan:
        """A factor for each."""
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


Pair = tuple[str, str] | tuple[str, str, float]
Normalise = bool | Literal["range", "spread"]


@constructed
@dataclass(frozen=True, kw_only=True)
class Rotate(GeometricMasker):
    """Attributes are rotated two by two, clockwise (004 section 4.4). `GeometricMasker` tells the others.

    - `pairs`: two attributes and an angle in degrees, in order; an angle that is not given is drawn, and so are
      the pairs if there are none.
    - `normalise`: a rotation mixes units, so a scale is fixed first. True (or "range") takes each attribute's range
      about its middle, the scale in which clusters are found; "spread" its standard deviation about its mean; False
      the numbers as they are. What comes out is in each attribute's own unit again.
    - `units`: with normalise=False, what numbers are counted in ({"salary": 1000}: in thousands).

    >>> Rotate(pairs=[("age", "salary", 13.7)]).pairs
    (('age', 'salary', 13.7),)
    """

    pairs: tuple[Pair, ...] | None = None
    normalise: Normalise = True
    units: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_scale(self.normalise, self.units)
        if self.pairs is not None:
            object.__setattr__(self, "pairs", tuple(_pair(pair) for pair in self.pairs))

    def check(self, schema: Schema, requirements: Sequence[Requirement]) -> None:
        """Two numbers or more, each of them rotated, and no requirement."""
        super().check(schema, requirements)
        names = transformed(self, schema, requirements)
        if len(names) < 2:
            raise RecipeError(
                names[0],
                "a rotation needs two attributes",
                given="a single attribute",
                remedy="rotate it with another number, or use translate or scale",
            )
        if self.pairs is not None:
            _check_pairs(self.pairs, names)

    def named(self) -> Mapping[str, Iterable[str]]:
        """Those with a unit; pairs are checked apart."""
        return {"units": self.units}

    def steps(self, given: Given, schema: Schema) -> Plan:
        """A turn for each pair."""
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
        raise RecipeError(
            "normalise",
            "it is true, false, range or spread",
            given=repr(normalise),
            remedy="leave it out: the range is used",
        )
    if units and normalise:
        raise RecipeError(
            "units",
            "the scale is fixed once",
            given="units beside normalise",
            remedy="say normalise: false, or leave units out",
        )
    for name, unit in units.items():
        if finite(f"unit of {name}", unit) <= 0:
            raise RecipeError(name, "a unit is a positive number", given=repr(unit), remedy="give for example 1000")


def _pair(form: Any) -> Pair:
    parts = tuple(form) if isinstance(form, list | tuple) else ()
    if len(parts) not in (2, 3) or not all(isinstance(part, str) for part in parts[:2]):
        raise RecipeError(
            "pairs",
            "a pair is two attributes and an angle",
            given=repr(form),
            remedy="write [age, salary, 13.7], or [age, salary] to have the angle drawn",
        )
    Turn(parts[0], parts[1], finite("angle", parts[2]) if len(parts) == 3 else 1.0)
    return parts


def _check_pairs(pairs: tuple[Pair, ...], names: tuple[str, ...]) -> None:
    refuse_strangers("pairs", [name for pair in pairs for name in pair[:2]], names)
    seen = {name for pair in pairs for name in pair[:2]}
    bare = [name for name in names if name not in seen]
    turns = tuple(Turn(pair[0], pair[1], float(pair[2]) if len(pair) == 3 else 1.0) for pair in pairs)
    same = [] if any(len(pair) == 2 for pair in pairs) else untouched(turns, names)
    if bare or same:
        raise RecipeError(
            ", ".join(bare or same),
            "every attribute is rotated, else it goes out raw",
            given="in no pair" if bare else "in pairs that cancel out",
            remedy="add a pair with it, or leave pairs out to have them drawn",
        )


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


Step = tuple[Any, ...]
"""("add", distance), ("multiply", factor) or ("rotate", other attribute, angle); the last part may be left out."""
_PARTS = {"add": 1, "multiply": 1, "rotate": 2}


@constructed
@dataclass(frozen=True, kw_only=True)
class Hybrid(GeometricMasker):
    """One operation per attribute: add, multiply, or rotate with another one (004 section 4.5).

    Additions and multiplications come first, rotations after them. `GeometricMasker` tells the others.

    - `operations`: by attribute; drawn for those that have none and take part in no rotation.
    - `normalise`: the scale of rotations, as in `Rotate`; here the numbers are taken as they are unless it says
      otherwise.
    - `units`: what they are counted in, as in `Rotate`.

    >>> Hybrid(operations={"age": ("add", 2), "salary": ("multiply", 0.93)}).operations["age"]
    ('add', 2)
    """

    operations: Mapping[str, Step] = field(default_factory=dict)
    normalise: Normalise = False
    units: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_scale(self.normalise, self.units)
        object.__setattr__(self, "operations", {name: _step(name, form) for name, form in self.operations.items()})

    def named(self) -> Mapping[str, Iterable[str]]:
        """Those with a unit or an operation, and those that another is rotated with."""
        turned = [step[1] for step in self.operations.values() if step[0] == "rotate"]
        return {"units": self.units, "operations": self.operations, "rotate": turned}

    def steps(self, given: Given, schema: Schema) -> Plan:
        """An operation for each."""
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
        raise RecipeError(
            name,
            "an operation is [add, distance], [multiply, factor] or [rotate, other, angle]",
            given=repr(form),
            remedy="write for example [multiply, 0.93]",
        )
    if kind == "rotate":
        Turn(name, str(parts[1]), finite("angle", parts[2]) if len(parts) == 3 else 1.0)
    elif len(parts) == 2:
        by = finite(name, parts[1])
        if by == {"add": 0, "multiply": 1}[kind]:
            raise RecipeError(
                name,
                "an operation changes something",
                given=repr(form),
                remedy="give another number, or leave it out to have it drawn",
            )
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


@constructed
@dataclass(frozen=True, kw_only=True)
class AddNoise(GeometricMasker):
    """Every value gets noise of its own: added (ADP), or multiplied (MDP, with mean 1); 004 section 3.1.

    `GeometricMasker` tells the others.

    - `noise`: the distribution per attribute; normal where none is given.
    - `how`: whether it is "add"ed or "multiply"-ed.
    - `strength`: where no distribution is given, its spread as a share of the attribute's own (of 1, if multiplied).

    >>> AddNoise(noise={"age": {"normal": [0, 10]}}).how
    'add'
    """

    noise: Distributions = field(default_factory=dict)
    how: How = "add"
    strength: float = 0.5

    def __post_init__(self) -> None:
        super().__post_init__()
        distributions(self.noise)
        if self.how not in ("add", "multiply"):
            raise RecipeError("how", "noise is added or multiplied", given=repr(self.how), remedy="say add")
        if finite("strength", self.strength) <= 0:
            raise RecipeError(
                "strength",
                "it is a positive share of the spread",
                given=repr(self.strength),
                remedy="give for example 0.5",
            )

    def named(self) -> Mapping[str, Iterable[str]]:
        """Those with a distribution."""
        return {"noise": self.noise}

    def steps(self, given: Given, schema: Schema) -> Plan:
        """Noise on every value."""
        own = distributions(self.noise)
        draws = {name: own.get(name) or self._default(given, name) for name in given.names}
        return Plan(given.frames(), (), (Noise(1.0, draws, given.chance.below("noise"), self.how),))

    def _default(self, given: Given, name: str) -> Distribution:
        if self.how == "multiply":
            return Distribution("normal", 1.0, self.strength)
        return Distribution("normal", 0.0, self.strength * spread(given.columns[name]))
