"""The short edition of the holder's report: one printed page for whoever signs a release and has no time.

Per-column loss first, then what survived, what is risked, which policies' checks are satisfied, what is not claimed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from sfumato.evaluation.advice import advice_on_unmasked
from sfumato.evaluation.attacks.results import AttackResult
from sfumato.evaluation.attacks.singling_out import CHOSEN
from sfumato.evaluation.certainty import OF_ITEMS
from sfumato.evaluation.columns import ColumnKept, kept_heading
from sfumato.evaluation.risk import Exposure
from sfumato.evaluation.tries import Tries
from sfumato.privacy.verify.policies.wording import NOT_COMPLIANT, UNSEEN, statement
from sfumato.release.certificate import not_claimed
from sfumato.release.report import claims
from sfumato.release.report.markup import (
    Cell,
    Html,
    bullets,
    join,
    page,
    paragraph,
    section,
    some,
    table,
    tag,
    text,
)
from sfumato.release.report.material import Held, Released
from sfumato.release.report.worth import kept_cell, silent_line, worth_of

NAME = "report_short.html"
MOST_COLUMNS, MOST_FIGURES, MOST_ATTACKS, LONGEST, FEW = 18, 4, 6, 400, 5
"""Columns, figures, attacks, letters of a sentence, names of a list that are shown: the long edition has the rest."""
LONGEST_NAME = 25
KEPT = "how much of its detail it keeps, and the share of rows that show one value, no set or interval"
MOST_REMARKS, LONGEST_REMARK = 3, 160
ALONE = (
    "That a description fits one person does not say whose it is; who knows all those columns of somebody finds the "
    "row. The promise speaks of the masked columns alone."
)
"""What the strongest of the attacks means; its figure would mislead whoever sees nothing else."""
OF_CLUSTERS = ("f_measure.start", "match_point.start", "agreement", "f_measure.cold1", "f_measure.cold.mean")
"""Figures of the headline that tell how well clusters are found again."""
_LISTED = re.compile(r"\{([^{}]*)\}")


def short_report(released: Released, held: Held) -> str:
    """One page of paper."""
    name = held.name or released.facts.promise.title()
    edition = tag("p", text("Short edition for the holder: keep it in the house"), class_="edition holder")
    beside = [part for part in (_survived(held), _risked(held)) if part is not None]
    lost = _columns(released, held)
    pair = [tag("div", *([] if lost is None else [lost]), tag("div", *beside), class_="pair")]
    below = [part for part in (_policies(released, held), _open(released)) if part is not None]
    head = [edition, tag("h1", text(name)), claims.holders_verdict(released, held), *_warned(held)]
    head.append(paragraph(_promised(released)))
    more = paragraph("The long edition, report.html, has every figure, picture and check.", "note")
    return page(name, tag("div", *head, *pair, *below, more, class_="short"))


def _warned(held: Held) -> list[Html]:
    """What publish warned of, the first of it."""
    if not held.remarks:
        return []
    more = len(held.remarks) - MOST_REMARKS
    rest = f"; {some(more, 'warning')} more" if more > 0 else ""
    shown = "; ".join(cut(line.partition(". ")[0], LONGEST_REMARK) for line in held.remarks[:MOST_REMARKS])
    return [paragraph(f"Warned of: {shown}{rest}. What to do about it is told in the long edition.", "note")]


def _promised(released: Released) -> str:
    """What is claimed, in few words: long lists of attributes by their number."""
    facts = released.facts
    if not facts.claims:
        said = facts.promise.in_short(facts.claims)
        return f"{said[0].upper()}{said[1:]}. {released.masked.rows:,} rows."
    words = [_LISTED.sub(_counted, str(claim.requirement)) for claim in facts.claims]
    return cut(f"Claimed, and recounted by verify: {'; '.join(words)}.") + f" {released.masked.rows:,} rows."


def _counted(found: re.Match[str]) -> str:
    names = found[1].split(", ")
    return found[0] if len(names) <= FEW else f"{len(names)} attributes"


def cut(words: str, most: int = LONGEST) -> str:
    """A sentence that is not too long for the page.

    >>> cut("abcdef", 4)
    'abc…'
    """
    return words if len(words) <= most else words[: most - 1].rstrip() + "…"


def _columns(released: Released, held: Held) -> Html | None:
    """What each masked column has lost, the one that lost most first; those that tell nothing in one line."""
    found = worth_of(released, held).columns
    if not found:
        return None
    telling = sorted((one for one in found if not one.silent), key=lambda one: (one.kept is None, one.kept or 0.0))
    rows: list[list[Cell]] = [[_named(one.name), f"{one.before:,} → {one.after:,}", *_kept(one)] for one in telling]
    hidden = (
        f"; {some(len(rows) - MOST_COLUMNS, 'column')} more in the long edition" if len(rows) > MOST_COLUMNS else ""
    )
    generated = all(one.alone is None and one.kept is None for one in found)
    what = "how far its shares are from the raw ones" if generated else KEPT
    told = paragraph(f"How many values each masked column had and has, {what}{hidden}:")
    heads = ["column", "values", kept_heading(found), "one value"]
    if generated:  # no row stands for a record
        heads, rows = heads[:-1], [row[:-1] for row in rows]
    drawn = [told, table(heads, rows[:MOST_COLUMNS], kind="worth")] if rows else []
    return section(
        "What each column lost", *drawn, *silent_line([one.name for one in found if one.silent]), anchor="worth"
    )


def _named(name: str) -> str:
    """A name in one line of the page: of a long one its ends.

    >>> _named("highest_completed_level_of_education_of_the_household_04")
    'highest_com…_household_04'
    """
    return name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 14]}…{name[-13:]}"


def _kept(one: ColumnKept) -> list[Cell]:
    return [kept_cell(one), "" if one.alone is None else f"{one.alone:.0%}"]


def _survived(held: Held) -> Html | None:
    """The first figures; where the clusters are found from what is not masked, in their place why they say nothing."""
    bare = advice_on_unmasked(held.scores)
    rows = [
        (line["says"], line["value"])
        for line in held.scores.get("headline", ())
        if not line["says"].startswith(" ") and (bare is None or line["name"] not in OF_CLUSTERS)
    ]
    told = [table(["figure", "value"], rows[:MOST_FIGURES])] if rows else []
    more = [*([] if bare is None else [paragraph(f"{bare[:1].upper()}{bare[1:]}.")]), *_tries(held)]
    return section("What survived", *told, *more, anchor="survived") if told or more else None


def _tries(held: Held) -> Iterator[Html]:
    found = Tries.from_json(held.scores["tries"]) if "tries" in held.scores else None
    if found is not None and found.better:
        best = found.better[0]
        yield paragraph(cut(f"What would show more: {best.settings}: {best.figures}; {best.price}."))


def _risked(held: Held) -> Html | None:
    """What group sizes leave, and how far each attack gets beside guessing."""
    if held.attacks is None:
        return None
    chosen = [one for one in held.attacks.results if one.attack == CHOSEN]
    rows = [_attack(one) for one in held.attacks.results if one not in chosen][:MOST_ATTACKS]
    told = [paragraph(_exposed(min(held.attacks.risk, key=lambda one: one.smallest)))] if held.attacks.risk else []
    told += (
        [table(["attack", "succeeds", "without the release"], rows), *_measured(held.attacks.results, held.masked.rows)]
        if rows
        else []
    )
    told += [paragraph(f"{one.sentence} {ALONE}", "note") for one in chosen]
    told += [paragraph(f"{line}.", "note") for line in _sets(held)]
    return section("What is risked", *told, anchor="groups") if told else None


def _sets(held: Held) -> Iterator[str]:
    """What groups give away of sensitive sets, which no attack guesses."""
    for one in held.scores.get("certain", ()):
        if one.get(OF_ITEMS):
            yield (
                f"{one['attribute']} holds sets, which no attack above guesses. Of {one['nearly_certain']:.1%} of the "
                f"records 90 % or more of the group have the same item of it, of {one['certain']:.1%} all of the group"
            )


def _attack(one: AttackResult) -> list[Cell]:
    beside = "" if one.baseline is None else f"{one.baseline.success.value:.1%}"
    return [one.attack, f"{one.success.value:.1%}", beside]


def _measured(results: Sequence[AttackResult], rows: int) -> list[Html]:
    """Of how many people, if not of all, and what counts as a right guess of a number."""
    fewest = min((int(one.details.get("people", rows)) for one in results), default=rows)
    more = "sfumato attack tries more, and so differs by a few points. "
    drawn = f"Tried on {fewest:,} people; {more}" if fewest < rows else ""
    guessed = [one.attack.removeprefix("inference of ") for one in results if one.details.get("tenths")]
    right = f"Of {', '.join(guessed)} the right tenth of the table is a right guess." if guessed else ""
    return [paragraph(f"{drawn}{right}".strip(), "note")] if drawn or right else []


def _exposed(worst: Exposure) -> str:
    risk = worst.prosecutor
    return (
        f"The smallest group has {worst.smallest:,} records. Whoever knows the quasi-identifiers of a person picks the "
        f"right record with a chance of at most {risk.highest:.1%}, on average {risk.average:.1%}."
    )


def _policies(released: Released, held: Held) -> Html | None:
    lines = [_policy_line(policy["policy"], statement(policy), held) for policy in released.facts.policies]
    return section("Policies", bullets(lines), paragraph(NOT_COMPLIANT, "note"), anchor="policies") if lines else None


def _policy_line(name: str, said: str, held: Held) -> str:
    checks = [check.detail for check in held.verdict.checks if check.name.startswith(f"policy {name}: ")]
    states = {word: sum(detail.startswith(word) for detail in checks) for word in ("rechecked", UNSEEN, "attested")}
    words = [f"{count} {word}" for word, count in states.items() if count]
    return f"{said}: {', '.join(words)}."


def _open(released: Released) -> Html:
    lines: Sequence[str] = not_claimed(released.facts)
    return join(
        [section("What is not claimed", bullets(cut(line, 220) for line in lines[:MOST_FIGURES]), anchor="claims")]
    )
