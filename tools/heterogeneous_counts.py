"""Prints how many records the set-valued Adult has, by what is dropped and which records are taken.

python tools/heterogeneous_counts.py
"""

from __future__ import annotations

import sys

import pyarrow as pa
import pyarrow.compute as pc

from sfumato.data import datasets
from sfumato.data.datasets.loading import DROPPED, merge

PAPER = 28_308


def variants() -> dict[str, tuple[str, ...]]:
    """Which columns are dropped before records are merged."""
    return {
        "fnlwgt, capital_gain, capital_loss, income (the default)": DROPPED,
        "the same, income kept": tuple(name for name in DROPPED if name != "income"),
        "fnlwgt, income": ("fnlwgt", "income", "split"),
        "capital_gain, capital_loss, income": ("capital_gain", "capital_loss", "income", "split"),
        "income": ("income", "split"),
    }


def records() -> dict[str, pa.Table]:
    """Which records are merged."""
    everyone = datasets.load("adult").table
    complete = everyone.drop_null()
    return {
        "complete": complete,
        "all": everyone,
        "occupation known": everyone.filter(pc.is_valid(everyone["occupation"])),
        "complete, train": complete.filter(pc.equal(complete["split"], pa.scalar("train"))),
        "train": everyone.filter(pc.equal(everyone["split"], pa.scalar("train"))),
    }


def main() -> None:
    """One line a variant, one column a choice of records."""
    tables = records()
    sys.stdout.write(f"| dropped | {' | '.join(tables)} |\n|---{'|---:' * len(tables)}|\n")
    for label, dropped in variants().items():
        counts = [merge(table, dropped=dropped).num_rows for table in tables.values()]
        cells = [f"**{count:,}**" if count == PAPER else f"{count:,}" for count in counts]
        sys.stdout.write(f"| {label} | {' | '.join(cells)} |\n")


if __name__ == "__main__":
    main()
