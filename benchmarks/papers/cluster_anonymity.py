"""Paper 000, section 5, redone: does masking that is guided by clusters keep them, and better than blind masking?

python -m benchmarks.papers.cluster_anonymity                # everything: twenty minutes of CPU
python -m benchmarks.papers.cluster_anonymity --quick        # a few test cases, into a temporary folder
python -m benchmarks.papers.cluster_anonymity --plots-only   # tables and plots again from the kept results
python -m benchmarks.papers.cluster_anonymity --sample 24    # so many of the kept results measured again, and compared
python -m benchmarks.papers.cluster_anonymity --said         # what the page's sentences tell beside the tables

CRX is not bundled: SFUMATO_DATA names the folder that holds it. Without it the benchmark goes on with Adult alone.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from importlib import import_module
from itertools import groupby
from math import isnan
from multiprocessing import get_context
from pathlib import Path
from tempfile import gettempdir

from benchmarks.papers import cluster_rows
from benchmarks.papers.cluster_measuring import Row, measure
from benchmarks.papers.cluster_page import fill
from benchmarks.papers.cluster_plots import plot
from benchmarks.papers.cluster_published import published
from benchmarks.papers.cluster_said import said
from benchmarks.papers.cluster_settings import FULL, QUICK, Setting, people, settings
from sfumato.errors import DatasetError

NAME = "cluster_anonymity"
TOGETHER = 16
"""The most test cases that a process takes at once; they share a raw structure."""
PUBLISHED = ("published", "seeds")
"""Experiments that are measured by `publish`."""
LAST_DIGIT = 1e-3
"""Figures on the page have three digits."""
OUT = Path(__file__).parents[2] / "docs" / "results"


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Paper 000, section 5, redone.")
    parser.add_argument("--quick", action="store_true", help="a few test cases")
    parser.add_argument("--plots-only", action="store_true", help="tables and plots from the kept results")
    parser.add_argument("--only", help="measure one experiment again (a word in the results' first column)")
    parser.add_argument("--sample", type=int, metavar="N", help="measure N of the kept results again; writes nothing")
    parser.add_argument("--said", action="store_true", help="figures of the page's sentences, from the kept results")
    parser.add_argument("--out", type=Path, help="folder for results, tables and plots (docs/results)")
    parser.add_argument("--processes", type=int, default=2)
    given = parser.parse_args(arguments)
    out: Path = given.out or (Path(gettempdir()) / f"{NAME}_quick" if given.quick else OUT)
    out.mkdir(parents=True, exist_ok=True)
    kept = out / f"{NAME}.csv"
    if given.said:
        print(*said(cluster_rows.read(kept)), sep="\n")
        return
    if given.sample:
        had = set(tables())
        rows = [row for row in cluster_rows.read(kept) if row.setting.dataset in had]
        print(*compared(rows, given.sample), sep="\n")
        return
    if not given.plots_only:
        cases = [case for name in tables() for case in settings(name, QUICK if given.quick else FULL)]
        others = [row for row in cluster_rows.read(kept) if row.setting.experiment != given.only] if given.only else []
        asked = [case for case in cases if given.only in (None, case.experiment)]
        cluster_rows.write(kept, [*others, *measured(asked, given.processes)])
    rows = cluster_rows.read(kept)
    fill(out / f"{NAME}.md", rows)
    print(*(f"wrote {path}" for path in [kept, out / f"{NAME}.md", *plot(out / NAME, rows)]), sep="\n")


def compared(rows: list[Row], count: int) -> Iterator[str]:
    """Markdown: kept results at even distances, beside what the same test cases give now."""
    yield "| experiment | table | clusterer | clusters | QID | h | mask | F kept | F now | agreement kept | now |"
    yield "|---|---|---|---|---|---|---|---|---|---|---|"
    same = 0
    chosen = [rows[at * len(rows) // count] for at in range(count)]
    for old in chosen:
        of = old.setting
        now = _measured([of])[0]
        pairs = [(old.f_start, now.f_start), (old.agreement, now.agreement)]
        cells = [of.experiment, of.dataset, of.method, of.clusters, of.qid, of.h, of.mask]
        same += all(abs(one - other) < LAST_DIGIT or isnan(one) for one, other in pairs)
        yield "| " + " | ".join([*map(str, cells), *(f"{value:.3f}" for pair in pairs for value in pair)]) + " |"
    yield f"\n{same} of {count} as kept, to three digits"


def tables() -> Iterator[str]:
    """The tables that can be had."""
    for name in ("adult", "crx"):
        try:
            people(name)
        except DatasetError as error:
            print(f"going on without {name}: {error}", file=sys.stderr)
        else:
            yield name


def measured(cases: list[Setting], processes: int) -> Iterator[Row]:
    """Test cases in their order; tells how far it is."""
    began = time.perf_counter()
    print(f"{len(cases):,} test cases", file=sys.stderr)
    done = 0
    # not forked: a copy of a process whose libraries have threads waits for ever for locks that nobody gives back
    with ProcessPoolExecutor(processes, get_context("spawn"), initializer=_one_thread) as pool:
        for rows in pool.map(_measured, list(batches(cases))):
            done += len(rows)
            print(f"{done:,} after {time.perf_counter() - began:.0f} s", file=sys.stderr)
            yield from rows


def batches(cases: list[Setting]) -> Iterator[list[Setting]]:
    """Neighbours with the same raw structure."""
    for _, same in groupby(cases, key=lambda case: (case.dataset, case.method, case.clusters, case.seed)):
        left = list(same)
        while left:
            yield left[:TOGETHER]
            left = left[TOGETHER:]


def _measured(cases: list[Setting]) -> list[Row]:
    return [published(case) if case.experiment in PUBLISHED else measure(case) for case in cases]


def _one_thread() -> None:
    """Each process has one core."""
    import_module("threadpoolctl").threadpool_limits(1)


if __name__ == "__main__":
    main()
