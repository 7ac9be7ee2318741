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
from sfumato.data.axis import Axis, NumberAxis, TreeAxis
from sfumato.data.detail import Detail, Few, Wish, ends_of
from sfumato.data.schema import Attribute, Category, Schema
from sfumato.events import watched
from sfumato.maskers.detail.bands import Effort, Pieces, bands
from sfumato.maskers.detail.refusal import Unkept
from sfumato.maskers.topdown.candidates import Candidate, Histogram, make_grower, names
from sfumato.maskers.topdown.problem import Problem
from sfumato.maskers.topdown.refinement import Refinement, Round
from sfumato.maskers.topdown.scores import info_gain

MOST_ORDERS = 6
"""Orders of the wished numbers that are tried."""


@dataclass(frozen=True)
class Wished:
    """A refinement that a wish needs, and what it gains."""

    step: Refinement
    gain: float


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

    def refined(self, step: Refinement, size: int) -> Groups:
        """With one value replaced by its children; `size`: positions of its attribute."""
        if step.attribute not in self.need.on:
            return self
        child = np.full(size, len(step.parts), dtype=np.int64)
        for number, (first, end) in enumerate(step.parts):
            child[first:end] = number
        both = self.group * (len(step.parts) + 1) + child[self.positions(step.attribute)]
        return replace(self, group=np.unique(both, return_inverse=True)[1])

    def apart(self, attribute: int) -> Groups:
        """With every position of an attribute apart."""
        at = self.positions(attribute)
        return replace(self, group=np.unique(self.group * (int(at.max()) + 1) + at, return_inverse=True)[1])

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
    """The groups of every requirement, and the refinements that led to them."""

    groups: tuple[Groups, ...]
    steps: tuple[Wished, ...] = ()

    @classmethod
    def top(cls, problem: Problem) -> State:
        """The most masked state; earlier releases' groups are apart in it."""
        found = []
        for need, threshold in zip(problem.needs, problem.rules.thresholds, strict=True):
            tuples = problem.engine.tuples(problem.records, need)
            one = Groups(need, tuples, threshold, np.zeros(len(tuples), dtype=np.int64))
            for attribute in (a for a in need.on if a >= len(problem.axes)):
                one = one.apart(attribute)
            found.append(one)
        return cls(tuple(found))

    def refined(self, wished: Wished, size: int) -> State:
        """With one refinement more."""
        return State(tuple(one.refined(wished.step, size) for one in self.groups), (*self.steps, wished))

    @property
    def holds(self) -> bool:
        """Whether every requirement is kept."""
        return all(one.hold() for one in self.groups)


def wished_steps(problem: Problem, detail: Detail, schema: Schema) -> State:
    """The refinements that keep every wish; refused where none are found that keep the requirements, too."""
    asked = [(at, axis, detail[axis.name]) for at, axis in enumerate(problem.axes) if axis.name in detail]
    state = State.top(problem)
    for at, axis, wish in asked:
        if not isinstance(axis, NumberAxis):
            state = _labels(problem, state, at, wish, _every(axis, schema[axis.name]))
    numbers = [(at, axis, wish) for at, axis, wish in asked if isinstance(axis, NumberAxis)]
    for order in watched(list(islice(permutations(numbers), MOST_ORDERS))):
        try:
            found = state
            for at, axis, wish in order:
                found = _numbers(problem, found, at, axis, wish)
        except Unkept:
            continue
        if found.holds:
            return found
    raise Unkept


def rounds(problem: Problem, state: State) -> list[Round]:
    """What the wished refinements did, one after the other."""
    found: list[Round] = []
    now = State.top(problem)
    before = tuple(one.smallest for one in now.groups)
    for wished in watched(state.steps):
        step, axis = wished.step, problem.axes[wished.step.attribute]
        now = now.refined(wished, axis.size)
        left = tuple(one.smallest for one in now.groups)
        counting = problem.rules.counting_for(axis.name).tolist()
        loss = sum(before[at] - left[at] for at in counting) / len(counting)
        told = names(axis, step)
        found.append(
            Round(
                attribute=axis.name,
                value=told.value,
                children=told.children,
                score=0.0,
                gain=wished.gain,
                loss=loss,
                anonymity=left,
                wished=True,
            )
        )
        before = left
    return found


def _every(axis: Axis, attribute: Attribute) -> int:
    """How many labels there are, declared ones and a missing one among them: what `*` and the root stand for."""
    declared = attribute.values or () if isinstance(attribute, Category) else ()
    return axis.size if isinstance(axis, TreeAxis | NumberAxis) else len({*declared, *axis.labels}) + axis.missing


def _labels(problem: Problem, state: State, at: int, wish: Wish, every: int) -> State:
    """Refine values of a category that stand for too many labels, from the top."""
    axis = problem.axes[at]
    grower = make_grower(at, axis, problem.engine.histogram(problem.records, at), None)
    while True:
        coarse = [one for one in grower.candidates() if _labels_of(axis, one, every) > wish.most]
        if not coarse:
            return state
        for one in coarse if isinstance(axis, TreeAxis) else coarse[:1]:
            state = state.refined(Wished(one.refinement, one.gain), axis.size)
            if not all(groups.hold() for groups in state.groups if at in groups.need.on):
                raise Unkept
            grower.refine(one.refinement)


def _labels_of(axis: Axis, candidate: Candidate, every: int) -> int:
    """How many labels a value stands for."""
    node = candidate.refinement.value
    if not isinstance(axis, TreeAxis) or node == 0:
        return every
    return len(axis.taxonomy.leaves_of(axis.taxonomy.labels[node]))


def _numbers(problem: Problem, state: State, at: int, axis: NumberAxis, wish: Wish) -> State:
    """Cut a number into bands."""
    if isinstance(wish, Few):
        raise TypeError("labels are wished of a category")
    if wish.fits(*ends_of(axis.attribute)):
        return state
    histogram = problem.engine.histogram(problem.records, at)
    count = len(axis.numbers)
    if axis.missing:  # before they are apart, everybody is shown as *
        state = state.refined(_split(at, histogram, 0, count, axis.size), axis.size)
    pieces = Pieces.of(axis, histogram[:count].sum(axis=1), wish)
    lines = [_Along.of(one, at, pieces.starts, count) for one in state.groups if at in one.need.on]
    found = bands(pieces.line, lambda first, end: all(line.hold(first, end) for line in lines), Effort())
    if found is None:
        raise Unkept
    starts = [0, *(int(pieces.starts[end]) for end in found[:-1])]
    for first, second in pairwise(starts):
        state = state.refined(_split(at, histogram, first, second, count), axis.size)
    return state


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


def _split(attribute: int, histogram: Histogram, first: int, at: int, end: int) -> Wished:
    """An interval in two; whoever carries it out numbers them."""
    parts = ((first, at), (at, end))
    counted = np.array([histogram[low:high].sum(axis=0) for low, high in parts])
    return Wished(Refinement(attribute, 0, parts, (0, 0)), info_gain(counted))
