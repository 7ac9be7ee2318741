"""What each attribute of a table is: its kind, its role, its declared domain."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Literal, get_args

from sfumato.calls import constructed, expected
from sfumato.data.cut_points import check_bins
from sfumato.data.described import described
from sfumato.data.lookalikes import bad_name
from sfumato.data.roles import Role as Role
from sfumato.data.roles import check_role
from sfumato.data.taxonomy.intervals import Intervals
from sfumato.data.taxonomy.taxonomy import Taxonomy
from sfumato.display import Card
from sfumato.errors import SchemaError, did_you_mean

Calendar = Literal["year", "quarter", "month", "week", "day", "hour", "minute", "second"]
DateOrder = Literal["dmy", "mdy", "ymd"]
Decimal = Literal["comma", "point"]


_ANOTHER = (
    'write recipe = recipe.with_roles(NAME="quasi") for another role, else '
    "recipe.replace(schema={{**recipe.schema, 'NAME': dataclasses.replace(attribute, {name}=...)}})"
)
LARGEST, MOST_ITEMS = 1e18, 1_000_000
"""The largest end of a range, and the largest set."""


@constructed
@dataclass(frozen=True, kw_only=True)
class Number:
    """A number, a date or a time; masked by intervals.

    `range` declares the lower and the upper end, both included; for dates and times in ISO 8601 text.
    `integer` declares whole numbers (None: as the table says). `calendar` makes it a date or a time whose
    intervals begin at whole years, months, ... `missing` lists texts that mean "missing" beside the empty cell.
    `outside`: "clip" moves a number outside the declared range to its nearer end (None: it is refused).
    `dates`: in which order day, month and year stand in texts such as 31.12.1990 (None: ISO 8601). `decimal`: the mark
    before the decimals of numbers in text, "comma" for 1.234,56 and "point" for 1,234.56 (None: 1234.56).
    `taxonomy`: a given tree of intervals, of which a quasi-identifier shows a cut; its root is then the range.
    `bins`: under a budget the cut points of the range, at each of which a bin begins (None: equal bins); an end of the
    range among them is a bin of its own.

    >>> Number(role="quasi", range=(17, 90)).range
    (17, 90)
    >>> Number(role="quasi", taxonomy=Taxonomy.from_tree({"*": ["[17-37)", "[37-90)"]})).range
    (17, 90)
    """

    _another: ClassVar[str] = _ANOTHER
    role: Role = "plain"
    taxonomy: Taxonomy | None = None
    range: tuple[float, float] | tuple[str, str] | None = None
    bins: tuple[float | str, ...] | None = None
    integer: bool | None = None
    calendar: Calendar | None = None
    dates: DateOrder | None = None
    decimal: Decimal | None = None
    missing: tuple[str, ...] = ()
    outside: Literal["clip"] | None = None
    unique_ok: bool = False

    def __post_init__(self) -> None:
        check_role("number", self.role)
        _tuples(self, "missing")
        _check_clip(self)
        if self.calendar is not None and self.calendar not in get_args(Calendar):
            raise SchemaError(
                "number",
                "a calendar is one of " + ", ".join(get_args(Calendar)),
                given=repr(self.calendar),
                remedy=did_you_mean(str(self.calendar), get_args(Calendar)),
            )
        _check_written(self)
        if self.range is not None:
            _check_range(self)
        if self.taxonomy is not None:
            _check_intervals(self)
        if self.bins is not None:
            check_bins(self)

    @property
    def intervals(self) -> Intervals | None:
        """The given tree of intervals, if there is one."""
        if self.taxonomy is None:
            return None
        return Intervals.of(self.taxonomy, None if self.range is None else (float(self.range[0]), float(self.range[1])))


@constructed
@dataclass(frozen=True, kw_only=True)
class Category:
    """A label; masked by its taxonomy, or without one by suppressing values.

    `taxonomy` may be given as a file's name or as nested mappings, too. `values` declares the domain where there is no
    taxonomy (differential privacy needs one or the other).
    `outside` names the declared label that stands for every value outside the domain (None: they are refused).

    >>> Category(role="sensitive").taxonomy is None
    True
    """

    _another: ClassVar[str] = _ANOTHER
    role: Role = "plain"
    taxonomy: Taxonomy | None = None
    values: tuple[str, ...] | None = None
    missing: tuple[str, ...] = ()
    outside: str | None = None
    unique_ok: bool = False

    def __post_init__(self) -> None:
        check_role("category", self.role)
        _grow(self)
        _tuples(self, "missing", "values")
        _check_bucket("category", self)


@constructed
@dataclass(frozen=True, kw_only=True)
class ItemSet:
    """A set of labels, such as a patient's diagnoses: a list column, or one text with a separator.

    `outside` names the declared label that stands for every item outside the domain (None: they are refused).
    `most`: no set holds more items; a larger one is refused, or with `too_many="first"` keeps its first items in
    the order of their labels.

    >>> ItemSet(separator="|").separator
    '|'
    """

    _another: ClassVar[str] = _ANOTHER
    role: Role = "plain"
    taxonomy: Taxonomy | None = None
    values: tuple[str, ...] | None = None
    separator: str = ";"
    missing: tuple[str, ...] = ()
    outside: str | None = None
    most: int | None = None
    too_many: Literal["refuse", "first"] = "refuse"
    unique_ok: bool = False

    def __post_init__(self) -> None:
        check_role("item set", self.role)
        _grow(self)
        _tuples(self, "missing", "values")
        _check_bucket("item set", self)
        _check_most(self)
        if not 0 < len(self.separator) <= 20:
            raise SchemaError(
                "item set",
                "the separator of an item set is at least one character, and at most 20",
                given="a longer text" if self.separator else "an empty text",
                remedy="give for example ';', or leave the separator out",
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
    sfumato.errors.SchemaError: quasi-identifier: the schema has no such attribute. Given: 'agee'. \
To mend it: did you mean 'age'? If 'agee' is right, mend the attribute's name.
    """

    def __init__(self, attributes: Mapping[str, Attribute] | None = None, /, **more: Attribute) -> None:
        if attributes is not None:
            rule, remedy = "a schema is made of attributes by their names", "write sf.Schema(age=sf.Number(...), ...)"
            expected("Schema", attributes, Mapping, rule=rule, remedy=remedy)
        both = {**(attributes or {}), **more}
        for name, attribute in both.items():
            if not isinstance(attribute, Number | Category | ItemSet):
                raise SchemaError(
                    name,
                    "an attribute is a Number, a Category or an ItemSet",
                    given=f"the class {attribute.__name__}"
                    if isinstance(attribute, type)
                    else type(attribute).__name__,
                    remedy=f"write {name}=sf.Category(role=...)",
                )
        if odd := bad_name(both):
            raise SchemaError(odd.name.strip() or "schema", odd.rule, given=odd.given, remedy=odd.remedy)
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
        return self._card().text()

    def _repr_html_(self) -> str:
        return self._card().html()

    def _card(self) -> Card:
        size = f"{len(self)} attribute{'' if len(self) == 1 else 's'}"
        return Card(f"Schema of {size}", grids=[described(self)])

    def with_role(self, role: Role) -> tuple[str, ...]:
        """Names of the attributes that have this role, in order."""
        return tuple(name for name, attribute in self.items() if attribute.role == role)

    @property
    def quasi(self) -> tuple[str, ...]:
        """Names of the quasi-identifying attributes, in order."""
        return self.with_role("quasi")

    @property
    def missing_texts(self) -> tuple[str, ...]:
        """Every text that means "missing" somewhere."""
        return tuple(sorted({text for attribute in self.values() for text in attribute.missing}))

    @property
    def kept(self) -> tuple[str, ...]:
        """Names of the attributes that a release shows: all but identifiers."""
        return tuple(name for name in self if self[name].role != "identifier")

    def without_domains(self) -> Schema:
        """The same attributes, any value allowed, or moved where `outside` says: for values that nobody declared."""
        return Schema({name: _without_domain(attribute) for name, attribute in self.items()})

    def without(self, names: Collection[str]) -> Schema:
        """The same without some attributes."""
        return Schema({name: attribute for name, attribute in self.items() if name not in names}) if names else self

    def require(self, names: Iterable[str], what: str) -> None:
        """Refuse names that are no attributes."""
        for name in names:
            if name not in self:
                hint = did_you_mean(name, self)
                more = f" If {name!r} is right, mend the attribute's name" if hint.endswith("?") else ""
                raise SchemaError(what, "the schema has no such attribute", given=repr(name), remedy=hint + more)


def _without_domain(attribute: Attribute) -> Attribute:
    if attribute.outside is not None:  # what lies outside is moved into the domain: nothing is undeclared
        return attribute
    if isinstance(attribute, Number):
        return replace(attribute, range=None, taxonomy=None, bins=None)
    return replace(attribute, taxonomy=None, values=None)


def _grow(attribute: Category | ItemSet) -> None:
    """A taxonomy that is given as a file's name, or as nested mappings, is read."""
    given: object = attribute.taxonomy
    if isinstance(given, str | Path):
        object.__setattr__(attribute, "taxonomy", Taxonomy.from_file(given))
    elif isinstance(given, Mapping):
        object.__setattr__(attribute, "taxonomy", Taxonomy.from_tree(given))
    elif given is not None:
        remedy = 'write taxonomy="education.yaml", or sf.Taxonomy.from_tree({...})'
        expected("taxonomy", given, Taxonomy, rule="a taxonomy is a tree, or the file of one", remedy=remedy)


def _check_bucket(kind: str, attribute: Category | ItemSet) -> None:
    """What stands for values outside the domain is itself in the domain."""
    bucket = attribute.outside
    if bucket is None:
        return
    known = attribute.taxonomy.leaves if attribute.taxonomy is not None else attribute.values or ()
    if bucket not in known:
        raise SchemaError(
            kind,
            "the label for values outside the domain is a declared leaf or value",
            given=repr(bucket),
            remedy=did_you_mean(bucket, known) if known else "declare a taxonomy or values with this label in it",
        )


def _check_clip(number: Number) -> None:
    if number.outside is None:
        return
    if number.outside != "clip" or number.range is None:
        raise SchemaError(
            "number",
            "numbers outside are clipped to a declared range, or refused",
            given=f"outside={number.outside!r}",
            remedy="declare the range as well, or leave `outside: clip` out",
        )


def _check_written(number: Number) -> None:
    """The order of dates goes with a calendar, the mark before decimals without one."""
    if number.dates is not None and (number.dates not in get_args(DateOrder) or number.calendar is None):
        raise SchemaError(
            "number",
            "the order of dates in text is dmy, mdy or ymd, and goes with a calendar",
            given=f"dates={number.dates!r}" + ("" if number.calendar else " without a calendar"),
            remedy="write calendar: day, dates: dmy, or leave dates out",
        )
    if number.decimal is not None and (number.decimal not in get_args(Decimal) or number.calendar is not None):
        raise SchemaError(
            "number",
            "the mark before decimals is comma or point, and goes with numbers that are no dates",
            given=f"decimal={number.decimal!r}" + (" with a calendar" if number.calendar else ""),
            remedy="write decimal: comma, or leave it out",
        )


def _check_intervals(number: Number) -> None:
    """A tree of intervals is of a number that is masked by it; the range that nobody declared is the tree's."""
    if number.calendar is not None or number.role != "quasi":
        raise SchemaError(
            "number",
            "a tree of intervals goes with a quasi-identifying number that is no date",
            given=f"calendar: {number.calendar}" if number.calendar else f"role: {number.role}",
            remedy="leave the taxonomy out" + (": dates are cut at whole units" if number.calendar else ""),
        )
    found = number.intervals
    if number.range is None and found is not None:
        low, high = (int(end) if end.is_integer() else end for end in found.ends)
        object.__setattr__(number, "range", (low, high))


def _check_most(items: ItemSet) -> None:
    whole = items.most is None or (
        isinstance(items.most, int) and not isinstance(items.most, bool) and 0 < items.most <= MOST_ITEMS
    )
    if not whole or items.too_many not in ("refuse", "first") or (items.most is None and items.too_many != "refuse"):
        raise SchemaError(
            "item set",
            "the largest set is a whole number of items; larger ones are refused or keep their first items",
            given=f"most={items.most!r}, too_many={items.too_many!r}",
            remedy="write most=20, too_many='first'",
        )


def _tuples(attribute: Attribute, *fields: str) -> None:
    """Lists given for tuple fields (YAML has no tuples) become tuples of text; True becomes "true", as it is read."""
    for field in fields:
        given = getattr(attribute, field)
        if given is not None:
            texts = (given,) if isinstance(given, str) else given
            object.__setattr__(attribute, field, tuple(_spelt(value) for value in texts))


def _spelt(value: object) -> str:
    text = str(value)
    return text.lower() if not isinstance(value, str) and text in ("True", "False") else text


def _check_range(number: Number) -> None:
    pair = isinstance(number.range, list | tuple)
    ends: tuple[Any, ...] = tuple(number.range or ()) if pair else (number.range,)
    object.__setattr__(number, "range", ends)
    if len(ends) != 2:
        raise SchemaError(
            "number",
            "a range has a lower and an upper end",
            given=repr(list(ends) if pair else ends[0]),
            remedy="write (lowest, highest)",
        )
    texts = number.calendar is not None
    fits = (
        all(isinstance(end, str) for end in ends)
        if texts
        else all(isinstance(end, int | float) and not isinstance(end, bool) and abs(end) <= LARGEST for end in ends)
    )
    if not fits:
        wanted = "ISO texts such as ['1900-01-01', '2026-12-31']" if texts else f"finite numbers of at most {LARGEST:g}"
        raise SchemaError(
            "number",
            f"the ends of this range are {wanted}",
            given=repr(list(ends)),
            remedy="write [lowest, highest]",
        )
    if not min(ends) == ends[0] != ends[1]:
        raise SchemaError(
            "number",
            "a range's lower end must be below its upper end",
            given=repr(list(ends)),
            remedy="swap the ends, or widen the range",
        )
