"""Set-valued columns as centres.json tells them: a set stands at the coordinates of all its labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sfumato.privacy.verify.fields import Form, ascending, exact_keys, field, mapping, number
from sfumato.privacy.verify.verdict import CheckError

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

MOST = 513  # coordinates of a column: 512 labels, and missing
SEPARATOR = 16  # characters
SIGNIFICANT = 6  # digits of a length


@dataclass(frozen=True, eq=False)
class Bags:
    """A column of sets: which of its sets each row holds, and where they stand, a sparse matrix (sets, dims)."""

    codes: Ints
    places: Any

    @property
    def count(self) -> int:
        """How many sets there are."""
        return int(self.places.shape[0])

    @property
    def dims(self) -> int:
        """How many coordinates they have."""
        return int(self.places.shape[1])

    def apart(self, centres: Floats) -> Floats:
        """(sets, centres): squared distances."""
        import numpy as np

        squares = np.asarray(self.places.power(2).sum(axis=1)).reshape(-1, 1)
        found: Floats = squares + (centres**2).sum(axis=1) - 2 * (self.places @ centres.T)
        return found

    def sums(self, counts: Floats) -> Floats:
        """(centres, dims): places added up. `counts` (sets, centres): how often each is."""
        found: Floats = (self.places.T @ counts).T
        return found


def bags(column: pl.Series, part: Form) -> Bags:
    """A set stands at the coordinates of all its labels, at one distance from the origin."""
    exact_keys(part, ["sets", "missing", "dims", "length", "separator"], "a bag")
    dims, separator, length = field(part, "dims", int), field(part, "separator", str), number(part, "length")
    if not 0 <= dims <= MOST or not 0 < len(separator) <= SEPARATOR or not 0 < length <= 1:
        raise CheckError(f"it has at most {MOST} coordinates, a length up to 1 and a separator")
    if round(length, SIGNIFICANT) != length:
        raise CheckError(f"a length has {SIGNIFICANT} digits")
    held = _held(column, separator)
    sets = mapping(part["sets"], "sets")
    ascending(list(sets), "a bag")
    if set(sets) != {held.labels[item] for item in set(held.items.tolist())}:
        raise CheckError("it tells of labels that no row shows, or not of all that are shown")
    coordinates = {label: _coordinates(places, dims) for label, places in sets.items()}
    gone = _coordinates(part["missing"], dims)
    _check_order([*coordinates.values(), gone], dims, missing=bool(held.missing.any()))
    return Bags(held.codes, _places(held, coordinates, gone, dims) * float(length))


@dataclass(frozen=True, eq=False)
class _Held:
    """Each different set once: set s holds labels `items[offsets[s]:offsets[s + 1]]`, or is missing."""

    codes: Ints
    offsets: Ints
    items: Ints
    missing: NDArray[np.bool_]
    labels: list[str]


def _held(column: pl.Series, separator: str) -> _Held:
    import numpy as np
    import polars as pl
    import pyarrow as pa

    if isinstance(column.dtype, pl.List):
        lists = column.list.eval(pl.element().cast(pl.String))
    else:
        lists = column.cast(pl.String).str.split(separator)
    missing = lists.is_null().to_numpy()
    sizes = lists.list.len().fill_null(0).to_numpy().astype(np.int64)
    whole: Any = lists.to_arrow()
    items = whole.flatten().dictionary_encode()
    labels: list[str] = items.dictionary.to_pylist()
    codes = items.indices.fill_null(len(labels)).to_numpy().astype(np.int64)
    named = np.array([*(label != "" for label in labels), False])[codes]
    keys = np.sort((np.repeat(np.arange(len(missing)), sizes) * max(len(labels), 1) + codes)[named])
    keys = keys[np.append(True, keys[1:] != keys[:-1])[: len(keys)]]
    rows, each = np.divmod(keys, max(len(labels), 1))
    ends = np.append(0, np.cumsum(np.bincount(rows, minlength=len(missing))))
    small: Any = each.astype(np.uint32)
    buffers = [pa.array(~missing).buffers()[1], pa.py_buffer(ends * small.itemsize), pa.py_buffer(small)]
    alike: Any = pa.LargeBinaryArray.from_buffers(pa.large_binary(), len(missing), buffers).dictionary_encode()
    of_row = alike.indices.fill_null(len(alike.dictionary)).to_numpy().astype(np.int64)
    _, begins, data = alike.dictionary.buffers()
    known = len(alike.dictionary)
    offsets = np.frombuffer(begins, dtype=np.int64)[: known + 1] // small.itemsize
    every = np.frombuffer(data, dtype=np.uint32)[: offsets[-1]].astype(np.int64)
    if missing.any():  # a set of its own, after all others
        offsets = np.append(offsets, offsets[-1])
    return _Held(of_row, offsets, every, np.arange(len(offsets) - 1) == known, labels)


def _places(held: _Held, coordinates: Mapping[str, Sequence[int]], gone: Sequence[int], dims: int) -> Any:
    """(sets, dims), sparse: every set at distance 1 from the origin; one without coordinates stands there."""
    import numpy as np
    from scipy import sparse

    of_label = [coordinates.get(label, ()) for label in held.labels]
    items = np.append(held.items, np.full(int(held.missing.sum()), len(of_label)))  # a missing set comes last
    offsets = held.offsets + np.append(0, np.cumsum(held.missing))
    members = sparse.csr_matrix((np.ones(len(items)), items, offsets), shape=(len(held.missing), len(of_label) + 1))
    rows = [*of_label, gone]
    along = np.array([c for row in rows for c in row], dtype=np.int64)
    begins = np.cumsum([0, *(len(row) for row in rows)])
    found = members @ sparse.csr_matrix((np.ones(len(along)), along, begins), shape=(len(rows), dims))
    found.sort_indices()
    lengths = np.sqrt(np.maximum(np.diff(found.indptr), 1))
    found.data[:] = 1 / np.repeat(lengths, np.diff(found.indptr))
    return found


def _coordinates(entries: object, dims: int) -> list[int]:
    found = [c for c in entries if isinstance(c, int) and not isinstance(c, bool)] if isinstance(entries, list) else []
    if not isinstance(entries, list) or found != sorted(set(found)) or len(found) != len(entries):
        raise CheckError("the coordinates of a label are different whole numbers that ascend")
    if found and not (found[0] >= 0 and found[-1] < dims):
        raise CheckError("a label has a coordinate that there is not")
    return found


def _check_order(rows: Sequence[Sequence[int]], dims: int, *, missing: bool) -> None:
    """Every coordinate is some label's, and they stand in one order."""
    columns: list[list[bool]] = [[False] * len(rows) for _ in range(dims)]
    for at, row in enumerate(rows):
        for coordinate in row:
            columns[coordinate][at] = True
    if columns != sorted(columns, reverse=True) or not all(any(column) for column in columns):
        raise CheckError("coordinates stand in one order, and each of them is some label's")
    if not missing and rows[-1]:
        raise CheckError("no set is missing, and missing has coordinates")
