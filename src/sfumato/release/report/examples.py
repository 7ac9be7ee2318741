"""The table before and after: a few rows as they look now, and for the holder what they were."""

from __future__ import annotations

import numpy as np

from sfumato.data.table import Column, first_rows
from sfumato.release.report.claims import columns
from sfumato.release.report.markup import Cell, Html, made, paragraph, section, table, tag, text
from sfumato.release.report.material import MISSING, Held, Released

ROWS = 5


def public_examples(released: Released) -> Html:
    """The most frequent combinations of each claim: each is shared by at least k rows, none is anybody's own."""
    parts = [columns(released)]
    for claim in released.facts.claims:
        on = claim.requirement.on
        parts.append(paragraph(f"The most frequent combinations on {', '.join(on)}, which nobody has alone:"))
        parts.append(table([*on, "records"], _frequent(released, on), kind="cards"))
    return section("The table as it is shown", *parts, anchor="table")


def _frequent(released: Released, on: tuple[str, ...]) -> list[tuple[Cell, ...]]:
    shown = [released.masked.shown(name) for name in on]
    groups = released.masked.groups(on)
    sizes, first = np.bincount(groups), first_rows(groups)
    found = [
        (*((*one.labels, MISSING)[one.keys[first[at]]] for one in shown), int(sizes[at]))
        for at in np.argsort(-sizes, kind="stable")[: 4 * ROWS]
    ]
    return sorted(found, key=lambda row: (-int(row[-1]), *map(str, row)))[:ROWS]


def holders_examples(released: Released, held: Held) -> Html:
    """Some records before and after. They are real: this part is in the holder's edition alone."""
    if not held.masked.row_by_row:
        told = paragraph("Every row was generated: none stands for a raw record, so there is nothing to set beside it.")
        return section("The table as it is shown", columns(released), told, anchor="table")
    told = paragraph(
        "Some records as they were, and below in bold as they are shown. They are real: keep this page to yourself.",
        "note",
    )
    return section("The table before and after", columns(released), told, _records(held), anchor="table")


def _records(held: Held) -> Html:
    shown = {name: column for name, column in held.masked.items() if isinstance(column, Column)}
    names = list(shown)
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
