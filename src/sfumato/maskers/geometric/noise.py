"""Noise from a secret: the holder can draw the same again, nobody else can."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import RecipeError
from sfumato.maskers.geometric.operations import Columns, Floats
from sfumato.maskers.limits import LARGE
from sfumato.randomness import Secure, Seeded

How = Literal["add", "multiply"]


@dataclass(frozen=True)
class Chance:
    """Numbers drawn from a secret of 256 bits by SHAKE-256; the same label gives the same numbers.

    >>> Chance.of(7).uniform("angle", 2).tolist() == Chance.of(7).uniform("angle", 2).tolist()
    True
    """

    secret: str

    @classmethod
    def of(cls, seed: int | None) -> Chance:
        """A fresh secret from the operating system, or the one that belongs to a seed."""
        return cls((Secure() if seed is None else Seeded(seed)).token().hex())

    def below(self, label: str) -> Chance:
        """A secret of its own for one purpose; it does not tell of the others."""
        return Chance(hashlib.sha256(f"{self.secret} {label}".encode()).hexdigest())

    def uniform(self, label: str, n: int) -> Floats:
        """(n,): numbers strictly between 0 and 1, in steps of 2^-53."""
        bits = hashlib.shake_256(f"{self.secret}/{label}".encode()).digest(8 * n)
        return ((np.frombuffer(bits, dtype="<u8") >> 12).astype(np.float64) + 0.5) / 2.0**52


@dataclass(frozen=True)
class Distribution:
    """Normal with a mean and a standard deviation, or uniform between two ends.

    >>> Distribution.of("age", {"uniform": [-12, 18]}).mean
    3.0
    """

    kind: Literal["normal", "uniform"]
    first: float
    second: float

    @classmethod
    def of(cls, name: str, form: Mapping[str, Any]) -> Distribution:
        """From {"normal": [mean, standard deviation]} or {"uniform": [lowest, highest]}."""
        wrong = RecipeError(name, "noise is {normal: [mean, standard deviation]} or {uniform: [lowest, highest]}",
                            given=repr(form), remedy="write for example {normal: [0, 10]}")  # fmt: skip
        if not isinstance(form, Mapping) or len(form) != 1:
            raise wrong
        kind, pair = next(iter(form.items()))
        if kind not in ("normal", "uniform") or not isinstance(pair, list | tuple) or len(pair) != 2:
            raise wrong
        if not all(isinstance(x, int | float) and not isinstance(x, bool) and -LARGE <= x <= LARGE for x in pair):
            raise wrong
        if (kind == "normal" and pair[1] <= 0) or (kind == "uniform" and pair[0] >= pair[1]):
            raise wrong
        return cls("normal" if kind == "normal" else "uniform", float(pair[0]), float(pair[1]))

    @property
    def mean(self) -> float:
        """Its mean."""
        return self.first if self.kind == "normal" else (self.first + self.second) / 2

    @property
    def variance(self) -> float:
        """Its variance."""
        return self.second**2 if self.kind == "normal" else (self.second - self.first) ** 2 / 12

    def draw(self, uniform: Floats) -> Floats:
        """One draw for each uniform number."""
        if self.kind == "uniform":
            return self.first + uniform * (self.second - self.first)
        from scipy.special import ndtri

        return np.asarray(self.first + self.second * ndtri(uniform), dtype=np.float64)

    def to_json(self) -> dict[str, list[float]]:
        """The form that `of` reads."""
        return {self.kind: [self.first, self.second]}


@dataclass(frozen=True)
class Noise:
    """Noise on a share of the rows, drawn row by row from a secret (004 section 5.4; share 1 is section 3.1's).

    Which rows, and how much, follows from the secret and from how many rows there are, not from their values.
    """

    share: float
    distributions: Mapping[str, Distribution]
    chance: Chance
    how: How = "add"

    def touched(self, rows: int) -> NDArray[np.bool_]:
        """(rows,): the rows that get noise; their number is the share, rounded."""
        found = np.zeros(rows, dtype=np.bool_)
        order = np.argsort(self.chance.uniform("rows", rows), kind="stable")
        found[order[: round(self.share * rows)]] = True
        return found

    def forward(self, columns: Columns) -> dict[str, Floats]:
        """Columns with noise."""
        return self._change(columns, back=False)

    def back(self, columns: Columns) -> dict[str, Floats]:
        """Columns without it, if the rows stand in the order in which they got it."""
        return self._change(columns, back=True)

    def _change(self, columns: Columns, *, back: bool) -> dict[str, Floats]:
        found = dict(columns)
        for name, distribution in self.distributions.items():
            column = columns[name]
            touched = self.touched(len(column))
            drawn = distribution.draw(self.chance.uniform(f"noise {name}", len(column)))
            if self.how == "add":
                found[name] = np.where(touched, column - drawn if back else column + drawn, column)
            else:
                found[name] = np.where(touched, column / drawn if back else column * drawn, column)
        return found

    def to_json(self) -> dict[str, Any]:
        """Its part of the key."""
        draws = {name: distribution.to_json() for name, distribution in self.distributions.items()}
        return {"share": self.share, "how": self.how, "distributions": draws, "secret": self.chance.secret}

    @classmethod
    def from_json(cls, form: Mapping[str, Any]) -> Noise:
        """What `to_json` wrote."""
        draws = {name: Distribution.of(name, part) for name, part in form["distributions"].items()}
        return cls(float(form["share"]), draws, Chance(form["secret"]), form["how"])
