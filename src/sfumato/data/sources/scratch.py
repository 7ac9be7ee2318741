"""Codes of more rows than memory should hold: in private files that have no name, and are gone with the process.

Such a file is made without a name, or loses it before a byte is in it: however a run ends, nothing is left.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from mmap import mmap
from tempfile import TemporaryFile, gettempdir
from typing import IO, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.data.sources.source import RawTable
from sfumato.data.table import Codes, Column, code_type
from sfumato.errors import TableError
from sfumato.events import checkpoint

BLOCK = 2**20  # rows in one go


class Scratch:
    """Owns the codes of one column as they come, in a file that widens when there are more values than it has room for.

    While it grows, the largest number of its type means missing.
    """

    def __init__(self, kind: type[np.unsignedinteger[Any]] = np.uint8) -> None:
        self.kind, self.rows, self.misses = kind, 0, False
        self._file = _nameless()

    def append(self, at: NDArray[np.integer[Any]], places: NDArray[np.int64]) -> None:
        """Some more rows: where each one's entry stands, and where each entry stands among all values (-1: missing)."""
        n = int(places.max(initial=-1)) + 1
        if np.iinfo(code_type(n)).max > np.iinfo(self.kind).max:
            self._widen(code_type(n))
        codes = places.astype(self.kind)[at]  # -1 becomes the largest
        _write(self._file, codes)
        self.rows += len(codes)
        self.misses = self.misses or bool((codes == np.iinfo(self.kind).max).any())

    def finish(self, places: NDArray[np.int64]) -> Codes:
        """(rows,): all of them, memory-mapped; `places` says what becomes of each, and their number means missing."""
        with _on_disk():
            self._file.flush()
        codes = _mapped(self._file, self.rows, self.kind)
        n, most = len(places), np.iinfo(self.kind).max
        moved, renamed = not np.array_equal(places, np.arange(n)), self.misses and n < most  # else it is n already
        table = np.append(places, n).astype(self.kind)
        for begin in range(0, self.rows if moved or renamed else 0, BLOCK):
            checkpoint()
            some = codes[begin : begin + BLOCK]
            if renamed:
                some[some == most] = n
            if moved:
                some[:] = table[some]
        return codes

    def _widen(self, kind: type[np.unsignedinteger[Any]]) -> None:
        """All codes again in a wider type."""
        narrow, self._file = self._file, _nameless()
        most = np.iinfo(self.kind).max
        narrow.seek(0)
        while content := narrow.read(BLOCK * np.dtype(self.kind).itemsize):
            checkpoint()
            before = np.frombuffer(content, dtype=self.kind)
            after = before.astype(kind)
            after[before == most] = np.iinfo(kind).max
            _write(self._file, after)
        self.kind = kind
        narrow.close()


def room(rows: int, kind: Any) -> NDArray[Any]:
    """(rows,): zeros in a file; the disk has room for all of them, or it is refused here."""
    with _on_disk():
        file = _nameless()
        if rows:
            os.posix_fallocate(file.fileno(), 0, rows * np.dtype(kind).itemsize)
    return _mapped(file, rows, kind)


def looked_up(found: NDArray[Any], at: NDArray[np.integer[Any]]) -> NDArray[Any]:
    """(rows,): `found[at]`, block by block, in a file if the places are."""
    if not in_file(at):
        in_memory: NDArray[Any] = found[at]
        return in_memory
    rows = room(len(at), found.dtype)
    for begin in range(0, len(at), BLOCK):
        checkpoint()
        rows[begin : begin + BLOCK] = found[at[begin : begin + BLOCK]]
    return rows


def in_file(array: NDArray[Any]) -> bool:
    """Whether the numbers of an array lie in a file.

    >>> in_file(room(3, np.uint8)[1:]), in_file(np.zeros(3))
    (True, False)
    """
    base: Any = array
    while isinstance(base, np.ndarray | memoryview):
        base = base.base if isinstance(base, np.ndarray) else base.obj
    return isinstance(base, mmap)


@dataclass(frozen=True, eq=False)
class Tuples:
    """Rows in codes, each combination once: `weights` says how many rows are like it; None where each stands alone.

    A code is the place of a value among the distinct ones of its column; their number means missing.
    """

    codes: Mapping[str, NDArray[np.integer[Any]]]
    weights: NDArray[np.integer[Any]] | None = None


def expanded(values: Mapping[str, pa.Array[Any]], batches: Iterable[Tuples]) -> RawTable:
    """The rows that counted tuples stand for, in codes; `values` are the distinct values of each column.

    >>> some = Tuples({"sex": np.array([0, 1])}, np.array([1, 2]))
    >>> table = expanded({"sex": pa.array(["f"])}, [some])
    >>> table.rows, table.columns["sex"].to_pylist()
    (3, ['f', None, None])
    """
    places = {name: np.append(np.arange(len(distinct)), -1) for name, distinct in values.items()}
    files = {name: Scratch(code_type(len(distinct))) for name, distinct in values.items()}
    for batch in batches:
        checkpoint()
        for name, file in files.items():
            at = np.asarray(batch.codes[name])
            file.append(at if batch.weights is None else np.repeat(at, batch.weights), places[name])
    rows = max((file.rows for file in files.values()), default=0)
    return RawTable(
        {name: Column(file.finish(np.arange(len(values[name]))), values[name]) for name, file in files.items()}, rows
    )


def _nameless() -> IO[bytes]:
    with _on_disk():
        return TemporaryFile(prefix="sfumato-", buffering=0)


def _write(file: IO[bytes], codes: NDArray[Any]) -> None:
    """All of them: a disk that is nearly full takes a part at first, and says so to whoever asks again."""
    left = memoryview(codes.data).cast("B")
    with _on_disk():
        while len(left):
            left = left[file.write(left) :]


def _mapped(file: IO[bytes], rows: int, kind: Any) -> NDArray[Any]:
    if not rows:
        return np.zeros(0, dtype=kind)
    return np.frombuffer(mmap(file.fileno(), rows * np.dtype(kind).itemsize), dtype=kind)


@contextmanager
def _on_disk() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise no_room("a table that is not held in memory has its codes among the temporary files", error) from None


def no_room(rule: str, error: OSError) -> TableError:
    """What is said where temporary files cannot be written; the folder is named if there is one."""
    try:
        folder = gettempdir()
    except OSError:  # it is looked for by writing to it
        folder = "temporary files"
    return TableError(
        folder,
        rule,
        given=error.strerror or type(error).__name__,
        remedy="free space there, or name another folder in TMPDIR; nothing is left",
    )
