"""How the items of a set-valued column are spread over groups, counted from the file.

A missing set is an item of its own; items that look alike are one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sfumato.privacy.verify.letters import look
from sfumato.privacy.verify.tallies import tallied
from sfumato.privacy.verify.terms import SEPARATOR
from sfumato.privacy.verify.verdict import CheckError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

ROW, SIZE, ITEM, HELD = "\0row", "\0size", "\0item", "\0held"  # no column has these names
MISSING = "\0missing"  # no item


@dataclass(frozen=True)
class Items:
    """Over all groups and the items in each: how few of its records lack one, and how large a share has one."""

    fewest_lack: int
    largest_share: float


def items_of(table: pl.DataFrame, on: Sequence[str], sensitive: str, separator: str) -> Items:
    """Count a table. A group without any item has as many records that lack one as it has records."""
    import polars as pl

    gone = [name for name in (*on, sensitive) if name not in table.columns]
    if gone:
        raise CheckError(f"the table has no column {gone[0]!r}")
    if sensitive in on or not table.height:
        raise CheckError("what is learned is none of the columns that are known, and a table has rows")
    sizes = tallied(table, on, SIZE)
    held = table.select(*(pl.col(name) for name in on), _sets(table[sensitive], separator)).with_row_index(ROW)
    pairs = held.explode(ITEM).drop_nulls(ITEM).with_columns(_looks(held[ITEM]))
    counts = pairs.unique([ROW, ITEM]).group_by([*on, ITEM]).agg(pl.len().alias(HELD))
    both = counts.join(sizes, on=list(on), nulls_equal=True)
    pairs_of = list(zip(both[HELD].to_list(), both[SIZE].to_list(), strict=True))
    lack = [size - have for have, size in pairs_of]
    bare = sizes.join(counts.select(on).unique(), on=list(on), how="anti", nulls_equal=True)[SIZE].to_list()
    return Items(min([*lack, *bare]), max((have / size for have, size in pairs_of), default=0.0))


def _sets(column: pl.Series, separator: str) -> pl.Series:
    """Lists of items; a text file joins them, and a missing set holds its being missing."""
    import polars as pl

    if not isinstance(column.dtype, pl.List):
        if not 1 <= len(separator) <= SEPARATOR:
            raise CheckError(f"a separator has 1 to {SEPARATOR} characters")
        parts = column.cast(pl.String).str.split(separator)
        column = parts.list.eval(pl.element().filter(pl.element() != ""))
    gone = pl.Series([[MISSING]], dtype=pl.List(pl.String)).new_from_index(0, len(column))
    return column.cast(pl.List(pl.String)).zip_with(column.is_not_null(), gone).alias(ITEM)


def _looks(lists: pl.Series) -> pl.Expr:
    """Every item by what it looks like."""
    import polars as pl

    different = lists.explode().drop_nulls().unique()
    seen = pl.Series([label if label == MISSING else look(label) for label in different.to_list()], dtype=pl.String)
    return pl.col(ITEM).replace_strict(different, seen, return_dtype=pl.String)
