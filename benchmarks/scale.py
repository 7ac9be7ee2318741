"""How large may a table be? Memory and CPU of publishing by batches, beside reading the whole table into memory.

python -m benchmarks.scale                        # 1,000,000 rows of 14 attributes: about a minute of CPU
python -m benchmarks.scale --rows 10000000        # with growth from a tenth of the rows: about three minutes of CPU
python -m benchmarks.scale --rows 10000000 --only classes --k 50      # the same k at both sizes
python -m benchmarks.scale --rows 20000000 --only classes --most-memory 4
python -m benchmarks.scale --rows 10000000 --verify                   # verify alone
python -m benchmarks.scale --only classes --against FOLDER            # beside another checkout of this project

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
from dataclasses import asdict, dataclass, replace
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


@dataclass(frozen=True)
class Job:
    """What is measured in a process of its own: one table published, or one release verified, by `path`.

    `quasi`: how many quasi-identifiers the table has. `k`: None for one record in `SHARE`. `into`: where the release is
    written, if it is.
    """

    path: str
    structure: str = "classes"
    stream: bool = True
    quasi: int = 13
    k: int | None = None
    into: str | None = None
    verify: bool = False


def census(quasi: int = 13) -> tuple[pa.Table, sf.Schema]:
    """Adult without its sampling weight: the income, and so many quasi-identifiers."""
    adult = datasets.load("adult")
    arrow = adult.table.drop_columns(["split", "fnlwgt"])
    names = [name for name in arrow.column_names if name != "income"][:quasi]
    return arrow.select([*names, "income"]), sf.Schema({name: adult.schema[name] for name in [*names, "income"]})


def make(path: Path, rows: int, quasi: int = 13) -> None:
    """So many people drawn from Adult with replacement, written by parts."""
    arrow, chance = census(quasi)[0], np.random.default_rng(1)
    with pq.ParquetWriter(path, arrow.schema) as file:
        for begin in range(0, rows, PART):
            drawn = chance.integers(0, arrow.num_rows, min(PART, rows - begin))
            file.write_table(arrow.take(drawn))


def recipe(job: Job, rows: int) -> sf.Recipe:
    schema = census(job.quasi)[1]
    needs = [sf.KAnonymity(on=list(schema.quasi), k=job.k or max(50, rows // SHARE))]
    return sf.Recipe(schema=schema, structure=STRUCTURES[job.structure], privacy=needs, mask=sf.TopDown())


def cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def memory(entry: str) -> int:
    """Bytes, by the name that Linux gives them: VmRSS now, VmHWM at the most since it was last reset."""
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    return 1024 * int(next(line for line in lines if line.startswith(entry)).split()[1])


def measure(job: Job) -> dict[str, Any]:
    """Do it once and tell what it took; called in a process of its own."""
    warnings.simplefilter("ignore")
    small = Run(trial=True, report=False)
    first = publish(census(job.quasi)[0].slice(0, 3000), recipe(job, 3000), run=small)
    if job.verify:
        return measure_verify(job, first)
    rows, base, began, peaks = pq.ParquetFile(job.path).metadata.num_rows, memory("VmRSS"), cpu(), dict[str, float]()

    def hear(event: Event) -> None:
        if isinstance(event, Began):
            Path("/proc/self/clear_refs").write_text("5", encoding="utf-8")
        elif isinstance(event, Ended):
            peaks[event.step] = (memory("VmHWM") - base) / rows

    known = "stream" in Run.__dataclass_fields__  # earlier versions read it whole
    way: dict[str, Any] = {"stream": job.stream} if known else {}
    run = Run(trial=job.into is None, report=False, listener=hear, **way)
    release = publish(job.path, recipe(job, rows), run=run)
    spent = cpu() - began
    assert release.verdict.holds
    if job.into is not None:
        release.write(job.into)
    return {"rows": rows, "bytes": max(peaks.values()), "cpu": spent, "peaks": peaks}


def measure_verify(job: Job, small: sf.Release) -> dict[str, Any]:
    """A release verified alone; a small one goes first, so that libraries are loaded."""
    with tempfile.TemporaryDirectory() as folder:
        sf.verify(small.write(Path(folder) / "small"))
    rows, base, began = (
        json.loads((Path(job.path) / "certificate.json").read_bytes())["table"]["rows"],
        memory("VmRSS"),
        cpu(),
    )
    Path("/proc/self/clear_refs").write_text("5", encoding="utf-8")
    assert sf.verify(job.path).holds
    peak = (memory("VmHWM") - base) / rows
    return {"rows": rows, "bytes": peak, "cpu": cpu() - began, "peaks": {"verify": peak}}


def apart(job: Job, *, most: float | None = None, checkout: Path | None = None) -> dict[str, Any]:
    """The same in a process of its own, with at most so many GiB of address space, or by the code of another checkout.

    Address space that is only reserved (an arena a thread, a gigabyte of Arrow's) is not memory: it is kept small then.
    """
    limit = [] if most is None else ["prlimit", f"--as={int(most * 2**30)}"]
    command = [*limit, sys.executable, "-m", "benchmarks.scale", "--measure", json.dumps(asdict(job))]
    with tempfile.TemporaryDirectory() as state:
        environment = {**os.environ, "XDG_STATE_HOME": state, "OMP_NUM_THREADS": "2", **(RESERVES if limit else {})}
        if checkout is not None:  # its code, measured by this file
            environment["PYTHONPATH"] = os.pathsep.join([str(checkout / "src"), str(Path(__file__).parents[1])])
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    if done.returncode:
        raise SystemExit(f"{job}: {done.stderr[-2000:]}")
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def told(name: str, found: dict[str, Any]) -> None:
    worst = max(found["peaks"], key=found["peaks"].get)
    print(
        f"{name:34} {found['rows']:>11,} rows {found['bytes']:7.1f} bytes a row at most ({worst}), "
        f"{found['cpu']:7.1f} s of CPU",
        flush=True,
    )


def compare(job: Job, small: Path, *, checkout: Path | None) -> None:
    """By batches, beside the table in memory, the same with other code, and a table of a tenth of the rows."""
    streamed = apart(job)
    told(f"{job.structure}, by batches", streamed)
    whole = apart(replace(job, stream=False))
    told(f"{job.structure}, read into memory", whole)
    print(f"CPU by batches over in memory: {streamed['cpu'] / whole['cpu']:.2f}")
    if checkout is not None:
        other = apart(replace(job, stream=False), checkout=checkout)
        told(f"{job.structure}, in memory, {checkout.name}", other)
        print(f"CPU by batches over in memory by {checkout.name}: {streamed['cpu'] / other['cpu']:.2f}")
    tenth = apart(replace(job, path=str(small)))
    told(f"{job.structure}, by batches", tenth)
    print(f"CPU by batches grows {streamed['cpu'] / tenth['cpu']:.1f} times for ten times the rows", flush=True)


def verify_alone(job: Job, folder: Path) -> None:
    """A release of the table, verified in a process of its own."""
    apart(replace(job, into=str(folder / "release")))
    told("verify alone", apart(replace(job, path=str(folder / "release"), verify=True)))


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--rows", type=int, default=1_000_000)
    asked.add_argument("--only", choices=STRUCTURES)
    asked.add_argument("--k", type=int, help="whatever the number of rows; else one record in 20,000, at least 50")
    asked.add_argument("--alone", action="store_true", help="by batches; nothing is compared")
    asked.add_argument("--most-memory", type=float, help="the same within so many GiB of address space")
    asked.add_argument("--against", type=Path, help="another checkout, whose way in memory is measured as well")
    asked.add_argument("--verify", action="store_true", help="verify alone, in a process of its own")
    asked.add_argument("--measure", help=argparse.SUPPRESS)
    given = asked.parse_args()
    if given.measure:
        print(json.dumps(measure(Job(**json.loads(given.measure)))))
        return
    print(f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        large, small = Path(folder) / "large.parquet", Path(folder) / "small.parquet"
        make(large, given.rows)
        make(small, given.rows // 10)
        for structure in [given.only] if given.only else STRUCTURES:
            job = Job(str(large), structure, k=given.k)
            if given.verify:
                verify_alone(job, Path(folder))
            elif given.alone or given.most_memory is not None:
                told(f"{structure}, by batches", apart(job, most=given.most_memory))
            else:
                compare(job, small, checkout=given.against)


if __name__ == "__main__":
    main()
