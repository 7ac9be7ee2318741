"""For the holder: the part of a partitioned table that each raw row is led to, by the trees of cuts the holder keeps.

Parts that show labels of taxonomies overlap, so that what is released does not tell in which of them a raw row lies.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sfumato.events import watched
from sfumato.privacy.verify.explained.extents import NAME, text_of, texts
from sfumato.privacy.verify.explained.trees import TREE, agree, labels_below, tree_file
from sfumato.privacy.verify.fields import Form, field, forms, mapping, names, read_json
from sfumato.privacy.verify.intervals import SUPPRESSED, Place, bound_of, place_of
from sfumato.privacy.verify.spelling import Spelling
from sfumato.privacy.verify.values import spellings
from sfumato.privacy.verify.verdict import CheckError

if TYPE_CHECKING:
    import polars as pl

    from sfumato.privacy.verify.folder import Folder

Axes = Mapping[str, Form]
Sides = NDArray[np.int64]
NOWHERE = -1


@dataclass(frozen=True, eq=False)
class Shown:
    """What some parts show, column by column; and (rows,) which of them each raw row is led to."""

    texts: Sequence[tuple[str | None, ...]]
    of_row: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Kept:
    """What the holder keeps of a partitioned release."""

    folder: Path
    trees: Sequence[Form]
    spelling: Spelling

    def entries(self, release: Folder, name: str, axis: Form) -> dict[str, list[object]]:
        """What each text of a column stands for; of labels of a taxonomy those below it in the whole tree."""
        told = texts(axis, spelling=self.spelling)
        if axis.get("kind") != TREE:
            return told
        whole = read_json(self.folder / tree_file(name))
        if not agree(release.json(tree_file(name)), whole):
            raise CheckError(f"the holder's folder keeps another taxonomy of {name}")
        return {text: [text, *labels_below(whole, text)] for text in told}

    def shown(self, raw: pl.DataFrame, axes: Axes) -> Shown:
        """What every raw row shows of some columns that are cut together."""
        for tree in self.trees:
            if set(names(tree, "on")) == set(axes):
                columns = {name: _Column.of(raw[name], axes[name]) for name in axes}
                return _lead(forms(tree, "nodes"), columns, axes, spelling=self.spelling)
        raise CheckError("the holder's folder keeps the trees of another release")


def kept_by_holder(release: Path, *, spelling: Spelling) -> Kept | None:
    """What stands in the holder's folder beside a release; None where it cannot tell parts apart."""
    beside = release.resolve()
    folder = beside.with_name(f"{beside.name}.holder") / "whole"
    if not (folder / NAME).is_file():
        return None
    trees = forms(read_json(folder / NAME, formed=False), "trees")
    clustered = any("clusters" in node for tree in trees for node in forms(tree, "nodes"))
    return None if clustered else Kept(folder, trees, spelling)


@dataclass(frozen=True, eq=False)
class _Column:
    """A raw column: the number of each row's value, the values, and of numbers where they lie, missing ones last."""

    codes: NDArray[np.int64]
    values: Sequence[tuple[str | None, ...]]
    places: Sequence[Place]
    unit: str | None

    @classmethod
    def of(cls, column: pl.Series, axis: Form) -> _Column:
        different = column.unique(maintain_order=True)
        unit = field(axis, "calendar", str) if "calendar" in axis else None
        values = different.to_list()
        if axis.get("kind") != "number":
            codes = np.array(column.replace_strict(different, list(range(len(values)))).to_numpy(), dtype=np.int64)
            return cls(codes, [spellings(value) for value in values], (), unit)
        at = [place_of(value, dates=unit is not None) for value in values]
        places = sorted({place for place in at if place is not None})
        rank = {place: number for number, place in enumerate(places)}
        order = [len(places) if place is None else rank[place] for place in at]
        return cls(np.array(column.replace_strict(different, order).to_numpy(), dtype=np.int64), (), places, unit)

    def sides(self, node: Form) -> Sides:
        """(values,): to which side of a cut each value goes; -1 for neither."""
        if "labels" in node:
            parts = field(node, "labels", list)
            side = {label: at for at, part in enumerate(parts) for label in part}
            return np.array([next((side[text] for text in told if text in side), NOWHERE) for told in self.values])
        gone = len(self.places)
        if "at" not in node:
            return np.array([0] * gone + [1], dtype=np.int64)
        first = bisect_left(self.places, bound_of(node["at"], self.unit).at)
        lost = NOWHERE if node.get("missing") is None else node["missing"]
        return np.array([0] * first + [1] * (gone - first) + [lost], dtype=np.int64)


def _lead(nodes: Sequence[Form], columns: Mapping[str, _Column], axes: Axes, *, spelling: Spelling) -> Shown:
    """Every row from the first part down to one that is cut no further."""
    rows = len(next(iter(columns.values())).codes)
    leaf_of = np.full(rows, NOWHERE, dtype=np.int64)
    found: list[tuple[str | None, ...]] = []
    waiting: dict[int, NDArray[np.int64]] = {0: np.arange(rows)}
    for at, node in enumerate(watched(nodes)):
        inside = waiting.pop(at, np.zeros(0, dtype=np.int64))
        if "shown" in node:
            leaf_of[inside] = len(found)
            shown = mapping(node["shown"], "shown")
            found.append(tuple(_text(shown.get(name), axis, spelling=spelling) for name, axis in axes.items()))
            continue
        column = columns[field(node, "attribute", str)]
        way = column.sides(node)[column.codes[inside]]
        for side, below in enumerate(field(node, "below", list)):
            if not isinstance(below, int) or below <= at:
                raise CheckError("a part stands before those below it")
            waiting[below] = inside[way == side]
    if (leaf_of == NOWHERE).any():
        raise CheckError("a raw row lies in no group of the release")
    held = sorted(set(leaf_of.tolist()))
    return Shown([found[leaf] for leaf in held], np.searchsorted(held, leaf_of))


def _text(entry: object, axis: Form, *, spelling: Spelling) -> str | None:
    if entry is None or entry == SUPPRESSED:
        return None if entry is None else SUPPRESSED
    if not isinstance(entry, list):
        raise CheckError("what a part shows is a list")
    return text_of(axis, entry, spelling=spelling)
