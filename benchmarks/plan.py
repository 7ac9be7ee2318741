"""A plan for many rows: what one row costs, by number of attributes, and what so many of them would.

python -m benchmarks.plan                         # four publishes of 1,000,000 and 2,000,000 rows: half a minute of CPU
python -m benchmarks.plan --rows 2000000 --for 1000000000

What does not grow is left out: a row costs what the second half of a table adds to the first. Measured with 6 and with
13 quasi-identifiers of Adult, one column of classes beside them, `top_down`, k in proportion; what an attribute costs
is a seventh of the difference. All that is said of more rows is extrapolated.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmarks.scale import Job, apart, make

FEW, MANY = 6, 13
"""Quasi-identifiers."""
STEPS = {
    "Reading the table": "reading (codes in files, the ledger's sketches)",
    "Masking": "masking (combinations, masked codes)",
    "Measuring what survived": "measuring (groups)",
    "Writing": "writing (the order of the rows)",
    "Verifying the written file": "verifying, beside what publish holds",
}
CPU, WRITTEN = "seconds of CPU a million rows", "the written table, on disk"


@dataclass(frozen=True)
class Cost:
    """What a row costs with so many quasi-identifiers: `of` the parts, by what they are called."""

    quasi: int
    of: Mapping[str, float]


def cost(folder: Path, rows: int, quasi: int) -> Cost:
    """What the second half of a table adds to the first, by row."""
    found = []
    for at, count in enumerate((rows, 2 * rows)):
        path, into = folder / f"{quasi}-{at}.parquet", folder / f"release-{quasi}-{at}"
        make(path, count, quasi)
        found.append(
            apart(Job(str(path), quasi=quasi, into=str(into))) | {"size": (into / "table.parquet").stat().st_size}
        )
    first, both = found
    peaks = [{step: one["peaks"][step] * one["rows"] for step in STEPS} for one in found]
    parts = {told: (peaks[1][step] - peaks[0][step]) / rows for step, told in STEPS.items()}
    return Cost(
        quasi,
        {
            **parts,
            WRITTEN: (both["size"] - first["size"]) / rows,
            CPU: (both["cpu"] - first["cpu"]) / rows * 1e6,
        },
    )


def tell(few: Cost, many: Cost, *, wanted: int) -> None:
    """Both costs beside each other, what an attribute adds, and what so many rows with the longer table would take."""
    print(
        f"{'bytes a row':52} {few.quasi + 1:>8} {many.quasi + 1:>8} {'each':>7}   {wanted:,} rows of {many.quasi + 1}"
    )
    for part, large in many.of.items():
        each = (large - few.of[part]) / (many.quasi - few.quasi)
        whole = f"{large * wanted / 1e6 / 3600:9.2f} core-hours" if part == CPU else f"{large * wanted / 1e9:9.1f} GB"
        print(f"{part:52} {few.of[part]:8.1f} {large:8.1f} {each:7.2f}   {whole}")
    most = max(many.of[part] for part in STEPS.values())
    print(f"memory: {most * wanted / 1e9:.0f} GB at most, measured at {most:.1f} bytes a row, the rest extrapolated")


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--rows", type=int, default=1_000_000)
    asked.add_argument("--for", type=int, default=1_000_000_000, dest="wanted", metavar="ROWS")
    given = asked.parse_args()
    print(f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores; attributes with the class", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        few, many = (cost(Path(folder), given.rows, quasi) for quasi in (FEW, MANY))
    tell(few, many, wanted=given.wanted)


if __name__ == "__main__":
    main()
