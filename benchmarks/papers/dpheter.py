"""Figures 4 to 18 of 003 in a compact form: DPHeter made sound, random selection, our tree, no data, the ceiling.

    python -m benchmarks.papers.dpheter                             # into docs/results/dpheter.md; 25 minutes of CPU
    python -m benchmarks.papers.dpheter --only "adult bisecting 3"  # these lines of the tables; the others stay
    python -m benchmarks.papers.dpheter --usual                     # DPHeter with its usual number of steps alone
    python -m benchmarks.papers.dpheter --quick                     # a small part, printed only

The tables are public, so the noise is drawn from seeds: the figures repeat, and none of them protects anybody. `--time`
measures Figure 18 alone; `--pairs` our tree with so many pairs alone; `--rival-python` names a Python that has dpmm and
mbi, and compares with its MST and AIM alone; `--publish` makes one release from end to end.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import sfumato as sf
from benchmarks.papers.dpheter_page import Figure, page, pairs_page, rivals_page
from benchmarks.papers.dpheter_rivals import Coded
from benchmarks.papers.dpheter_time import kept_encoded, published, timings
from sfumato.data.encoding import encode
from sfumato.data.masked import Masked
from sfumato.data.table import Table
from sfumato.engines import ReferenceEngine
from sfumato.evaluation import clusters as measure
from sfumato.evaluation.generated import again, place
from sfumato.maskers.histogram.domains import declared
from sfumato.maskers.histogram.marginals import drawn_evenly
from sfumato.maskers.histogram.mask import NoisyHistogram
from sfumato.maskers.masker import Labels, Masker, Outcome, Task
from sfumato.privacy.budget import Budget, Spending
from sfumato.privacy.mechanisms import Mechanisms, SeededNoise
from sfumato.structure.structures import Clusters, Found, cluster_placed, find

PAGE = Path(__file__).parents[2] / "docs" / "results" / "dpheter.md"
EPSILONS = ("0.1", "0.25", "0.5", "0.75", "1")
STEPS = (4, 8, 12, 16, 20)
USUAL_STEPS = 16
RUNS, MAIN_RUNS = 5, 10
STARTS = 30
"""Random starts of every clustering, the holder's and the recipient's, whatever made the table."""
BY_STEPS = {"adult": EPSILONS, "patients": ("0.1", "0.5", "1")}
"""Where DPHeter is run with every number of steps; patients' sets take seconds each."""
CROSSED = 5
"""Of so many clusters it is measured how another clusterer finds them again."""
STRUCTURES = (("kmeans", 5), ("kmeans", 3), ("bisecting", 5), ("bisecting", 3))
NAMES = tuple(f"{table} {method} {k}" for table in ("adult", "patients") for method, k in STRUCTURES)
"""Every case, as `--only` names it and as the lines of the page do."""
MAY_MISS = {"adult": (), "patients": ("marital_status",)}


@dataclass(frozen=True, eq=False)
class Case:
    """One table with one structure found in it."""

    name: str
    table: Table
    structure: Clusters
    found: Found

    def figures(
        self, method: str, epsilon: str, masked: Masked, *, mask: NoisyHistogram | None = None, run: int = 0
    ) -> Iterator[Figure]:
        """What the generated table keeps: by nearest centre, and where the mask is given by part."""
        seen = again(self.structure, self.found, place(self.found, masked))
        cost = seen.cost_ratio(self.found)
        yield self.compared(method, epsilon, seen.nearest(self.found), cost, run)
        if mask is not None and mask.parts is not None:
            by_part = seen.by_part(self.found, part=mask.parts.of_records, made_for=mask.parts.of_rows)
            yield self.compared(f"{method}, parts", epsilon, by_part, cost, run)

    def compared(self, method: str, epsilon: str, labels: Any, cost: float, run: int = 0) -> Figure:
        """Labels of raw records against their clusters."""
        return Figure(
            self.name,
            self.structure.method,
            self.found.n,
            self.structure.again,
            method,
            epsilon,
            measure.f_measure(self.found.labels, labels),
            measure.match_point(self.found.labels, labels),
            cost,
            run,
        )

    @property
    def crossed(self) -> Case:
        """The same, but the recipient clusters by the other method (Figures 16 and 17)."""
        other = "bisecting" if self.structure.method == "kmeans" else "kmeans"
        return replace(self, structure=replace(self.structure, recluster=other))

    @property
    def main(self) -> bool:
        """Whether every run is made: of 5-means, the paper's own case."""
        return self.structure.method == "kmeans" and self.found.n == 5

    def run(self, masker: Masker, epsilon: str, seed: int) -> Outcome:
        """Mask with noise from a seed."""
        mechanisms = Mechanisms(Spending(Budget(epsilon)), SeededNoise(seed))
        labels = Labels(self.found.labels, self.found.n, most=self.found.n)  # measured with a seed, never released
        outcome = masker.mask(Task(self.table, labels, (), ReferenceEngine(), mechanisms=mechanisms))
        mechanisms.spending.check_complete()
        return outcome


def tables(*, quick: bool) -> dict[str, Table]:
    """Heterogeneous Adult, and generated patients."""
    adult = sf.datasets.load("adult_heterogeneous")
    patients = sf.datasets.load("patients", rows=2_000 if quick else 10_000)
    rows = adult.table.slice(0, 3_000) if quick else adult.table
    return {"adult": encode(rows, adult.schema), "patients": kept_encoded(patients.table, patients.schema)}


def cases(*, quick: bool, only: Sequence[str] = ("",)) -> Iterator[Case]:
    """Every table with every structure, or those whose name, such as "patients kmeans 5", begins with one of `only`."""
    for name, table in tables(quick=quick).items():
        for method, k in STRUCTURES[:1] if quick else STRUCTURES:
            if not f"{name} {method} {k}".startswith(tuple(only)):
                continue
            structure = Clusters(method, k=k, n_init=2 if quick else STARTS)
            yield Case(name, table, structure, find(structure, table))


def measured(case: Case, made: dict[Any, Outcome], *, quick: bool, usual: bool = False) -> Iterator[Figure]:
    """Figures of one case; tables that do not depend on the structure are made once, in `made`.

    `usual`: neither other numbers of steps, nor another clusterer afterwards.
    """
    yield from _bounds(case)
    tree = sf.PrivateTree(may_miss=MAY_MISS[case.name])
    for epsilon in EPSILONS[::4] if quick else EPSILONS:
        for seed in range(2 if quick else MAIN_RUNS if case.main else RUNS):
            key = (case.name, epsilon, seed)
            outcome = made[key] = made.get(key) or case.run(tree, epsilon, seed)
            mask = outcome.mask if isinstance(outcome.mask, NoisyHistogram) else None
            yield from case.figures("tree", epsilon, outcome.masked, mask=mask, run=seed)
            if case.found.n == CROSSED and seed < RUNS and not usual:
                yield from case.crossed.figures("tree", epsilon, outcome.masked, run=seed)
            if seed < RUNS:
                yield from _papers(case, made, epsilon, seed, usual=usual)


def _papers(case: Case, made: dict[Any, Outcome], epsilon: str, seed: int, *, usual: bool) -> Iterator[Figure]:
    """The paper's algorithm with every number of steps, and with cuts chosen at random."""
    heter = sf.DPHeter(steps=USUAL_STEPS, may_miss=MAY_MISS[case.name])
    for steps in STEPS if epsilon in BY_STEPS[case.name] and not usual else (USUAL_STEPS,):
        outcome = case.run(replace(heter, steps=steps), epsilon, seed)
        yield from _generalized(case, f"h={steps}", outcome, epsilon, seed, crossed=not usual)
    key = (case.name, "random", epsilon, seed)
    made[key] = made.get(key) or case.run(replace(heter, selection="random"), epsilon, seed + 1000)
    yield from _generalized(case, "random", made[key], epsilon, seed)


MOST_ROWS = 200_000


def _generalized(
    case: Case, name: str, outcome: Outcome, epsilon: str, seed: int, *, crossed: bool = False
) -> Iterator[Figure]:
    rows = outcome.masked.rows
    if rows < case.found.n:
        return
    chosen = np.random.default_rng(seed).permutation(rows)[:MOST_ROWS]
    some = pa.array(np.sort(chosen), type=pa.int64())
    taken = {key: column.decode().take(some) for key, column in outcome.masked.items()}
    masked = Masked.of(taken, came="generated")
    yield from case.figures(name, epsilon, masked, run=seed)
    if crossed and case.found.n == CROSSED:
        yield from case.crossed.figures(name, epsilon, masked, run=seed)


def _bounds(case: Case) -> Iterator[Figure]:
    """What no data at all gives, and what raw data gives with another seed."""
    domains = declared(case.table.schema, bins=8, may_miss=())
    for seed in range(3):
        free = drawn_evenly(domains, case.table.rows, np.random.default_rng(seed))
        yield from case.figures("no data", "", Masked.of(free, came="generated"))
        if case.found.placed is not None:
            labels = cluster_placed(case.structure, case.found.placed, seed=seed + 1).labels
            yield case.compared("ceiling", "", labels, 1.0)


PAIRED_SEED = 100
"""Seeds of `--pairs` begin here: those below were used to choose its shares of epsilon."""


def paired(case: Case, made: dict[Any, Outcome], pairs: int, epsilons: Sequence[str]) -> Iterator[Figure]:
    """Our tree with pairs in place of parts, beside the tree with parts from the same seeds."""
    own = {"tree": sf.PrivateTree(may_miss=MAY_MISS[case.name])}
    own["pairs"] = replace(own["tree"], pairs=pairs)
    for name, masker in own.items():
        for epsilon in epsilons:
            for seed in range(PAIRED_SEED, PAIRED_SEED + RUNS):
                key = (case.name, name, epsilon, seed)
                made[key] = made.get(key) or case.run(masker, epsilon, seed)
                yield from case.figures(name, epsilon, made[key].masked)


def rivalled(
    python: str, models: Sequence[str], epsilons: Sequence[str], *, runs: int, quick: bool
) -> Iterator[list[Figure]]:
    """Our tree beside MST and AIM on heterogeneous Adult, 5-means, run by run; they also get a delta of 10^-5."""
    case, seeds = next(cases(quick=quick)), range(runs)
    coded = Coded.of(case.table, bins=8, may_miss=())
    found = list(_bounds(case))
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        theirs = {
            (model, epsilon, seed): pool.submit(coded.generated, python, model=model, epsilon=epsilon, seed=seed)
            for seed in seeds
            for epsilon in epsilons
            for model in models
        }
        for seed in seeds:
            for epsilon in epsilons:
                found += case.figures("tree", epsilon, case.run(sf.PrivateTree(), epsilon, seed).masked)
                random = case.run(sf.DPHeter(selection="random"), epsilon, seed + 1000)
                found += _generalized(case, "random", random, epsilon, seed)
                for model in models:
                    made, seconds = theirs[model, epsilon, seed].result()
                    found += case.figures(model, epsilon, made)
                    print(f"{model} {epsilon} {seed}: {seconds:.0f} s, F {found[-1].f:.3f}", flush=True)
            yield found


def pairs_measured(pairs: int, epsilons: Sequence[str], *, only: Sequence[str], quick: bool) -> None:
    """Every structure, and its table into the page as far as it has come."""
    found: list[Figure] = []
    outcomes: dict[Any, Outcome] = {}
    for case in cases(quick=quick, only=only):
        found += paired(case, outcomes, pairs, epsilons)
        found += _bounds(case)
        pairs_page(None if quick else PAGE, pairs, found, cases=NAMES)


def main(arguments: Sequence[str]) -> None:
    """Measure and write the page; a quick run only prints it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", nargs="+", default=[""], metavar="CASE", help='"patients", "adult bisecting 3", ...')
    parser.add_argument("--usual", action="store_true", help="without other numbers of steps and Figures 16 and 17")
    parser.add_argument("--time", action="store_true")
    parser.add_argument("--publish", type=int, metavar="ROWS", help="one release of so many patients, end to end")
    parser.add_argument("--pairs", type=int, metavar="N", help="pairs in place of parts, beside parts")
    parser.add_argument("--pairs-epsilons", default="0.1,1", metavar="LIST")
    parser.add_argument("--rival-python", metavar="PATH")
    parser.add_argument("--rivals", default="MST", metavar="NAMES", help="MST, AIM or both: MST,AIM")
    parser.add_argument("--rival-epsilons", default="0.1,0.5,1", metavar="LIST")
    parser.add_argument(
        "--rival-runs",
        type=int,
        default=RUNS,
        metavar="N",
        help="AIM takes from five minutes (epsilon 0.1) to an hour each",
    )
    asked = parser.parse_args(arguments)
    began = time.perf_counter()
    if asked.publish:
        published(asked.publish)
        return
    if asked.pairs:
        pairs_measured(asked.pairs, asked.pairs_epsilons.split(","), only=asked.only, quick=asked.quick)
        return
    if asked.rival_python:
        models, epsilons = asked.rivals.split(","), asked.rival_epsilons.split(",")[-1 if asked.quick else 0 :]
        runs = 1 if asked.quick else asked.rival_runs
        for found in rivalled(asked.rival_python, models, epsilons, runs=runs, quick=asked.quick):
            rivals_page(None if asked.quick else PAGE, f"{asked.rivals} at {asked.rival_epsilons}", found)
        return
    times = list(timings([2_000] if asked.quick else [200_000, 1_000_000])) if asked.time or asked.quick else []
    figures: list[Figure] = []
    if not asked.time or asked.quick:
        made: dict[Any, Outcome] = {}
        for case in cases(quick=asked.quick, only=asked.only):
            figures += measured(case, made, quick=asked.quick, usual=asked.quick or asked.usual)
            done = f"{case.name} {case.structure.method} {case.found.n}"
            print(f"{done}: {time.perf_counter() - began:.0f} s", flush=True)
            page(PAGE if not asked.quick else None, figures, (), cases=NAMES, usual=asked.usual)
    page(PAGE if not asked.quick else None, figures, times, cases=NAMES, usual=asked.usual)
    print(f"{time.perf_counter() - began:.0f} s")


if __name__ == "__main__":
    main(sys.argv[1:])
