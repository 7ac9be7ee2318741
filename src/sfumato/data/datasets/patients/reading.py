"""Reads the tables of MIMIC-III, or others of their shape, from a folder of CSV files."""

from __future__ import annotations

import csv
import gzip
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

import pyarrow as pa
import pyarrow.compute
import pyarrow.csv

from sfumato.data.datasets.patients.joining import PatientTables, join
from sfumato.errors import DatasetError

_TIME = pa.timestamp("s")
_ADMISSIONS: Mapping[str, pa.DataType] = {
    "SUBJECT_ID": pa.int64(),
    "HADM_ID": pa.int64(),
    "ADMITTIME": _TIME,
    "ADMISSION_TYPE": pa.string(),
    "ADMISSION_LOCATION": pa.string(),
    "INSURANCE": pa.string(),
    "RELIGION": pa.string(),
    "MARITAL_STATUS": pa.string(),
    "ETHNICITY": pa.string(),
}
_PATIENTS: Mapping[str, pa.DataType] = {"SUBJECT_ID": pa.int64(), "GENDER": pa.string(), "DOB": _TIME}
_DIAGNOSES: Mapping[str, pa.DataType] = {
    "SUBJECT_ID": pa.int64(),
    "HADM_ID": pa.int64(),
    "ICD9_CODE": pa.string(),
}


def read(folder: str | Path, *, diagnoses: Literal["first", "all"] = "first") -> pa.Table:
    """One row per patient (see `join`) from ADMISSIONS, PATIENTS and DIAGNOSES_ICD as .csv or .csv.gz."""
    return join(read_tables(folder), diagnoses=diagnoses)


def read_tables(folder: str | Path) -> PatientTables:
    """The three tables, of each the columns that `join` needs; headers in capitals or not."""
    return PatientTables(
        admissions=_read(_path(Path(folder), "ADMISSIONS"), _ADMISSIONS),
        patients=_read(_path(Path(folder), "PATIENTS"), _PATIENTS),
        diagnoses=_read(_path(Path(folder), "DIAGNOSES_ICD"), _DIAGNOSES),
    )


def known_codes(folder: str | Path, table: pa.Table) -> tuple[str, ...]:
    """The codes of D_ICD_DIAGNOSES, the register's public list, and those in the table that it lacks.

    Where that file is not in the folder the codes are the table's alone: a domain learned from the data,
    which differential privacy must not use.
    """
    path = _find(Path(folder), "D_ICD_DIAGNOSES")
    listed = [] if path is None else _read(path, {"ICD9_CODE": pa.string()}).column("ICD9_CODE").to_pylist()
    present = pyarrow.compute.list_flatten(table.column("diagnoses")).unique().to_pylist()
    return tuple(sorted({str(code) for code in (*listed, *present) if code is not None}))


def _find(folder: Path, name: str) -> Path | None:
    return next((path for end in (".csv", ".csv.gz") if (path := folder / f"{name}{end}").is_file()), None)


def _path(folder: Path, name: str) -> Path:
    path = _find(folder, name)
    if path is None:
        raise DatasetError(
            "patients",
            "the folder holds ADMISSIONS, PATIENTS and DIAGNOSES_ICD, each as .csv or .csv.gz",
            given=f"no {name}.csv or {name}.csv.gz in {folder}",
            remedy="give the folder of MIMIC-III's CSV files, or leave folder out for generated patients",
        )
    return path


def _read(path: Path, types: Mapping[str, pa.DataType]) -> pa.Table:
    spelt = {name.upper(): name for name in _header(path)}
    missing = [name for name in types if name not in spelt]
    if missing:
        raise DatasetError(
            "patients",
            f"{path.name} has the columns {', '.join(types)}",
            given=f"no {', '.join(missing)}",
            remedy="give the file as MIMIC-III has it",
        )
    wanted = {spelt[name]: kind for name, kind in types.items()}
    options = pyarrow.csv.ConvertOptions(
        column_types=wanted, include_columns=list(wanted), strings_can_be_null=True, null_values=[""]
    )
    parsing = pyarrow.csv.ParseOptions(newlines_in_values=True)
    try:
        table = pyarrow.csv.read_csv(path, convert_options=options, parse_options=parsing)
    except pa.ArrowInvalid:
        raise DatasetError(
            "patients",
            f"the columns of {path.name} hold whole numbers, texts and times such as 2101-10-20 19:08:00",
            given="a cell that does not",
            remedy="give the file as MIMIC-III has it",
        ) from None
    return table.rename_columns(list(types))


def _header(path: Path) -> list[str]:
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8") as lines:
        return next(csv.reader(lines), [])
