"""Adult, complete records, held by two: the release of both beside that of the joined table, and what travels.

XDG_STATE_HOME=$(mktemp -d) python -m benchmarks.holders [--k 50]
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections import Counter
from dataclasses import replace
from typing import Any

import sfumato as sf
from benchmarks.recipient import CLUSTERS, EIGHT
from sfumato.data.schema import Number
from sfumato.holders.holder import Holder
from sfumato.holders.lines import LocalHolder

MASKS = {"top_down": sf.TopDown(), "partition": sf.Partition()}


def main() -> None:
    """Print a row a masker."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--k", type=int, default=50)
    k = parser.parse_args().k
    warnings.simplefilter("ignore")
    adult = sf.datasets.load("adult", complete=True)
    schema = sf.Schema({name: _declared(adult.schema[name]) for name in EIGHT})
    table = adult.table.select(list(EIGHT))
    half = table.num_rows // 2
    print("| mask | same mask, claims and rows | tuples up | MB up, counts | MB down, mask | CPU s | joined |")
    print("|---|---|---|---|---|---|---|")
    for name, mask in MASKS.items():
        needs = [sf.KAnonymity(on=EIGHT, k=k)]
        recipe = sf.Recipe(schema=schema, structure=CLUSTERS, privacy=needs, mask=mask)
        lines = [LocalHolder(Holder(part, recipe)) for part in (table.slice(0, half), table.slice(half))]
        for holders in ([table], lines):  # compiled once, before anything is timed
            start = time.process_time()
            if holders is lines:
                both, ours = sf.publish_together(lines, recipe), time.process_time() - start
            else:
                sf.publish(table, recipe, run=sf.Run(report=False))
                start = time.process_time()
                joined, theirs = sf.publish(table, recipe, run=sf.Run(report=False)), time.process_time() - start
        same = _same(both, joined)
        tuples = sum(line.transcript.seen[1].count(",") // (len(EIGHT) + 1) for line in lines)
        up, down = (sum(len(part(line)) for line in lines) / 1e6 for part in (_counts, _mask))
        print(f"| {name} | {same} | {tuples:,} | {up:.1f} | {down:.2f} | {ours:.1f} | {theirs:.1f} |", flush=True)


def _declared(attribute: Any) -> Any:
    whole = {"integer": True} if isinstance(attribute, Number) else {}
    return replace(attribute, role="quasi", **whole)


def _same(one: sf.Release, other: sf.Release) -> bool:
    rows = [Counter(map(str, found.table.to_pylist())) for found in (one, other)]
    claims = one.certificate["claims"] == other.certificate["claims"]
    return one.mask.files() == other.mask.files() and claims and rows[0] == rows[1]


def _counts(line: LocalHolder) -> str:
    return line.transcript.seen[1]


def _mask(line: LocalHolder) -> str:
    return line.transcript.said[2]


if __name__ == "__main__":
    main()
