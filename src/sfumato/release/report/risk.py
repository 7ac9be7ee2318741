"""Group sizes, and the risk that they leave."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.evaluation.attacks.results import AttackResult
from sfumato.evaluation.risk import Exposure, risks
from sfumato.release.report.markup import Cell, Html, bullets, folded, join, paragraph, section, table, tag, text
from sfumato.release.report.material import Held, Released
from sfumato.release.report.plots import BLUE, RED, Axis, Panel, bars, label, picture, uprights

BINS = 24
MOST = 6
"""Panels in a row; more would not be read."""
RISKS = ("prosecutor.highest", "prosecutor.average", "prosecutor.at_risk")


def groups(released: Released) -> Html | None:
    """How large groups are, one panel for each claim, and what chance that leaves; it follows from the release."""
    claims = _quasi_identifiers(released)
    if not claims:
        return None
    sizes = [released.masked.sizes(claim.on) for claim in claims]
    edges = [_edges(found) for found in sizes]
    counts = [np.histogram(found, bins=ends)[0] for found, ends in zip(sizes, edges, strict=True)]
    says = "How many groups of each size there are; the red line is k, and nothing stands to its left."
    width = 480 if len(claims) < 3 else 320
    panels = [_panel(claim, ends, n, width) for claim, ends, n in zip(claims, edges, counts, strict=True)]
    drawn = picture(panels, says=says)
    rows = [
        (", ".join(claim.on), f"{a:,.0f} to {b:,.0f}", int(number))
        for claim, ends, n in zip(claims, edges, counts, strict=True)
        for a, b, number in zip(np.ceil(ends[:-1]), np.ceil(ends[1:]) - 1, n, strict=True)
        if number
    ]
    listed = folded("Group sizes in numbers", ["quasi-identifier", "records in a group", "groups"], rows)
    return section("Groups and risk", drawn, listed, _risk(released, sizes), anchor="groups")


def _panel(claim: _Quasi, ends: NDArray[np.float64], counts: NDArray[np.int64], width: int) -> Panel:
    low, high = min(ends[0], claim.k or ends[0]), max(ends[-1], (claim.k or 0) + 1)
    x = Axis(low * (low / high) ** 0.03, high, "records in a group", log=True, whole=True)
    y = Axis(0, 1.05 * int(counts.max()), "groups", whole=True)
    red = [] if claim.k is None else [uprights(claim.k, RED)]
    return Panel(x, y, [bars(ends, counts, BLUE, edge=True), *red], title=_short(claim.on), width=width)


@dataclass(frozen=True)
class _Quasi:
    """A quasi-identifier, and the k that is claimed on it, if any."""

    on: tuple[str, ...]
    k: int | None


def _quasi_identifiers(released: Released) -> list[_Quasi]:
    """Each once, as often as it stands in a claim; the first `MOST`."""
    largest: dict[tuple[str, ...], int | None] = {}
    for part in (part for claim in released.facts.claims for part in claim.requirement.parts()):
        k, before = part.group_size, largest.get(part.on)
        largest[part.on] = k if before is None else max(before, k or 0)
    return [_Quasi(on, k) for on, k in largest.items()][:MOST]


def _edges(sizes: NDArray[np.int64]) -> NDArray[np.float64]:
    """Edges that grow by a constant factor, between whole numbers."""
    low, high = int(sizes.min()), int(sizes.max())
    found = np.geomspace(max(low, 1), high + 1, BINS + 1)
    return np.unique(np.ceil(found - 1e-9)).astype(np.float64) if high > low else np.array([low, low + 1.0])


def _risk(released: Released, sizes: list[NDArray[np.int64]]) -> Html:
    rows: list[Any] = []
    for claim, found in zip(_quasi_identifiers(released), sizes, strict=True):
        told = {score.name: score.value for score in risks(found)}
        name = ", ".join(claim.on)
        rows.append((name, len(found), int(found.min()), int(np.median(found)), *(f"{told[r]:.2%}" for r in RISKS)))
    headings = ["known", "groups", "smallest", "median", "highest chance", "chance on average", "records above 20 %"]
    words = "The chance to pick out the right record for somebody who knows these attributes of a person in the table:"
    return join([paragraph(words), table(headings, rows, kind="cards")])


def _short(on: tuple[str, ...]) -> str:
    return ", ".join(map(label, on[:4])) + (f" and {len(on) - 4} more" if len(on) > 4 else "")


RISKED = [
    "known",
    "smallest group",
    "prosecutor: highest",
    "on average",
    "records above 1/5",
    "above 1/20",
    "journalist: highest",
    "marketer",
]
CRITERIA = [
    "attack",
    "the attacker knows",
    "success",
    "95 % interval",
    "without the release",
    "excess",
    "95 % interval",
]
WHO = (
    "The prosecutor knows that a person is in the table; the journalist has to find the person in a larger "
    "population, and as none is given here his risk is the prosecutor's, an upper bound; the marketer wants many "
    "records, and this is the share that he can expect to match."
)
WHAT = (
    "The three criteria of opinion 05/2014 of the Article 29 Working Party, each measured by an attack. What stands "
    "beside each success is reached without the release; the excess is what the release adds, and for inference also "
    "what is true of people in general, which only a control group could tell apart. Of a large table as many people "
    "and predicates are tried as of a small one, some hundred drawn at random: the intervals tell the error that "
    "this leaves, and `sfumato attack`, which draws more, may differ by as much. An attack that fails is no proof."
)


def attacked(held: Held) -> Html | None:
    """One panel: who is at risk by group sizes, how far attacks get, and what was not tried."""
    found = held.attacks
    if found is None:
        return None
    parts = [paragraph("Measured against the raw table: never hand these figures over with the release.", "note")]
    if found.risk:
        parts += [exposed(found.risk), paragraph(WHO)]
    if found.results:
        parts += [paragraph(WHAT), criteria(found.results)]
        parts.append(bullets(result.sentence for result in found.results))
    if found.left_out:
        parts += [tag("h3", text("Not tried")), bullets(f"{name}: {why}." for name, why in found.left_out.items())]
    more = "With a control group or a population, and for further attacks: sfumato attack RAW RELEASE."
    return section("What an attacker could do", *parts, paragraph(more), anchor="attacks")


def exposed(found: Sequence[Exposure]) -> Html:
    """What group sizes leave, for each quasi-identifier."""
    return table(RISKED, [_exposed(one) for one in found], kind="cards")


def criteria(found: Sequence[AttackResult]) -> Html:
    """How far each attack gets, beside guessing."""
    return table(CRITERIA, [_criterion(one) for one in found], kind="cards")


def _exposed(one: Exposure) -> tuple[Cell, ...]:
    knows = ", ".join(one.on) + ("" if one.claimed else " (nothing is claimed of these together)")
    risk = one.prosecutor
    shares = (risk.highest, risk.average, risk.above[5], risk.above[20], one.journalist.highest, one.marketer)
    return (knows, one.smallest, *(f"{share:.2%}" for share in shares))


def _criterion(one: AttackResult) -> tuple[Cell, ...]:
    if one.baseline is None:
        return (one.attack, one.knowledge, f"{one.success.value:.2%}", "", "", "", "")
    beside = one.baseline
    return (
        one.attack,
        one.knowledge,
        f"{one.success.value:.2%}",
        f"{one.success.low:.2%} to {one.success.high:.2%}",
        f"{beside.success.value:.2%}: {beside.how}",
        f"{beside.excess.value:.2%}",
        f"{beside.excess.low:.2%} to {beside.excess.high:.2%}",
    )
