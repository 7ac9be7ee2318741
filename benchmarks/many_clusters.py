"""Hundreds of clusters: which masker keeps them, on 4,000 people of Adult with eight quasi-identifiers, k = 10.

XDG_STATE_HOME=$(mktemp -d) python -m benchmarks.many_clusters
"""

from __future__ import annotations

import warnings
from dataclasses import replace

import sfumato as sf
from benchmarks.recipient import EIGHT

ROWS, CLUSTERS, K = 4_000, 300, 10
MASKS = {
    "`partition`": sf.Partition(),
    "`top_down`": sf.TopDown(),
    "`top_down`, blind to clusters": sf.TopDown(score="distortion"),
}


def main() -> None:
    """Print F from the centres of the raw clusters, a row for each masker."""
    warnings.simplefilter("ignore")
    adult = sf.datasets.load("adult", complete=True)
    schema = sf.Schema({name: replace(adult.schema[name], role="quasi") for name in EIGHT})
    people = adult.table.select(list(EIGHT)).slice(0, ROWS)
    print("| mask | F from centres |\n|---|---|")
    for name, mask in MASKS.items():
        recipe = sf.Recipe(
            schema=schema,
            structure=sf.Clusters("kmeans", k=CLUSTERS),
            privacy=[sf.KAnonymity(on=EIGHT, k=K)],
            mask=mask,
        )
        scores = sf.publish(people, recipe, run=sf.Run(report=False, trial=True)).scores["scores"]
        print(f"| {name} | {scores['f_measure.start']['value']:.2f} |", flush=True)


if __name__ == "__main__":
    main()
