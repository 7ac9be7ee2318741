"""UCI Credit Approval ("crx"), which is not bundled: found in a folder, in the cache, or downloaded."""

from __future__ import annotations

import csv
import hashlib
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa

from sfumato.data.datasets import schemas
from sfumato.data.schema import Number
from sfumato.errors import DatasetError

URL = "https://archive.ics.uci.edu/ml/machine-learning-databases/credit-screening/crx.data"
# SHA-256 of the 653 complete records in their order, numbers written shortest (see `checksum`). The sum of
# UCI's file as it stands is not pinned: the content is what counts, the same in crx.csv and in crx.data.
SHA256 = "6eff28aa3b1191943dc1ff90e98f3c80bec34ce470cf546cf86805e1d1aedc38"
ROWS = (653, 690)  # complete records, all records
FILES = ("crx.csv", "crx.data")
_REMEDY = f"download {URL} and set SFUMATO_DATA to the folder that holds it as crx.data or crx.csv"

Cell = str | int | float | None


def read() -> pa.Table:
    """The table from the folder SFUMATO_DATA, else from the cache, else from UCI (and then cached).

    Whatever its source, the content is compared with a pinned checksum before it is returned.
    """
    path = find()
    return parse(path) if path is not None else download(URL)


def find() -> Path | None:
    """The first file that is there: in SFUMATO_DATA, then in the cache."""
    named = os.environ.get("SFUMATO_DATA")
    folders = [*([Path(named)] if named else []), cache_folder()]
    return next((folder / name for folder in folders for name in FILES if (folder / name).is_file()), None)


def cache_folder() -> Path:
    """XDG_CACHE_HOME/sfumato, by default ~/.cache/sfumato."""
    home = os.environ.get("XDG_CACHE_HOME")
    return (Path(home) if home else Path.home() / ".cache") / "sfumato"


def download(url: str) -> pa.Table:
    """Fetches UCI's file, checks its content, and only then keeps it in the cache."""
    from urllib.error import URLError
    from urllib.request import urlopen

    try:
        with urlopen(url, timeout=20) as answer:
            content: bytes = answer.read()
    except (URLError, TimeoutError, OSError) as error:
        raise DatasetError(
            "crx",
            "this table is not bundled, is in no folder that was looked in, and could not be downloaded",
            given=type(error).__name__,
            remedy=_REMEDY,
        ) from error
    target = cache_folder() / "crx.data"
    target.parent.mkdir(parents=True, exist_ok=True)
    partial = target.with_name(f"crx.{os.getpid()}.partial")
    partial.write_bytes(content)
    try:
        table = parse(partial)
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)
    return table


def parse(path: Path) -> pa.Table:
    """Reads either form: with the header A1,...,A16, or UCI's own without one; "?" and empty are missing."""
    schema = schemas.crx()
    try:
        with path.open(encoding="utf-8", newline="") as lines:
            rows = [row for row in csv.reader(lines) if row]
        rows = rows[1:] if rows and rows[0] == list(schema) else rows
        cells = [list(_typed(row)) for row in rows]
    except (ValueError, UnicodeDecodeError) as error:
        raise _other(path) from error
    if len(cells) not in ROWS or checksum(cells) != SHA256:
        raise _other(path)
    columns = zip(*cells, strict=True)
    return pa.table({name: pa.array(column) for name, column in zip(schema, columns, strict=True)})


def checksum(rows: Sequence[Sequence[Cell]]) -> str:
    """SHA-256 over the complete rows, in order: cells with commas between, numbers written shortest."""
    complete = (row for row in rows if None not in row)
    text = "".join(",".join(map(str, row)) + "\n" for row in complete)
    return hashlib.sha256(text.encode()).hexdigest()


def _typed(row: Sequence[str]) -> Iterator[Cell]:
    for text, attribute in zip(row, schemas.crx().values(), strict=True):
        if text in ("?", ""):
            yield None
        elif isinstance(attribute, Number):
            yield int(text) if attribute.integer else float(text)
        else:
            yield text


def _other(path: Path) -> DatasetError:
    return DatasetError(
        "crx",
        "the file holds the 653 complete records of UCI's Credit Approval in their order",
        given=f"other content in {path.name}",
        remedy=_REMEDY,
    )
