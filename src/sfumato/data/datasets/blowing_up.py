"""A larger table with the look of a smaller one, for measuring speed: 002 section 5.3, 000 section 5.1.6."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.errors import DatasetError, did_you_mean
from sfumato.randomness import Seeded

_CHUNK = 1 << 20


def blow_up(table: pa.Table, rows: int, *, seed: int, attributes: Sequence[str] | None = None) -> pa.Table:
    """The table's own records, followed by variations of them, `rows` in all.

    For each variation q is drawn uniformly from 1 to the number of attributes, then q of the attributes, and
    each of these gets a value drawn uniformly from the distinct values of its column (missing counts as one
    where it occurs). Records take turns, so `rows = a * len(table)` makes a - 1 variations of each, as in the
    papers. `attributes` are all columns but lists unless named; other columns are repeated as they are.

    >>> small = pa.table({"age": [30, 40], "sex": ["Female", "Male"]})
    >>> blow_up(small, 6, seed=0).slice(0, 2).equals(small), blow_up(small, 6, seed=0).num_rows
    (True, 6)
    """
    names = _varied(table, rows, attributes)
    domains = {name: _domain(table.column(name)) for name in names}
    fresh = rows - table.num_rows
    random = Seeded(seed).generator()
    chunks = [table]
    for start in range(0, fresh, _CHUNK):
        at = np.arange(start, min(start + _CHUNK, fresh), dtype=np.int64) % table.num_rows
        chunks.append(_variations(table, at, domains, random))
    return pa.concat_tables(chunks)


@dataclass(frozen=True, eq=False)
class _Domain:
    """The distinct values of a column, and for each row which it has."""

    values: pa.Array[Any]
    codes: NDArray[np.int32]


def _domain(column: pa.ChunkedArray[Any]) -> _Domain:
    encoded = pa.chunked_array(column).combine_chunks().dictionary_encode(null_encoding="encode")
    return _Domain(encoded.dictionary, encoded.indices.to_numpy(zero_copy_only=False).astype(np.int32))


def _variations(
    table: pa.Table,
    at: NDArray[np.int64],
    domains: dict[str, _Domain],
    random: np.random.Generator,
) -> pa.Table:
    varied = {}
    for (name, domain), chosen in zip(domains.items(), _subsets(len(at), len(domains), random), strict=True):
        codes = domain.codes[at]
        codes[chosen] = random.integers(len(domain.values), size=int(chosen.sum()), dtype=np.int32)
        varied[name] = domain.values.take(codes)
    repeated = table.select([name for name in table.column_names if name not in domains]).take(at)
    return pa.table(
        {name: varied[name] if name in varied else repeated.column(name) for name in table.column_names},
        schema=table.schema,
    )


def _subsets(n: int, m: int, random: np.random.Generator) -> Iterator[NDArray[np.bool_]]:
    """For each of m attributes, which of n variations change it: selection sampling, exact and in n memory.

    Of the attributes still to come each variation takes the next with probability needed / left, which makes
    every set of q equally likely.
    """
    needed = random.integers(1, m + 1, size=n, dtype=np.int32)
    for left in range(m, 0, -1):
        chosen = random.integers(left, size=n, dtype=np.int32) < needed
        needed -= chosen
        yield chosen


def _varied(table: pa.Table, rows: int, attributes: Sequence[str] | None) -> list[str]:
    lists = {field.name for field in table.schema if pa.types.is_nested(field.type)}
    names = [name for name in table.column_names if name not in lists] if attributes is None else [*attributes]
    for name in names:
        if name not in table.column_names or name in lists:
            raise DatasetError(
                "blow_up",
                "the varied attributes are columns of the table that hold no lists",
                given=repr(name),
                remedy=did_you_mean(name, [column for column in table.column_names if column not in lists]),
            )
    if not names or table.num_rows == 0 or rows < table.num_rows:
        raise DatasetError(
            "blow_up",
            "the table grows: it has records and attributes to vary, and `rows` is no less than its rows",
            given=f"rows={rows}, {len(names)} attributes",
            remedy="ask for more rows, or slice the table",
        )
    return names
