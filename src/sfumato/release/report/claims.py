"""The verdict, what is claimed and what is not, how to check it and how to cite it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sfumato.data.grouping import first_rows
from sfumato.data.schema import Attribute
from sfumato.data.table import Column
from sfumato.evaluation.scores import FOUND_UNMASKED
from sfumato.privacy.verify.texts import readme
from sfumato.privacy.verify.texts.labels import told_in_words
from sfumato.privacy.verify.texts.pages import needed
from sfumato.release.certificate import Claim, calendar_of, kind_of, moved_in, not_claimed
from sfumato.release.report.markup import Cell, Html, bullets, folded, join, made, paragraph, section, table, tag, text
from sfumato.release.report.material import MISSING, Held, Released, different
from sfumato.release.report.worth import worth_of


def verdict(released: Released) -> Html:
    """What is promised, in one sentence."""
    return paragraph(released.facts.statement, "verdict")


def holders_verdict(released: Released, held: Held) -> Html:
    """What verify said, and whether the table is worth having, in one sentence."""
    worth, holds = worth_of(released, held), held.verdict.holds
    kind = "verdict poor" if worth.but or not holds else "verdict"
    return paragraph(worth.sentence(released.facts.promise.state(verified=holds)), kind)


def in_figures(released: Released, held: Held) -> Html:
    """What holds, what survived and what is risked, in one sentence."""
    return paragraph(figures(released, held))


def worth(released: Released, held: Held) -> str:
    """Whether the table is worth having, in one sentence that goes on."""
    said = worth_of(released, held).sentence("verified" if held.verdict.holds else "NOT verified")
    return said[0].lower() + said[1:]


def figures(released: Released, held: Held) -> str:
    """The same as a text."""
    promised = released.facts.promise.in_short(released.facts.claims)
    told = [f"{promised[0].upper()}{promised[1:]}", *_survived(held.scores), *_risked(held.scores)]
    return f"{'; '.join(told)}."


def _survived(scores: Mapping[str, Any]) -> list[str]:
    values = _values(scores)
    if FOUND_UNMASKED in scores:
        return ["the clusters are found from what goes out as it is, so that finding them again says nothing"]
    for name in ("f_measure.start", "f_measure.cold.mean", "f_measure.nearest"):
        if name in values:
            return [f"the clusters are found again with an F-measure of {values[name]:.3f}{_unhelped(values)}"]
    return []


def _unhelped(values: Mapping[str, float]) -> str:
    """The same without the centres, and how far raw data get."""
    raw = values.get("f_measure.ceiling.mean")
    if "f_measure.cold1" not in values or raw is None:
        return ""
    one, ten = values["f_measure.cold1"], values["f_measure.cold10"]
    return (
        f" (without the centres {one:.3f} with one start and {ten:.3f} with the best of ten; raw data clustered again "
        f"with another seed: {raw:.3f})"
    )


def _risked(scores: Mapping[str, Any]) -> list[str]:
    highest = _values(scores).get("prosecutor.highest")
    return [] if highest is None else [f"the most exposed record is picked out with a chance of {highest:.1%}"]


def _values(scores: Mapping[str, Any]) -> dict[str, float]:
    return {name: score["value"] for name, score in scores.get("scores", {}).items()}


def claimed(released: Released) -> Html:
    """What is claimed, against whom, and what is not."""
    facts = released.facts
    parts = [] if len(facts.claims) == 1 else [paragraph(facts.statement)]
    if facts.claims:
        parts.append(claimed_table(released))
    if facts.lifted:
        share = facts.lifted / max(facts.rows, 1)
        parts.append(paragraph(f"{facts.lifted:,} records ({share:.1%}) are shown at the top of every masked column."))
    parts += [tag("h3", text("Not claimed")), bullets(not_claimed(facts))]
    if facts.labels:
        parts += [tag("h3", text("The labels that go along")), bullets(told_in_words(facts.labels))]
    return section("What is claimed, and against whom", *parts, anchor="claims")


def claimed_table(released: Released) -> Html:
    """Every claim, what was reached, and against whom it holds."""
    facts = released.facts
    asked = [(str(c.requirement), reached(c), f"Somebody who {c.requirement.attacker()}.") for c in facts.claims]
    follows = [(str(c.requirement), f"follows from {', '.join(c.by.on)}", "") for c in facts.covered]
    return table(["claimed", "reached", "against whom"], [*asked, *follows], kind="cards")


def reached(claim: Claim) -> str:
    """What the worst group reached, in a few words."""
    if isinstance(claim.achieved, Mapping):
        return ", ".join(f"{name} = {value:g}" for name, value in claim.achieved.items())
    return f"{claim.achieved} in the smallest group"


def checked(released: Released, held: Held | None) -> Html:
    """How to check it, and what the check said when it was released."""
    how = tag("pre", text("pip install sfumato"), Html("\n"), text("sfumato verify ."))
    more = " ".join(needed([claim.requirement.name for claim in released.facts.claims]))
    parts = [paragraph(f"In the folder of the release{'' if more else ', with nothing else at hand'}:"), how]
    parts += [paragraph(more)] if more else []
    if held is not None:
        rows = [("ok" if check.holds else "FAIL", check.name, check.detail) for check in held.verdict.checks]
        parts.append(folded(f"What it said: {len(rows)} checks", ["", "check", "seen"], rows))
    else:
        does = " ".join(released.facts.promise.checks().split())
        parts.append(paragraph(f"It {does} Nothing is released for which it fails."))
    return section("How to check it", *parts, anchor="verify")


def cited(released: Released) -> Html:
    """How to cite it."""
    facts = released.facts
    return section("How to cite it", paragraph(facts.promise.cited(facts.mask)), anchor="cite")


def columns(released: Released) -> Html:
    """What happened to the columns, in words: those of one role and one treatment in one row."""
    facts = released.facts
    alike: dict[tuple[str, str], list[str]] = {}
    for name in released.masked.names:
        shown = _explained(facts.schema[name], released.masked.treated.get(name))
        alike.setdefault((facts.schema[name].role, shown), []).append(name)
    rows = [(", ".join(names), role, shown) for (role, shown), names in alike.items()]
    order = "in their original order" if facts.keep_order else "in random order"
    told = paragraph(f"{released.masked.rows:,} rows, {order}. A missing value counts as a value of its own.")
    return join([told, table(["columns", "role", "what is shown"], rows, kind="cards")])


def _explained(attribute: Attribute, masked: str | None) -> str:
    """What a column shows, in the words of the README page."""
    shown = readme.explained(masked, calendar_of(attribute, masked), dotted=True).replace("`", "")
    return readme.moved(shown, {"kind": kind_of(attribute), **moved_in(attribute)})


ROWS = 5


def public_examples(released: Released) -> Html:
    """The most frequent combinations of each claim: each is shared by at least k rows, none is anybody's own.

    Claims on the same columns share one table.
    """
    parts, lists = [columns(released)], dict[frozenset[str], tuple[str, ...]]()
    for claim in released.facts.claims:
        on = tuple(n for n in claim.requirement.on if different(released.masked.shown(n)) > 1) or claim.requirement.on
        lists.setdefault(frozenset(on), on)
    for on in lists.values():
        parts.append(paragraph(f"The most frequent combinations on {', '.join(on)}, which nobody has alone:"))
        parts.append(_upright([*on, "records"], _frequent(released, on)))
    return section("The table as it is shown", *parts, anchor="table")


def _upright(names: Sequence[str], rows: Sequence[Sequence[Cell]]) -> Html:
    """A row for each attribute, so that many of them still fit a page."""
    cells: list[list[Cell]] = [[name, *(row[at] for row in rows)] for at, name in enumerate(names)]
    return table(["", *(f"combination {at + 1}" for at in range(len(rows)))], cells, kind="cards")


def _frequent(released: Released, on: tuple[str, ...]) -> list[tuple[Cell, ...]]:
    shown = [released.masked.shown(name) for name in on]
    groups = released.masked.groups(on)
    sizes, first = np.bincount(groups), first_rows(groups)
    found = [
        (*((*one.labels, MISSING)[one.marks[first[at]]] for one in shown), int(sizes[at]))
        for at in np.argsort(-sizes, kind="stable")[: 4 * ROWS]
    ]
    return sorted(found, key=lambda row: (-int(row[-1]), *map(str, row)))[:ROWS]


def holders_examples(released: Released, held: Held) -> Html:
    """Some records before and after. They are real: this part is in the holder's edition alone."""
    if not held.masked.row_by_row:
        told = paragraph("Every row was generated: none stands for a raw record, so there is nothing to set beside it.")
        return section("The table as it is shown", columns(released), told, anchor="table")
    told = paragraph(
        "Some records as they were, and below in bold as they are shown; columns with one value for everybody are left "
        "out. They are real: keep this page to yourself.",
        "note",
    )
    return section("The table before and after", columns(released), told, _records(held), anchor="table")


def _records(held: Held) -> Html:
    shown = {name: column for name, column in held.masked.items() if isinstance(column, Column)}
    names = [name for name, column in shown.items() if different(column) > 1]
    if not names:
        return text("")
    rows = np.linspace(0, held.table.rows - 1, min(ROWS, held.table.rows)).astype(np.int64)
    headings = ["", *(f"record {at + 1}" for at in range(len(rows)))]
    cells = [[name, *(_changed(held, name, shown[name], int(row)) for row in rows)] for name in names]
    return table(headings, cells, kind="cards")


def _changed(held: Held, name: str, shown: Column, row: int) -> Cell:
    column = held.table.column(name)
    code = int(column.codes[row])
    was = MISSING if code == column.missing_code else str(column.values[code].as_py())
    now = (*shown.labels, MISSING)[shown.codes[row]]
    if was == now:
        return made(tag("span", text(now), class_="is"))
    return made(Html(tag("span", text(was), class_="was") + tag("span", text(now), class_="is")))
