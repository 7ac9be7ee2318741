"""Tables larger than memory: files and streams read once, batch by batch, their codes in files of their own.

A folder of Parquet files is one table; what is in it otherwise is refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, runtime_checkable

import pyarrow as pa

from sfumato.data.packed_files import ParquetTable
from sfumato.data.safe_files import Progress, is_regular
from sfumato.data.sources.coding import coded
from sfumato.data.sources.source import Loaded, RawTable, Source
from sfumato.data.table import Origin
from sfumato.errors import TableError

LARGE = 32 * 2**20
"""Files of more bytes are streamed unless it is said otherwise."""


@runtime_checkable
class Batched(Source, Protocol):
    """A source that can be read some rows at a time."""

    def kinds(self, columns: Sequence[str]) -> pa.Schema:
        """The types of these columns."""

    def batches(self, columns: Sequence[str], *, progress: Progress) -> Iterator[pa.RecordBatch]:
        """These columns and no others, all rows once."""


@dataclass(frozen=True)
class Stream:
    """Owns nothing: reads another source by batches, and is it in everything else."""

    of: Batched

    @property
    def origin(self) -> Origin:
        """That of what is read."""
        return self.of.origin

    @property
    def called(self) -> str:
        """The same."""
        return self.of.called

    def names(self) -> list[str]:
        """The names of its columns."""
        return self.of.names()

    def raw(self, columns: Sequence[str], *, progress: Progress) -> RawTable:
        """These columns in codes."""
        batches = self.of.batches(columns, progress=progress)
        return coded(batches, self.of.kinds(columns), progress=progress)

    def arrow(self, columns: Sequence[str], *, guess: bool, progress: Progress) -> pa.Table:
        """Whoever asks for all rows at once gets them."""
        return self.of.arrow(columns, guess=guess, progress=progress)

    def place(self, row: int) -> str:
        """Where a row stands."""
        return self.of.place(row)


@dataclass(frozen=True)
class ParquetFolder(Loaded):
    """A folder of Parquet files with the same columns, in the order of their names."""

    path: Path
    files: tuple[ParquetTable, ...]
    origin: Origin = "path"

    @property
    def called(self) -> str:
        """The folder's name."""
        return self.path.name

    def names(self) -> list[str]:
        """The names of the columns, which all files have."""
        first, *others = (file.names() for file in self.files)
        if any(names != first for names in others):
            raise self._refused("files with other columns, or in another order")
        return first

    def load(self, columns: Sequence[str], *, progress: Progress) -> pa.Table:
        """The columns of all files."""
        kinds = self.kinds(columns)
        return pa.concat_tables([file.load(columns, progress=progress) for file in self.files]).cast(kinds)

    def arrow(self, columns: Sequence[str], *, guess: bool, progress: Progress) -> pa.Table:
        """The same, text as plain text."""
        return pa.concat_tables([file.arrow(columns, guess=guess, progress=progress) for file in self.files])

    def kinds(self, columns: Sequence[str]) -> pa.Schema:
        """The types of the columns, which all files have."""
        first, *others = (file.kinds(columns).remove_metadata() for file in self.files)
        if any(not kinds.equals(first) for kinds in others):
            raise self._refused("a column that has different types in them")
        return first

    def batches(self, columns: Sequence[str], *, progress: Progress) -> Iterator[pa.RecordBatch]:
        """The columns of all files, one after the other."""
        self.kinds(columns)
        for file in self.files:
            yield from file.batches(columns, progress=progress)

    def _refused(self, given: str) -> TableError:
        return _no_folder(self.path, given)


def open_folder(path: Path, suffixes: Sequence[str]) -> ParquetFolder:
    """The Parquet files of a folder; what begins with a dot or an underscore is somebody's note beside the table."""
    found = sorted(one for one in path.iterdir() if not one.name.startswith((".", "_")))
    if not found or any(one.suffix.lower() not in suffixes or not is_regular(one) for one in found):
        raise _no_folder(path, "other things in it" if found else "nothing in it")
    return ParquetFolder(path, tuple(map(ParquetTable, found)))


def _no_folder(path: Path, given: str) -> TableError:
    return TableError(
        str(path),
        "a folder is a table if it holds Parquet files with the same columns, and nothing else",
        given=given,
        remedy="name a file, or a folder of such files",
    )
