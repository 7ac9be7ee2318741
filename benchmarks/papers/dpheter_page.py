"""The page of results for 003: tables between marks, so that the text around them stays."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

END = "<!-- end of table -->"
PAPER = {("adult", "kmeans", "0.1"): 0.6331, ("patients", "kmeans", "0.1"): 0.6428, ("adult", "kmeans", "1"): 0.7840}
"""F of the paper's Figures 5, 12 and 14 (5-means, 16 steps) where its text has it; the second table was MIMIC-III."""
DPHETER = "h=16"
"""The paper's algorithm, with the number of steps that it has beside others."""


@dataclass(frozen=True)
class Figure:
    """What one generated table kept of one structure."""

    table: str
    method: str
    k: int
    again: str
    by: str
    epsilon: str
    f: float
    match: float
    cost: float
    run: int = 0


@dataclass(frozen=True)
class Timing:
    """How long one masker took."""

    table: str
    rows: int
    by: str
    seconds: float
    gigabytes: float


def page(
    path: Path | None,
    figures: Sequence[Figure],
    times: Sequence[Timing],
    *,
    cases: Collection[str],
    usual: bool = False,
) -> None:
    """Fill the tables that were measured into the page; without a page, print them.

    `cases`: all that there are, such as "adult kmeans 5". Lines of others, which have another name now, go.
    `usual`: tables by the number of steps stay as they are.
    """
    if figures:
        made = {name: make for name, make in TABLES.items() if not usual or name not in BY_STEPS}
        _fill(path, {name: make(figures) for name, make in made.items()}, cases)
    if times:
        _fill(path, {"figure 18": _times(times)})


def rivals_page(path: Path | None, asked: str, figures: Sequence[Figure]) -> None:
    """The same for the table of the rivals that were asked for."""
    _fill(path, {f"rivals: {asked}": rivals(figures)})


def pairs_page(path: Path | None, pairs: int, figures: Sequence[Figure], *, cases: Collection[str]) -> None:
    """Pairs in place of parts."""
    kept = ("F: parts", f"F: {pairs} pairs", "worst", "no data")
    lines = []
    for name, method, k in _cases(figures):
        of = _chosen(figures, table=name, method=method, k=k)
        blind = _cell([one.f for one in _chosen(of, by="no data")])
        for epsilon in _epsilons(of):
            both = [_chosen(of, by=by, epsilon=epsilon) for by in ("tree", "pairs")]
            f = [_cell([one.f for one in some]) for some in both]
            cost = [f"{np.mean([one.cost for one in some]):.3f}" for some in both]
            worst = f"{min(one.f for one in both[1]):.2f}"
            lines.append([name, f"{method} {k}", epsilon, *f, worst, blind, *cost])
    head = ["table", "clusters", "epsilon", *kept, "cost: parts", "cost: pairs"]
    _fill(path, {"pairs": _markdown(head, lines)}, cases)


def _fill(path: Path | None, filled: Mapping[str, str], cases: Collection[str] | None = None) -> None:
    if path is None:
        print("\n\n".join(f"{name}\n{table}" for name, table in filled.items()))
        return
    text = path.read_text(encoding="utf-8")
    measured = {name: table for name, table in filled.items() if len(table.splitlines()) > 2}
    for name, table in measured.items():
        before, begin, rest = text.partition(f"<!-- table: {name} -->")
        if begin:
            old, end, after = rest.partition(END)
            text = f"{before}{begin}\n\n{_beside(_still(old.strip(), cases), table, list(cases or ()))}\n\n{end}{after}"
        else:
            print(f"{name} has no place on the page:\n\n{table}")
    path.write_text(text, encoding="utf-8")


def _still(table: str, cases: Collection[str] | None) -> str:
    """A table without lines of cases that are no more; None where lines are about something else."""
    head, lines = table.splitlines()[:2], table.splitlines()[2:]
    return "\n".join([*head, *(line for line in lines if cases is None or _case(line) in cases)])


def _case(line: str) -> str:
    """The case that a line is about; of one that is clustered again by another method, the first.

    >>> _case("| adult | kmeans 5, then bisecting | tree | 0.7 |")
    'adult kmeans 5'
    """
    table, clusters = line.strip("| ").split(" | ")[:2]
    return f"{table} {clusters.partition(',')[0]}"


def _beside(old: str, new: str, order: Sequence[str]) -> str:
    """A table with the lines of cases that were measured now, in their order; lines of other cases stay as they are."""
    cases: dict[str, list[str]] = {}
    for text in (old, new):
        fresh: dict[str, list[str]] = {}
        for line in text.splitlines()[2:]:
            fresh.setdefault(" | ".join(line.split(" | ")[:2]), []).append(line)
        cases |= fresh
    lines = [line for lines in cases.values() for line in lines]
    if order:
        lines.sort(key=lambda line: order.index(_case(line)))
    return "\n".join([*new.splitlines()[:2], *lines])


def _cell(values: Sequence[float]) -> str:
    if not values:
        return "-"
    spread = f" ± {np.std(values):.2f}" if len(values) > 1 else ""
    return f"{np.mean(values):.2f}{spread}"


def _chosen(figures: Sequence[Figure], **wanted: object) -> list[Figure]:
    return [figure for figure in figures if all(getattr(figure, key) == value for key, value in wanted.items())]


def _cases(figures: Sequence[Figure]) -> list[tuple[str, str, int]]:
    return list(dict.fromkeys((figure.table, figure.method, figure.k) for figure in figures))


def _epsilons(figures: Sequence[Figure]) -> list[str]:
    return sorted({figure.epsilon for figure in figures if figure.epsilon}, key=float)


def kept(figures: Sequence[Figure]) -> str:
    """Figures 4 to 15: F by method and epsilon, beside what no data and raw data give."""
    head = [
        "table",
        "clusters",
        "epsilon",
        "tree",
        "worst",
        "tree, parts",
        "DPHeter",
        "random",
        "no data",
        "ceiling",
        "paper",
    ]
    lines = []
    for table, method, k in _cases(figures):
        own = _chosen(figures, table=table, method=method, k=k, again=method)
        for epsilon in _epsilons(figures):
            of = {
                by: [f.f for f in _chosen(own, by=by, epsilon=epsilon)]
                for by in ("tree", "tree, parts", DPHETER, "random")
            }
            bounds = [_cell([f.f for f in _chosen(own, by=by)]) for by in ("no data", "ceiling")]
            paper = PAPER.get((table, method, epsilon), 0.0) if k == 5 else 0.0
            lines.append(
                [
                    table,
                    f"{method} {k}",
                    epsilon,
                    f"**{_cell(of['tree'])}**",
                    f"{min(of['tree']):.2f}",
                    *[_cell(of[by]) for by in ("tree, parts", DPHETER, "random")],
                    *bounds,
                    f"{paper:.2f}" if paper else "",
                ]
            )
    return _markdown(head, lines)


def steadier(figures: Sequence[Figure]) -> str:
    """Match point and k-means cost."""
    head = [
        "table",
        "clusters",
        "epsilon",
        "match: tree",
        "DPHeter",
        "no data",
        "cost: tree",
        "DPHeter",
        "random",
        "no data",
    ]
    lines = []
    for table, method, k in _cases(figures):
        own = _chosen(figures, table=table, method=method, k=k, again=method)
        for epsilon in _epsilons(figures):
            free = _chosen(own, by="no data")
            of = {by: _chosen(own, by=by, epsilon=epsilon) for by in ("tree", DPHETER, "random")}
            matches = [_cell([f.match for f in some]) for some in (of["tree"], of[DPHETER], free)]
            costs = [_cell([f.cost for f in some]) for some in (of[DPHETER], of["random"], free)]
            ours = f"{np.mean([f.cost for f in of['tree']]):.3f}"
            lines.append([table, f"{method} {k}", epsilon, *matches, ours, *costs])
    return _markdown(head, lines)


def steps(figures: Sequence[Figure]) -> str:
    """Figures 4 to 11: how many steps DPHeter takes, F and match point."""
    own = [f for f in figures if f.again == f.method]
    return _by_steps(own, {case: f"{case[1]} {case[2]}" for case in _cases(own)})


def crossed(figures: Sequence[Figure]) -> str:
    """Figures 16 and 17: another method before and after, F and match point."""
    other = [f for f in figures if f.again != f.method]
    names = {(f.table, f.method, f.k): f"{f.method} {f.k}, then {f.again}" for f in other}
    return _by_steps(other, names, first=("tree",))


def _by_steps(figures: Sequence[Figure], names: Mapping[tuple[str, str, int], str], first: Sequence[str] = ()) -> str:
    """A line for each case and number of steps, a column for each epsilon."""
    found = dict.fromkeys(f.by for f in figures)
    lines = []
    for (table, method, k), name in names.items():
        for by in (*first, *(by for by in found if by.startswith("h="))):
            of = _chosen(figures, table=table, method=method, k=k, by=by)
            lines.append([table, name, by, *[_both(_chosen(of, epsilon=epsilon)) for epsilon in _epsilons(figures)]])
    return _markdown(["table", "clusters", "by", *_epsilons(figures)], lines)


def _both(figures: Sequence[Figure]) -> str:
    """F and match point."""
    return f"{_cell([f.f for f in figures])}; {np.mean([f.match for f in figures]):.2f}" if figures else "-"


AGAINST = (("tree", DPHETER), ("tree", "random"), (DPHETER, "random"))
"""The first of each is said to be better."""


def tests(figures: Sequence[Figure]) -> str:
    """One-tailed paired t-tests as in the paper's Table 3; a pair is a run of both at one epsilon from one seed."""
    lines = []
    for table, method, k in _cases(figures):
        own = _chosen(figures, table=table, method=method, k=k, again=method)
        cells = [_p_value(own, *pair, key) for pair in AGAINST for key in ("f", "match")]
        lines.append([table, f"{method} {k}", *cells])
    names = {"tree": "tree", DPHETER: "DPHeter", "random": "random"}
    head = [f"{what}: {names[a]} > {names[b]}" for a, b in AGAINST for what in ("F", "match")]
    return _markdown(["table", "clusters", *head], lines)


def _p_value(figures: Sequence[Figure], one: str, other: str, key: str) -> str:
    from scipy.stats import ttest_rel

    values = [{(f.epsilon, f.run): getattr(f, key) for f in _chosen(figures, by=by)} for by in (one, other)]
    both = sorted(values[0].keys() & values[1].keys())
    if len(both) < 2:
        return "-"
    first, second = ([of[at] for at in both] for of in values)
    return f"{float(ttest_rel(first, second, alternative='greater').pvalue):.1e} ({len(both)})"


def rivals(figures: Sequence[Figure]) -> str:
    """F and cost of all that stand beside each other in one run, 5-means."""
    names = list(dict.fromkeys(f.by for f in figures if f.epsilon))
    lines = []
    for epsilon in _epsilons(figures):
        own = {by: _chosen(figures, by=by, epsilon=epsilon) for by in names}
        own |= {by: _chosen(figures, by=by) for by in ("no data", "ceiling")}
        lines.append([epsilon, "F", *(_cell([f.f for f in of]) for of in own.values())])
        lines.append([epsilon, "cost", *(_cell([f.cost for f in of]) for of in own.values())])
    return _markdown(["epsilon", "", *names, "no data", "ceiling"], lines)


TABLES: dict[str, Callable[[Sequence[Figure]], str]] = {
    "figures 4 to 15": kept,
    "match and cost": steadier,
    "steps": steps,
    "t-tests": tests,
    "figures 16 and 17": crossed,
}


BY_STEPS = ("steps", "figures 16 and 17")


def _times(times: Sequence[Timing]) -> str:
    lines = [[t.table, f"{t.rows:,}", t.by, f"{t.seconds:.0f}", f"{t.gigabytes:.1f}"] for t in times]
    return _markdown(["table", "rows", "by", "seconds", "peak GB so far"], lines)


def _markdown(head: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    rule = ["---"] * len(head)
    return "\n".join("| " + " | ".join(line) + " |" for line in (head, rule, *lines))
