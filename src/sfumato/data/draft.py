"""A proposed recipe for a table: what each column may be, and why. A suggestion, never run by itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa
import pyarrow.compute as pc

from sfumato.data.draft_guess import guess
from sfumato.data.draft_profile import Profile, profile, share_alone
from sfumato.data.schema import Attribute, Category, ItemSet, Number, Role, Schema
from sfumato.data.taxonomy import Taxonomy
from sfumato.data.taxonomy_draft import TaxonomyDraft, Way, propose_taxonomy
from sfumato.errors import TableError, did_you_mean

_MOST_LEAVES = 5000  # above this a drafted tree is too big to look at


@dataclass(frozen=True)
class ColumnDraft:
    """What one column may be, and why.

    `distinct` counts its different values; `unique_share` is the share of rows that are alone with theirs.
    """

    name: str
    attribute: Attribute
    reason: str
    warnings: tuple[str, ...]
    distinct: int
    unique_share: float
    proposed: TaxonomyDraft | None = None

    @property
    def kind(self) -> Literal["number", "category", "item_set"]:
        """Its kind, as a recipe calls it."""
        if isinstance(self.attribute, Number):
            return "number"
        return "category" if isinstance(self.attribute, Category) else "item_set"

    @property
    def role(self) -> Role:
        """Its role."""
        return self.attribute.role

    @property
    def taxonomy(self) -> Taxonomy | None:
        """A taxonomy to start from, marked as a draft; the attribute does not use it yet."""
        return None if self.proposed is None else self.proposed.taxonomy


@dataclass(frozen=True)
class Draft:
    """Proposals for all columns; `alone` is the share of rows unique on all quasi columns together."""

    columns: tuple[ColumnDraft, ...]
    rows: int
    alone: float

    @property
    def schema(self) -> Schema:
        """The proposed schema."""
        return Schema({column.name: column.attribute for column in self.columns})

    @property
    def quasi(self) -> tuple[str, ...]:
        """Names of the columns that others may know."""
        return tuple(column.name for column in self.columns if column.role == "quasi")

    def __getitem__(self, name: str) -> ColumnDraft:
        return next(column for column in self.columns if column.name == name)

    def to_yaml(
        self, table_path: str | Path, *, taxonomies: Mapping[str, str] | None = None, encoding: str | None = None
    ) -> str:
        """A recipe to read and change, with the reason of each guess in a comment.

        `taxonomies` names the file of a column's taxonomy; the other columns say how to draft one.
        `encoding` is that of a CSV which had to be told it.
        """
        from sfumato.data.draft_yaml import recipe_text

        return recipe_text(self, str(table_path), taxonomies=taxonomies or {}, encoding=encoding)


def draft(table: pa.Table, *, called: str = "table") -> Draft:
    """Look at every column of a table and propose what it is. `called` is its name in messages.

    >>> found = draft(pa.table({"ssn": ["1-2", "3-4"], "age": [30, 40], "disease": ["flu", "flu"]}))
    >>> [(column.name, column.kind, column.role) for column in found.columns]
    [('ssn', 'category', 'identifier'), ('age', 'category', 'quasi'), ('disease', 'category', 'sensitive')]
    """
    if not table.num_columns or not table.num_rows:
        raise TableError(
            called,
            "a table to draft for must have columns and rows",
            given="an empty one",
            remedy="give a full one",
        )
    columns = tuple(_column(table, name) for name in table.column_names)
    quasi = [column.name for column in columns if column.role == "quasi"]
    return Draft(columns, table.num_rows, share_alone(table, quasi))


def _column(table: pa.Table, name: str) -> ColumnDraft:
    seen = profile(name, table.column(name))
    made = guess(seen)
    return ColumnDraft(
        name,
        made.attribute,
        made.reason,
        made.warnings,
        seen.distinct,
        seen.unique_share,
        _proposed(table, seen, made.attribute),
    )


def _proposed(table: pa.Table, seen: Profile, attribute: Attribute) -> TaxonomyDraft | None:
    """A taxonomy for a quasi column with enough values to group."""
    if attribute.role != "quasi" or isinstance(attribute, Number):
        return None
    counted = _counted(table, seen, attribute)
    if not 3 < len(counted) <= _MOST_LEAVES:
        return None
    return propose_taxonomy(counted, counts=list(counted.values()))


def propose_for(table: pa.Table, name: str, *, kind: Way | None = None, missing: Sequence[str] = ()) -> TaxonomyDraft:
    """A proposed taxonomy for one column, whatever its role: over the items if it holds lists of them.

    Texts that usually mean missing are left out, and those in `missing`.
    """
    seen = _profiled(table, name, missing)
    counted = _counted(table, seen, guess(seen).attribute)
    return propose_taxonomy(counted, counts=list(counted.values()), kind=kind)


def column_values(table: pa.Table, name: str, *, missing: Sequence[str] = ()) -> list[object]:
    """The different values of one column, or the different items if it holds lists of them.

    Texts that usually mean missing are left out, and those in `missing`.
    """
    seen = _profiled(table, name, missing)
    attribute = guess(seen).attribute
    return [*_items(table, seen, attribute)] if isinstance(attribute, ItemSet) else seen.values.to_pylist()


def missing_texts(table: pa.Table, name: str, *, missing: Sequence[str] = ()) -> tuple[str, ...]:
    """The texts in one column that are taken for missing."""
    return _profiled(table, name, missing).marks


def _profiled(table: pa.Table, name: str, missing: Sequence[str]) -> Profile:
    if name in table.column_names:
        return profile(name, table.column(name), missing=missing)
    raise TableError(
        "table",
        "this is no column of the table",
        given=repr(name),
        remedy=did_you_mean(name, table.column_names),
    )


def _counted(table: pa.Table, seen: Profile, attribute: Attribute) -> dict[Any, int]:
    if isinstance(attribute, ItemSet):
        return _items(table, seen, attribute)
    return dict(zip(seen.values.cast(pa.string()).to_pylist(), seen.counts, strict=True))


def _items(table: pa.Table, seen: Profile, attribute: ItemSet) -> dict[Any, int]:
    column: Any = table.column(seen.name)
    if seen.family != "list":
        column = pc.split_pattern(column.cast(pa.string()), attribute.separator)
    if seen.marks:
        column = pa.array([items for items in column.to_pylist() if items not in [[mark] for mark in seen.marks]])
    counted: Any = pc.value_counts(pc.list_flatten(column).drop_null().cast(pa.string()))
    return dict(zip(counted.field("values").to_pylist(), counted.field("counts").to_pylist(), strict=True))
