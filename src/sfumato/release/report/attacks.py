"""What an attacker could do: risk from group sizes, and the three criteria of opinion 05/2014. Holder only."""

from __future__ import annotations

from sfumato.evaluation.attacks.results import AttackResult
from sfumato.evaluation.risk import Exposure
from sfumato.release.report.markup import Cell, Html, bullets, paragraph, section, table, tag, text
from sfumato.release.report.material import Held

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
    "this leaves. An attack that fails is no proof."
)


def attacked(held: Held) -> Html | None:
    """One panel: who is at risk by group sizes, how far attacks get, and what was not tried."""
    found = held.attacks
    if found is None:
        return None
    parts = [paragraph("Measured against the raw table: never hand these figures over with the release.", "note")]
    if found.risk:
        parts += [table(RISKED, [_risk(one) for one in found.risk], kind="cards"), paragraph(WHO)]
    if found.results:
        parts += [paragraph(WHAT), table(CRITERIA, [_criterion(one) for one in found.results], kind="cards")]
        parts.append(bullets(result.sentence for result in found.results))
    if found.left_out:
        parts += [tag("h3", text("Not tried")), bullets(f"{name}: {why}." for name, why in found.left_out.items())]
    more = "With a control group or a population, and for further attacks: sfumato attack RAW RELEASE."
    return section("What an attacker could do", *parts, paragraph(more), anchor="attacks")


def _risk(one: Exposure) -> tuple[Cell, ...]:
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
