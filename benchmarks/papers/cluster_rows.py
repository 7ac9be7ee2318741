"""Results of paper 000's test cases: kept as CSV, picked, paired and tested."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.papers.cluster_measuring import Row
from benchmarks.papers.cluster_settings import Setting

SAME = 5e-5
"""Figures that differ by less are the same: results are kept with five digits."""

Series = NDArray[np.float64]


def write(path: Path, rows: Iterable[Row]) -> None:
    """One line per test case."""
    with path.open("w", encoding="utf-8", newline="") as file:
        lines = csv.writer(file, lineterminator="\n")
        lines.writerow([*_names(Setting), *_figures()])
        for row in rows:
            cells = [getattr(row.setting, name) for name in _names(Setting)] + [getattr(row, n) for n in _figures()]
            lines.writerow([_text(cell) for cell in cells])


def read(path: Path) -> list[Row]:
    """What `write` wrote."""
    with path.open(encoding="utf-8", newline="") as file:
        return [_row(line) for line in csv.DictReader(file)]


def pick(rows: Sequence[Row], **wanted: Any) -> list[Row]:
    """Rows whose settings have these values, in the order of threshold, QID and seed."""
    found = [row for row in rows if all(getattr(row.setting, name) == value for name, value in wanted.items())]
    return sorted(found, key=lambda row: (row.setting.h, row.setting.qid, row.setting.seed))


def series(rows: Sequence[Row], figure: str, **wanted: Any) -> Series:
    """One figure of the picked rows."""
    return figures(pick(rows, **wanted), figure)


def figures(rows: Sequence[Row], name: str) -> Series:
    """One figure of these rows, in their order."""
    return np.array([getattr(row, name) for row in rows], dtype=np.float64)


def p_value(ours: Series, theirs: Series) -> float:
    """One-tailed paired t-test: how likely so large a lead of ours is by chance. 1 where there is no difference."""
    from scipy.stats import ttest_rel

    apart = ours - theirs
    if len(apart) < 2 or np.abs(apart).max() < SAME:
        return 1.0
    if np.ptp(apart) < SAME:
        return 0.0 if apart[0] > 0 else 1.0
    return float(ttest_rel(ours, theirs, alternative="greater").pvalue)


def tally(ours: Series, theirs: Series) -> str:
    """How often ours is better, the same, worse."""
    apart = ours - theirs
    return f"{(apart > SAME).sum()} / {(np.abs(apart) <= SAME).sum()} / {(apart < -SAME).sum()}"


def _names(kind: type[Any]) -> list[str]:
    return [field.name for field in fields(kind)]


def _figures() -> list[str]:
    return [name for name in _names(Row) if name != "setting"]


def _text(cell: object) -> str:
    if isinstance(cell, float):
        return "" if np.isnan(cell) else f"{cell:.5f}"
    return str(cell)


def _row(line: dict[str, str]) -> Row:
    setting: dict[str, Any] = {field.name: _value(str(field.type), line[field.name]) for field in fields(Setting)}
    results: dict[str, Any] = {
        field.name: _value(str(field.type), line.get(field.name, ""))
        for field in fields(Row)
        if field.name != "setting"
    }
    return Row(Setting(**setting), **results)


def _value(kind: str, text: str) -> int | float | str:
    if kind == "float":
        return float(text) if text else float("nan")
    return int(text) if kind == "int" else text
