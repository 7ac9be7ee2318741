"""What holders count by: the columns that a recipe needs to mask, each in codes of its declared domain.

A domain is public. So a code is a number that everybody could have written down before seeing a table, and no text of
a table ever travels.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.data.schema import Attribute, Category, Number
from sfumato.data.table import Column, Table
from sfumato.errors import RecipeError, TableError
from sfumato.recipe import Recipe
from sfumato.structure.embedding import default_attributes
from sfumato.structure.structures import class_column, clusters_of

MOST = 1_000_000
"""Numbers of one domain."""


def needed(recipe: Recipe) -> tuple[str, ...]:
    """The columns without which nothing can be masked: quasi-identifiers, what requirements count by, what guides.

    All others stay with their holders until the rows are masked.
    """
    chosen = {*recipe.schema.quasi, *(one.sensitive for one in recipe.privacy), class_column(recipe.structure)}
    clusters = clusters_of(recipe.structure)
    if clusters is not None:
        chosen |= {*(clusters.attributes or default_attributes(recipe.schema))}
    return tuple(name for name in recipe.schema.kept if name in chosen)


def domains_of(recipe: Recipe) -> dict[str, pa.Array[Any]]:
    """The declared values of every needed column, in order. Labels of all other columns are declared, too."""
    found = {name: _domain(name, recipe.schema[name]) for name in needed(recipe)}
    for name in (name for name in recipe.schema.kept if name not in found):
        attribute = recipe.schema[name]
        if not isinstance(attribute, Number) or attribute.calendar is not None:
            _domain(name, attribute)
    return found


def _domain(name: str, attribute: Attribute) -> pa.Array[Any]:
    if isinstance(attribute, Category):
        labels = attribute.values if attribute.taxonomy is None else attribute.taxonomy.leaves
        if labels is not None:
            return pa.array(sorted(labels), pa.string())
    elif isinstance(attribute, Number) and attribute.calendar is None and attribute.integer and attribute.range:
        low, high = (int(float(end)) for end in attribute.range)
        if high - low < MOST:
            return pa.array(np.arange(low, high + 1))
    raise RecipeError(
        name,
        "several holders count by domains that are declared: labels by values or a taxonomy, whole numbers by a range",
        given="a column without one",
        remedy="declare values: [...], a taxonomy, or integer: true with a range; item sets and dates are not counted",
    )


def codes_in(column: Column, domain: pa.Array[Any], name: str) -> NDArray[np.int64]:
    """(rows,): where each row's value stands in the domain; the domain's length where it is missing."""
    at = {value: place for place, value in enumerate(domain.to_pylist())}
    text = pa.types.is_string(domain.type)
    values = [str(value) if text else value for value in column.values.to_pylist()]
    if not all(value in at for value in values):
        raise TableError(
            name, "a table holds values of its declared domain", given="another one", remedy="declare it, or mend it"
        )
    return np.array([*(at[value] for value in values), len(domain)], dtype=np.int64)[column.codes]


def coded(table: Table, domains: Mapping[str, pa.Array[Any]]) -> dict[str, NDArray[np.int64]]:
    """Every needed column of a holder's table in codes."""
    return {name: codes_in(table.column(name), domain, name) for name, domain in domains.items()}


def in_order(columns: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    """The order of rows by their codes, the first column first: it follows from the codes alone."""
    return np.lexsort(tuple(reversed(columns)))
