"""Values and groups counted some rows at a time, so that counting takes no more memory than what there is to count."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sfumato.events import watched

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

ROWS = 2**20  # in one go
FEW = 2**17  # rows of which eight bytes each stay near the processor
LARGEST = 2**62  # number of a combination
NUMBER = "\0number"


def text_counts(column: pl.Series) -> dict[str | None, int]:
    """How many rows show each text of a column of text; None is a missing one. A text that no row shows is not there.

    >>> import polars as pl
    >>> text_counts(pl.Series(["b", None, "b"], dtype=pl.Enum(["a", "b"])))
    {'b': 2, None: 1}
    """
    import numpy as np
    import polars as pl

    if not isinstance(column.dtype, pl.Enum):
        return dict(column.cast(pl.String).value_counts().rows())
    labels = column.dtype.categories.to_list()
    codes, found = column.drop_nulls().to_physical().to_numpy(), np.zeros(len(labels), dtype=np.int64)
    for start in range(0, len(codes), FEW):
        found += np.bincount(codes[start : start + FEW], minlength=len(labels))
    counts: dict[str | None, int] = {text: count for text, count in zip(labels, found.tolist(), strict=True) if count}
    return counts | ({None: column.null_count()} if column.null_count() else {})


def _codes(column: pl.Series) -> NDArray[np.unsignedinteger[Any]]:
    """(rows,): the number of each row's text; behind the last one, of a missing one."""
    import polars as pl

    codes = column.to_physical()
    if not column.null_count():
        return codes.to_numpy()
    assert isinstance(column.dtype, pl.Enum)
    return codes.cast(pl.UInt32).fill_null(len(column.dtype.categories)).to_numpy()


def tallied(table: pl.DataFrame, on: Sequence[str], name: str) -> pl.DataFrame:
    """Each combination of values on these columns once, and how many rows have it; `name` is that column's."""
    import polars as pl

    sizes = [len(kind.categories) + 1 for on_one in on if isinstance(kind := table.schema[on_one], pl.Enum)]
    if len(sizes) == len(on) and math.prod(sizes) < LARGEST:
        return _tallied_by_number(table, dict(zip(on, sizes, strict=True)), name)
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


def _tallied_by_number(table: pl.DataFrame, sizes: Mapping[str, int], name: str) -> pl.DataFrame:
    """The same of columns of text: a combination of their numbers is one number, which is counted faster."""
    import numpy as np
    import polars as pl

    found, held = list[pl.DataFrame](), 0
    for start in watched(range(0, max(table.height, 1), ROWS)):
        part = table.slice(start, ROWS)
        numbers = np.zeros(part.height, dtype=np.int64)
        for column, size in sizes.items():
            numbers *= size
            numbers += _codes(part[column])
        found.append(pl.Series(NUMBER, numbers).value_counts(name=name))
        held += found[-1].height
        if held > 2 * ROWS:
            found = [_added(found, [NUMBER], name)]
            held = found[0].height
    counts = _added(found, [NUMBER], name)
    numbers, columns = counts[NUMBER].to_numpy(), dict[str, pl.Series]()
    for column, size in reversed(list(sizes.items())):
        numbers, codes = np.divmod(numbers, size)
        kind = table.schema[column]
        assert isinstance(kind, pl.Enum)
        columns[column] = pl.Series([*kind.categories, None], dtype=kind).gather(codes)
    return pl.DataFrame({column: columns[column] for column in sizes} | {name: counts[name]})


def is_text(kind: pl.DataType) -> bool:
    """Whether a column of the released table holds text; it is held by the numbers of its different texts."""
    import polars as pl

    return kind in (pl.Categorical, pl.Enum)
