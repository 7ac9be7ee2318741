"""Random tables with sensitive columns and populations, and random mixes of every requirement on them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from sfumato.data.encoding import encode
from sfumato.data.schema import Attribute, Category, Number, Schema
from sfumato.data.table import Table
from sfumato.maskers.masker import Labels
from sfumato.maskers.topdown.masker import TopDown
from sfumato.privacy.requirements import (
    LKC,
    AlphaK,
    ConfidenceBound,
    KAnonymity,
    KMap,
    LDiversity,
    Requirement,
    TCloseness,
)
from sfumato.privacy.requirements.diversity import Kind
from tests.contracts.test_engines import SCORES, random_column, random_tree

LEAVES = [f"s{value}" for value in range(6)]


@dataclass(frozen=True)
class Mix:
    table: Table
    labels: Labels
    needs: tuple[Requirement, ...]
    settings: TopDown


Make = Callable[[np.random.Generator, list[str], pa.Table], Requirement]


def _diversity(rng: np.random.Generator, on: list[str], people: pa.Table) -> Requirement:
    kinds: tuple[Kind, ...] = ("distinct", "entropy", "recursive")
    kind = kinds[int(rng.integers(0, 3))]
    c = float(rng.choice([0.7, 1.0, 1.5, 3.0])) if kind == "recursive" else None
    return LDiversity(on, _sensitive(rng), int(rng.integers(2, 4)), kind, c)


def _confidence(rng: np.random.Generator, on: list[str], people: pa.Table) -> Requirement:
    value = "s0" if rng.random() < 0.5 else None
    return ConfidenceBound(on, "illness", float(rng.choice([0.5, 0.6, 0.75, 0.9])), value)


def _alpha(rng: np.random.Generator, on: list[str], people: pa.Table) -> Requirement:
    return AlphaK(on, _sensitive(rng), float(rng.choice([0.5, 0.7, 0.9])), max(2, int(rng.integers(1, 6))))


def _closeness(rng: np.random.Generator, on: list[str], people: pa.Table) -> Requirement:
    t = float(rng.choice([0.15, 0.3, 0.45]))
    kind = int(rng.integers(0, 4))
    if kind == 0:
        return TCloseness(on, _sensitive(rng), t)
    if kind == 1:
        return TCloseness(on, "wage", t, "ordered")
    if kind == 2:
        return TCloseness(on, "grade", t, "ordered", [f"s{value}" for value in rng.permutation(6)])
    return TCloseness(on, "grade", t, "hierarchical")


def _lkc(rng: np.random.Generator, on: list[str], people: pa.Table) -> Requirement:
    return LKC(
        on, "illness", int(rng.integers(1, len(on) + 1)), max(2, int(rng.integers(1, 5))), float(rng.choice([0.6, 0.8]))
    )


def _map(rng: np.random.Generator, on: list[str], people: pa.Table) -> Requirement:
    return KMap(on, max(2, int(rng.integers(1, 12))), people.select(on))


def _anonymity(rng: np.random.Generator, on: list[str], people: pa.Table) -> Requirement:
    return KAnonymity(on, max(2, int(rng.integers(1, 8))))


KINDS: dict[str, Make] = {
    "anonymity": _anonymity,
    "diversity": _diversity,
    "confidence": _confidence,
    "alpha": _alpha,
    "closeness": _closeness,
    "lkc": _lkc,
    "map": _map,
}


def _sensitive(rng: np.random.Generator) -> str:
    return ("illness", "wage", "grade")[int(rng.integers(0, 3))]


def random_mix(seed: int, kinds: Sequence[str] = tuple(KINDS)) -> Mix:
    """One to four requirements of these kinds; `illness` may be missing, `grade` has a tree, `wage` is a number."""
    rng = np.random.default_rng(seed)
    rows, others = int(rng.integers(16, 70)), int(rng.integers(10, 60))
    schema: dict[str, Attribute] = {}
    columns: dict[str, pa.Array[Any]] = {}
    for number in range(int(rng.integers(1, 5))):
        schema[f"a{number}"], columns[f"a{number}"] = random_column(rng, rows + others)
    both = pa.table(columns)
    people = both.take(np.concatenate([np.arange(rows + others)[rng.random(rows + others) < 0.8], [0, 1]]))
    names = list(schema)
    needs: dict[object, Requirement] = {}
    for at in range(int(rng.integers(1, 5))):
        on = [str(n) for n in rng.permutation(names)[: int(rng.integers(1, len(names) + 1))]]
        kind = kinds[at] if at < len(kinds) == 1 else kinds[int(rng.integers(0, len(kinds)))]
        need = KINDS[kind](rng, on, people)
        needs.setdefault((need.name, frozenset(on), need.sensitive), need)
    used = {name for need in needs.values() for name in need.on}
    secret = _secrets(rng, rows)
    table = pa.table({**{n: both.column(n).slice(0, rows) for n in names if n in used}, **secret})
    kept: dict[str, Attribute] = {name: attribute for name, attribute in schema.items() if name in used}
    kept |= {
        "illness": Category(role="sensitive"),
        "wage": Number(role="sensitive"),
        "grade": Category(role="sensitive", taxonomy=random_tree(rng, LEAVES)),
    }
    n = int(rng.integers(1, 4))
    settings = TopDown(score=str(rng.choice(SCORES)), split="best_valid" if rng.random() < 0.4 else "best")
    return Mix(
        encode(table, Schema(kept)),
        Labels(rng.integers(0, n, rows).astype(np.uint8), n),
        tuple(needs.values()),
        settings,
    )


def _secrets(rng: np.random.Generator, rows: int) -> dict[str, pa.Array[Any]]:
    codes = [np.minimum(rng.integers(0, 6, rows), rng.integers(0, 6, rows)) for _ in range(3)]
    for of in codes:
        of[:3] = (0, 1, 2)
    missing = rng.random(rows) < (0.2 if rng.random() < 0.5 else 0.0)
    missing[:3] = False
    return {
        "illness": pa.array([LEAVES[code] for code in codes[0]], mask=missing),
        "wage": pa.array(codes[1] * 10),
        "grade": pa.array([LEAVES[code] for code in codes[2]]),
    }
