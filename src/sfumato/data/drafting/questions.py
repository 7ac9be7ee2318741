"""What a draft asks of the holder: what only they know, the weightiest first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sfumato.data.drafting.guess import DIGITS
from sfumato.data.drafting.phrases import inline, named, scalar, share
from sfumato.data.drafting.placeholders import Placeholders
from sfumato.data.drafting.proposal import ColumnDraft, Draft
from sfumato.data.schema import Category, Number


def questions(draft: Draft) -> Iterator[str]:
    """What only the holder knows."""
    if several := one_row_one_person(draft):
        yield several
    plain = [c.name for c in draft.columns if c.role == "plain" and c.asked]
    if plain or draft.alone_plain > 0:
        plain = plain or list(draft.with_role("sensitive"))
        yield (
            f"Can somebody else know these of a person? {named(plain)}. They go out as they are; so do the sensitive "
            f"ones, and with all of them {share(draft.alone_plain)} of the people are alone. For each that can be "
            "known, set role: quasi and add it to `on`."
        )
    if unrecognised := [c.name for c in draft.columns if c.unrecognised]:
        yield (
            f"Is any of these a secret? {named(unrecognised)}. Nothing in their names says so, and they go out as "
            "they are: nothing bounds what is learned of them. For each that is one, set role: sensitive and add to "
            f"`privacy` {_bound(draft, unrecognised)}."
        )
    yield f"Are these really known to others? {named(draft.quasi)}. Each one less keeps more detail in the rest."
    if exact := [c.name for c in draft.columns if c.role == "identifier" and c.asked]:
        yield (
            f"Dropped, because rare or exact values find people: {named(exact)}. Are they needed? Numbers are "
            "masked by intervals (role: quasi); labels and codes need a taxonomy for that, without one sets name them; "
            "what nobody else knows can go out as it is (role: sensitive, unique_ok: true)."
        )
    if unread := [f"{scalar(c.name)} ({c.reason.removeprefix('it is not read: ')})" for c in draft.columns if c.unread]:
        yield (
            f"Not read, and dropped: {', '.join(unread)}. Are they needed? Convert them in a query (--query), lists to "
            "text with a separator between: array_to_string(items, ';')."
        )
    yield from _about_cells(draft.columns)
    yield from _about_ranges(draft.columns)
    yield from _about_promises(draft)


def _about_cells(columns: Sequence[ColumnDraft]) -> Iterator[str]:
    """How cells are written: words among numbers, labels that look alike, days and months."""
    spoilt = [c for c in columns if c.spoilt is not None]
    if words := [c for c in spoilt if c.kind == "number"]:
        yield f"Do words among numbers and dates mean missing, as they are taken for in `missing`? {_cells(words)}."
    if others := [c for c in spoilt if c.kind != "number"]:
        yield (
            f"Are these numbers or dates? {_cells(others)}. Mend those cells; words that mean missing can be listed in "
            "`missing`. Where that leaves numbers, write kind: number, with decimal: comma for 3,5; for dates with "
            "calendar: month and dates: dmy."
        )
    if marked := [c for c in columns if c.attribute.missing and c.spoilt is None and c.role != "identifier"]:
        texts = "; ".join(f"{scalar(c.name)} {inline(list(c.attribute.missing))}" for c in marked)
        yield f"Do these mean missing, as they are taken for? {texts}. If one is a value, take it out of `missing`."
    if far := [(c, c.placeholders) for c in columns if c.placeholders is not None]:
        texts = "; ".join(f"{scalar(c.name)}: {_instead(found)}" for c, found in far)
        yield (
            "Do these mean missing? They are far from all others, and several rows have them; as they are, they "
            f"stretch the range for everybody. If so, write {texts}."
        )
    if digits := [c.name for c in columns if c.holds == DIGITS and c.role != "identifier"]:
        yield (
            f"Are these codes? {named(digits)}. They are digits in columns of text, and taken for labels. For amounts "
            "write kind: number, with a range."
        )
    if same := [c for c in columns if c.alike]:
        labels = ", ".join(f"{scalar(c.name)} ({c.alike:,})" for c in same)
        yield (
            f"Are these labels the same? Some differ by letters' case, spaces or hyphens alone: {labels}. Each would "
            "be a value of its own: write them alike in the table."
        )
    if unsure := [c.name for c in columns if "(or mdy?" in c.holds and c.role != "identifier"]:
        yield f"Do days stand before months (dmy) in {named(unsure)}? No day is above 12."


def _about_ranges(columns: Sequence[ColumnDraft]) -> Iterator[str]:
    """Ranges that a few numbers stretch."""
    if stretched := [c for c in columns if c.clip is not None]:
        lines = "; ".join(f"{scalar(c.name)}: range: {inline(list(c.clip or ()))}, outside: clip" for c in stretched)
        yield (
            "Do a few numbers stretch these ranges to more than ten times what 99 of 100 records need? Intervals are "
            "then wide for everybody, and the detail that is told flatters. These lines move what lies beyond to the "
            f"nearer end: {lines}."
        )


def _about_promises(draft: Draft) -> Iterator[str]:
    """What is to be held, now and later, and what must be declared for it."""
    if secret := [c.name for c in draft.columns if c.role == "quasi" and c.reason.startswith("sensitive (")]:
        yield (
            f"Are these secrets? {named(secret)}. Their values are so exact that they are masked, and nothing bounds "
            "what is learned of them. Rounded or in classes they could be sensitive instead, with a bound."
        )
    if draft.plan.unbounded:
        yield (
            f"How sure may one be of {named(draft.plan.unbounded)}? Nothing bounds that yet: "
            f"add {_bound(draft, draft.plan.unbounded)}; or make it plain."
        )
    if draft.plan.clusters:
        yield (
            "What will be looked for? Masking spares the groups in `structure`: k: 6 asks for so many, attributes: "
            "[...] for groups of rows alike in these; {classes: NAME} keeps what tells the values of a column apart. "
            "Without `structure` it spares detail alone."
        )
    if left_out := [*draft.plan.compared.many, *draft.plan.compared.told]:
        yield (
            f"Should groups be found from these, too? {named(left_out)}. They would be places or codes, or count what "
            "another column tells once more; if that is meant, add them to `attributes` in `structure`."
        )
    yield (
        "Will more be released of these people? Then give them a name now, people: NAME: the ledger refuses a second "
        "release that does not tell of the first. Where the table will grow, write mask: top_down: later releases "
        "(earlier: {releases: [...], people: growing}) can be held beside no other."
    )
    if any(isinstance(c.attribute, Number) and c.role != "identifier" for c in draft.columns):
        yield "Ranges are rounded outwards from the data: are there publicly known ones?"
    if declared := [c for c in draft.columns if c.labels and isinstance(c.attribute, Category)]:
        lists = "; ".join(f"{scalar(c.name)} {inline(list(c.labels))}" for c in declared)
        yield f"Under a budget (mask: private_tree) labels are declared, `values: [...]`. All that can occur? {lists}"


def _bound(draft: Draft, names: Sequence[str]) -> str:
    """The lines that bound what is learned of these columns: of sets by their items, of all others by their values."""
    sets = {name for name in names if draft[name].kind == "item_set"}
    lines = []
    if len(sets) < len(names):
        lines.append("{confidence_bound: 0.9, on: [...], sensitive: NAME}, or more where its commonest value has more")
    if sets:
        items = "{l_diversity: 2, kind: items, on: [...], sensitive: NAME}, by which nobody's item is certain"
        lines.append(items if len(sets) == len(names) else f"for {named(sorted(sets))} {items}")
    return "; ".join(lines)


def _instead(found: Placeholders) -> str:
    """What to write for a column whose far ends mean missing; what may be somebody's own is not named."""
    texts = inline(list(found.texts)) if found.usual else "[...], what is at the end of its values,"
    return f"missing: {texts} with range: {inline(list(found.range))}"


def _cells(columns: Sequence[ColumnDraft]) -> str:
    return "; ".join(f"{scalar(column.name)}: {column.spoilt}" for column in columns)


def one_row_one_person(draft: Draft) -> str | None:
    """The first question, where a number of people comes again in other rows; None where none does."""
    repeated = [column for column in draft.columns if column.repeated]
    if not repeated:
        return None
    found = min(repeated, key=lambda column: column.distinct)
    k, most = draft.plan.k, found.rows_each
    larger = f", or multiply k by the most rows that a person has: {k} x {most:,} = {k * most:,}"
    several = f"{found.shared:,} of them in more than one row, at most {most:,}"
    several = f"one of them in {most:,} rows" if found.shared == 1 else several
    return (
        f"Is one row one person? {draft.rows:,} rows have {found.distinct:,} different {scalar(found.name)}, "
        f"{several}; k counts rows, so that a group of {k} rows may be fewer people. Make one row a person "
        f"first{larger if k * most <= draft.rows // 5 else ''}."
    )
