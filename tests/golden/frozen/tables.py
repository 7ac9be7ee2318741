"""The tables of the frozen releases: a few hundred rows of the bundled ones, the same every time."""

from __future__ import annotations

from datetime import date, timedelta
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as csv
import pyarrow.parquet as pq

import sfumato as sf

SEPARATOR = ";"
"""Between the items of a set, where it is written as CSV."""


@cache
def whole(name: str) -> pa.Table:
    """A bundled table with all its rows; Adult has a day of birth and a number for each person besides."""
    table = sf.datasets.load(name).table
    if name != "adult":
        return table
    facts: list[dict[str, Any]] = table.select(["age", "fnlwgt"]).to_pylist()
    born = [date(2026, 1, 1) - timedelta(days=365 * row["age"] + row["fnlwgt"] % 365) for row in facts]
    return table.append_column("born", pa.array(born)).append_column("person", pa.array(range(table.num_rows)))


def table_of(name: str, columns: list[str], rows: int) -> pa.Table:
    """The first rows of some columns of a table."""
    return whole(name).slice(0, rows).select(columns).combine_chunks()


def write_table(table: pa.Table, path: Path) -> None:
    """As its holder has it: Parquet or CSV, as the file's name says."""
    if path.suffix == ".parquet":
        pq.write_table(table, path)
        return
    for at, field in enumerate(table.schema):
        if pa.types.is_list(field.type):
            joined: Any = pc.binary_join(table[field.name], SEPARATOR)
            table = table.set_column(at, field.name, joined)
    csv.write_csv(table, path)
