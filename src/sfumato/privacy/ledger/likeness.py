"""How the ledger knows a table again: whole, with other columns, or nearly.

Everything here is taken of the table as it was read, so that no recipe changes it, and is keyed with the ledger's
secret, so that it tells nobody what is in the table.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from threading import Lock
from typing import Any

import numpy as np
import pyarrow as pa

from sfumato.privacy.ledger.rows import Hashing, Words
from sfumato.privacy.ledger.secret import Secret
from sfumato.privacy.ledger.sketches import Shared, Sketch, shared, sketch

ALL, ONE, OTHER = "all", "one half", "other half"
FEWEST = 2
"""Columns of a half that is sketched: one column alone says nothing of who is who, and its values often come again."""


@dataclass(frozen=True, eq=False)
class Likeness:
    """A table's number of rows, a keyed hash of each column, and sketches of its rows.

    A column's hash says what it holds in whatever order. `sketches`: of whole rows, and of rows in either half of the
    columns (which half a column is in follows from its name and the secret): a table that comes back with another
    column still has the rows of one half.
    """

    rows: int
    columns: Mapping[str, str]
    sketches: Mapping[str, Sketch]

    def same(self, other: Likeness) -> bool:
        """The same table: as many rows, and more than half of the columns hold the same, of those it could be."""
        equal = sum(other.columns.get(name) == digest for name, digest in self.columns.items())
        return self.rows == other.rows and 2 * equal > min(len(self.columns), len(other.columns))

    def shared(self, other: Likeness) -> Shared:
        """How much both have in common: by whole rows, or, if these tell nothing, by one half of the columns."""
        pairs = [(part, other.sketches[name]) for name, part in self.sketches.items() if name in other.sketches]
        found = [shared(*pair) for pair in pairs]
        return next((one for one in found if one.telling), found[0] if found else Shared(0.0, telling=False))

    def digest(self) -> str:
        """A short name for the table: equal for the same rows and columns in whatever order."""
        rows = self.sketches[ALL].hashes.tobytes() if ALL in self.sketches else b""
        content = f"{self.rows} {sorted(self.columns.items())} ".encode() + rows
        return hashlib.sha256(content).hexdigest()[:32]

    def to_json(self) -> dict[str, Any]:
        """Plain mapping."""
        sketches = {name: part.to_json() for name, part in self.sketches.items()}
        return {"rows": self.rows, "columns": dict(self.columns), "sketches": sketches}

    @classmethod
    def from_json(cls, form: Mapping[str, Any]) -> Likeness:
        """What `to_json` gave; ValueError, KeyError or TypeError for anything else."""
        sketches = {name: Sketch.from_json(part) for name, part in form["sketches"].items()}
        return cls(int(form["rows"]), {str(name): str(text) for name, text in form["columns"].items()}, sketches)


def likeness(table: pa.Table, secret: Secret) -> Likeness:
    """Look at a table as it was read."""
    tags = {name: secret.digest("name", name.encode()) for name in table.column_names}
    halves = {half: _Half(table.num_rows) for half in (ONE, OTHER)}

    def look(name: str) -> str:
        half = halves[ONE if int(tags[name][-1], 16) % 2 else OTHER]
        total = half.add(Hashing(name, secret).blocks(table.column(name)))
        return secret.digest(f"content {name}", total.to_bytes(8, "little"))[:16]

    with ThreadPoolExecutor(os.cpu_count() or 1) as threads:
        contents = list(threads.map(look, table.column_names))
    both = halves[ONE].sums + halves[OTHER].sums
    groups = {ALL: both} | {name: half.sums for name, half in halves.items() if half.columns >= FEWEST}
    with ThreadPoolExecutor(os.cpu_count() or 1) as threads:
        sketches = dict(zip(groups, threads.map(lambda rows: sketch(rows, secret), groups.values()), strict=True))
    columns = {tag[:16]: content for tag, content in zip(tags.values(), contents, strict=True)}
    return Likeness(table.num_rows, dict(sorted(columns.items())), sketches)


class _Half:
    """Owns the sums of the numbers of each row's cells in some columns."""

    def __init__(self, rows: int) -> None:
        self.sums: Words = np.zeros(rows, dtype=np.uint64)
        self.columns = 0
        self._lock = Lock()

    def add(self, blocks: Iterator[Words]) -> int:
        """One more column, block by block; give the sum of all its cells."""
        at = total = 0
        for words in blocks:
            with self._lock:
                self.sums[at : at + len(words)] += words
            at += len(words)
            total += int(words.sum())
        self.columns += 1
        return total % 2**64
