"""Wished: the refinements that must come first, so that everybody is shown as finely as the recipe wishes.

One cut holds for everybody. Of a taxonomy it is known which values are too coarse, and without one every label is to
be shown: `*` stands for all. Of numbers there is a choice: bands that are narrow enough and keep every requirement in
every group that the other wishes leave. Anonymity only falls: what breaks a requirement here never comes back.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import islice, pairwise, permutations

import numpy as np

from sfumato.arrays import Ints
from sfumato.counting import Needs, Tuples
from sfumato.data.axis import MISSING, NumberAxis, TreeAxis, ValueAxis
from sfumato.data.detail import Wish, ends_of
from sfumato.data.schema import Attribute, Category, Schema
from sfumato.data.taxonomy.intervals import Intervals
from sfumato.events import watched
from sfumato.maskers.detail.bands import Effort, Pieces, bands, too_many
from sfumato.maskers.detail.refusal import Unkept
from sfumato.maskers.topdown.candidates import Histogram, TreeGrower
from sfumato.maskers.topdown.growers import IntervalGrower, names
from sfumato.maskers.topdown.problem import Problem
from sfumato.maskers.topdown.refinement import Refinement, Round
from sfumato.maskers.topdown.scores import info_gain

MOST_ORDERS = 6
"""Orders of the wished numbers that are tried."""


@dataclass(frozen=True, eq=False)
class Chosen:
    """The refinements of one attribute that its wish needs; `value_at` (positions,): what each position then holds."""

    attribute: int
    steps: tuple[Refinement, ...]
    value_at: Ints


@dataclass(frozen=True, eq=False)
class Groups:
    """What one requirement counts: `group` (tuples,) of each tuple, in a state of refinement."""

    need: Needs
    tuples: Tuples
    threshold: float
    group: Ints

    @property
    def counts(self) -> Ints:
        """(tuples,): how many records, or people, each stands for."""
        return self.tuples.counts if len(self.tuples.counts) else np.ones(len(self.tuples), dtype=np.int64)

    def positions(self, attribute: int) -> Ints:
        """(tuples,): where each stands on an attribute."""
        return self.tuples.columns[self.need.on.index(attribute)].astype(np.int64)

    def refined(self, attribute: int, value_at: Ints) -> Groups:
        """With the positions of an attribute, of which there was one value, held by these."""
        if attribute not in self.need.on:
            return self
        values = value_at[self.positions(attribute)]
        return replace(self, group=np.unique(self.group * (int(values.max()) + 1) + values, return_inverse=True)[1])

    def hold(self, some: Ints | slice = slice(None)) -> bool:
        """Whether all groups of some tuples keep the requirement."""
        group, counts = self.group[some], self.counts[some]
        if self.need.measure is None or self.tuples.codes is None:
            sizes = np.bincount(group, weights=counts)
            return not len(sizes) or bool(sizes[sizes > 0].min() >= self.threshold)
        different, at = np.unique(group, return_inverse=True)
        keys = at * self.tuples.values + self.tuples.codes[some]
        table = np.bincount(keys, weights=counts, minlength=len(different) * self.tuples.values)
        held = table.reshape(len(different), self.tuples.values).astype(np.int64)
        return not len(held) or bool((self.need.measure(held) >= self.threshold).all())

    @property
    def smallest(self) -> int:
        """Records of the smallest group; people of a population are none."""
        counts = self.counts
        if self.need.population is not None and self.tuples.codes is not None:
            counts = np.where(self.tuples.codes == 0, counts, 0)
        sizes = np.bincount(self.group, weights=counts)
        return int(sizes[sizes > 0].min())


@dataclass(frozen=True, eq=False)
class State:
    """The groups of every requirement, and what was chosen to get there."""

    groups: tuple[Groups, ...]
    chosen: tuple[Chosen, ...] = ()

    @classmethod
    def top(cls, problem: Problem) -> State:
        """The most masked state; earlier releases' groups are apart in it."""
        found = []
        for need, threshold in zip(problem.needs, problem.rules.thresholds, strict=True):
            tuples = problem.engine.tuples(problem.records, need)
            one = Groups(need, tuples, threshold, np.zeros(len(tuples), dtype=np.int64))
            for attribute in (a for a in need.on if a >= len(problem.axes)):
                one = one.refined(attribute, np.arange(problem.records.sizes[attribute]))
            found.append(one)
        return cls(tuple(found))

    def refined(self, chosen: Chosen) -> State:
        """With one attribute more as it is wished; refused where a requirement is broken by it."""
        groups = tuple(one.refined(chosen.attribute, chosen.value_at) for one in self.groups)
        if not all(one.hold() for one in groups if chosen.attribute in one.need.on):
            raise Unkept
        return State(groups, (*self.chosen, chosen))

    @property
    def steps(self) -> list[Refinement]:
        """All refinements."""
        return [step for one in self.chosen for step in one.steps]


def wished_state(problem: Problem, schema: Schema) -> State:
    """What keeps every wish; refused where nothing was found that keeps the requirements, too."""
    detail = problem.rules.detail
    state = State.top(problem)
    numbers: list[tuple[int, NumberAxis]] = []
    for at, axis in ((at, axis) for at, axis in enumerate(problem.axes) if axis.name in detail):
        if isinstance(axis, NumberAxis) and axis.attribute.intervals is not None:
            state = state.refined(_narrowed(problem, at, axis, axis.attribute.intervals))
        elif isinstance(axis, NumberAxis):
            numbers.append((at, axis))
        elif isinstance(axis, TreeAxis):
            state = state.refined(_cut(problem, at, axis, detail[axis.name]))
        elif isinstance(axis, ValueAxis) and _labels(axis, schema[axis.name]) > detail[axis.name].most:
            state = state.refined(_disclosed(problem, at, axis))
    for order in watched(list(islice(permutations(numbers), MOST_ORDERS))):
        try:
            found = state
            for at, axis in order:
                found = _banded(problem, found, at, axis)
        except Unkept:
            continue
        return found
    raise Unkept


def rounds(problem: Problem, state: State) -> list[Round]:
    """What was done for the wishes, attribute by attribute, as if it were one refinement each."""
    found: list[Round] = []
    now = State.top(problem)
    before = tuple(one.smallest for one in now.groups)
    for one in (one for one in state.chosen if one.steps):
        now, axis = now.refined(one), problem.axes[one.attribute]
        left = tuple(groups.smallest for groups in now.groups)
        counting = problem.rules.counting_for(axis.name).tolist()
        first = names(axis, one.steps[0])
        found.append(
            Round(
                attribute=axis.name,
                value=first.value,
                children=_children(problem, one),
                score=0.0,
                gain=_gain(problem.engine.histogram(problem.records, one.attribute), one.value_at),
                loss=sum(before[at] - left[at] for at in counting) / len(counting),
                anonymity=left,
                wished=True,
            )
        )
        before = left
    return found


def _children(problem: Problem, chosen: Chosen) -> tuple[str, ...]:
    """What is shown of an attribute after its refinements."""
    axis = problem.axes[chosen.attribute]
    if isinstance(axis, ValueAxis):
        return (*axis.labels, *([MISSING] if axis.missing else []))
    shown: list[str] = []
    for told in (names(axis, step) for step in chosen.steps):
        at = shown.index(told.value) if told.value in shown else len(shown)
        shown[at : at + 1] = told.children
    return tuple(shown)


def _gain(histogram: Histogram, value_at: Ints) -> float:
    """What is told of the classes by values (positions,) in the place of one for all."""
    children = np.zeros((int(value_at.max()) + 1, histogram.shape[1]), dtype=np.int64)
    np.add.at(children, value_at, histogram)
    return info_gain(children)


def _labels(axis: ValueAxis, attribute: Attribute) -> int:
    """How many labels there are, declared ones and a missing one among them: what `*` stands for."""
    declared = attribute.values or () if isinstance(attribute, Category) else ()
    return len({*declared, *axis.labels}) + axis.missing


def _disclosed(problem: Problem, at: int, axis: ValueAxis) -> Chosen:
    """Every label that somebody has is shown; the last one of all is, when all others are."""
    held = np.flatnonzero(problem.engine.histogram(problem.records, at).any(axis=1))
    shown = held[:-1] if len(held) == axis.size else held
    steps = tuple(Refinement(at, 0, ((p, p + 1),), (p + 1,), rest=True) for p in shown.tolist())
    value_at = np.zeros(axis.size, dtype=np.int64)
    value_at[held] = held + 1
    return Chosen(at, steps, value_at)


def _cut(problem: Problem, at: int, axis: TreeAxis, wish: Wish) -> Chosen:
    """Nodes of a taxonomy that have too many leaves become their children, from the root on."""
    grower = TreeGrower(at, axis, problem.engine.histogram(problem.records, at))
    steps: list[Refinement] = []
    value_at = np.zeros(axis.size, dtype=np.int64)
    while coarse := [one.refinement for one in grower.candidates() if _leaves(axis, one.refinement) > wish.most]:
        for step in coarse:
            grower.refine(step)
            steps.append(step)
            for (first, end), child in zip(step.parts, step.children, strict=True):
                value_at[first:end] = child
    return Chosen(at, tuple(steps), value_at)


def _narrowed(problem: Problem, at: int, axis: NumberAxis, tree: Intervals) -> Chosen:
    """Intervals of a given tree that are too wide become those below them, from the root on."""
    grower = IntervalGrower(at, axis, problem.engine.histogram(problem.records, at), tree)
    steps: list[Refinement] = []
    value_at = np.zeros(axis.size, dtype=np.int64)
    while wide := [one.refinement for one in grower.candidates() if _too_wide(axis, tree, one.refinement)]:
        for step in wide:
            grower.refine(step)
            steps.append(step)
            for (first, end), child in zip(step.parts, step.children, strict=True):
                value_at[first:end] = child
    return Chosen(at, tuple(steps), value_at)


def _too_wide(axis: NumberAxis, tree: Intervals, step: Refinement) -> bool:
    node = max(step.value - axis.missing, 0)
    return axis.wish is not None and not axis.wish.fits(*tree.spans[node])


def _leaves(axis: TreeAxis, step: Refinement) -> int:
    """How many labels a node stands for; the root for missing ones, too."""
    leaves = len(axis.taxonomy.leaves_of(axis.taxonomy.labels[step.value]))
    return leaves + (step.value == 0 and axis.missing)


def _banded(problem: Problem, state: State, at: int, axis: NumberAxis) -> State:
    """Cut a number into bands."""
    wish = axis.wish
    if wish is None or wish.fits(*ends_of(axis.attribute)):
        return state
    count = len(axis.numbers)
    held = problem.engine.histogram(problem.records, at)[:count].sum(axis=1)
    counted = [int(one.threshold) for one in state.groups if at in one.need.on and one.need.measure is None]
    least = max(counted, default=1)
    if too_many(axis, wish, int(held.sum()), least):
        raise Unkept
    pieces = Pieces.of(axis, held, wish, least=least)
    lines = [_Along.of(one, at, pieces.starts, count) for one in state.groups if at in one.need.on]
    found = bands(pieces.line, lambda first, end: all(line.hold(first, end) for line in lines), Effort())
    if found is None:
        raise Unkept
    starts = [0, *(int(pieces.starts[end]) for end in found[:-1])]
    value_at = np.searchsorted(starts, np.arange(axis.size), side="right")
    value_at[count:] = len(starts) + 1  # missing numbers, which are apart before any interval is
    # whoever carries a step out numbers its values
    apart = [Refinement(at, 0, ((0, count), (count, axis.size)), (0, 0))] if axis.missing else []
    splits = [Refinement(at, 0, ((first, second), (second, count)), (0, 0)) for first, second in pairwise(starts)]
    return state.refined(Chosen(at, (*apart, *splits), value_at))


@dataclass(frozen=True, eq=False)
class _Along:
    """The tuples of one requirement in the order of a number: `ends` (pieces + 1,) are where each piece begins."""

    groups: Groups
    order: Ints
    ends: Ints

    @classmethod
    def of(cls, groups: Groups, attribute: int, starts: Ints, count: int) -> _Along:
        at = groups.positions(attribute)
        order = np.argsort(at, kind="stable")
        return cls(groups, order, np.searchsorted(at[order], [*starts.tolist(), count]))

    def hold(self, first: int, end: int) -> bool:
        """Whether the groups of some pieces together keep the requirement."""
        return self.groups.hold(self.order[self.ends[first] : self.ends[end]])
