"""A draft as a recipe's text: one line a column with its reason, what is asked for, and questions at the end."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence

from sfumato.data.drafting.plan import MASKER, MASKER_REASON
from sfumato.data.drafting.proposal import ColumnDraft, Draft
from sfumato.data.schema import Category, ItemSet, Number
from sfumato.data.yaml_files import dump_yaml

_WIDTH = 110
_COLUMNS = 60
"""Above this many columns a question names only the first ones."""
ROLES = (
    "identifier: dropped. quasi: others can know it of a person, so it is masked. sensitive, plain: goes out as it is."
)


def recipe_text(
    draft: Draft, table_path: str, *, taxonomies: Mapping[str, str] | None = None, encoding: str | None = None
) -> str:
    """A recipe to read and change, with the reason of each guess in a comment.

    `taxonomies` names the file of a column's tree; other trees stand in the recipe itself. `encoding` is that of a CSV
    which is not UTF-8.
    """
    files = taxonomies or {}
    lines = [
        *_comment(
            "A draft: guesses from the data. Read the reasons, answer the questions at the end, then publish.", 0
        ),
        "sfumato: 1",
        f"table: {scalar(table_path)}",
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
    line = f"  {scalar(column.name)}: {_inline(_described(column, file))}"
    reason = told(column)
    if len(line) + len(reason) <= _WIDTH:
        yield f"{line}  # {reason}"
    else:
        yield from _comment(reason, 2)
        yield line


def told(column: ColumnDraft) -> str:
    """The reason of a guess in a few words, without anything that tells of single people."""
    if column.role == "identifier":
        return column.reason + ("; nearly all of them are numbers" if column.spoilt is not None else "")
    tree = ", grouped by their beginnings" if column.proposed is not None else ""
    return f"{column.reason}; {column.holds}{tree}"


def _described(column: ColumnDraft, file: str | None) -> dict[str, object]:
    attribute = column.attribute
    entry: dict[str, object] = {"kind": column.kind, "role": attribute.role}
    if isinstance(attribute, Number):
        fields: dict[str, object] = {"range": attribute.range and list(attribute.range)}
        fields |= {"calendar": attribute.calendar, "dates": attribute.dates, "decimal": attribute.decimal}
        entry |= {name: value for name, value in fields.items() if value is not None}
    elif file is not None:
        entry["taxonomy"] = file
    elif column.taxonomy is not None:
        entry["taxonomy"] = column.taxonomy.to_tree()
    if isinstance(attribute, ItemSet):
        entry["separator"] = attribute.separator
    if attribute.missing:
        entry["missing"] = list(attribute.missing)
    return entry


def share(part: float) -> str:
    """A share in steps of five per cent: exact ones would tell of single people.

    >>> share(0.0), share(0.004), share(0.52), share(0.999), share(1.0)
    ('none', 'under 5 %', 'about 50 %', 'over 95 %', 'all')
    """
    if part in (0.0, 1.0):
        return "all" if part else "none"
    if not 0.05 <= part <= 0.95:
        return "under 5 %" if part < 0.05 else "over 95 %"
    return f"about {round(part * 20) * 5} %"


def _structure(draft: Draft) -> Iterator[str]:
    found = draft.plan
    if found.target is not None:
        yield from _comment(f"What must survive: what tells the classes of {scalar(found.target)} apart.", 0)
        yield f"structure: {_inline({'classes': found.target})}"
        if found.dropped:
            yield f"missing: {_inline({found.target: 'drop'})}  # rows without a class are left out"
    elif found.clusters:
        yield from _comment("What must survive: groups of similar rows, their number by the best silhouette.", 0)
        yield "structure: {clusters: kmeans, k: auto}"
    else:
        yield from _comment("No structure: so few rows that there are no groups to keep. Masking distorts little.", 0)


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
    yield f"  - {_inline({'k_anonymity': found.k, 'on': quasi})}"
    for bound in found.bounds:
        yield from _comment(f"Of {scalar(bound.column)} {bound.reason}.", 2)
        form = {bound.requirement: bound.figure, "on": quasi, "sensitive": bound.column}
        yield f"  - {_inline(form | ({} if bound.value is None else {'value': bound.value}))}"


def _mask() -> Iterator[str]:
    yield f"mask: {MASKER}  # {MASKER_REASON}"


def _questions(draft: Draft) -> Iterator[str]:
    yield "# Questions"
    for number, text in enumerate(questions(draft), 1):
        yield from _wrapped(text, f"# {number}. ", "#    ")


def questions(draft: Draft) -> Iterator[str]:
    """What only the holder knows."""
    if several := one_row_one_person(draft):
        yield several
    plain = [c.name for c in draft.columns if c.role == "plain" and c.asked]
    if plain or draft.alone_plain > 0:
        plain = plain or list(draft.with_role("sensitive"))
        yield (
            f"Can somebody else know these of a person? {_named(plain)}. They go out as they are; so do the sensitive "
            f"ones, and with all of them {share(draft.alone_plain)} of the people are alone. For each that can be "
            "known, set role: quasi and add it to `on`."
        )
    yield f"Are these really known to others? {_named(draft.quasi)}. Each one less keeps more detail in the rest."
    if exact := [c.name for c in draft.columns if c.role == "identifier" and c.asked]:
        yield (
            f"Dropped, because rare or exact values find people: {_named(exact)}. Are they needed? Numbers and "
            "codes can be masked (role: quasi); what nobody else knows can go out as it is (role: sensitive, "
            "unique_ok: true)."
        )
    yield from _about_cells(draft)
    if secret := [c.name for c in draft.columns if c.role == "quasi" and c.reason.startswith("sensitive (")]:
        yield (
            f"Are these secrets? {_named(secret)}. Their values are so exact that they are masked, and nothing bounds "
            "what is learned of them. Rounded or in classes they could be sensitive instead, with a bound."
        )
    if draft.plan.unbounded:
        yield (
            f"How sure may one be of {_named(draft.plan.unbounded)}? Nothing bounds that yet: "
            "add {l_diversity: 2, on: [...], sensitive: NAME}, or make it plain."
        )
    yield (
        "Will more be released of these people? Then give them a name now, people: NAME: the ledger refuses a second "
        "release that does not tell of the first. Where the table will grow, write mask: top_down: later releases "
        "(earlier: {releases: [...], people: growing}) can be held beside no other."
    )
    if any(isinstance(c.attribute, Number) and c.role != "identifier" for c in draft.columns):
        yield "Ranges are rounded outwards from the data: are there publicly known ones?"
    if declared := [c for c in draft.columns if c.labels and isinstance(c.attribute, Category)]:
        lists = "; ".join(f"{scalar(c.name)} {_inline(list(c.labels))}" for c in declared)
        yield f"Under a budget (mask: private_tree) labels are declared, `values: [...]`. All that can occur? {lists}"


def _about_cells(draft: Draft) -> Iterator[str]:
    """How some cells are to be read."""
    spoilt = [c for c in draft.columns if c.spoilt is not None]
    if words := [c for c in spoilt if c.kind == "number"]:
        yield f"Do words among numbers mean missing, as they are taken for in `missing`? {_cells(words)}."
    if others := [c for c in spoilt if c.kind != "number"]:
        yield (
            f"Are these numbers? {_cells(others)}. Mend those cells; words that mean missing can be listed in "
            "`missing`. Where that leaves numbers, write kind: number, with decimal: comma for 3,5."
        )
    if same := [c for c in draft.columns if c.alike]:
        labels = ", ".join(f"{scalar(c.name)} ({c.alike:,})" for c in same)
        yield (
            f"Are these labels the same? Some differ by letters' case or spaces alone: {labels}. Each would be a value "
            "of its own: write them alike in the table."
        )
    if unsure := [c.name for c in draft.columns if "(or mdy?" in c.holds and c.role != "identifier"]:
        yield f"Do days stand before months (dmy) in {_named(unsure)}? No day is above 12."


def _cells(columns: Sequence[ColumnDraft]) -> str:
    return "; ".join(f"{scalar(column.name)}: {column.spoilt}" for column in columns)


def one_row_one_person(draft: Draft) -> str | None:
    """The first question, where a number of people comes again in other rows; None where none does."""
    repeated = [column for column in draft.columns if column.repeated]
    if not repeated:
        return None
    found = min(repeated, key=lambda column: column.distinct)
    k, most = draft.plan.k, found.rows_each
    return (
        f"Is one row one person? {draft.rows:,} rows have {found.distinct:,} different {scalar(found.name)}, one of "
        f"them in {most:,} rows; k counts rows, so that a group of {k} rows may be fewer people. Make one row a person "
        f"first, or multiply k by the most rows that a person has: {k} x {most:,} = {k * most:,}."
    )


def _named(names: tuple[str, ...] | list[str]) -> str:
    more = f" and {len(names) - _COLUMNS} more" if len(names) > _COLUMNS else ""
    return ", ".join(scalar(name) for name in names[:_COLUMNS]) + more


def _comment(text: str, indent: int) -> list[str]:
    lead = " " * indent + "# "
    return _wrapped(text, lead, lead)


def _wrapped(text: str, first: str, then: str) -> list[str]:
    return textwrap.wrap(
        text, _WIDTH, initial_indent=first, subsequent_indent=then, break_long_words=False, break_on_hyphens=False
    )


def _inline(value: object) -> str:
    return dump_yaml(value, default_flow_style=True, width=10**6).strip()


def scalar(text: str) -> str:
    """A text as YAML writes it."""
    return _inline([text])[1:-1]
