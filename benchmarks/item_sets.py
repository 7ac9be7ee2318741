"""Patients with diagnoses as a quasi-identifier: what top-down refinement and microaggregation keep of the sets.

python -m benchmarks.item_sets [--rows 5000] [--k 20]
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pyarrow as pa

import sfumato as sf
from sfumato.data import datasets

COLUMN = "diagnoses"
KNOWN = (COLUMN, "gender")
MASKS = {
    "top_down": sf.TopDown(),
    "top_down, total_gain": sf.TopDown(score="total_gain"),
    "microaggregate": sf.Microaggregate(),
}
HEADINGS = ("sets kept", "true of all", "labels", "F start", "smallest", "CPU s")


def alike(raw: Iterable[str], shown: Iterable[str], tree: sf.Taxonomy) -> float:
    """Of the leaves that a shown set may stand for, or that the record has, the share that are both."""
    mine = set(raw)
    told = {leaf for label in shown for leaf in tree.leaves_of(label)}
    return len(mine & told) / len(mine | told) if mine | told else 1.0


def true_of(raw: Iterable[str], shown: Iterable[str], tree: sf.Taxonomy) -> bool:
    """Whether every item of a record is under a shown label, and every shown label has one."""
    mine = set(raw)
    of = [set(tree.leaves_of(label)) for label in shown]
    return mine <= set().union(*of) and all(mine & leaves for leaves in of)


def main() -> None:
    """Print a line a masker."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=5000)
    parser.add_argument("--k", type=int, default=20)
    asked = parser.parse_args()
    found = datasets.load("patients")
    table = found.table.slice(0, asked.rows)
    schema = sf.Schema({name: _role(name, of) for name, of in found.schema.items()})
    tree: Any = found.schema[COLUMN].taxonomy
    print(f"{table.num_rows} patients, quasi-identifier {', '.join(schema.quasi)}, k = {asked.k}")
    print(f"{len(tree.labels):,} labels in the tree of {COLUMN}")
    print(f"{'mask':22}" + "".join(f"{heading:>12}" for heading in HEADINGS))
    for name, mask in MASKS.items():
        needs = [sf.KAnonymity(on=schema.quasi, k=asked.k)]
        structure = sf.Clusters("kmeans", k=5)
        recipe = sf.Recipe(schema=schema, structure=structure, privacy=needs, mask=mask, keep_order=True)
        print(f"{name:22}" + "".join(f"{figure:12.4g}" for figure in _figures(table, recipe)), flush=True)


def _figures(table: pa.Table, recipe: sf.Recipe) -> list[float]:
    began = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        release = sf.publish(table, recipe, run=sf.Run(report=False, trial=True))
    spent = time.process_time() - began
    tree: Any = recipe.schema[COLUMN].taxonomy
    shown: list[Any] = [one or () for one in pa.table(release.table)[COLUMN].to_pylist()]
    pairs = list(zip((one or () for one in table[COLUMN].to_pylist()), shown, strict=True))
    return [
        sum(alike(*pair, tree) for pair in pairs) / len(pairs),
        sum(true_of(*pair, tree) for pair in pairs) / len(pairs),
        len({label for one in shown for label in one}),
        release.scores["scores"]["f_measure.start"]["value"],
        min(claim["achieved"] for claim in release.certificate["claims"]),
        spent,
    ]


def _role(name: str, attribute: Any) -> Any:
    return (
        attribute if attribute.role == "identifier" else replace(attribute, role="quasi" if name in KNOWN else "plain")
    )


if __name__ == "__main__":
    main()
