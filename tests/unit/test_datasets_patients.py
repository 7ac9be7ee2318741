"""Generated patients, and tables of MIMIC-III's shape from a folder, joined to one row per patient."""

from __future__ import annotations

import gzip
from collections import Counter
from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pytest

from sfumato.data import datasets
from sfumato.data.datasets import patients
from sfumato.data.datasets.trees import categories, category
from sfumato.data.schema import ItemSet
from sfumato.errors import DatasetError


@pytest.fixture(scope="module")
def tables() -> patients.PatientTables:
    return patients.generate(4000, seed=3)


def _write(tables: patients.PatientTables, folder: Path) -> None:
    """As MIMIC-III has them; one of the three compressed, one with a small header."""
    pyarrow.csv.write_csv(tables.admissions, folder / "ADMISSIONS.csv")
    pyarrow.csv.write_csv(tables.diagnoses, folder / "plain")
    (folder / "DIAGNOSES_ICD.csv.gz").write_bytes(gzip.compress((folder / "plain").read_bytes()))
    small = tables.patients.rename_columns([name.lower() for name in tables.patients.column_names])
    pyarrow.csv.write_csv(small, folder / "PATIENTS.csv")


def _slow_join(tables: patients.PatientTables, *, every: bool) -> list[dict[str, Any]]:
    """The same join in plain loops."""
    stays: dict[int, list[dict[str, Any]]] = {}
    for stay in tables.admissions.to_pylist():
        stays.setdefault(stay["SUBJECT_ID"], []).append(stay)
    codes: dict[int, set[str]] = {}
    for line in tables.diagnoses.to_pylist():
        codes.setdefault(line["HADM_ID"], set()).add(line["ICD9_CODE"])
    rows = []
    for person in sorted(tables.patients.to_pylist(), key=lambda row: int(row["SUBJECT_ID"])):
        mine = sorted(stays[person["SUBJECT_ID"]], key=lambda stay: (stay["ADMITTIME"], stay["HADM_ID"]))
        counted = mine if every else mine[:1]
        rows.append(
            {
                "subject_id": person["SUBJECT_ID"],
                "age": min(_years(person["DOB"], mine[0]["ADMITTIME"]), 90),
                "gender": person["GENDER"],
                "insurance": mine[0]["INSURANCE"],
                "marital_status": mine[0]["MARITAL_STATUS"],
                "diagnoses": sorted(set().union(*(codes[stay["HADM_ID"]] for stay in counted))),
            }
        )
    return rows


def _years(born: datetime, came: datetime) -> int:
    return came.year - born.year - ((came.month, came.day) < (born.month, born.day))


def test_columns_have_the_names_of_mimic(tables: patients.PatientTables) -> None:
    assert tables.patients.column_names == ["ROW_ID", "SUBJECT_ID", "GENDER", "DOB"]
    assert tables.diagnoses.column_names == ["ROW_ID", "SUBJECT_ID", "HADM_ID", "SEQ_NUM", "ICD9_CODE"]
    wanted = {
        "SUBJECT_ID",
        "HADM_ID",
        "ADMITTIME",
        "ADMISSION_TYPE",
        "INSURANCE",
        "ETHNICITY",
        "MARITAL_STATUS",
    }
    assert wanted <= set(tables.admissions.column_names)


def test_the_seed_decides(tables: patients.PatientTables) -> None:
    again, other = patients.generate(4000, seed=3), patients.generate(4000, seed=4)
    assert again.diagnoses.equals(tables.diagnoses)
    assert again.admissions.equals(tables.admissions)
    assert not other.diagnoses.equals(tables.diagnoses)


def test_diagnoses_are_numbered_and_distinct_in_each_admission(tables: patients.PatientTables) -> None:
    numbers: dict[int, list[int]] = {}
    codes: dict[int, list[str]] = {}
    for line in tables.diagnoses.to_pylist():
        numbers.setdefault(line["HADM_ID"], []).append(line["SEQ_NUM"])
        codes.setdefault(line["HADM_ID"], []).append(line["ICD9_CODE"])
    assert all(found == list(range(1, len(found) + 1)) for found in numbers.values())
    assert all(len(found) == len(set(found)) for found in codes.values())
    assert set(numbers) == set(tables.admissions.column("HADM_ID").to_pylist())


def test_codes_are_of_existing_categories(tables: patients.PatientTables) -> None:
    known = set(categories())
    found = tables.diagnoses.column("ICD9_CODE").unique().to_pylist()
    assert {category(str(code)) for code in found} <= known


@pytest.mark.parametrize("every", [False, True])
def test_join_is_what_plain_loops_make(tables: patients.PatientTables, every: bool) -> None:
    wanted = _slow_join(tables, every=every)
    joined = patients.join(tables, diagnoses="all" if every else "first")
    assert joined.select(list(wanted[0])).to_pylist() == wanted


def test_a_higher_age_than_89_is_90(tables: patients.PatientTables) -> None:
    ages = [row["age"] for row in patients.join(tables).to_pylist()]
    years = {row["SUBJECT_ID"]: row["DOB"].year for row in tables.patients.to_pylist() if row["DOB"].year < 1950}
    assert max(ages) == 90
    assert ages.count(90) == len(years) > 0


def test_the_planted_group_comes_only_when_asked_for() -> None:
    plain = datasets.load("patients", rows=300, seed=1)
    grouped = datasets.load("patients", rows=300, seed=1, group=True)
    assert "group" not in plain.table.column_names
    assert set(grouped.table.column("group").to_pylist()) <= set(patients.group_names())
    assert grouped.schema["group"].role == "plain"
    assert grouped.table.drop_columns(["group"]).equals(plain.table)


def test_groups_can_be_found_again() -> None:
    """Each patient's group is guessed from the share of each code in the groups of other patients."""
    rows = datasets.load("patients", rows=4000, seed=2, group=True).table.to_pylist()
    learnt: dict[str, Counter[str]] = {name: Counter() for name in patients.group_names()}
    for row in rows[:2000]:
        learnt[row["group"]].update(row["diagnoses"])
    right = sum(_guess(row["diagnoses"], learnt) == row["group"] for row in rows[2000:])
    assert right / 2000 > 0.85
    newborns = [row for row in rows if row["group"] == "newborn"]
    assert {row["age"] for row in newborns} == {0}
    assert len(newborns) / 4000 == pytest.approx(0.16, abs=0.03)


def _guess(codes: list[str], learnt: dict[str, Counter[str]]) -> str:
    def score(name: str) -> float:
        total = sum(learnt[name].values())
        return sum(learnt[name][code] / total for code in codes)

    return max(learnt, key=score)


def test_a_folder_gives_the_same_rows(tables: patients.PatientTables, tmp_path: Path) -> None:
    _write(tables, tmp_path)
    found = datasets.load("patients", folder=tmp_path)
    assert found.table.equals(patients.join(tables))
    diagnoses = found.schema["diagnoses"]
    assert isinstance(diagnoses, ItemSet)
    assert diagnoses.taxonomy is not None
    assert set(tables.diagnoses.column("ICD9_CODE").to_pylist()) > {"0389"}  # leading zeros survive
    assert "0389" in diagnoses.taxonomy


def test_the_public_list_of_codes_is_the_domain_where_it_is_there(
    tables: patients.PatientTables, tmp_path: Path
) -> None:
    _write(tables, tmp_path)
    listed = '"ROW_ID","ICD9_CODE","SHORT_TITLE"\n1,"01166","TB"\n2,"01170","TB"\n'
    (tmp_path / "D_ICD_DIAGNOSES.csv").write_text(listed, encoding="utf-8")
    diagnoses = datasets.load("patients", folder=tmp_path).schema["diagnoses"]
    assert isinstance(diagnoses, ItemSet)
    assert diagnoses.taxonomy is not None
    assert {"01166", "0389"} <= set(diagnoses.taxonomy.leaves)


def test_missing_files_columns_and_broken_cells_are_refused(tables: patients.PatientTables, tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="ADMISSIONS"):
        patients.read(tmp_path)
    _write(tables, tmp_path)
    (tmp_path / "PATIENTS.csv").write_text("SUBJECT_ID,GENDER\n1,F\n", encoding="utf-8")
    with pytest.raises(DatasetError, match="no DOB"):
        patients.read(tmp_path)
    (tmp_path / "PATIENTS.csv").write_text("SUBJECT_ID,GENDER,DOB\n1,F,yesteryear\n", encoding="utf-8")
    with pytest.raises(DatasetError) as caught:
        patients.read(tmp_path)
    assert "yesteryear" not in str(caught.value)


def test_patients_without_diagnoses_or_admissions(tables: patients.PatientTables) -> None:
    none = patients.PatientTables(
        admissions=tables.admissions.slice(0, 1),
        patients=tables.patients,
        diagnoses=tables.diagnoses.slice(0, 0),
    )
    assert patients.join(none).column("diagnoses").to_pylist() == [[]]


@pytest.mark.parametrize("options", [{"rows": 0}, {"folder": ".", "rows": 5}, {"folder": ".", "group": True}])
def test_nonsense_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(DatasetError):
        datasets.load("patients", **options)


def test_only_generated_patients_have_groups(tables: patients.PatientTables) -> None:
    bare = patients.PatientTables(tables.admissions, tables.patients, tables.diagnoses)
    with pytest.raises(DatasetError, match="planted groups"):
        patients.join(bare, group=True)


def test_types_of_a_row(tables: patients.PatientTables) -> None:
    joined = patients.join(tables)
    assert joined.schema.field("diagnoses").type == pa.list_(pa.string())
    assert joined.schema.field("age").type == pa.int64()
