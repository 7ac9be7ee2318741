"""How fast does a file become codes? Against a bare polars read with text cast to categories.

    python -m benchmarks.encode                  # 1,000,000 rows of Adult, 15 columns: about half a minute
    python -m benchmarks.encode --rows 100000

Every measurement runs in a process of its own, the two contenders taking turns; the best time of each counts.
Exits with 1 if the goal is missed: a ratio of at most 2, and a peak of less than 1.5 GB.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pyarrow.parquet as pq

from sfumato.data.datasets import blow_up, load
from sfumato.data.writing import write

GOAL_RATIO = 2.0
GOAL_PEAK = 1.5e9
ROUNDS, REPEATS = 3, 4


@dataclass(frozen=True)
class Measured:
    """The best time in seconds and the highest memory in bytes of one contender."""

    seconds: float
    peak: float


def by_polars(path: Path) -> None:
    """What polars takes to have the table in memory with its text in categories."""
    import polars as pl

    table = pl.read_csv(path) if path.suffix == ".csv" else pl.read_parquet(path)
    table.with_columns(pl.col(pl.String).cast(pl.Categorical))


def by_sfumato(path: Path) -> None:
    """The same file in codes, checked against its schema."""
    from sfumato.data.reading import read
    from sfumato.data.schema import Schema

    schema = load("adult").schema
    kept = {name: attribute for name, attribute in schema.items() if name != "split"}
    read(path, Schema(kept))


CONTENDERS: dict[str, Callable[[Path], None]] = {"polars": by_polars, "sfumato": by_sfumato}


def work(name: str, path: Path) -> None:
    """In a process of its own: print the best time and the peak memory."""
    import resource

    times = []
    for _ in range(REPEATS):
        began = time.perf_counter()
        CONTENDERS[name](path)
        times.append(time.perf_counter() - began)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    print(min(times), peak)


def measure(name: str, path: Path) -> Measured:
    """Run one contender in a new process."""
    command = [sys.executable, "-m", "benchmarks.encode", "--work", name, str(path)]
    seconds, peak = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    return Measured(float(seconds), float(peak))


def compare(path: Path, rounds: int) -> bool:
    """Both contenders in turns on one file; print the ratio, tell whether the goal is met."""
    best = {name: Measured(float("inf"), 0.0) for name in CONTENDERS}
    for _ in range(rounds):
        for name, so_far in best.items():
            now = measure(name, path)
            best[name] = Measured(min(so_far.seconds, now.seconds), max(so_far.peak, now.peak))
    ours, theirs = best["sfumato"], best["polars"]
    ratio = ours.seconds / theirs.seconds
    print(
        f"{path.suffix[1:]:8} sfumato {ours.seconds:6.3f} s, peak {ours.peak / 1e9:.2f} GB;"
        f"  polars {theirs.seconds:6.3f} s, peak {theirs.peak / 1e9:.2f} GB;  ratio {ratio:.2f} (goal 2)"
    )
    return ratio <= GOAL_RATIO and ours.peak < GOAL_PEAK


def main() -> None:
    """Make the files, compare, tell."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--work", nargs=2, metavar=("CONTENDER", "PATH"), help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.work:
        work(asked.work[0], Path(asked.work[1]))
        return
    table = blow_up(load("adult", complete=True).table.drop_columns(["split"]), asked.rows, seed=0)
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder) / "adult.csv", Path(folder) / "adult.parquet"]
        write(table, files[0], order=None)
        pq.write_table(table, files[1])
        print(f"{table.num_rows:,} rows, {table.num_columns} columns")
        met = [compare(file, asked.rounds) for file in files]
    sys.exit(0 if all(met) else 1)


if __name__ == "__main__":
    main()
