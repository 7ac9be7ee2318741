"""Parquet files that claim more than they hold, written byte by byte: no library writes them."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence
from typing import Any

import pyarrow as pa

Field = tuple[int, str, Any]
KINDS = {"i32": 5, "i64": 6, "bytes": 8, "list": 9, "struct": 12}
GZIP, ZSTD = 2, 6


def varint(number: int) -> bytes:
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes([*out, number])


def zigzag(number: int) -> bytes:
    return varint(number << 1 if number >= 0 else -number * 2 - 1)


def value(kind: str, content: Any) -> bytes:
    if kind in ("i32", "i64"):
        return zigzag(content)
    if kind == "bytes":
        return varint(len(content)) + bytes(content)
    if kind == "struct":
        return thrift(content)
    of, entries = content
    size = bytes([len(entries) << 4 | KINDS[of]]) if len(entries) < 15 else bytes([0xF0 | KINDS[of]])
    return size + (b"" if len(entries) < 15 else varint(len(entries))) + b"".join(value(of, one) for one in entries)


def thrift(fields: Sequence[Field]) -> bytes:
    """A structure in Thrift's compact encoding."""
    out, before = b"", 0
    for number, kind, content in fields:
        out += bytes([(number - before) << 4 | KINDS[kind]]) + value(kind, content)
        before = number
    return out + b"\0"


def whole(body: bytes, footer: bytes) -> bytes:
    return b"PAR1" + body + footer + struct.pack("<I", len(footer)) + b"PAR1"


def page(content: bytes, header: Field, *, claimed: int | None = None, kind: int = 0) -> bytes:
    sizes: list[Field] = [(1, "i32", kind), (2, "i32", len(content) if claimed is None else claimed)]
    return thrift([*sizes, (3, "i32", len(content)), header]) + content


def column(
    names: Sequence[str], *, rows: int, pages: Sequence[bytes], codec: int = 0, values: int | None = None, kind: int = 6
) -> bytes:
    """A file whose columns of text all lie in the same pages: the first is the dictionary if there are two."""
    body = b"".join(pages)
    first = 4 + (len(pages[0]) if len(pages) > 1 else 0)
    about: list[Field] = [
        (1, "i32", kind),
        (2, "list", ("i32", [0, 8])),
        (3, "list", ("bytes", [names[0].encode()])),
        (4, "i32", codec),
        (5, "i64", rows if values is None else values),
        (6, "i64", len(body)),
        (7, "i64", len(body)),
        (9, "i64", first),
    ]
    if len(pages) > 1:
        about.append((11, "i64", 4))
    chunks = []
    for name in names:
        told = [(n, k, ("bytes", [name.encode()]) if n == 3 else v) for n, k, v in about]
        chunks.append([(2, "i64", 0), (3, "struct", told)])
    root: list[Field] = [(4, "bytes", b"schema"), (5, "i32", len(names))]
    text: list[Field] = [(6, "i32", 0)] if kind == 6 else []
    leaves = [[(1, "i32", kind), (3, "i32", 0), (4, "bytes", name.encode()), *text] for name in names]
    group: list[Field] = [(1, "list", ("struct", chunks)), (2, "i64", len(body)), (3, "i64", rows)]
    footer = [
        (1, "i32", 1),
        (2, "list", ("struct", [root, *leaves])),
        (3, "i64", rows),
        (4, "list", ("struct", [group])),
    ]
    return whole(body, thrift(footer))


def dictionary(texts: Sequence[bytes], *, claimed: int | None = None) -> bytes:
    content = b"".join(struct.pack("<I", len(text)) + text for text in texts)
    header = [(1, "i32", len(texts) if claimed is None else claimed), (2, "i32", 0)]
    return page(content, (7, "struct", header), kind=2)


def run_of(rows: int) -> bytes:
    """A data page in which one dictionary entry is repeated."""
    content = b"\1" + varint(rows << 1) + b"\0"
    return page(content, (5, "struct", [(1, "i32", rows), (2, "i32", 8), (3, "i32", 3), (4, "i32", 3)]))


def claims_rows(names: Sequence[str], rows: int) -> bytes:
    """Two hundred bytes that stand for millions of rows."""
    return column(names, rows=rows, pages=[dictionary([b"*"]), run_of(rows)])


def unpacks(names: Sequence[str], *, codec: int, size: int, lie: int | None = None) -> bytes:
    """A page of zeros, packed a thousand times smaller."""
    rows = size // 8
    content = gzipped_zeros(size >> 20) if codec == GZIP else pa.compress(bytes(size), codec="zstd", asbytes=True)
    header = [(1, "i32", rows), (2, "i32", 0), (3, "i32", 3), (4, "i32", 3)]
    packed = page(content, (5, "struct", header), claimed=size if lie is None else lie)
    return column(names, rows=rows, pages=[packed], codec=codec, kind=5)


def gzipped_zeros(megabytes: int) -> bytes:
    """One packed megabyte after the other: nothing in them refers to what was before, so that one is packed once."""
    block, packer = bytes(1 << 20), zlib.compressobj(9, zlib.DEFLATED, -15)
    packed, sum_of_all = packer.compress(block) + packer.flush(zlib.Z_FULL_FLUSH), 0
    for _ in range(megabytes):
        sum_of_all = zlib.crc32(block, sum_of_all)
    end = sum_of_all.to_bytes(4, "little") + (megabytes << 20).to_bytes(4, "little")
    return b"\x1f\x8b\x08" + bytes(7) + packed * megabytes + packer.flush() + end


def nested(depth: int, *, lists: bool) -> bytes:
    """A footer of structures in structures, or of lists in lists."""
    return whole(b"", (b"\x19" + b"\x19" * depth if lists else b"\x1c" * depth) + b"\0" * (depth + 1))


def listing(size: int, kind: str = "struct") -> bytes:
    """A footer whose list claims so many entries."""
    return whole(b"", b"\x15\2\x19" + bytes([0xF0 | KINDS[kind]]) + varint(size))
