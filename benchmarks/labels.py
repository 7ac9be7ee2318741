"""What labels cost that go along: somebody who knows the cluster of a person, on Adult with eight quasi-identifiers.

XDG_STATE_HOME=$(mktemp -d) python -m benchmarks.labels [--k 50]
"""

from __future__ import annotations

import argparse
import warnings
from dataclasses import replace
from typing import Any

import sfumato as sf
from benchmarks.recipient import CLUSTERS, EIGHT

MASKS = {"top_down": sf.TopDown(), "partition": sf.Partition(), "microaggregate": sf.Microaggregate()}


def main() -> None:
    """Print a row for each masker and each role of the labels."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--k", type=int, default=50)
    k = parser.parse_args().k
    warnings.simplefilter("ignore")
    adult = sf.datasets.load("adult", complete=True)
    schema = sf.Schema({name: replace(adult.schema[name], role="quasi") for name in EIGHT})
    print("| mask | labels | smallest group with the label | alone | labels shown | agreement | F | match point |")
    print("|---|---|---|---|---|---|---|---|")
    for name, mask in MASKS.items():
        for role in ("plain", "quasi"):
            along = sf.Along(labels=role, score=True)
            needs = [sf.KAnonymity(on=EIGHT, k=k)]
            recipe = sf.Recipe(schema=schema, structure=CLUSTERS, privacy=needs, mask=mask, release=along)
            print(_row(name, role, sf.publish(adult.table.select(list(EIGHT)), recipe, run=sf.Run(report=False))))


def _row(name: str, role: str, release: sf.Release) -> str:
    told: dict[str, Any] = {**release.certificate["labels"], **release.certificate["score"]}
    share = told["shown"] / release.certificate["table"]["rows"]
    figures = (told[key] for key in ("agreement", "f_measure", "match_point"))
    cells = [f"{told['alike']:,}", f"{told['alone']:,}", f"{share:.1%}", *(f"{one:.3f}" for one in figures)]
    return "| " + " | ".join([name, role, *cells]) + " |"


if __name__ == "__main__":
    main()
