"""Figure 18 of 003, and one release from end to end: seconds and memory, to a million rows and 14,000 codes."""

from __future__ import annotations

import resource
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa

import sfumato as sf
from benchmarks.papers.dpheter_page import Timing
from sfumato.data.encoding import encode
from sfumato.data.schema import ItemSet, Schema
from sfumato.data.table import Table
from sfumato.engines import ReferenceEngine
from sfumato.maskers.masker import Labels, Masker, Task
from sfumato.privacy.budget import Budget, Spending
from sfumato.privacy.mechanisms import Mechanisms, OpenDPNoise
from sfumato.publishing import Run

MAY_MISS = ("marital_status",)


def timings(sizes: Sequence[int]) -> Iterator[Timing]:
    """Figure 18: seconds and memory on duplicated records, patients with a tree of 14,000 codes."""
    adult = sf.datasets.load("adult_heterogeneous")
    for rows in sizes:
        yield from _timed("adult", kept_encoded(_repeated(adult.table, rows), adult.schema), ())
        yield from _timed("patients", kept_encoded(*many_codes(rows)), MAY_MISS)


def _timed(name: str, table: Table, may_miss: tuple[str, ...]) -> Iterator[Timing]:
    labels = Labels(np.random.default_rng(0).integers(0, 5, table.rows).astype(np.uint8), 5, most=5)
    maskers: dict[str, Masker] = {"tree": sf.PrivateTree(may_miss=may_miss), "DPHeter": sf.DPHeter(may_miss=may_miss)}
    for method, masker in maskers.items():
        began = time.perf_counter()
        mechanisms = Mechanisms(Spending(Budget(1)), OpenDPNoise())
        masker.mask(Task(table, labels, (), ReferenceEngine(), mechanisms=mechanisms))
        seconds = time.perf_counter() - began
        yield Timing(name, table.rows, method, seconds, _peak())


def _peak() -> float:
    """The most memory that this process has held so far, in GB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def _repeated(table: pa.Table, rows: int) -> pa.Table:
    return table.take(np.random.default_rng(rows).integers(0, table.num_rows, rows))


def many_codes(rows: int) -> tuple[pa.Table, Schema]:
    """Patients whose codes are drawn anew below their categories, from about 14,000."""
    from sfumato.data.datasets.trees import categories, category, icd9

    patients = sf.datasets.load("patients")
    numbered = [c for c in categories() if c[0] not in "VE"]
    longer = [f"{c}{end}" for c in numbered for end in range(15) if len(f"{c}{end}") <= 5]
    tree = icd9(codes=[*longer, *(f"{c}{end}" for c in categories() if c[0] == "V" for end in range(10))])
    schema = sf.Schema({**patients.schema, "diagnoses": sf.ItemSet(role="quasi", taxonomy=tree, most=40)})
    table = _repeated(patients.table, rows)
    lists: Any = table.column("diagnoses").combine_chunks()
    of_leaf = {leaf: at for at, leaf in enumerate(tree.leaves)}
    codes = lists.values.dictionary_encode()
    ends = np.random.default_rng(1).integers(0, 10, len(codes))
    below = [
        of_leaf.get(f"{category(str(code))}{end}", -1) for code in codes.dictionary.to_pylist() for end in range(10)
    ]
    drawn = np.array(below)[codes.indices.to_numpy() * 10 + ends]
    fits = np.where(drawn >= 0, drawn, np.arange(len(drawn)) % len(tree.leaves))
    redrawn = type(lists).from_arrays(lists.offsets, pa.array(tree.leaves).take(fits))
    return table.set_column(table.column_names.index("diagnoses"), "diagnoses", redrawn), schema


def kept_encoded(table: pa.Table, schema: Schema) -> Table:
    """What is released of a table, encoded."""
    kept = sf.Schema({name: schema[name] for name in schema.kept})
    return encode(table.select(list(kept)), kept)


def published(rows: int) -> None:
    """One release of so many patients from end to end, with a ledger of its own; prints what each step took."""
    raw, schema = many_codes(rows)
    recipe = sf.Recipe(
        schema=schema, structure=sf.Clusters("kmeans", k=5), mask=sf.PrivateTree(may_miss=MAY_MISS), budget=Budget(1)
    )
    with TemporaryDirectory() as folder:
        began, before = time.perf_counter(), _peak()
        run = Run(report=False, ledger=sf.Ledger(Path(folder) / "ledger.jsonl"))
        release = sf.publish(raw, recipe, run=run)
        release.write(Path(folder) / "out")
        seconds = time.perf_counter() - began
    for step, took in release.timings.items():
        print(f"{took:7.1f} s  {step}")
    print(f"{seconds:7.1f} s in all ({time.process_time():.0f} s of CPU); peak {_peak():.1f} GB, {before:.1f} before")
    diagnoses = schema["diagnoses"]
    codes = len(diagnoses.taxonomy.leaves) if isinstance(diagnoses, ItemSet) and diagnoses.taxonomy else 0
    print(f"{release.table.num_rows:,} rows, {codes:,} codes; verified: {release.verdict.holds}")
