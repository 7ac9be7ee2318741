"""Paper 004 redone: what geometric transformations keep, what its measure of privacy says, and what undoes them.

python -m benchmarks.papers.gdtm            # all of it, into docs/results/gdtm.md and gdtm.json: some minutes
python -m benchmarks.papers.gdtm --quick    # fewer runs and trials, printed only: under a minute
python -m benchmarks.papers.gdtm --graph 20    # the tables of the graph of neighbours alone, so many draws of noise
python -m benchmarks.papers.gdtm --ward 20     # those of Ward linkage; --kmeans 20: those of k-means
python -m benchmarks.papers.gdtm --sec 5 --attacks 50    # Sec, and so many trials of each attack: printed only

The paper's five tables are not public. Ours have its shape: 6,000 points, 2 to 6 clusters, and the variances of age
and salary that its Table 4 implies (Sec of a translation with noise has a closed form). Chameleon is replaced by Ward
linkage, of all points and along a graph of neighbours: both give the same clusters every time.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy.cluster.hierarchy import fcluster, ward

from benchmarks.papers.gdtm_attacks import attack_tables
from benchmarks.papers.gdtm_graph import by_graph
from benchmarks.papers.gdtm_paper import MISCLASSIFIED, SEC, VARIANCES
from sfumato.arrays import Floats
from sfumato.data.encoding import encode
from sfumato.data.schema import Number, Schema
from sfumato.data.table import Table
from sfumato.engines import ReferenceEngine
from sfumato.evaluation.clusters import misclassification
from sfumato.evaluation.moved import security
from sfumato.maskers.geometric.masker import AddNoise, Hybrid, Rotate, Scale, Translate
from sfumato.maskers.masker import Labels, Masker, Task
from sfumato.structure.clusterers import cluster

ROWS = 6_000
CENTRES = {
    2: [(0.0, 0.0), (1.0, 1.0)],
    3: [(0.0, 0.1), (1.0, 0.0), (0.6, 1.0)],
    4: [(0.0, 0.0), (1.0, 0.2), (0.1, 1.0), (1.1, 1.1)],
    5: [(0.0, 0.0), (1.0, 0.1), (0.1, 1.0), (1.1, 1.1), (0.55, 0.5)],
    6: [(0.0, 0.0), (0.5, 0.1), (1.0, 0.0), (0.1, 1.0), (0.6, 0.9), (1.1, 1.1)],
}
SIZES = (0.26, 0.21, 0.18, 0.14, 0.12, 0.09)
WITHIN = 0.12
NOISE = {"age": {"uniform": (-12, 18)}, "salary": {"normal": (15_000, 12_000)}}
ADP = {"age": {"normal": (0, 10)}, "salary": {"normal": (0, 10_000)}}
SCHEMA = Schema(age=Number(role="quasi"), salary=Number(role="quasi"))
RHOS = (0.0, 0.05, 0.10)


def points(k: int) -> Floats:
    """(6000, 2): age and salary in k clusters of unequal sizes, with the variances of the paper's tables."""
    rng = np.random.default_rng(40 + k)
    shares = np.array(SIZES[:k]) / sum(SIZES[:k])
    found = np.array(CENTRES[k])[rng.choice(k, ROWS, p=shares)] + rng.normal(0, WITHIN, (ROWS, 2))
    found = (found - found.mean(axis=0)) / found.std(axis=0)
    return np.asarray(found * np.sqrt(VARIANCES[k]) + (45, 60_000), dtype=np.float64)


def encoded(data: Floats) -> Table:
    return encode(pa.table({"age": data[:, 0], "salary": data[:, 1]}), SCHEMA)


def methods(rho: float, seed: int) -> dict[str, Masker]:
    """The uniform noise vectors of section 5.1; HDP as Table 2 implies: age as TDP, salary times 0.92."""
    more: dict[str, Any] = {"enhance": rho, "enhance_noise": NOISE if rho else {}, "seed": seed}
    return {
        "TDP": Translate(by={"age": -3, "salary": 6_235}, **more),
        "SDP": Scale(by={"age": 0.93, "salary": 0.89}, **more),
        "RDP": Rotate(pairs=(("age", "salary", 356.71),), normalise=False, units={"salary": 1000}, **more),
        "HDP": Hybrid(operations={"age": ("add", -3), "salary": ("multiply", 0.92)}, **more),
        **({} if rho else {"ADP": AddNoise(noise=ADP, seed=seed)}),
    }


def masked(table: Table, settings: Masker) -> Floats:
    task = Task(table, Labels(np.zeros(table.rows, dtype=np.uint8), 1), (), ReferenceEngine())
    shown = settings.mask(task).masked
    return np.column_stack([shown[name].decode().to_numpy(zero_copy_only=False) for name in ("age", "salary")])


def by_kmeans(data: Floats, k: int, seed: int) -> NDArray[np.int64]:
    return cluster(data / (1, 1000), "kmeans", k=k, seed=seed, n_init=3).labels


def by_ward(data: Floats, k: int, seed: int) -> NDArray[np.int64]:
    return np.asarray(fcluster(ward(data / (1, 1000)), k, "maxclust"), dtype=np.int64)


Clusterer = Callable[[Floats, int, int], NDArray[np.int64]]


def misclassified(clusterer: Clusterer, rho: float, runs: int) -> dict[str, dict[int, float]]:
    """Mean share of misclassified points in %, by method and number of clusters."""
    found: dict[str, dict[int, float]] = {}
    for k in CENTRES:
        data = points(k)
        table = encoded(data)
        before: dict[int, NDArray[np.int64]] = {}
        errors: dict[str, list[float]] = {}
        for run in range(runs):
            at = run if clusterer is by_kmeans else 0  # the others have no seed
            if at not in before:
                before[at] = clusterer(data, k, at)
            for name, settings in methods(rho, run).items():
                fixed = clusterer is not by_kmeans and rho == 0 and name != "ADP"
                if fixed and name in errors:
                    continue  # neither the clusters nor the transformation would change
                after = clusterer(masked(table, settings), k, at)
                errors.setdefault(name, []).append(100 * misclassification(before[at], after))
        for name, values in errors.items():
            found.setdefault(name, {})[k] = float(np.mean(values))
    return found


def secs(rho: float, runs: int) -> dict[str, dict[int, tuple[float, float]]]:
    """Sec of age and salary in %, by method and number of clusters."""
    found: dict[str, dict[int, tuple[float, float]]] = {}
    for k in CENTRES:
        data = points(k)
        table = encoded(data)
        parts: dict[str, list[tuple[float, float]]] = {}
        for run in range(runs):
            for name, settings in methods(rho, run).items():
                shown = masked(table, settings)
                pair = (security(data[:, 0], shown[:, 0]), security(data[:, 1], shown[:, 1]))
                parts.setdefault(name, []).append((100 * pair[0], 100 * pair[1]))
        for name, pairs in parts.items():
            age, salary = np.mean(pairs, axis=0).tolist()
            found.setdefault(name, {})[k] = (age, salary)
    return found


def table_of(title: str, ours: Mapping[str, Mapping[int, Any]], paper: Mapping[str, Any], show: Any) -> str:
    """Markdown: ours, and the paper's in brackets."""
    lines = [f"## {title}", "", "| method | " + " | ".join(f"K = {k}" for k in CENTRES) + " |"]
    lines.append("|---|" + "---|" * len(CENTRES))
    for name, row in ours.items():
        cells = [
            f"{show(row[k])} ({show(paper[name][at])})" if name in paper else show(row[k])
            for at, k in enumerate(CENTRES)
        ]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join([*lines, ""])


def pair_text(pair: tuple[float, float]) -> str:
    return f"{pair[0]:.2f}; {pair[1]:.2f}"


NUMBER = {0.0: (1, 2), 0.05: (3, 4), 0.10: (5, 6)}
"""Of the tables: misclassified points, and Sec."""
GRAPH = "graph of neighbours"
CLUSTERERS: dict[str, tuple[str, Clusterer]] = {
    "kmeans": ("k-means", by_kmeans),
    "ward": ("Ward", by_ward),
    "graph": (GRAPH, by_graph),
}
"""By the option that measures their tables alone."""


def misclassified_table(how: str, rho: float, ours: Mapping[str, Mapping[int, float]]) -> str:
    """Of one clusterer, beside the paper's k-means or Chameleon."""
    paper = MISCLASSIFIED[rho]["K-Means" if how == "k-means" else "Chameleon"]
    title = f"Table {NUMBER[rho][0]}: misclassified points in %, {how}, rho = {100 * rho:g} %"
    return table_of(title, ours, paper, lambda value: f"{value:.2f}")


def sec_table(rho: float, ours: Mapping[str, Mapping[int, tuple[float, float]]]) -> str:
    """Sec of both attributes, beside the paper's."""
    title = f"Table {NUMBER[rho][1]}: Sec of age; salary in %, rho = {100 * rho:g} %"
    return table_of(title, ours, SEC[rho], pair_text)


def into_page(page: str, table: str, before: str) -> str:
    """The page with a table in the place of the one of its title, or before another."""
    title = table.splitlines()[0]
    if f"{title}\n" not in page:
        at = page.index(before)
        return f"{page[:at]}{table}\n{page[at:]}"
    start = page.index(f"{title}\n")
    return f"{page[:start]}{table}\n{page[page.index(chr(10) + '#', start) + 1 :]}"


def measured_again(option: str, draws: int, path: Path) -> None:
    """The tables of one clusterer, each into the page and its figures as soon as it is measured."""
    how, clusterer = CLUSTERERS[option]
    kept = path.with_suffix(".json")
    for rho in RHOS:
        ours = misclassified(clusterer, rho, draws)
        table = misclassified_table(how, rho, ours)
        page = into_page(path.read_text(encoding="utf-8"), table, f"## Table {NUMBER[rho][1]}: Sec")
        path.write_text(page, encoding="utf-8")
        figures = {**json.loads(kept.read_text(encoding="utf-8")), f"misclassified {how} {rho}": ours}
        kept.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


def run_all(*, runs: int, ward_runs: int, trials: int) -> tuple[str, dict[str, Any]]:
    """The report as Markdown, and its figures."""
    parts: list[str] = []
    figures: dict[str, Any] = {}
    counts = {"kmeans": runs, "ward": ward_runs, "graph": ward_runs}
    for rho in RHOS:
        for option, (how, clusterer) in CLUSTERERS.items():
            if not counts[option]:
                continue
            ours = misclassified(clusterer, rho, counts[option])
            parts.append(misclassified_table(how, rho, ours))
            figures[f"misclassified {how} {rho}"] = ours
        levels = secs(rho, max(2, runs // 4))
        parts.append(sec_table(rho, levels))
        figures[f"sec {rho}"] = levels
    text, attacked = attack_tables(encoded(points(4)), trials=trials, noise=NOISE)
    figures["attacks"] = attacked
    return "\n".join([*parts, text]), figures


def main() -> None:
    """Run, and print or write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer runs, print only")
    for option, (how, _) in CLUSTERERS.items():
        parser.add_argument(f"--{option}", type=int, metavar="DRAWS", help=f"the tables of {how} alone")
    parser.add_argument("--sec", type=int, metavar="DRAWS", help="the tables of Sec alone, printed only")
    parser.add_argument("--attacks", type=int, metavar="TRIALS", help="what undoes them alone, printed only")
    asked = parser.parse_args()
    folder = Path(__file__).parents[2] / "docs" / "results"
    for rho in RHOS if asked.sec else ():
        print(sec_table(rho, secs(rho, asked.sec)))
    if asked.attacks:
        print(attack_tables(encoded(points(4)), trials=asked.attacks, noise=NOISE)[0])
    if asked.sec or asked.attacks:
        return
    alone = {option: draws for option in CLUSTERERS if (draws := getattr(asked, option))}
    for option, draws in alone.items():
        measured_again(option, draws, folder / "gdtm.md")
    if alone:
        return
    effort = {"runs": 2, "ward_runs": 0, "trials": 8} if asked.quick else {"runs": 20, "ward_runs": 20, "trials": 50}
    text, figures = run_all(**effort)
    print(text)
    if not asked.quick:
        told = (folder / "gdtm.md").read_text(encoding="utf-8").partition("## Table 1")[0]  # prose, by hand
        (folder / "gdtm.md").write_text(told + text, encoding="utf-8")
        (folder / "gdtm.json").write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
