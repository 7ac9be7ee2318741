"""How long may somebody wait who asks a run to stop? The longest work between two places where it asks.

python -m tools.stops                                  # every masker on Adult, 45,222 rows
python -m tools.stops --rows 1000000 top_down mondrian
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time

from tests.e2e.stopping import Probe, adult, recipe_for

import sfumato as sf
from sfumato.events import running
from sfumato.maskers.registry import MASKERS

MOST = {"linkage": 10_000}
"""Rows that a masker takes at most."""


def main() -> None:
    """Publish with each masker, and print the longest gaps."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("maskers", nargs="*", metavar="MASKER", help="those of the registry; all if none is named")
    parser.add_argument("--rows", type=int, default=None)
    parser.add_argument("--least", type=float, default=0.2, help="seconds of work that are worth telling")
    parser.add_argument("--most", type=int, default=6, help="gaps told of each masker")
    parser.add_argument("--no-report", action="store_true")
    given = parser.parse_args()
    every = adult(given.rows)
    for masker in given.maskers or MASKERS:
        table = every.slice(0, MOST.get(masker))
        probe, began, worked = Probe(given.least), time.perf_counter(), time.process_time()
        with tempfile.TemporaryDirectory() as ledger:
            os.environ["XDG_STATE_HOME"] = ledger
            with running(probe.hear, probe):
                sf.publish(table, recipe_for(masker), run=sf.Run(report=not given.no_report))
        took, work = time.perf_counter() - began, time.process_time() - worked
        worst = probe.worst(given.most)
        longest = f"{worst[0].seconds:.2f} s" if worst else f"below {given.least} s"
        print(
            f"{masker}: {table.num_rows:,} rows, {took:.1f} s ({work:.1f} s of work), longest gap {longest}", flush=True
        )
        for gap in worst:
            print(f"  {gap.seconds:6.2f} s  {gap.step}: {gap.before}  ->  {gap.after}", flush=True)


if __name__ == "__main__":
    main()
