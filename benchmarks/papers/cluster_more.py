"""Paper 000, what its section 5 says beside its figures: large thresholds, the height of trees, suppression's run time.

python -m benchmarks.papers.cluster_more [--rows 45222]
"""

from __future__ import annotations

import argparse
import time
import warnings
from dataclasses import replace
from typing import Any

import pyarrow as pa

import sfumato as sf
from sfumato.data import datasets

NAMES = ("age", "workclass", "education", "marital_status", "occupation", "race", "sex", "hours_per_week")
LARGE = (100, 1000, 5000)


def people(rows: int | None = None) -> pa.Table:
    """Adult's complete records, the quasi-identifiers alone."""
    return datasets.load("adult", complete=True).table.select(list(NAMES)).slice(0, rows)


def schema() -> sf.Schema:
    """With the bundled trees."""
    found = datasets.load("adult", complete=True).schema
    return sf.Schema({name: found[name] for name in NAMES})


def main() -> None:
    """Print a line a setting."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=45_222)
    table, usual = people(parser.parse_args().rows), schema()
    flat = sf.Schema({name: _flat(of) for name, of in usual.items()})
    bare = sf.Schema({name: _bare(of) for name, of in usual.items()})
    measured(table.slice(0, 2000), usual, 100)  # compiles
    print(f"{table.num_rows:,} people, {len(NAMES)} quasi-identifiers, 6-means; F and match point from the centres\n")
    print("| | F | match point | kept | `publish` |\n|---|---|---|---|---|")
    for k in LARGE:
        _line(f"h = {k}", table, usual, k)
    _line("h = 100, trees of two levels", table, flat, 100)
    _line("h = 100, suppression in place of trees", table, bare, 100)


def measured(table: pa.Table, schema: sf.Schema, k: int) -> dict[str, float]:
    """What `publish` keeps."""
    needs = [sf.KAnonymity(on=schema.quasi, k=k)]
    recipe = sf.Recipe(schema=schema, structure=sf.Clusters("kmeans", k=6), privacy=needs, mask=sf.TopDown())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        release = sf.publish(table, recipe, run=sf.Run(report=False, trial=True))
    scores: Any = release.scores["scores"]
    named = {"F": "f_measure.start", "match point": "match_point.start", "kept": "information_kept"}
    return {what: scores[name]["value"] for what, name in named.items()}


def _line(says: str, table: pa.Table, schema: sf.Schema, k: int) -> None:
    began = time.process_time()
    told = " | ".join(_share(value) for value in measured(table, schema, k).values())
    print(f"| {says} | {told} | {time.process_time() - began:.1f} s |", flush=True)


def _share(value: float) -> str:
    """Three digits, as a page writes shares.

    >>> _share(0.9381), _share(1.0)
    ('.938', '1.000')
    """
    return f"{value:.3f}".removeprefix("0")


def _flat(attribute: Any) -> Any:
    """The same leaves just below the root."""
    tree = getattr(attribute, "taxonomy", None)
    return attribute if tree is None else replace(attribute, taxonomy=sf.Taxonomy.flat(tree.leaves))


def _bare(attribute: Any) -> Any:
    """Without a tree: values are suppressed or shown."""
    tree = getattr(attribute, "taxonomy", None)
    return attribute if tree is None else replace(attribute, taxonomy=None, values=tree.leaves)


if __name__ == "__main__":
    main()
