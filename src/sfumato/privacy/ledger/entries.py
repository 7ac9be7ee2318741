"""What the lines of a ledger say, put together: each spending and each release once, with what became of it.

By its likeness the ledger knows a table again: whole, with other columns, or nearly. It is taken of the table as it was
read, so that no recipe changes it, and is keyed with the ledger's secret, so that it tells nobody what is in the table.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from threading import Lock
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.data.codes import side_by_side
from sfumato.data.sources.source import RawTable
from sfumato.data.table import Column, ItemColumn, Table
from sfumato.privacy.ledger.chain import RESTORE, Chain, LedgerError
from sfumato.privacy.ledger.keyed_rows import Hashing, Secret, Words
from sfumato.privacy.ledger.sketches import Shared, Sketch, gone, shared, sketch

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
        return self.rows == other.rows and 2 * self._equal(other) > min(len(self.columns), len(other.columns))

    def _equal(self, other: Likeness) -> int:
        """How many columns hold the same."""
        return sum(other.columns.get(name) == digest for name, digest in self.columns.items())

    def shared(self, other: Likeness) -> Shared:
        """How much both have in common: by whole rows, or, if these tell nothing, by one half of the columns.

        Where one has columns that the other lacks, or that were cleaned, whole rows are never equal; but a table of as
        many rows, of which most columns hold the same, and more than one, is the same people.
        """
        pairs = [(part, other.sketches[name]) for name, part in self.sketches.items() if name in other.sketches]
        found = [shared(*pair) for pair in pairs]
        if self.columns != other.columns and self.same(other) and self._equal(other) >= FEWEST:
            found.append(Shared(1.0, telling=True))
        return next((one for one in found if one.telling), found[0] if found else Shared(0.0, telling=False))

    def gone(self, earlier: Likeness) -> float:
        """The share of an earlier table's rows that this one lacks; 0 where their columns differ: nothing is known."""
        if ALL not in self.sketches or ALL not in earlier.sketches or self.columns.keys() != earlier.columns.keys():
            return 0.0
        return gone(earlier.sketches[ALL], self.sketches[ALL])

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


def likeness(seen: RawTable | pa.Table, secret: Secret) -> Likeness:
    """Look at a table as it was read."""
    table = seen if isinstance(seen, RawTable) else RawTable.of(seen)
    tags = {name: secret.digest("name", name.encode()) for name in table.columns}
    halves = {half: _Half(table.rows) for half in (ONE, OTHER)}

    def look(name: str) -> str:
        half = halves[ONE if int(tags[name][-1], 16) % 2 else OTHER]
        total = half.add(Hashing(name, secret).blocks(table.columns[name]))
        return secret.digest(f"content {name}", total.to_bytes(8, "little"))[:16]

    contents = side_by_side(look, table.columns)
    sketches = {ALL: sketch(halves[ONE].sums + halves[OTHER].sums, secret)}  # one at a time: each takes memory
    sketches |= {name: sketch(half.sums, secret) for name, half in halves.items() if half.columns >= FEWEST}
    columns = {tag[:16]: content for tag, content in zip(tags.values(), contents, strict=True)}
    return Likeness(table.rows, dict(sorted(columns.items())), sketches)


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


# How ledgers of earlier versions knew a table: by a hash of its content after the recipe had changed it.
# Kept so that what was spent and released then is not forgotten: see `likeness` for how tables are known now.
def former_fingerprint(table: Table) -> bytes:
    """A hash of the names, the distinct values and the rows of a table, in whatever order they stand.

    A row's hash is the sum of one 64-bit number for each of its values (tabulation hashing: Carter and Wegman 1979),
    drawn from a generator that the names and values seed; the sorted hashes of all rows are hashed again. The same
    rows always give the same bytes. Other rows with the same values give the same by accident with a chance below
    rows / 2^64, and then two tables are counted as one, which costs budget and no privacy.
    """
    names = sorted(table.columns)
    digest = hashlib.sha256()
    for name in names:
        digest.update(_described(name, table.columns[name].values))
    chance = np.random.Generator(np.random.Philox(int.from_bytes(digest.digest()[:16], "little")))
    rows = np.zeros(table.rows, dtype=np.uint64)
    for name in names:
        rows += _row_hashes(table.columns[name], chance)
    digest.update(np.sort(rows).astype("<u8").tobytes())
    return digest.digest()


def _row_hashes(column: Column | ItemColumn, chance: np.random.Generator) -> NDArray[np.uint64]:
    """(rows,): the number of each row's value; of a set, the sum of its items' numbers. Sums wrap around."""
    drawn = chance.integers(0, 2**64, size=len(column.values) + 1, dtype=np.uint64)
    if isinstance(column, Column):
        return drawn[column.codes]
    sums = np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum(drawn[column.codes], dtype=np.uint64)])
    found: NDArray[np.uint64] = sums[column.offsets[1:]] - sums[column.offsets[:-1]]
    found[column.missing_rows] = drawn[-1]
    return found


def _described(name: str, values: pa.Array[Any]) -> bytes:
    """A column's name and its distinct values, so that no two columns look alike.

    Numbers count by their value, not by their type: a table read with whole numbers is known when it comes back with
    the same ones as floating point.
    """
    kind, content = _content(values)
    return json.dumps([name, kind, len(values), len(content)]).encode() + content


def _content(values: pa.Array[Any]) -> tuple[str, bytes]:
    if pa.types.is_integer(values.type) or pa.types.is_floating(values.type):
        numbers = values.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False) + 0.0  # no negative zero
        return "numbers", numbers.astype("<f8").tobytes()
    texts = [str(value) for value in values.to_pylist()]
    return "texts", json.dumps(texts).encode()


Kind = Literal["spending", "release"]
OPENING: Mapping[str, Kind] = {"reserved": "spending", "intended": "release"}
"""Lines that begin an entry, and what it is."""
CLOSING = {"given_back": "spending", "written": "release", "withdrawn": "release"}
"""Lines that tell what became of an entry, and of which kind that must be."""


@dataclass(frozen=True)
class Entry:
    """A spending: what one run may spend on some people. A release: what was put into which folder.

    `people` is the declared name of the people, or a keyed hash of the table's content; `likeness` is how that table
    is known again, whatever its people are called. `recipe` and `certificate` are the SHA-256 of the texts that lie in
    the holder's folder and in the release. `given_back`: the run stopped before it looked at the data. `written`: the
    release stood under its final name; one that is only intended may, if the run was killed in the moment between.
    `withdrawn`: the holder says that it never left the house, and is gone.
    """

    id: str
    kind: Kind
    people: str
    mask: str
    when: str
    epsilon: Fraction | None = None
    recipe: str = ""
    guarantee: str = ""
    claims: Sequence[Mapping[str, Any]] = ()
    certificate: str = ""
    folder: str = ""
    given_back: bool = False
    written: bool = False
    withdrawn: bool = False
    likeness: Likeness | None = None

    def to_json(self) -> dict[str, Any]:
        """The line that begins this entry."""
        line = {"spending": "reserved", "release": "intended"}[self.kind]
        epsilon = {} if self.epsilon is None else {"epsilon": str(self.epsilon)}
        form: dict[str, Any] = {
            "line": line,
            "id": self.id,
            "people": self.people,
            "mask": self.mask,
            "when": self.when,
            **epsilon,
            "recipe": self.recipe,
        }
        if self.likeness is not None:
            form["likeness"] = self.likeness.to_json()
        if self.kind == "spending":
            return form
        return {
            **form,
            "guarantee": self.guarantee,
            "claims": list(self.claims),
            "certificate": self.certificate,
            "folder": self.folder,
        }


def now() -> str:
    """The time in UTC, as it is written down."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def new_id() -> str:
    """A name for an entry that no other has."""
    return secrets.token_hex(8)


def closing(line: str, entry: Entry) -> dict[str, str]:
    """The line that tells what became of an entry: given_back, written or withdrawn."""
    return {"line": line, "id": entry.id, "when": now()}


def entries_of(chain: Chain, path: Path) -> list[Entry]:
    """All entries, oldest first."""
    found: dict[str, Entry] = {}
    for at, form in enumerate(chain.forms, start=1):
        try:
            entry = _closed(form, found) if form["line"] in CLOSING else _opened(form, found)
        except (ValueError, KeyError, TypeError):
            raise LedgerError(
                f"{path}, line {at}",
                "every line of the ledger is an entry",
                given="a line that this version does not know",
                remedy=RESTORE,
            ) from None
        found[entry.id] = entry
    return list(found.values())


def _opened(form: Mapping[str, Any], found: Mapping[str, Entry]) -> Entry:
    if form["id"] in found:
        raise ValueError
    fields = {name: value for name, value in form.items() if name != "line"}
    if not all(isinstance(value, str) for name, value in fields.items() if name not in ("claims", "likeness")):
        raise TypeError
    datetime.fromisoformat(fields["when"])
    if "epsilon" in fields:
        fields["epsilon"] = Fraction(fields["epsilon"])
        if fields["epsilon"] <= 0:
            raise ValueError
    if "likeness" in fields:
        fields["likeness"] = Likeness.from_json(fields["likeness"])
    return Entry(kind=OPENING[form["line"]], **fields)


def _closed(form: Mapping[str, Any], found: Mapping[str, Entry]) -> Entry:
    entry = found[form["id"]]
    if entry.kind != CLOSING[form["line"]]:
        raise ValueError
    became: Any = {form["line"]: True}
    return replace(entry, **became)


@dataclass(frozen=True)
class People:
    """Whose records a run is about: by the name that the recipe gives them, by their table, or by both.

    `called` is how an entry of theirs calls them. `formerly`: how ledgers of earlier versions called that table.
    """

    called: str
    likeness: Likeness | None = None
    formerly: str | None = None

    @classmethod
    def named(cls, name: str, likeness: Likeness | None = None) -> People:
        """People with a name.

        >>> People.named("census").called
        'named census'
        """
        return cls(f"named {name}", likeness)

    def calls(self, entry: Entry) -> bool:
        """Whether an entry calls its people so."""
        return entry.people in (self.called, self.formerly)

    def own(self, entry: Entry) -> bool:
        """Whether what an entry spent is counted: of people of the same name, or of the same table under any name."""
        if self.calls(entry):
            return True
        return self.likeness is not None and entry.likeness is not None and self.likeness.same(entry.likeness)

    def share(self, entry: Entry) -> float | None:
        """The share of rows that the tables have in common; None where it is no more than chance explains."""
        if self.likeness is None or entry.likeness is None:
            return None
        shared = self.likeness.shared(entry.likeness)
        return shared.share if shared.telling else None


def spent_on(people: People, entries: Iterable[Entry]) -> Fraction:
    """What all runs together spent on these people."""
    spendings = (e for e in entries if e.kind == "spending" and not e.given_back and people.own(e))
    return sum((e.epsilon for e in spendings if e.epsilon is not None), Fraction(0))
