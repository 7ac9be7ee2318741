"""How fast is top-down refinement? Ratios to baselines measured in the same run.

python -m benchmarks.topdown            # Adult, 1,000,000 and 5,000,000 rows: about three minutes
python -m benchmarks.topdown --quick    # Adult and 50,000 rows: whether it runs, not how fast
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeVar
from unittest.mock import patch

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

import sfumato as sf
from benchmarks.plain_numpy import open_numpy
from sfumato.counting import Engine, Needs, Records
from sfumato.data import datasets
from sfumato.data.encoding import encode
from sfumato.data.table import Table
from sfumato.engines import LocalEngine
from sfumato.maskers.masker import Labels
from sfumato.maskers.topdown.fit import Fitted, fit
from sfumato.maskers.topdown.groups import GroupSession, open_groups
from sfumato.maskers.topdown.masker import TopDown
from sfumato.privacy.requirements import KAnonymity

K = 50
T = TypeVar("T")


OPEN = "sfumato.maskers.topdown.groups.open_groups"


@dataclass
class Watched:
    """Opens groups, and remembers the last ones for their count of tuples touched."""

    session: GroupSession | None = None

    def __call__(
        self, engine: Engine, records: Records, needs: Sequence[Needs], *, waiting: Sequence[int] = ()
    ) -> GroupSession:
        self.session = open_groups(engine, records, needs, waiting=waiting)
        return self.session


def best(repeats: int, job: Callable[[], T]) -> tuple[float, T]:
    """Best wall time of several, and the last result."""
    seconds = []
    for _ in range(repeats):
        began = time.perf_counter()
        result = job()
        seconds.append(time.perf_counter() - began)
    return min(seconds), result


def table_of(rows: int | None) -> tuple[pa.Table, sf.Schema]:
    adult = datasets.load("adult", complete=True)
    arrow = adult.table.drop_columns(["split"])
    schema = sf.Schema({name: adult.schema[name] for name in arrow.column_names})
    return (arrow if rows is None else datasets.blow_up(arrow, rows, seed=0)), schema


def masked(table: Table, needs: list[KAnonymity], engine: Engine) -> Fitted:
    labels = Labels(table.column("income").codes, 2)
    return fit(table, labels, needs, settings=TopDown(), engine=engine)


def random_requirements(names: tuple[str, ...], count: int) -> list[list[KAnonymity]]:
    """As 002 section 5.1: between two and all QIDs of random attributes, the same k."""
    rng = np.random.default_rng(7)
    found: list[list[KAnonymity]] = []
    while len(found) < count:
        needs: dict[frozenset[str], KAnonymity] = {}
        for _ in range(int(rng.integers(2, 6))):
            on = [str(n) for n in rng.permutation(names)[: int(rng.integers(2, 9))]]
            needs[frozenset(on)] = KAnonymity(on, K)
        if len(needs) > 1:
            found.append(list(needs.values()))
    return found


def measure(name: str, rows: int | None, *, against_numpy: bool) -> float:
    arrow, schema = table_of(rows)
    quasi = schema.quasi
    encoding, table = best(2, lambda: encode(arrow, schema))
    frame = pl.from_arrow(arrow.select(list(quasi)))
    assert isinstance(frame, pl.DataFrame)
    floor, _ = best(2, lambda: frame.group_by(frame.columns).len())
    watched = Watched()
    needs = [KAnonymity(quasi, K)]
    masked(table, needs, LocalEngine())
    with patch(OPEN, watched):
        refining, fitted = best(5, lambda: masked(table, needs, LocalEngine()))
    touched = watched.session.touched if watched.session else 0
    cells = table.rows * len(quasi)
    print(f"\n{name}: {table.rows:,} rows x {len(quasi)} attributes, one QID, k = {K}")
    print(
        f"  encode {encoding:.3f} s; refine {refining:.3f} s; {len(fitted.history.rounds)} refinements; "
        f"{touched:,} rows touched; peak {peak_bytes(table, needs) / cells:.1f} bytes a cell"
    )
    print(f"  one polars group-by-count of the QID columns {floor:.3f} s: refine / group-by = {refining / floor:.2f}")
    if against_numpy:
        with patch(OPEN, open_numpy):
            slow, same = best(1, lambda: masked(table, needs, LocalEngine()))
        assert same.recoding == fitted.recoding, "the baseline must end in the same cut"
        print(f"  the paper's algorithm in plain numpy {slow:.3f} s: numpy / refine = {slow / refining:.1f}")
    return refining


def measure_multi(rows: int | None, count: int) -> None:
    arrow, schema = table_of(rows)
    table = encode(arrow, schema)
    frame = pl.from_arrow(arrow.select(list(schema.quasi)))
    assert isinstance(frame, pl.DataFrame)
    floor, _ = best(2, lambda: frame.group_by(frame.columns).len())
    seconds, steps = [], []
    for needs in random_requirements(schema.quasi, count):
        taken, fitted = best(2, partial(masked, table, needs, LocalEngine()))
        seconds.append(taken)
        steps.append(len(fitted.history.rounds))
    print(
        f"  {count} random multi-QID requirements: mean {np.mean(seconds):.3f} s (max {max(seconds):.3f}), "
        f"mean {np.mean(steps):.0f} refinements; mean / group-by = {np.mean(seconds) / floor:.2f}"
    )


def peak_bytes(table: Table, needs: list[KAnonymity]) -> int:
    tracemalloc.start()
    masked(table, needs, LocalEngine())
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def measure_publish(rows: int) -> None:
    """From Parquet to verified Parquet, against polars reading, grouping once and writing."""
    arrow, schema = table_of(rows)
    needs = (KAnonymity(schema.quasi, K),)
    recipe = sf.Recipe(schema=schema, structure=sf.Classes("income"), privacy=needs, mask=sf.TopDown())
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "raw.parquet"
        pq.write_table(arrow, path)

        def bare() -> None:
            frame = pl.read_parquet(path)
            frame.group_by(list(schema.quasi)).len()
            frame.write_parquet(Path(folder) / "out.parquet")

        floor, _ = best(3, bare)
        ours, release = best(3, lambda: sf.publish(path, recipe, run=sf.Run(report=False)))
        drawn, _ = best(1, lambda: sf.publish(path, recipe))
    print(
        f"  publish from Parquet to verified Parquet {ours:.2f} s; polars read + group-by + write {floor:.2f} s: "
        f"ratio {ours / floor:.2f}"
    )
    print("   ", ", ".join(f"{step.lower()} {seconds:.2f}" for step, seconds in release.timings.items()))
    print(f"    with both reports and the search for a k that shows more {drawn:.2f} s")


def measure_cold() -> None:
    """The first run ever: kernels are compiled, then kept."""
    code = (
        "import benchmarks.topdown as b; t, s = b.table_of(None); e = b.encode(t, s); "
        "b.masked(e, [b.KAnonymity(s.quasi, 50), b.KAnonymity(s.quasi[:2], 60)], b.LocalEngine())"
    )
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
        runs = [
            best(1, lambda: subprocess.run([sys.executable, "-c", code], check=True, env=environment))[0]
            for _ in range(2)
        ]
    print(
        f"\nfirst run ever with kernel compilation {runs[0]:.1f} s; the next from cache {runs[1]:.1f} s (whole process)"
    )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    if not quick:
        measure_cold()
    measure("(a) Adult", None, against_numpy=True)
    big = 50_000 if quick else 1_000_000
    one = measure(f"(b) Adult blown up to {big:,}", big, against_numpy=True)
    measure_multi(big, 3 if quick else 10)
    measure_publish(big)
    if not quick:
        five = measure("(c) Adult blown up to 5,000,000", 5_000_000, against_numpy=False)
        print(f"  5,000,000 / 1,000,000 rows: time ratio {five / one:.2f}")


if __name__ == "__main__":
    main()
