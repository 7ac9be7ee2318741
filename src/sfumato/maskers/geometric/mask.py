"""Transformation: the mask of a geometric masker. The holder can take it back; the release tells nothing of it.

Its noise comes from a secret: the holder can draw the same again, nobody else can.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.arrays import Floats
from sfumato.data.masked import Masked
from sfumato.data.table import AnyColumn, Table
from sfumato.errors import RecipeError
from sfumato.maskers.geometric.operations import (
    Columns,
    Operation,
    numbers_in,
    of_arrow,
    operation_from,
    run,
    to_arrow,
    undo,
)
from sfumato.maskers.masker import LARGE, Mask, refuse_lifted
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

    >>> Distribution.of("age", {"uniform": [-12, 18]})
    Distribution(kind='uniform', first=-12.0, second=18.0)
    """

    kind: Literal["normal", "uniform"]
    first: float
    second: float

    @classmethod
    def of(cls, name: str, form: Mapping[str, Any]) -> Distribution:
        """From {"normal": [mean, standard deviation]} or {"uniform": [lowest, highest]}."""
        wrong = RecipeError(
            name,
            "noise is {normal: [mean, standard deviation]} or {uniform: [lowest, highest]}",
            given=repr(form),
            remedy="write for example {normal: [0, 10]}",
        )
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


KEY = "key.json"
"""The file of the holder's folder that takes a transformation back."""
Rounding = Literal["nearest", "truncate"]


@dataclass(frozen=True)
class Frame:
    """The scale in which an attribute is transformed: (value - centre) / unit; it comes out in its own unit again.

    `whole` says that its raw values are whole numbers.
    """

    centre: float = 0.0
    unit: float = 1.0
    whole: bool = False


@dataclass(frozen=True)
class Transformation(Mask):
    """Operations on the attributes of `frames`, then noise, then rounding. Plain JSON as the holder's key.

    >>> from sfumato.maskers.geometric.operations import Add
    >>> moved = Transformation("translate", {"age": Frame(whole=True)}, (Add("age", -3.0),))
    >>> moved.invert(Masked.of({"age": pa.array([26.0, None])}))["age"].to_pylist()
    [29, None]
    """

    kind: str
    frames: Mapping[str, Frame]
    operations: tuple[Operation, ...] = ()
    noises: tuple[Noise, ...] = ()
    rounding: Mapping[str, Rounding] = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        """The attributes that are transformed."""
        return tuple(self.frames)

    def files(self) -> dict[str, Any]:
        """Nothing: whatever told of the transformation would help to undo it."""
        return {}

    def apply(self, table: Table, *, unseen: str = "refuse", lifted: NDArray[np.bool_] | None = None) -> Masked:
        """The transformed rows of a table; of the table that was published, those that were released.

        Noise belongs to the place of a row: new rows get the noise of the old ones in the same places.
        """
        refuse_lifted(lifted)
        return self.shown(self.forward({name: numbers_in(table, name) for name in self.frames}))

    def shown(self, numbers: Columns) -> Masked:
        """Transformed numbers as they are released: rounded where that is asked."""
        arrays = {name: to_arrow(column, self.rounding.get(name)) for name, column in numbers.items()}
        return Masked.of(arrays, word="transformed", came="moved")

    def forward(self, columns: Columns) -> dict[str, Floats]:
        """Numbers transformed, not yet rounded."""
        found = self._outside(run(self.operations, self._inside(columns)))
        for noise in self.noises:
            found = noise.forward(found)
        return found

    def invert(self, columns: Mapping[str, AnyColumn], *, in_order: bool = True) -> dict[str, pa.Array[Any]]:
        """The columns before; what was rounded comes back up to that rounding.

        `in_order`: the rows stand in the order of the published table, so that noise is taken back too. Rows of
        a release are shuffled: say False, and the rows that got noise keep it.
        """
        found: dict[str, Floats] = {name: of_arrow(columns[name].decode()) for name in self.frames}
        for noise in reversed(self.noises if in_order else ()):
            found = noise.back(found)
        raw = self._outside(undo(self.operations, self._inside(found)))
        return {name: to_arrow(raw[name], "nearest" if frame.whole else None) for name, frame in self.frames.items()}

    def touched(self, rows: int) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """(rows,): the rows of the published table that got noise."""
        found = np.zeros(rows, dtype=np.bool_)
        for noise in self.noises:
            found |= noise.touched(rows)
        return found

    def _inside(self, columns: Columns) -> dict[str, Floats]:
        return {name: (columns[name] - frame.centre) / frame.unit for name, frame in self.frames.items()}

    def _outside(self, columns: Columns) -> dict[str, Floats]:
        return {name: columns[name] * frame.unit + frame.centre for name, frame in self.frames.items()}

    def to_json(self) -> dict[str, Any]:
        """The content of key.json."""
        return {
            "kind": self.kind,
            "frames": {name: asdict(frame) for name, frame in self.frames.items()},
            "operations": [operation.to_json() for operation in self.operations],
            "noises": [noise.to_json() for noise in self.noises],
            "rounding": dict(self.rounding),
        }

    @classmethod
    def from_json(cls, form: Mapping[str, Any]) -> Transformation:
        """Read key.json."""
        return cls(
            str(form["kind"]),
            {name: Frame(**part) for name, part in form["frames"].items()},
            tuple(operation_from(part) for part in form["operations"]),
            tuple(Noise.from_json(part) for part in form["noises"]),
            dict(form["rounding"]),
        )
