"""Whether a table is what its schema declares: the same columns, and labels of the declared domain."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.types as pt

from sfumato.data._names import bad_name
from sfumato.data.schema import Category, ItemSet, Schema
from sfumato.errors import SchemaError, TableError, TaxonomyError, did_you_mean


def check_headers(names: Sequence[str]) -> None:
    """Refuse columns without a name, two of one name, and names that are not what they look like."""
    for at, name in enumerate(names):
        if not name.strip():
            raise TableError(
                f"column {at + 1}",
                "every column must have a name",
                given="an empty name",
                remedy="name the column, or leave it out",
            )
    for name, count in Counter(names).items():
        if count > 1:
            raise TableError(
                name,
                "a column's name may stand in a table only once",
                given=f"{count} columns of this name",
                remedy="rename or remove all but one",
            )
    if odd := bad_name(names):
        raise TableError(odd.name, odd.rule, given=odd.given, remedy=odd.remedy)


def check_names(names: Sequence[str], schema: Schema) -> None:
    """Refuse a table and a schema that do not name the same columns; an absent identifier is no harm."""
    check_headers(names)
    for name in names:
        if name not in schema:
            raise SchemaError(
                name,
                "every column of the table must be declared in the schema",
                given="an undeclared column",
                remedy=_undeclared(name, _not_in(schema, names)),
            )
    if not schema.kept:
        raise SchemaError(
            "schema",
            "a table must have columns beside identifiers",
            given="only columns of the role identifier",
            remedy="give the columns to keep another role",
        )
    for name in schema.kept:
        if name not in names:
            raise SchemaError(
                name,
                "every attribute of the schema must be a column of the table",
                given="no such column",
                remedy=did_you_mean(name, _not_in(names, schema) or names),
            )


def _undeclared(name: str, unused: list[str]) -> str:
    hint = f"; {did_you_mean(name, unused)}" if unused else ""
    return f"declare it, or leave it out of the table{hint}"


def _not_in(these: Iterable[str], those: Iterable[str]) -> list[str]:
    taken = set(those)
    return [name for name in these if name not in taken]


def check_labels(name: str, values: pa.Array[Any], attribute: Category | ItemSet) -> None:
    """Refuse labels outside the declared taxonomy or values, without showing them."""
    if attribute.taxonomy is None and attribute.values is None:
        return
    texts = values if pt.is_string(values.type) else values.cast(pa.string())
    labels = set(texts.to_pylist())
    if attribute.taxonomy is not None:
        strangers = len(labels - set(attribute.taxonomy.leaves))
        if strangers:
            raise TaxonomyError(
                name,
                "every value of the table must be a leaf of the taxonomy",
                given=f"{strangers} of {len(labels)} distinct values are not",
                remedy="run `sfumato taxonomy check` to see them, then add them to the taxonomy",
            )
    elif not labels <= set(attribute.values or ()):
        raise TableError(
            name,
            "every value of the table must be one of the declared values",
            given="others too",
            remedy="add them to `values`, say outside: LABEL to put them under one of these, or list them under "
            "`missing`",
        )
