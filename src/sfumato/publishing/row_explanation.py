"""What a release shows of one row of the raw table, in which group, and why no finer. For the holder's eyes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa

from sfumato.data.reading import read
from sfumato.data.shown import braced
from sfumato.data.sources.openers import in_order
from sfumato.errors import ReleaseError, TableError, did_you_mean, visible
from sfumato.publishing import steps
from sfumato.publishing.case import Case, Run, Step, kept_rows
from sfumato.publishing.orders import FIND, READ, walk
from sfumato.recipe import Recipe
from sfumato.release.reading import read_recipe_of

ROW = (READ, FIND, Step("Masking again", steps.mask_again))
MISSING = "(missing)"


def explain_row(raw: object, release: str | Path, row: int, attribute: str | None = None) -> str:
    """The group that a row falls into, what it shows, and what stood in the way of showing it finer.

    `row`: its number in the raw table, the first being 1; a header is none.
    """
    recipe = read_recipe_of(release)
    raw = raw.read_all() if isinstance(raw, pa.RecordBatchReader) else raw  # it is gone through twice
    at = _place(raw, recipe, row)
    case = walk(ROW, Case(source=raw, recipe=recipe, run=Run(), release=Path(release)))
    masked, mask = case.outcome.masked, case.outcome.mask
    if not masked.row_by_row:
        given, remedy = "rows that were made of counts", "its README.md says how they were made"
        raise ReleaseError(str(release), "a row is explained where it is shown", given=given, remedy=remedy)
    if attribute is not None and attribute not in masked:
        raise ReleaseError(
            attribute,
            "only attributes in a requirement are masked",
            given=repr(attribute),
            remedy=did_you_mean(attribute, [*masked]),
        )
    names = [*masked] if attribute is None else [attribute]
    why = case.recipe.masker.explained_row(case.counting, mask, at)
    return "\n".join([*_groups(case, at, row), *(_line(case, name, at, why.get(name, "")) for name in names)])


def _place(raw: object, recipe: Recipe, row: int) -> int:
    """Where a row of the raw table stands among those that are published."""
    if not in_order(raw):
        given, remedy = "a database or Spark", "name the table as a file, or as a data frame"
        raise TableError("row", "a row has a number where rows have an order", given=given, remedy=remedy)
    kept = kept_rows(read(raw, recipe.schema, encoding=recipe.encoding), recipe)
    if not 1 <= row <= len(kept):
        rule, remedy = f"the raw table has rows 1 to {len(kept):,}", "give one of these; a header is no row"
        raise TableError("row", rule, given=str(row), remedy=remedy)
    if not kept[row - 1]:
        rule, remedy = "rows that miss what the recipe asks for were left out", "name another row"
        raise TableError("row", rule, given=f"row {row}, which is one of them", remedy=remedy)
    return int(np.count_nonzero(kept[: row - 1]))


def _groups(case: Case, at: int, row: int) -> Iterator[str]:
    """How many rows look like this one, for every set of columns that is asked about."""
    masked = case.outcome.masked
    for on in dict.fromkeys(need.on for need in case.recipe.privacy):
        size, own = masked.sizes(on), int(masked.groups(on)[at])
        yield visible(f"Row {row:,} is in a group of {size[own]:,} rows that look alike on {', '.join(on)}.")
    if masked.lifted is not None and masked.lifted[at]:
        yield "It was lifted: it shows nothing in any of them, so that others can be shown finer."


def _line(case: Case, name: str, at: int, why: str) -> str:
    """What a column shows of the row, and what stood in the way."""
    (cell,) = case.outcome.masked[name].take(np.array([at])).to_pylist()
    shown = MISSING if cell is None else braced([*map(str, cell)]) if isinstance(cell, list) else str(cell)
    return visible(f"  {name}: shown as {shown}. {why}".rstrip())
