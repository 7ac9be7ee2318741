"""DPHeter: Algorithm 1 of 003, made sound as PAPERS.md 003-1 to 003-9 say.

Numbers are split at public bin edges; sets are refined into the combinations of a label's children with the empty ones
sampled, not skipped; utilities have the sensitivity that holds for labels of the raw table; leaf counts are whole
numbers and not negative; rows are generated from noisy counts and from nothing else.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.arrays import Ints
from sfumato.calls import constructed
from sfumato.data.masked import Masked
from sfumato.data.schema import Schema
from sfumato.data.taxonomy.taxonomy import Taxonomy
from sfumato.errors import RecipeError, quoted
from sfumato.events import checkpoint, watched
from sfumato.maskers.histogram.domains import (
    LABELS,
    MOST_ITEMS,
    Domain,
    ItemDomain,
    NumberDomain,
    declarations_of,
    declared,
)
from sfumato.maskers.histogram.fit import mechanisms_of, refuse_requirements
from sfumato.maskers.histogram.marginals import sensible
from sfumato.maskers.histogram.mask import GeneratedRows, NoisyHistogram, told_domains, told_parts
from sfumato.maskers.histogram.records import records_of
from sfumato.maskers.histogram.specialization import Shown, State, Value, divisible, gain, reach, top, whole
from sfumato.maskers.masker import DIFFERENTIAL_PRIVACY, Guarantee, Labels, Masker, Outcome, Task, within
from sfumato.privacy.budget import Budget, Share
from sfumato.privacy.mechanisms import Mechanisms, Question
from sfumato.privacy.requirements import Requirement

BINS = 64
MOST_PARTS = 20_000
"""A label or an interval is not specialized where that would make more parts: each costs noise and time."""
MOST_CHILDREN = 40
"""A label of a set-valued attribute with more children is not refined: it has too many combinations."""


MOST_THRESHOLD = 1_000.0
MOST_STEPS = 1_000
"""How many values may be asked to be specialized: each costs its part of epsilon."""


@constructed
@dataclass(frozen=True, kw_only=True)
class DPHeter(Masker):
    """Top-down specialization of 003 under a budget.

    - `steps`: how many values are specialized.
    - `threshold`: a combination of a set's labels stays if its noisy count is at least so many times the scale of its
      noise (line 10 of Algorithm 1 says 1). None: as many as let about one empty combination pass, which is more.
    - `items`: how many labels of a set-valued attribute are counted at the most; larger taxonomies are cut higher up.
    - `may_miss`: the attributes whose values may be missing.
    - `selection`: "private" chooses by information gain under epsilon, as the paper does; "random" chooses evenly at
      the same price: the baseline that shows what the paper's choice is worth.

    >>> DPHeter(steps=16).selection
    'private'
    """

    steps: int = 16
    threshold: float | None = None
    items: int = MOST_ITEMS
    may_miss: tuple[str, ...] = ()
    selection: Literal["private", "random"] = "private"
    guarantee: ClassVar[Guarantee] = DIFFERENTIAL_PRIVACY

    def __post_init__(self) -> None:
        object.__setattr__(self, "may_miss", tuple(self.may_miss))
        within("steps", self.steps, 1, MOST_STEPS, whole=True)
        within("items", self.items, 1, LABELS, whole=True)
        if self.threshold is not None:
            within("threshold", self.threshold, 0, MOST_THRESHOLD)
        if self.selection not in ("private", "random"):
            raise RecipeError(
                "selection",
                "values are chosen privately or at random",
                given=repr(self.selection),
                remedy="leave it out",
            )

    @property
    def declarations(self) -> Mapping[str, Any]:
        """Which values may be missing, and how many labels of sets are counted."""
        return declarations_of(self.may_miss, self.items)

    def check(self, schema: Schema, requirements: Sequence[Requirement]) -> None:
        """Declared domains for everything that is released; no requirements."""
        refuse_requirements(requirements)
        declared(schema, bins=BINS, may_miss=self.may_miss, items=self.items)

    def check_labels(self, most: int | None) -> None:
        """How many labels guide the choices is declared: their noise follows it, and the noise is public."""
        if most is None:
            raise RecipeError(
                "structure",
                "this masker's noise follows the number of labels, which is public",
                given="a structure whose number of labels the records decide",
                remedy="say for example clusters: kmeans, k: 6, or name a class column with declared values; or use "
                "mask: private_tree, which needs no labels",
            )

    def plan(self, schema: Schema, budget: Budget) -> tuple[Share, ...]:
        """What will be spent on what; a step that splits no number and no set leaves its second part to the counts."""
        price = self.price(schema, budget.epsilon)
        numbers = sum(
            isinstance(d, NumberDomain) for d in declared(schema, bins=BINS, may_miss=(), items=self.items).values()
        )
        half = budget.epsilon / 2
        return (
            Share("first splits of numbers", price * numbers),
            Share(f"{self.steps} choices of what to specialize", price * self.steps),
            Share("splits of numbers and combinations of sets", half - price * (numbers + self.steps)),
            Share("counts of the parts", half),
        )

    def price(self, schema: Schema, epsilon: Fraction) -> Fraction:
        """Epsilon of one step of the partition: Algorithm 1, line 3."""
        numbers = sum(
            isinstance(d, NumberDomain)
            for d in declared(schema, bins=BINS, may_miss=self.may_miss, items=self.items).values()
        )
        return epsilon / (2 * (numbers + 2 * self.steps))

    @staticmethod
    def read_mask(files: Mapping[str, Any]) -> GeneratedRows:
        """What a release tells of it."""
        return GeneratedRows("dp_heter", files["dp_heter.json"])

    def unguided(self) -> DPHeter:
        """Refused: every specialization is chosen by labels (003 section 4)."""
        raise RecipeError(
            "structure",
            "DPHeter is guided by the labels of a structure",
            given="none",
            remedy="name a structure, or use mask: private_tree",
        )

    def mask(self, task: Task) -> Outcome:
        """Specialize, count, and generate rows from the counts."""
        mechanisms = mechanisms_of(task)
        self.check_labels(task.labels.most)
        schema = task.table.schema
        domains = declared(schema, bins=BINS, may_miss=self.may_miss, items=self.items)
        state = State(records_of(task.table, domains), [n for n in domains if schema[n].role != "sensitive"])
        price = self.price(schema, mechanisms.spending.budget.epsilon)
        specializer = _Specializer(state, task.labels, mechanisms, price, self.selection == "random")
        specializer.threshold = self.threshold
        specializer.run(self.steps)
        return _outcome(state, domains, mechanisms)


class _Specializer:
    """Owns the state of the partition and the split of every interval that may be specialized.

    `most` is the declared number of classes, on which the noise is built; `n` are those that occur, which shows in
    scores alone.
    """

    def __init__(self, state: State, labels: Labels, mechanisms: Mechanisms, price: Fraction, random: bool) -> None:
        self.state, self.mechanisms, self.price, self.random = state, mechanisms, price, random
        if labels.most is None:
            raise TypeError("the number of labels is declared")
        self.most = labels.most
        # a clusterer may find more than it was asked for: the last class takes them, so that the bound of scores holds
        self.classes = np.minimum(labels.classes.astype(np.int64), self.most - 1)
        self.n = int(self.classes.max(initial=0)) + 1
        self.threshold: float | None = None
        self.edges: dict[Value, int] = {}
        self._utilities: dict[Value, float] = {}

    def run(self, steps: int) -> None:
        """Algorithm 1, lines 4 to 14."""
        for value in self.state.values():
            self._choose_edges([value])
        for _ in watched(range(steps)):
            offered = [value for value in self.state.values() if self._refinable(value)]
            if not offered:
                return
            at = self._choose("what to specialize", [self._utility(value) for value in offered], self.price)
            self._specialize(offered[at])

    def _choose(self, purpose: str, utilities: Sequence[float], price: Fraction) -> int:
        scores = [0] * len(utilities) if self.random else [whole(utility) for utility in utilities]
        question = Question(scores, reach(self.most))
        return self.mechanisms.choose(purpose, [question], epsilon=price, monotone=False)[0]

    def _refinable(self, value: Value) -> bool:
        domain = self.state.records.domains[value.attribute]
        kids = 2 if isinstance(value.shown, tuple) else len(_tree(domain).children(value.shown))
        if isinstance(domain, ItemDomain):
            return kids <= MOST_CHILDREN
        return self.state.parts + int(self.state.holding(value).sum()) * (kids - 1) <= MOST_PARTS

    def _choose_edges(self, values: Sequence[Value]) -> None:
        """Split values for new intervals, among their public edges (003 Eq. 5 and PAPERS.md, 003-1).

        Two halves of an interval hold different records, yet share the price: their labels come from one clustering,
        so one record can change the utilities of both.
        """
        fresh = [value for value in values if isinstance(value.shown, tuple) and value not in self.edges]
        for value in fresh:
            checkpoint()
            edges, utilities = self._edge_utilities(value)
            at = self._choose(f"where to split {quoted(value.attribute)}", utilities, self.price / len(fresh))
            self.edges[value] = edges[at]

    def _edge_utilities(self, value: Value) -> tuple[range, list[float]]:
        if not isinstance(value.shown, tuple):
            raise TypeError("only intervals have edges")
        first, end = value.shown
        counts = self._table(
            self.state.holders(value),
            self.state.records.cells[value.attribute],
            self.state.records.domains[value.attribute].size,
        )
        below = np.vstack([np.zeros((1, self.n), dtype=np.int64), counts.cumsum(axis=0)])
        edges = range(first + 1, end)
        return edges, [gain([below[edge] - below[first], below[end] - below[edge]]) for edge in edges]

    def _utility(self, value: Value) -> float:
        """003 Eq. 4, once when the value appears (line 14); pruning later takes records out of it unnoticed."""
        if value not in self._utilities:
            self._utilities[value] = self._gain(value)
        return self._utilities[value]

    def _gain(self, value: Value) -> float:
        checkpoint()
        holders, children = self.state.holders(value), self._children(value)
        keys = np.unique(children[holders])
        return gain(self._table(holders, np.searchsorted(keys, children), len(keys))) if len(keys) else 0.0

    def _children(self, value: Value) -> Ints:
        """(rows,): the child of each record; bins below and above the split of an interval, missing values apart."""
        children = self.state.children(value)
        if not isinstance(value.shown, tuple):
            return children
        domain = self.state.records.domains[value.attribute]
        halves = (children >= self.edges[value]).astype(np.int64)
        return np.where(children == domain.size - 1, 2, halves) if domain.missing else halves

    def _table(self, rows: NDArray[np.bool_], keys: Ints, n: int) -> NDArray[np.int64]:
        """(keys, classes): how many of the rows."""
        return np.bincount(keys[rows] * self.n + self.classes[rows], minlength=n * self.n).reshape(n, self.n)

    def _specialize(self, value: Value) -> None:
        domain = self.state.records.domains[value.attribute]
        children = self._children(value)
        parts = np.flatnonzero(self.state.holding(value)).tolist()
        if isinstance(domain, ItemDomain) and isinstance(value.shown, str):
            made = self._combinations(domain, value, children, parts)
        else:
            made = dict.fromkeys(parts, self._kids(domain, value))
        self.state.specialize(value.attribute, children, made)
        if isinstance(value.shown, tuple):
            edge = self.edges[value]
            halves = [Value(value.attribute, (value.shown[0], edge)), Value(value.attribute, (edge, value.shown[1]))]
            self._choose_edges([half for half in halves if divisible(domain, half.shown)])

    def _kids(self, domain: Domain, value: Value) -> list[tuple[int, Shown]]:
        """The children of an interval or of a label, and missing values where the whole domain is divided."""
        whole_domain = value.shown == top(domain)
        found: list[tuple[int, Shown]]
        if isinstance(value.shown, tuple):
            edge = self.edges[value]
            found = [(0, (value.shown[0], edge)), (1, (edge, value.shown[1]))]
        else:
            found = list(enumerate(_tree(domain).children(value.shown)))
        return [*found, (len(found), None)] if domain.missing and whole_domain else found

    def _combinations(
        self, domain: ItemDomain, value: Value, children: Ints, parts: Sequence[int]
    ) -> dict[int, list[tuple[int, Shown]]]:
        """Lines 8 to 10: the combinations of children whose noisy count passes, empty ones among them."""
        kids = domain.tree.children(str(value.shown))
        cells = 1 << len(kids)
        times = max(1.0, math.log(cells / 2)) if self.threshold is None else self.threshold
        least = max(1, math.ceil(times / self.price))
        filled, purpose = self._filled(children, parts), f"combinations of {quoted(value.attribute)}"
        passed = self.mechanisms.sparse_counts(purpose, filled, cells=cells, least=least, epsilon=self.price)
        known, shown = self.state.known[value.attribute], self.state.shown[value.attribute]
        return {
            part: [(child, _held(known[shown[part]], value, kids, child)) for child in sorted(found)]
            for part, found in zip(parts, passed, strict=True)
        }

    def _filled(self, children: Ints, parts: Sequence[int]) -> list[dict[int, int]]:
        """For each part the combinations that records have, and how many have each."""
        inside = self.state.part_of >= 0
        pairs, counts = np.unique(np.stack([self.state.part_of[inside], children[inside]]), axis=1, return_counts=True)
        found: dict[int, dict[int, int]] = {part: {} for part in parts}
        for part, child, count in zip(*pairs.tolist(), counts.tolist(), strict=True):
            if part in found:
                found[part][child] = count
        return list(found.values())


def _held(own: Shown, value: Value, kids: Sequence[str], child: int) -> Shown:
    """The labels of a part with one of them replaced by some of its children."""
    rest = own - {str(value.shown)} if isinstance(own, frozenset) else frozenset()
    return rest | {kid for place, kid in enumerate(kids) if child >> place & 1}


def _tree(domain: Domain) -> Taxonomy:
    if isinstance(domain, NumberDomain):
        raise TypeError("a number has no tree")
    return domain.tree


def _outcome(state: State, domains: Mapping[str, Domain], mechanisms: Mechanisms) -> Outcome:
    """Lines 15 to 19: noisy counts of the parts, and as many rows of what each shows."""
    if not state.parts:  # every combination was pruned: what is left is the most general row
        state = State(state.records, state.names)
        state.part_of = np.full(state.records.rows, -1, dtype=np.int64)
    part_of = state.part_of
    exact = np.bincount(part_of[part_of >= 0], minlength=state.parts)
    noisy = mechanisms.counts("counts of the parts", exact, epsilon=mechanisms.spending.left, parts=len(exact))
    rows = sensible(np.maximum(noisy, 0))
    at = np.repeat(np.arange(len(rows)), rows)
    columns = {name: _column(domain, state.known[name], state.shown[name][at]) for name, domain in domains.items()}
    plain = {name: [_plain(domain, value) for value in state.known[name]] for name, domain in domains.items()}
    shown = {name: [plain[name][place] for place in state.shown[name].tolist()] for name in domains}
    told = {"domains": told_domains(domains, "generalized", columns), **told_parts(rows.tolist(), shown)}
    mask = NoisyHistogram("dp_heter", "generalized", domains, tuple(rows.tolist()), told, part_of)
    return Outcome(mask, Masked.of(columns, word="generated", came="generated"))


def _column(domain: Domain, shown: Sequence[Shown], at: Ints) -> pa.Array[Any]:
    plain = [_plain(domain, value) for value in shown]
    if isinstance(domain, ItemDomain):
        return pa.array(plain, type=pa.large_list(pa.large_string())).take(at)
    return pa.array(plain, type=pa.string()).take(at).dictionary_encode()


def _plain(domain: Domain, shown: Shown) -> Any:
    """A shown value as it is written."""
    if isinstance(shown, tuple) and isinstance(domain, NumberDomain):
        return domain.label(*shown)
    return sorted(shown) if isinstance(shown, frozenset) else shown
