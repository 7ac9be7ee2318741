"""Paper 000, Table 7 and Figures 6 to 8 and 12 to 14 as tables; and what the paper leaves open."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import product

import numpy as np

from benchmarks.papers import cluster_paper as paper
from benchmarks.papers.cluster_measuring import Row
from benchmarks.papers.cluster_rows import SAME, figures, pick, series, tally
from benchmarks.papers.cluster_text import NAMES, Pair, cases, markdown, named, number, p_text
from sfumato.evaluation.clusters import f_measure_of, match_point_of


def sizes(rows: Sequence[Row]) -> str:
    """Figures 6 and 12."""
    heads = (
        "table",
        "clusterer",
        "QID",
        "F guided",
        "F blind",
        "benefit",
        "p",
        "match point guided",
        "blind",
        "agreement guided",
        "blind",
    )
    lines = []
    for case in cases(rows):
        if case["clusters"] != 6:
            continue
        for qid in sorted({row.setting.qid for row in rows if row.setting.experiment == "size"} | {"Top9"}):
            part = {**case, "qid": qid, "experiment": "single" if qid == "Top9" else "size"}
            f, mp, near = (Pair.of(rows, part, figure) for figure in ("f_start", "mp_start", "agreement"))
            lines.append([*named(case)[:2], qid, *f.levels(), f.benefit(), f.p(), *mp.levels(), *near.levels()])
    return markdown(heads, lines)


def multi(rows: Sequence[Row]) -> str:
    """Figures 7 and 13: several QIDs against their union."""
    heads = (
        "table",
        "clusterer",
        "h",
        "score",
        "F several",
        "F union",
        "p",
        "p, paper",
        "match point several",
        "union",
        "p",
        "agreement several",
        "union",
        "p",
        "agreement better / same / worse",
    )
    lines = []
    found = [row.setting for row in rows if row.setting.experiment == "multi"]
    for mask, dataset, method, h in dict.fromkeys((s.mask, s.dataset, s.method, s.h) for s in found):
        picked = pick(rows, experiment="multi", dataset=dataset, method=method, h=h, mask=mask)
        several, union = ([row for row in picked if row.setting.qid.startswith(kind)] for kind in ("multi", "union"))
        f, mp, near = (Pair(figures(several, n), figures(union, n)) for n in ("f_start", "mp_start", "agreement"))
        theirs = dict(zip((20, 50, 80), paper.MULTI[dataset, method], strict=True)).get(h)
        told = p_text(theirs) if theirs is not None and mask == "tradeoff" else ""
        lines.append(
            [
                NAMES[dataset],
                NAMES[method],
                h,
                mask,
                *f.levels(),
                f.p(),
                told,
                *mp.levels(),
                mp.p(),
                *near.levels(),
                near.p(),
                near.tally(),
            ]
        )
    return markdown(heads, lines)


def heterogeneous(rows: Sequence[Row]) -> str:
    """Figures 8 and 14: one clusterer before, the other after masking; cold."""
    heads = (
        "table",
        "before -> after",
        "clusters",
        "F raw",
        "F masked",
        "same clusterer F",
        "match point raw",
        "masked",
        "same clusterer",
    )
    lines = []
    for case in cases(rows):
        again = pick(rows, experiment="heterogeneous", **case)
        raw = next(row for row in again if row.setting.mask == "raw")
        part = {"experiment": "heterogeneous", "mask": "tradeoff", **case}
        same = {"experiment": "single", "mask": "tradeoff", **case}
        other = NAMES[raw.setting.recluster]
        lines.append(
            [
                NAMES[case["dataset"]],
                f"{NAMES[case['method']]} -> {other}",
                case["clusters"],
                *(
                    number(value)
                    for key in ("f", "mp")
                    for value in (
                        getattr(raw, f"{key}_cold_mean"),
                        series(rows, f"{key}_cold_mean", **part).mean(),
                        series(rows, f"{key}_cold_mean", **same).mean(),
                    )
                ),
            ]
        )
    return markdown(heads, lines)


def encodings(rows: Sequence[Row]) -> str:
    """Where masked values stand decides the figures: 6-means."""
    found = [row for row in rows if row.setting.experiment == "encoding"]
    thresholds = sorted({row.setting.h for row in found})
    told = {"own": "own category, middle", "expected": "expected, released codebook", "exact": "expected, exact"}
    lines = []
    for (dataset, mask, placement), figure in product(
        dict.fromkeys((row.setting.dataset, row.setting.mask, row.setting.placement) for row in found),
        ("f_cold_mean", "f_start"),
    ):
        values = series(found, figure, dataset=dataset, mask=mask, placement=placement)
        start = "starting centres" if figure == "f_start" else "cold"
        lines.append([NAMES[dataset], mask, told[placement], start, *map(number, values)])
    return markdown(
        ("table", "score", "masked values stand at", "k-means starts", *(f"h = {h}" for h in thresholds)), lines
    )


def portfolio(rows: Sequence[Row]) -> str:
    """What searching several ways adds, over seeds of the raw clustering."""
    heads = (
        "table",
        "clusters",
        "h",
        "agreement greedy",
        "portfolio",
        "lifting 1 %",
        "lifting 5 %",
        "F greedy",
        "portfolio",
        "lifting 1 %",
        "lifting 5 %",
        "F better / same / worse (1 %)",
        "agreement worse",
    )
    found = [row for row in rows if row.setting.experiment == "portfolio"]
    masks = ("tradeoff", "portfolio", "portfolio 1 %", "portfolio 5 %")
    lines = []
    for dataset, clusters, h in dict.fromkeys((r.setting.dataset, r.setting.clusters, r.setting.h) for r in found):
        near, f = (
            [series(found, figure, dataset=dataset, clusters=clusters, h=h, mask=mask) for mask in masks]
            for figure in ("agreement", "f_start")
        )
        worse = sum(int((values < near[0] - SAME).sum()) for values in near[1:] if len(values))
        lines.append(
            [
                NAMES[dataset],
                clusters,
                h,
                *(number(v.mean()) if len(v) else "" for v in near),
                *(number(v.mean()) if len(v) else "" for v in f),
                tally(f[2], f[0]),
                worse,
            ]
        )
    return markdown(heads, lines)


def scores(rows: Sequence[Row]) -> str:
    """Other ways of masking, at the thresholds where all were tried."""
    masks = ("tradeoff", "total_gain", "portfolio 1 %", "distortion")
    heads = ("table", "clusterer", "clusters", *(f"F {mask}" for mask in masks), *(f"agreement {m}" for m in masks))
    lines = []
    for case in cases(rows):
        tried = {row.setting.h for row in pick(rows, experiment="single", mask="portfolio 1 %", **case)}
        both = [row for row in pick(rows, experiment="single", **case) if row.setting.h in tried]
        lines.append(
            [
                *named(case),
                *(
                    number(series(both, figure, mask=mask).mean())
                    for figure in ("f_start", "agreement")
                    for mask in masks
                ),
            ]
        )
    return markdown(heads, lines)


def table_7(rows: Sequence[Row]) -> str:
    """Table 7: where the records of each raw cluster went, from starting centres."""
    blocks = []
    for row in (row for row in rows if row.setting.experiment == "contingency"):
        shared = json.loads(row.table)
        heads = (f"{NAMES[row.setting.dataset]}, h = {row.setting.h}", *(f"K{at + 1}" for at in range(len(shared[0]))))
        body = [[f"C{at + 1}", *(f"{n:,}" for n in line)] for at, line in enumerate(shared)]
        said = (
            f"F {row.f_start:.3f}, match point {row.mp_start:.3f} from starting centres; cold F "
            f"{row.f_cold_mean:.3f} ({row.f_cold_worst:.3f} to {row.f_cold_best:.3f}), match point "
            f"{row.mp_cold_mean:.3f}; shown with one value only: {row.at_top.replace(' ', ', ')}."
        )
        blocks += [markdown(heads, body), said]
    theirs = np.array(paper.TABLE_7)
    blocks.append(f"The paper's table gives F {f_measure_of(theirs):.3f} and match point {match_point_of(theirs):.3f}.")
    return "\n\n".join(blocks)
