"""Files that come in: streamed to disk as they arrive, under a name that leads nowhere else."""

from __future__ import annotations

import os
import re
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from python_multipart.multipart import MultipartParser, parse_options_header

from sfumato.data.safe_files import opener, private_folder
from sfumato.errors import TableError

MOST_FIELD = 1 << 16
SUFFIXES = (".csv", ".tsv", ".txt", ".parquet", ".pq", ".arrow", ".feather", ".ipc", ".xlsx", ".xlsm")
TREES = (".csv", ".yaml", ".yml", ".json")


def safe_name(given: str, suffixes: tuple[str, ...] = SUFFIXES) -> str:
    """A file's name without its way, in plain letters, with a suffix that is known.

    >>> safe_name("../../etc/Größe 1.CSV")
    'Gr_e_1.csv'
    """
    last = re.split(r"[/\\]", given)[-1]
    stem, dot, suffix = last.rpartition(".")
    if f".{suffix.lower()}" not in suffixes or not dot:
        raise TableError(
            "file",
            f"its name ends with one of {', '.join(suffixes)}",
            given="another ending",
            remedy="save it as CSV, Parquet, Arrow or Excel" if suffixes is SUFFIXES else "save it as CSV or YAML",
        )
    plain = re.sub(r"[^A-Za-z0-9_-]+", "_", stem).strip("_-")[:60] or "table"
    return f"{plain}.{suffix.lower()}"


@dataclass
class Upload:
    """Owns a form under way: its fields, and the one file in it, which is written as it comes."""

    folder: Path
    suffixes: tuple[str, ...] = SUFFIXES
    fields: dict[str, str] = field(default_factory=dict)
    path: Path | None = None
    called: str = ""
    _headers: dict[str, str] = field(default_factory=dict)
    _name: bytes = b""
    _header: bytes = b""
    _part: str = ""
    _file: Any = None
    _text: bytes = b""

    async def read(self, content_type: str, body: AsyncIterator[bytes]) -> None:
        """The whole form; on any mistake nothing is left of it."""
        kind, options = parse_options_header(content_type)
        boundary = options.get(b"boundary", b"")
        if kind != b"multipart/form-data" or not 0 < len(boundary) <= 200:
            raise TableError("file", "it is sent by a form", given="something else", remedy="choose a file and send it")
        calls: Any = {f"on_{name}": getattr(self, f"_{name}") for name in CALLS}
        parser, whole = MultipartParser(boundary, calls), False
        try:
            async for chunk in body:
                parser.write(chunk)
            parser.finalize()
            whole = self._file is None
        finally:
            if self._file is not None:
                self._file.close()
            if not whole and self.path is not None:
                self.path.unlink(missing_ok=True)
                self.path = None

    def _part_begin(self) -> None:
        self._headers, self._text, self._part = {}, b"", ""

    def _header_field(self, data: bytes, start: int, end: int) -> None:
        self._name += data[start:end][:MOST_FIELD]

    def _header_value(self, data: bytes, start: int, end: int) -> None:
        self._header += data[start:end][:MOST_FIELD]

    def _header_end(self) -> None:
        self._headers[self._name.decode("latin-1").lower()] = self._header.decode("utf-8", "replace")
        self._name = self._header = b""

    def _headers_finished(self) -> None:
        _, options = parse_options_header(self._headers.get("content-disposition", ""))
        self._part = options.get(b"name", b"").decode("utf-8", "replace")
        if b"filename" not in options:
            return
        given = options[b"filename"].decode("utf-8", "replace")
        if not given or self.path is not None:
            self._part = ""
            return
        name = safe_name(given, self.suffixes)
        if not self.folder.is_dir():
            private_folder(self.folder)
        self.called, self.path = name, self.folder / name
        self._file = os.fdopen(opener(self.path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), "wb")

    def _part_data(self, data: bytes, start: int, end: int) -> None:
        if self._file is not None:
            self._file.write(data[start:end])
        elif len(self._text) + end - start <= MOST_FIELD:
            self._text += data[start:end]

    def _part_end(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None
        elif self._part:
            self.fields[self._part] = self._text.decode("utf-8", "replace")


CALLS = ("part_begin", "part_data", "part_end", "header_field", "header_value", "header_end", "headers_finished")
