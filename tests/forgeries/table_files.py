"""The table's file with more in it than its values: every corner of Parquet and CSV where a reader does not look."""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa

from tests.forgeries import forgery
from tests.parquet_parts import BINARY, FALSE, I32, I64, LIST, STRUCT, TRUE, Page, Parts, Struct, varint

RAW = b"Ada Lovelace, 36, Mexico, flu"
HIDDEN: Struct = {1: (BINARY, RAW)}
SORTED: Struct = {1: (I32, 1), 2: (TRUE, True), 3: (FALSE, False)}
Change = Callable[[Parts], object]
MAX_LEVELS = 4  # bytes before a run of levels that tell its length


def in_parquet(name: str, *, of: str = "k_anonymity") -> Callable[[Change], Change]:
    """Enter a change of the parts of table.parquet; sizes and offsets are made to fit."""

    def enter(change: Change) -> Change:
        def forge(folder: Path) -> None:
            parts = Parts.of(folder / "table.parquet")
            change(parts)
            parts.write(folder / "table.parquet")

        forgery(name, of=of)(forge)
        return change

    return enter


def enter_fields() -> None:
    """Fields that readers skip, in every structure of the footer and of page headers."""
    unknown = (100, BINARY, RAW)
    strings = (STRUCT, [HIDDEN])
    places: dict[str, tuple[Callable[[Parts], Struct], int, int, Any]] = {
        "the name of the writing program": (lambda p: p.footer, 6, BINARY, RAW),
        "key-value metadata of the file": (lambda p: p.footer, 5, LIST, strings),
        "orders of columns": (lambda p: p.footer, 7, LIST, (STRUCT, [{1: (STRUCT, HIDDEN)} for _ in range(5)])),
        "an encryption algorithm in the footer": (lambda p: p.footer, 8, STRUCT, {1: (STRUCT, HIDDEN)}),
        "an unknown field of the footer": (lambda p: p.footer, *unknown),
        "an unknown field of a schema element": (lambda p: p.schema[1], *unknown),
        "an unknown field of the schema's root": (lambda p: p.schema[0], *unknown),
        "a field id of a schema element": (lambda p: p.schema[1], 9, I32, 36),
        "a scale of a schema element": (lambda p: p.schema[1], 7, I32, 36),
        "an unknown field of a logical type": (lambda p: p.schema[1][10][1][1][1], *unknown),
        "an unknown field of a row group": (lambda p: p.group(), *unknown),
        "sorting columns of a row group": (lambda p: p.group(), 4, LIST, (STRUCT, [SORTED])),
        "the offset of a row group": (lambda p: p.group(), 5, I64, 36),
        "the number of a row group": (lambda p: p.group(), 7, I64, 36),
        "an unknown field of a column chunk": (lambda p: p.chunk(0), *unknown),
        "a place of a column index": (lambda p: p.chunk(0), 6, I64, 36),
        "encrypted metadata of a column chunk": (lambda p: p.chunk(0), 9, BINARY, RAW),
        "an unknown field of a column's metadata": (lambda p: p.meta(0), *unknown),
        "key-value metadata of a column": (lambda p: p.meta(0), 8, LIST, strings),
        "statistics of a column": (lambda p: p.meta(0), 12, STRUCT, {5: (BINARY, RAW)}),
        "counts of encodings": (lambda p: p.meta(0), 13, LIST, (STRUCT, [{1: (I32, 36), 2: (I32, 1), 3: (I32, 7)}])),
        "a place of a Bloom filter": (lambda p: p.meta(0), 14, I64, 36),
        "size statistics": (lambda p: p.meta(0), 16, STRUCT, {1: (I64, 36), 3: (LIST, (I64, [36, 7]))}),
        "an unknown field of a page header": (lambda p: p.data("age").header, *unknown),
        "a wrong checksum of a page": (lambda p: p.data("age").header, 4, I32, 36),
        "an unknown field of a data page": (lambda p: p.data("age").header[5][1], *unknown),
        "statistics of a page": (lambda p: p.data("age").header[5][1], 5, STRUCT, {5: (BINARY, RAW)}),
        "an unknown field of a dictionary page": (lambda p: p.entries("age").header[7][1], *unknown),
        "a dictionary that says it is sorted": (lambda p: p.entries("age").header[7][1], 3, TRUE, True),
        "a dictionary that says it is not sorted": (lambda p: p.entries("age").header[7][1], 3, FALSE, False),
    }
    for name, (owner, number, kind, value) in places.items():

        def change(
            parts: Parts,
            owner: Callable[[Parts], Struct] = owner,
            number: int = number,
            entry: tuple[int, Any] = (kind, value),
        ) -> None:
            owner(parts)[number] = entry

        in_parquet(f"in Parquet, {name}")(change)


enter_fields()


@in_parquet("in Parquet, another name of the schema")
def root(parts: Parts) -> None:
    parts.schema[0][4] = (BINARY, RAW)


@in_parquet("in Parquet, a path that is not the column's name")
def path(parts: Parts) -> None:
    parts.meta(0)[3] = (LIST, (BINARY, [RAW]))


@in_parquet("in Parquet, a column chunk in a file of another name")
def other_file(parts: Parts) -> None:
    parts.chunk(0)[1] = (BINARY, RAW)


@in_parquet("in Parquet, an offset that nobody reads")
def offset(parts: Parts) -> None:
    parts.chunk(0)[2] = (I64, 36)


@in_parquet("in Parquet, encodings that are not there")
def encodings(parts: Parts) -> None:
    parts.meta(0)[2] = (LIST, (I32, [0, 3, 8, 4, 5, 6]))


@in_parquet("in Parquet, another version of the format")
def version(parts: Parts) -> None:
    parts.footer[1] = (I32, 1)


@in_parquet("in Parquet, an index page")
def index_page(parts: Parts) -> None:
    parts.pages("age").append(Page({1: (I32, 1), 6: (STRUCT, {})}, RAW))


@in_parquet("in Parquet, a page of an unknown type")
def unknown_page(parts: Parts) -> None:
    parts.pages("age").append(Page({1: (I32, 9)}, RAW))


@in_parquet("in Parquet, a second dictionary")
def second_dictionary(parts: Parts) -> None:
    page = parts.entries("age")
    parts.pages("age").append(Page({**page.header}, len(RAW).to_bytes(4, "little") + RAW))


@in_parquet("in Parquet, bytes behind the values of a page")
def behind_values(parts: Parts) -> None:
    parts.data("age").content += RAW


@in_parquet("in Parquet, bytes behind the entries of a dictionary")
def behind_entries(parts: Parts) -> None:
    parts.entries("age").content += RAW


@in_parquet("in Parquet, bytes between the pages and the footer")
def before_footer(parts: Parts) -> None:
    parts.before_footer = RAW


@in_parquet("in Parquet, bytes behind the footer")
def behind_footer(parts: Parts) -> None:
    parts.change_footer = lambda footer: footer + RAW


@in_parquet("in Parquet, compressed pages")
def compressed(parts: Parts) -> None:
    _compress(parts, b"")


@in_parquet("in Parquet, a frame that zstd skips")
def skipped_frame(parts: Parts) -> None:
    _compress(parts, (0x184D2A50).to_bytes(4, "little") + len(RAW).to_bytes(4, "little") + RAW)


def _compress(parts: Parts, before: bytes) -> None:
    parts.meta(0)[4] = (I32, 6)
    for page in parts.groups[0][0]:
        page.size = len(page.content)
        page.content = before + pa.compress(page.content, codec="zstd", asbytes=True)


def _texts(page: Page) -> list[bytes]:
    found, at = [], 0
    while at < len(page.content):
        size = int.from_bytes(page.content[at : at + 4], "little")
        found.append(page.content[at + 4 : at + 4 + size])
        at += 4 + size
    return found


def _places(page: Page, count: int) -> list[int]:
    """Which entry each row has, of a page of places that misses none."""
    at = MAX_LEVELS + int.from_bytes(page.content[:4], "little")
    width, run = page.content[at], page.content[at + 1 + len(varint((count + 7) // 8 << 1 | 1)) :]
    bits = int.from_bytes(run, "little")
    return [bits >> width * row & (1 << width) - 1 for row in range(count)]


def _put_places(page: Page, places: list[int], width: int) -> None:
    at = MAX_LEVELS + int.from_bytes(page.content[:4], "little")
    eights = (len(places) + 7) // 8
    bits = sum(place << width * row for row, place in enumerate(places))
    run = varint(eights << 1 | 1) + bits.to_bytes(eights * width, "little")
    page.content = page.content[:at] + bytes([width]) + run


def _put_texts(page: Page, texts: list[bytes]) -> None:
    page.content = b"".join(len(text).to_bytes(4, "little") + text for text in texts)
    page.header[7][1][1] = (I32, len(texts))


def _rows(parts: Parts) -> int:
    found: int = parts.footer[3][1]
    return found


@in_parquet("in Parquet, an entry that no row shows")
def unused(parts: Parts) -> None:
    _put_texts(parts.entries("disease"), [*_texts(parts.entries("disease")), b"raw: " + RAW])
    _put_places(parts.data("disease"), _places(parts.data("disease"), _rows(parts)), 4)


@in_parquet("in Parquet, one entry for each row, with equal texts")
def one_each(parts: Parts) -> None:
    entries, data = parts.entries("disease"), parts.data("disease")
    texts = _texts(entries)
    shown = [texts[place] for place in _places(data, _rows(parts))]
    _put_texts(entries, shown[::-1])  # the order of entries can tell of any order of rows
    _put_places(data, list(range(len(shown)))[::-1], 8)


@in_parquet("in Parquet, entries in another order")
def other_order(parts: Parts) -> None:
    entries, data = parts.entries("disease"), parts.data("disease")
    texts = _texts(entries)
    _put_texts(entries, texts[::-1])
    _put_places(data, [len(texts) - 1 - place for place in _places(data, _rows(parts))], 2)


@in_parquet("in Parquet, places wider than they need to be")
def wider(parts: Parts) -> None:
    _put_places(parts.data("disease"), _places(parts.data("disease"), _rows(parts)), 8)


@in_parquet("in Parquet, two runs of places for one")
def two_runs(parts: Parts) -> None:
    page = parts.data("disease")
    places = _places(page, _rows(parts))
    _put_places(page, places[80:], 2)
    rest = page.content[MAX_LEVELS + int.from_bytes(page.content[:4], "little") + 1 :]
    _put_places(page, places[:80], 2)
    page.content += rest


@in_parquet("in Parquet, a run of equal places")
def equal_run(parts: Parts) -> None:
    page = parts.data("disease")
    places = _places(page, _rows(parts))
    _put_places(page, places[8:], 2)
    at = MAX_LEVELS + int.from_bytes(page.content[:4], "little") + 1
    one_by_one = b"".join(varint(1 << 1) + bytes([place]) for place in places[:8])
    page.content = page.content[:at] + one_by_one + page.content[at:]


@in_parquet("in Parquet, levels as runs of equal ones")
def level_run(parts: Parts) -> None:
    page = parts.data("age")
    size = int.from_bytes(page.content[:4], "little")
    levels = varint(_rows(parts) << 1) + b"\1"
    page.content = len(levels).to_bytes(4, "little") + levels + page.content[MAX_LEVELS + size :]


@in_parquet("in Parquet, bytes behind the levels")
def behind_levels(parts: Parts) -> None:
    page = parts.data("age")
    size = int.from_bytes(page.content[:4], "little")
    end = MAX_LEVELS + size
    page.content = (size + len(RAW)).to_bytes(4, "little") + page.content[4:end] + RAW + page.content[end:]


@in_parquet("in Parquet, bits that fill up the last byte")
def padding(parts: Parts) -> None:
    """One number is missing now, which anybody may see; what fills its place nobody does."""
    page = parts.data("hours")
    places = _places(page, _rows(parts))
    end = MAX_LEVELS + int.from_bytes(page.content[:4], "little")
    page.content = page.content[: end - 1] + bytes([page.content[end - 1] & 127]) + page.content[end:]
    _put_places(page, [*places[:-1], 3], 2)


@in_parquet("in Parquet, eight rows more in a run than there are")
def longer_run(parts: Parts) -> None:
    page = parts.data("disease")
    _put_places(page, [*_places(page, _rows(parts)), *[3] * 8], 2)


@in_parquet("in Parquet, values one by one in place of a dictionary")
def one_by_one(parts: Parts) -> None:
    entries, data = parts.entries("hours"), parts.data("hours")
    values = struct.unpack(f"<{len(entries.content) // 8}q", entries.content)
    places = _places(data, _rows(parts))
    end = MAX_LEVELS + int.from_bytes(data.content[:4], "little")
    data.content = data.content[:end] + struct.pack(f"<{len(places)}q", *(values[place] for place in places))
    data.header[5][1][2] = (I32, 0)
    parts.pages("hours").remove(entries)
    del parts.meta(parts.column("hours"))[11]


@in_parquet("in Parquet, another whole number for a size")
def other_sizes(parts: Parts) -> None:
    parts.data("age").size = 36


@in_parquet("in Parquet, a number written longer than it is")
def long_number(parts: Parts) -> None:
    rows = b"\x16" + varint(_rows(parts) << 1)
    padded = rows[:-1] + bytes([rows[-1] | 128, 128, 128, 0])
    parts.change_footer = lambda footer: footer.replace(rows + b"\x19", padded + b"\x19", 1)


@in_parquet("in Parquet, more rows than there is room for")
def too_many_rows(parts: Parts) -> None:
    parts.footer[3] = (I64, 30_000_000)
    parts.group()[3] = (I64, 30_000_000)


@in_parquet("in Parquet, two pages of rows for one")
def two_pages(parts: Parts) -> None:
    page, at = parts.data("disease"), parts.column("disease")
    places, rows = _places(page, _rows(parts)), _rows(parts)
    made = []
    for part in (places[:80], places[80:]):
        levels = varint((len(part) + 7) // 8 << 1 | 1) + b"\xff" * ((len(part) + 7) // 8)
        half = Page({1: (I32, 0), 5: (STRUCT, {**page.header[5][1], 1: (I32, len(part))})}, b"")
        half.content = len(levels).to_bytes(4, "little") + levels
        _put_places(half, part, 2)
        made.append(half)
    assert rows == len(places)
    parts.groups[0][at] = [parts.entries("disease"), *made]


@in_parquet("in Parquet, required columns where they are optional")
def required(parts: Parts) -> None:
    parts.schema[4][3] = (I32, 0)
    page = parts.data("disease")
    page.content = page.content[MAX_LEVELS + int.from_bytes(page.content[:4], "little") :]


def _as_floats(parts: Parts, name: str, bits: Callable[[list[float]], list[int]]) -> None:
    """A column of numbers whose different values get these bits."""
    at = parts.column(name)
    entries = parts.entries(name)
    kind = "d" if parts.meta(at)[1][1] == 5 else "q"
    values = [float(value) for value in struct.unpack(f"<{len(entries.content) // 8}{kind}", entries.content)]
    entries.content = struct.pack(f"<{len(values)}Q", *bits(values))
    parts.meta(at)[1] = (I32, 5)
    parts.schema[at + 1][1] = (I32, 5)


def _bits(value: float) -> int:
    found: int = struct.unpack("<Q", struct.pack("<d", value))[0]
    return found


def _payload(values: list[float]) -> list[int]:
    return [*(_bits(value) for value in values[:-1]), 0x7FF8_0000_0000_0000 + 36]


def _minus_zero(values: list[float]) -> list[int]:
    return [_bits(-0.0), *(_bits(value) for value in values[1:])]


in_parquet("in Parquet, a NaN with a payload")(lambda parts: _as_floats(parts, "hours", _payload))
in_parquet("in Parquet, a minus zero")(lambda parts: _as_floats(parts, "hours", _minus_zero))
in_parquet("in Parquet, a masked NaN with a payload", of="mdav")(lambda parts: _as_floats(parts, "age", _payload))
in_parquet("in Parquet, a masked minus zero", of="mdav")(lambda parts: _as_floats(parts, "age", _minus_zero))


@in_parquet("in Parquet, two NaN that differ in their sign")
def two_nans(parts: Parts) -> None:
    _as_floats(parts, "hours", lambda values: [_bits(values[0]), 0x7FF8 << 48, 0xFFF8 << 48][: len(values)])


@in_parquet("in Parquet, a text that is not UTF-8")
def not_utf_8(parts: Parts) -> None:
    texts = _texts(parts.entries("disease"))
    _put_texts(parts.entries("disease"), [*texts[:-1], b"\xff" + texts[-1]])


CSV: dict[str, Callable[[bytes], bytes]] = {
    "other line ends": lambda text: text.replace(b"\n", b"\r\n"),
    "another end of one line": lambda text: text.replace(b"\n", b"\r\n", 2).replace(b"\r\n", b"\n", 1),
    "a bare carriage return for a line end": lambda text: text.replace(b"\n", b"\r", 3),
    "a blank line": lambda text: text.replace(b"\n", b"\n\n", 7),
    "blank lines at the end": lambda text: text + b"\n\n\n",
    "no end of the last line": lambda text: text[:-1],
    "quotes around a name": lambda text: text.replace(b"age", b'"age"', 1),
    "quotes around a cell": lambda text: text.replace(b"flu", b'"flu"', 5),
    "quotes around all cells of a column": lambda text: text.replace(b",40\n", b',"40"\n'),
    "quotes around half a cell": lambda text: text.replace(b"flu", b'f"lu"', 1),
    "a byte order mark": lambda text: b"\xef\xbb\xbf" + text,
    "a space behind a comma": lambda text: text.replace(b",40\n", b", 40\n", 3),
    "a number with a point": lambda text: text.replace(b",40\n", b",40.0\n", 3),
    "all of a number with a point": lambda text: text.replace(b",40\n", b",40.0\n"),
    "a number with a plus": lambda text: text.replace(b",40\n", b",+40\n"),
    "a number with a zero before it": lambda text: text.replace(b",40\n", b",040\n"),
    "a number with an exponent": lambda text: text.replace(b",40\n", b",4e1\n"),
    "a number in other digits": lambda text: text.replace(b",40\n", ",４０\n".encode()),
    "a number that is none": lambda text: text.replace(b",40\n", b",forty\n"),
    "a NaN of another case": lambda text: text.replace(b",40\n", b",nan\n"),
    "a number with a separator": lambda text: text.replace(b",40\n", b",4_0\n"),
    "bytes behind the last row": lambda text: text + b"\0" * 40,
    "a comment": lambda text: text + b"# " + RAW + b"\n",
}


def enter_csv() -> None:
    """Changes of table.csv that a reader passes over, or takes for the same number."""
    for name, change in CSV.items():

        def forge(folder: Path, change: Callable[[bytes], bytes] = change) -> None:
            before = (folder / "table.csv").read_bytes()
            after = change(before)
            if after == before:
                raise AssertionError("a forgery changes the file")
            (folder / "table.csv").write_bytes(after)

        forgery(f"in CSV, {name}", of="csv")(forge)


enter_csv()


@forgery("a CSV table said to be safe for spreadsheets that is not", of="csv")
def said_safe(folder: Path) -> None:
    text = (folder / "table.csv").read_text(encoding="utf-8").replace("flu", "=1+1")
    (folder / "table.csv").write_text(text, encoding="utf-8")
    _say_safe(folder)


@forgery("a number of a table that is safe for spreadsheets behind an apostrophe", of="csv")
def marked_number(folder: Path) -> None:
    text = (folder / "table.csv").read_text(encoding="utf-8").replace(",40\n", ",'-40\n", 1)
    (folder / "table.csv").write_text(text, encoding="utf-8")
    _say_safe(folder)


def _say_safe(folder: Path) -> None:
    certificate = folder / "certificate.json"
    text = certificate.read_text(encoding="utf-8").replace('"spreadsheet_safe": false', '"spreadsheet_safe": true')
    certificate.write_text(text, encoding="utf-8")
