"""Draws tables of patients in groups: the planted structure that a clustering should find again."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.data.datasets.patients.facts import Facts, facts
from sfumato.data.datasets.patients.joining import PatientTables
from sfumato.errors import DatasetError
from sfumato.randomness import Seeded

ROWS = 48_612  # as many as 003 section 5.1 retrieved
_MOST_DIAGNOSES = 39  # as in MIMIC-III
_MOST_ADMISSIONS = 12
_FIRST_YEAR, _YEARS = np.datetime64("2100-01-01", "s"), 100  # where MIMIC-III moved its dates to
_DAY = 86_400


def generate(n: int = ROWS, *, seed: int = 0) -> PatientTables:
    """n patients with their admissions and diagnoses; the same for the same seed.

    Names and types of columns are MIMIC-III's (of some columns: those that `join` needs, the row numbers and
    the time of discharge). Every patient belongs to one group (`group_names`), which decides age, sex,
    admission types and the distribution of diagnoses; `groups` tells which. Dates lie in the 22nd century,
    and the birth of whoever is over 89 lies 300 years before the first admission, both as in MIMIC-III.
    """
    if n < 1:
        raise DatasetError("patients", "there is at least one patient", given=f"n={n}", remedy="give n >= 1")
    source, random = facts(), Seeded(seed).generator()
    people = _people(n, source, random)
    stays = _stays(people, source, random)
    return PatientTables(
        admissions=_admissions_table(people, stays, source, random),
        patients=_patients_table(people),
        diagnoses=_diagnoses_table(people, stays, source, random),
        groups=_groups_table(people, source),
    )


def group_names() -> tuple[str, ...]:
    """The planted groups."""
    return facts().groups


@dataclass(frozen=True, eq=False)
class _People:
    """One entry a patient; SUBJECT_ID is the place plus one."""

    group: NDArray[np.int64]
    age: NDArray[np.int64]
    female: NDArray[np.bool_]
    first: NDArray[np.datetime64]  # first admission, in seconds
    birth: NDArray[np.datetime64]
    ethnicity: NDArray[np.int64]
    religion: NDArray[np.int64]

    @property
    def band(self) -> NDArray[np.int64]:
        """Age bands: newborn, to 29, 30 to 64, 65 and above."""
        return np.searchsorted([1, 30, 65], self.age, side="right")


@dataclass(frozen=True, eq=False)
class _Stays:
    """One entry an admission, a patient's in order of time; HADM_ID is the place plus 100,001."""

    person: NDArray[np.int64]
    admitted: NDArray[np.datetime64]
    discharged: NDArray[np.datetime64]

    @property
    def hadm_id(self) -> NDArray[np.int64]:
        """The admissions' numbers."""
        return np.arange(100_001, 100_001 + len(self.person), dtype=np.int64)


def _people(n: int, source: Facts, random: np.random.Generator) -> _People:
    group = random.choice(len(source.groups), size=n, p=source.shares).astype(np.int64)
    mean, sd, lowest, highest = source.age[group].T
    age = np.clip(np.rint(random.normal(mean, sd)), lowest, highest).astype(np.int64)
    first = _FIRST_YEAR + random.integers(_YEARS * 365 * _DAY, size=n).astype("timedelta64[s]")
    nobody = np.zeros(n, dtype=np.int64)
    return _People(
        group=group,
        age=age,
        female=random.random(n) < source.female[group],
        first=first,
        birth=_births(age, first, random),
        ethnicity=source.ethnicity.draw(nobody, random),
        religion=source.religion.draw(nobody, random),
    )


def _births(
    age: NDArray[np.int64], first: NDArray[np.datetime64], random: np.random.Generator
) -> NDArray[np.datetime64]:
    """Midnight of a day that makes the patient `age` years old; newborns come on the day they are born."""
    years = np.where(age > 89, 300, age)
    since = np.where(age == 0, 0, random.integers(3, 360, size=len(age)))
    days = np.floor(years * 365.2425).astype(np.int64) + since
    born: NDArray[np.datetime64] = (first.astype("datetime64[D]") - days).astype("datetime64[s]")
    return born


def _stays(people: _People, source: Facts, random: np.random.Generator) -> _Stays:
    again = random.geometric(1 - source.readmitted[people.group]) - 1
    count = 1 + np.minimum(again, _MOST_ADMISSIONS - 1)
    person = np.repeat(np.arange(len(count), dtype=np.int64), count)
    start = np.repeat(np.cumsum(count) - count, count)
    gap = np.where(np.arange(len(person)) == start, 0, random.integers(30 * _DAY, 400 * _DAY, size=len(person)))
    total = np.cumsum(gap)
    admitted = people.first[person] + (total - total[start]).astype("timedelta64[s]")
    length = (random.gamma(1.5, 5 * _DAY, size=len(person)) + _DAY / 4).clip(max=29 * _DAY)
    return _Stays(person, admitted, admitted + length.astype(np.int64).astype("timedelta64[s]"))


def _patients_table(people: _People) -> pa.Table:
    numbers = np.arange(1, len(people.group) + 1, dtype=np.int64)
    gender = pa.array(["M", "F"]).take(people.female.astype(np.int64))
    return pa.table({"ROW_ID": numbers, "SUBJECT_ID": numbers, "GENDER": gender, "DOB": pa.array(people.birth)})


def _admissions_table(people: _People, stays: _Stays, source: Facts, random: np.random.Generator) -> pa.Table:
    kind = source.admission_type.draw(people.group[stays.person], random)
    band = people.band[stays.person]
    return pa.table(
        {
            "ROW_ID": np.arange(1, len(kind) + 1, dtype=np.int64),
            "SUBJECT_ID": stays.person + 1,
            "HADM_ID": stays.hadm_id,
            "ADMITTIME": pa.array(stays.admitted),
            "DISCHTIME": pa.array(stays.discharged),
            "ADMISSION_TYPE": source.admission_type.texts(kind),
            "ADMISSION_LOCATION": source.location.texts(source.location.draw(kind, random)),
            "INSURANCE": source.insurance.texts(source.insurance.draw(band, random)),
            "RELIGION": source.religion.texts(people.religion[stays.person]),
            "MARITAL_STATUS": source.marital_status.texts(source.marital_status.draw(band, random)),
            "ETHNICITY": source.ethnicity.texts(people.ethnicity[stays.person]),
        }
    )


def _diagnoses_table(people: _People, stays: _Stays, source: Facts, random: np.random.Generator) -> pa.Table:
    """The principal diagnosis first; one drawn twice in an admission is kept once."""
    group = people.group[stays.person]
    count = np.minimum(1 + random.poisson(source.diagnoses[group]), _MOST_DIAGNOSES)
    stay = np.repeat(np.arange(len(group), dtype=np.int64), count)
    first = np.cumsum(count) - count
    code = source.secondary.draw(group[stay], random)
    code[first] = source.principal.draw(group, random)
    keys = stay * len(source.codes) + code
    kept = np.sort(np.unique(keys, return_index=True)[1])
    stay, code = stay[kept], code[kept]
    place = np.arange(len(stay), dtype=np.int64)
    begins = np.searchsorted(stay, np.arange(len(group), dtype=np.int64))
    return pa.table(
        {
            "ROW_ID": place + 1,
            "SUBJECT_ID": stays.person[stay] + 1,
            "HADM_ID": stays.hadm_id[stay],
            "SEQ_NUM": place - begins[stay] + 1,
            "ICD9_CODE": source.principal.texts(code),
        }
    )


def _groups_table(people: _People, source: Facts) -> pa.Table:
    names = pa.array(source.groups).take(people.group)
    return pa.table({"SUBJECT_ID": np.arange(1, len(people.group) + 1, dtype=np.int64), "GROUP": names})
