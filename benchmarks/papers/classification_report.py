"""The results of `classification` as Markdown and SVG, ours beside the paper's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from sfumato.evaluation.scores import Estimate


@dataclass(frozen=True)
class Curve:
    """AE over k, between BE and UE; `costs` is AE - BE with its interval."""

    title: str
    ks: tuple[int, ...]
    be: float
    ue: float
    ae: tuple[float, ...]
    costs: tuple[Estimate, ...]

    def worst(self, up_to: int) -> Estimate:
        """The largest AE - BE for k up to a limit."""
        return max((c for k, c in zip(self.ks, self.costs, strict=True) if k <= up_to), key=lambda c: c.value)

    def highest(self, up_to: int) -> float:
        """The largest AE for k up to a limit."""
        return max(ae for k, ae in zip(self.ks, self.ae, strict=True) if k <= up_to)


@dataclass(frozen=True)
class Pair:
    """AE of one requirement with several QIDs, and of its attributes as a single one."""

    qids: int
    length: int
    several: float
    single: float


@dataclass(frozen=True)
class Race:
    """One masker at one k: error, and seconds to mask, over so many folds."""

    masker: str
    k: int
    error: float
    seconds: float
    folds: int


@dataclass(frozen=True)
class Timing:
    """Seconds of refinement for a number of rows."""

    rows: int
    one: float
    several: float


@dataclass
class Figures:
    """Everything measured in one run."""

    curves: dict[str, Curve] = field(default_factory=dict)
    pairs: list[Pair] = field(default_factory=list)
    races: list[Race] = field(default_factory=list)
    timings: list[Timing] = field(default_factory=list)
    rankings: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = field(default_factory=dict)
    baseline: tuple[float, float] = (0.0, 0.0)
    seconds: float = 0.0
    genetic_seconds: float = 0.0

    def add(self, curve: Curve) -> None:
        """Keep a curve by its title."""
        self.curves[curve.title] = curve


GOALS = (
    # title, k up to, AE - BE below (points), the paper's BE and UE (per cent), what the paper claims
    ("Adult, suppression, tree, Top7", 1000, 2.5, 14.7, 21.5, "below 2.5 points for k = 20..1000"),
    ("Adult, generalization, tree, Top7", 600, 2.0, 14.7, 21.5, "below 2 points for k = 20..600"),
    ("Adult, generalization, naive_bayes, Top7", 1000, 1.5, 18.07, None, "at most 1.5 points for k = 20..1000"),
    ("Adult, suppression, tree, Top7, ours", 1000, 2.5, 14.7, 21.5, "the same, with ours"),
    ("Adult, generalization, tree, Top7, ours", 600, 2.0, 14.7, 21.5, "the same, with ours"),
    ("Adult, generalization, tree, Top7, Partition", 600, 2.0, 14.7, 21.5, "the same, by Partition"),
    ("Adult, generalization, tree, Top7, other trees", 600, 2.0, 14.7, 21.5, "the same, other trees"),
    ("crx, split, Top7", 300, 4.0, 15.4, 42.0, "below 4 points for k = 20..300"),
    ("crx, 10 folds, Top7", 300, 4.0, 15.4, 42.0, "the same, in ten folds"),
    ("german, split, Top7", 100, 4.0, 28.8, 36.0, "below 4 points for k = 20..100"),
    ("german, 10 folds, Top7", 100, 4.0, 28.8, 36.0, "the same, in ten folds"),
)


CURVES = {
    "Figure 5": "Adult, suppression, tree, ",
    "Figure 6a": "Adult, generalization, tree, ",
    "Figure 6b": "Adult, generalization, naive_bayes, ",
    "Figure 9: crx": "crx, ",
    "Figure 9: german": "german, ",
}
"""How titles of their curves begin."""
WHY = """\
*Ours* is `TopDown(search="portfolio", suppress=0.01, beneficial_only=True)`: the search is run several ways, up to
1 % of the records may be lifted to the top, and the way is kept that lets a tree tell most held-out *training* rows
right.

**Generalization on Adult** misses the paper's 2 points from k = 300 on, by 0.36 at most; 2 lies within the
interval. Trees matter, and the paper does not print its own; ours have the same numbers of leaves and levels. At k
= 500 the paper refined marital status, education number and hours and left relationship at the top. With our trees
relationship comes first, because its root already tells who lives with a spouse, and what is left of the anonymity
does not suffice for education. Two of the eight trees grouped otherwise (*other trees*) lower AE by a point for k
up to 100, but only by 0.2 to 0.3 from k = 300 on: that explains a part of the miss, not all of it. The rest may be
the other six trees, or the classifier; we cannot tell. With suppression, where no tree is needed, the claim holds.

**Partition** on Top7 is what `publish` gives: AE - BE is at most 0.70 points for k up to 600. `--partition` measures
its lines in Figures 5, 6a and 10 alone, in three minutes of CPU; their errors are of such a run, seconds of the whole
one. In Figure 10 it stands twice: the whole table published and then split by the recipient, and, as all others
there, by the masker alone, learned on nine folds and applied to the tenth. So it loses 1.1 points more at k = 10: a
part shows what occurs in it, and new rows outside the extent of their part are suppressed as a whole (`python -m
benchmarks.new_rows`, Adult's last tenth: 20 % at k = 10 and 2 % at k = 100; with `extent="cuts"` 2 % and 0 %, with
`show="labels"` 16 % and 1 %).

**German.** The paper's split is not known. In the file's order the claim fails: BE is far below the paper's, AE lies
above UE, and the attributes rank otherwise than in the paper. So a split of the same sizes is drawn instead, with
seed 0; there even UE - BE is below a point. Both splits have 334 test rows, which leave some five points of
uncertainty on AE - BE, so neither says much. The ten folds are the figure to look at: the claim holds there, and the
upper end of its interval lies above 4. CRX's split is the file's order: it gives the paper's ranking.

**Top9 with generalization**, and Figure 10, show where greedy refinement is blocked by one tiny group: at some k a
single early refinement uses up the anonymity, and a larger k can be better. In Figure 10 TDR as the paper has it is
therefore worse than both genetic searches at k = 10 and 100, better than both at k = 500, and at 1000 again worse
than one of them, where the paper finds it at least as good throughout; the paper used Iyengar's trees there, which we
do not have. The portfolio gets around it (there it keeps the way with the purest groups) and is better than the
genetic searches at every k. These were stopped early, on busy cores; longer ones, on one fold only, come closer.
Partition and Mondrian are not bound to one cut for all records and have the lowest errors from k = 100 on, Partition
with labels at every k, at the price told in docs/classes.md."""


def write_report(figures: Figures, out: Path | None) -> str:
    """The report as Markdown; with `out` it is written there, with its plots."""
    plots = _plots(figures, out) if out is not None else {}
    text = "\n\n".join(_sections(figures, plots)) + "\n"
    if out is not None:
        (out / "classification.md").write_text(text, encoding="utf-8")
    return text


def lines_of(figures: Figures) -> str:
    """The tables of what was measured, without what explains them."""
    found = {
        "What the paper claims, and what we find": _goals(figures) if figures.curves else "",
        "Attributes by rank": _rankings(figures) if figures.rankings else "",
        **{title: _curves(figures, begins) for title, begins in CURVES.items()},
        "Figure 8": _pairs(figures) if figures.pairs else "",
        "Figure 10": _races(figures) if figures.races else "",
    }
    return "\n\n".join(f"## {title}\n\n{table}" for title, table in found.items() if table)


def _sections(figures: Figures, plots: dict[str, str]) -> list[str]:
    found = [
        "# Anonymizing classification data: paper 002 redone",
        f"Made by `python -m benchmarks.papers.classification --seconds {figures.genetic_seconds:g}` "
        f"({figures.seconds / 60:.0f} minutes on two shared cores); `--errors` prints all that repeats but Partition's "
        "lines, `--partition` those. Genetic searches are stopped by a clock, and give what they then have. "
        "BE, AE, UE: errors on held-out rows from raw rows, masked rows, and rows without the masked attributes, as in "
        "docs/classes.md. The classifier is our entropy tree, not C4.5, so differences are compared, not levels.",
        "## What the paper claims, and what we find",
        _goals(figures),
        WHY,
        "## Attributes by rank",
        _rankings(figures),
    ]
    for name, title in (
        ("5", "suppression, tree"),
        ("6a", "generalization, tree"),
        ("6b", "generalization, naive_bayes"),
    ):
        found += [f"## Figure {name}: Adult, {title}", plots.get(name, ""), _curves(figures, f"Adult, {title}, ")]
    found += ["## Figure 8: several quasi-identifiers against a single one", plots.get("8", ""), _pairs(figures)]
    for name in ("crx", "german"):
        found += [f"## Figure 9: {name}", plots.get(name, ""), _curves(figures, f"{name}, ")]
    found += ["## Figure 10: against other maskers", plots.get("10", ""), _races(figures)]
    found += ["## Figure 11: seconds for more rows", plots.get("11", ""), _timings(figures)]
    return [part for part in found if part]


def _goals(figures: Figures) -> str:
    rows = []
    for title, up_to, limit, be, ue, claim in GOALS:
        if title not in figures.curves:
            continue
        curve = figures.curves[title]
        worst = curve.worst(up_to)
        rows.append(
            [
                title,
                claim,
                f"{be:g} / {100 * curve.be:.2f}",
                f"{ue if ue is not None else '-'} / {100 * curve.ue:.2f}",
                f"{100 * worst.value:.2f} ({100 * worst.low:.2f} to {100 * worst.high:.2f})",
                f"{100 * curve.highest(up_to):.2f}",
                "yes" if 100 * worst.value < limit else "**no**",
            ]
        )
    head = [
        "",
        "paper: AE - BE",
        "BE %, paper / ours",
        "UE %, paper / ours",
        "largest AE - BE, ours (95 %)",
        "largest AE %",
        "holds",
    ]
    return _table(head, rows)


def _rankings(figures: Figures) -> str:
    rows = []
    for name, (paper, ours) in figures.rankings.items():
        rows += [[name, "paper", ", ".join(paper)], ["", "ours", ", ".join(ours)]]
    return _table(["", "", "first nine"], rows)


def _curves(figures: Figures, prefix: str) -> str:
    found = {t.removeprefix(prefix): c for t, c in figures.curves.items() if t.startswith(prefix)}
    if not found:
        return ""
    ks = next(iter(found.values())).ks
    rows = []
    for name, c in found.items():
        at = dict(zip(c.ks, c.ae, strict=True))
        cells = [f"{100 * at[k]:.2f}" if k in at else "-" for k in ks]
        rows.append([name, f"{100 * c.be:.2f}", f"{100 * c.ue:.2f}", *cells])
    return _table(["AE %", "BE", "UE", *(f"k={k}" for k in ks)], rows)


def _pairs(figures: Figures) -> str:
    better = sum(pair.several <= pair.single for pair in figures.pairs)
    count = max(len(figures.pairs), 1)
    mean = sum(pair.single - pair.several for pair in figures.pairs) / count
    rows = [[str(p.qids), str(p.length), f"{100 * p.several:.2f}", f"{100 * p.single:.2f}"] for p in figures.pairs]
    return (
        f"AE of MultiQID is at most AE of SingleQID in {better} of {len(figures.pairs)} requirements "
        f"({100 * better / count:.0f} %; k = 100), by {100 * mean:.2f} points on average. The paper: most points.\n\n"
    ) + _table(["QIDs", "length", "MultiQID AE %", "SingleQID AE %"], rows)


def _races(figures: Figures) -> str:
    quickest = {race.k: race.seconds for race in figures.races if race.masker == "TDR"}
    rows = [
        [
            str(r.k),
            r.masker,
            f"{100 * r.error:.2f}",
            f"{r.seconds:.2f}",
            f"{r.seconds / quickest[r.k]:.0f}" if r.k in quickest else "-",
            str(r.folds),
        ]
        for r in figures.races
    ]
    be, ue = figures.baseline
    stopped = (
        f" Each genetic search was stopped after {figures.genetic_seconds:g} s "
        "(`--seconds`; Iyengar's took 18 hours; the paper's TDR 7 s with reading and writing), two of them after 30 s."
    )
    return (
        f"BE {100 * be:.2f} %, UE {100 * ue:.2f} %. Masks learned on nine folds, applied to the tenth; seconds to "
        f"learn, apply and encode both parts.{stopped if figures.genetic_seconds else ''}\n\n"
    ) + _table(["k", "masker", "error %", "seconds", "times TDR's", "folds"], rows)


def _timings(figures: Figures) -> str:
    rows = [[f"{t.rows:,}", f"{t.one:.2f}", f"{t.several:.2f}"] for t in figures.timings]
    return (
        "Refinement alone, k = 50; the paper: about 80 s for 1,000,000 records and AllAttQID on a Pentium IV.\n\n"
    ) + _table(["rows", "AllAttQID, s", "MultiQID, s (mean of 30)"], rows)


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _plots(figures: Figures, out: Path) -> dict[str, str]:
    """SVG files, and the Markdown that shows them."""
    from benchmarks.papers.classification_plots import draw

    out.mkdir(parents=True, exist_ok=True)
    names = draw(figures, out)
    return {figure: f"![Figure {figure}]({name})" for figure, name in names.items()}
