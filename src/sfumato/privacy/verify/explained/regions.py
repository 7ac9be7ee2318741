"""regions.json: a tree of cuts. What a region shows follows from the cuts on the way to it, and is computed again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from sfumato.events import checkpoint
from sfumato.privacy.verify.fields import Form, ascending, exact_keys, field, forms, mapping, one_of
from sfumato.privacy.verify.intervals import SUPPRESSED, Bound, bound_of, labels, range_of
from sfumato.privacy.verify.spelling import NOW, Spelling
from sfumato.privacy.verify.verdict import CheckError

Class = tuple[str | None, ...]
Label = tuple[str, str | None]
"""A column, and what it shows."""
NAME = "regions.json"


class Extent(Protocol):
    """What is left of a column on the way to a region."""

    @property
    def label(self) -> str | None:
        """What a region shows that is cut no further."""

    def cut(self, node: Form) -> Sequence[Extent]:
        """The parts that a cut makes."""


@dataclass(frozen=True)
class Numbers:
    """An interval between two cuts, or the ends of the range; `missing`: with missing values, without, or only."""

    ends: tuple[Bound, Bound] | None
    calendar: str | None
    missing: str
    low: Bound | None = None
    high: Bound | None = None
    spelling: Spelling = NOW

    @property
    def label(self) -> str | None:
        """An interval; `*` while missing values are among it."""
        if self.missing == "only":
            return None
        if self.missing == "among":
            return SUPPRESSED
        breaks = [bound for bound in (self.low, self.high) if bound is not None]
        return labels(self.ends, breaks, self.calendar, spelling=self.spelling)[0 if self.low is None else 1]

    def cut(self, node: Form) -> Sequence[Extent]:
        """Missing values are set apart first; then a number divides what lies below it from what does not."""
        if one_of(node, "cut", ("missing", "below")) == "missing":
            exact_keys(node, ["attribute", "cut", "below"], "a cut")
            if self.missing != "among":
                raise CheckError("missing values are set apart where none are")
            return replace(self, missing="none"), replace(self, missing="only")
        exact_keys(node, ["attribute", "cut", "at", "below"], "a cut")
        at = bound_of(node["at"], self.calendar)
        below, above = (self.ends or (None, None))[0] if self.low is None else self.low, self.high
        inside = (below is None or below.at < at.at) and (above is None or at.at < above.at)
        if self.missing != "none" or not inside or not _in_range(at, self.ends):
            raise CheckError("a number cuts what it does not lie in")
        return replace(self, high=at), replace(self, low=at)


def _in_range(at: Bound, ends: tuple[Bound, Bound] | None) -> bool:
    return ends is None or at.at <= (ends[1].at[0], ends[1].at[1] + "~")  # an end such as 1990 covers all of 1990


@dataclass(frozen=True)
class Tree:
    """A label of a taxonomy, at first its root; `name` is empty where no region shows it: nothing tells what it is."""

    name: tuple[str | None, ...]
    whole: bool = True

    @property
    def label(self) -> str | None:
        """Its name."""
        if not self.name:
            raise CheckError("a region shows a label that has no name")
        return self.name[0]

    def cut(self, node: Form) -> Sequence[Extent]:
        """Into labels below it, each a part of its own; missing values stand below the root."""
        parts = [tuple(part) for part in _parts(node)]
        ends = self.name == (None,) or (self.name and self.name in parts)
        if ends or any(len(part) > 1 for part in parts) or ((None,) in parts and not self.whole):
            raise CheckError("a label of a taxonomy is cut into labels below it, each a part of its own")
        return [Tree(part, False) for part in parts]


@dataclass(frozen=True)
class Set:
    """Some labels without a taxonomy; None for all of them, which are known by the first cut."""

    members: frozenset[str | None] | None = None
    spelling: Spelling = NOW

    @property
    def label(self) -> str | None:
        """`*` for all of them, a label alone, or the labels in braces; None for missing."""
        if self.members is None:
            return SUPPRESSED
        names = sorted(name for name in self.members if name is not None)
        return self.spelling.set_text(names, gone=None in self.members) if names else None

    def cut(self, node: Form) -> Sequence[Extent]:
        """In two."""
        parts = _parts(node)
        for part in parts:
            ascending(part, "a cut")
        every = [label for part in parts for label in part]
        kept = self.members is None or set(every) == self.members
        if len(parts) != 2 or not all(parts) or len(set(every)) != len(every) or not kept:
            raise CheckError("labels are cut in two, each of them into one part")
        if parts != sorted(parts, key=lambda part: [_letters(label) for label in part]):
            raise CheckError("the parts of a cut stand in the order of their labels")
        return [replace(self, members=frozenset(part)) for part in parts]


def _letters(label: str | None) -> tuple[bool, str]:
    return label is None, label or ""


def _parts(node: Form) -> list[list[str | None]]:
    exact_keys(node, ["attribute", "cut", "labels", "below"], "a cut")
    one_of(node, "cut", ("labels",))
    parts = [part for part in field(node, "labels", list) if isinstance(part, list)]
    if len(parts) != len(field(node, "labels", list)):
        raise CheckError("the parts of a cut are lists of labels")
    if any(label is not None and not isinstance(label, str) for part in parts for label in part):
        raise CheckError("the parts of a cut are lists of labels")
    return parts


def _whole(axis: Form, *, spelling: Spelling) -> Extent:
    """All of a column."""
    kind = one_of(axis, "kind", ("number", "tree", "labels"))
    if kind == "labels":
        exact_keys(axis, ["kind"], "a column")
        return Set(spelling=spelling)
    if kind == "tree":
        exact_keys(axis, ["kind", "root"], "a column")
        return Tree(() if axis["root"] is None else (field(axis, "root", str),))
    exact_keys(axis, ["kind", "range", "missing", *(["calendar"] if "calendar" in axis else [])], "a column")
    unit = field(axis, "calendar", str) if "calendar" in axis else None
    missing = "among" if field(axis, "missing", bool) else "none"
    return Numbers(range_of(axis.get("range"), unit), unit, missing, spelling=spelling)


def members(form: Form, name: str, spelling: Spelling) -> dict[str, frozenset[str | None]]:
    """Of a column of labels without a taxonomy, which of them each shown text stands for; all of them for `*`.

    Where the column is never cut, nobody tells which labels there are.
    """
    axis = mapping(mapping(form.get("attributes"), "attributes").get(name), name)
    if axis.get("kind") != "labels":
        return {}
    cuts = [_parts(node) for node in forms(form, "nodes") if node.get("attribute") == name]
    sets = [Set(frozenset(part), spelling) for parts in cuts for part in parts]
    every = frozenset(label for parts in cuts[:1] for part in parts for label in part)
    return {str(one.label): one.members or frozenset() for one in sets} | ({SUPPRESSED: every} if cuts else {})


def read_regions(form: Form, masked: Sequence[str], *, spelling: Spelling) -> list[Class]:
    """What each region shows, in the order of the columns; computed from the cuts, and as the file says."""
    exact_keys(form, ["attributes", "nodes"], NAME)
    attributes = mapping(form["attributes"], "attributes")
    exact_keys(attributes, masked, NAME)
    whole = {name: _whole(mapping(attributes[name], name), spelling=spelling) for name in masked}
    return _Walk(forms(form, "nodes"), whole).regions()


class _Walk:
    """Owns the nodes, and visits each after those above it."""

    def __init__(self, nodes: Sequence[Form], top: Mapping[str, Extent]) -> None:
        self._nodes, self._top = nodes, top
        self._every: dict[str, frozenset[str | None]] = {}
        self._leaf: dict[int, Mapping[str, str | None]] = {}

    def regions(self) -> list[Class]:
        """What each leaf shows; nodes are numbered in the order in which they are visited."""
        waiting: list[tuple[object, Mapping[str, Extent]]] = [(0, self._top)]
        count = 0
        while waiting:
            checkpoint()
            number, extents = waiting.pop()
            if number != count or isinstance(number, bool) or count >= len(self._nodes):
                raise CheckError(f"the nodes of {NAME} are no tree, or stand in another order")
            node = self._nodes[count]
            count += 1
            if "shown" in node:
                self._leaf[count - 1] = self._shown(node, extents)
            else:
                waiting += reversed(self._below(node, extents))
        if count != len(self._nodes):
            raise CheckError(f"the nodes of {NAME} are no tree")
        self._check_labels()
        return [tuple(shown.values()) for shown in self._leaf.values()]

    def _shown(self, node: Form, extents: Mapping[str, Extent]) -> Mapping[str, str | None]:
        exact_keys(node, ["shown"], "a region")
        found = {name: extent.label for name, extent in extents.items()}
        shown = mapping(node["shown"], "shown")
        if list(shown.items()) != list(found.items()):
            raise CheckError("a region shows something else than the cuts above it make of it")
        return found

    def _below(self, node: Form, extents: Mapping[str, Extent]) -> list[tuple[object, Mapping[str, Extent]]]:
        name = one_of(node, "attribute", tuple(extents))
        before = extents[name]
        parts = before.cut(node)
        below: list[object] = field(node, "below", list)
        empty = [child for child in below if child is None]
        may_be_empty = node.get("cut") == "missing" and len(empty) < 2
        if len(below) != len(parts) or not parts or (empty and not may_be_empty):
            raise CheckError("a cut has not one node for every part")
        if isinstance(before, Set) and before.members is None:
            self._same_labels(name, parts)
        return [(child, {**extents, name: part}) for child, part in zip(below, parts, strict=True) if child is not None]

    def _same_labels(self, name: str, parts: Sequence[Extent]) -> None:
        """Wherever all labels of a column are cut for the first time, they are the same ones."""
        every = frozenset(label for part in parts if isinstance(part, Set) for label in part.members or ())
        if self._every.setdefault(name, every) != every:
            raise CheckError("two cuts disagree on which labels there are")

    def _check_labels(self) -> None:
        """Labels of a taxonomy have a name where some region shows them, and only there; in the order of their letters.

        One without a name stands where the first label would that a region below it shows.
        """
        every = {pair for shown in self._leaf.values() for pair in shown.items()}
        for name, extent in self._top.items():
            if isinstance(extent, Tree) and extent.name and (name, extent.name[0]) not in every:
                raise CheckError("the root of a taxonomy has a name, and no region shows it")
        shown: dict[int, set[Label]] = {}
        first: dict[int, dict[str, str]] = {}  # of each column the first label that a region below shows
        for number in range(len(self._nodes) - 1, -1, -1):
            if number in self._leaf:
                shown[number] = set(self._leaf[number].items())
                first[number] = {name: label for name, label in self._leaf[number].items() if label is not None}
                continue
            node = self._nodes[number]
            below = [child for child in field(node, "below", list) if isinstance(child, int)]
            if isinstance(self._top[str(node["attribute"])], Tree):
                _check_cut(node, [shown[child] for child in below], [first[child] for child in below], every)
            first[number] = _least([first.pop(child) for child in below])
            sets = sorted((shown.pop(child) for child in below), key=len)
            sets[-1].update(*sets[:-1])  # the largest takes the others in, so that a tall tree is no trouble
            shown[number] = sets[-1]


def _check_cut(node: Form, below: Sequence[set[Label]], first: Sequence[Mapping[str, str]], every: set[Label]) -> None:
    name, parts = str(node["attribute"]), _parts(node)
    if any((name, label) not in every for part in parts for label in part):
        raise CheckError("a cut names a label that no region shows")
    if len(parts) == 1 and (not parts[0] or (name, parts[0][0]) not in below[0]):
        raise CheckError("a cut has one part, whose label no region below it shows")
    ascending([part[0] if part else at.get(name, "") for part, at in zip(parts, first, strict=True)], "a cut")


def _least(first: Sequence[Mapping[str, str]]) -> dict[str, str]:
    found: dict[str, str] = {}
    for one in first:
        for name, label in one.items():
            found[name] = min(found.get(name, label), label)
    return found
