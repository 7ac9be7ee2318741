"""Small tables, and the records that hurt: those that an adversary would add, take away or exchange."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
import pyarrow as pa

import sfumato as sf

Row = dict[str, Any]
TOWNS = sf.Taxonomy.from_tree({"ANY": {"N": ["a", "b"], "S": ["c", "d"]}})
CODES = sf.Taxonomy.from_tree({"ANY": {f"{group}": [f"{group}.{leaf}" for leaf in range(10)] for group in range(10)}})
MAY_MISS = ("age", "wage", "born", "town", "items", "codes")
SCHEMA = sf.Schema(
    age=sf.Number(role="quasi", range=(0, 9), integer=True, outside="clip"),
    wage=sf.Number(role="plain", range=(-1.0, 1.0), bins=(-1, 0, 1), outside="clip", missing=("nan",)),
    born=sf.Number(role="quasi", calendar="month", range=("1950-03-15", "1989-12-31"), outside="clip"),
    town=sf.Category(role="quasi", taxonomy=TOWNS, outside="d"),
    items=sf.ItemSet(role="quasi", values=("p", "q", "r", "s"), most=2, too_many="first", outside="s"),
    codes=sf.ItemSet(role="quasi", taxonomy=CODES, most=90, too_many="first", outside="9.9"),
    income=sf.Category(role="sensitive", values=("low", "high", "none of your business")),
)
TYPES = {
    "age": pa.int64(),
    "wage": pa.float64(),
    "born": pa.timestamp("us"),
    "town": pa.string(),
    "items": pa.list_(pa.string()),
    "codes": pa.list_(pa.string()),
    "income": pa.string(),
}
USUAL: Row = {
    "age": 4,
    "wage": 0.25,
    "born": datetime(1970, 5, 17),
    "town": "a",
    "items": ["p"],
    "codes": ["0.0", "1.1"],
    "income": "low",
}
HURT: dict[str, Row] = {
    "a usual record once more": USUAL,
    "a number far above its range": USUAL | {"age": 10**15, "wage": 1e300},
    "a number far below its range": USUAL | {"age": -(10**15), "wage": -math.inf},
    "the ends of the ranges": USUAL | {"age": 9, "wage": -1.0},
    "a date far outside its range": USUAL | {"born": datetime(1, 1, 1)},
    "a time of day after its range": USUAL | {"born": datetime(9999, 12, 31, 23, 59, 59, 999_999)},
    "the first moment of its range": USUAL | {"born": datetime(1950, 3, 15)},
    "minus zero": USUAL | {"age": 0, "wage": -0.0},
    "what is no number": USUAL | {"wage": math.nan},
    "a town that nobody declared": USUAL | {"town": "Atlantis", "items": ["x"], "codes": ["666"]},
    "a town that nobody else has": USUAL | {"town": "c"},
    "more items than a set may hold": USUAL | {"items": ["s", "r", "q", "p"]},
    "an empty set": USUAL | {"items": [], "codes": []},
    "a set of 90 labels": USUAL | {"codes": [leaf for leaf in CODES.leaves if leaf[0] != "0"]},
    "a set of all labels, and more": USUAL | {"codes": [*CODES.leaves, "x", "y"]},
    "an item twice": USUAL | {"items": ["q", "q"], "codes": ["2.2"] * 90},
    "missing wherever it may": dict.fromkeys(MAY_MISS) | {"income": "low"},
    "a class of its own": USUAL | {"income": "none of your business"},
    "far from everybody": {
        "age": 0,
        "wage": -1.0,
        "born": datetime(1989, 12, 31, 12),
        "town": "d",
        "items": ["r", "s"],
        "codes": ["9.9"],
        "income": "none of your business",
    },
}


def table_of(rows: Sequence[Row]) -> pa.Table:
    """Records as Arrow columns of fixed types."""
    return pa.table({name: pa.array([row[name] for row in rows], type=kind) for name, kind in TYPES.items()})


def people(count: int, seed: int) -> list[Row]:
    """Records of two kinds that differ in everything, and nobody whose class or town is rare."""
    chance = np.random.default_rng(seed)
    found = []
    for at in range(count):
        high = at % 2
        codes = [CODES.leaves[int(at)] for at in np.unique(chance.integers(0, 60, int(chance.integers(1, 5))))]
        found.append(
            {
                "age": int(chance.integers(5 * high, 5 * high + 5)),
                "wage": float(np.round(chance.uniform(0, 1) - 1 + high, 3)),
                "born": datetime(1950 + 20 * high + int(chance.integers(1, 20)), int(chance.integers(1, 13)), 9, 8, 7),
                "town": "ab"[int(chance.integers(2))] if high else "d",
                "items": ["q", "r"][: int(chance.integers(0, 3))],
                "codes": codes,
                "income": ("low", "high")[high],
            }
        )
    return found


BASES: dict[str, list[Row]] = {
    "some people": people(24, 0),
    "as few as have no clusters": people(5, 1),
    "everybody alike": [USUAL] * 7,
    "everybody hurts": list(HURT.values()),
    "nobody but one": [USUAL],
}


@dataclass(frozen=True)
class Change:
    """What an adversary did to a table, and the table after."""

    name: str
    rows: Sequence[Row]


def changes(base: Sequence[Row]) -> Iterator[Change]:
    """Every record that hurts added and put in another's place; some records taken away. No table is left empty."""
    for name, row in HURT.items():
        yield Change(f"added: {name}", [*base, row])
        yield Change(f"in the place of the first: {name}", [row, *base[1:]])
    if len(base) > 1:
        for at in dict.fromkeys((0, len(base) // 2, len(base) - 1)):
            yield Change(f"taken away: record {at}", [*base[:at], *base[at + 1 :]])
