"""`load`: a bundled, found or generated table by its name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from sfumato.data.datasets import crx, heterogeneous, patients, schemas
from sfumato.data.schema import Schema
from sfumato.errors import DatasetError, did_you_mean

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
        return heterogeneous.merge(records if complete is False else records.drop_null())
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
