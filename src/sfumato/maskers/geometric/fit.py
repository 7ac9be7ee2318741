"""What all geometric maskers are told and refuse, and how one becomes a transformation.

What is not given is drawn, the plan is applied, and the key goes to the holder.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, cast

import numpy as np

from sfumato.arrays import Floats
from sfumato.data.schema import Number, Schema
from sfumato.data.table import Table
from sfumato.errors import RecipeError, TableError, did_you_mean
from sfumato.maskers.geometric.mask import KEY, Chance, Distribution, Frame, Noise, Rounding, Transformation
from sfumato.maskers.geometric.operations import Columns, Operation, is_whole, numbers_in
from sfumato.maskers.masker import LARGE, NO_GUARANTEE, SEED, Guarantee, Masker, Outcome, Task, within
from sfumato.privacy.requirements import Requirement

Round = Mapping[str, str | None] | str | None
Distributions = Mapping[str, Mapping[str, Sequence[float]]]


@dataclass(frozen=True, eq=False)
class Given:
    """What a masker plans with: the raw numbers, which are whole, how wide they spread, and chance."""

    columns: Columns
    wholes: Mapping[str, bool]
    chance: Chance

    @classmethod
    def of(cls, table: Table, names: tuple[str, ...], seed: int | None) -> Given:
        """The named attributes of a table."""
        columns = {name: numbers_in(table, name) for name in names}
        return cls(columns, {name: is_whole(table, name) for name in names}, Chance.of(seed))

    @property
    def names(self) -> tuple[str, ...]:
        """The attributes that are transformed."""
        return tuple(self.columns)

    def frames(self) -> dict[str, Frame]:
        """Every attribute in its own unit."""
        return {name: Frame(whole=whole) for name, whole in self.wholes.items()}


@dataclass(frozen=True)
class Plan:
    """What is done to the numbers: in which scale, by which operations, with which noise."""

    frames: Mapping[str, Frame]
    operations: tuple[Operation, ...] = ()
    noises: tuple[Noise, ...] = ()


@dataclass(frozen=True, kw_only=True)
class GeometricMasker(Masker):
    """What all geometric maskers can be told. None of them promises anything: see docs/geometric.md.

    - `attributes`: which numbers are transformed (None: those with the role quasi).
    - `round`: "nearest" or "truncate" for all whole attributes, or a rule per attribute (None: nothing is rounded).
    - `enhance`: the share of rows that get noise on top (004 section 5.4).
    - `enhance_noise`: its distribution per attribute; normal, with the attribute's own spread, where none is given.
    - `seed`: a repeatable key, for tests only.
    """

    guarantee: ClassVar[Guarantee] = NO_GUARANTEE
    guided: ClassVar[bool] = False

    attributes: tuple[str, ...] | None = None
    round: Round = None
    enhance: float = 0.0
    enhance_noise: Distributions = field(default_factory=dict)
    seed: int | None = None

    def __post_init__(self) -> None:
        if self.attributes is not None:
            object.__setattr__(self, "attributes", tuple(self.attributes))
            if not all(isinstance(name, str) for name in self.attributes):
                raise RecipeError(
                    "attributes", "attributes are named", given="something else", remedy="write [age, pay]"
                )
        rho = self.enhance
        if isinstance(rho, bool) or not isinstance(rho, int | float) or not 0 <= rho <= 1:
            raise RecipeError(
                "enhance",
                "it is the share of rows that get noise, from 0 to 1",
                given=repr(rho),
                remedy="give for example enhance=0.05",
            )
        if self.seed is not None:
            within("seed", self.seed, 0, SEED, whole=True)
        distributions(self.enhance_noise)
        for rule in self.round.values() if isinstance(self.round, Mapping) else [self.round]:
            if rule not in (None, "nearest", "truncate"):
                raise RecipeError(
                    "round",
                    "numbers are rounded to the nearest or truncated",
                    given=repr(rule),
                    remedy="say 'nearest', 'truncate', or leave it out",
                )

    def check(self, schema: Schema, requirements: Sequence[Requirement]) -> None:
        """Numbers only, each setting for one of them, and no requirement."""
        names = transformed(self, schema, requirements)
        for what, given in self.named().items():
            refuse_strangers(what, given, names)

    def named(self) -> Mapping[str, Iterable[str]]:
        """The attributes that the masker's own settings name, by setting."""
        raise NotImplementedError

    def steps(self, given: Given, schema: Schema) -> Plan:
        """What is to be done to these numbers; what is not given is drawn."""
        raise NotImplementedError

    def mask(self, task: Task) -> Outcome:
        """Transform the numbers."""
        self.check(task.table.schema, task.requirements)
        names = transformed(self, task.table.schema, task.requirements)
        return transform(task, names, self)

    @staticmethod
    def read_mask(files: Mapping[str, Any]) -> Transformation:
        """The transformation, from the key in the holder's folder."""
        return Transformation.from_json(files[KEY])


def transform(task: Task, names: tuple[str, ...], settings: GeometricMasker) -> Outcome:
    """Mask the named attributes as planned; the key goes to the holder's folder only."""
    given = Given.of(task.table, names, settings.seed)
    made = settings.steps(given, task.table.schema)
    bare = Transformation(_kind(settings), made.frames, made.operations, made.noises)
    shown = bare.forward(given.columns)
    more = (enhancement(settings, shown, given.chance),) if settings.enhance else ()
    mask = Transformation(
        bare.kind, bare.frames, bare.operations, (*bare.noises, *more), rounding(settings.round, given.wholes)
    )
    for noise in more:
        shown = noise.forward(shown)
    return Outcome(mask, mask.shown(shown), holder={KEY: mask.to_json()})


def _kind(settings: GeometricMasker) -> str:
    """The masker's name in a recipe."""
    return {"AddNoise": "add_noise"}.get(type(settings).__name__, type(settings).__name__.lower())


def enhancement(settings: GeometricMasker, shown: Columns, chance: Chance) -> Noise:
    """Noise on a share of the transformed rows (004 section 5.4)."""
    given = distributions(settings.enhance_noise)
    draws = {name: given.get(name) or Distribution("normal", 0.0, spread(column)) for name, column in shown.items()}
    return Noise(settings.enhance, draws, chance.below("enhance"))


def spread(column: Floats) -> float:
    """The standard deviation of the known values; 1 where there is none."""
    known = column[np.isfinite(column)]
    if not len(known) or known.min() == known.max():
        return 1.0  # the mean of equal numbers is rounded, so that their deviation is not always 0
    return float(known.std())


def refuse_missing(columns: Columns) -> None:
    """Rotation needs both values of every row."""
    for name, column in columns.items():
        if np.isnan(column).any():
            raise TableError(
                name,
                "a rotation needs a value in every row",
                given="rows where it is missing",
                remedy=f"leave those rows out in the recipe (missing: {{{name}: drop}}), or use translate or scale",
            )


def transformed(settings: GeometricMasker, schema: Schema, requirements: Sequence[Requirement]) -> tuple[str, ...]:
    """The attributes to be transformed, if the recipe is one that a geometric masker can fill."""
    if requirements:
        raise RecipeError(
            "privacy",
            "no requirement can be claimed of a geometric transformation",
            given=", ".join(str(requirement) for requirement in requirements),
            remedy="leave privacy empty, or use top_down, which can keep it",
        )
    names = chosen(schema, settings.attributes)
    rounded = settings.round if isinstance(settings.round, Mapping) else {}
    refuse_strangers("round", rounded, names)
    refuse_strangers("enhance_noise", settings.enhance_noise, names)
    return names


def chosen(schema: Schema, attributes: tuple[str, ...] | None) -> tuple[str, ...]:
    """The attributes to be transformed: numbers, and no quasi-identifier is left out."""
    names = schema.quasi if attributes is None else attributes
    schema.require(names, "attributes")
    if not names or len(set(names)) != len(names):
        raise RecipeError(
            "attributes",
            "at least one number is transformed, each named once",
            given="none, or one named twice",
            remedy="declare numbers with role: quasi, or name them in attributes",
        )
    for name in names:
        _check_number(schema, name)
    bare = [name for name in schema.quasi if name not in names]
    if bare:
        raise RecipeError(
            ", ".join(bare),
            "every quasi-identifying attribute is transformed, else it goes out raw",
            given="left out of attributes",
            remedy="name it too, or declare it plain to release it as it is",
        )
    return names


def _check_number(schema: Schema, name: str) -> None:
    attribute = schema[name]
    if attribute.role == "identifier":
        raise RecipeError(
            name,
            "an identifier is dropped, not transformed",
            given="role identifier",
            remedy="leave it out of attributes",
        )
    if not isinstance(attribute, Number):
        raise RecipeError(
            name,
            "geometric transformations move numbers; labels have no place to be moved to",
            given="a category" if "Category" in type(attribute).__name__ else "an item set",
            remedy="use top_down, which generalizes labels, or declare it plain to release it as it is",
        )
    if attribute.calendar is not None:
        raise RecipeError(
            name,
            "geometric transformations move plain numbers",
            given="a date or a time",
            remedy="use top_down, which shows dates as intervals",
        )


def refuse_strangers(what: str, given: Iterable[str], names: Sequence[str]) -> None:
    """Refuse settings for attributes that are not transformed."""
    for name in given:
        if name not in names:
            raise RecipeError(
                what,
                "a setting belongs to an attribute that is transformed",
                given=repr(name),
                remedy=did_you_mean(name, names),
            )


def distributions(form: Distributions) -> dict[str, Distribution]:
    """Distributions by attribute, checked."""
    if not isinstance(form, Mapping):
        raise RecipeError(
            "noise",
            "noise is given per attribute",
            given=type(form).__name__,
            remedy="write {age: {uniform: [-12, 18]}}",
        )
    return {name: Distribution.of(name, part) for name, part in form.items()}


def rounding(rule: Round, wholes: Mapping[str, bool]) -> dict[str, Rounding]:
    """The rounding of each attribute; one word for all means the whole ones."""
    rules = rule if isinstance(rule, Mapping) else {name: rule for name, whole in wholes.items() if whole}
    return {name: cast("Rounding", word) for name, word in rules.items() if word is not None}


def finite(what: str, given: Any) -> float:
    """A finite number of a size that people write, or a refusal."""
    if isinstance(given, bool) or not isinstance(given, int | float) or not -LARGE <= given <= LARGE:
        raise RecipeError(
            what,
            f"this is a finite number, at most {LARGE:g}",
            given=repr(given) if not isinstance(given, int) else "a larger one",
            remedy="give a number, or leave it out",
        )
    return float(given)
