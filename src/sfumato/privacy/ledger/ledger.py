"""The holder's ledger of one state folder: reserve, spend, release, and what is known of the same people."""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from sfumato.data.table import Table
from sfumato.privacy.budget import Budget, BudgetError
from sfumato.privacy.ledger.chain import Appender, Chain, LedgerError, appending, read_chain, sync
from sfumato.privacy.ledger.entries import Entry, closing, entries_of, new_id, now, spent_on
from sfumato.privacy.ledger.fingerprints import fingerprint
from sfumato.privacy.mechanisms import Mechanisms

KEY_BYTES = 32


def ledger_path() -> Path:
    """Where the ledger is kept: in XDG_STATE_HOME, or in ~/.local/state."""
    state = os.environ.get("XDG_STATE_HOME")
    return (Path(state) if state else Path.home() / ".local" / "state") / "sfumato" / "ledger.jsonl"


class Ledger:
    """Owns a file of entries and the key of its table hashes."""

    def __init__(self, path: str | Path | None = None) -> None:
        self.path = Path(path) if path is not None else ledger_path()

    def check(self) -> None:
        """Refuse a ledger that cannot be written, or is not what was written: before any work, not after."""
        with appending(self.path) as file:
            entries_of(file.chain, self.path)

    def chain(self) -> Chain:
        """The lines and their hashes; raises LedgerError where one was changed, taken out or put in."""
        return read_chain(self.path)

    def entries(self) -> Sequence[Entry]:
        """All spendings and releases, oldest first."""
        return tuple(entries_of(self.chain(), self.path))

    def releases_of(self, people: str) -> list[Entry]:
        """The releases of these people, oldest first, those too that were only intended."""
        return [entry for entry in self.entries() if entry.kind == "release" and entry.people == people]

    def spent(self, people: str) -> Fraction:
        """What all runs together spent on these people."""
        return spent_on(people, self.entries())

    def people_of(self, table: Table, budget: Budget | None = None) -> str:
        """The name that the budget gives, or a keyed hash of the table's content."""
        if budget is not None and budget.people is not None:
            return f"named {budget.people}"
        return "table " + hmac.new(self._key(), fingerprint(table), hashlib.sha256).hexdigest()[:32]

    def reserve(self, people: str, budget: Budget, *, mask: str, recipe: str = "") -> Entry:
        """Write down that this run spends its epsilon; refused where that exceeds the total."""
        with appending(self.path) as file:
            before = spent_on(people, entries_of(file.chain, self.path))
            if budget.total is not None and before + budget.epsilon > budget.total:
                raise BudgetError("total", "all runs on the same people together cost no more than their total",
                                  given=f"{before} spent before, {budget.epsilon} asked, a total of {budget.total}",
                                  remedy="ask for a smaller epsilon, or decide anew what these people may be charged "
                                         "and raise total")  # fmt: skip
            entry = Entry(new_id(), "spending", people, mask, now(), budget.epsilon, recipe=recipe)
            file.append(entry.to_json())
        return entry

    def give_back(self, entry: Entry) -> None:
        """Take a spending back whose run stopped before it looked at the data."""
        self._close("given_back", entry)

    @contextmanager
    def reserved(self, people: str, mechanisms: Mechanisms, *, mask: str, recipe: str = "") -> Iterator[None]:
        """Reserve the budget of a run; give it back only if the run fails before it spent anything.

        Noise that is not private protects nobody and is not entered. At the end what was spent is what was declared.
        """
        spending = mechanisms.spending
        private = mechanisms.noise.private
        entry = self.reserve(people, spending.budget, mask=mask, recipe=recipe) if private else None
        try:
            yield
        except BaseException:
            if entry is not None and not spending.events:
                self.give_back(entry)
            raise
        spending.check_complete()

    def intend(self, people: str, *, recipe: str, certificate: bytes, form: Mapping[str, Any], folder: str) -> Entry:
        """Write down a release before it gets its final name. `form` is what the certificate says."""
        epsilon = form.get("differential_privacy", {}).get("epsilon")
        entry = Entry(
            new_id(), "release", people, str(form["mask"]), now(), None if epsilon is None else Fraction(epsilon),
            recipe, str(form["guarantee"]), form["claims"], hashlib.sha256(certificate).hexdigest(), folder,
        )  # fmt: skip
        with appending(self.path) as file:
            entries_of(file.chain, self.path)  # nothing is added to a ledger that cannot be read
            file.append(entry.to_json())
        return entry

    def written(self, entry: Entry) -> None:
        """Write down that a release stands under its final name."""
        self._close("written", entry)

    def _close(self, line: str, entry: Entry) -> None:
        with appending(self.path) as file:
            file.append(closing(line, entry))

    def _key(self) -> bytes:
        """The key of table hashes, made once; it never leaves the holder."""
        path = self.path.with_suffix(".key")
        with appending(self.path) as file:
            if not path.is_file():
                self._make_key(path, file)
            key = path.read_bytes()
        if len(key) != KEY_BYTES:
            raise _lost(path, "one of another length")
        return key

    def _make_key(self, path: Path, file: Appender) -> None:
        """A kill leaves a whole key or none. Without its key a ledger would know none of its tables again."""
        if any(entry.people.startswith("table ") for entry in entries_of(file.chain, self.path)):
            raise _lost(path, "none, and entries that were made with it")
        fresh = path.with_suffix(".fresh")
        with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as key:
            key.write(secrets.token_bytes(KEY_BYTES))
            key.flush()
            os.fsync(key.fileno())
        fresh.replace(path)
        sync(path.parent)


@dataclass(frozen=True)
class Account:
    """Where a release will be entered, and as whose."""

    ledger: Ledger
    people: str

    def earlier(self, *, private: bool) -> list[Entry]:
        """Releases that can be joined with one to come. Private ones do not count among themselves: they add up."""
        return [entry for entry in self.ledger.releases_of(self.people) if not (private and entry.epsilon is not None)]


def _lost(path: Path, given: str) -> LedgerError:
    return LedgerError(str(path), "the ledger knows tables by the key that it was begun with", given=given,
                       remedy="restore the key from a good copy; to begin anew, move the ledger away as well and count "
                              "what it held as spent")  # fmt: skip
