"""Versions of one table for 2, 4 and 6 clusters: each alone, one after the other, and as a family.

    python -m benchmarks.family

prints the table of docs/several.md: agreement, and F from the starting centres; about five minutes.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import sfumato as sf
from sfumato.cli.demo import QUASI, SEVERAL, demo_recipe
from sfumato.data.grouping import group_sizes
from sfumato.maskers.recoding.recoding import Recoding
from sfumato.sweeping.sweep import publish_family

NUMBERS = (2, 4, 6)
Releases = Mapping[int | str, sf.Release]


class Case:
    """Owns Adult under some quasi-identifiers, and a folder for what is written."""

    def __init__(self, folder: Path, asked: Sequence[tuple[str, ...]], k: int) -> None:
        self.folder, self.asked = folder, asked
        self.table = sf.datasets.load("adult", complete=True).table
        self.run = sf.Run(report=False, ledger=sf.Ledger(folder / "ledger.jsonl"))
        self.recipes = {n: demo_recipe(tuple(asked), k=k, clusters=n, mask=sf.TopDown()) for n in NUMBERS}

    def alone(self) -> Releases:
        """Each as if it were the only one."""
        return {number: sf.publish(self.table, recipe, run=self.run) for number, recipe in self.recipes.items()}

    def in_order(self, order: Sequence[int]) -> Releases:
        """One after the other, each beside those before it."""
        found: dict[int | str, sf.Release] = {}
        written: list[str] = []
        for number in order:
            earlier = sf.Earlier(releases=tuple(written), people="same") if written else None
            found[number] = sf.publish(self.table, replace(self.recipes[number], earlier=earlier), run=self.run)
            written.append(str(found[number].write(self.folder / f"{order}" / str(number))))
        return found

    def family(self) -> Releases:
        """All of them guided by the clusters of all numbers."""
        return publish_family(self.table, self.recipes[2], NUMBERS, self.folder / "family", run=self.run).releases

    def joint(self, releases: Releases) -> int:
        """The smallest group of rows that look alike in all versions, on any of the quasi-identifiers."""
        people = sf.read(self.table, self.recipes[2].schema)
        masks = [release.mask for release in releases.values() if isinstance(release.mask, Recoding)]
        shown = [mask.apply(people) for mask in masks]
        return min(
            int(group_sizes([columns[name].keys for columns in shown for name in on], people.rows).min())
            for on in self.asked
        )


def lines(case: Case) -> Iterator[str]:
    """One line for each way to publish."""
    ways = {
        "each alone, not safe together": case.alone,
        "one after the other, 2, 4, 6": lambda: case.in_order((2, 4, 6)),
        "one after the other, 6, 4, 2": lambda: case.in_order((6, 4, 2)),
        "family": case.family,
    }
    for name, way in ways.items():
        releases = way()
        yield f"| {name} | {' | '.join(_figures(releases[n]) for n in NUMBERS)} | {case.joint(releases)} |"


def _figures(release: sf.Release) -> str:
    scores = release.scores["scores"]
    names = ("agreement", "f_measure.start", "f_measure.cold.mean")
    return " / ".join(f"{scores[name]['value']:.3f}" for name in names)


def main() -> None:
    """Print the table."""
    warnings.simplefilter("ignore")
    sys.stdout.write("| | 2 clusters | 4 clusters | 6 clusters | smallest joint group |\n|---|---|---|---|---|\n")
    for title, asked, k in (
        ("nine attributes, k = 20", (QUASI,), 20),
        ("three quasi-identifiers of three, k = 50", SEVERAL, 50),
    ):
        sys.stdout.write(f"| *{title}* | | | | |\n")
        with TemporaryDirectory() as folder:
            for line in lines(Case(Path(folder), asked, k)):
                sys.stdout.write(line + "\n")
                sys.stdout.flush()


if __name__ == "__main__":
    main()
