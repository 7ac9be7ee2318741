"""Public domains: what each attribute may hold, from its declaration alone. Nothing here looks at a record.

An attribute's values fall into *cells*: bins of a declared range, equal ones or declared ones (of dates: see `dates`),
leaves of a declared taxonomy or list, and for item sets the labels of a public cut through their taxonomy. A missing
value has a cell of its own where it may occur.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.data.axis import numbers_of
from sfumato.data.calendar import unit_numbers
from sfumato.data.cut_points import draws_whole, inner_edges
from sfumato.data.schema import Attribute, Calendar, Category, ItemSet, Number, Schema
from sfumato.data.shown import interval_text
from sfumato.data.taxonomy.taxonomy import Taxonomy
from sfumato.errors import RecipeError
from sfumato.maskers.histogram.dates import bin_edges, cut_edges, declared_units, units_text

MOST_ITEMS = 96
"""No more labels of a set-valued attribute are counted, unless asked; larger taxonomies are cut higher up."""
LABELS = 512
"""No more can be asked for: each costs its part of epsilon, and a place in centres.json."""
FEW_ITEMS = 32
"""With no more labels than this the largest possible set needs no declaration."""


@dataclass(frozen=True)
class NumberDomain:
    """A declared range in bins; `edges` has one entry more than there are bins, the last bin is closed.

    `unit`: of dates and times, whose numbers are those of their calendar units. `cut`: the bins were declared, else
    they are equal. Where the first two edges are the same, the first bin is the lower end alone; where the last two
    are, the last bin is the upper end.
    """

    name: str
    low: float
    high: float
    integer: bool
    edges: tuple[float, ...]
    missing: bool
    unit: Calendar | None = None
    cut: bool = False

    @property
    def size(self) -> int:
        """How many cells, the one for missing values included."""
        return len(self.edges) - 1 + self.missing

    @property
    def drawn(self) -> str:
        """How its numbers are drawn."""
        kind = f"{self.unit}s" if self.unit else "whole numbers" if self.integer else "decimals"
        return f"{len(self.edges) - 1} {'declared ' if self.cut else ''}bins, {kind}"

    def numbers(self, values: pa.Array[Any], attribute: Number) -> NDArray[np.float64]:
        """(values,): raw values as the numbers of this domain."""
        found = numbers_of(values, attribute)
        return (found if self.unit is None else unit_numbers(found, self.unit)).astype(np.float64)

    def places(self, numbers: NDArray[np.float64]) -> NDArray[np.int64]:
        """(numbers,): the bin of each number."""
        found = np.searchsorted(np.array(self.edges[1:-1]), numbers, side="right")
        return np.where(numbers == self.low, 0, found).astype(np.int64)

    def middles(self) -> NDArray[np.float64]:
        """(bins,): the middle of each bin."""
        ends = np.array(self.edges, dtype=np.float64)
        found: NDArray[np.float64] = (ends[:-1] + ends[1:] - float(self.integer)) / 2
        return found

    def label(self, first: int, end: int) -> str:
        """Bins from `first` up to `end` as an interval, written as in every release."""
        last = len(self.edges) - 1
        if self.unit is not None:
            return units_text(int(self.edges[first]), int(self.edges[end]), self.unit)
        low, high = self.edges[first], self.high if end == last else self.edges[end]
        return interval_text(_text(low), _text(high), closed=end == last or low == high)


@dataclass(frozen=True)
class LabelDomain:
    """The leaves of a declared taxonomy, or a declared list under one root."""

    name: str
    tree: Taxonomy
    missing: bool

    @property
    def size(self) -> int:
        """How many cells, the one for missing values included."""
        return len(self.tree.leaves) + self.missing


@dataclass(frozen=True)
class ItemDomain:
    """Sets of labels: those of a public cut, of which a set holds at most `most`."""

    name: str
    tree: Taxonomy
    cut: tuple[str, ...]
    most: int
    missing: bool
    separator: str = ";"

    @property
    def size(self) -> int:
        """How many labels can be in a set."""
        return len(self.cut)

    @cached_property
    def nodes(self) -> tuple[str, ...]:
        """The cut's labels, then all labels above them but the root."""
        above = dict.fromkeys(a for label in self.cut for a in self.tree.ancestors(label) if a != self.tree.root)
        return (*self.cut, *above)

    @cached_property
    def paths(self) -> tuple[tuple[int, ...], ...]:
        """For each label of the cut its place in `nodes` and those of the labels above it."""
        at = {label: place for place, label in enumerate(self.nodes)}
        return tuple((at[label], *(at[a] for a in self.tree.ancestors(label) if a in at)) for label in self.cut)

    @cached_property
    def of_leaf(self) -> dict[str, int]:
        """The label of the cut that stands for each leaf."""
        return {leaf: at for at, label in enumerate(self.cut) for leaf in self.tree.leaves_of(label)}


Domain = NumberDomain | LabelDomain | ItemDomain


def declarations_of(may_miss: Sequence[str], items: int) -> dict[str, Any]:
    """What a masker's settings declare beside the schema, as a recipe has it; what is usual is left out."""
    return ({"may_miss": list(may_miss)} if may_miss else {}) | ({"items": items} if items != MOST_ITEMS else {})


def declared(schema: Schema, *, bins: int, may_miss: Sequence[str], items: int = MOST_ITEMS) -> dict[str, Domain]:
    """The domain of every released attribute; where any is not declared, an error lists all that are not.

    `items`: how many labels of a set-valued attribute are counted at the most.
    """
    schema.require(may_miss, "may_miss")
    wanting = {name: wants for name in schema.kept if (wants := _wanting(schema[name]))}
    if wanting:
        raise RecipeError(
            ", ".join(wanting),
            "differential privacy learns no domain from the data: each is declared, being public",
            given="; ".join(f"{name} {what}" for name, what in wanting.items()),
            remedy="declare them in the recipe, or declare an attribute with role: identifier to leave it out",
        )
    return {name: _domain(name, schema[name], bins=bins, missing=name in may_miss, items=items) for name in schema.kept}


def _wanting(attribute: Attribute) -> str:
    """What an attribute must still declare, with an example; nothing if its domain is known."""
    if isinstance(attribute, Number):
        return _wanting_range(attribute)
    if attribute.taxonomy is None and not attribute.values:
        return "without a taxonomy or values (taxonomy: FILE, or values: [A, B])"
    if isinstance(attribute, ItemSet) and attribute.most is None and len(_tree(attribute).leaves) > FEW_ITEMS:
        return "without a largest set (most: 40)"
    return ""


def _wanting_range(number: Number) -> str:
    if number.range is None:
        example = "[0, 120]" if number.calendar is None else "['1900-01-01', '2029-12-31']"
        return f"without a range (range: {example})"
    units = declared_units(number)
    if units is not None and units[0] == units[1]:
        return f"with a range of one {number.calendar} (widen it, or name a shorter calendar unit)"
    return ""


def _domain(name: str, attribute: Attribute, *, bins: int, missing: bool, items: int) -> Domain:
    if isinstance(attribute, Number):
        return _number_domain(name, attribute, bins=bins, missing=missing)
    if isinstance(attribute, Category):
        return LabelDomain(name, _tree(attribute), missing)
    return item_domain(name, attribute, missing=missing, items=items)


def _number_domain(name: str, number: Number, *, bins: int, missing: bool) -> NumberDomain:
    cut, unit, units = number.bins is not None, number.calendar, declared_units(number)
    if units is not None and unit is not None:
        edges = bin_edges(*units, unit, bins) if number.bins is None else cut_edges(name, number, *units)
        low, high = float(units[0]), float(units[1])
        return NumberDomain(name, low, high, integer=True, edges=edges, missing=missing, unit=unit, cut=cut)
    (low, high), integer = (float(end) for end in number.range or (0, 1)), draws_whole(number)
    edges = _edges(low, high, integer, bins)
    if number.bins is not None:
        inner = inner_edges([float(point) for point in number.bins], low, whole=integer)
        edges = (edges[0], *inner, edges[-1])
    return NumberDomain(name, low, high, integer, edges, missing, cut=cut)


def item_domain(name: str, attribute: ItemSet, *, missing: bool, items: int = MOST_ITEMS) -> ItemDomain:
    """Sets of the labels of a public cut."""
    tree = _tree(attribute)
    cut = public_cut(tree, items)
    return ItemDomain(name, tree, cut, min(attribute.most or len(cut), len(cut)), missing, attribute.separator)


def _tree(attribute: Category | ItemSet) -> Taxonomy:
    if attribute.taxonomy is not None:
        return attribute.taxonomy
    values = attribute.values or ()
    return Taxonomy.flat(values, root="*" if "*" not in values else "ANY of " + "".join(values))


def _edges(low: float, high: float, integer: bool, bins: int) -> tuple[float, ...]:
    """Equal bins; of whole numbers each bin holds at least one."""
    if not integer:
        return tuple(float(edge) for edge in np.linspace(low, high, bins + 1))
    width = int(high - low) + 1
    count = min(bins, width)
    return tuple(float(low + at * width // count) for at in range(count + 1))


def public_cut(tree: Taxonomy, most: int) -> tuple[str, ...]:
    """A cut of at most `most` labels, by the tree alone: the label with the most leaves below is opened next.

    >>> public_cut(Taxonomy.from_tree({"ANY": {"a": ["b", "c", "d"], "e": ["f", "g"]}}), 4)
    ('b', 'c', 'd', 'e')
    """
    cut = list(tree.children(tree.root)) or [tree.root]
    while True:
        room = most - len(cut) + 1
        inner = [label for label in cut if 0 < len(tree.children(label)) <= room]
        if not inner:
            return tuple(cut)
        widest = max(inner, key=lambda label: len(tree.leaves_of(label)))
        at = cut.index(widest)
        cut[at : at + 1] = tree.children(widest)


def _text(number: float) -> str:
    return str(int(number)) if number.is_integer() else repr(number)
