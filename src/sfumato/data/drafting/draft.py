"""A proposed recipe for a table: what each column may be, and why. A suggestion, never run by itself."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from sfumato.data.domain import texts_of
from sfumato.data.drafting.guess import DIGITS, Guess, guess, is_icd
from sfumato.data.drafting.placeholders import placeholders
from sfumato.data.drafting.plan import plan
from sfumato.data.drafting.profile import Profile, profile, share_alone
from sfumato.data.drafting.proposal import ColumnDraft, Draft
from sfumato.data.drafting.roles import Given, Looked, class_column, give_roles, with_role
from sfumato.data.drafting.shapes import rounded_range
from sfumato.data.drafting.spoilt import FEW_OF_ONE, spoilt
from sfumato.data.drafting.words import CODED, is_quantity, says
from sfumato.data.lookalikes import spelt_alike
from sfumato.data.reading import AS_TEXT, UNREAD
from sfumato.data.schema import Attribute, Category, ItemSet, Number
from sfumato.data.table import RowPlace, row_place
from sfumato.data.taxonomy.draft import TaxonomyDraft, Way, propose_taxonomy
from sfumato.errors import TableError, did_you_mean

_HYPHEN = re.compile(r"(?<=[^\W\d_])-(?=[^\W\d_])")
_MOST_LEAVES = 5000  # above this a drafted tree is too big to look at
_FEWEST_CODES = 8  # fewer codes need no groups
_MOST_LABELS = 8  # of a column whose labels are listed
_MIDDLE, _STRETCHED, _FEWEST_CLIPPED = (
    0.99,
    10,
    200,
)  # of the numbers; a range to that; numbers of which 1 % is something
_MOST_LOOKED_AT = 5000  # of a column whose labels are compared


def draft(table: pa.Table, *, called: str = "table", place: RowPlace | None = row_place) -> Draft:
    """Look at every column of a table and propose what it is.

    `called` is its name in messages; `place` tells where a row stands, and is None where rows have no order.

    >>> found = draft(
    ...     pa.table({"ssn": ["1-2", "3-4", "5-6"] * 9, "age": [30, 40, 50] * 9, "disease": ["flu", "gout", "flu"] * 9})
    ... )
    >>> [(column.name, column.kind, column.role) for column in found.columns]
    [('ssn', 'category', 'identifier'), ('age', 'number', 'quasi'), ('disease', 'category', 'sensitive')]
    """
    if not table.num_columns or table.num_rows < 2:
        raise TableError(
            called,
            "a table to draft for must have columns and at least two rows",
            given="an empty one" if not table.num_rows else "less",
            remedy="give a full one",
        )
    columns = _marked_alike(table, [_look(table, name, place) for name in table.column_names])
    target = class_column(columns)
    given = give_roles(table, columns, target)
    if not any(one.role == "quasi" for one in given.values()):
        raise TableError(
            called,
            "a table to draft for must have a column that can be masked",
            given="columns with one value each, or of types that cannot be",
            remedy="give a table in which people differ",
        )
    made = tuple(_column(table, column, given[column.name]) for column in columns)
    shown = [column.name for column in made if column.role in ("plain", "sensitive")]
    quasi = [column.name for column in made if column.role == "quasi"]
    return Draft(
        columns=made,
        rows=table.num_rows,
        alone=share_alone(table, quasi),
        alone_plain=share_alone(table, shown),
        plan=plan(table, columns, given, target),
    )


def _look(table: pa.Table, name: str, place: RowPlace | None) -> Looked:
    """One column; a few words among numbers are taken for missing ones."""
    column, said = table.column(name), table.schema.field(name).metadata or {}
    seen = profile(name, column)
    if UNREAD in said:
        return Looked(seen, Guess(Category(), "not read", f"it is not read: {said[UNREAD].decode()}", unread=True))
    if AS_TEXT in said and _is_digits(seen):
        seen = profile(name, column, missing=seen.marks, read=False)
        made = guess(seen)
        return Looked(seen, made if says(name, CODED) else replace(made, reason=DIGITS))
    odd = spoilt(seen, column, place=place)
    if odd is not None and odd.marks:
        seen = profile(name, column, missing=odd.marks)
    made = guess(seen)
    if odd is not None and odd.marks and isinstance(made.attribute, Number):
        made = replace(made, reason=f"{made.reason}, but for {odd.cells:,} cells, which are taken for missing")
    elif isinstance(made.attribute, Number) and made.attribute.missing:
        made = replace(made, reason=f"{made.reason}, but for what is listed as missing")
    return Looked(seen, made, odd, _alike(name, column) if seen.family == "text" else 0)


def _marked_alike(table: pa.Table, columns: Sequence[Looked]) -> list[Looked]:
    """What means missing among the numbers and dates of a table means that in a few cells of its labels, too."""
    numbers = [column for column in columns if isinstance(column.made.attribute, Number)]
    words = {mark for column in numbers for mark in column.profile.marks if not any(map(str.isdigit, mark))}
    return [_marked(table, column, words) if words else column for column in columns]


def _marked(table: pa.Table, column: Looked, words: set[str]) -> Looked:
    seen = column.profile
    if seen.family != "text" or column.made.unread or column.made.dropped is not None:
        return column
    held = {str(value): count for value, count in zip(seen.values.to_pylist(), seen.counts, strict=True)}
    found = [word for word in words if held.get(word, 0)]
    if not found or sum(held[word] for word in found) >= FEW_OF_ONE * sum(seen.counts):
        return column
    seen = profile(seen.name, table.column(seen.name), missing=[*seen.marks, *found], read=False)
    return replace(column, profile=seen, made=guess(seen))


def _is_digits(seen: Profile) -> bool:
    """Whether a column that a database holds as text was read as whole numbers, and its name does not say an amount."""
    return seen.family == "number" and seen.whole and seen.decimal is None and not is_quantity(seen.name)


def _alike(name: str, column: pa.ChunkedArray[Any]) -> int:
    """How many labels of a column of few look like another one, hyphens between words aside."""
    labels = profile(name, column, read=False)
    if labels.distinct > _MOST_LOOKED_AT:
        return 0
    spaced = Counter(_HYPHEN.sub(" ", text) for text in labels.texts)
    return sum(map(len, spelt_alike(labels.texts))) or sum(count for count in spaced.values() if count > 1)


def _column(table: pa.Table, column: Looked, given: Given) -> ColumnDraft:
    seen = column.profile
    attribute = with_role(column.made, given.role).attribute
    kept = given.role == "identifier" and isinstance(attribute, Number)
    few = isinstance(attribute, Category) and given.role != "identifier" and seen.distinct <= _MOST_LABELS
    proposed = _proposed(table, seen, attribute)
    return ColumnDraft(
        name=column.name,
        attribute=attribute,
        reason=given.reason,
        holds=column.made.reason,
        asked=given.asked,
        distinct=seen.distinct,
        unique_share=seen.unique_share,
        labels=tuple(sorted(texts_of(seen.values))) if few else (),
        spoilt=None if column.made.numbered or kept else column.spoilt,
        unread=column.made.unread,
        clip=None if given.role == "identifier" else _clip(seen, attribute),
        placeholders=None if given.role == "identifier" else placeholders(seen, table.column(column.name), attribute),
        alike=column.alike if isinstance(attribute, Category) and given.role != "identifier" else 0,
        rows_each=max(seen.counts, default=0) if column.made.numbered else 0,
        shared=sum(count > 1 for count in seen.counts) if column.made.numbered else 0,
        proposed=proposed,
        treeless=_treeless(seen, attribute, proposed),
    )


def _clip(seen: Profile, attribute: Attribute) -> tuple[float, float] | None:
    """Round ends around the middle 99 % of a column's numbers, where a few others stretch its range far beyond."""
    if not isinstance(attribute, Number) or attribute.calendar is not None or attribute.range is None:
        return None
    low, high = seen.middle(_MIDDLE)
    if sum(seen.counts) < _FEWEST_CLIPPED or not low < high:
        return None
    drafted = float(attribute.range[1]) - float(attribute.range[0])
    return rounded_range(low, high) if drafted > _STRETCHED * (high - low) else None


def _proposed(table: pa.Table, seen: Profile, attribute: Attribute) -> TaxonomyDraft | None:
    """A tree for a quasi column of codes: those that begin alike stand together, which is what codes mean.

    It holds no more than the codes and their beginnings, and goes out pruned to what the table shows.
    """
    if not _may_have_tree(seen, attribute) or not _FEWEST_CODES <= seen.distinct <= _MOST_LEAVES:
        return None
    counted = _counted(table, profile(seen.name, table.column(seen.name), missing=seen.marks, read=False), attribute)
    found = propose_taxonomy(counted, counts=list(counted.values()), coded=True)
    if found.way != "prefix" or found.taxonomy.levels < 3:
        return None
    return replace(found, taxonomy=replace(found.taxonomy, draft=False))


def _may_have_tree(seen: Profile, attribute: Attribute) -> bool:
    """Whether it is a quasi column of codes."""
    coded = says(seen.name, CODED) is not None or is_icd(seen)
    return coded and attribute.role == "quasi" and isinstance(attribute, Category)


def _treeless(seen: Profile, attribute: Attribute, proposed: TaxonomyDraft | None) -> str:
    """Why codes that others know are in no tree; nothing of other columns, and of few codes, which need none."""
    if proposed is not None or not _may_have_tree(seen, attribute) or seen.distinct < _FEWEST_CODES:
        return ""
    if seen.distinct > _MOST_LEAVES:
        return f"of more than {_MOST_LEAVES:,} codes none is drafted"
    return "the codes are of more than three lengths, or no form is that of nearly all of them, or few begin alike"


def propose_for(table: pa.Table, name: str, *, kind: Way | None = None, missing: Sequence[str] = ()) -> TaxonomyDraft:
    """A proposed taxonomy for one column, whatever its role: over the items if it holds lists of them.

    Texts that usually mean missing are left out, and those in `missing`.
    """
    seen = _profiled(table, name, missing)
    counted = _counted(table, seen, _attribute(table, name, missing))
    coded = says(name, CODED) is not None
    return propose_taxonomy(counted, counts=list(counted.values()), kind=kind, coded=coded)


def column_values(table: pa.Table, name: str, *, missing: Sequence[str] = ()) -> list[object]:
    """The different values of one column, or the different items if it holds lists of them.

    Texts that usually mean missing are left out, and those in `missing`.
    """
    seen = _profiled(table, name, missing)
    attribute = _attribute(table, name, missing)
    return [*_items(table, seen, attribute)] if isinstance(attribute, ItemSet) else seen.values.to_pylist()


def missing_texts(table: pa.Table, name: str, *, missing: Sequence[str] = ()) -> tuple[str, ...]:
    """The texts in one column that are taken for missing."""
    return _profiled(table, name, missing).marks


def _profiled(table: pa.Table, name: str, missing: Sequence[str]) -> Profile:
    """One column with its texts as they are."""
    if name in table.column_names:
        return profile(name, table.column(name), missing=missing, read=False)
    raise TableError(
        "table",
        "this is no column of the table",
        given=repr(name),
        remedy=did_you_mean(name, table.column_names),
    )


def _attribute(table: pa.Table, name: str, missing: Sequence[str]) -> Attribute:
    return guess(profile(name, table.column(name), missing=missing)).attribute


def _counted(table: pa.Table, seen: Profile, attribute: Attribute) -> dict[Any, int]:
    if isinstance(attribute, ItemSet):
        return _items(table, seen, attribute)
    return dict(zip(seen.values.cast(pa.string()).to_pylist(), seen.counts, strict=True))


def _items(table: pa.Table, seen: Profile, attribute: ItemSet) -> dict[Any, int]:
    column: Any = table.column(seen.name)
    if seen.family != "list":
        column = pc.split_pattern(column.cast(pa.string()), attribute.separator)
    if seen.marks:
        column = pa.array([items for items in column.to_pylist() if items not in [[mark] for mark in seen.marks]])
    counted: Any = pc.value_counts(pc.list_flatten(column).drop_null().cast(pa.string()))
    return dict(zip(counted.field("values").to_pylist(), counted.field("counts").to_pylist(), strict=True))
