"""Transformation: the mask of a geometric masker. The holder can take it back; the release tells nothing of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

import numpy as np
import pyarrow as pa

from sfumato.data.table import Table
from sfumato.maskers.geometric.noise import Noise
from sfumato.maskers.geometric.numbers import numbers_in, of_arrow, to_arrow
from sfumato.maskers.geometric.operations import Columns, Floats, Operation, operation_from, run, undo

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
class Transformation:
    """Operations on the attributes of `frames`, then noise, then rounding. Plain JSON as the holder's key.

    >>> from sfumato.maskers.geometric.operations import Add
    >>> moved = Transformation("translate", {"age": Frame(whole=True)}, (Add("age", -3.0),))
    >>> moved.invert({"age": pa.array([26.0, None])})["age"].to_pylist()
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

    def apply(self, table: Table, *, unseen: str = "refuse") -> dict[str, pa.Array[Any]]:
        """The transformed columns of a table; of the table that was published, those that were released.

        Noise belongs to the place of a row: new rows get the noise of the old ones in the same places.
        """
        return {
            name: to_arrow(column, self.rounding.get(name))
            for name, column in self.forward({name: numbers_in(table, name) for name in self.frames}).items()
        }

    def forward(self, columns: Columns) -> dict[str, Floats]:
        """Numbers transformed, not yet rounded."""
        found = self._outside(run(self.operations, self._inside(columns)))
        for noise in self.noises:
            found = noise.forward(found)
        return found

    def invert(self, columns: Mapping[str, pa.Array[Any]], *, in_order: bool = True) -> dict[str, pa.Array[Any]]:
        """The columns before; what was rounded comes back up to that rounding.

        `in_order`: the rows stand in the order of the published table, so that noise is taken back too. Rows of
        a release are shuffled: say False, and the rows that got noise keep it.
        """
        found: dict[str, Floats] = {name: of_arrow(columns[name]) for name in self.frames}
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
