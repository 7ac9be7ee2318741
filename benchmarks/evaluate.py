"""How long the scores take on 1,000,000 rows, against one k-means fit on the same rows.

Run it with `python -m benchmarks.evaluate [rows]`. The table is Adult repeated; masked attributes show their
taxonomy's second level, or ten intervals.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from sfumato.data.datasets import load
from sfumato.data.encoding import encode
from sfumato.data.masked import Masked
from sfumato.data.schema import Category
from sfumato.data.table import Table, narrow
from sfumato.evaluation.clusters import adjusted_rand, f_measure, match_point, misclassification, nmi
from sfumato.evaluation.risk import risks
from sfumato.structure.clusterers import cluster
from sfumato.structure.embedding import Embedding

MASKED = ("age", "workclass", "education", "marital_status", "occupation", "relationship", "race", "sex")
CLUSTERS = 6


def repeated(rows: int) -> Table:
    """Adult's complete records as often as it takes."""
    data = load("adult", complete=True)
    kept = data.table.drop_columns(["fnlwgt", "income", "split"])
    copies = -(-rows // kept.num_rows)
    return encode(
        pa.concat_tables([kept] * copies).slice(0, rows).combine_chunks(),
        type(data.schema)({name: data.schema[name] for name in kept.column_names}),
    )


def masked(table: Table, name: str) -> pa.Array[Any]:
    """The second level of a taxonomy, or ten intervals by rank."""
    attribute, column = table.schema[name], table.column(name)
    if isinstance(attribute, Category) and attribute.taxonomy is not None:
        tree = attribute.taxonomy
        labels = [
            next((top for top in tree.children(tree.root) if str(value) in tree.leaves_of(top)), tree.root)
            for value in column.values.to_pylist()
        ]
    else:
        labels = [f"[{10 * at // len(column.values)}-..)" for at in range(len(column.values))]
    shown = sorted(set(labels))
    index = np.array([shown.index(label) for label in labels], dtype=np.int64)[column.codes]
    return pa.DictionaryArray.from_arrays(pa.array(index, type=pa.int64()), pa.array(shown))


def timed(name: str, job: Callable[[], object], *, times: int = 1) -> float:
    """Print and return the best time in seconds."""
    best = min(_once(job) for _ in range(times))
    print(f"{name:<48}{best:>9.3f} s")
    return best


def _once(job: Callable[[], object]) -> float:
    started = time.perf_counter()
    job()
    return time.perf_counter() - started


def main(rows: int = 1_000_000) -> None:
    """Print each time and the ratio."""
    table = repeated(rows)
    shown = Masked.of({name: masked(table, name) for name in MASKED})
    embedding = Embedding.of(table, attributes=(*MASKED, "hours_per_week"))
    placed = embedding.place(table)
    print(f"{rows:,} rows, {placed.dims} coordinates")
    first = placed.take(np.arange(min(rows, 50_000)))
    some = narrow(cluster(first, "kmeans", k=CLUSTERS, n_init=1).labels, CLUSTERS)
    raw = some[np.arange(rows) % len(some)]
    other = np.random.default_rng(0).integers(0, CLUSTERS, rows).astype(np.uint8)
    fit = timed("k-means, one start", lambda: cluster(placed, "kmeans", k=CLUSTERS, n_init=1))
    scores = [
        timed(figure.__name__, partial(figure, raw, other), times=3)
        for figure in (f_measure, match_point, adjusted_rand, misclassification, nmi)
    ]
    scores.append(timed("risks, eight attributes", lambda: risks(replace(shown, _groups={}).sizes(MASKED)), times=3))
    timed("masked places", lambda: embedding.place_masked(table, shown))
    print(f"all scores together take {sum(scores) / fit:.2f} of one k-means fit")


if __name__ == "__main__":
    main(*(int(given) for given in sys.argv[1:2]))
