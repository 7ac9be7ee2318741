"""Paper 000, Figures 3, 4, 10 and 11 as tables: guided against blind masking, with one QID and one clusterer."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np

from benchmarks.papers import cluster_paper as paper
from benchmarks.papers.cluster_measuring import Row
from benchmarks.papers.cluster_rows import SAME, p_value, pick, series, tally
from benchmarks.papers.cluster_text import (
    NAMES,
    Cells,
    Pair,
    cases,
    cold_spread,
    datasets,
    first_of,
    markdown,
    named,
    number,
    p_text,
)


def homogeneous(rows: Sequence[Row]) -> str:
    """Figures 3, 4, 10, 11: F and match point from starting centres, and agreement, averaged over h."""
    heads = (
        "table",
        "clusterer",
        "clusters",
        "F guided",
        "F blind",
        "benefit",
        "p",
        "better / same / worse",
        "match point guided",
        "blind",
        "p",
        "agreement guided",
        "blind",
        "p",
        "better / same / worse",
    )
    lines = []
    for case in cases(rows):
        f, mp, near = (Pair.of(rows, case, figure) for figure in ("f_start", "mp_start", "agreement"))
        lines.append(
            [
                *named(case),
                *f.levels(),
                f.benefit(),
                f.p(),
                f.tally(),
                *mp.levels(),
                mp.p(),
                *near.levels(),
                near.p(),
                near.tally(),
            ]
        )
    return markdown(heads, lines)


def published(rows: Sequence[Row]) -> str:
    """The same settings as `publish` tells of them: the papers' method and Partition."""
    figures = (
        ("F from centres", "f_start"),
        ("F cold, one start", "f_cold_mean"),
        ("F cold, best of ten", "f_ten"),
        ("NCP", "penalty"),
    )
    heads = [f"{name}: {mask}" for name, _ in figures for mask in ("tradeoff", "Partition")]
    lines = []
    for case in cases(rows):
        found = pick(rows, experiment="published", **case)
        for h in sorted({row.setting.h for row in found}):
            at = {row.setting.mask: row for row in found if row.setting.h == h}
            if len(at) < 2:
                continue
            cells = [number(getattr(at[mask], name)) for _, name in figures for mask in ("tradeoff", "partition")]
            lines.append([*named(case), h, *cells, number(at["partition"].f_ten_raw)])
    return markdown(("table", "clusterer", "clusters", "h", *heads, "raw table again, other seed"), lines)


def seeds(rows: Sequence[Row]) -> str:
    """Partition over seeds of the raw clustering: which optimum of k-means is to be kept is a matter of chance."""
    lines = []
    for case in cases(rows):
        for mask, title in (("partition", "Partition"), ("pure", "Partition, pure")):
            found = pick(rows, experiment="seeds", mask=mask, **case)
            for h in sorted({row.setting.h for row in found}):
                at = sorted((row for row in found if row.setting.h == h), key=lambda row: row.setting.seed)
                f = [row.f_start for row in at]
                detail = sum(row.penalty for row in at) / len(at)
                lines.append(
                    [
                        *named(case),
                        title,
                        h,
                        len(f),
                        number(f[0]),
                        number(sum(f) / len(f)),
                        number(min(f)),
                        number(detail),
                    ]
                )
    heads = ("table", "clusterer", "clusters", "masker", "h", "seeds", "F, seed 0", "mean", "worst", "NCP")
    return markdown(heads, lines)


def cold(rows: Sequence[Row]) -> str:
    """The same without starting centres, beside ceiling and floor."""
    heads = (
        "table",
        "clusterer",
        "clusters",
        "F guided",
        "best",
        "worst",
        "F blind",
        "best",
        "worst",
        "benefit",
        "p",
        "match point guided",
        "blind",
        "ceiling F",
        "best",
        "worst",
        "QID dropped F",
        "from centres",
    )
    lines = []
    for case in cases(rows):
        f, mp = Pair.of(rows, case, "f_cold_mean"), Pair.of(rows, case, "mp_cold_mean")
        guided, blind = (cold_spread(rows, case, mask=mask) for mask in ("tradeoff", "distortion"))
        raw, gone = (pick(rows, experiment="bounds", mask=mask, **case)[0] for mask in ("raw", "dropped"))
        lines.append(
            [
                *named(case),
                number(f.ours.mean()),
                *guided,
                number(f.theirs.mean()),
                *blind,
                f.benefit(),
                f.p(),
                *mp.levels(),
                *map(number, (raw.f_cold_mean, raw.f_cold_best, raw.f_cold_worst)),
                number(gone.f_cold_mean),
                number(gone.f_start),
            ]
        )
    return markdown(heads, lines)


def beside(rows: Sequence[Row]) -> str:
    """Benefits and p-values beside the paper's."""
    heads = (
        "table",
        "clusterer",
        "figure",
        "benefit, paper",
        "ours, from centres",
        "ours, cold",
        "p, paper",
        "ours, from centres",
        "ours, cold",
    )
    lines = []
    told_of = (("F", "f", paper.F), ("match point", "mp", paper.MATCH_POINT))
    for (dataset, method), (name, key, told) in product(paper.F, told_of):
        found = [case for case in cases(rows) if (case["dataset"], case["method"]) == (dataset, method)]
        if not found:
            continue
        start, cold = ([Pair.of(rows, case, f"{key}_{kind}") for case in found] for kind in ("start", "cold_mean"))
        theirs = told[dataset, method]
        lines.append(
            [
                NAMES[dataset],
                NAMES[method],
                name,
                theirs.benefit,
                *(", ".join(pair.benefit() for pair in pairs) for pairs in (start, cold)),
                ", ".join("-" if p is None else p_text(p) for p in theirs.p),
                *(", ".join(pair.p() for pair in pairs) for pairs in (start, cold)),
            ]
        )
    return markdown(heads, lines)


def goals(rows: Sequence[Row]) -> str:
    """What was to be shown, counted."""
    lines: list[Cells] = []
    for dataset in datasets(rows):
        found = [case for case in cases(rows) if case["dataset"] == dataset]
        for label, figure in (
            ("F from starting centres", "f_start"),
            ("match point from starting centres", "mp_start"),
            ("agreement", "agreement"),
            ("F, cold", "f_cold_mean"),
        ):
            pairs = [Pair.of(rows, case, figure) for case in found]
            better = sum(pair.ours.mean() > pair.theirs.mean() + SAME for pair in pairs)
            sure = sum(p_value(pair.ours, pair.theirs) < 0.05 for pair in pairs)
            single = tally(np.concatenate([p.ours for p in pairs]), np.concatenate([p.theirs for p in pairs]))
            lines.append([NAMES[dataset], label, f"{better} of {len(pairs)}", f"{sure} of {len(pairs)}", single])
    heads = (
        "table",
        "figure",
        "settings where guided is better on average",
        "with p < 0.05",
        "single thresholds better / same / worse",
    )
    return markdown(heads, lines)


def costs(rows: Sequence[Row]) -> str:
    """1 - F, averaged over h."""
    heads = (
        "table",
        "clusterer",
        "clusters",
        "tradeoff, from centres",
        "match point",
        "cold",
        "total_gain, from centres",
        "starting centres on the raw table",
        "paper",
    )
    lines = []
    for case in cases(rows):
        f, mp, cold = (
            1 - series(rows, figure, experiment="single", mask="tradeoff", **case).mean()
            for figure in ("f_start", "mp_start", "f_cold_mean")
        )
        other = 1 - series(rows, "f_start", experiment="single", mask="total_gain", **case).mean()
        raw = 1 - series(rows, "f_start", experiment="bounds", mask="raw", **case).mean()
        told = paper.COST[case["dataset"]] if case == first_of(rows, case) else ""
        lines.append([*named(case), *(f"{100 * value:.1f} %" for value in (f, mp, cold, other, raw)), told])
    return markdown(heads, lines)
