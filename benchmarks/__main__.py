"""`./run benchmarks --quick` prints the README's table: what you get from each library for the same table and k.

    ./run benchmarks --quick        # 2,000 records of Adult, k = 10, once: about a minute
    ./run benchmarks                # 45,222 records, k = 20, three rounds

The measuring is `benchmarks.peers`, whose page is docs/results/peers.md. Everything but the CPU seconds comes out the
same everywhere. Who cannot be run here is told, and has no figures.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple

from benchmarks.peers import PEERS, Contender, Measured, contenders, lay_out, measure


class Size(NamedTuple):
    """How much is measured."""

    rows: int | None
    k: int
    runs: int


QUICK = Size(rows=2_000, k=10, runs=1)
WHOLE = Size(rows=None, k=20, runs=3)
LEFT_OUT = ("polars", "Sfumato, everything on")
"""Contenders of the page of peers that are no library one would choose between."""
NOT_MEASURED = {
    "ARX": "not measured: no jar here; runs where `SFUMATO_ARX_JAR` names it",
    "sdcMicro": "not measured: an R package",
    "OpenDP, SmartNoise": "another promise, differential privacy: [MST and AIM beside ours](docs/results/dpheter.md)",
}
"""Who has no figures here, and why; ARX where it could not be run."""


def row(one: Measured) -> str:
    """A line of the table."""
    made = one.worth
    if made is None:
        return f"| {one.contender.name} | {one.words} | | | | |"
    cells = (one.contender.name, one.contender.how, str(made.k), str(made.groups), f"{made.loss:.3f}")
    return f"| {' | '.join(cells)} | {median(one.seconds):.1f} |"


def table(found: Sequence[Measured]) -> str:
    """The table of the README."""
    head = "| | how | smallest group, recounted | groups | information lost | CPU s |"
    measured = {one.contender.name for one in found}
    others = [f"| {name} | {why} | | | | |" for name, why in NOT_MEASURED.items() if name not in measured]
    return "\n".join([head, "|---|---|---|---|---|---|", *map(row, found), *others])


def main(given: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a small table, once")
    parser.add_argument("--peers-python", type=Path, default=PEERS)
    asked = parser.parse_args(given)
    size = QUICK if asked.quick else WHOLE
    everybody = contenders(asked.peers_python)
    able = [one for one in everybody if isinstance(one, Contender) and one.name not in LEFT_OUT]
    with tempfile.TemporaryDirectory() as scratch:
        lay_out(Path(scratch), size.rows)
        found = measure(Path(scratch), able, runs=size.runs, k=size.k, python=asked.peers_python)
    print(table(found))
    print(*("", *(one for one in everybody if isinstance(one, str))), sep="\n")
    sys.exit(any(one.words for one in found))


if __name__ == "__main__":
    main()
