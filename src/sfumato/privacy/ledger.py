"""The holder's ledger: what has been spent on which people, over all runs, added up (sequential composition).

One line of JSON per entry in a file that only the holder reads. A table is known by a keyed hash of its content, in
whatever order its rows stand, so that the ledger tells nobody what is in it; or by the name that the budget gives its
people. Spending is written before it happens, under a lock: two runs cannot both spend the last share.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import IO, Any

import numpy as np

from sfumato.data.table import Column, ItemColumn, Table
from sfumato.errors import ReleaseError
from sfumato.privacy.budget import Budget, BudgetError
from sfumato.privacy.mechanisms import Mechanisms


def ledger_path() -> Path:
    """Where the ledger is kept: in XDG_STATE_HOME, or in ~/.local/state."""
    state = os.environ.get("XDG_STATE_HOME")
    return (Path(state) if state else Path.home() / ".local" / "state") / "sfumato" / "ledger.jsonl"


@dataclass(frozen=True)
class Entry:
    """What one run spent on some people. `given_back`: it stopped before it looked at the data."""

    id: str
    people: str
    epsilon: Fraction
    mask: str
    when: str
    given_back: bool = False


class Ledger:
    """Owns a file of entries and the key of its table hashes."""

    def __init__(self, path: str | Path | None = None) -> None:
        self.path = Path(path) if path is not None else ledger_path()

    def entries(self) -> Sequence[Entry]:
        """All entries, oldest first."""
        if not self.path.is_file():
            return ()
        with self.path.open(encoding="utf-8") as file:
            return _entries(file, self.path)

    def spent(self, people: str) -> Fraction:
        """What all runs together spent on these people."""
        return _spent(self.entries(), people)

    def people_of(self, table: Table, budget: Budget) -> str:
        """The name that the budget gives, or a hash of the table's content."""
        if budget.people is not None:
            return f"named {budget.people}"
        return "table " + hmac.new(self._key(), fingerprint(table), hashlib.sha256).hexdigest()[:32]

    def reserve(self, people: str, budget: Budget, *, mask: str) -> Entry:
        """Write down that this run spends its epsilon; refused where that exceeds the total."""
        with self._locked() as file:
            before = _spent(_entries(file, self.path), people)
            if budget.total is not None and before + budget.epsilon > budget.total:
                raise BudgetError("total", "all runs on the same people together cost no more than their total",
                                  given=f"{before} spent before, {budget.epsilon} asked, a total of {budget.total}",
                                  remedy="ask for a smaller epsilon, or decide anew what these people may be charged "
                                         "and raise total")  # fmt: skip
            now = datetime.now(UTC).isoformat(timespec="seconds")
            entry = Entry(secrets.token_hex(8), people, budget.epsilon, mask, now)
            _append(file, _form(entry))
        return entry

    def give_back(self, entry: Entry) -> None:
        """Take an entry back whose run stopped before it looked at the data."""
        with self._locked() as file:
            _append(file, {"given_back": entry.id})

    @contextmanager
    def reserved(self, table: Table, mechanisms: Mechanisms, *, mask: str) -> Iterator[None]:
        """Reserve the budget of a run; give it back only if the run fails before it spent anything.

        Noise that is not private protects nobody and is not entered. At the end what was spent is what was declared.
        """
        spending = mechanisms.spending
        private = mechanisms.noise.private
        entry = self.reserve(self.people_of(table, spending.budget), spending.budget, mask=mask) if private else None
        try:
            yield
        except BaseException:
            if entry is not None and not spending.events:
                self.give_back(entry)
            raise
        spending.check_complete()

    @contextmanager
    def _locked(self) -> Iterator[IO[str]]:
        import fcntl

        try:
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            file = os.fdopen(os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600), "r+", encoding="utf-8")
        except OSError as error:
            raise ReleaseError(str(self.path), "the ledger must be writable: nothing is spent that is not entered",
                               given=error.strerror or type(error).__name__,
                               remedy="set XDG_STATE_HOME to a folder of yours") from None  # fmt: skip
        with file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield file

    def _key(self) -> bytes:
        """The key of table hashes, made once; it never leaves the holder."""
        path = self.path.with_suffix(".key")
        with self._locked():
            if not path.is_file():
                with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                    file.write(secrets.token_bytes(32))
            return path.read_bytes()


def _entries(file: IO[str], path: Path) -> list[Entry]:
    file.seek(0)
    found: dict[str, Entry] = {}
    for line in file:
        try:
            form = json.loads(line)
            if "given_back" in form:
                taken = found[form["given_back"]]
                found[taken.id] = Entry(taken.id, taken.people, taken.epsilon, taken.mask, taken.when, True)
            else:
                found[form["id"]] = Entry(**{**form, "epsilon": Fraction(form["epsilon"])})
        except (ValueError, KeyError, TypeError):
            raise ReleaseError(str(path), "every line of the ledger is an entry", given="a line that is none",
                               remedy="restore it from a good copy; what was spent stays spent") from None  # fmt: skip
    return list(found.values())


def _spent(entries: Sequence[Entry], people: str) -> Fraction:
    return sum((e.epsilon for e in entries if e.people == people and not e.given_back), Fraction(0))


def _form(entry: Entry) -> dict[str, Any]:
    return {"id": entry.id, "people": entry.people, "epsilon": str(entry.epsilon), "mask": entry.mask,
            "when": entry.when}  # fmt: skip


def _append(file: IO[str], form: dict[str, Any]) -> None:
    file.seek(0, os.SEEK_END)
    file.write(json.dumps(form) + "\n")
    file.flush()
    os.fsync(file.fileno())


def fingerprint(table: Table) -> bytes:
    """A hash of the content of a table, the same for any order of its rows."""
    digest = hashlib.sha256()
    ranks = []
    for name in sorted(table.columns):
        column = table.columns[name]
        texts = [str(value) for value in column.values.to_pylist()]
        digest.update(json.dumps([name, texts]).encode())
        ranks.append(_ranks(column))
    order = np.lexsort(ranks) if ranks else np.zeros(0, dtype=np.int64)
    for rank in ranks:
        digest.update(rank[order].astype("<i8").tobytes())
    return digest.digest()


def _ranks(column: Column | ItemColumn) -> Any:
    """(rows,): where each value stands among the distinct ones; of sets, among the distinct sets."""
    if isinstance(column, Column):
        return column.codes.astype(np.int64)
    items = column.codes.astype("<u4")
    sets = [
        b"" if gone else b"+" + items[first:end].tobytes()
        for first, end, gone in zip(column.offsets[:-1], column.offsets[1:], column.missing_rows, strict=True)
    ]
    at = {held: place for place, held in enumerate(sorted(set(sets)))}
    return np.array([at[held] for held in sets], dtype=np.int64)
