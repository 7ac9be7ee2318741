"""Set-valued quasi-identifiers: refining a label sends each record to one combination of its children (003, Example 2).

A set attribute is laid out on several axes, one for each inner label that somebody has items under: its positions are
the combinations of children that occur, the first one for sets without any. Refining the label sets all positions of
its axis apart, and records without the label stay together. A first axis tells sets that have items from empty and
missing ones, where there are such. A label may be refined when its parent has been.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from sfumato.arrays import Ints
from sfumato.counting import Positions
from sfumato.data.schema import ItemSet
from sfumato.data.table import ItemColumn, narrow
from sfumato.data.taxonomy.taxonomy import Taxonomy
from sfumato.errors import SchemaError
from sfumato.events import watched
from sfumato.maskers.recoding.rules import Generalize
from sfumato.maskers.recoding.set_rules import GeneralizeSets
from sfumato.maskers.topdown.candidates import Candidate, Histogram, counted
from sfumato.maskers.topdown.refinement import Refinement

THERE = -1
"""In the place of a label: whether there is a set with items at all."""
MOST_COMBINATIONS = 60_000
"""Of the children of one label; more than that are never shown, as no group of them would be large."""
_STATES = ("items", "no item", "missing")


@dataclass(frozen=True, eq=False)
class SetAxis:
    """One label of an item set's taxonomy, or whether there are items (`THERE`).

    `combinations`: by position the children that a set has items under; none for sets without the label.
    """

    name: str
    attribute: ItemSet
    tree: Taxonomy
    node: int
    combinations: tuple[tuple[str, ...], ...]

    @property
    def size(self) -> int:
        """Number of positions."""
        return len(self.combinations)

    @property
    def label(self) -> str:
        """What is refined."""
        return self.tree.labels[max(self.node, 0)]


@dataclass(frozen=True, eq=False)
class LaidOut:
    """The axes of one attribute with the positions of the rows on each."""

    axes: tuple[SetAxis, ...]
    positions: tuple[Positions, ...]


def lay_out_sets(name: str, attribute: ItemSet, column: ItemColumn) -> LaidOut:
    """An axis for each inner label that somebody has items under, parents first."""
    tree = attribute.taxonomy
    if tree is None or not len(column.values):
        raise SchemaError(
            name,
            "a set-valued quasi-identifier has items, and a taxonomy over them",
            given="no taxonomy" if tree is None else "no item in any set",
            remedy="declare taxonomy: FILE, or give it another role",
        )
    held = _held(tree, column)
    axes: list[SetAxis] = []
    positions: list[Positions] = []
    states = _states(column)
    if states.any():
        axes.append(SetAxis(name, attribute, tree, THERE, tuple((state,) for state in _STATES)))
        positions.append(narrow(states, len(_STATES)))
    for node, label in watched(list(enumerate(tree.labels))):
        below = [at for at, parent in enumerate(tree.parents) if parent == node]
        if below and held[:, node].any():
            found = _combined(name, label, held[:, below])
            named = tuple(tuple(tree.labels[below[at]] for at in np.flatnonzero(row)) for row in found.combinations)
            axes.append(SetAxis(name, attribute, tree, node, named))
            positions.append(narrow(found.of_set[column.sets.codes], len(named)))
    return LaidOut(tuple(axes), tuple(positions))


def _states(column: ItemColumn) -> NDArray[np.int64]:
    """(rows,): 0 with items, 1 empty, 2 missing."""
    empty = np.diff(column.offsets) == 0
    return np.where(column.missing_rows, 2, np.where(empty, 1, 0)).astype(np.int64)


def _held(tree: Taxonomy, column: ItemColumn) -> NDArray[np.bool_]:
    """(sets, nodes): the labels that each different set has items under."""
    at = {label: node for node, label in enumerate(tree.labels)}
    above = np.zeros((len(column.items), len(tree.labels)), dtype=bool)
    for item, label in enumerate(column.items):
        above[item, [at[label], *(at[one] for one in tree.ancestors(label))]] = True
    sets = column.sets
    found = np.zeros((len(sets.missing), len(tree.labels)), dtype=bool)
    for one, (first, end) in enumerate(zip(sets.offsets[:-1], sets.offsets[1:], strict=True)):
        found[one] = above[sets.items[first:end]].any(axis=0)
    return found


@dataclass(frozen=True, eq=False)
class _Combined:
    """Different rows of marks, that of nothing first if it occurs, and which of them each set has."""

    combinations: NDArray[np.bool_]
    of_set: Ints


def _combined(name: str, label: str, marks: NDArray[np.bool_]) -> _Combined:
    different, of_set = np.unique(marks, axis=0, return_inverse=True)  # nothing at all sorts first
    if len(different) > MOST_COMBINATIONS:
        raise SchemaError(
            name,
            f"the labels below one label occur in at most {MOST_COMBINATIONS:,} combinations",
            given=f"more below {label!r}",
            remedy="put labels between it and the items",
        )
    return _Combined(different, np.asarray(of_set, dtype=np.int64).ravel())


@dataclass(eq=False)
class SetCut:
    """Owns the cut of one set attribute, which the growers of all its axes share."""

    tree: Taxonomy
    apart: bool
    cut: set[int] = field(default_factory=lambda: {0})
    blocked: set[int] = field(default_factory=set)

    def offers(self, node: int) -> bool:
        """Whether a label may be refined now."""
        if node in self.blocked:
            return False
        return not self.apart if node == THERE else self.apart and node in self.cut

    def refine(self, node: int) -> None:
        """Replace a label by its children; or show which sets are empty or missing."""
        if node == THERE:
            self.apart = True
            return
        self.cut.remove(node)
        self.cut.update(at for at, parent in enumerate(self.tree.parents) if parent == node)

    def rule(self, attribute: ItemSet) -> GeneralizeSets:
        """What is shown in the end."""
        labels = tuple(self.tree.labels[node] for node in sorted(self.cut))
        return GeneralizeSets(Generalize(self.tree, labels), self.apart, attribute.separator)


class SetGrower:
    """Owns the refinement of one label of a set attribute."""

    def __init__(self, attribute: int, axis: SetAxis, histogram: Histogram, cut: SetCut) -> None:
        self._axis, self.cut = axis, cut
        parts = tuple((at, at + 1) for at in range(axis.size))
        step = Refinement(attribute, 0, parts, tuple(range(1, axis.size + 1)))
        held = [at for at, combination in enumerate(axis.combinations) if combination]
        self._candidate = counted(step, histogram[held], [_fall(axis)] * len(held))

    def candidates(self) -> list[Candidate]:
        """The label, when it stands in the cut."""
        return [self._candidate] if self.cut.offers(self._axis.node) else []

    def refine(self, step: Refinement) -> None:
        """Show which of its children each set has."""
        self.cut.refine(self._axis.node)

    def drop(self, refinement: Refinement) -> None:
        """The label stays as it is."""
        self.cut.blocked.add(self._axis.node)

    def same(self, step: Refinement) -> Refinement:
        """Positions are the same in every search."""
        return step


def _fall(axis: SetAxis) -> float:
    """By how much less of all items a shown label covers, once its children stand in its place: on average."""
    if axis.node == THERE:
        return 1.0
    leaves, below = len(axis.tree.leaves_of(axis.label)), len(axis.tree.children(axis.label))
    return (leaves - leaves / max(below, 1)) / len(axis.tree.leaves)


def set_cuts(axes: Sequence[object]) -> dict[str, SetCut]:
    """A cut for each set attribute: at the root, with empty and missing sets apart if there are none."""
    found: dict[str, SetCut] = {}
    for axis in axes:
        if isinstance(axis, SetAxis) and axis.name not in found:
            found[axis.name] = SetCut(axis.tree, apart=axis.node != THERE)
    return found
