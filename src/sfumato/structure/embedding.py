"""Embedding: records as vectors, raw and masked ones in the same space."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from sfumato.data.masked import Masked
from sfumato.data.schema import Schema
from sfumato.data.table import ItemColumn, Table
from sfumato.errors import RecipeError, SchemaError, did_you_mean
from sfumato.structure.coded_points import AnyBlock, Block, Placed, Vectors
from sfumato.structure.layouts import ItemLayout, Layout, layout
from sfumato.structure.masked_positions import masked_block
from sfumato.structure.released import ReleasedValues
from sfumato.structure.released_groups import Codebook

Placement = Literal["expected", "middle", "own"]


@dataclass(frozen=True, eq=False)
class Embedding:
    """Where records stand. Squared Euclidean distance is 003 Eq. 7: the weighted sum over the attributes.

    Weights add up to 1, so two records are at most 1 apart. Nothing but the layout is learned: domains where
    none are declared, and the mean of a number for those who miss it.
    """

    layouts: Mapping[str, Layout]
    weights: Mapping[str, float]

    @classmethod
    def of(
        cls,
        table: Table,
        *,
        attributes: Sequence[str] | None = None,
        weights: Mapping[str, float] | None = None,
    ) -> Embedding:
        """Lay out the named attributes, or `default_attributes`, with the given weights or equal ones."""
        names = _chosen(table.schema, attributes)
        given = dict.fromkeys(names, 1.0) | _checked(weights or {}, names)
        total = sum(given.values())
        layouts = {name: layout(table.schema[name], table.columns[name]) for name in names}
        return cls(layouts, {name: given[name] / total for name in names})

    @property
    def attributes(self) -> tuple[str, ...]:
        """The attributes that are laid out, in order."""
        return tuple(self.layouts)

    @property
    def dims(self) -> int:
        """Number of coordinates."""
        return sum(part.dims for part in self.layouts.values())

    def place(self, table: Table) -> Placed:
        """Raw records, kept per attribute: `.vectors(rows)` for some of them, `.points` for k-means."""
        return Placed(tuple(self._raw(name, table) for name in self.layouts), table.rows)

    def raw(self, table: Table) -> Vectors:
        """(rows, dims): raw records."""
        return self.place(table).vectors()

    def place_masked(
        self,
        table: Table,
        masked: Masked,
        *,
        released: Codebook | None = None,
        placement: Placement = "expected",
    ) -> Placed:
        """Masked records; attributes that are not among `masked` stand as they do in `table`.

        "expected": a shown value stands where its records stood on average, as `released` tells (learned from
        this table if None is given). "middle": by the table alone, an interval at its middle, a set of labels in the
        middle of them, an inner label at its own node. "own": an inner label is a category of its own, with a
        coordinate of its own after all others; an interval stands at its middle.
        """
        check_placement(placement)
        used = {name: masked[name] for name in self.layouts if name in masked}
        if placement == "expected" and released is None:
            released = ReleasedValues.learn(table, used)
        told = {"expected": released, "middle": ReleasedValues(), "own": None}[placement]
        blocks = (
            masked_block(name, part, masked, told).scaled(self.weights[name])
            if name in used
            else self._raw(name, table)
            for name, part in self.layouts.items()
        )
        return Placed(tuple(blocks), table.rows)

    def masked(
        self,
        table: Table,
        masked: Masked,
        *,
        released: Codebook | None = None,
        placement: Placement = "expected",
    ) -> Vectors:
        """(rows, dims or more): masked records; see `place_masked`."""
        return self.place_masked(table, masked, released=released, placement=placement).vectors()

    def place_shown(self, masked: Masked) -> Placed:
        """A table of its own that shows values only: each label stands at its node, each interval in its middle."""
        nothing = ReleasedValues()
        blocks = tuple(
            masked_block(name, part, masked, nothing).scaled(self.weights[name]) for name, part in self.layouts.items()
        )
        return Placed(blocks, masked.rows)

    def without(self, table: Table, hidden: Iterable[str]) -> Placed:
        """Raw records with some attributes masked to the top: there all records stand in one place."""
        gone = set(hidden)
        return Placed(
            tuple(
                Block(np.zeros(table.rows, dtype=np.uint8), np.zeros((1, part.dims), dtype=np.float32))
                if name in gone
                else self._raw(name, table)
                for name, part in self.layouts.items()
            ),
            table.rows,
        )

    def _raw(self, name: str, table: Table) -> AnyBlock:
        part, column = self.layouts[name], table.columns[name]
        if isinstance(part, ItemLayout):
            if not isinstance(column, ItemColumn):
                raise TypeError(f"{name} is not set-valued")
            return part.block(column.sets, column.items).scaled(self.weights[name])
        one = table.column(name)
        return Block(one.codes, part.positions(one.values)).scaled(self.weights[name])


def check_placement(placement: str, among: Sequence[str] = get_args(Placement)) -> None:
    """Refuse what is no way of placing masked values."""
    if placement not in among:
        raise RecipeError(
            "placement",
            f"a masked value is placed in one of these ways: {', '.join(among)}",
            given=repr(placement),
            remedy=did_you_mean(str(placement), among),
        )


def default_attributes(schema: Schema) -> tuple[str, ...]:
    """What is embedded unless the recipe says otherwise: quasi-identifying and plain attributes.

    Sensitive attributes stay out, and so do those confirmed to be near-unique (`unique_ok`).
    """
    return tuple(name for name in schema if schema[name].role in ("quasi", "plain") and not schema[name].unique_ok)


def _chosen(schema: Schema, attributes: Sequence[str] | None) -> tuple[str, ...]:
    names = default_attributes(schema) if attributes is None else tuple(attributes)
    schema.require(names, "structure")
    for name in names:
        if schema[name].role == "identifier":
            raise RecipeError(
                name,
                "records are not clustered by an identifier",
                given="an identifier",
                remedy="leave it out of the structure's attributes",
            )
    if not names or len(set(names)) != len(names):
        raise SchemaError(
            "structure",
            "records are clustered by at least one attribute, each named once",
            given="none, or one named twice",
            remedy="name each attribute once",
        )
    return names


def _checked(weights: Mapping[str, float], names: Sequence[str]) -> dict[str, float]:
    for name, weight in weights.items():
        if name not in names:
            raise RecipeError(
                "weights",
                "a weight belongs to an attribute that is clustered by",
                given=repr(name),
                remedy=did_you_mean(name, names),
            )
        if not 0 < weight < float("inf"):
            raise RecipeError(
                "weights",
                "a weight is a positive number",
                given=f"{name}: {weight}",
                remedy="leave the attribute out to give it no weight",
            )
    return {name: float(weight) for name, weight in weights.items()}
