"""Parquet, Arrow and Excel files: only the wanted columns are read, and only what fits into memory."""

from __future__ import annotations

import importlib
import re
import struct
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

import pyarrow as pa
import pyarrow.ipc as ipc
import pyarrow.parquet as pq
import pyarrow.types as pt

from sfumato.data.safe_files import Progress
from sfumato.data.sources.source import Loaded
from sfumato.data.table import Origin, row_place
from sfumato.errors import TableError
from sfumato.events import awaited, checkpoint

_BATCH = 500_000  # rows


def _unreadable(path: Path, form: str) -> TableError:
    return TableError(
        path.name,
        f"the file must be a whole {form} file",
        given="an empty, truncated or different file" if path.stat().st_size else "an empty file",
        remedy="write the file again, or give it the suffix of what it is",
    )


class PathTable(Loaded):
    """What is the same in every file that is loaded whole."""

    path: Path

    @property
    def called(self) -> str:
        """The file's name."""
        return self.path.name


@dataclass(frozen=True)
class ParquetTable(PathTable):
    """A Parquet file; its text columns come in as dictionary arrays if `dictionaries`."""

    path: Path
    dictionaries: bool = True
    origin: Origin = "path"

    def names(self) -> list[str]:
        """The names of its columns."""
        with self._open() as file:
            return list(file.schema_arrow.names)

    def load(self, columns: Sequence[str], *, progress: Progress) -> pa.Table:
        """The columns, some row groups at a time."""
        with self._open() as file:
            schema = pa.schema([file.schema_arrow.field(name) for name in columns])
            progress.total = file.metadata.num_rows
            parts = []
            for groups in _row_groups(file.metadata):
                try:
                    part = awaited(partial(file.read_row_groups, groups, columns=list(columns))).select(list(columns))
                except (pa.ArrowException, OSError):
                    raise _unreadable(self.path, "Parquet") from None
                progress.advance(part.num_rows)
                parts.append(part)
        return pa.concat_tables(parts) if parts else schema.empty_table()

    def kinds(self, columns: Sequence[str]) -> pa.Schema:
        """The types of the columns."""
        with self._open() as file:
            return pa.schema([file.schema_arrow.field(name) for name in columns])

    def batches(self, columns: Sequence[str], *, progress: Progress) -> Iterator[pa.RecordBatch]:
        """The columns, some rows at a time, however large the row groups are."""
        with self._open() as file:
            progress.total += file.metadata.num_rows
            try:
                for batch in file.iter_batches(_BATCH, columns=list(columns)):
                    progress.advance(batch.num_rows)
                    yield batch
            except (pa.ArrowException, OSError):
                raise _unreadable(self.path, "Parquet") from None

    def arrow(self, columns: Sequence[str], *, guess: bool, progress: Progress) -> pa.Table:
        """The columns, text as plain text."""
        return super(ParquetTable, replace(self, dictionaries=False)).arrow(columns, guess=guess, progress=progress)

    def _open(self) -> pq.ParquetFile:
        try:
            with pq.ParquetFile(self.path) as plain:
                check_rows(self.path, plain.metadata.num_rows)
                check_unpacked(self.path, _unpacked(plain.metadata))
                texts = list(_text_paths(plain)) if self.dictionaries else []
            return pq.ParquetFile(self.path, read_dictionary=texts)
        except (pa.ArrowException, OSError):
            raise _unreadable(self.path, "Parquet") from None


def _unpacked(metadata: pq.FileMetaData) -> int:
    return sum(metadata.row_group(at).total_byte_size for at in range(metadata.num_row_groups))


def _text_paths(file: pq.ParquetFile) -> Iterator[str]:
    for at in range(len(file.schema)):
        column = file.schema.column(at)
        if column.physical_type == "BYTE_ARRAY" and column.logical_type.type == "STRING":
            yield column.path


def _row_groups(metadata: pq.FileMetaData) -> Iterator[list[int]]:
    """Neighbouring row groups, so many that there is something to do."""
    groups: list[int] = []
    rows = 0
    for at in range(metadata.num_row_groups):
        groups.append(at)
        rows += metadata.row_group(at).num_rows
        if rows >= _BATCH:
            yield groups
            groups, rows = [], 0
    if groups:
        yield groups


@dataclass(frozen=True)
class ArrowTable(PathTable):
    """An Arrow IPC file or stream (Feather is the same)."""

    path: Path
    origin: Origin = "path"

    def names(self) -> list[str]:
        """The names of its columns."""
        return self._schema().names

    def load(self, columns: Sequence[str], *, progress: Progress) -> pa.Table:
        """The columns."""
        return pa.Table.from_batches(list(self.batches(columns, progress=progress)), schema=self.kinds(columns))

    def kinds(self, columns: Sequence[str]) -> pa.Schema:
        """The types of the columns."""
        schema = self._schema()
        return pa.schema([schema.field(name) for name in columns])

    def batches(self, columns: Sequence[str], *, progress: Progress) -> Iterator[pa.RecordBatch]:
        """The columns, batch by batch: rows and bytes are added up as they come."""
        del progress  # a stream does not say how long it is
        schema, rows, unpacked = self._schema(), 0, 0
        options = ipc.IpcReadOptions(included_fields=[schema.get_field_index(name) for name in columns])
        try:
            with pa.OSFile(str(self.path), "rb") as file:
                for batch in _batches(_reader(file, options)):
                    rows, unpacked = rows + batch.num_rows, unpacked + batch.get_total_buffer_size()
                    check_rows(self.path, rows)
                    check_unpacked(self.path, unpacked)
                    checkpoint()
                    yield batch.select(list(columns))
        except (pa.ArrowException, OSError):
            raise _unreadable(self.path, "Arrow") from None

    def _schema(self) -> pa.Schema:
        try:
            with pa.OSFile(str(self.path), "rb") as file:
                return _reader(file, None).schema
        except (pa.ArrowException, OSError):
            raise _unreadable(self.path, "Arrow") from None


def _batches(reader: ipc.RecordBatchFileReader | ipc.RecordBatchStreamReader) -> Iterable[pa.RecordBatch]:
    if isinstance(reader, ipc.RecordBatchStreamReader):
        return reader
    return map(reader.get_batch, range(reader.num_record_batches))


def _reader(
    file: pa.OSFile, options: ipc.IpcReadOptions | None
) -> ipc.RecordBatchFileReader | ipc.RecordBatchStreamReader:
    try:
        return ipc.open_file(file, options=options)
    except pa.ArrowInvalid:
        file.seek(0)
        return ipc.open_stream(file, options=options)


@dataclass(frozen=True)
class ExcelTable(PathTable):
    """The first sheet of an Excel workbook; its first row holds the names."""

    path: Path
    origin: Origin = "path"

    def names(self) -> list[str]:
        """The names in the first row."""
        head = self._sheet(header_row=None, n_rows=1, dtypes="string")
        return [column[0].as_py() or "" for column in head.columns] if head.num_rows else []

    def place(self, row: int) -> str:
        """The row of the sheet, the first row being the names."""
        return row_place(row + 1)

    def load(self, columns: Sequence[str], *, progress: Progress) -> pa.Table:
        """The columns; a sheet knows decimal numbers and moments alone, so whole ones are told from what they hold."""
        table = self._sheet(use_columns=list(columns), schema_sample_rows=None).select(list(columns))
        return pa.table({name: _whole_cells(table.column(name)) for name in columns})

    def _sheet(self, **options: Any) -> pa.Table:
        try:
            reader = importlib.import_module("fastexcel")
        except ModuleNotFoundError:
            raise TableError(
                self.path.name,
                "reading Excel workbooks takes the package fastexcel",
                given="it is not installed",
                remedy="pip install 'sfumato[excel]', or save the sheet as CSV",
            ) from None
        check_workbook(self.path)
        try:
            sheet = reader.read_excel(self.path).load_sheet(0, **options)
            return pa.Table.from_batches([sheet.to_arrow()])
        except reader.FastExcelError:
            raise _unreadable(self.path, "Excel (.xlsx)") from None


def _whole_cells(column: pa.ChunkedArray[Any]) -> pa.ChunkedArray[Any]:
    """Whole numbers where every cell is one, dates where no cell has a time of day."""
    kind = column.type
    wanted = pa.int64() if pt.is_floating(kind) else pa.date32() if pt.is_timestamp(kind) and kind.tz is None else kind
    try:
        return column if wanted == kind else column.cast(wanted)
    except pa.ArrowInvalid:  # what would be lost
        return column


# How much a packed file becomes when it is read, looked at before it is: a few bytes can stand for gigabytes.
MiB = 1 << 20
FREE, TIMES = 256 * MiB, 500
"""A file may unpack to so many bytes, and to so many times its own size."""
FREE_ROWS, ROWS_OF_A_BYTE = 1_000_000, 4096
FREE_CELLS, CELLS_OF_A_CELL = 1 << 24, 20
"""A sheet is read as a rectangle: of so many cells, and of so many times those that are filled."""
_CHUNK = 1 << 18
_OVERLAP = 512
_CELL = re.compile(rb"""<(?:\w{1,9}:)?c\s[^<>]{0,200}?\br=["']([A-Z]{1,3})([0-9]{1,7})["']""")
_ROW = re.compile(rb"""<(?:\w{1,9}:)?row\s[^<>]{0,200}?\br=["']([0-9]{1,9})["']""")


def check_unpacked(path: Path, unpacked: int) -> None:
    """Refuse a file that unpacks to far more than itself."""
    if unpacked > FREE + TIMES * path.stat().st_size:
        raise _too_much(path, f"it unpacks to more than {TIMES} times its size")


def check_rows(path: Path, rows: int) -> None:
    """Refuse a file that claims more rows than it can mean."""
    if rows < 0 or rows > FREE_ROWS + ROWS_OF_A_BYTE * path.stat().st_size:
        raise _too_much(path, "it claims more rows than so small a file can hold")


def check_workbook(path: Path) -> None:
    """Refuse a workbook whose parts unpack to far more than it, or whose sheets are nearly all empty cells."""
    most, unpacked = FREE + TIMES * path.stat().st_size, 0
    try:
        with ZipFile(path) as parts, path.open("rb") as file:
            for part in parts.infolist():
                area = _Area()
                for chunk in _chunks(file, part):
                    unpacked += len(chunk)
                    if unpacked > most:
                        raise _too_much(path, f"it unpacks to more than {TIMES} times its size")
                    area.add(chunk)
                if area.size > FREE_CELLS + CELLS_OF_A_CELL * area.cells:
                    raise _too_much(path, "a sheet reaches far beyond its filled cells")
    except (BadZipFile, NotImplementedError, OSError, ValueError, struct.error, zlib.error):
        return  # no workbook: its reader says so


def _too_much(path: Path, given: str) -> TableError:
    return TableError(
        path.name,
        "a table's file must hold about as much as it says",
        given=given,
        remedy="save the table as CSV or Parquet, without what lies beside it",
    )


def _chunks(file: BinaryIO, part: ZipInfo) -> Iterator[bytes]:
    """What a part really unpacks to, whatever it says of its size."""
    file.seek(part.header_offset)
    head = struct.unpack("<26xHH", file.read(30))
    file.seek(head[0] + head[1], 1)
    left = part.compress_size
    if part.compress_type not in (ZIP_DEFLATED, ZIP_STORED):
        raise ValueError("no workbook is packed like this")
    unpack = zlib.decompressobj(-15) if part.compress_type == ZIP_DEFLATED else None
    while left > 0 and (packed := file.read(min(left, _CHUNK))):
        left -= len(packed)
        if unpack is None:
            yield packed
            continue
        while packed and not unpack.eof:
            yield unpack.decompress(packed, 4 * _CHUNK)
            packed = unpack.unconsumed_tail


class _Area:
    """Owns what was seen of one part: how many cells it fills, and how far they reach."""

    def __init__(self) -> None:
        self.cells, self._row, self._column, self._tail = 0, 0, 0, b""

    @property
    def size(self) -> int:
        """Cells of the rectangle."""
        return self._row * self._column

    def add(self, chunk: bytes) -> None:
        """Look at the next piece; a tag that is cut in two is seen with the one after."""
        text = self._tail + chunk
        if b"<" not in text:
            return
        for column, row in _CELL.findall(text):
            self.cells += 1
            self._row, self._column = max(self._row, int(row)), max(self._column, _number(column))
        for row in _ROW.findall(text):
            self._row, self._column = max(self._row, int(row)), max(self._column, 1)
        last = text.rfind(b"<")
        self._tail = text[last:] if len(text) - last < _OVERLAP else b""


def _number(letters: bytes) -> int:
    found = 0
    for letter in letters:
        found = 26 * found + letter - 64
    return found
