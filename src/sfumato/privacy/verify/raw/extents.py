"""For the holder: what each raw row shows in a partitioned table, found by what partition.json tells and nothing else.

The groups of one tree have nothing in common, however their texts overlap: a raw row lies in one of them, and shows
what that one shows. The release does not tell its trees; they are what its claims connect. Groups that show labels of
taxonomies do overlap: which of them a raw row lies in is told by the tree of cuts that the holder keeps.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sfumato.events import watched
from sfumato.privacy.verify.explained.extents import EXTENT, NAME, texts
from sfumato.privacy.verify.fields import Form, field, mapping, names
from sfumato.privacy.verify.intervals import SUPPRESSED, bound_of, inside, place_of, range_of
from sfumato.privacy.verify.raw.trees import Shown, kept_by_holder
from sfumato.privacy.verify.values import spellings
from sfumato.privacy.verify.verdict import CheckError

if TYPE_CHECKING:
    import polars as pl

    from sfumato.privacy.verify.folder import Folder

NOBODY = -1
Entries = Mapping[str, list[object]]


def within(release: Folder, raw: pl.DataFrame) -> dict[str, pl.Series]:
    """By column of extents: what each raw row shows. A row that lies in no group, or in two, is told; of groups which
    overlap, and of which the holder's folder does not tell them apart, nothing is said."""
    import polars as pl

    masked = [column.name for column in release.certificate.columns if column.masked == EXTENT]
    found: dict[str, pl.Series] = {}
    spelling = release.certificate.spelling
    kept = kept_by_holder(release.path, spelling=spelling) if masked and "apart" in release.json(NAME) else None
    if not masked or ("apart" in release.json(NAME) and kept is None):
        return found
    attributes = mapping(release.json(NAME).get("attributes"), "attributes")
    for on in _connected(masked, [*release.certificate.claims, *release.certificate.covered]):
        if release.certificate.labels in on:
            continue  # groups were cut by it as well, and no raw row has it
        groups = release.table.select(pl.col(on).cast(pl.String)).unique(maintain_order=True)
        axes = {name: mapping(attributes.get(name), name) for name in on}
        told = {
            name: texts(axis, spelling=spelling) if kept is None else kept.entries(release, name, axis)
            for name, axis in axes.items()
        }
        columns = [_covering(raw[name], groups[name], axes[name], told[name]) for name in on]
        at = _group_of(columns, raw.height) if kept is None else _led(columns, groups, kept.shown(raw, axes))
        found |= {name: groups[name].gather(pl.Series(at)) for name in on}
    return found


def _led(columns: Sequence[_Covering], groups: pl.DataFrame, shown: Shown) -> NDArray[np.int64]:
    """(rows,): the group that each raw row is led to; what it shows must cover the row."""
    number = {group: at for at, group in enumerate(groups.rows())}
    if not all(texts in number for texts in shown.texts):
        raise CheckError("a raw row lies in no group of the release")
    found = np.array([number[texts] for texts in shown.texts], dtype=np.int64)[shown.of_row]
    if not all(column.covers[column.text_of[found], column.value_of].all() for column in columns):
        raise CheckError("a raw row lies outside of what its group shows")
    return found


def _connected(masked: Sequence[str], claims: Sequence[Form]) -> list[list[str]]:
    """The masked columns in parts: those that claims name together, through others or directly."""
    parts = [{name} for name in masked]
    for claim in claims:
        on = set(names(claim, "on")) & set(masked)
        near = [part for part in parts if part & on]
        parts = [part for part in parts if not part & on] + ([set().union(*near)] if near else [])
    return [[name for name in masked if name in part] for part in parts]


@dataclass(frozen=True, eq=False)
class _Covering:
    """One column: (texts, values) which values each text covers; the text of each group, the value of each raw row."""

    covers: NDArray[np.bool_]
    text_of: NDArray[np.int64]
    value_of: NDArray[np.int64]


def _covering(column: pl.Series, shown: pl.Series, axis: Form, told: Entries) -> _Covering:
    different = shown.unique(maintain_order=True).to_list()
    if any(text not in told for text in different if text not in (None, SUPPRESSED)):
        raise CheckError(f"{column.name} shows a text that {NAME} does not tell")
    values = column.unique(maintain_order=True)
    try:
        codes, covers = (
            _intervals(values.to_list(), different, told, axis)
            if axis.get("kind") == "number"
            else _sets(values.to_list(), different, told)
        )
    except CheckError as error:
        raise CheckError(f"{column.name}: {error}") from None
    place = {text: at for at, text in enumerate(different)}
    text_of = np.array([place[text] for text in shown.to_list()], dtype=np.int64)
    return _Covering(covers, text_of, np.array(column.replace_strict(values, codes).to_numpy(), dtype=np.int64))


def _intervals(
    values: Sequence[object], different: Sequence[str | None], told: Entries, axis: Form
) -> tuple[list[int], NDArray[np.bool_]]:
    """Numbers by how many ends of intervals are not above them; missing ones come last."""
    unit = field(axis, "calendar", str) if "calendar" in axis else None
    limits = range_of(axis.get("range"), unit)
    ends = {text: [None if end is None else bound_of(end, unit) for end in entry[:2]] for text, entry in told.items()}
    places = sorted({end.at for pair in ends.values() for end in pair if end is not None})
    rank = {at: number for number, at in enumerate(places, start=1)}
    gone = len(places) + 1
    found = [place_of(value, dates=unit is not None) for value in values]
    if not all(at is None or inside(at, limits) for at in found):
        raise CheckError("a raw value lies outside the range that is told")
    codes = [gone if at is None else bisect_right(places, at) for at in found]
    covers = np.zeros((len(different), gone + 1), dtype=np.bool_)
    for number, text in enumerate(different):
        if text is None or text == SUPPRESSED:
            covers[number, gone if text is None else 0 :] = True
            continue
        low, high = ends[text]
        covers[number, 0 if low is None else rank[low.at] : gone if high is None else rank[high.at]] = True
        covers[number, gone] = len(told[text]) > 2
    return codes, covers


def _sets(
    values: Sequence[object], different: Sequence[str | None], told: Entries
) -> tuple[list[int], NDArray[np.bool_]]:
    """Labels one by one, missing among them."""
    labels = [spellings(value) for value in values]
    covers = np.zeros((len(different), len(labels)), dtype=np.bool_)
    for number, text in enumerate(different):
        held = {None} if text is None else set(told.get(text, ()))
        covers[number] = [text == SUPPRESSED or not held.isdisjoint(label) for label in labels]
    return list(range(len(labels))), covers


def _group_of(columns: Sequence[_Covering], rows: int) -> NDArray[np.int64]:
    """(rows,): the group that each raw row lies in. Rows are looked for by the column that shows most texts first."""
    first, *others = sorted(columns, key=lambda column: -len(column.covers))
    found = np.full(rows, NOBODY, dtype=np.int64)
    order = np.argsort(first.text_of, kind="stable")
    starts = np.searchsorted(first.text_of[order], np.arange(len(first.covers) + 1))
    for text in watched(range(len(first.covers))):
        near = np.flatnonzero(first.covers[text][first.value_of])
        for group in order[starts[text] : starts[text + 1]]:
            inside = near
            for column in others:
                inside = inside[column.covers[column.text_of[group]][column.value_of[inside]]]
            if (found[inside] != NOBODY).any():
                raise CheckError("a raw row lies in two groups of the release")
            found[inside] = group
    if (found == NOBODY).any():
        raise CheckError("a raw row lies in no group of the release")
    return found
