"""One run of another library, in a Python of its own: `python benchmarks/peer_runs.py NAME FOLDER K`.

Nothing of Sfumato is imported here. The folder has people.csv, quasi.txt (the attributes that are masked, a line each)
and for each of them an ARX hierarchy NAME.csv; what comes out is written there as shown.csv. `recount` prints the k
that pycanon counts in shown.csv.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any


def anjana(folder: Path, quasi: list[str], k: int) -> None:
    """Full-domain generalization: every attribute at one level of its hierarchy, nobody suppressed."""
    pandas, mask = import_module("pandas"), import_module("anjana.anonymity").k_anonymity
    people = pandas.read_csv(folder / "people.csv", dtype=str, keep_default_na=False)
    trees = {
        name: dict(pandas.read_csv(folder / f"{name}.csv", header=None, sep=";", dtype=str, keep_default_na=False))
        for name in quasi
    }
    mask(people, [], quasi, k, 0, trees).to_csv(folder / "shown.csv", index=False)


def anonypy(folder: Path, quasi: list[str], k: int) -> None:
    """Mondrian without hierarchies: ranges of numbers and sets of labels, other ones in each region."""
    pandas, preserver = import_module("pandas"), import_module("anonypy").Preserver
    people = pandas.read_csv(folder / "people.csv")
    sensitive = next(name for name in people.columns if name not in quasi)
    for name in people.columns:
        if people[name].dtype == object:
            people[name] = people[name].astype("category")
    shown = pandas.DataFrame(preserver(people, quasi, sensitive).anonymize_k_anonymity(k))
    shown[quasi] = shown[quasi].map(lambda cell: cell[0] if isinstance(cell, list) else cell)
    every = shown.loc[shown.index.repeat(shown["count"])].drop(columns="count")
    every.to_csv(folder / "shown.csv", index=False)


def recount(folder: Path, quasi: list[str], k: int) -> None:
    """The k that pycanon counts."""
    del k
    pandas, count = import_module("pandas"), import_module("pycanon.anonymity").k_anonymity
    print(count(pandas.read_csv(folder / "shown.csv", dtype=str, keep_default_na=False), quasi))


RUNS: dict[str, Callable[[Path, list[str], int], Any]] = {"anjana": anjana, "anonypy": anonypy, "recount": recount}

if __name__ == "__main__":
    where = Path(sys.argv[2])
    RUNS[sys.argv[1]](where, (where / "quasi.txt").read_text(encoding="utf-8").split(), int(sys.argv[3]))
