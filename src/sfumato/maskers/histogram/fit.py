"""PrivateTree: a shallow tree of public splits, noisy marginals in its parts, and rows drawn from them.

PAPERS.md, 003-13, with two changes that keep more at the same epsilon: all parts share the splits, and the first of
them are chosen together (see `growing`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from sfumato.arrays import Floats
from sfumato.calls import constructed
from sfumato.data.masked import Masked
from sfumato.data.schema import Schema
from sfumato.errors import RecipeError, did_you_mean
from sfumato.maskers.histogram.domains import (
    LABELS,
    MOST_ITEMS,
    Domain,
    ItemDomain,
    NumberDomain,
    declarations_of,
    declared,
)
from sfumato.maskers.histogram.growth import Grown, Round, grow
from sfumato.maskers.histogram.marginals import (
    SIZE,
    Part,
    generate,
    generator,
    histograms,
    measure,
    possible,
    sensible,
    settle,
    sizes,
)
from sfumato.maskers.histogram.mask import (
    GeneratedRows,
    NoisyHistogram,
    Rows,
    shown_of,
    told_domains,
    told_parts,
    told_shares,
)
from sfumato.maskers.histogram.pairs import advised, alone, learn_pairs, planned
from sfumato.maskers.histogram.public_space import UNIT, PublicSpace
from sfumato.maskers.histogram.records import Records, few_splits, records_of, splits
from sfumato.maskers.masker import DIFFERENTIAL_PRIVACY, Guarantee, Masker, Outcome, Task, within
from sfumato.privacy.budget import Budget, Share, shares
from sfumato.privacy.mechanisms import Mechanisms
from sfumato.privacy.requirements import Requirement

COUNT, SPLITS = Fraction(1, 50), Fraction(7, 25)
"""Shares of epsilon for the number of records and for choosing splits; the marginals get the rest."""
TOGETHER = 3
MOST_OFFERED = 40
FIRST = Fraction(7, 10)
"""Share of the splits' epsilon for those chosen together, where others follow."""
MOST_PAIRS = 64


@constructed
@dataclass(frozen=True, kw_only=True)
class PrivateTree(Masker):
    """Rows generated from noisy counts in the parts of a privately chosen tree: the default under a budget.

    - `rows`: "values" draws every value from its part's marginals; "generalized" shows what all records of a part have
      in common, as often as the part's noisy count says.
    - `bins`: how many a number's declared range is divided into.
    - `splits`: how many splits the tree has (None: by epsilon and the noisy number of records).
    - `pairs`: count so many pairs of attributes in place of parts (`sfumato.maskers.histogram.pairs`); 0: parts.
    - `items`: how many labels of a set-valued attribute are counted at the most; larger taxonomies are cut higher up.
    - `may_miss`: the attributes whose values may be missing.
    - `weights`: how much each attribute matters for choosing splits (1 unless given, 0 for sensitive ones).

    >>> PrivateTree().rows
    'values'
    """

    rows: Rows = "values"
    bins: int = 8
    splits: int | None = None
    pairs: int = 0
    items: int = MOST_ITEMS
    may_miss: tuple[str, ...] = ()
    weights: Mapping[str, float] = field(default_factory=dict)
    guarantee: ClassVar[Guarantee] = DIFFERENTIAL_PRIVACY
    guided: ClassVar[bool] = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "may_miss", tuple(self.may_miss))
        if self.rows not in ("values", "generalized"):
            raise RecipeError(
                "rows",
                "rows show values or generalized ones",
                given=repr(self.rows),
                remedy="say values or generalized",
            )
        within("items", self.items, 1, LABELS, whole=True)
        within("pairs", self.pairs, 0, MOST_PAIRS, whole=True)
        if self.pairs and (self.splits is not None or self.weights or self.rows == "generalized"):
            raise RecipeError(
                "pairs",
                "pairs take the place of parts: there are no splits to choose, and none that rows could show",
                given="pairs with splits, weights or rows: generalized",
                remedy="leave those out, or pairs",
            )
        for name, value, least, most in (("bins", self.bins, 2, 256), ("splits", self.splits, 1, 8)):
            if value is not None and (
                isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most
            ):
                raise RecipeError(
                    name, f"it is a whole number from {least} to {most}", given=repr(value), remedy="leave it out"
                )

    @property
    def declarations(self) -> Mapping[str, Any]:
        """Which values may be missing, and how many labels of sets are counted."""
        return declarations_of(self.may_miss, self.items)

    def check(self, schema: Schema, requirements: Sequence[Requirement]) -> None:
        """Declared domains for everything that is released; no requirements."""
        refuse_requirements(requirements)
        declared(schema, bins=self.bins, may_miss=self.may_miss, items=self.items)
        for name, weight in self.weights.items():
            if name not in schema.kept or not 0 <= weight < float("inf"):
                raise RecipeError(
                    "weights",
                    "a weight is a number of at least 0 for a released attribute",
                    given=repr(name),
                    remedy=did_you_mean(name, schema.kept),
                )
        if not any(_weights(self, schema).values()):
            raise RecipeError("weights", "some attribute matters", given="none", remedy="give one a positive weight")

    def plan(self, schema: Schema, budget: Budget) -> tuple[Share, ...]:
        """What will be spent on what."""
        domains = declared(schema, bins=self.bins, may_miss=self.may_miss, items=self.items)
        if self.pairs:
            prices = _prices(domains, alone(domains, self.pairs, budget.epsilon))
            return (*_marginals(domains, prices), *planned(domains, self.pairs, budget.epsilon))
        prices = _prices(domains, budget.epsilon * (1 - COUNT - SPLITS))
        return (
            Share("the number of records", budget.epsilon * COUNT),
            Share("choosing the splits of the tree", budget.epsilon * SPLITS),
            *_marginals(domains, prices),
        )

    def keeping_relations(self, schema: Schema) -> str:
        """Pairs in place of parts, where there are none yet."""
        many = advised(schema)
        if many <= self.pairs:
            return ""
        return f"mask: {{private_tree: {{pairs: {many}}}}}, beside its other settings (sf.PrivateTree(pairs={many})),"

    @staticmethod
    def read_mask(files: Mapping[str, Any]) -> GeneratedRows:
        """What a release tells of it."""
        return GeneratedRows("private_tree", files["private_tree.json"])

    def mask(self, task: Task) -> Outcome:
        """Spend the budget on noisy counts, then generate rows from them."""
        mechanisms = mechanisms_of(task)
        domains = declared(task.table.schema, bins=self.bins, may_miss=self.may_miss, items=self.items)
        records = records_of(task.table, domains)
        if self.pairs:
            return self._paired(records, mechanisms)
        learned = _learn(records, _weights(self, task.table.schema), self.splits, mechanisms)
        random = generator(mechanisms.noise)
        parts = learned.parts()
        columns = generate(domains, parts, random) if self.rows == "values" else _generalized(learned, parts)
        rows = tuple(part.rows for part in parts)
        told = learned.told(rows, columns) if self.rows == "values" else told_parts(rows, _in_common(learned))
        mask = NoisyHistogram(
            "private_tree",
            self.rows,
            domains,
            rows,
            {"domains": told_domains(domains, self.rows, columns), **told},
            learned.grown.part_of,
        )
        return Outcome(mask, Masked.of(columns, word="generated", came="generated"))

    def _paired(self, records: Records, mechanisms: Mechanisms) -> Outcome:
        """The same from pairs of attributes; what is told are the one-way shares, of one part that is all."""
        domains = records.domains
        prices = _prices(domains, alone(domains, self.pairs, mechanisms.spending.budget.epsilon))
        learned = learn_pairs(records, self.pairs, prices, mechanisms)
        columns = learned.generate(generator(mechanisms.noise))
        rows = (learned.rows,)
        whole = {name: share[None] for name, share in learned.shares.items()}
        told = told_shares(domains, (), whole, rows=rows, columns=columns)
        form = {"domains": told_domains(domains, self.rows, columns), **told}
        mask = NoisyHistogram("private_tree", self.rows, domains, rows, form, np.zeros(records.rows, dtype=np.int64))
        return Outcome(mask, Masked.of(columns, word="generated", came="generated"))


def refuse_requirements(requirements: Sequence[Requirement]) -> None:
    """Differential privacy is no requirement on a table, and goes with none."""
    if requirements:
        raise RecipeError(
            "privacy",
            "under a budget there are no requirements: rows are generated from noisy counts",
            given=str(requirements[0]),
            remedy="leave privacy out; say budget: {epsilon: 1}",
        )


def mechanisms_of(task: Task) -> Mechanisms:
    """The door through which a masker sees private data."""
    if task.mechanisms is None:
        raise RecipeError(
            "budget",
            "this masker spends a privacy budget",
            given="none",
            remedy="add budget: {epsilon: 1} to the recipe",
        )
    return task.mechanisms


def _weights(settings: PrivateTree, schema: Schema) -> dict[str, float]:
    usual = {name: 0.0 if schema[name].role == "sensitive" else 1.0 for name in schema.kept}
    return usual | {name: float(weight) for name, weight in settings.weights.items()}


def _marginals(domains: Mapping[str, Domain], prices: Mapping[str, Fraction]) -> Iterator[Share]:
    """What each marginal costs, and how the numbers of it will be drawn."""
    for name, price in prices.items():
        domain = domains.get(name)
        drawn = f" ({domain.drawn})" if isinstance(domain, NumberDomain) else ""
        yield Share(f"marginal of {name}{drawn}", price)


def _prices(domains: Mapping[str, Domain], epsilon: Fraction) -> dict[str, Fraction]:
    """Epsilon shared by the marginals, in proportion to the cube root of what equal noise on its cells would cost."""
    space = PublicSpace.of(domains, dict.fromkeys(domains, 1.0))
    energy = {}
    for name, cells in histograms(domains).items():
        base = name.removesuffix(SIZE)
        if name != base:
            energy[name] = 0.02 * cells / len(domains)
        elif isinstance(domains[base], ItemDomain):
            energy[name] = 0.5 * cells / len(domains)
        else:
            positions = space.places[base].positions / UNIT
            energy[name] = float(((positions - positions.mean(axis=0)) ** 2).sum())
    return shares(epsilon, {name: max(value, 1e-6) ** (1 / 3) for name, value in energy.items()})


@dataclass(frozen=True, eq=False)
class Learned:
    """All that was learned: the tree, and for each histogram the settled shares (parts, cells) and the parts' sizes."""

    domains: Mapping[str, Domain]
    grown: Grown
    totals: Floats
    shares: Mapping[str, Floats]

    def parts(self) -> list[Part]:
        """Each part with the rows it gets."""
        real = np.array([not box.empty for box in self.grown.boxes])
        rows = np.rint(self.totals).astype(np.int64)
        rows[real] = sensible(rows[real])
        return [
            Part(int(count), {name: share[at] for name, share in self.shares.items()}) for at, count in enumerate(rows)
        ]

    def told(self, rows: Sequence[int], columns: Mapping[str, pa.Array[Any]]) -> dict[str, Any]:
        """Plain JSON."""
        return told_shares(self.domains, self.grown.splits, self.shares, rows=rows, columns=columns)


def _learn(records: Records, weights: Mapping[str, float], wanted: int | None, mechanisms: Mechanisms) -> Learned:
    """Everything that spends, in order, and what is best believed of it."""
    epsilon, domains = mechanisms.spending.budget.epsilon, records.domains
    count = mechanisms.counts("the number of records", np.array([records.rows]), epsilon=epsilon * COUNT)
    rounds = _rounds(domains, [name for name in domains if weights[name] > 0], epsilon, int(count[0]), wanted)
    grown = grow(records, PublicSpace.of(domains, weights), rounds, mechanisms=mechanisms)
    depth = len(grown.splits)
    prices = _prices(domains, mechanisms.spending.left)
    noisy = measure(records, grown.part_of, 2**depth, prices=prices, mechanisms=mechanisms)
    totals = np.where([box.empty for box in grown.boxes], 0.0, sizes(noisy))
    settled = {
        name: settle(marginal, totals, possible(domains, grown.boxes, name, marginal.counts.shape[1]), depth)
        for name, marginal in noisy.items()
    }
    return Learned(domains, grown, totals, settled)


def _rounds(
    domains: Mapping[str, Domain], names: Sequence[str], epsilon: Fraction, count: int, wanted: int | None
) -> list[Round]:
    """How many splits, and which are chosen together: by declarations, epsilon and the noisy count alone."""
    few, every = few_splits(domains, names, MOST_OFFERED), splits(domains, names)
    depth = min(wanted or suited_depth(float(epsilon) * count), len(every))
    first = min(TOGETHER, depth, len(few))
    more = depth - first
    price = epsilon * SPLITS
    if not first:
        return []
    later = price * (1 - FIRST) if more else Fraction(0)
    return [Round(first, tuple(few), price - later)] + [Round(1, tuple(every), later / max(more, 1))] * more


def suited_depth(strength: float) -> int:
    """How many splits pay off when epsilon times the number of records is this much.

    >>> suited_depth(100), suited_depth(2_800), suited_depth(14_000), suited_depth(28_000)
    (1, 3, 4, 5)
    """
    return 1 + sum(strength >= bound for bound in (300, 1_000, 5_000, 20_000, 200_000))


def _in_common(learned: Learned) -> dict[str, list[Any]]:
    """Of each column what the records of every part have in common."""
    return {name: [shown_of(domain, box) for box in learned.grown.boxes] for name, domain in learned.domains.items()}


def _generalized(learned: Learned, parts: Sequence[Part]) -> dict[str, pa.Array[Any]]:
    """What the records of each part have in common, once for each of its rows."""
    at = np.repeat(np.arange(len(parts)), [part.rows for part in parts])
    found: dict[str, pa.Array[Any]] = {}
    for name, shown in _in_common(learned).items():
        if isinstance(learned.domains[name], ItemDomain):
            found[name] = pa.array(shown, type=pa.list_(pa.string())).take(at)
        else:
            found[name] = pa.array(shown, type=pa.string()).take(at).dictionary_encode()
    return found
