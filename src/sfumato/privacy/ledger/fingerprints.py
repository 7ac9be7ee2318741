"""How ledgers of earlier versions knew a table: by a hash of its content after the recipe had changed it.

Kept so that what was spent and released then is not forgotten: see `likeness` for how tables are known now.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.data.table import Column, ItemColumn, Table


def former_fingerprint(table: Table) -> bytes:
    """A hash of the names, the distinct values and the rows of a table, in whatever order they stand.

    A row's hash is the sum of one 64-bit number for each of its values (tabulation hashing: Carter and Wegman 1979),
    drawn from a generator that the names and values seed; the sorted hashes of all rows are hashed again. The same
    rows always give the same bytes. Other rows with the same values give the same by accident with a chance below
    rows / 2^64, and then two tables are counted as one, which costs budget and no privacy.
    """
    names = sorted(table.columns)
    digest = hashlib.sha256()
    for name in names:
        digest.update(_described(name, table.columns[name].values))
    chance = np.random.Generator(np.random.Philox(int.from_bytes(digest.digest()[:16], "little")))
    rows = np.zeros(table.rows, dtype=np.uint64)
    for name in names:
        rows += _row_hashes(table.columns[name], chance)
    digest.update(np.sort(rows).astype("<u8").tobytes())
    return digest.digest()


def _row_hashes(column: Column | ItemColumn, chance: np.random.Generator) -> NDArray[np.uint64]:
    """(rows,): the number of each row's value; of a set, the sum of its items' numbers. Sums wrap around."""
    drawn = chance.integers(0, 2**64, size=len(column.values) + 1, dtype=np.uint64)
    if isinstance(column, Column):
        return drawn[column.codes]
    sums = np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum(drawn[column.codes], dtype=np.uint64)])
    found: NDArray[np.uint64] = sums[column.offsets[1:]] - sums[column.offsets[:-1]]
    found[column.missing_rows] = drawn[-1]
    return found


def _described(name: str, values: pa.Array[Any]) -> bytes:
    """A column's name and its distinct values, so that no two columns look alike.

    Numbers count by their value, not by their type: a table read with whole numbers is known when it comes back with
    the same ones as floating point.
    """
    kind, content = _content(values)
    return json.dumps([name, kind, len(values), len(content)]).encode() + content


def _content(values: pa.Array[Any]) -> tuple[str, bytes]:
    if pa.types.is_integer(values.type) or pa.types.is_floating(values.type):
        numbers = values.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False) + 0.0  # no negative zero
        return "numbers", numbers.astype("<f8").tobytes()
    texts = [str(value) for value in values.to_pylist()]
    return "texts", json.dumps(texts).encode()
