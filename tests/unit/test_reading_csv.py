"""CSV files of every make."""

from __future__ import annotations

import codecs
from pathlib import Path

import pytest

from sfumato.data.reading import headers, read, read_arrow
from sfumato.data.schema import Category, Number, Schema
from sfumato.errors import TableError

SCHEMA = Schema(city=Category(), age=Number())
TEXT = "city{d}age\nKöln{d}40\n東京{d}41\n"


def _cities(path: Path, encoding: str | None = None) -> list[str]:
    return [str(city) for city in read(path, SCHEMA, encoding=encoding).column("city").decode()]


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_delimiter_is_found(delimiter: str, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text(TEXT.format(d=delimiter), encoding="utf-8")
    assert headers(path) == ["city", "age"]
    assert _cities(path) == ["Köln", "東京"]


def test_the_delimiter_is_the_one_all_lines_agree_on(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text('city;age\n"a;b";1,5\nc,d,e;2,5\n')
    assert headers(path) == ["city", "age"]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_unicode_is_recognised(encoding: str, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text(TEXT.format(d=","), encoding=encoding)
    assert headers(path) == ["city", "age"]
    assert _cities(path) == ["Köln", "東京"]


def test_big_endian_utf16(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(codecs.BOM_UTF16_BE + TEXT.format(d=";").encode("utf-16-be"))
    assert _cities(path) == ["Köln", "東京"]


def test_other_encodings_are_passed(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes("city,age\nKöln,40\n".encode("latin-1"))
    assert _cities(path, "latin-1") == ["Köln"]
    assert _cities(path, "cp1252") == ["Köln"]


def test_line_endings_and_blank_lines(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(b"\r\ncity,age\r\nA,1\r\n\r\nB,2")
    assert _cities(path) == ["A", "B"]


def test_in_a_single_column_a_blank_line_is_a_missing_value(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("age\n1\n\n3\n")
    assert read(path, Schema(age=Number())).column("age").decode().to_pylist() == [1, None, 3]


def test_cells_with_delimiters_quotes_and_line_breaks(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text('"city",age\n"a,b",1\n"say ""hi""",2\n"two\nlines",3\nfive " inch,4\n', newline="")
    assert _cities(path) == ["a,b", 'say "hi"', "two\nlines", 'five " inch']


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "empty file"),
        (b"\n\n", "empty file"),
        (b"city,age\nA,1\nJos\xe9,2\n", "line 3.*UTF-8"),
        (b"c\xefty,age\nA,1\n", "line 1.*UTF-8"),
        (b"city,age\nA,1\nB\n", "line 3.*1 fields"),
        (b'city,age\n"A\nB",1\nC,2,3\n', "line 4.*3 fields"),
        (b'city,age\nA,1\n"B,2\nC,3\n', "after line 2.*never ends"),
        (b"city,age\n", "a table must have rows"),
        (b"city,city\nA,1\n", "city.*2 columns"),
        (b"city,\nA,1\n", "column 2.*empty name"),
        (b"city,age\nA,1\nB,secret\n", "age.*line 3"),
        (b'city,age\n"A\nA",1\n\nB,secret\n', "age.*line 5"),
        (b"city,age\nA,99999999999999999999\n", "age.*line 2.*too large"),
        (b"city,age\nA,-1\nB,18446744073709551615\n", "age.*line 3.*too large"),
        (b"city,age\nA,1.5\nB,9007199254740993\n", "age.*line 3.*too large"),
        (b"city,age\nA,1e999\n", "age.*line 2.*too large"),
        (b"city,age\nA,0x10\n", "age.*line 2"),
    ],
)
def test_bad_files_are_refused(content: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(content)
    with pytest.raises(TableError, match=message) as caught:
        read(path, SCHEMA)
    assert "secret" not in str(caught.value)
    assert caught.value.remedy
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


def test_utf16_cut_short(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(TEXT.format(d=",").encode("utf-16")[:-1])
    with pytest.raises(TableError, match="utf-16"):
        read(path, SCHEMA)


def test_unknown_encoding(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("city,age\nA,1\n")
    with pytest.raises(TableError, match="klingon"):
        read(path, SCHEMA, encoding="klingon")


@pytest.mark.slow
def test_an_error_far_into_a_big_file_names_its_line(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    rows = "".join(f"town {n},{n}\n" for n in range(700_000))
    path.write_text("city,age\n" + rows + "last,many\n")
    with pytest.raises(TableError, match="line 700002"):
        read(path, SCHEMA)


def test_numbers_that_begin_beyond_the_first_block(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("age\n" + "1\n" * 5_000_000 + "1.5\n")
    values = read(path, Schema(age=Number())).column("age").values
    assert values.to_pylist() == [1.0, 1.5]
    assert read_arrow(path).num_rows == 5_000_001
