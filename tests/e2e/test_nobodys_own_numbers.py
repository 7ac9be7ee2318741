"""No number that goes out is somebody's own: Adult with a salary in cents, read as a stranger reads a release.

Counted are numbers of the released files that equal a value which at least one record, but fewer than k, hold:
- ends of intervals, of every masked number, in the table, recoding.json, regions.json, partition.json and codebook.json
  (the ends of declared ranges are public and left out);
- every number that the folder tells anywhere, pages included, against the salaries. The rule would allow a mean that is
  on the grid for its roundness; on these tables none has to be there. What centres.json tells besides coordinates
  is computed from the shown numbers alone, and left out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sfumato as sf
from sfumato.data.datasets import load, schemas
from sfumato.maskers.registry import masker_named
from sfumato.publishing import Run

K = 20
ON, TWO = ("age", "education", "hours_per_week"), ("salary",)
RANGES = {"age": (17, 90), "hours_per_week": (1, 99), "salary": (0, 1_000_000)}
NUMBER = re.compile(r"(?<![\w.])-?\d+(?:,\d{3})*(?:\.\d+)?(?:e[+-]?\d+)?(?!\w|\.\d)")
INTERVAL = re.compile(r"^\[(\.\.|-?[\d.e+-]+?)-(\.\.|-?[\d.e+-]+)[)\]]$")
MASKS: dict[str, tuple[str, dict[str, Any]]] = {
    "top_down": ("top_down", {}),
    "best_valid": ("top_down", {"split": "best_valid", "score": "infogain"}),
    "suppress": ("top_down", {"suppress": 0.05}),
    "portfolio": ("top_down", {"search": "portfolio", "seconds": 1.0}),
    "partition": ("partition", {}),
    "cuts": ("partition", {"extent": "cuts"}),
    "mondrian": ("mondrian", {}),
    "median": ("mondrian", {"score": "median"}),
    "genetic": ("genetic", {"generations": 3, "population": 20}),
    "microaggregate": ("microaggregate", {}),
    "fast": ("microaggregate", {"fast": True}),
    "wf_c_means": ("wf_c_means", {}),
    "mdav": ("mdav", {}),
    "linkage": ("linkage", {}),
}
QUICK = ("partition", "cuts", "top_down", "suppress", "mondrian", "genetic", "fast", "mdav")
MOST = {"linkage": 3_000, "mdav": 5_000, "wf_c_means": 5_000}
"""Rows of maskers that take long on all of them: their time grows with the square."""
OPEN = 8_000
"""Rows where the range of salaries is not declared: what differs then are the ends, of which there are two."""


def people(rows: int | None) -> pa.Table:
    """Adult with a salary to the cent, which hardly two people share."""
    table = load("adult", complete=True).table.select(["age", "education", "hours_per_week", "income"])
    rng = np.random.default_rng(5)
    cents = np.minimum(np.rint(100 * rng.lognormal(10.6, 0.6, table.num_rows)), 100_000_000)
    table = table.append_column("salary", pa.array(cents / 100))
    return table if rows is None else table.take(rng.permutation(table.num_rows)[:rows])


def recipe(mask: str, *, declared: bool) -> sf.Recipe:
    taxonomies = schemas.adult()
    schema = sf.Schema(
        age=sf.Number(role="quasi", range=RANGES["age"]),
        education=taxonomies["education"],
        hours_per_week=sf.Number(role="quasi", range=RANGES["hours_per_week"]),
        salary=sf.Number(role="quasi", range=RANGES["salary"] if declared else None, unique_ok=True),
        income=sf.Category(role="sensitive"),
    )
    name, options = MASKS[mask]
    needs = [sf.KAnonymity(ON, K), sf.KAnonymity(TWO, K)]
    by_salary = sf.Clusters("kmeans", k=5, n_init=1, attributes=("age", "salary"), weights={"salary": 20})
    return sf.Recipe(schema=schema, structure=by_salary, mask=masker_named(name)(**options), privacy=needs)


@dataclass(frozen=True)
class Few:
    """By column: the numbers that some record holds, but fewer than k do."""

    of: dict[str, set[float]]

    @classmethod
    def among(cls, table: pa.Table) -> Few:
        found = {}
        for name in RANGES:
            values, counts = np.unique(table.column(name).to_numpy(), return_counts=True)
            found[name] = {float(value) for value in values[counts < K]}
        return cls(found)


def intervals(folder: Path) -> Iterator[tuple[str, str]]:
    """Every label of a masked number, with its column, wherever it stands."""
    table = pq.read_table(folder / "table.parquet")
    for name in RANGES:
        yield from ((name, label) for label in table.column(name).unique().to_pylist() if isinstance(label, str))
    codebook = folder / "codebook.json"
    book = json.loads(codebook.read_text()) if codebook.exists() else {}
    for name, entries in book.items() if "groups" not in book else ():  # of groups it repeats no label
        yield from ((name, label) for label in entries if name in RANGES)


def cuts(folder: Path) -> Iterator[tuple[str, float]]:
    """Breaks of recoding.json, where regions.json cuts, and the ends that partition.json tells."""
    if (folder / "recoding.json").exists():
        form = json.loads((folder / "recoding.json").read_text())
        for name in RANGES.keys() & form["attributes"].keys():
            yield from ((name, float(number)) for number in form["attributes"][name]["breaks"])
    if (folder / "regions.json").exists():
        form = json.loads((folder / "regions.json").read_text())
        yield from ((node["attribute"], float(node["at"])) for node in form["nodes"] if "at" in node)
    if (folder / "partition.json").exists():
        form = json.loads((folder / "partition.json").read_text())
        for name in RANGES.keys() & form["attributes"].keys():
            shown = form["attributes"][name]["shown"]
            yield from ((name, float(end)) for entry in shown for end in entry if end is not None)


def ends(folder: Path) -> set[tuple[str, float]]:
    """Every end of an interval that the release tells, with its column, but for the ends of declared ranges."""
    found = set(cuts(folder))
    for name, label in intervals(folder):
        parts = INTERVAL.match(label)
        found |= {(name, float(text)) for text in (parts.groups() if parts else ()) if text != ".."}
    return {(name, number) for name, number in found if number not in RANGES[name]}


def told(folder: Path) -> set[float]:
    """Every number that stands anywhere in the folder."""
    found: set[float] = set()
    table = pq.read_table(folder / "table.parquet")
    for name in RANGES:
        shown = table.column(name).unique().to_pylist()
        found |= {float(value) for value in shown if isinstance(value, int | float)}
    pages = (path for path in folder.rglob("*") if path.suffix in (".json", ".html", ".md"))
    for path in (path for path in pages if path.name != "centres.json"):
        numbers = {float(label.replace(",", "")) for label in NUMBER.findall(path.read_text(encoding="utf-8"))}
        counts = {float(count) for count in range(table.num_rows + 1)} if path.suffix == ".html" else set()
        found |= numbers - counts  # a report counts records, and a count may be somebody's number by chance
    return found | {number for _, number in ends(folder)}


def published(mask: str, folder: Path, rows: int | None, *, declared: bool, report: bool) -> Few:
    table = people(rows)
    sf.publish(table, recipe(mask, declared=declared), run=Run(report=report)).write(folder)
    return Few.among(table)


def check(mask: str, folder: Path, rows: int | None, *, declared: bool, report: bool) -> None:
    few = published(mask, folder, rows, declared=declared, report=report)
    found = ends(folder)
    shows_intervals = any((folder / name).exists() for name in ("recoding.json", "regions.json", "partition.json"))
    assert any(name == "salary" for name, _ in found) == shows_intervals
    assert [end for end in found if end[1] in few.of[end[0]]] == []
    assert [number for number in told(folder) if number in few.of["salary"]] == []


@pytest.mark.parametrize("mask", QUICK)
def test_no_number_of_a_release_is_held_by_a_few(mask: str, tmp_path: Path) -> None:
    check(mask, tmp_path / "out", 1_000, declared=mask != "suppress", report=False)


@pytest.mark.slow
@pytest.mark.parametrize("declared", [True, False], ids=["declared", "open"])
@pytest.mark.parametrize("mask", MASKS)
def test_no_number_of_most_of_adult_is_held_by_a_few(mask: str, declared: bool, tmp_path: Path) -> None:
    rows = MOST.get(mask) if declared else MOST.get(mask, OPEN)
    check(mask, tmp_path / "out", rows, declared=declared, report=mask in ("top_down", "microaggregate"))
