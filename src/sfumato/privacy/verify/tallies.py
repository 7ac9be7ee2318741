"""Groups counted some rows at a time, so that counting takes no more memory than the groups that there are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sfumato.events import watched

if TYPE_CHECKING:
    import polars as pl

ROWS = 2**20  # in one go


def tallied(table: pl.DataFrame, on: Sequence[str], name: str) -> pl.DataFrame:
    """Each combination of values on these columns once, and how many rows have it; `name` is that column's."""
    import polars as pl

    found, held = list[pl.DataFrame](), 0
    for start in watched(range(0, max(table.height, 1), ROWS)):
        found.append(table.slice(start, ROWS).group_by(on).agg(pl.len().alias(name)))
        held += found[-1].height
        if held > 2 * ROWS:
            found = [_added(found, on, name)]
            held = found[0].height
    return _added(found, on, name)


def _added(parts: Sequence[pl.DataFrame], on: Sequence[str], name: str) -> pl.DataFrame:
    import polars as pl

    return parts[0] if len(parts) == 1 else pl.concat(parts).group_by(on).agg(pl.col(name).sum())


def is_text(kind: pl.DataType) -> bool:
    """Whether a column of the released table holds text; it is held by the numbers of its different texts."""
    import polars as pl

    return kind in (pl.Categorical, pl.Enum)
