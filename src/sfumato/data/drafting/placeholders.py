"""Dates and numbers that stand for what is missing: far from all others, and in many rows, as 1900-01-01 or 99999.

They stretch the range of a column for everybody. Whether they mean missing is asked; nothing is taken for it here.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sfumato.data.calendar import DAY
from sfumato.data.drafting.guess import guess
from sfumato.data.drafting.profile import FEW, Profile, profile, read_values
from sfumato.data.schema import Attribute, Number

USUAL_DATES = frozenset(
    {"0001-01-01", "1111-11-11", "1600-01-01", "1753-01-01", "1800-01-01", "1899-12-30", "1899-12-31", "1900-01-01"}
    | {"1901-01-01", "1970-01-01", "2099-12-31", "2100-01-01", "2199-12-31", "2999-01-01", "2999-12-31", "9999-12-31"}
)
_USUAL_GAP, _ANY_GAP = 0.2, 1.0
"""How far from all others, as a part of their span: where it is a usual one, and any other."""
_MANY = 0.002
"""Of the rows: where it is no usual one, so many have it."""


@dataclass(frozen=True)
class Placeholders:
    """The texts at the far ends of a column that may mean missing, as the table writes them, and the others' range.

    `usual`: all of them are usual ones, which are nobody's own and can be named.
    """

    texts: tuple[str, ...]
    range: tuple[float | str, float | str]
    usual: bool


def placeholders(seen: Profile, column: pa.ChunkedArray[Any], attribute: Attribute) -> Placeholders | None:
    """What may mean missing at the ends of a column of numbers or dates; None where nothing looks so."""
    if not isinstance(attribute, Number) or seen.family not in ("number", "moment"):
        return None
    values, order = _numbers(seen), np.argsort(_numbers(seen), kind="stable")
    ends = [at for at in (int(order[0]), int(order[-1])) if len(order) > 3 and _stands_apart(seen, values, at)]
    if not ends:
        return None
    texts = _as_written(seen, column, ends)
    made = guess(profile(seen.name, column, missing=[*seen.marks, *texts])).attribute
    if not texts or not isinstance(made, Number) or made.range is None:
        return None
    return Placeholders(texts, made.range, all(_usual(seen, at) for at in ends))


def _numbers(seen: Profile) -> NDArray[np.float64]:
    values: Any = seen.values
    if seen.family == "moment":
        values = values.cast(pa.timestamp("us", getattr(seen.type, "tz", None))).cast(pa.int64())
    found: NDArray[np.float64] = values.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    return found


def _stands_apart(seen: Profile, values: NDArray[np.float64], at: int) -> bool:
    """Whether many have this one, and no other is near. Nothing (0) is an amount."""
    others = np.delete(values, at)
    inner = others[(others != values.min()) & (others != values.max())]
    span = float(np.ptp(inner)) if len(inner) else 0.0
    gap, usual = float(np.abs(inner - values[at]).min(initial=np.inf)), _usual(seen, at)
    held, most = seen.counts[at], max(FEW, _MANY * sum(seen.counts))
    least = max(span, DAY if seen.family == "moment" else 1.0)
    if seen.family == "number" and values[at] == 0:
        return False
    return held >= FEW and gap > _USUAL_GAP * least if usual else held >= most and gap > _ANY_GAP * least


def _usual(seen: Profile, at: int) -> bool:
    """Whether programs put it where a value is missing: the first or last day that they know, or nines alone."""
    value = seen.values[at].as_py()
    if isinstance(value, date | datetime):
        return value.strftime("%Y-%m-%d").rjust(10, "0") in USUAL_DATES
    digits = f"{abs(float(value)):.2f}".removesuffix(".00").removesuffix(".99")
    return len(digits) > 2 and {*digits} == {"9"}


def _as_written(seen: Profile, column: pa.ChunkedArray[Any], ends: list[int]) -> tuple[str, ...]:
    """The texts of the table that stand for these values."""
    written = profile(seen.name, column, missing=seen.marks, read=False)
    read: Any = read_values(seen.name, written.values)
    if read.type != seen.values.type:
        return ()
    same: Any = pc.is_in(read, value_set=seen.values.take(pa.array(ends)))
    return tuple(sorted(str(text) for text in written.values.cast(pa.string()).filter(same).to_pylist()))
