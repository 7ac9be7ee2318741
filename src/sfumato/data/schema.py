"""What each attribute of a table is: its kind, its role, its declared domain."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

from sfumato.data.taxonomy import Taxonomy
from sfumato.errors import SchemaError, did_you_mean

Role = Literal["identifier", "quasi", "sensitive", "plain"]
Calendar = Literal["year", "quarter", "month", "week", "day", "hour", "minute", "second"]


@dataclass(frozen=True, kw_only=True)
class Number:
    """A number, a date or a time; masked by intervals.

    `range` declares the lower and the upper end, both included; for dates and times in ISO 8601 text.
    `integer` declares whole numbers (None: as the table says). `calendar` makes it a date or a time whose
    intervals begin at whole years, months, ... `missing` lists texts that mean "missing" beside the empty cell.

    >>> Number(role="quasi", range=(17, 90)).range
    (17, 90)
    """

    role: Role = "plain"
    range: tuple[float, float] | tuple[str, str] | None = None
    integer: bool | None = None
    calendar: Calendar | None = None
    missing: tuple[str, ...] = ()
    unique_ok: bool = False

    def __post_init__(self) -> None:
        _check_role("number", self.role)
        _tuples(self, "missing")
        if self.calendar is not None and self.calendar not in get_args(Calendar):
            raise SchemaError(
                "number",
                "a calendar is one of " + ", ".join(get_args(Calendar)),
                given=repr(self.calendar),
                remedy=did_you_mean(str(self.calendar), get_args(Calendar)),
            )
        if self.range is not None:
            _check_range(self)


@dataclass(frozen=True, kw_only=True)
class Category:
    """A label; masked by its taxonomy, or without one by suppressing values.

    `values` declares the domain where there is no taxonomy (differential privacy needs one or the other).

    >>> Category(role="sensitive").taxonomy is None
    True
    """

    role: Role = "plain"
    taxonomy: Taxonomy | None = None
    values: tuple[str, ...] | None = None
    missing: tuple[str, ...] = ()
    unique_ok: bool = False

    def __post_init__(self) -> None:
        _check_role("category", self.role)
        _tuples(self, "missing", "values")


@dataclass(frozen=True, kw_only=True)
class ItemSet:
    """A set of labels, such as a patient's diagnoses: a list column, or one text with a separator.

    >>> ItemSet(separator="|").separator
    '|'
    """

    role: Role = "plain"
    taxonomy: Taxonomy | None = None
    values: tuple[str, ...] | None = None
    separator: str = ";"
    missing: tuple[str, ...] = ()
    unique_ok: bool = False

    def __post_init__(self) -> None:
        _check_role("item set", self.role)
        _tuples(self, "missing", "values")
        if not self.separator:
            raise SchemaError(
                "item set",
                "the separator of an item set is at least one character",
                given="an empty text",
                remedy="give separator=';' or leave it out",
            )


Attribute = Number | Category | ItemSet


class Schema(Mapping[str, Attribute]):
    """The attributes of a table by name, in order.

    >>> schema = Schema(age=Number(role="quasi"), name=Category(role="identifier"))
    >>> schema.quasi
    ('age',)
    >>> schema.require(["agee"], "quasi-identifier")
    Traceback (most recent call last):
        ...
    sfumato.errors.SchemaError: quasi-identifier: every name is an attribute of the schema. Given: 'agee'. \
To mend it: did you mean 'age'?.
    """

    def __init__(self, attributes: Mapping[str, Attribute] | None = None, /, **more: Attribute) -> None:
        both = {**(attributes or {}), **more}
        for name, attribute in both.items():
            if not name:
                raise SchemaError("schema", "an attribute has a name", given="an empty name", remedy="name it")
            if not isinstance(attribute, Number | Category | ItemSet):
                raise SchemaError(
                    name,
                    "an attribute is a Number, a Category or an ItemSet",
                    given=type(attribute).__name__,
                    remedy=f"write {name}=sf.Category(role=...)",
                )
        if not both:
            raise SchemaError("schema", "a schema has attributes", given="none", remedy="declare each column")
        self._attributes = both

    def __getitem__(self, name: str) -> Attribute:
        return self._attributes[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._attributes)

    def __len__(self) -> int:
        return len(self._attributes)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Schema) and list(self.items()) == list(other.items())

    def __hash__(self) -> int:
        return hash(tuple(self._attributes.items()))

    def __repr__(self) -> str:
        return f"Schema({', '.join(f'{name}={attribute!r}' for name, attribute in self.items())})"

    def with_role(self, role: Role) -> tuple[str, ...]:
        """Names of the attributes that have this role, in order."""
        return tuple(name for name, attribute in self.items() if attribute.role == role)

    @property
    def quasi(self) -> tuple[str, ...]:
        """Names of the quasi-identifying attributes, in order."""
        return self.with_role("quasi")

    @property
    def kept(self) -> tuple[str, ...]:
        """Names of the attributes that a release shows: all but identifiers."""
        return tuple(name for name in self if self[name].role != "identifier")

    def require(self, names: Iterable[str], what: str) -> None:
        """Refuse names that are no attributes."""
        for name in names:
            if name not in self:
                raise SchemaError(
                    what,
                    "every name is an attribute of the schema",
                    given=repr(name),
                    remedy=did_you_mean(name, self),
                )


def _check_role(kind: str, role: str) -> None:
    if role not in get_args(Role):
        raise SchemaError(
            kind,
            "a role is one of " + ", ".join(get_args(Role)),
            given=repr(role),
            remedy=did_you_mean(str(role), get_args(Role)),
        )


def _tuples(attribute: Attribute, *fields: str) -> None:
    """Lists given for tuple fields (YAML has no tuples) become tuples of text."""
    for field in fields:
        given = getattr(attribute, field)
        if given is not None and not isinstance(given, tuple):
            if isinstance(given, str):
                given = (given,)
            object.__setattr__(attribute, field, tuple(str(value) for value in given))


def _check_range(number: Number) -> None:
    ends: tuple[Any, ...] = tuple(number.range or ())
    object.__setattr__(number, "range", ends)
    if len(ends) != 2:
        raise SchemaError(
            "number",
            "a range has a lower and an upper end",
            given=repr(ends),
            remedy="write range=(lowest, highest)",
        )
    texts = number.calendar is not None
    fits = (
        all(isinstance(end, str) for end in ends)
        if texts
        else all(isinstance(end, int | float) and not isinstance(end, bool) and math.isfinite(end) for end in ends)
    )
    if not fits:
        wanted = "ISO texts such as ('1900-01-01', '2026-12-31')" if texts else "finite numbers"
        raise SchemaError(
            "number",
            f"the ends of this range are {wanted}",
            given=repr(ends),
            remedy="write range=(lowest, highest)",
        )
    if not min(ends) == ends[0] != ends[1]:
        raise SchemaError(
            "number",
            "a range's lower end is below its upper end",
            given=repr(ends),
            remedy="swap the ends, or widen the range",
        )
