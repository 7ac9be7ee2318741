"""Fitting: chromosomes are crossed and mutated, the cheapest survive, the best becomes a recoding."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from sfumato.calls import constructed
from sfumato.data.axis import make_axis, positions
from sfumato.data.schema import ItemSet, Schema
from sfumato.data.table import Table
from sfumato.errors import RecipeError
from sfumato.events import checkpoint
from sfumato.maskers.genetic.genes import Bits, Gene, Need, People, View, compress, cost, lifted, make_gene
from sfumato.maskers.masker import (
    DAY,
    K_ANONYMITY,
    SEED,
    Guarantee,
    Labels,
    Masker,
    Outcome,
    Task,
    only_k_anonymity,
    within,
)
from sfumato.maskers.recoding.recoding import Recoding
from sfumato.maskers.sensitive import check_top
from sfumato.privacy.requirements import Requirement, basic, largest_k, without_covered
from sfumato.randomness import Seeded

NAME = "the genetic search"


MOST_LIVING, MOST_GENERATIONS = 10_000, 1_000_000
"""Chromosomes at a time, and generations: limits of what a recipe may ask for."""


@constructed
@dataclass(frozen=True, kw_only=True)
class Genetic(Masker):
    """Iyengar's genetic search over cuts. Records in groups that are too small are lifted to the top.

    - `seconds`: how long it searches.
    - `metric`: what is made small, "LM" (how much more general values are) or "CM" (how many records differ from their
      group's most frequent class); without a structure it is always "LM".
    - `seed`: what chance begins with.
    - `population`: how many chromosomes live.
    - `generations`: the search ends after so many, whatever the time, and is then the same for the same seed.

    >>> Genetic(metric="LM").seconds
    60
    """

    guarantee: ClassVar[Guarantee] = K_ANONYMITY

    seconds: float = 60
    metric: Literal["LM", "CM"] = "CM"
    seed: int = 0
    population: int = 50
    generations: int | None = None

    def __post_init__(self) -> None:
        if self.metric not in ("LM", "CM"):
            raise RecipeError("metric", "it is LM or CM", given=repr(self.metric), remedy="say 'CM'")
        within("seconds", self.seconds, 0, DAY)
        within("seed", self.seed, 0, SEED, whole=True)
        within("population", self.population, 2, MOST_LIVING, whole=True)
        if self.generations is not None:
            within("generations", self.generations, 0, MOST_GENERATIONS, whole=True)

    def check(self, schema: Schema, requirements: Sequence[Requirement]) -> None:
        """The genetic search needs k-anonymity, on numbers and categories."""
        only_k_anonymity(NAME, requirements)
        if not requirements:
            raise RecipeError(
                "privacy",
                "the genetic search needs at least one requirement",
                given="none",
                remedy="add for example {k_anonymity: 10, on: [age, sex]}",
            )
        for name in {name for requirement in requirements for name in requirement.on}:
            if isinstance(schema[name], ItemSet):
                raise RecipeError(
                    name,
                    "the genetic search masks numbers and categories",
                    given="an item set",
                    remedy="give it another role, or use another masker",
                )

    def unguided(self) -> Genetic:
        """How much more general values are is made small: there are no labels to keep together."""
        return replace(self, metric="LM")

    def mask(self, task: Task) -> Outcome:
        """Search, and apply the best recoding found."""
        demands = without_covered(task.requirements)
        found = fit(task.table, task.labels, demands.kept, settings=self)
        masked = found.recoding.apply(task.table, lifted=found.lifted if found.recoding.lifted else None)
        told = {
            "metric": self.metric,
            "cost": found.cost,
            "evaluated": found.evaluated,
            "generations": found.generations,
        }
        return Outcome(found.recoding, masked, demands.covered, holder={"genetic.json": told})

    @staticmethod
    def read_mask(files: Mapping[str, Any]) -> Recoding:
        """The mask of a written release."""
        return Recoding.read(files)


@dataclass(frozen=True, eq=False)
class Fitted:
    """The best recoding found, what it costs, and how long the search was."""

    recoding: Recoding
    lifted: NDArray[np.bool_]
    cost: float
    evaluated: int
    generations: int


def fit(
    table: Table,
    labels: Labels,
    requirements: Sequence[Requirement],
    *,
    settings: Genetic,
) -> Fitted:
    """Search for a cheap recoding, from the most masked table and random ones."""
    check_top(table, basic(requirements))
    names = [name for name in table.schema.quasi if any(name in r.on for r in requirements)]
    many = largest_k(requirements)
    axes = [make_axis(name, table.schema[name], table.column(name), many=many[name]) for name in names]
    places = [positions(axis, table.column(axis.name)).astype(np.int64) for axis in axes]
    needs = tuple(Need(tuple(names.index(name) for name in r.on), r.k) for r in only_k_anonymity(NAME, requirements))
    table_of = compress(places, labels.classes.astype(np.int64), labels.n, needs)
    breeding = _Breeding(table_of.people, tuple(make_gene(axis) for axis in axes), settings)
    breeding.run()
    best = breeding.population[0]
    parts = breeding.parts(best.bits)
    out = lifted(table_of.people, breeding.shown(best.bits))[table_of.row_of]
    rules = {name: gene.rule(part) for name, gene, part in zip(names, breeding.genes, parts, strict=True)}
    return Fitted(Recoding(rules, bool(out.any())), out, best.cost, breeding.evaluated, breeding.generations)


@dataclass(frozen=True, eq=False)
class _Chromosome:
    bits: Bits
    cost: float


@dataclass(eq=False)
class _Breeding:
    """Owns the living chromosomes, the cheapest first."""

    people: People
    genes: tuple[Gene, ...]
    settings: Genetic
    population: list[_Chromosome] = field(default_factory=list)
    evaluated: int = 0
    generations: int = 0

    def run(self) -> None:
        """Generation after generation, until the limit."""
        settings, random = self.settings, Seeded(self.settings.seed).generator()
        timed = settings.generations is None
        began = time.monotonic()
        end = began + settings.seconds
        length = sum(gene.length for gene in self.genes)
        self._add([np.zeros(length, dtype=bool)])
        while timed or self.generations < (settings.generations or 0):
            fresh = self._random(random) if self.generations == 0 else self._children(random)
            for bits in fresh:
                checkpoint(self._share(began))
                if timed and time.monotonic() >= end:
                    return
                self._add([bits])
            self.population = self.population[: settings.population]
            self.generations += 1

    def _share(self, began: float) -> float:
        """How much of its time, or of its generations, the search has had."""
        if self.settings.generations is None:
            return (time.monotonic() - began) / max(self.settings.seconds, 1e-9)
        return self.generations / max(self.settings.generations, 1)

    def _add(self, strings: list[Bits]) -> None:
        """Weigh new chromosomes and put them in their places; one that lives already is left out."""
        for bits in strings:
            if any(np.array_equal(bits, other.bits) for other in self.population):
                continue
            self.evaluated += 1
            views = [g.view(part) for g, part in zip(self.genes, self.parts(bits), strict=True)]
            self.population.append(_Chromosome(bits, cost(self.people, views, self.settings.metric)))
        self.population.sort(key=lambda chromosome: chromosome.cost)

    def _random(self, random: np.random.Generator) -> list[Bits]:
        """Strings with few to many bits set."""
        length = len(self.population[0].bits)
        return [random.random(length) < random.random() ** 2 for _ in range(self.settings.population - 1)]

    def _children(self, random: np.random.Generator) -> list[Bits]:
        return [self._child(random) for _ in range(self.settings.population)]

    def _child(self, random: np.random.Generator) -> Bits:
        """Two parents, each the better of two, crossed at two points; then one bit in a hundred, but at least
        one on average, is flipped."""
        mother, father = self._parent(random), self._parent(random)
        first, end = np.sort(random.integers(0, len(mother) + 1, 2))
        child = mother.copy()
        child[first:end] = father[first:end]
        return child ^ (random.random(len(child)) < max(0.01, 1 / max(len(child), 1)))

    def _parent(self, random: np.random.Generator) -> Bits:
        return self.population[int(random.integers(0, len(self.population), 2).min())].bits

    def parts(self, bits: Bits) -> list[Bits]:
        """Each gene's bits."""
        return np.split(bits, np.cumsum([gene.length for gene in self.genes])[:-1])

    def shown(self, bits: Bits) -> list[NDArray[np.int64]]:
        """(rows,) for each attribute: what is shown."""
        views: list[View] = [g.view(part) for g, part in zip(self.genes, self.parts(bits), strict=True)]
        return [view.codes[column] for view, column in zip(views, self.people.positions, strict=True)]
