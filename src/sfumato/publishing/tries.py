"""Where a table came out that tells too little: other settings, tried on a sample.

A try finds the structure, masks and measures, and stops there: it writes nothing, spends nothing and asks no ledger. No
masker that spends a budget is tried, and none takes a quasi-identifier out of what is protected.
"""

from __future__ import annotations

import json
import re
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from sfumato.counting import Engine
from sfumato.data.encoding import encode
from sfumato.data.table import Table
from sfumato.errors import Infeasible, SfumatoError
from sfumato.evaluation.columns import ColumnKept
from sfumato.evaluation.tries import Tries, Try
from sfumato.evaluation.worth import Worth
from sfumato.events import part, watched
from sfumato.maskers.registry import MASKERS, name_of
from sfumato.publishing.case import Case, Run
from sfumato.publishing.steps import find_structure, mask_table, measure
from sfumato.randomness import Seeded
from sfumato.recipe import Recipe
from sfumato.recipe.settings import EVERYWHERE
from sfumato.release.accounting import costs_of

ROWS = 5_000
"""Records of a larger table that tries are made on."""
SECONDS = 15.0
"""After so long no further try begins."""
MOST = 3
LOCAL = ("partition", "mondrian")
"""Maskers that show each group as finely as that group allows, the better first."""
FEWEST = 2
PLAIN = re.compile(r"[a-z]\w*", re.ASCII)
LONGEST_WORD = len("false")
"""Words that YAML takes for something else than a text are no longer."""


@dataclass(frozen=True)
class Candidate:
    """Settings to try, as `--set` takes them, and what they cost in words."""

    changes: tuple[str, ...]
    price: str


def try_others(case: Case) -> Case:
    """Which settings would show more, if the table tells too little. For the holder."""
    worth = Worth.of(case.judged.scores, centres=False)
    if not _may_try(case) or not (worth.silent or worth.hardly):
        return case
    try:
        found = tries(case, worth.columns)
    except Infeasible:  # on a sample, which has fewer records, the recipe as it is may ask for too much
        return case
    scores = {**case.judged.scores, "tries": found.to_json()}
    return replace(case, judged=replace(case.judged, scores=scores))


def _may_try(case: Case) -> bool:
    """Whether somebody wants to know, and a try neither spends nor leaves out what the claims are about."""
    recipe, asked = case.recipe, case.run.suggest
    whole = not recipe.before.releases and recipe.population is None and case.labels is None
    return asked and whole and recipe.mask.guarantee.claims and not recipe.mask.guarantee.spends


def tries(case: Case, columns: Sequence[ColumnKept]) -> Tries:
    """Every candidate that there is time for, beside the table as it is."""
    recipe, people = case.recipe, case.people
    arrow, began = sampled(people, ROWS), time.monotonic()
    same, others = arrow.num_rows == people.rows, list(candidates(recipe, columns))
    first, share = Try.of(case.judged.scores) if same else None, 1 / (len(others) + 1)
    with part(0.0, share):  # on a sample the table as it is has to be made once more
        as_it_is = first or Try.of(trial_scores(recipe, arrow, engine=case.run.engine))
    made: list[Try] = []
    with part(share if first is None else 0.0, 1.0):
        for one in watched(others):
            if time.monotonic() - began > SECONDS:
                break
            found = _tried(recipe, arrow, one, case.run)
            made += [] if found is None else [found]
    better = sorted(
        (one for one in made if one.shows_more_than(as_it_is)), key=lambda one: (one.silent, -(one.kept or 0))
    )
    return Tries(arrow.num_rows, people.rows, len(made), as_it_is, tuple(better[:MOST]))


def candidates(recipe: Recipe, columns: Sequence[ColumnKept]) -> Iterator[Candidate]:
    """Another masker, half of k, both, and a column less."""
    smaller, local = _smaller_k(recipe), _local(recipe)
    yield from (one for one in (local, smaller) if one is not None)
    for column in sorted(columns, key=lambda column: -column.before)[:1]:
        yield from _without(recipe, column.name)
    if smaller is not None and local is not None:
        yield Candidate((*local.changes, *smaller.changes), smaller.price)


def _local(recipe: Recipe) -> Candidate | None:
    for name in LOCAL:
        if name in MASKERS and name != name_of(recipe.mask):
            alone = "; no later release can be held beside it (earlier:)" if recipe.mask.joins_earlier else ""
            price = f"a value may be shown finer in one group than in another{alone}"
            return Candidate((f"mask={{{name}: {{}}}}",), price)
    return None


def _smaller_k(recipe: Recipe) -> Candidate | None:
    sizes, changes = ks_of(recipe), with_k(recipe, lambda k: k // 2)
    if not changes:
        return None
    least = min(max(k // 2, FEWEST) for k in sizes.values())
    return Candidate(changes, f"less privacy: everybody is one of {least}, not of {min(sizes.values())}")


def ks_of(recipe: Recipe) -> dict[int, int]:
    """The k of every requirement that has one, by its place."""
    return {at: need.claim()["k"] for at, need in enumerate(recipe.privacy) if "k" in need.claim()}


def with_k(recipe: Recipe, change: Callable[[int], int]) -> tuple[str, ...]:
    """Settings that give every requirement another k; one that would fall below two records stays."""
    return tuple(f"privacy.{at}.k={change(k)}" for at, k in ks_of(recipe).items() if change(k) >= FEWEST)


def _without(recipe: Recipe, name: str) -> Iterator[Candidate]:
    """The table without a column, and the claims without it: it is dropped, never released as it is."""
    lists = {at: [other for other in need.on if other != name] for at, need in enumerate(recipe.privacy)}
    if not all(lists.values()):
        return
    shorter = {at: on for at, on in lists.items() if len(on) < len(recipe.privacy[at].on)}
    on = tuple(f"privacy.{at}.on=[{', '.join(map(_typed, names))}]" for at, names in shorter.items())
    yield Candidate((f"attributes.{name}.role=identifier", *on), f"{name} is not released")


def _typed(name: str) -> str:
    """A name as YAML reads it: one that could be a number, a yes or a no stands in quotation marks."""
    return name if PLAIN.fullmatch(name) and len(name) > LONGEST_WORD else json.dumps(name, ensure_ascii=False)


def _tried(recipe: Recipe, arrow: pa.Table, one: Candidate, run: Run) -> Try | None:
    """What comes of it; None where it cannot be published."""
    try:
        changed = Recipe.from_yaml(recipe.to_yaml(), changes=one.changes, allow=EVERYWHERE)
        return Try.of(trial_scores(changed, arrow, engine=run.engine), one.changes, one.price)
    except SfumatoError:
        return None


def trial_scores(recipe: Recipe, arrow: pa.Table, *, engine: Engine | None = None) -> dict[str, Any]:
    """Structure, mask, figures; nothing is written, and no ledger is asked.

    A masker that spends a budget takes its noise from a seed, which is not private: it is tried on public tables alone.
    """
    kept = [name for name in arrow.column_names if recipe.schema[name].role != "identifier"]
    people = encode(arrow.select(kept), recipe.schema)
    with ExitStack() as closing, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what they say of a try is no news of the release
        costs, silent = costs_of(recipe, Seeded(0)), Run(engine=engine, report=False, trial=True)
        case = Case(recipe=recipe, run=silent, people=people, account=None, costs=costs, seeds=1, closing=closing)
        for do in watched((find_structure, mask_table, measure)):
            case = do(case)
    return dict(case.judged.scores)


def sampled(people: Table, rows: int) -> pa.Table:
    """So many records of a larger table, the same ones whenever it is asked; all of a smaller one."""
    arrow = people.to_arrow()
    if people.rows <= rows:
        return arrow
    chosen = np.sort(Seeded(0).generator().choice(people.rows, rows, replace=False))
    return arrow.take(pa.array(chosen, type=pa.int64()))
