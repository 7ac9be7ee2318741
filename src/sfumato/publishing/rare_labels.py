"""What is told of a masked table whose sets name labels that few people have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import pyarrow.types as pt

from sfumato.data.domain import texts_of
from sfumato.data.masked import Masked
from sfumato.data.schema import Category
from sfumato.data.shown import set_members
from sfumato.data.table import Column, Table
from sfumato.errors import quoted, warn
from sfumato.privacy.requirements import largest_k
from sfumato.recipe import Recipe

RARE, FEWEST_RARE = 0.2, 5
"""The share of a column's labels that fewer than k rows have, and their number, from which on it is told that sets show
them."""


def rare_labels(people: Table, masked: Masked, recipe: Recipe) -> tuple[str, ...]:
    """Warn of columns whose sets name labels that few have, and give it back: that somebody has one can be read off."""
    if recipe.mask.guarantee.spends or not masked.row_by_row:
        return ()
    lines = tuple(_rare(people, masked, largest_k(recipe.privacy)))
    for line in lines:
        warn(line)
    return lines


def _rare(people: Table, masked: Masked, ks: Mapping[str, int]) -> Iterator[str]:
    for name in masked:
        column, shown = people.columns[name], masked[name]
        k = ks.get(name, 0)
        if not isinstance(people.schema[name], Category) or not isinstance(column, Column):
            continue
        labels, counts = texts_of(column.values), column.counts[:-1].tolist()  # numbers may be labels, too
        few = {label for label, count in zip(labels, counts, strict=True) if 0 < count < k}
        if len(few) < max(FEWEST_RARE, RARE * len(labels)) or not isinstance(shown, Column):
            continue
        known, there = {*labels}, np.flatnonzero(shown.counts[: len(shown.values)])
        named = few & {one for text in shown.texts(there) for one in set_members(text, known)}
        if len(named) >= max(FEWEST_RARE, RARE * len(labels)):
            yield (
                f"{len(named) / len(labels):.0%} of the labels of {quoted(name)} are had by fewer than {k} rows "
                "each, and sets name them: nobody's row can be picked out, but that somebody in the table has such a "
                f"label can be read off. {_instead(people, name)}"
            )


def _instead(people: Table, name: str) -> str:
    """What to do where sets name rare labels: numbers have intervals, and labels a tree."""
    tree = "" if people.schema[name].taxonomy is not None else "give the column a taxonomy and "
    joined = (
        f"{tree}show its labels in place of sets (mask: {{partition: {{show: labels}}}}), or join rare labels in the "
        "table"
    )
    kind = people.column(name).values.type
    if not pt.is_integer(kind) and not pt.is_floating(kind) and not pt.is_decimal(kind):
        return f"Where that must not be, {joined}"
    return f"They are numbers: declare it a number (kind: number), which intervals show; if they are codes, {joined}"
