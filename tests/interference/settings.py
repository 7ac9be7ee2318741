"""Settings under which every masker that spends a budget is compared with itself on neighbouring tables."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace

import sfumato as sf
from sfumato.maskers.masker import Masker
from sfumato.maskers.registry import MASKERS, masker_named
from tests.interference.comparing import Setting
from tests.interference.tables import BASES, MAY_MISS, SCHEMA, Change, changes

SPENDS = tuple(name for name in MASKERS if masker_named(name).guarantee.spends)
"""Every masker that spends a budget: asked of the registry, so that a new one is among them."""
CLUSTERS = sf.Clusters("kmeans", k=3, n_init=1, attributes=("age", "wage", "town", "items", "codes"))
"""Dates stand aside: with them no centres are released."""
CLASSES = sf.Classes("income")


@dataclass(frozen=True)
class Way:
    """A masker with the structure and the epsilon that it gets."""

    mask: Masker
    structure: sf.Clusters | sf.Classes
    epsilon: int

    def setting(self, seed: int) -> Setting:
        """With answers of their own."""
        budget = sf.Budget(self.epsilon)
        return Setting(sf.Recipe(schema=SCHEMA, structure=self.structure, mask=self.mask, budget=budget), seed)


NARROW = {"codes": 0.0}
WAYS: dict[str, tuple[Way, ...]] = {
    "private_tree": (
        Way(sf.PrivateTree(may_miss=MAY_MISS, bins=3, splits=2), CLUSTERS, 1),
        Way(sf.PrivateTree(may_miss=MAY_MISS, bins=2, weights=NARROW), sf.Clusters("ward"), 1_000),
        Way(sf.PrivateTree(may_miss=MAY_MISS, bins=2, splits=1, rows="generalized"), CLASSES, 1),
        Way(sf.PrivateTree(may_miss=MAY_MISS, bins=2, pairs=2), CLUSTERS, 10),
    ),
    "dp_heter": (
        Way(sf.DPHeter(may_miss=MAY_MISS, steps=8), CLUSTERS, 1),
        Way(sf.DPHeter(may_miss=MAY_MISS, steps=5), CLASSES, 100),
        Way(sf.DPHeter(may_miss=MAY_MISS, steps=4, selection="random"), sf.Clusters("ward", k=2, also=(3,)), 1),
    ),
}


def ways(name: str) -> tuple[Way, ...]:
    """How a masker is tried; one that nobody wrote settings for, as it is."""
    if name in WAYS:
        return WAYS[name]
    kind = masker_named(name)
    own = {"may_miss": MAY_MISS} if "may_miss" in {field.name for field in fields(kind)} else {}
    return tuple(Way(kind(**own), structure, 1) for structure in (CLUSTERS, CLASSES))


@dataclass(frozen=True)
class Trial:
    """One setting, a table and what was done to it."""

    setting: Setting
    base: str
    changes: tuple[Change, ...]


def trials(name: str) -> Iterator[Trial]:
    """Each way with each table and all changes; answers differ from trial to trial."""
    seed = 0
    for way in ways(name):
        for base, rows in BASES.items():
            seed += 1
            yield Trial(way.setting(seed), base, tuple(changes(rows)))


def some(trial: Trial, count: int, *, report: bool) -> Trial:
    """A few changes of a trial, others for each seed, with or without a report."""
    first = trial.setting.seed * 11 % len(trial.changes)
    chosen = (*trial.changes[first:], *trial.changes[:first])[:count]
    return replace(trial, setting=replace(trial.setting, report=report), changes=chosen)
