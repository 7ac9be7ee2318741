"""What every requirement is: what it counts, how private a group of counts is, and how private it must be.

Records that look alike on the attributes `on` are a group. A requirement with a `sensitive` attribute counts each
group's records by their sensitive values; its measure turns these counts into one number per group, and every group
must reach the threshold. All measures here are monotone: of the parts of a group at least one measures no more than
the group itself, so a refinement that breaks a requirement breaks it for good (002, section 4; each class cites why).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import date
from math import isfinite
from typing import Any, ClassVar, Protocol, Self, cast, runtime_checkable

import numpy as np

from sfumato.arrays import Ints
from sfumato.counting import Measure
from sfumato.data.lookalikes import looks
from sfumato.data.schema import Category, Schema
from sfumato.data.table import Codes, ItemColumn, Table, narrow
from sfumato.data.taxonomy.taxonomy import Taxonomy
from sfumato.errors import RecipeError, SchemaError, quoted

MOST_ATTRIBUTES = 1_000
"""In one quasi-identifier."""
MOST_SETS = 4_096
"""Different sets of one sensitive attribute: groups are counted by each of them."""
ROUNDING = 1e-9
"""By how much sums of logarithms and of shares may miss a bound that they meet on paper."""


@dataclass(frozen=True, eq=False)
class Sensitive:
    """A sensitive column in codes: its values in the order of their codes, None for missing; how many hold each."""

    values: tuple[Any, ...]
    totals: Ints
    taxonomy: Taxonomy | None = None

    @classmethod
    def of(cls, table: Table, name: str) -> Sensitive:
        """A column of a table; missing is the last value, where any is missing. Sets are values by what they hold."""
        held = table.columns[name]
        if isinstance(held, ItemColumn):
            return cls(_sets(held, name), np.bincount(held.sets.codes).astype(np.int64))
        column, attribute = held, table.schema[name]
        values = (*column.values.to_pylist(), *([None] if column.missing else []))
        totals = column.counts[: len(values)]
        return cls(values, totals, attribute.taxonomy if isinstance(attribute, Category) else None)


def codes_of(table: Table, name: str) -> Codes:
    """(rows,): which of the values of `Sensitive.of` each row has."""
    column = table.columns[name]
    if isinstance(column, ItemColumn):
        return narrow(column.sets.codes, len(column.sets.missing))
    return column.codes


def _sets(column: ItemColumn, name: str) -> tuple[tuple[str, ...] | None, ...]:
    """Each different set, as the items that it holds; None for a missing one."""
    sets, items = column.sets, column.items
    if len(sets.missing) > MOST_SETS:
        raise SchemaError(
            name,
            f"requirements count at most {MOST_SETS:,} different sets",
            given="more",
            remedy="give it coarser items, such as chapters of codes",
        )
    parts = zip(sets.offsets[:-1], sets.offsets[1:], sets.missing, strict=True)
    return tuple(None if gone else tuple(items[at] for at in sets.items[a:b]) for a, b, gone in parts)


@runtime_checkable
class Requirement(Protocol):
    """A property that the masked table must have."""

    name: ClassVar[str]
    """What it is called in recipes and certificates."""

    main: ClassVar[str | None]
    """The setting that its name stands for in a recipe: {l_diversity: 3} is {l_diversity: {l: 3}}."""

    @property
    def on(self) -> tuple[str, ...]:
        """The attributes that the attacker knows."""

    @property
    def sensitive(self) -> str | None:
        """The attribute whose values are counted in each group; None where only records are counted."""

    def parts(self) -> tuple[Basic, ...]:
        """The basic requirements that this one stands for: itself, unless it is a name for several."""

    def claim(self) -> dict[str, Any]:
        """What the certificate claims, as plain JSON: `claim` is the name, then its settings."""

    def achieved(self, worst: Sequence[float]) -> int | dict[str, float]:
        """What the certificate says was reached, by the settings' names; `worst` is the least measure of each part."""

    def attacker(self) -> str:
        """Against whom it protects: what the attacker knows, and what is kept from them."""

    def sentence(self) -> str:
        """What is promised, as part of a sentence that a lawyer can read, with every name and number of the claim."""

    @property
    def of_items(self) -> bool:
        """Whether its sensitive attribute is set-valued, and counted by item."""

    @property
    def group_size(self) -> int | None:
        """How many records a group must have, where that is all it asks."""

    @property
    def population(self) -> object:
        """The people among whom it is counted, as `publish` takes them; None for those of the table itself."""

    def others(self, schema: Schema) -> Table | None:
        """That population's rows in codes of their own, on the attributes `on`; None where there is none."""

    def also(self, people: Table) -> dict[str, Any]:
        """What verify needs besides the settings, of the people that are counted, as plain JSON."""


class Usual:
    """The usual answers of a requirement: it is counted in the table alone, and its settings say everything."""

    name: ClassVar[str]
    main: ClassVar[str | None] = None
    population: object = None
    _another: ClassVar[str] = "write recipe = recipe.replace(privacy=[need.replace({name}=...), ...])"

    def replace(self, **settings: Any) -> Self:
        """The same with other settings."""
        return replace(cast("Any", self), **settings)  # type: ignore[no-any-return]

    def parts(self) -> tuple[Basic, ...]:
        """Itself."""
        return (cast("Basic", self),)

    def claim(self) -> dict[str, Any]:
        """Its settings by their names, but for those that were not given and the people who are counted."""
        given = {one.name: getattr(self, one.name) for one in fields(cast("Any", self)) if one.compare}
        return {"claim": self.name} | setting({name: told(value) for name, value in given.items()})

    @property
    def of_items(self) -> bool:
        """It is about single values."""
        return False

    @property
    def group_size(self) -> int | None:
        """It asks for something else than records."""
        return None

    def others(self, schema: Schema) -> Table | None:
        """Nobody else is counted."""
        return None

    def also(self, people: Table) -> dict[str, Any]:
        """Nothing."""
        return {}


class Basic(Requirement, Protocol):
    """A requirement that is counted as it is."""

    @property
    def threshold(self) -> float:
        """What every group must measure at least."""

    def measure(self, sensitive: Sensitive) -> Measure:
        """How private groups are, given what the sensitive column holds."""

    def falls_short(self, level: float) -> str:
        """What a group has that measures less than the threshold, and what is asked: "4 records, and k is 5"."""

    def remedy(self, level: float) -> str:
        """What to ask for instead, where even the whole table measures no more than this."""


def listed(what: str, on: Iterable[str]) -> tuple[str, ...]:
    """The attributes of a quasi-identifier: some, each once."""
    if not isinstance(on, Iterable):
        raise RecipeError(
            what,
            "it is asked on attributes, by their names, and the first argument names them",
            given=type(on).__name__,
            remedy='write on=["age", "sex"] first',
        )
    names = (on,) if isinstance(on, str) else tuple(on)
    if len(names) > MOST_ATTRIBUTES or not all(isinstance(name, str) for name in names):
        raise RecipeError(
            what,
            f"it is asked on at most {MOST_ATTRIBUTES} attributes, by their names",
            given=f"{len(names):,} entries, not all of them names"
            if len(names) <= MOST_ATTRIBUTES
            else f"{len(names):,}",
            remedy="list names in on=[...]",
        )
    if not names:
        raise RecipeError(
            what,
            "it is asked on at least one attribute",
            given="none",
            remedy="list the quasi-identifying attributes in on=[...]",
        )
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise RecipeError(
            what,
            "an attribute stands in a quasi-identifier once",
            given=", ".join(twice) + " twice",
            remedy="list it once",
        )
    return names


MOST = 10**9
"""No table has more records, and none more values."""


def whole(what: str, name: str, given: Any, *, least: int) -> int:
    """A whole number of at least this much, and of a size that a table can have."""
    if isinstance(given, bool) or not isinstance(given, int) or not least <= given <= MOST:
        large = isinstance(given, int) and abs(given) > MOST
        raise RecipeError(
            what,
            f"{name} is a whole number of at least {least} and at most {MOST:,}",
            given="a larger one" if large else repr(given),
            remedy=f"give for example {name}={max(least, 2)}",
        )
    return given


def at_least_two(what: str, given: Any) -> int:
    """k: with k = 1 every record may stand alone, and nobody is protected."""
    if given == 1 and not isinstance(given, bool):
        raise RecipeError(
            what,
            "k is at least 2: with k = 1 every record may stand alone, which protects nobody",
            given="1",
            remedy="give for example k=10",
        )
    return whole(what, "k", given, least=2)


def share(what: str, name: str, given: Any) -> float:
    """A share: above 0 and below 1. A bound of 1 is kept by every table, and says nothing."""
    if isinstance(given, bool) or not isinstance(given, int | float) or not 0 < given < 1:
        raise RecipeError(
            what,
            f"{name} is a share above 0 and below 1: 1 is kept by every table",
            given=repr(given),
            remedy=f"give for example {name}=0.5",
        )
    return float(given)


def valued(what: str, given: Any) -> Any:
    """The one sensitive value that a requirement is about, None for every value: what JSON can hold, or a date."""
    finite = not isinstance(given, float) or isfinite(given)
    if not isinstance(given, str | int | float | date | None) or not finite:
        raise RecipeError(
            what,
            "`value` is one text, number or date, or true or false",
            given=type(given).__name__,
            remedy="name one value, or leave it out to bound every value",
        )
    return given


def told(value: Any) -> Any:
    """A value as certificates show it: dates as text, and several values as a list."""
    if isinstance(value, tuple):
        return [told(one) for one in value]
    return str(value) if isinstance(value, date) else value


def same(value: Any, other: Any) -> bool:
    """Whether two values are one; true is not 1, but it is 'true', its label; and labels that look alike are one.

    >>> same(True, "true"), same("false", False), same(True, 1), same(1, "1")
    (True, True, False, False)
    """
    if isinstance(value, bool) != isinstance(other, bool):
        value, other = (str(one).lower() if isinstance(one, bool) else one for one in (value, other))
    if isinstance(value, str) and isinstance(other, str):
        return looks(value) == looks(other)
    return bool(value == other)


def column(what: str, sensitive: Any, on: tuple[str, ...]) -> str:
    """The sensitive attribute's name: given, and not part of the quasi-identifier."""
    if not isinstance(sensitive, str) or not sensitive:
        raise RecipeError(
            what, "it is about one sensitive attribute", given=repr(sensitive), remedy="name it: sensitive: disease"
        )
    if sensitive in on:
        raise RecipeError(
            what,
            "a sensitive attribute is what is learned, not what is known",
            given=f"{sensitive!r} in `on` as well",
            remedy="leave it out of `on`",
        )
    return sensitive


def plural(count: int, one: str, many: str) -> str:
    """So many of something.

    >>> plural(1, "record", "records")
    '1 record'
    """
    return f"{count} {one if count == 1 else many}"


def said(on: Iterable[str]) -> str:
    """The names of a quasi-identifier in a sentence.

    >>> print(said(["age", "sex"]))
    "age", "sex"
    """
    return ", ".join(quoted(name) for name in on)


def spoken(value: Any) -> str:
    """A sensitive value in a sentence: texts in quotation marks."""
    shown = told(value)
    return quoted(shown) if isinstance(shown, str) else json.dumps(shown)


def learner(on: Iterable[str], sensitive: str, end: str) -> str:
    """The attacker who wants to learn a sensitive value, and how that ends."""
    return f"knows {said(on)} of a person in the table, and wants to learn {quoted(sensitive)}: {end}"


def figure(reached: float) -> float:
    """A figure as certificates show it."""
    return round(float(reached), 6)


def setting(form: Mapping[str, Any]) -> dict[str, Any]:
    """Settings without those that were not given."""
    return {name: value for name, value in form.items() if value is not None}
