"""How fast is k-means on codes, and is it right? Beside scikit-learn's on vectors, from the same start, in one run.

python -m benchmarks.kmeans            # 300,000 rows of nine census attributes
python -m benchmarks.kmeans 45000      # another number of rows

Seconds are of processor time in one thread, and of a round: those of 22 rounds less those of 2, over 20. Memory is the
peak of what numpy and Python hold while k-means runs, the records included. Centres are compared where both ended.
"""

from __future__ import annotations

import sys
import time
import tracemalloc
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.data import datasets
from sfumato.data.encoding import encode
from sfumato.data.schema import Schema
from sfumato.randomness import Seeded
from sfumato.structure.coded_points import Placed
from sfumato.structure.embedding import Embedding
from sfumato.structure.kmeans.lloyd import Settled, lloyd, start, tolerance_of

QUASI = (
    "age",
    "workclass",
    "education",
    "marital_status",
    "occupation",
    "race",
    "sex",
    "hours_per_week",
    "native_country",
)
CLUSTERS, FEW, MORE = 6, 2, 22
TIMES = 5
Floats = NDArray[np.float64]


def people(rows: int) -> Placed:
    """Adult without missing values, blown up."""
    adult = datasets.load("adult", complete=True)
    schema = Schema({name: adult.schema[name] for name in QUASI})
    kept = adult.table.select(QUASI)
    table = encode(datasets.blow_up(kept, rows, seed=0) if rows > kept.num_rows else kept.slice(0, rows), schema)
    return Embedding.of(table).place(table)


def theirs(vectors: NDArray[Any], begins: Floats, **settings: Any) -> Any:
    """scikit-learn's, in one thread."""
    kind = import_module("sklearn.cluster").KMeans
    with import_module("threadpoolctl").threadpool_limits(limits=1), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of rounds that are too few to settle
        return kind(len(begins), init=begins.astype(vectors.dtype), n_init=1, **settings).fit(vectors)


def seconds(job: Callable[[int], object]) -> float:
    """Of one round: the least of several measurements."""
    found = [_processor(job, MORE) - _processor(job, FEW) for _ in range(TIMES)]
    return min(found) / (MORE - FEW)


def _processor(job: Callable[[int], object], rounds: int) -> float:
    began = time.process_time()
    job(rounds)
    return time.process_time() - began


def peak(job: Callable[[], object]) -> float:
    """Megabytes."""
    tracemalloc.start()
    job()
    found = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return found / 1e6


@dataclass(frozen=True)
class Measured:
    """Seconds a round and megabytes of both; how far centres are apart, and whether threads change a bit."""

    ours: float
    theirs: float
    our_memory: float
    their_memory: float
    apart: float
    same_in_two_threads: bool


def measure(rows: int) -> Measured:
    """Both from the same start."""
    placed = people(rows)
    points = placed.points
    begins = start(points, CLUSTERS, Seeded(0).lasting())
    begins += Seeded(1).generator().normal(0, 1e-4, begins.shape)  # no record is as far from two centres
    vectors = placed.vectors()

    def settled(threads: int) -> Settled:
        return lloyd(points, begins, tolerance=tolerance_of(points), threads=threads)

    lloyd(points, begins, rounds=1)  # compiled
    one, two = settled(1), settled(2)
    precise = theirs(vectors.astype(np.float64), begins)
    return Measured(
        seconds(lambda rounds: lloyd(points, begins, rounds=rounds)),
        seconds(lambda rounds: theirs(vectors, begins, tol=0, max_iter=rounds)),
        peak(lambda: lloyd(Placed(placed.blocks, placed.rows).points, begins, rounds=FEW)),
        peak(lambda: theirs(placed.vectors(), begins, max_iter=FEW)),
        float(np.abs(one.centres - precise.cluster_centers_).max()),
        _bits(one) == _bits(two),
    )


def _bits(found: Settled) -> tuple[bytes, bytes, bytes]:
    return found.labels.tobytes(), found.centres.tobytes(), found.spent.tobytes()


def main(rows: int = 300_000) -> None:
    """Print what was measured."""
    found = measure(rows)
    print(f"{rows:,} rows, {len(QUASI)} attributes, {people(1_000).dims} coordinates, {CLUSTERS} clusters")
    print(f"{'':<28}{'on codes':>12}{'on vectors':>12}{'ratio':>8}")
    times = 1000 * found.ours, 1000 * found.theirs
    print(f"{'milliseconds a round':<28}{times[0]:>12.2f}{times[1]:>12.2f}{times[1] / times[0]:>8.1f}")
    memory = found.our_memory, found.their_memory
    print(f"{'megabytes':<28}{memory[0]:>12.1f}{memory[1]:>12.1f}{memory[1] / memory[0]:>8.1f}")
    print(f"centres are at most {found.apart:.1e} apart")
    print(
        f"one thread and two find {'the same, to the last bit' if found.same_in_two_threads else 'DIFFERENT CENTRES'}"
    )


if __name__ == "__main__":
    main(*(int(given) for given in sys.argv[1:2]))
