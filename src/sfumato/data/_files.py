"""Parquet, Arrow and Excel files: only the wanted columns are read."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.ipc as ipc
import pyarrow.parquet as pq

from sfumato.data._places import row_place
from sfumato.data._progress import Bar
from sfumato.data._unpacked import check_rows, check_unpacked, check_workbook
from sfumato.data.table import Origin
from sfumato.errors import TableError

_BATCH = 500_000  # rows


def _unreadable(path: Path, form: str) -> TableError:
    return TableError(
        path.name,
        f"the file must be a whole {form} file",
        given="an empty, truncated or different file" if path.stat().st_size else "an empty file",
        remedy="write the file again, or give it the suffix of what it is",
    )


@dataclass(frozen=True)
class ParquetTable:
    """A Parquet file; its text columns come in as dictionary arrays if `dictionaries`."""

    path: Path
    dictionaries: bool = True
    origin: Origin = "path"

    def names(self) -> list[str]:
        """The names of its columns."""
        with self._open() as file:
            return list(file.schema_arrow.names)

    def place(self, row: int) -> str:
        """The row, counted from 1."""
        return row_place(row)

    def load(self, columns: Sequence[str], *, bar: Bar) -> pa.Table:
        """The columns, some row groups at a time."""
        with self._open() as file:
            schema = pa.schema([file.schema_arrow.field(name) for name in columns])
            bar.total = file.metadata.num_rows
            parts = []
            for groups in _row_groups(file.metadata):
                try:
                    part = file.read_row_groups(groups, columns=list(columns)).select(list(columns))
                except (pa.ArrowException, OSError):
                    raise _unreadable(self.path, "Parquet") from None
                bar.advance(part.num_rows)
                parts.append(part)
        return pa.concat_tables(parts) if parts else schema.empty_table()

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
class ArrowTable:
    """An Arrow IPC file or stream (Feather is the same)."""

    path: Path
    origin: Origin = "path"

    def names(self) -> list[str]:
        """The names of its columns."""
        return self._schema().names

    def place(self, row: int) -> str:
        """The row, counted from 1."""
        return row_place(row)

    def load(self, columns: Sequence[str], *, bar: Bar) -> pa.Table:
        """The columns."""
        schema = self._schema()
        options = ipc.IpcReadOptions(included_fields=[schema.get_field_index(name) for name in columns])
        try:
            with pa.OSFile(str(self.path), "rb") as file:
                return self._whole(_reader(file, options)).select(list(columns))
        except (pa.ArrowException, OSError):
            raise _unreadable(self.path, "Arrow") from None

    def _whole(self, reader: ipc.RecordBatchFileReader | ipc.RecordBatchStreamReader) -> pa.Table:
        """All batches, one after the other: rows and bytes are added up as they come."""
        batches: list[pa.RecordBatch] = []
        found: Iterable[pa.RecordBatch] = (
            reader if isinstance(reader, ipc.RecordBatchStreamReader) else _batches(reader)
        )
        rows = unpacked = 0
        for batch in found:
            rows, unpacked = rows + batch.num_rows, unpacked + batch.get_total_buffer_size()
            check_rows(self.path, rows)
            check_unpacked(self.path, unpacked)
            batches.append(batch)
        return pa.Table.from_batches(batches, schema=reader.schema)

    def _schema(self) -> pa.Schema:
        try:
            with pa.OSFile(str(self.path), "rb") as file:
                return _reader(file, None).schema
        except (pa.ArrowException, OSError):
            raise _unreadable(self.path, "Arrow") from None


def _batches(reader: ipc.RecordBatchFileReader) -> Iterator[pa.RecordBatch]:
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
class ExcelTable:
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

    def load(self, columns: Sequence[str], *, bar: Bar) -> pa.Table:
        """The columns."""
        return self._sheet(use_columns=list(columns), schema_sample_rows=None).select(list(columns))

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
