"""What every geometric masker refuses, and how its settings become plain values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol, cast

from sfumato.data.schema import Number, Schema
from sfumato.errors import RecipeError, did_you_mean
from sfumato.maskers.geometric.mask import Rounding
from sfumato.maskers.geometric.noise import Distribution
from sfumato.maskers.limits import LARGE, SEED, within
from sfumato.privacy.requirements import Requirement

Round = Mapping[str, str | None] | str | None
Distributions = Mapping[str, Mapping[str, Sequence[float]]]


class Settings(Protocol):
    """What all geometric maskers can be told.

    `attributes`: which numbers are transformed (None: those with the role quasi). `round`: "nearest" or
    "truncate" for all whole attributes, or a rule per attribute (None: nothing is rounded). `enhance`: the share
    of rows that get noise on top (004 section 5.4), `enhance_noise`: its distribution per attribute (normal,
    with the attribute's own spread, where none is given). `seed`: a repeatable key, for tests only.
    """

    @property
    def attributes(self) -> tuple[str, ...] | None:
        """Which numbers are transformed."""

    @property
    def round(self) -> Round:
        """How numbers are rounded."""

    @property
    def enhance(self) -> float:
        """The share of rows that get noise."""

    @property
    def enhance_noise(self) -> Distributions:
        """Its distribution per attribute."""

    @property
    def seed(self) -> int | None:
        """A repeatable key, for tests."""


def check_settings(settings: Settings) -> None:
    """What can be refused before a schema is known; names given as a list become a tuple."""
    if settings.attributes is not None:
        object.__setattr__(settings, "attributes", tuple(settings.attributes))
        if not all(isinstance(name, str) for name in settings.attributes):
            raise RecipeError("attributes", "attributes are named", given="something else", remedy="write [age, pay]")
    rho = settings.enhance
    if isinstance(rho, bool) or not isinstance(rho, int | float) or not 0 <= rho <= 1:
        raise RecipeError("enhance", "it is the share of rows that get noise, from 0 to 1", given=repr(rho),
                          remedy="give for example enhance=0.05")  # fmt: skip
    if settings.seed is not None:
        within("seed", settings.seed, 0, SEED, whole=True)
    distributions(settings.enhance_noise)
    rules = settings.round.values() if isinstance(settings.round, Mapping) else [settings.round]
    for rule in rules:
        if rule not in (None, "nearest", "truncate"):
            raise RecipeError("round", "numbers are rounded to the nearest or truncated", given=repr(rule),
                              remedy="say 'nearest', 'truncate', or leave it out")  # fmt: skip


def check_recipe(settings: Settings, schema: Schema, requirements: Sequence[Requirement]) -> tuple[str, ...]:
    """The attributes to be transformed, if the recipe is one that a geometric masker can fill."""
    if requirements:
        raise RecipeError("privacy", "no requirement can be claimed of a geometric transformation",
                          given=", ".join(str(requirement) for requirement in requirements),
                          remedy="leave privacy empty, or use top_down, which can keep it")  # fmt: skip
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
        raise RecipeError("attributes", "at least one number is transformed, each named once",
                          given="none, or one named twice",
                          remedy="declare numbers with role: quasi, or name them in attributes")  # fmt: skip
    for name in names:
        _check_number(schema, name)
    bare = [name for name in schema.quasi if name not in names]
    if bare:
        raise RecipeError(", ".join(bare), "every quasi-identifying attribute is transformed, else it goes out raw",
                          given="left out of attributes",
                          remedy="name it too, or declare it plain to release it as it is")  # fmt: skip
    return names


def _check_number(schema: Schema, name: str) -> None:
    attribute = schema[name]
    if attribute.role == "identifier":
        raise RecipeError(name, "an identifier is dropped, not transformed", given="role identifier",
                          remedy="leave it out of attributes")  # fmt: skip
    if not isinstance(attribute, Number):
        raise RecipeError(name, "geometric transformations move numbers; labels have no place to be moved to",
                          given="a category" if "Category" in type(attribute).__name__ else "an item set",
                          remedy="use top_down, which generalizes labels, or declare it plain to release "
                                 "it as it is")  # fmt: skip
    if attribute.calendar is not None:
        raise RecipeError(name, "geometric transformations move plain numbers", given="a date or a time",
                          remedy="use top_down, which shows dates as intervals")  # fmt: skip


def refuse_strangers(what: str, given: Iterable[str], names: Sequence[str]) -> None:
    """Refuse settings for attributes that are not transformed."""
    for name in given:
        if name not in names:
            raise RecipeError(what, "a setting belongs to an attribute that is transformed", given=repr(name),
                              remedy=did_you_mean(name, names))  # fmt: skip


def distributions(form: Distributions) -> dict[str, Distribution]:
    """Distributions by attribute, checked."""
    if not isinstance(form, Mapping):
        raise RecipeError("noise", "noise is given per attribute", given=type(form).__name__,
                          remedy="write {age: {uniform: [-12, 18]}}")  # fmt: skip
    return {name: Distribution.of(name, part) for name, part in form.items()}


def rounding(rule: Round, wholes: Mapping[str, bool]) -> dict[str, Rounding]:
    """The rounding of each attribute; one word for all means the whole ones."""
    rules = rule if isinstance(rule, Mapping) else {name: rule for name, whole in wholes.items() if whole}
    return {name: cast("Rounding", word) for name, word in rules.items() if word is not None}


def finite(what: str, given: Any) -> float:
    """A finite number of a size that people write, or a refusal."""
    if isinstance(given, bool) or not isinstance(given, int | float) or not -LARGE <= given <= LARGE:
        raise RecipeError(what, f"this is a finite number, at most {LARGE:g}",
                          given=repr(given) if not isinstance(given, int) else "a larger one",
                          remedy="give a number, or leave it out")  # fmt: skip
    return float(given)
