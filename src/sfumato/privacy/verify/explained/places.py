"""Where the values of a column stand, as centres.json tells it: on a scale, in a book of labels, or by sets."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sfumato.privacy.verify.explained.bags import MOST, SIGNIFICANT, Bags, bags
from sfumato.privacy.verify.fields import Form, exact_keys, field, mapping
from sfumato.privacy.verify.spelling import Spelling
from sfumato.privacy.verify.verdict import CheckError

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

BLOCK = 2**22  # numbers that are held at once
DIGITS = 4  # of a coordinate, after the point
TRUTH = {"true": "True", "false": "False"}  # how a text file writes what stands in a book


@dataclass(frozen=True, eq=False)
class Places:
    """Some values of a column, `first` to before `end`, and where they stand: (values, dims)."""

    first: int
    end: int
    at: Floats


@dataclass(frozen=True, eq=False)
class Block:
    """A column: which of its values each row has, and where they stand, some values at a time."""

    codes: NDArray[np.integer[Any]]
    count: int
    dims: int
    places: Callable[[int, int], Floats]

    def parts(self) -> Iterator[Places]:
        """All values, in parts that are held at once."""
        step = max(1, BLOCK // max(self.dims, 1))
        for first in range(0, self.count, step):
            end = min(first + step, self.count)
            yield Places(first, end, self.places(first, end))


AnyBlock = Block | Bags


def numbers(entries: Sequence[object], *, digits: int) -> list[float]:
    """Numbers of so many digits after the point."""
    found = [entry for entry in entries if isinstance(entry, float) and math.isfinite(entry)]
    if len(found) != len(entries) or any(round(entry, digits) != entry for entry in found):
        raise CheckError(f"a coordinate is a number of {digits} digits after the point")
    return found


def block_of(column: pl.Series, part: Form, *, told: int | None, spelling: Spelling) -> AnyBlock:
    """A column in its places. `told`: how many labels the codebook tells of it; None where nothing is checked."""
    if "labels" in part:
        return _book(column, part, told, spelling)
    return bags(column, part) if "sets" in part else _scale(column, part)


@dataclass(frozen=True, eq=False)
class _Coded:
    """Different values of a column, None for missing among them, and which of them each row has."""

    codes: NDArray[np.integer[Any]]
    values: list[Any]


def _coded(column: pl.Series) -> _Coded:
    import numpy as np
    import polars as pl

    if isinstance(column.dtype, pl.Enum):
        return _numbered(column)
    if column.dtype == pl.String:
        column = column.cast(pl.Categorical)
    if column.dtype == pl.Categorical:
        physical = column.to_physical().cast(pl.Int64).fill_null(-1).to_numpy()
    elif column.dtype.is_float():
        physical = column.fill_nan(None).fill_null(math.inf).to_numpy()
    else:
        numbers = column.cast(pl.Int64)
        physical = numbers.fill_null(int(numbers.min() or 0) - 1).to_numpy()  # type: ignore[arg-type]
    first, codes = _different(physical)
    cells = column.gather(first).to_list()
    values = [None if isinstance(cell, float) and math.isnan(cell) else cell for cell in cells]
    return _Coded(np.asarray(codes).ravel().astype(np.min_scalar_type(len(values))), values)


def _numbered(column: pl.Series) -> _Coded:
    """Texts that are held by their numbers; a missing one comes first."""
    import numpy as np
    import polars as pl

    every = column.dtype.categories.to_list() if isinstance(column.dtype, pl.Enum) else []
    kind = np.min_scalar_type(len(every) + 1)
    gone = column.null_count() > 0
    used = np.zeros(len(every), dtype=bool)
    used[column.drop_nulls().to_physical().to_numpy()] = True
    places = np.append(np.cumsum(used) - 1 + gone, 0).astype(kind)
    physical = column.to_physical()
    codes = places[(physical.cast(pl.UInt32).fill_null(len(every)) if gone else physical).to_numpy()]
    return _Coded(codes, [*([None] if gone else []), *(text for text, there in zip(every, used, strict=True) if there)])


def _different(numbers: NDArray[Any]) -> tuple[Ints, Ints]:
    """Where each different number stands for some row, by size; and which of them each row has."""
    import numpy as np

    low = numbers.min() if len(numbers) else 0
    if numbers.dtype.kind != "i" or not len(numbers) or int(numbers.max()) - int(low) >= BLOCK:
        _, first, codes = np.unique(numbers, return_index=True, return_inverse=True)
        return first, codes
    held = np.full(int(numbers.max()) - int(low) + 1, -1, dtype=np.int64)  # a short span needs no sorting
    held[numbers - low] = np.arange(len(numbers))
    return held[held >= 0], (np.cumsum(held >= 0) - 1)[numbers - low]


def _scale(column: pl.Series, part: Form) -> Block:
    """A number stands at its distance from `low` over the width of the range; a missing one at the mean."""
    import numpy as np

    exact_keys(part, ["low", "high", "mean", "factor"], "a scale")
    low, high, mean, factor = (field(part, key, float) for key in ("low", "high", "mean", "factor"))
    coded = _coded(column)
    known = [float(value) for value in coded.values if value is not None]
    if not low <= high or (known and (min(known) < low or max(known) > high)):
        raise CheckError("a number lies outside its scale")
    if not 0 < factor <= 1 or round(factor, SIGNIFICANT) != factor:
        raise CheckError(f"a factor is above 0 and at most 1, of {SIGNIFICANT} digits")
    shown = np.array([math.nan if value is None else float(value) for value in coded.values])
    _check_mean(mean, shown[coded.codes], low)
    width = high - low or 1.0
    at = (np.where(np.isnan(shown), mean, shown) - low) / width * factor
    return Block(coded.codes, len(at), 1, lambda first, end: at[first:end, None])


def _check_mean(mean: float, shown: Floats, low: float) -> None:
    """The mean of the numbers that are shown, to six digits."""
    import numpy as np

    expected = float(np.nanmean(shown)) if not np.isnan(shown).all() else low
    if float(f"{mean:.{SIGNIFICANT}g}") != mean or abs(mean - expected) > abs(expected) * 2e-5 + 1e-300:
        raise CheckError(f"the mean is that of the numbers shown, to {SIGNIFICANT} digits")


def _book(column: pl.Series, part: Form, told: int | None, spelling: Spelling) -> Block:
    """Every label that is shown has a place, and no other has; coordinates stand in one order."""
    import numpy as np

    exact_keys(part, ["labels", "missing"], "a book")
    places = mapping(part["labels"], "labels")
    gone = numbers(field(part, "missing", list), digits=DIGITS)
    coded = _coded(column)
    texts = [None if cell is None else _text(cell, places) for cell in coded.values]
    shown = sorted(text for text in texts if text is not None)
    exact_keys(places, shown, "a book")
    rows = [numbers(place if isinstance(place, list) else [None], digits=DIGITS) for place in places.values()]
    if any(len(row) != len(gone) for row in rows) or len(gone) > MOST:
        raise CheckError(f"the labels of a column have as many coordinates each, at most {MOST}")
    matrix = np.array([*rows, gone], dtype=np.float64).reshape(len(rows) + 1, len(gone))
    check_coordinates(matrix, missing=None in texts, told=told, shown=len(shown) + len(_listed(shown, spelling)))
    where = {label: at for at, label in enumerate(places)}
    at = matrix[[len(rows) if text is None else where[text] for text in texts]]
    return Block(coded.codes, len(at), len(gone), lambda first, end: at[first:end])


def _text(cell: object, known: Form) -> str:
    text = str(cell)
    return text if text in known else TRUTH.get(text, text)


def _listed(shown: Sequence[str], spelling: Spelling) -> set[str]:
    """The labels that shown sets list: where nothing else is told of a set, it stands in the middle of them."""
    return {one for text in shown if text.startswith("{") for one in spelling.pieces(text)}


def check_coordinates(matrix: Floats, *, missing: bool, told: int | None, shown: int) -> None:
    """From 0 to 1, the largest first; no more than it takes to tell the labels apart."""
    if matrix.size and (matrix.min() < 0 or matrix.max() > 1):
        raise CheckError("a coordinate lies outside 0 and 1")
    columns = [tuple(column) for column in matrix.T.tolist()]
    if columns != sorted(columns, reverse=True) or any(not any(column) for column in columns):
        raise CheckError("coordinates stand in one order, the largest first, and some value stands away from 0 in each")
    if not missing and matrix[-1].any():
        raise CheckError("no value is missing, and missing has a place")
    if told is not None and len(columns) > 2 * (shown + told + missing):
        raise CheckError("there are more coordinates than it takes to tell the labels apart")
