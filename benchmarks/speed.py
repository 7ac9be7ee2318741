"""How long a publish takes as a whole process, and how much memory: reading, finding, masking, measuring, writing,
verifying, attacking and both reports, the start of the program included.

    python -m benchmarks.speed                  # every setting once: about two minutes
    python -m benchmarks.speed --times 3        # three runs of each, taking turns
    python -m benchmarks.speed --only census    # one group: start, adult, budget, census, million, many, demo
    python -m benchmarks.speed --only maskers   # four other maskers, and where their seconds go: ten minutes
    python -m benchmarks.speed --only patients  # a million patients with sets of 15,000 codes: minutes, and 3 GB
    python -m benchmarks.speed --quick          # small tables: whether it runs, not how fast

Seconds are of the processor, user and system, of all threads. Memory is the peak of the process less that of one which
publishes 1,000 rows: what is imported and compiled is not counted. Tables are Adult's complete records; larger ones are
drawn from them with replacement, ages and hours moved by at most one. k = 50, Partition, six clusters;
under a budget PrivateTree with epsilon = 1. The last two groups are run only where they are named.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import median

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import sfumato as sf
from benchmarks.steps import KINDS
from sfumato.maskers.masker import Masker

EIGHT = ("age", "workclass", "education", "marital_status", "occupation", "race", "sex", "native_country")
NINE = (*EIGHT, "hours_per_week")
SECRET = "income"
MOVED = {"age": (17, 90), "hours_per_week": (1, 99)}
FEW, ADULT, CENSUS, MILLION, MANY = 1_000, 45_222, 300_000, 1_000_000, 5_000_000
CLUSTERS, STARTS, K = 6, 10, 50
MASKERS: tuple[Masker, ...] = (sf.Mondrian(), sf.Microaggregate(), sf.PrivateTree(), sf.DPHeter())
PROGRAM = "from sfumato.cli.main import program; program()"


@dataclass(frozen=True)
class Spent:
    """Seconds of the processor, the highest memory in megabytes, and seconds by kind of work where a job tells them."""

    seconds: float
    memory: float
    where: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Job:
    """One line of the page: what is run, in words and as a command."""

    name: str
    command: tuple[str, ...]


def people(rows: int, names: Sequence[str]) -> pa.Table:
    """Adult's complete records, or so many drawn from them."""
    table = sf.datasets.load("adult", complete=True).table.select([*names, SECRET])
    if rows == table.num_rows:
        return table
    chance = np.random.default_rng(0)
    drawn = table.take(chance.integers(0, table.num_rows, rows))
    for name, (low, high) in MOVED.items():
        if name in names:
            numbers = np.clip(drawn[name].to_numpy() + chance.integers(-1, 2, rows), low, high)
            at = drawn.column_names.index(name)
            drawn = drawn.set_column(at, name, pa.array(numbers, drawn.schema.field(name).type))
    return drawn.combine_chunks()


def recipe(names: Sequence[str], structure: sf.Clusters | sf.Classes) -> sf.Recipe:
    """So many quasi-identifiers and one secret, everything else as usual."""
    known = sf.datasets.load("adult", complete=True).schema
    quasi = {name: replace(known[name], role="quasi") for name in names}
    secret = known[SECRET] if isinstance(structure, sf.Classes) else replace(known[SECRET], role="sensitive")
    schema = sf.Schema({**quasi, SECRET: secret})
    return sf.Recipe(schema=schema, structure=structure, privacy=(sf.KAnonymity(names, K),))


@dataclass(frozen=True)
class Desk:
    """A folder with tables, recipes and what comes out."""

    folder: Path

    def table(self, rows: int, names: Sequence[str]) -> Path:
        """Where so many people stand. They are written by a process of their own: Linux counts what a parent had in
        memory as its child's peak, and a million rows made here would hide what publishing them takes.
        """
        path = self.folder / f"{rows}_{len(names)}.parquet"
        if not path.exists():
            given = [sys.executable, "-m", "benchmarks.speed", "--make", str(path), str(rows), *names]
            subprocess.run(given, check=True)
        return path

    def publish(self, rows: int, names: Sequence[str], *, classes: bool = False, report: bool = True) -> Job:
        """Publish so many rows, from Parquet to a written release."""
        structure = sf.Classes(SECRET) if classes else sf.Clusters("kmeans", k=CLUSTERS)
        table, described = self.table(rows, names), self.folder / f"{len(names)}_{classes}.yaml"
        described.write_text(recipe(names, structure).to_yaml(), encoding="utf-8")
        guided = "classes" if classes else "clusters"
        told = f"{rows:,} x {len(names)}, {guided}{'' if report else ', no reports'}"
        command = ["publish", str(described), "--table", str(table), "--output", str(self.folder / "release")]
        return Job(told, (sys.executable, "-c", PROGRAM, *command, *([] if report else ["--no-report"])))

    def spend(self, rows: int, names: Sequence[str]) -> Job:
        """Publish a generated table under a budget, with both reports."""
        table, described = self.table(rows, names), self.folder / f"{len(names)}_budget.yaml"
        asked = recipe(names, sf.Classes(SECRET))
        spending = replace(asked, privacy=(), mask=sf.PrivateTree(), budget=sf.Budget(epsilon=1))
        described.write_text(spending.to_yaml(), encoding="utf-8")
        command = ("publish", str(described), "--table", str(table), "--output", str(self.folder / "generated"))
        return Job(f"{rows:,} x {len(names)}, PrivateTree, epsilon = 1", (sys.executable, "-c", PROGRAM, *command))

    def mask(self, rows: int, names: Sequence[str], masker: Masker) -> Job:
        """Publish with another masker, six clusters and both reports; the job tells where its seconds go."""
        kind, spends = type(masker).__name__, masker.guarantee.spends
        table, described = self.table(rows, names), self.folder / f"{len(names)}_{kind}.yaml"
        asked = recipe(names, sf.Clusters("kmeans", k=CLUSTERS))
        budget = sf.Budget(epsilon=1) if spends else None
        asked = replace(asked, privacy=() if spends else asked.privacy, mask=masker, budget=budget)
        described.write_text(asked.to_yaml(), encoding="utf-8")
        given = (str(described), str(table), str(self.folder / "masked"))
        return Job(f"{rows:,} x {len(names)}, {kind}", (sys.executable, "-m", "benchmarks.steps", *given))

    def patients(self, rows: int) -> Job:
        """Publish so many patients with sets of codes, PrivateTree and five clusters, without reports."""
        made = f"from benchmarks.papers.dpheter_time import published; published({rows})"
        return Job(f"{rows:,} patients, PrivateTree, epsilon = 1", (sys.executable, "-c", made))

    def fit(self, rows: int, names: Sequence[str]) -> Job:
        """scikit-learn's k-means on the same rows as vectors: the fit alone."""
        table = self.table(rows, names)
        told = f"KMeans({CLUSTERS}, n_init={STARTS}).fit, {rows:,} x {len(names)}"
        return Job(told, (sys.executable, "-m", "benchmarks.speed", "--fit", str(table)))

    def program(self, *given: str) -> Job:
        """Another command of the program."""
        return Job(f"sfumato {given[0]}", (sys.executable, "-c", PROGRAM, *given))


def run(job: Job, folder: Path) -> Spent:
    """In a process of its own, with a ledger of its own."""
    settings = {**os.environ, "XDG_STATE_HOME": str(folder / "state"), "PYTHONWARNINGS": "ignore"}
    settings.pop("PYTHONDONTWRITEBYTECODE", None)  # as installed: source is compiled once, not by every process
    with (folder / "told").open("wb") as told:
        process = subprocess.Popen(job.command, stdout=told, stderr=subprocess.STDOUT, env=settings)
        _, status, used = os.wait4(process.pid, 0)
    said = (folder / "told").read_text(encoding="utf-8", errors="replace")
    if status:
        raise RuntimeError(f"{job.name}: it ended with {status}\n{said}")
    seconds = float(said) if "--fit" in job.command else used.ru_utime + used.ru_stime
    where = json.loads(said.splitlines()[-1]) if "benchmarks.steps" in job.command else {}
    return Spent(seconds, used.ru_maxrss / (1e6 if sys.platform == "darwin" else 1e3), where)


def fit(path: Path) -> None:
    """In a process of its own: print the seconds of one fit, in one thread."""
    import time
    from importlib import import_module

    from sfumato.data.reading import read
    from sfumato.structure.embedding import Embedding

    names = [name for name in pq.read_schema(path).names if name != SECRET]
    table = read(path, recipe(names, sf.Clusters("kmeans", k=CLUSTERS)).schema)
    vectors = Embedding.of(table).raw(table)
    kind = import_module("sklearn.cluster").KMeans
    with import_module("threadpoolctl").threadpool_limits(limits=1):
        began = time.process_time()
        kind(CLUSTERS, n_init=STARTS, random_state=0).fit(vectors)
        print(time.process_time() - began)


@dataclass(frozen=True)
class Line:
    """A job, and what its seconds and memory are put beside: other lines by name."""

    job: Job
    beside: str | None = None
    goal: str = ""


Group = Callable[[Desk, bool], list[Line]]


def _start(desk: Desk, quick: bool) -> list[Line]:
    del quick
    return [Line(desk.program("--help"), goal="0.4 s")]


def _adult(desk: Desk, quick: bool) -> list[Line]:
    rows = 2 * FEW if quick else ADULT
    return [
        Line(desk.publish(rows, EIGHT), goal="6 s"),
        Line(desk.publish(rows, EIGHT, classes=True), goal="4 s"),
    ]


def _budget(desk: Desk, quick: bool) -> list[Line]:
    return [Line(desk.spend(2 * FEW if quick else ADULT, EIGHT), goal="10 s")]


def _census(desk: Desk, quick: bool) -> list[Line]:
    rows = 3 * FEW if quick else CENSUS
    with_reports, fitted = desk.publish(rows, NINE), desk.fit(rows, NINE)
    return [
        Line(fitted),
        Line(with_reports, fitted.name, "1.0 of the fit"),
        Line(desk.publish(rows, NINE, report=False), fitted.name, "0.5 of the fit"),
    ]


def _million(desk: Desk, quick: bool) -> list[Line]:
    return [Line(desk.publish(4 * FEW if quick else MILLION, NINE), goal="15 s, 500 MB")]


def _many(desk: Desk, quick: bool) -> list[Line]:
    one, five = (desk.publish(rows, NINE) for rows in ((4 * FEW, 5 * FEW) if quick else (MILLION, MANY)))
    return [Line(five, one.name, "6 of a million's")]


def _demo(desk: Desk, quick: bool) -> list[Line]:
    del quick
    return [Line(desk.program("demo", "--output", str(desk.folder / "demo")), goal="8 s")]


def _maskers(desk: Desk, quick: bool) -> list[Line]:
    sizes = (2 * FEW, 3 * FEW) if quick else (ADULT, CENSUS)
    return [Line(desk.mask(rows, NINE, masker)) for rows in sizes for masker in MASKERS]


def _patients(desk: Desk, quick: bool) -> list[Line]:
    return [Line(desk.patients(5 * FEW if quick else MILLION), goal="120 s, 3 GB")]


GROUPS: dict[str, Group] = {
    "start": _start,
    "adult": _adult,
    "budget": _budget,
    "census": _census,
    "million": _million,
    "many": _many,
    "demo": _demo,
    "maskers": _maskers,
    "patients": _patients,
}
LONG = ("maskers", "patients")
"""Groups that take minutes: they are run where they are named."""


def measured(lines: Sequence[Line], folder: Path, times: int) -> dict[str, list[Spent]]:
    """Every job so often, taking turns."""
    found: dict[str, list[Spent]] = {line.job.name: [] for line in lines}
    for _ in range(times):
        for line in lines:
            found[line.job.name].append(run(line.job, folder))
    return found


def page(lines: Sequence[Line], found: dict[str, list[Spent]], base: float) -> Iterator[str]:
    """A table: seconds of every run, memory above what is imported, the ratio to another line, and the goal."""
    yield "| | CPU seconds | memory, MB above imports | ratio | goal |"
    yield "|---|---|---|---|---|"
    for line in lines:
        spent = found[line.job.name]
        seconds = ", ".join(f"{one.seconds:.2f}" for one in spent)
        memory = f"{max(0.0, max(one.memory for one in spent) - base):,.0f}"
        beside = found.get(line.beside or "")
        ratio = f"{_middle(spent) / _middle(beside):.2f}" if beside else ""
        yield f"| {line.job.name} | {seconds} | {memory} | {ratio} | {line.goal} |"


def parts(found: dict[str, list[Spent]]) -> Iterator[str]:
    """A table: of each job that tells it, where the seconds of its last run went."""
    told = {name: spent[-1].where for name, spent in found.items() if spent[-1].where}
    if told:
        yield "\n| CPU seconds | " + " | ".join(KINDS) + " |"
        yield "|---" * (len(KINDS) + 1) + "|"
    for name, where in told.items():
        yield f"| {name} | " + " | ".join(f"{where[kind]:.2f}" for kind in KINDS) + " |"


def _warming(desk: Desk, groups: Sequence[str]) -> Iterator[Job]:
    """Small runs that come first: loops are compiled and kept, files are at hand, so that no line counts that."""
    yield desk.publish(FEW, NINE)
    yield desk.publish(FEW, EIGHT, classes=True)
    if "budget" in groups:
        yield desk.spend(FEW, EIGHT)
    if "maskers" in groups:
        yield from (desk.mask(FEW, NINE, masker) for masker in MASKERS)
    if "patients" in groups:
        yield desk.patients(5 * FEW)


def _middle(spent: Sequence[Spent]) -> float:
    return median(one.seconds for one in spent)


def main(given: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--times", type=int, default=1)
    parser.add_argument(
        "--only", nargs="*", choices=list(GROUPS), default=[name for name in GROUPS if name not in LONG]
    )
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--fit", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--make", nargs="+", help=argparse.SUPPRESS)
    asked = parser.parse_args(given)
    if asked.fit:
        fit(asked.fit)
        return
    if asked.make:
        path, rows, *names = asked.make
        pq.write_table(people(int(rows), names), path)
        return
    with tempfile.TemporaryDirectory() as temporary:
        desk = Desk(Path(temporary))
        lines = [line for name in asked.only for line in GROUPS[name](desk, asked.quick)]
        small = desk.publish(FEW, NINE)
        for warm in _warming(desk, asked.only):
            run(warm, desk.folder)
        base = run(small, desk.folder).memory
        found = measured(lines, desk.folder, asked.times)
        print(*page(lines, found, base), *parts(found), sep="\n")
        print(f"\na process that publishes {FEW:,} rows: {base:,.0f} MB")


if __name__ == "__main__":
    main()
