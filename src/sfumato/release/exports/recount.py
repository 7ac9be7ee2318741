"""The recount: a written copy is read by a reader, compared with the release cell by cell, and its groups are counted.

Stata and Excel files are read by other libraries than those that wrote them. Nothing is shared with the writers.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime, time
from importlib import import_module
from pathlib import Path
from typing import Any

import pyarrow as pa

from sfumato.errors import ReleaseError

Cell = str | float | None


def recount(path: Path, table: pa.Table, certificate: Mapping[str, Any]) -> dict[str, int]:
    """Of each claim of k-anonymity, the smallest group in the copy; refused where it is not that of the certificate, or
    where a cell differs."""
    found = READERS[path.suffix](path)
    titles = table.column_names
    if len(found) != len(titles):
        raise _differs(path, "another number of columns")
    read = {title: [_plain(cell) for cell in cells] for title, cells in zip(titles, found, strict=True)}
    for title in titles:
        if read[title] != [_plain(_shown(cell)) for cell in table.column(title).to_pylist()]:
            raise _differs(path, f"other cells in {title!r}")
    smallest = {}
    for claim in certificate["claims"]:
        if claim["claim"] != "k_anonymity":
            continue
        groups = Counter(zip(*(read[name] for name in claim["on"]), strict=True))
        smallest[", ".join(claim["on"])] = min(groups.values(), default=0)
        if smallest[", ".join(claim["on"])] != claim["achieved"]:
            raise _differs(path, "another smallest group")
    return smallest


def _differs(path: Path, how: str) -> ReleaseError:
    return ReleaseError(
        path.name,
        "a copy holds the cells of the release, as a reader of such files finds them",
        given=how,
        remedy="hand over Parquet or CSV, and report this",
    )


def _shown(cell: Any) -> Any:
    """A cell of the release as these programs show it."""
    if isinstance(cell, bool):
        return str(cell).lower()
    if isinstance(cell, list):
        return ";".join(_shown(item) if isinstance(item, str) else str(item) for item in cell)
    return str(cell) if isinstance(cell, date | datetime | time) else cell


def _plain(cell: Any) -> Cell:
    """Numbers as numbers, missing and empty as nothing."""
    if cell is None or cell == "" or (isinstance(cell, float) and math.isnan(cell)):
        return None
    return str(cell) if isinstance(cell, str) else float(cell)


def _excel(path: Path) -> Sequence[Sequence[Any]]:
    frame = import_module("fastexcel").read_excel(str(path)).load_sheet("table").to_polars()
    return [frame[name].to_list() for name in frame.columns]


def _stata(path: Path) -> Sequence[Sequence[Any]]:
    return _statistics("read_dta", path)


def _spss(path: Path) -> Sequence[Sequence[Any]]:
    return _statistics("read_sav", path)


def _statistics(reader: str, path: Path) -> Sequence[Sequence[Any]]:
    """With value labels in the place of codes, as the programs show them."""
    frame, _ = getattr(import_module("pyreadstat"), reader)(str(path), apply_value_formats=True)
    return [frame[name].astype(object).where(frame[name].notna(), None).tolist() for name in frame.columns]


def _csv(path: Path) -> Sequence[Sequence[Any]]:
    import polars as pl

    typed = pl.read_csv(path, infer_schema_length=None)
    return [typed[name].to_list() for name in typed.columns]


def _parquet(path: Path) -> Sequence[Sequence[Any]]:
    import polars as pl

    frame = pl.read_parquet(path, glob=False, hive_partitioning=False)
    return [[_shown(cell) for cell in frame[name].to_list()] for name in frame.columns]


READERS: Mapping[str, Callable[[Path], Sequence[Sequence[Any]]]] = {
    ".xlsx": _excel,
    ".dta": _stata,
    ".sav": _spss,
    ".csv": _csv,
    ".parquet": _parquet,
}
