"""What survived of the structure, beside raw data clustered again, floors and masking blind to it. Holder only."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sfumato.evaluation.advice import advice_on_unmasked
from sfumato.evaluation.scores import FOUND_UNMASKED
from sfumato.release.report.markup import Cell, Html, folded, made, meter, paragraph, section, table, tag, text
from sfumato.release.report.material import Held
from sfumato.release.report.plots import BLUE, COLOURS, FAINT

FIGURES = {"f_measure": "F-measure", "match_point": "match point"}
COMPARED = {
    "%s.parts": ("this table: each raw record takes its part's cluster", BLUE),
    "%s.nearest": ("this table: each raw record takes the nearest centre", BLUE),
    "%s.start": ("this release, from the raw clusters' centres", BLUE),
    "%s.cold1": ("this release, without them, one start", BLUE),
    "%s.cold10": ("this release, without them, best of ten", BLUE),
    "%s.ceiling.mean": ("raw data clustered again, another seed", COLOURS[2]),
    "%s.ceiling": ("raw data clustered again, another seed", COLOURS[2]),
    "distortion.%s.start": ("masking blind to the clusters, from centres", COLOURS[1]),
    "distortion.%s.cold.mean": ("masking blind to the clusters, without them", COLOURS[1]),
    "%s.floor.top": ("floor: every masked attribute at its top", FAINT),
    "%s.floor.random": ("floor: random labels", FAINT),
    "%s.no_data": ("floor: rows drawn from the declared domains", FAINT),
}


def survived(held: Held) -> Html | None:
    """The figures to look at first, drawn and in a table, then all of them."""
    scores: Mapping[str, Any] = held.scores.get("scores", {})
    if not scores:
        return None
    headline = [(_indented(line["says"]), line["value"]) for line in held.scores.get("headline", ())]
    every = [
        (name, float(score["value"]), "yes" if score["publishable"] else "no", score["meaning"])
        for name, score in scores.items()
    ]
    drawn = _drawn(scores)
    parts = [
        *([drawn] if drawn is not None else []),
        table(["figure", "value"], headline),
        *_clusters(held),
        folded(f"All {len(every)} figures", ["name", "value", "may be published", "meaning"], every),
    ]
    told = paragraph("Measured against the raw table: never hand these figures over with the release.", "note")
    little = (advice_on_unmasked(held.scores) or "") if FOUND_UNMASKED in held.scores else ""
    warned = [paragraph(f"{little[:1].upper()}{little[1:]}.")] if little else []
    return section("What survived, and at what price", told, *warned, *parts, anchor="survived")


def _indented(says: str) -> str:
    """What stands beside a figure is set in."""
    return says.replace("  ", "\u2003", 1) if says.startswith("  ") else says


def _drawn(scores: Mapping[str, Any]) -> Html | None:
    """The figures as bars, one row for each way to find the clusters."""
    rows: dict[str, list[Cell]] = {}
    for name, (says, colour) in COMPARED.items():
        found = [scores.get(name % figure) for figure in FIGURES]
        if any(found):
            rows[says] = [says, *("" if one is None else _bar(one["value"], colour) for one in found)]
    if not rows:
        return None
    says = (
        "How well the clusters are found again: 1 is perfect. Raw data that are clustered again with another seed may "
        "find others, and less; the floors are what masking everything would give."
    )
    drawn = table(["", *FIGURES.values()], list(rows.values()), kind="bars")
    return tag("figure", drawn, tag("figcaption", text(says)))


def _bar(value: float, colour: str) -> Cell:
    return made(meter(value, f"{value:.3f}", colour))


def _clusters(held: Held) -> list[Html]:
    kept = held.scores.get("clusters", ())
    if not kept:
        return []
    rows = [
        (f"{row['cluster']}", int(row["size"]), int(row["found"]), row["recall"], row["precision"], row["f"])
        for row in kept
    ]
    headings = ["raw cluster", "records", "found together", "recall", "precision", "F"]
    return [folded("Each cluster, found again without the centres", headings, rows)]
