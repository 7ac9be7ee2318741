"""A drafted recipe as YAML: every guess with its reason in a comment above it."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping
from shlex import quote
from typing import TYPE_CHECKING

from sfumato.data.schema import ItemSet, Number
from sfumato.data.yaml_files import dump_yaml

if TYPE_CHECKING:
    from sfumato.data.draft import ColumnDraft, Draft

_K = 10
_CLUSTERS = 6
_WIDTH = 100


def recipe_text(draft: Draft, table_path: str, *, taxonomies: Mapping[str, str], encoding: str | None = None) -> str:
    """The whole recipe."""
    lines = [
        *_comment("A draft: guesses from the data, to be read and changed before anything is published.", 0),
        "sfumato: 1",
        f"table: {_scalar(table_path)}",
        *([f"encoding: {_scalar(encoding)}"] if encoding else []),
        "attributes:",
    ]
    for column in draft.columns:
        lines += _attribute(column, table_path, taxonomies.get(column.name))
    lines += ["", *_structure(), *_privacy(draft), *_mask()]
    return "\n".join(lines) + "\n"


def _attribute(column: ColumnDraft, table_path: str, file: str | None) -> Iterator[str]:
    yield from _comment(f"{_scalar(column.name)}: {column.reason}. {_figures(column)}", 2)
    for warning in column.warnings:
        yield from _comment(f"WARNING: {warning}.", 2)
    if column.attribute.missing:
        texts = ", ".join(map(_scalar, column.attribute.missing))
        yield from _comment(f"Taken for missing: {texts}. Remove from `missing` what is a value of its own.", 2)
    if isinstance(column.attribute, Number) and column.attribute.range is not None:
        yield from _comment("The range is taken from the data: replace it by the one that is publicly known.", 2)
    if file is None and column.proposed is not None:
        names = " ".join(map(quote, (table_path, column.name, "--output", f"{column.name}.yaml")))
        yield from _comment("Without a taxonomy values are kept or suppressed. To draft one, and then name it here:", 2)
        yield f"  #   sfumato taxonomy draft {names}"
    yield f"  {_scalar(column.name)}: {_inline(_described(column, file))}"


def _described(column: ColumnDraft, file: str | None) -> dict[str, object]:
    attribute = column.attribute
    entry: dict[str, object] = {"kind": column.kind, "role": attribute.role}
    if isinstance(attribute, Number):
        if attribute.range is not None:
            entry["range"] = list(attribute.range)
        if attribute.calendar is not None:
            entry["calendar"] = attribute.calendar
    elif file is not None:
        entry["taxonomy"] = file
    if isinstance(attribute, ItemSet):
        entry["separator"] = attribute.separator
    if attribute.missing:
        entry["missing"] = list(attribute.missing)
    return entry


def _figures(column: ColumnDraft) -> str:
    values = "1 value" if column.distinct == 1 else f"{column.distinct:,} values"
    return f"{values}; rows with a value of their own: {_share(column.unique_share)}."


def _share(share: float) -> str:
    """A share in steps of five per cent: exact ones would tell of single people.

    >>> _share(0.0), _share(0.004), _share(0.52), _share(0.999), _share(1.0)
    ('none', 'under 5 %', 'about 50 %', 'over 95 %', 'all')
    """
    if share in (0.0, 1.0):
        return "all" if share else "none"
    if not 0.05 <= share <= 0.95:
        return "under 5 %" if share < 0.05 else "over 95 %"
    return f"about {round(share * 20) * 5} %"


def _structure() -> Iterator[str]:
    note = (
        "The structure that must survive: groups of similar rows, found in the raw table. "
        "If a column says the group, write {classes: COLUMN} and give it the role sensitive or plain."
    )
    yield from _comment(note, 0)
    yield f"structure: {{clusters: kmeans, k: {_CLUSTERS}, seed: 0}}"


def _privacy(draft: Draft) -> Iterator[str]:
    if not draft.quasi:
        yield from _comment("No column was guessed to be known to others, so nothing is required. Is that so?", 0)
        yield "privacy: []"
        return
    note = (
        f"Taken together, the quasi columns make {_share(draft.alone)} of the rows unique. "
        f"Each combination that is shown must be shared by {_K} rows. Several smaller lists keep more "
        "detail, if nobody knows all of these columns of one person."
    )
    yield from _comment(note, 0)
    if draft.rows < 5 * _K:
        yield from _comment(f"WARNING: so few rows can hardly be blurred into groups of {_K}.", 0)
    yield "privacy:"
    yield f"  - {_inline({'k_anonymity': _K, 'on': list(draft.quasi)})}"


def _mask() -> Iterator[str]:
    yield from _comment(
        "How: start with everything blurred, then refine where structure gains most and privacy allows.", 0
    )
    yield "mask: {top_down: {score: tradeoff}}"


def _comment(text: str, indent: int) -> list[str]:
    lead = " " * indent + "# "
    return textwrap.wrap(
        text,
        _WIDTH,
        initial_indent=lead,
        subsequent_indent=lead,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _inline(value: object) -> str:
    return dump_yaml(value, default_flow_style=True, width=10**6).strip()


def _scalar(text: str) -> str:
    return _inline([text])[1:-1]
