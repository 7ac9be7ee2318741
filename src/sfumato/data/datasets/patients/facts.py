"""What patients are drawn from: `groups.yaml`, as weights over values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files
from typing import Any

import numpy as np
import pyarrow as pa
import yaml
from numpy.typing import NDArray


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
