"""The three tables of patients: read from a folder, and joined to one row per patient."""

from __future__ import annotations

import csv
import gzip
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import pyarrow as pa
import pyarrow.compute
import pyarrow.csv

from sfumato.errors import DatasetError

if TYPE_CHECKING:
    import polars as pl

OLDEST = 90  # MIMIC-III moves the birth of whoever is over 89 to 300 years before the first admission
CATEGORIES = (
    "gender",
    "insurance",
    "ethnicity",
    "marital_status",
    "religion",
    "admission_type",
    "admission_location",
)
_TYPES: dict[str, pa.DataType] = {
    "subject_id": pa.int64(),
    "age": pa.int64(),
    **dict.fromkeys(CATEGORIES, pa.string()),
    "diagnoses": pa.list_(pa.string()),
}


@dataclass(frozen=True, eq=False)
class PatientTables:
    """ADMISSIONS, PATIENTS and DIAGNOSES_ICD as in MIMIC-III; `groups` (SUBJECT_ID, GROUP) where planted."""

    admissions: pa.Table
    patients: pa.Table
    diagnoses: pa.Table
    groups: pa.Table | None = None


def join(tables: PatientTables, *, diagnoses: Literal["first", "all"] = "first", group: bool = False) -> pa.Table:
    """One row per patient, in the order of SUBJECT_ID, described by the first admission.

    The first admission is the one with the least ADMITTIME (then HADM_ID). `diagnoses` are the distinct codes
    of that admission, or with "all" those of all the patient's admissions, in alphabetical order. The age is
    in full years at the first admission; whoever is over 89 is 90, since MIMIC-III hides higher ages (as
    300). A patient without an admission is left out; one without a diagnosis has an empty set. `group` adds
    the planted group.
    """
    import polars as pl

    stays = pl.DataFrame(tables.admissions).sort("SUBJECT_ID", "ADMITTIME", "HADM_ID")
    first = stays.unique("SUBJECT_ID", keep="first", maintain_order=True)
    people = pl.DataFrame(tables.patients.select(["SUBJECT_ID", "GENDER", "DOB"]))
    codes = pl.DataFrame(tables.diagnoses.select(["SUBJECT_ID", "HADM_ID", "ICD9_CODE"])).drop_nulls()
    if diagnoses == "first":
        codes = codes.join(first.select("HADM_ID"), on="HADM_ID", how="semi")
    sets = codes.group_by("SUBJECT_ID").agg(pl.col("ICD9_CODE").unique().sort().alias("diagnoses"))
    rows = first.join(people, on="SUBJECT_ID", how="inner", maintain_order="left")
    rows = rows.join(sets, on="SUBJECT_ID", how="left", maintain_order="left")
    rows = rows.with_columns(pl.col("diagnoses").fill_null([]), age=_age())
    joined = rows.rename(str.lower).select(list(_TYPES)).to_arrow().cast(pa.schema(_TYPES))
    return _with_group(joined, tables) if group else joined


def _age() -> pl.Expr:
    """Full years from DOB to ADMITTIME, at most OLDEST."""
    import polars as pl

    born, came = pl.col("DOB").dt, pl.col("ADMITTIME").dt
    before = (came.month() < born.month()) | ((came.month() == born.month()) & (came.day() < born.day()))
    years = came.year().cast(pl.Int64) - born.year().cast(pl.Int64) - before.cast(pl.Int64)
    return pl.min_horizontal(years, pl.lit(OLDEST, dtype=pl.Int64))


def _with_group(joined: pa.Table, tables: PatientTables) -> pa.Table:
    import polars as pl

    if tables.groups is None:
        raise DatasetError(
            "patients",
            "only generated patients have planted groups",
            given="group=True for tables without groups",
            remedy="leave group out, or use patients.generate",
        )
    groups = pl.DataFrame(tables.groups).rename(str.lower)
    frame = pl.DataFrame(joined.select(["subject_id"])).join(groups, on="subject_id", maintain_order="left")
    return joined.append_column("group", frame["group"].to_arrow().cast(pa.string()))


# Reads the tables of MIMIC-III, or others of their shape, from a folder of CSV files.
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
