"""A draft as a recipe's text: one line a column with its reason, what is asked for, and questions at the end."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping

from sfumato.data.drafting.compared import Compared
from sfumato.data.drafting.phrases import inline, named, scalar, share
from sfumato.data.drafting.plan import MASKER, MASKER_REASON
from sfumato.data.drafting.proposal import ColumnDraft, Draft, kind_of
from sfumato.data.drafting.questions import questions
from sfumato.data.schema import Attribute, ItemSet, Number

_WIDTH = 110
ROLES = (
    "identifier: dropped. quasi: others can know it of a person, so it is masked. sensitive, plain: goes out as it is."
)

PEOPLE_REASON = "what the ledger calls these people: name them where more will be released of them"


def recipe_text(
    draft: Draft,
    table_path: str,
    *,
    taxonomies: Mapping[str, str] | None = None,
    encoding: str | None = None,
    query: str | None = None,
) -> str:
    """A recipe to read and change, with the reason of each guess in a comment.

    `taxonomies` names the file of a column's tree; other trees stand in the recipe itself. `encoding` is that of a CSV
    which is not UTF-8, `query` what is read from a database.
    """
    files = taxonomies or {}
    lines = [
        *_comment(
            "A draft: guesses from the data. Read the reasons, answer the questions at the end, then publish.", 0
        ),
        "sfumato: 1",
        f"table: {scalar(table_path)}",
        *([f"query: {scalar(query)}"] if query else []),
        *([f"encoding: {scalar(encoding)}  # it is not UTF-8; check that accents look right"] if encoding else []),
        "",
        *_comment(ROLES, 0),
        "attributes:",
    ]
    for column in draft.columns:
        lines += _attribute(column, files.get(column.name))
    lines += ["", *_structure(draft), "", *_privacy(draft), "", *_mask(), "", *_questions(draft)]
    return "\n".join(lines) + "\n"


def _attribute(column: ColumnDraft, file: str | None) -> Iterator[str]:
    line = f"  {scalar(column.name)}: {inline(_described(column, file))}"
    reason = told(column)
    if len(line) + len(reason) <= _WIDTH:
        yield f"{line}  # {reason}"
    else:
        yield from _comment(reason, 2)
        yield line


def told(column: ColumnDraft) -> str:
    """The reason of a guess in a few words, without anything that tells of single people."""
    if column.role == "identifier":
        return column.reason + _to_keep(column)
    tree = ", grouped by their beginnings" if column.proposed is not None else ""
    tree = f", in no tree ({column.treeless})" if column.treeless else tree
    return f"{column.reason}; {column.holds}{tree}"


def _to_keep(column: ColumnDraft) -> str:
    """What to write for a column that is dropped and need not be."""
    if column.asked and column.kind == "number":
        return "; to keep it in intervals, write role: quasi and add it to every `on`"
    if column.spoilt is None:
        return ""
    return f"; nearly all of them are {'dates' if column.spoilt.dates else 'numbers'}"


def _described(column: ColumnDraft, file: str | None) -> dict[str, object]:
    tree = None if column.taxonomy is None else column.taxonomy.to_tree()
    return _entry(column.attribute, file if file is not None else tree)


def _entry(attribute: Attribute, taxonomy: object = None) -> dict[str, object]:
    """An attribute as a recipe writes it."""
    entry: dict[str, object] = {"kind": kind_of(attribute), "role": attribute.role}
    if isinstance(attribute, Number):
        fields: dict[str, object] = {"range": attribute.range and list(attribute.range)}
        fields |= {"calendar": attribute.calendar, "dates": attribute.dates, "decimal": attribute.decimal}
        entry |= {name: value for name, value in fields.items() if value is not None}
    elif taxonomy is not None:
        entry["taxonomy"] = taxonomy
    if isinstance(attribute, ItemSet):
        entry["separator"] = attribute.separator
    if attribute.missing:
        entry["missing"] = list(attribute.missing)
    return entry


def _structure(draft: Draft) -> Iterator[str]:
    found = draft.plan
    if found.target is not None:
        yield from _comment(f"What must survive: what tells the classes of {scalar(found.target)} apart.", 0)
        yield f"structure: {inline({'classes': found.target})}"
        if found.dropped:
            yield f"missing: {inline({found.target: 'drop'})}  # rows without a class are left out"
    elif found.clusters:
        yield from _comment(" ".join(_clusters(found.compared)), 0)
        how: dict[str, object] = {"attributes": list(found.compared.attributes)} if found.compared.chosen else {}
        how |= {"weights": dict(found.compared.weights)} if found.compared.weights else {}
        yield f"structure: {inline({'clusters': 'kmeans', 'k': 'auto', **how})}"
    else:
        yield from _comment("No structure: so few rows that there are no groups to keep. Masking distorts little.", 0)


def _clusters(found: Compared) -> Iterator[str]:
    """What the lines about clusters mean, why columns are no part of it, and which settle clusters unmasked."""
    yield "What must survive: groups of similar rows, of 2 to 10 as many (`k`) as have the best silhouette."
    if found.masked_alone:
        yield (
            "Rows are compared by `attributes`, here what is masked: so many columns go out as they are that the "
            "groups would be found from those, which no masking can hurt."
        )
    elif found.as_is:
        told = (
            "by `attributes`"
            if found.chosen
            else "by all quasi and plain columns, unless `attributes: [...]` names some"
        )
        yield (
            f"Rows are compared {told}. Groups that are found from {named(found.as_is)}, which no masking can hurt, "
            "say nothing of it."
        )
    if found.many:
        yield (
            f"Not compared by, though masked or shown as said above: {named(found.many)}, of so many labels that the "
            "groups would be places or codes, not kinds of people."
        )
    if found.told:
        pairs = ", ".join(f"{scalar(name)} by {scalar(teller)}" for name, teller in found.told.items())
        yield f"Nor by what another column tells, or nearly, which would count twice: {pairs}."
    if found.weights:
        yield "`weights`: people are near each other in numbers; without these the groups would follow labels alone."


def _privacy(draft: Draft) -> Iterator[str]:
    found, quasi = draft.plan, list(draft.quasi)
    note = (
        f"Taken together the quasi columns make {share(draft.alone)} of the rows unique. Every combination that is "
        f"shown must be shared by {found.k} rows: 5 below 1,000 rows, 10 below 10,000, else 20."
    )
    yield from _comment(note, 0)
    if draft.alone_plain > 0:
        share_alone = f"with them {share(draft.alone_plain)} of the people are alone (asked below)"
        yield from _comment(
            f"That is all that is promised: the other columns go out as they are, and {share_alone}.", 0
        )
    if draft.rows < 5 * found.k:
        yield from _comment("WARNING: so few rows can hardly be blurred into groups; little will be shown.", 0)
    yield "privacy:"
    yield f"  - {inline({'k_anonymity': found.k, 'on': quasi})}"
    for bound in found.bounds:
        yield from _comment(f"Of {scalar(bound.column)} {bound.reason}.", 2)
        form = {bound.requirement: bound.figure, "on": quasi, "sensitive": bound.column}
        yield f"  - {inline(form | ({} if bound.value is None else {'value': bound.value}))}"


def _mask() -> Iterator[str]:
    yield f"mask: {MASKER}  # {MASKER_REASON}"
    yield f"# people: NAME  # {PEOPLE_REASON}"


def _questions(draft: Draft) -> Iterator[str]:
    yield "# Questions"
    for number, text in enumerate(questions(draft), 1):
        yield from _wrapped(text, f"# {number}. ", "#    ")


def _comment(text: str, indent: int) -> list[str]:
    lead = " " * indent + "# "
    return _wrapped(text, lead, lead)


def _wrapped(text: str, first: str, then: str) -> list[str]:
    return textwrap.wrap(
        text, _WIDTH, initial_indent=first, subsequent_indent=then, break_long_words=False, break_on_hyphens=False
    )
