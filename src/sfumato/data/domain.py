"""Declared domains: whether a table is what its schema declares, and what becomes of values outside."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.types as pt

from sfumato.data import calendar
from sfumato.data.codes import as_sets, pruned, rank, spread
from sfumato.data.lookalikes import bad_name
from sfumato.data.schema import Category, ItemSet, Number, Schema
from sfumato.data.table import Column, ItemColumn
from sfumato.errors import MOST_NAMED, SchemaError, TableError, TaxonomyError, nearest


def clipped(column: Column, attribute: Number) -> Column:
    """Numbers beyond a declared range at its nearer end, where `outside` says so; dates at its first or last one."""
    if attribute.outside is None or attribute.range is None or not len(column.values):
        return column
    if attribute.calendar is not None:
        return _clipped_dates(column, *(str(end) for end in attribute.range))
    low, high = (float(end) for end in attribute.range)
    numbers = column.values.to_numpy()
    inside = np.clip(numbers, low, high)  # a number that is none stays none, and is refused later
    if (inside == numbers).all():
        return column
    return _renamed(column, pa.array(inside.astype(numbers.dtype) if (inside % 1 == 0).all() else inside))


def _clipped_dates(column: Column, low: str, high: str) -> Column:
    """Dates at the first or the last day of a range, moments at its first or last whole second."""
    kind: Any = column.values.type
    numbers, step = calendar.to_number(column.values), calendar.DAY if pt.is_date(kind) else calendar.SECOND
    first, last = calendar.parse(low), calendar.parse(high, end=True)
    lowest, highest = -(-first // step) * step, ((last + 1) // step - 1) * step
    inside = np.where(numbers < first, lowest, np.where(numbers > last, highest, numbers))
    if (inside == numbers).all():
        return column
    if pt.is_date(kind):
        return _renamed(column, pa.array((inside // step).astype(np.int32), type=pa.date32()))
    return _renamed(column, pa.array(inside, type=pa.timestamp("us", tz=kind.tz)))


def bucketed(column: Column, attribute: Category) -> Column:
    """Labels outside the domain under the declared one, where `outside` names it."""
    if attribute.outside is None:
        return column
    mapped = _mapped(column.values, attribute, attribute.outside)
    return column if mapped is None else _renamed(column, mapped)


def bucketed_items(column: ItemColumn, attribute: ItemSet) -> ItemColumn:
    """Items outside the domain under the declared one, where `outside` names it."""
    mapped = None if attribute.outside is None else _mapped(column.values, attribute, attribute.outside)
    if mapped is None:
        return column
    distinct = rank(mapped)
    owners = np.repeat(np.arange(len(column.offsets) - 1), np.diff(column.offsets))
    return as_sets(owners, distinct.codes[column.codes], distinct.values, missing=column.missing_rows)


def bounded(name: str, column: ItemColumn, attribute: ItemSet) -> ItemColumn:
    """Sets of at most as many items as declared; larger ones are refused, or keep their first items."""
    lengths = np.diff(column.offsets)
    if attribute.most is None or not (lengths > attribute.most).any():
        return column
    if attribute.too_many == "refuse":
        raise TableError(
            name,
            f"no set holds more than the declared {attribute.most} items",
            given="larger ones too",
            remedy="raise most, or say too_many: first to keep the first items in the order of their labels",
        )
    place = np.arange(len(column.codes)) - np.repeat(column.offsets[:-1], lengths)
    kept = place < attribute.most
    owners = np.repeat(np.arange(len(lengths)), lengths)[kept]
    used = pruned(column.codes[kept], column.values)
    return as_sets(owners, used.codes, used.values, missing=column.missing_rows)


def _mapped(values: pa.Array[Any], attribute: Category | ItemSet, bucket: str) -> pa.Array[Any] | None:
    """Texts with strangers replaced; None where there is no stranger."""
    known = set(attribute.taxonomy.leaves if attribute.taxonomy is not None else attribute.values or ())
    texts = texts_of(values)
    if all(text in known for text in texts):
        return None
    return pa.array([text if text in known else bucket for text in texts], type=pa.string())


def _renamed(column: Column, values: pa.Array[Any]) -> Column:
    """The same rows with each distinct value replaced; several may become one."""
    at = column.codes.astype(np.int32)
    at[column.codes == column.missing_code] = -1
    return spread(at, rank(values))


# Whether a table is what its schema declares: the same columns, and labels of the declared domain.
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
    if undeclared := _not_in(names, schema):
        if likely := misspelt(undeclared, _not_in(schema, names)):
            raise likely
        raise SchemaError(
            _listed(undeclared),
            "every column of the table must be declared in the schema",
            given="an undeclared column" if len(undeclared) == 1 else f"{len(undeclared)} undeclared columns",
            remedy=f"declare {'it' if len(undeclared) == 1 else 'each'}, or leave it out of the table",
        )
    if not schema.kept:
        raise SchemaError(
            "schema",
            "a table must have columns beside identifiers",
            given="only columns of the role identifier",
            remedy="give the columns to keep another role",
        )
    if absent := _not_in(schema.kept, names):
        raise SchemaError(
            _listed(absent),
            "every attribute of the schema must be a column of the table",
            given="no such column" if len(absent) == 1 else f"{len(absent)} that are none",
            remedy=_completed(absent, names),
        )


def _completed(absent: Sequence[str], names: Sequence[str]) -> str:
    """What to do about columns that are not there; a name that is spelt alike may be what is meant."""
    like = nearest(absent[0], list(names)) if len(absent) == 1 else None
    it, columns = ("it", "column") if len(absent) == 1 else ("them", "columns")
    meant = "" if like is None else f"did you mean {like!r}? Else "
    return f"{meant}add the {columns} to the table, or take {it} out of the schema"


def _listed(names: list[str]) -> str:
    """All of them at once, so that all can be mended at once."""
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return ", ".join(names[:MOST_NAMED]) + more


def misspelt(undeclared: Sequence[str], unused: Sequence[str]) -> SchemaError | None:
    """Where the schema has names like those of columns that it does not declare: each beside the column it may mean."""
    few = undeclared[:MOST_NAMED] if len(unused) <= MOST_NAMED else []
    like = {name: get_close_matches(name, undeclared, n=1) for name in unused} if few else {}
    pairs = {name: found[0] for name, found in like.items() if found}
    if not pairs:
        return None
    return SchemaError(
        ", ".join(pairs),
        "every attribute of the schema must be a column of the table",
        given="; ".join(f"the schema has {name}, the table has {column}" for name, column in pairs.items()),
        remedy=f"did you mean {' and '.join(map(repr, pairs.values()))}? Write it so in the schema, and wherever the "
        "recipe names it",
    )


def _not_in(these: Iterable[str], those: Iterable[str]) -> list[str]:
    taken = set(those)
    return [name for name in these if name not in taken]


def texts_of(values: pa.Array[Any]) -> list[str]:
    """Labels as they are declared: of true and false in lower case, of whole numbers without a point."""
    return [str(text) for text in (values if pt.is_string(values.type) else values.cast(pa.string())).to_pylist()]


def _in_lower_case(labels: set[str], declared: Sequence[str]) -> str:
    """What to write where nothing but the case of true and false differs."""
    if labels <= {"true", "false"} and labels <= {text.lower() for text in declared}:
        return "true and false are read in lower case: write values: ['false', 'true']; or "
    return ""


def check_labels(name: str, values: pa.Array[Any], attribute: Category | ItemSet) -> None:
    """Refuse labels outside the declared taxonomy or values, without showing them."""
    if attribute.taxonomy is None and attribute.values is None:
        return
    labels = set(texts_of(values))
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
            remedy=_in_lower_case(labels, attribute.values or ())
            + "add them to `values`, say outside: LABEL to put them under one of these, or list them under "
            "`missing`",
        )
