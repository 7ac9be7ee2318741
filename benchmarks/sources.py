"""One table through every source, and Spark at sizes that no test has.

    python -m benchmarks.sources compare --rows 1000000              # all of them, in about ten minutes of CPU
    python -m benchmarks.sources compare --rows 100000 --only duckdb,sqlite
    python -m benchmarks.sources read --rows 1000000                 # what is read alone, without publishing it
    python -m benchmarks.sources spark --rows 2500000
    python -m benchmarks.sources spark --rows 10000000 --publish

`compare` exits with 1 if a source gives another mask, other claims or other rows than the table in memory.
PostgreSQL and
Spark must run: SFUMATO_POSTGRES and SFUMATO_SPARK name the folders given to tools/postgres.sh and tools/spark.sh.
"""

from __future__ import annotations

import argparse
import os
import resource
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pyarrow as pa
from tests import engines
from tests.contracts.test_all_sources import RECIPES, people

import sfumato as sf
from sfumato.data.safe_files import Progress
from sfumato.data.sources import counted
from sfumato.data.sources.openers import open_source
from sfumato.data.sources.spark import source as spark_source
from sfumato.publishing import Run

PLACES: Mapping[str, Callable[[pa.Table, Path], object]] = {
    "stream": lambda table, folder: engines.in_parquet(table, folder, files=4),
    "duckdb": engines.in_duckdb,
    "sqlite": engines.in_sqlite,
    "postgresql": lambda table, _: engines.in_postgres(table),
    "spark": engines.in_spark,
}


def in_one_order(shown: pa.Table) -> pa.Table:
    """The same rows by size, so that two tables can be compared."""
    columns = {name: shown.column(name) for name in shown.column_names}
    plain = {n: c.cast(c.type.value_type) if pa.types.is_dictionary(c.type) else c for n, c in columns.items()}
    table = pa.table(plain)
    return table.sort_by([(name, "ascending") for name in table.column_names]).combine_chunks()


def cpu() -> float:
    """CPU seconds of this process so far; databases and clusters have their own."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def read_alike(rows: int, only: list[str], recipe: sf.Recipe) -> bool:
    """Whether every source gives the same people in codes as the table in memory, all that comes after starts from."""
    table, same = people(rows), True
    wanted = in_one_order(sf.read(table, recipe.schema).to_arrow())
    for name in only:
        with tempfile.TemporaryDirectory() as place:
            Path(place).chmod(0o755)
            source = PLACES[name](table, Path(place))
            before, began = cpu(), time.time()
            stream = True if name == "stream" else None
            found = in_one_order(sf.read(source, recipe.schema, stream=stream).to_arrow())
            spent, waited = cpu() - before, time.time() - began
        equal = bool(found.equals(wanted))
        same = same and equal
        words = "equal rows" if equal else "OTHER ROWS"
        print(f"{name:<11} {spent:7.1f} CPU s here, {waited:6.1f} s  {words}", flush=True)
    return same


def compare(rows: int, only: list[str], recipe: sf.Recipe) -> bool:
    """Whether every source gives what the table in memory gives."""
    table, same = people(rows), True
    before = cpu()
    whole = sf.publish(table, recipe, run=Run(report=False, trial=True))
    wanted, rows_wanted = (whole.mask.files(), whole.certificate["claims"]), in_one_order(whole.shown)
    print(f"{'table':<11} {cpu() - before:7.1f} CPU s", flush=True)
    for name in only:
        with tempfile.TemporaryDirectory() as place:
            Path(place).chmod(0o755)
            source = PLACES[name](table, Path(place))
            before = cpu()
            run = Run(report=False, trial=True, stream=True if name == "stream" else None)
            found = sf.publish(source, recipe, run=run)
            spent = cpu() - before
        alike = (found.mask.files(), found.certificate["claims"]) == wanted
        equal = bool(in_one_order(found.shown).equals(rows_wanted))
        same = same and alike and equal
        words = ("same mask and claims" if alike else "ANOTHER MASK", "equal rows" if equal else "OTHER ROWS")
        print(f"{name:<11} {spent:7.1f} CPU s  {', '.join(words)}", flush=True)
    return same


@dataclass
class Seen:
    """What came up to the driver, and how much memory it had of its own at most."""

    bytes: Counter[str] = field(default_factory=Counter)
    rows: Counter[str] = field(default_factory=Counter)
    peak: int = 0


def own_memory() -> int:
    """Bytes that are this process's own, apart from files that are mapped."""
    words = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines() if ":" in line)
    return int(words["RssAnon"].split()[0]) * 1024


@contextmanager
def looking() -> Iterator[Seen]:
    """What passes the door, and memory as it grows above what there was."""
    seen, over, first = Seen(), threading.Event(), own_memory()

    def receive(job: Any, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in counted.receive(job, batches):
            seen.bytes[job] += batch.nbytes
            seen.rows[job] += batch.num_rows
            yield batch

    def look() -> None:
        while not over.wait(0.02):
            seen.peak = max(seen.peak, own_memory() - first)

    thread = threading.Thread(target=look)
    thread.start()
    try:
        with patch.object(spark_source, "receive", receive):
            yield seen
    finally:
        over.set()
        thread.join()


SPARK_SCHEMA = sf.Schema(
    id=sf.Number(role="identifier"),
    age=sf.Number(role="quasi", range=(17, 90)),
    town=sf.Category(role="quasi"),
    hours=sf.Number(role="quasi", range=(0, 80)),
    disease=sf.Category(role="sensitive"),
    income=sf.Category(role="sensitive"),
)
SPARK_RECIPE = sf.Recipe(
    schema=SPARK_SCHEMA,
    structure=sf.Classes("income"),
    privacy=[
        sf.KAnonymity(on=["age", "town", "hours"], k=50),
        sf.LDiversity(on=["age", "town", "hours"], sensitive="disease", l=2),
    ],
    mask=sf.TopDown(),
)


def generated(rows: int) -> Any:
    """People that the cluster makes from their numbers: at most 74 x 30 x 12 x 5 x 2 different ones."""
    from pyspark.sql import functions as f

    def drawn(salt: int, most: int) -> Any:
        return f.pmod(f.xxhash64(f.col("id"), f.lit(salt)), f.lit(most))

    return (
        engines.session()
        .range(rows, numPartitions=16)
        .select(
            f.col("id"),
            (drawn(1, 74) + 17).alias("age"),
            f.concat(f.lit("town "), drawn(2, 30).cast("string")).alias("town"),
            f.when(drawn(6, 50) == 0, None).otherwise(drawn(3, 12) * 5).alias("hours"),
            f.concat(f.lit("disease "), drawn(4, 5).cast("string")).alias("disease"),
            f.when(drawn(5, 4) == 0, ">50K").otherwise("<=50K").alias("income"),
        )
    )


def spark(rows: int, *, publish: bool) -> None:
    """Count so many rows in Spark, or publish them."""
    frame = generated(rows)
    open_source(generated(1000)).raw(["age"], progress=Progress())  # what starts once has started
    began, used = time.time(), cpu()
    with looking() as seen:
        if publish:
            release = sf.publish(frame, SPARK_RECIPE, run=Run(report=False, trial=True))
            print(release)
        else:
            names = [name for name in SPARK_SCHEMA if name != "id"]
            open_source(frame).raw(names, progress=Progress())
    up = sum(seen.bytes.values())
    print(
        f"{rows:,} rows: {seen.rows['values']:,} values and {seen.rows['tuples']:,} tuples came up, {up / 1e6:.1f} MB; "
        f"driver at most {seen.peak / 1e6:.0f} MB of its own above the start, {cpu() - used:.1f} CPU s, "
        f"{time.time() - began:.0f} s",
        flush=True,
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("job", choices=("compare", "read", "spark"))
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--only", default=",".join(PLACES))
    parser.add_argument("--recipe", choices=RECIPES, default="partition")
    parser.add_argument("--publish", action="store_true")
    given = parser.parse_args()
    os.environ["XDG_STATE_HOME"] = tempfile.mkdtemp()
    if given.job == "spark":
        spark(given.rows, publish=given.publish)
        return 0
    work = read_alike if given.job == "read" else compare
    return 0 if work(given.rows, given.only.split(","), RECIPES[given.recipe]) else 1


if __name__ == "__main__":
    sys.exit(main())
