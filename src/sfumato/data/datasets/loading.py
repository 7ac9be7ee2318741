"""Tables to try things on: `load` has a bundled, found or generated one by its name, `blow_up` a larger one like it.

`merge` makes Adult's set-valued attribute, after section 5.1 of the paper on DPHeter (003).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from sfumato.data.datasets import crx, patients, schemas
from sfumato.data.schema import Schema
from sfumato.errors import DatasetError, did_you_mean
from sfumato.randomness import Seeded

_UCI = "UCI Machine Learning Repository. CC BY 4.0."
_ADULT = f"Becker, B. and Kohavi, R. (1996). Adult. {_UCI} https://doi.org/10.24432/C5XW20"
_CITATIONS = {
    "adult": _ADULT,
    "adult_heterogeneous": f"{_ADULT}. Records merged as in section 5.1 of the paper on DPHeter.",
    "crx": f"Quinlan, J. R. (1987). Credit Approval. {_UCI} https://doi.org/10.24432/C5FS30",
    "german": f"Hofmann, H. (1994). Statlog (German Credit Data). {_UCI} https://doi.org/10.24432/C5NC77",
    "iris": f"Fisher, R. A. (1936). Iris. {_UCI} https://doi.org/10.24432/C56C76",
    "wine": f"Aeberhard, S. and Forina, M. (1992). Wine. {_UCI} https://doi.org/10.24432/C5PC7J",
    "zoo": f"Forsyth, R. (1990). Zoo. {_UCI} https://doi.org/10.24432/C5R59V",
    "patients": "Generated. Shape of the tables: Johnson, A. E. W. et al. (2016). MIMIC-III, a freely "
    "accessible critical care database. Scientific Data 3, 160035.",
}
_SCHEMAS: dict[str, Callable[[], Schema]] = {
    "adult": schemas.adult,
    "adult_heterogeneous": schemas.adult_heterogeneous,
    "crx": schemas.crx,
    "german": schemas.german,
    "iris": schemas.iris,
    "wine": schemas.wine,
    "zoo": schemas.zoo,
}
DROPPED = ("fnlwgt", "capital_gain", "capital_loss", "income", "split")
_CHUNK = 1 << 20


@dataclass(frozen=True, eq=False)
class Dataset:
    """A table with its description, and whom to cite for it."""

    name: str
    table: pa.Table
    schema: Schema
    citation: str


def names() -> tuple[str, ...]:
    """All that `load` knows.

    >>> names()
    ('adult', 'adult_heterogeneous', 'crx', 'german', 'iris', 'wine', 'zoo', 'patients')
    """
    return tuple(_CITATIONS)


def load(
    name: str,
    *,
    complete: bool | None = None,
    rows: int | None = None,
    seed: int | None = None,
    folder: str | Path | None = None,
    group: bool = False,
) -> Dataset:
    """A table by name: raw values, missing ones null, sets as lists.

    `complete=True` keeps only records without a missing value (the default of "adult_heterogeneous", as in
    the paper; of the others all records). "patients" alone takes the rest: `rows` and `seed` for generated
    ones (48,612 and 0 unless given), `group=True` for their planted group, or `folder` for the CSV files of
    MIMIC-III.

    >>> adult = load("adult")
    >>> adult.table.num_rows, load("adult", complete=True).table.num_rows
    (48842, 45222)
    """
    if name not in _CITATIONS:
        raise DatasetError("dataset", "this is no known table", given=repr(name), remedy=did_you_mean(name, names()))
    if name == "patients":
        return _patients(complete, rows=rows, seed=seed, folder=folder, group=group)
    if rows is not None or seed is not None or folder is not None or group:
        raise DatasetError(
            name,
            "only 'patients' takes rows, seed, folder and group",
            given="one of them",
            remedy="leave it out (datasets.blow_up makes a table larger)",
        )
    return Dataset(name, _table(name, complete), _SCHEMAS[name](), _CITATIONS[name])


def _table(name: str, complete: bool | None) -> pa.Table:
    if name == "adult_heterogeneous":
        records = _bundled("adult")
        return merge(records if complete is False else records.drop_null())
    table = crx.read() if name == "crx" else _bundled(name)
    return table.drop_null() if complete else table


def _bundled(name: str) -> pa.Table:
    with as_file(files(__package__).joinpath(f"{name}.parquet")) as path:
        return pq.read_table(path)


def _patients(
    complete: bool | None, *, rows: int | None, seed: int | None, folder: str | Path | None, group: bool
) -> Dataset:
    if folder is None:
        tables = patients.generate(patients.ROWS if rows is None else rows, seed=seed or 0)
        table, schema = patients.join(tables, group=group), patients.schema(group=group)
    elif rows is not None or seed is not None or group:
        raise DatasetError(
            "patients",
            "rows, seed and group are for generated patients",
            given="one of them beside folder",
            remedy="leave it out, or leave folder out",
        )
    else:
        table = patients.read(folder)
        schema = patients.schema(codes=patients.known_codes(folder, table))
    return Dataset("patients", table.drop_null() if complete else table, schema, _CITATIONS["patients"])


def merge(table: pa.Table, *, items: str = "occupation", dropped: Sequence[str] = DROPPED) -> pa.Table:
    """Records equal in everything but `items` become one, whose `items` is the set of theirs.

    `dropped` columns go first. Rows stand where their first record stood, items in alphabetical order.
    Missing values equal each other; a missing item joins no set, and a set of missing items only is itself
    missing.

    >>> jobs = pa.table({"age": [30, 40, 30], "occupation": ["Sales", "Sales", "Craft-repair"]})
    >>> merge(jobs, dropped=[]).to_pylist()
    [{'age': 30, 'occupation': ['Craft-repair', 'Sales']}, {'age': 40, 'occupation': ['Sales']}]
    """
    import polars as pl

    kept = table.drop_columns([name for name in dropped if name in table.column_names])
    keys = [name for name in kept.column_names if name != items]
    frame = pl.DataFrame(kept).group_by(keys, maintain_order=True)
    merged = frame.agg(pl.col(items).drop_nulls().unique().sort())
    known = pl.when(pl.col(items).list.len() > 0).then(pl.col(items))
    arrow = merged.with_columns(known.alias(items)).select(kept.column_names).to_arrow()
    listed = pa.field(items, pa.list_(kept.schema.field(items).type))
    return arrow.cast(kept.schema.set(kept.schema.get_field_index(items), listed))


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
