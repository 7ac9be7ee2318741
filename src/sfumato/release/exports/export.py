"""`export`: a copy of a released table for another program, which appears once it was read back and counted again."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from sfumato.data.writing import write
from sfumato.errors import TableError, did_you_mean
from sfumato.release.exports.cells import cells_of
from sfumato.release.exports.recount import READERS, recount
from sfumato.release.exports.writers import WRITERS

SUFFIXES = {"parquet": ".parquet", "csv": ".csv", "excel": ".xlsx", "stata": ".dta", "spss": ".sav"}
"""The forms of a table by their names."""


def export(table: pa.Table, certificate: Mapping[str, Any], path: Path) -> dict[str, int]:
    """Write a copy in the form that the path's suffix names; tells the smallest group of each claim of k-anonymity.

    The rows stand in the order of the release. The copy is no part of it: its certificate speaks of its own table.
    """
    if path.suffix not in READERS:
        raise TableError(
            path.name,
            f"a copy ends in one of {', '.join(SUFFIXES.values())}",
            given=repr(path.suffix),
            remedy=f"name it {path.stem}.xlsx",
        )
    new = path.with_name(f".{secrets.token_hex(8)}{path.suffix}")
    try:
        if path.suffix in WRITERS:
            WRITERS[path.suffix](new, cells_of(table, certificate), table.num_rows)
        else:
            write(table, new, order=None)
        found = recount(new, table, certificate)
        new.replace(path)
    finally:
        new.unlink(missing_ok=True)
    return found


def suffixes_of(also: str | Sequence[str]) -> list[str]:
    """The suffixes of some forms by their names, each once."""
    names = [also] if isinstance(also, str) else list(dict.fromkeys(also))
    for name in names:
        if name not in SUFFIXES:
            raise TableError(
                "also",
                f"a copy has one of these forms: {', '.join(SUFFIXES)}",
                given=repr(name),
                remedy=did_you_mean(name, tuple(SUFFIXES)),
            )
    return [SUFFIXES[name] for name in names]
