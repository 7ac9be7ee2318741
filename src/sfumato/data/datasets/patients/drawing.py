"""Draws tables of patients in groups: the planted structure that a clustering should find again.

`facts` has what is drawn from, as groups.yaml tells it, and `schema` what the attributes are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files
from typing import Any

import numpy as np
import pyarrow as pa
import yaml
from numpy.typing import NDArray

from sfumato.data.datasets.patients.tables import CATEGORIES, OLDEST, PatientTables
from sfumato.data.datasets.trees import icd9
from sfumato.data.schema import Attribute, Category, ItemSet, Number, Schema
from sfumato.errors import DatasetError
from sfumato.randomness import Seeded

MOST = 40
"""No generated patient has more diagnoses."""
ROWS = 48_612  # as many as 003 section 5.1 retrieved
_MOST_DIAGNOSES = 39  # as in MIMIC-III
_MOST_ADMISSIONS = 12
_DAY = 86_400
_FIRST_YEAR, _YEARS = np.datetime64("2100-01-01", "s"), 100  # where MIMIC-III moved its dates to


@dataclass(frozen=True, eq=False)
class Lottery:
    """Values and, for each class of rows, the weight of every value."""

    values: tuple[str, ...]
    weights: NDArray[np.float64]  # classes x values

    @classmethod
    def of(cls, tables: Sequence[Mapping[str, float]]) -> Lottery:
        """One mapping of values to weights a class; `values` are those of all classes together."""
        values = tuple(dict.fromkeys(value for table in tables for value in table))
        return cls(values, np.array([[table.get(value, 0.0) for value in values] for table in tables]))

    @cached_property
    def _cumulative(self) -> NDArray[np.float64]:
        sums = self.weights.cumsum(axis=1)
        shares: NDArray[np.float64] = sums / sums[:, -1:]
        return shares

    def draw(self, classes: NDArray[np.int64], random: np.random.Generator) -> NDArray[np.int64]:
        """For each row the place of a value drawn by the weights of the row's class."""
        chance = random.random(len(classes))
        places = np.zeros(len(classes), dtype=np.int64)
        for at, shares in enumerate(self._cumulative):
            rows = classes == at
            places[rows] = np.searchsorted(shares, chance[rows], side="right")
        return places

    def texts(self, places: NDArray[np.int64]) -> pa.Array[Any]:
        """The values at places; the empty value is missing."""
        return pa.array([value or None for value in self.values], pa.string()).take(places)


@dataclass(frozen=True, eq=False)
class Facts:
    """All weights, with one class a group where not said otherwise."""

    groups: tuple[str, ...]
    shares: NDArray[np.float64]
    age: NDArray[np.float64]  # groups x (mean, sd, lowest, highest)
    female: NDArray[np.float64]
    readmitted: NDArray[np.float64]
    diagnoses: NDArray[np.float64]
    principal: Lottery
    secondary: Lottery
    admission_type: Lottery
    location: Lottery  # one class an admission type
    insurance: Lottery  # one class an age band
    marital_status: Lottery  # one class an age band
    ethnicity: Lottery  # one class
    religion: Lottery  # one class

    @property
    def codes(self) -> tuple[str, ...]:
        """All diagnosis codes that can be drawn; both lotteries of diagnoses use these places."""
        return self.principal.values


@cache
def facts() -> Facts:
    """The facts, read once."""
    text = files(__package__).joinpath("groups.yaml").read_text(encoding="utf-8")
    raw: dict[str, Any] = yaml.safe_load(text)
    groups: list[dict[str, Any]] = list(raw["groups"].values())
    background = _ranked(raw["background"])
    principal = [_ranked(group["principal"]) for group in groups]
    secondary = [_mixed(_ranked(group["secondary"]), background, group["background"]) for group in groups]
    diagnoses = Lottery.of([*principal, *secondary])
    types = Lottery.of([group["admission_type"] for group in groups])
    return Facts(
        groups=tuple(raw["groups"]),
        shares=_column(groups, "share") / _column(groups, "share").sum(),
        age=np.array([list(group["age"].values()) for group in groups], dtype=np.float64),
        female=_column(groups, "female") / 100,
        readmitted=_column(groups, "readmitted") / 100,
        diagnoses=_column(groups, "diagnoses"),
        principal=Lottery(diagnoses.values, diagnoses.weights[: len(groups)]),
        secondary=Lottery(diagnoses.values, diagnoses.weights[len(groups) :]),
        admission_type=types,
        location=Lottery.of([raw["admission_location"][kind] for kind in types.values]),
        insurance=Lottery.of(raw["insurance"]),
        marital_status=Lottery.of(raw["marital_status"]),
        ethnicity=Lottery.of(raw["ethnicity"]),
        religion=Lottery.of(raw["religion"]),
    )


def _column(groups: Sequence[Mapping[str, Any]], name: str) -> NDArray[np.float64]:
    return np.array([group[name] for group in groups], dtype=np.float64)


def _ranked(codes: str) -> dict[str, float]:
    """The code at place r weighs 1/r; all weights add to one."""
    weights = 1 / np.arange(1, len(codes.split()) + 1)
    return dict(zip(codes.split(), (weights / weights.sum()).tolist(), strict=True))


def _mixed(own: Mapping[str, float], background: Mapping[str, float], percent: float) -> dict[str, float]:
    share = percent / 100
    both = dict.fromkeys((*own, *background), 0.0)
    return {code: (1 - share) * own.get(code, 0) + share * background.get(code, 0) for code in both}


# What the attributes of joined patients are.


def schema(*, codes: Iterable[str] | None = None, group: bool = False) -> Schema:
    """All is quasi-identifying but subject_id, which identifies, and the planted group, which is plain.

    Without `codes` it describes generated patients, with all their domains declared. With `codes` it
    describes other patients: the codes hang in the tree of diagnoses, the categories' values are left open.
    """
    domains = _domains(facts()) if codes is None else dict.fromkeys(CATEGORIES)
    tree = icd9(codes=facts().codes if codes is None else codes)
    attributes: dict[str, Attribute] = {
        "subject_id": Category(role="identifier"),
        "age": Number(role="quasi", range=(0, OLDEST), integer=True),
        **{name: Category(role="quasi", values=domains[name]) for name in CATEGORIES},
        "diagnoses": ItemSet(role="quasi", taxonomy=tree, most=MOST if codes is None else None),
    }
    return Schema(attributes | ({"group": Category(values=facts().groups)} if group else {}))


def _domains(source: Facts) -> dict[str, tuple[str, ...] | None]:
    return {
        "gender": ("F", "M"),
        "insurance": source.insurance.values,
        "ethnicity": source.ethnicity.values,
        "marital_status": tuple(value for value in source.marital_status.values if value),
        "religion": source.religion.values,
        "admission_type": source.admission_type.values,
        "admission_location": source.location.values,
    }


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
