"""Whether the table is worth having: what masked columns still tell, which clusters are lost, what would show more.

The public edition says what follows from the released values, and no more.
"""

from __future__ import annotations

from collections.abc import Sequence

from sfumato.data.schema import Number
from sfumato.display import shortened
from sfumato.evaluation.certainty import EXACT, OF_ITEMS, ONE_BOUNDED, OTHERS, SETS
from sfumato.evaluation.columns import ColumnKept, Commonest, kept_heading
from sfumato.evaluation.scores import OFF_MEANS
from sfumato.evaluation.tries import Tries
from sfumato.evaluation.worth import Worth
from sfumato.release.report.markup import (
    Cell,
    Html,
    bullets,
    join,
    made,
    meter,
    paragraph,
    section,
    some,
    table,
    tag,
    text,
)
from sfumato.release.report.material import Held, Released

ANCHOR = "worth"
DETAIL = (
    ", and on the bar how much of its detail is kept: 1 - NCP, where an interval loses its width over the range, and "
    "labels in one set their share of all labels; and the share of the rows that show one value, neither a set nor an "
    "interval of several: only these can be counted by the column."
)
RELATED = (
    "How strongly two columns hang together is told from 0 to 1 (Cramer's V, numbers in bins; sets are not compared): "
    "a relation is clear from 0.2 in the raw table on, and lost where less than half of it is left. Where it is lost, "
    "comparisons of one column by the other come out too flat."
)
BESIDE = {"certain": "certain", "nearly_certain": "90 % or more"}


def public_columns(released: Released) -> Html | None:
    """How many values each masked column shows, and the commonest."""
    found = {name: Commonest.of(released.masked.shown(name)) for name in released.names}
    rows: list[list[Cell]] = [
        [name, some(most.values, "value"), most.label, made(meter(most.share))]
        for name, most in found.items()
        if most.values > 1
    ]
    if not found:
        return None
    told = paragraph(
        "Of each masked column: how many values it shows, the most frequent, and on the bar the share of the rows that "
        "show it."
    )
    drawn = [told, table(["column", "shows", "most frequent", "share of the rows"], rows, kind="worth")] if rows else []
    silent = silent_line([name for name, most in found.items() if most.values <= 1])
    return section("What the columns still tell", *drawn, *silent, anchor=ANCHOR)


def silent_line(names: Sequence[str]) -> list[Html]:
    """Columns that tell nothing, in one line; none where there is none."""
    if not names:
        return []
    tells = "tells nothing: it shows" if len(names) == 1 else "tell nothing: they show"
    return [
        paragraph(f"{some(len(names), 'column')} {tells} one value for nearly everybody. {', '.join(names)}.", "silent")
    ]


def holders_columns(released: Released, held: Held) -> Html | None:
    """What each masked column still tells, lost clusters, what groups give away, and what would show more."""
    worth = worth_of(released, held)
    parts = [
        *_settled(held),
        *([_columns(worth.columns)] if worth.columns else []),
        *_relations(worth),
        *_lost(worth),
        *_certain(held),
        *_tries(held),
    ]
    if not parts:
        return None
    told = paragraph("Measured against the raw table: never hand these figures over with the release.", "note")
    return section("Is the table worth having?", told, *parts, anchor=ANCHOR)


def worth_of(released: Released, held: Held) -> Worth:
    """What the scores say of the table; with the centres that go along, if they do."""
    return Worth.of(held.scores, centres=released.space is not None)


def _columns(columns: Sequence[ColumnKept]) -> Html:
    rows: list[list[Cell]] = []
    for one in (one for one in columns if not one.silent):
        values = f"{one.before:,} \u2192 {one.after:,}"
        rows.append(
            [one.name, values, f"{shortened(one.commonest_words)} \u00b7 {one.share:.0%}", kept_cell(one), alone(one)]
        )
    told = (
        "Of each masked column: how many values it had and has, the most frequent that is shown and the share of the "
        f"{'rows' if _generated(columns) else 'records'} that show it"
    )
    told += f", and how far its shares are from the raw ones. {OFF_MEANS}" if _generated(columns) else DETAIL
    head = ["column", "values", "most frequent", kept_heading(columns), "of the rows"]
    if _generated(columns):
        head, rows = head[:-1], [row[:-1] for row in rows]
    drawn = [paragraph(told), table(head, rows, kind="worth")] if rows else []
    return join([*drawn, *silent_line([one.name for one in columns if one.silent])])


def _generated(columns: Sequence[ColumnKept]) -> bool:
    """Whether no row stands for a record, so that no share of the rows has a measure."""
    return all(one.alone is None and one.kept is None and one.moved is None for one in columns)


def kept_cell(one: ColumnKept) -> Cell:
    """A bar of the detail kept; where that has no measure, how far values are off."""
    return made(meter(one.kept)) if one.kept is not None else one.moved_words or one.off_words or one.unmeasured


def _relations(worth: Worth) -> list[Html]:
    """Which relations between columns of a generated table are lost."""
    found = worth.relations
    if found is None:
        return []
    sentences = [
        str(found).partition(" (")[0],
        RELATED.removesuffix("."),
        *([f"what helps: {found.advice}"] if found.advice else []),
    ]
    told = " ".join(f"{one[:1].upper()}{one[1:]}." for one in sentences)
    rows: list[list[Cell]] = [
        [" with ".join(one.columns), f"{one.raw:.2f}", f"{one.generated:.2f}"] for one in found.lost
    ]
    lost = [table(["lost, the strongest first", "raw table", "this table"], rows)] if rows else []
    return [tag("h3", text("Relations between columns")), paragraph(told), *lost]


def alone(one: ColumnKept) -> str:
    """The share of the rows that show one value of a column, if that has a measure; a telephone shows it without its
    heading."""
    if one.alone is None:
        return ""
    said = f"{one.alone:.0%} show one value".replace(" ", "\u00a0")  # in one line
    return f"{said}, half {one.wide_words} or more" if one.wide_words else said


def _settled(held: Held) -> list[Html]:
    """That masking was ended early, if it was."""
    how_far = held.history.get("settled")
    told = f"Masking was ended early, {how_far}. The recipe, run to its end, shows more."
    return [] if how_far is None else [paragraph(told)]


def _lost(worth: Worth) -> list[Html]:
    if not worth.lost:
        return []
    return [tag("h3", text("Clusters that are lost")), bullets(f"{one}." for one in worth.lost)]


def _certain(held: Held) -> list[Html]:
    """Of how many people the class, or a secret, is certain."""
    found = held.scores.get("certain", ())
    if not found:
        return []
    rows: list[list[Cell]] = [
        [one["attribute"], where, *(f"{one[f'{key}{end}']:.1%}" for key in BESIDE)]
        for one in found
        for end, where in {"": "this table", ".raw": "without masking", ".distortion": "masked blindly"}.items()
        if f"certain{end}" in one
    ]
    told = (
        "Shares of the records whose group shows one value only, or one in at least 90 % of its records. k-anonymity "
        "does not forbid it, and a class that guides the masking makes groups pure; l-diversity and t-closeness do."
    )
    heading = tag("h3", text("What groups give away"))
    exact = [one["attribute"] for one in found if isinstance(held.table.schema[one["attribute"]], Number)]
    others = [one["attribute"] for one in found if one.get(ONE_BOUNDED)]
    sets = [one["attribute"] for one in found if one.get(OF_ITEMS)]
    said = ((exact, EXACT), (sets, SETS), (others, OTHERS))
    note = [paragraph(f"{', '.join(of)}: {words}", "note") for of, words in said if of]
    return [heading, paragraph(told), table(["value of", "in", *BESIDE.values()], rows), *note]


def _tries(held: Held) -> list[Html]:
    if "tries" not in held.scores:
        return []
    found = Tries.from_json(held.scores["tries"])
    lines = [
        tag("li", tag("code", text(one.settings)), Html("<br>"), text(f"{one.figures}; {one.price}."))
        for one in found.better
    ]
    as_it_is = [tag("li", text(f"As it is: {found.as_it_is.figures}."))] if lines else []
    return [tag("h3", text("What would show more")), paragraph(found.told), tag("ul", *as_it_is, *lines)]
