"""Tables that are small on disk and endless when they are read: refused in words, before they are read."""

from __future__ import annotations

import zipfile
import zlib
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sfumato.data.packed_files import check_workbook
from sfumato.data.reading import read_arrow
from sfumato.errors import TableError
from tests import parquet_bombs as bombs

pytest.importorskip("fastexcel")
xlsxwriter = pytest.importorskip("xlsxwriter")


def workbook(path: Path, rows: int = 50) -> Path:
    book = xlsxwriter.Workbook(str(path))
    sheet = book.add_worksheet()
    for row in range(rows):
        sheet.write_row(row, 0, ["age", "sex"] if not row else [row, "f"])
    book.close()
    return path


def changed(path: Path, part: str, content: bytes) -> Path:
    """The workbook with another part."""
    with zipfile.ZipFile(path) as old:
        parts = {name: old.read(name) for name in old.namelist()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as new:
        for name, of in {**parts, part: content}.items():
            new.writestr(name, of)
    return path


@pytest.fixture
def little(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bombs of some megabytes instead of gigabytes."""
    monkeypatch.setattr("sfumato.data.packed_files.FREE", 1 << 20)


SHEET = "xl/worksheets/sheet1.xml"


def test_an_honest_workbook_is_read(tmp_path: Path) -> None:
    assert read_arrow(workbook(tmp_path / "a.xlsx", 3000)).num_rows == 2999


def test_a_workbook_that_unpacks_to_gigabytes_is_refused_whatever_it_says_of_its_size(
    tmp_path: Path, little: None
) -> None:
    path = workbook(tmp_path / "a.xlsx")
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    packed = b"".join(packer.compress(bytes(1 << 20)) for _ in range(60)) + packer.flush()
    with zipfile.ZipFile(path, "a") as book:
        book.writestr("xl/y.xml", packed, compress_type=zipfile.ZIP_STORED)
        local = book.getinfo("xl/y.xml").header_offset
    content = bytearray(path.read_bytes())
    # The part is stored as it is; from here on it says that it is packed, and still that it is no larger than so.
    for start, at in ((local, 8), (content.rindex(b"PK\x01\x02"), 10)):
        content[start + at : start + at + 2] = zipfile.ZIP_DEFLATED.to_bytes(2, "little")
    path.write_bytes(content)
    assert path.stat().st_size < 100_000
    with pytest.raises(TableError, match="unpacks to more than 500 times its size"):
        read_arrow(path)


FAR = {
    "one corner": '<row r="1"><c r="A1"/></row><row r="1048576"><c r="XFD1048576"><v>1</v></c></row>',
    "two edges": "<row r='1'><c s='0' r='XFD1'><v>1</v></c></row><row r='1048576'><c r='A1048576'/></row>",
}


@pytest.mark.parametrize("cells", FAR.values(), ids=FAR)
def test_a_sheet_that_reaches_to_the_end_of_the_world_is_refused(tmp_path: Path, cells: str) -> None:
    text = f'<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>{cells}'
    path = changed(workbook(tmp_path / "a.xlsx"), SHEET, f"{text}</sheetData></worksheet>".encode())
    with pytest.raises(TableError, match="far beyond its filled cells"):
        read_arrow(path)


def test_what_is_no_workbook_is_left_to_its_reader(tmp_path: Path) -> None:
    path = tmp_path / "a.xlsx"
    path.write_bytes(b"PK\3\4 nothing")
    check_workbook(path)
    with pytest.raises(TableError, match="whole Excel"):
        read_arrow(path)


def test_parquet_that_claims_millions_of_rows_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    path.write_bytes(bombs.claims_rows(["age"], 30_000_000))
    with pytest.raises(TableError, match="more rows than so small a file can hold"):
        read_arrow(path)


def test_parquet_that_unpacks_to_gigabytes_is_refused(tmp_path: Path, little: None) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"a": pa.array([b"\0" * (4 << 20)] * 12)}), path, compression="zstd", use_dictionary=False)
    with pytest.raises(TableError, match="unpacks to more than 500 times its size"):
        read_arrow(path)


def test_an_honest_table_that_packs_well_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"a": pa.array(["x"] * 2_000_000)}), path)
    assert read_arrow(path).num_rows == 2_000_000


def test_arrow_that_claims_millions_of_rows_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.arrow"
    with pa.ipc.new_file(str(path), pa.schema([("a", pa.null())])) as file:
        file.write(pa.record_batch([pa.nulls(1 << 28)], names=["a"]))
    with pytest.raises(TableError, match="more rows than so small a file can hold"):
        read_arrow(path)


def test_arrow_that_unpacks_to_gigabytes_is_refused_at_the_first_batch_too_many(tmp_path: Path, little: None) -> None:
    path = tmp_path / "a.arrow"
    batch = pa.record_batch([pa.array([b"\0" * (4 << 20)])], names=["a"])
    with pa.ipc.new_file(str(path), batch.schema, options=pa.ipc.IpcWriteOptions(compression="zstd")) as file:
        for _ in range(12):
            file.write(batch)
    with pytest.raises(TableError, match="unpacks to more than 500 times its size"):
        read_arrow(path)


@pytest.mark.parametrize("ending", ["csv", "parquet", "arrow", "xlsx"])
def test_a_pipe_is_not_waited_for(tmp_path: Path, ending: str) -> None:
    import os

    path = tmp_path / f"a.{ending}"
    os.mkfifo(path)
    with pytest.raises(TableError, match="a pipe"):
        read_arrow(path)
