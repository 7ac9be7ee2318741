"""One row per patient from the three tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import pyarrow as pa

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
