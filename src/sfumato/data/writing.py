"""How a table leaves: as a file that holds the shown values and nothing else, or as the kind that came in."""

from __future__ import annotations

import importlib
import os
import secrets
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sfumato.data.canonical import canonical
from sfumato.data.canonical.csv import write_csv
from sfumato.data.canonical.parquet import write_parquet
from sfumato.data.canonical.sheet import Sheet, in_order
from sfumato.data.codes import is_list, is_text, rank, side_by_side, single
from sfumato.data.table import AnyColumn, Column, Origin
from sfumato.errors import TableError
from sfumato.randomness import PIECE


def write(
    table: pa.Table,
    path: str | Path,
    *,
    order: NDArray[np.int64] | None,
    separators: Mapping[str, str] | None = None,
    spreadsheet_safe: bool = False,
) -> None:
    """Write a table as CSV or Parquet, by the path's suffix, its rows in the given order.

    The file appears whole or not at all, in its canonical form: equal rows give equal bytes. It holds no metadata, no
    statistics, and no label that no row shows; labels stand in ascending order, so that a dictionary tells nothing
    about the order of the raw rows. CSV joins the items of a list by the column's separator, `;` unless `separators`
    names another; with `spreadsheet_safe` it holds no cell and no name that a spreadsheet would run.
    """
    path = Path(path)
    suffix = _suffix(path)
    _check_writable(path)
    bare = ordered(table, order)
    if suffix == ".csv":
        bare = joined(bare, separators or {})
    sheet = Sheet.of(bare)
    _write(sheet, path, in_order(sheet.rows, PIECE), spreadsheet_safe=spreadsheet_safe)


def write_coded(
    columns: Mapping[str, AnyColumn],
    path: Path,
    *,
    pieces: Iterable[NDArray[np.int64]] | None,
    separators: Mapping[str, str] | None = None,
    spreadsheet_safe: bool = False,
) -> Sheet:
    """The same of columns in codes, and some rows at a time: the rows are never spelled out all at once.

    `pieces`: the order of the rows, piece by piece; None leaves them as they stand. Gives what was written.
    """
    rows = len(next(iter(columns.values())))
    if path.suffix == ".csv":
        columns = {name: _texts(name, column, separators or {}) for name, column in columns.items()}
    sheet = Sheet.coded(columns, rows)
    _write(sheet, path, in_order(rows, PIECE) if pieces is None else pieces, spreadsheet_safe=spreadsheet_safe)
    return sheet


def _texts(name: str, column: AnyColumn, separators: Mapping[str, str]) -> AnyColumn:
    """Sets as text."""
    if isinstance(column, Column):
        return column
    return Column.of(_joined_column(name, pa.chunked_array([column.decode()]), separators.get(name, ";")))


def _write(sheet: Sheet, path: Path, pieces: Iterable[NDArray[np.int64]], *, spreadsheet_safe: bool) -> None:
    with _whole_or_nothing(path) as temporary:
        if path.suffix.lower() == ".csv":
            write_csv(sheet, temporary, pieces, spreadsheet_safe=spreadsheet_safe)
        else:
            write_parquet(sheet, temporary, pieces)


def ordered(table: pa.Table, order: NDArray[np.int64] | None) -> pa.Table:
    """The rows in another order, without metadata and without labels that no row shows."""
    if order is not None and not _is_permutation(order, table.num_rows):
        raise ValueError("an order names every row once")
    columns = side_by_side(lambda column: _ordered_column(column, order), table.columns)
    return pa.Table.from_arrays(columns, names=table.column_names)


def _is_permutation(order: NDArray[np.int64], rows: int) -> bool:
    return len(order) == rows and bool((np.bincount(order, minlength=rows) == 1).all())


def _ordered_column(column: pa.ChunkedArray[Any], order: NDArray[np.int64] | None) -> pa.Array[Any]:
    array = single(column)
    if isinstance(array, pa.DictionaryArray):
        coded = rank(array)
        codes = coded.codes if order is None else coded.codes[order]
        mask = codes == coded.missing_code if coded.missing else None
        indices = pa.array(codes.astype(np.int32), type=pa.int32(), mask=mask)
        if is_text(coded.values.type):
            return pa.DictionaryArray.from_arrays(indices, coded.values)
        return coded.values.take(indices)
    if is_list(array.type):
        array = _plain_lists(array)
    return array if order is None else array.take(order)


def _plain_lists(array: pa.Array[Any]) -> pa.Array[Any]:
    """Lists of any kind as plain ones: no dictionary inside, no metadata, no items that no row shows."""
    items: pa.Array[Any] = pc.list_flatten(array)
    if isinstance(items, pa.DictionaryArray):
        items = items.dictionary_decode()
    lengths = pc.list_value_length(array).fill_null(0).to_numpy()
    offsets = pa.array(np.append(0, np.cumsum(lengths)), type=pa.int64())
    return pa.LargeListArray.from_arrays(offsets, items, mask=array.is_null())


def _suffix(path: Path) -> str:
    suffix = path.suffix.lower()
    if suffix in (".csv", ".parquet", ".pq"):
        return suffix
    raise TableError(
        path.name,
        "a table is written as CSV or Parquet",
        given=f"the suffix {suffix!r}",
        remedy="use .csv or .parquet",
    )


def joined(table: pa.Table, separators: Mapping[str, str]) -> pa.Table:
    """The same table with lists as text; a list of no items is an empty text, a missing one stays missing."""
    columns = {
        name: _joined_column(name, table.column(name), separators.get(name, ";"))
        if is_list(table.schema.field(name).type)
        else table.column(name)
        for name in table.column_names
    }
    return pa.table(columns)


def _joined_column(name: str, column: pa.ChunkedArray[Any], separator: str) -> pa.ChunkedArray[Any]:
    texts: Any = canonical(name, single(column)).cast(pa.large_list(pa.large_string()))
    items = pc.list_flatten(texts)
    if pc.any(pc.match_substring(items, separator)).as_py() or pc.any(pc.equal(items, _EMPTY)).as_py():
        raise TableError(
            name,
            f"in CSV no item of a set is empty or holds the separator {separator!r}",
            given="such an item",
            remedy="write Parquet, or choose another separator",
        )
    found: Any = pc.binary_join(texts, pa.scalar(separator, pa.large_string()))
    return pa.chunked_array([found])


_EMPTY = pa.scalar("", pa.large_string())


def _check_writable(path: Path) -> None:
    rule = "a table's path names a file in a folder that exists"
    if path.is_dir():
        raise TableError(str(path), rule, given="a directory", remedy="name a file in it")
    if not path.parent.is_dir():
        raise TableError(str(path), rule, given="no such folder", remedy="make the folder first")


@contextmanager
def _whole_or_nothing(path: Path) -> Iterator[Path]:
    """A temporary file beside the path that takes its place once written, and is removed on any error."""
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}.part")
    try:
        temporary.touch(exist_ok=False)
        yield temporary
        _to_disk(temporary)
        temporary.replace(path)
        _to_disk(path.parent)
    except (OSError, pa.ArrowException) as error:
        reason = error.strerror if isinstance(error, OSError) else None
        raise TableError(
            str(path),
            "the file is written whole or not at all; this time not at all",
            given=reason or f"a write that failed ({type(error).__name__})",
            remedy="free space on the disk, or write where it is allowed",
        ) from None
    finally:
        temporary.unlink(missing_ok=True)


def _to_disk(path: Path) -> None:
    """Wait until a file, or a folder's list of files, is on the disk."""
    if path.is_dir() and os.name != "posix":
        return  # only POSIX opens folders
    handle = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def give_back(arrow: pa.Table, origin: Origin) -> Any:
    """The table as the kind that came in; for a path, as a pyarrow table.

    Labels are plain text and metadata is gone, so that no unused label goes along. pandas columns have the types that
    pandas gives them by itself; whole numbers and truth values with missing ones are its nullable types, and stay so.
    """
    arrow = _undictionaried(arrow).replace_schema_metadata(None)
    if origin == "pandas":
        return in_pandas(arrow)
    if origin == "polars":
        import polars as pl

        return pl.DataFrame(arrow)
    return arrow


def in_pandas(arrow: pa.Table) -> Any:
    """A table in pandas; whole numbers and truth values with missing ones are its nullable types."""
    pandas = importlib.import_module("pandas")
    nullable: dict[pa.DataType, Any] = {
        pa.bool_(): pandas.BooleanDtype(),
        pa.uint64(): pandas.UInt64Dtype(),
        **{kind: pandas.Int64Dtype() for kind in _WHOLE},
    }
    columns = {
        name: column.to_pandas(types_mapper=nullable.get if column.null_count else None)
        for name, column in zip(arrow.column_names, arrow.columns, strict=True)
    }
    return pandas.DataFrame(columns)


_WHOLE = (pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32())


def _undictionaried(table: pa.Table) -> pa.Table:
    kinds = [
        pa.field(field.name, field.type.value_type if isinstance(field.type, pa.DictionaryType) else field.type)
        for field in table.schema
    ]
    return table.cast(pa.schema(kinds))
