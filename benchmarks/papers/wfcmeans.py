"""001 redone: Table 1 (1-NN error at k = 3), Figure 4 (distortion) and Figure 5 (time), and Adult's numbers.

    python -m benchmarks.papers.wfcmeans                 # about a minute; prints Markdown
    python -m benchmarks.papers.wfcmeans --write docs/results/wfcmeans.md

WF-C-means begins with random records, so its figures are means over SEEDS beginnings, the spread beside them.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.distortion import distortion, information_loss, nearest_neighbour_error
from benchmarks.microaggregation import numbers, points
from sfumato.arrays import Floats
from sfumato.data.datasets import load
from sfumato.maskers.centroids.grouping import Weighted, linkage, mdav, wf_c_means
from sfumato.maskers.centroids.microaggregation import microaggregate
from sfumato.maskers.centroids.points import Partition, Points, Sums

SEEDS = 20
KS = (2, 4, 8, 16)
CLASSES = {"iris": "species", "wine": "class", "zoo": "type"}
PAPER = {
    "iris": {"WF-C-means": "6.67", "single link": "8.67", "complete link": "9.33", "average link": "6.00"},
    "wine": {"WF-C-means": "17.42", "single link": "22.47", "complete link": "21.91", "average link": "19.66"},
}
ORIGINAL = {"iris": "4.47 (a misprint of 4.67)", "wine": "15.73"}


@dataclass(frozen=True, eq=False)
class Made:
    """What a method made of a table: the masked records, and the weights of the attributes it used."""

    masked: Floats
    weights: Floats
    seconds: float


Method = Callable[[Points, int, int], Weighted]
"""Classes of records for k and a seed."""


def wf(points: Points, k: int, seed: int) -> Weighted:
    """WF-C-means."""
    return wf_c_means(points, k, seed=seed)


def plain(partition: Partition) -> Method:
    """A method that weighs all attributes alike and leaves nothing to chance."""
    return lambda points, k, seed: Weighted(
        partition(points, k), np.full(points.vectors.shape[1], 1 / points.vectors.shape[1]), settled=True
    )


METHODS: dict[str, Method] = {
    "WF-C-means": wf,
    "single link": plain(partial(linkage, link="single")),
    "complete link": plain(partial(linkage, link="complete")),
    "average link": plain(partial(linkage, link="average")),
    "MDAV": plain(mdav),
    "ours": plain(microaggregate),
}


def made(name: str, raw: Floats, k: int, *, standardised: bool) -> Iterator[Made]:
    """One method's results: several for WF-C-means, one for the others."""
    records = points(raw) if standardised else Points.of(raw)
    for seed in range(SEEDS if name == "WF-C-means" else 1):
        began = time.process_time()
        found = METHODS[name](records, k, seed)
        seconds = time.process_time() - began
        yield Made(Sums.of(raw, found.labels).centres[found.labels], found.weights, seconds)


def told(values: list[float], form: str = ".2f") -> str:
    """A figure, or the mean of several with the least and the largest."""
    if len(values) == 1:
        return f"{values[0]:{form}}"
    return f"{np.mean(values):{form}} ({min(values):{form}}-{max(values):{form}})"


def table_1(name: str) -> Iterator[str]:
    """1-NN error in percent at k = 3, Manhattan distance on raw values, the paper's figures beside it."""
    raw, classes = numbers(name), load(name).table.column(CLASSES[name]).to_pylist()
    error = 100 * nearest_neighbour_error(raw, classes, raw, leave_one_out=True)
    yield f"| {name} | original table | {ORIGINAL.get(name, '')} | {error:.2f} | | |"
    for method in METHODS:
        cells = []
        for standardised, out in ((False, False), (True, False), (True, True)):
            errors = [
                100 * nearest_neighbour_error(one.masked, classes, raw, leave_one_out=out)
                for one in made(method, raw, 3, standardised=standardised)
            ]
            cells.append(told(errors))
        yield f"| {name} | {method} | {PAPER.get(name, {}).get(method, '')} | {' | '.join(cells)} |"


Means = dict[tuple[str, str, int], tuple[float, float]]
"""Mean distortion by own and by equal weights, of a table, a method and k."""


def figure_4(name: str, means: Means) -> Iterator[str]:
    """Distortion with own weights (the paper's way), with equal weights, and SSE / SST, standardised."""
    raw = numbers(name)
    deviation = raw.std(axis=0)
    scaled = raw / np.where(deviation > 0, deviation, 1)
    for method in METHODS:
        for k in KS:
            runs = list(made(method, raw, k, standardised=True))
            masked = [one.masked / np.where(deviation > 0, deviation, 1) for one in runs]
            own = [distortion(scaled, m, one.weights) for m, one in zip(masked, runs, strict=True)]
            equal = [distortion(scaled, m) for m in masked]
            loss = [100 * information_loss(raw, one.masked) for one in runs]
            spent = [1000 * one.seconds for one in runs]
            means[name, method, k] = (float(np.mean(own)), float(np.mean(equal)))
            yield f"| {name} | {method} | {k} | {told(own)} | {told(equal)} | {told(loss)} | {np.mean(spent):.1f} |"


def lower(means: Means) -> str:
    """In how many cells WF-C-means has the lower mean, by its own weights and by equal ones.

    >>> print(lower({("iris", "WF-C-means", 2): (1.0, 3.0), ("iris", "MDAV", 2): (2.0, 2.0)}))
    WF-C-means has the lower mean by its own weights and by equal ones
    than MDAV in 1 and 0 of 1 cells.
    """
    ours = {(table, k): pair for (table, method, k), pair in means.items() if method == "WF-C-means"}
    counts = []
    for other in dict.fromkeys(method for _, method, _ in means if method != "WF-C-means"):
        own, equal = (sum(pair[at] < means[table, other, k][at] for (table, k), pair in ours.items()) for at in (0, 1))
        counts.append(f"{other} in {own} and {equal}")
    return (
        "WF-C-means has the lower mean by its own weights and by equal ones\n"
        f"than {', '.join(counts)} of {len(ours)} cells."
    )


def adult() -> Iterator[str]:
    """SSE / SST on Adult's six numbers; one beginning, no linkage (it would compare a billion pairs)."""
    raw = numbers("adult")
    for k in (3, 5, 10):
        for method in ("WF-C-means", "MDAV", "ours"):
            one = next(made(method, raw, k, standardised=True))
            heaviest = f"{one.weights.max():.2f}" if method == "WF-C-means" else ""
            yield f"| {k} | {method} | {100 * information_loss(raw, one.masked):.3f} | {one.seconds:.2f} | {heaviest} |"


def report(*, with_adult: bool) -> Iterator[str]:
    """The whole report, line by line."""
    for method in METHODS:  # compile first
        next(made(method, numbers("iris"), 3, standardised=True))
    yield "## Table 1: 1-NN error in %, k = 3\n"
    yield "| table | method | paper | classes on raw values | on standardised values | the same, own record left out |"
    yield "|---|---|---|---|---|---|"
    for name in CLASSES:
        yield from table_1(name)
    yield "\n## Figures 4 and 5: distortion, loss and time at k = 2, 4, 8, 16\n"
    yield "| table | method | k | Eq. 4, own weights | Eq. 4, equal weights | SSE / SST in % | CPU ms |"
    yield "|---|---|---|---|---|---|---|"
    means: Means = {}
    for name in CLASSES:
        yield from figure_4(name, means)
    yield f"\n{lower(means)}"
    if with_adult:
        yield "\n## Adult's six numbers, 45,222 complete records\n"
        yield "| k | method | SSE / SST in % | CPU s | largest weight |"
        yield "|---|---|---|---|---|"
        yield from adult()


def main() -> None:
    """Print the report, or write it behind the part of the file that is written by hand."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", type=Path)
    parser.add_argument("--no-adult", action="store_true")
    given = parser.parse_args()
    lines = []
    for line in report(with_adult=not given.no_adult):
        print(line, flush=True)
        lines.append(line)
    if given.write:
        before = given.write.read_text(encoding="utf-8").partition("## Table 1")[0] if given.write.exists() else ""
        given.write.write_text(before + "\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
