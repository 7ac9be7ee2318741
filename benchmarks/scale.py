"""How large may a table be? Memory and CPU of publishing by batches, beside reading the whole table into memory.

python -m benchmarks.scale                        # 1,000,000 rows of 14 attributes: about a minute of CPU
python -m benchmarks.scale --rows 10000000        # with growth from a tenth of the rows: about three minutes of CPU
python -m benchmarks.scale --rows 20000000 --only classes --most-memory 4

Each run is a process of its own. Memory is its peak above what it takes to publish 3,000 rows, so that libraries and
compiled code are in neither; memory-mapped files count where they are in memory. CPU is user and system time.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import sfumato as sf
from sfumato.data import datasets
from sfumato.events import Began, Ended, Event
from sfumato.publishing import Run, publish

PART = 500_000
SHARE = 20_000
"""One record in so many is k, so that tables of any size are refined as far; 50 of 1,000,000."""
CLASSES, CLUSTERS = sf.Classes("income"), sf.Clusters("kmeans", k=6)
RESERVES = {"MALLOC_ARENA_MAX": "2", "ARROW_DEFAULT_MEMORY_POOL": "system"}
STRUCTURES: dict[str, sf.Classes | sf.Clusters] = {"classes": CLASSES, "clusters": CLUSTERS}


def census() -> tuple[pa.Table, sf.Schema]:
    """Adult without its sampling weight: 13 quasi-identifiers and the income."""
    adult = datasets.load("adult")
    arrow = adult.table.drop_columns(["split", "fnlwgt"])
    return arrow, sf.Schema({name: adult.schema[name] for name in arrow.column_names})


def make(path: Path, rows: int) -> None:
    """So many people drawn from Adult with replacement, written by parts."""
    arrow, chance = census()[0], np.random.default_rng(1)
    with pq.ParquetWriter(path, arrow.schema) as file:
        for begin in range(0, rows, PART):
            drawn = chance.integers(0, arrow.num_rows, min(PART, rows - begin))
            file.write_table(arrow.take(drawn))


def recipe(structure: str, rows: int) -> sf.Recipe:
    schema = census()[1]
    needs = [sf.KAnonymity(on=list(schema.quasi), k=max(50, rows // SHARE))]
    return sf.Recipe(schema=schema, structure=STRUCTURES[structure], privacy=needs, mask=sf.TopDown())


def cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def memory(entry: str) -> int:
    """Bytes, by the name that Linux gives them: VmRSS now, VmHWM at the most since it was last reset."""
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    return 1024 * int(next(line for line in lines if line.startswith(entry)).split()[1])


def measure(path: str, structure: str, *, stream: bool) -> dict[str, Any]:
    """Publish once and tell what it took; called in a process of its own."""
    warnings.simplefilter("ignore")
    publish(census()[0].slice(0, 3000), recipe(structure, 3000), run=Run(trial=True, report=False))
    rows, base, began, peaks = pq.ParquetFile(path).metadata.num_rows, memory("VmRSS"), cpu(), dict[str, float]()

    def hear(event: Event) -> None:
        if isinstance(event, Began):
            Path("/proc/self/clear_refs").write_text("5", encoding="utf-8")
        elif isinstance(event, Ended):
            peaks[event.step] = (memory("VmHWM") - base) / rows

    run = Run(trial=True, report=False, stream=stream, listener=hear)
    release = publish(path, recipe(structure, rows), run=run)
    assert release.verdict.holds
    return {"rows": rows, "bytes": max(peaks.values()), "cpu": cpu() - began, "peaks": peaks}


def apart(path: Path, structure: str, *, stream: bool, most: float | None) -> dict[str, Any]:
    """The same in a process of its own, with at most so many GiB of address space.

    Address space that is only reserved (an arena a thread, a gigabyte of Arrow's) is not memory: it is kept small then.
    """
    limit = [] if most is None else ["prlimit", f"--as={int(most * 2**30)}"]
    command = [*limit, sys.executable, "-m", "benchmarks.scale", "--measure", str(path), structure, str(int(stream))]
    with tempfile.TemporaryDirectory() as state:
        environment = {**os.environ, "XDG_STATE_HOME": state, "OMP_NUM_THREADS": "2", **(RESERVES if limit else {})}
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    if done.returncode:
        raise SystemExit(f"{structure}: {done.stderr[-2000:]}")
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def told(name: str, found: dict[str, Any]) -> None:
    worst = max(found["peaks"], key=found["peaks"].get)
    print(
        f"{name:34} {found['rows']:>11,} rows {found['bytes']:7.1f} bytes a row at most ({worst}), "
        f"{found['cpu']:7.1f} s of CPU",
        flush=True,
    )


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--rows", type=int, default=1_000_000)
    asked.add_argument("--only", choices=STRUCTURES)
    asked.add_argument("--most-memory", type=float, help="GiB of address space; nothing is compared")
    asked.add_argument("--measure", nargs=3, help=argparse.SUPPRESS)
    given = asked.parse_args()
    if given.measure:
        path, structure, stream = given.measure
        print(json.dumps(measure(path, structure, stream=stream == "1")))
        return
    with tempfile.TemporaryDirectory() as folder:
        large, small = Path(folder) / "large.parquet", Path(folder) / "small.parquet"
        make(large, given.rows)
        for structure in [given.only] if given.only else STRUCTURES:
            streamed = apart(large, structure, stream=True, most=given.most_memory)
            told(f"{structure}, by batches", streamed)
            if given.most_memory is not None:
                continue
            whole = apart(large, structure, stream=False, most=None)
            told(f"{structure}, read into memory", whole)
            make(small, given.rows // 10)
            tenth = apart(small, structure, stream=True, most=None)
            told(f"{structure}, by batches", tenth)
            print(
                f"CPU by batches over in memory: {streamed['cpu'] / whole['cpu']:.2f}; "
                f"growth for ten times the rows: {streamed['cpu'] / tenth['cpu']:.1f} times"
            )


if __name__ == "__main__":
    main()
