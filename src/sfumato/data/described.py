"""Attributes as rows of a card: what each is, and what is declared of it. No value of a table stands there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sfumato.display import Grid

KINDS = {"Number": "number", "Category": "category", "ItemSet": "item set"}


def described(schema: Mapping[str, Any], reasons: Mapping[str, str] | None = None) -> Grid:
    """One row for each attribute: its kind, its role and what is declared of it; with reasons, why."""
    rows = [[name, _kind(one), one.role, _declared(one)] for name, one in schema.items()]
    if not reasons:
        return Grid(("attribute", "kind", "role", "declared"), rows)
    told = [[*row, reasons.get(str(row[0]), "")] for row in rows]
    return Grid(("attribute", "kind", "role", "declared", "why"), told)


def _kind(attribute: Any) -> str:
    unit = getattr(attribute, "calendar", None)
    return KINDS[type(attribute).__name__] if unit is None else f"date, by {unit}"


def _declared(attribute: Any) -> str:
    ends, labels = getattr(attribute, "range", None), getattr(attribute, "values", None)
    if attribute.taxonomy is not None:
        return f"taxonomy, {len(attribute.taxonomy.leaves):,} leaves"
    if ends is not None:
        cuts = getattr(attribute, "bins", None)
        return f"{ends[0]} to {ends[1]}" + ("" if cuts is None else f", {len(cuts) + 1} bins")
    return "" if labels is None else f"{len(labels):,} values"
