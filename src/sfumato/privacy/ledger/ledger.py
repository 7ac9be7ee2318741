"""The holder's ledger of one state folder: reserve, spend, release, and what is known of the same people."""

from __future__ import annotations

import hashlib
import hmac
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa

from sfumato.data.sources.source import RawTable
from sfumato.data.table import Table
from sfumato.errors import RecipeError, warn
from sfumato.privacy.budget import Budget, BudgetError
from sfumato.privacy.ledger.chain import Appender, Chain, LedgerError, appending, lost_key, read_chain
from sfumato.privacy.ledger.entries import (
    Entry,
    Likeness,
    People,
    closing,
    entries_of,
    former_fingerprint,
    likeness,
    new_id,
    now,
    spent_on,
)
from sfumato.privacy.ledger.keyed_rows import Secret, make_secret, read_secret
from sfumato.privacy.mechanisms import Mechanisms

Check = Callable[[Sequence[Entry]], None]


def ledger_path() -> Path:
    """Where the ledger is kept: in XDG_STATE_HOME, or in ~/.local/state."""
    state = os.environ.get("XDG_STATE_HOME")
    return (Path(state) if state else Path.home() / ".local" / "state") / "sfumato" / "ledger.jsonl"


class Ledger:
    """Owns a file of entries and the secret under which it knows tables."""

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

    def releases(self) -> list[Entry]:
        """The releases that may be out, oldest first: those too that were only intended, none that was withdrawn."""
        return [entry for entry in self.entries() if entry.kind == "release" and not entry.withdrawn]

    def releases_of(self, people: People) -> list[Entry]:
        """Those of these people."""
        return [entry for entry in self.releases() if people.own(entry)]

    def spent(self, people: People) -> Fraction:
        """What all runs together spent on these people."""
        return spent_on(people, self.entries())

    def look(self, table: RawTable | pa.Table) -> Likeness:
        """How a table will be known again: to be shown it as it was read, before a recipe changes anything."""
        return likeness(table, self._secret())

    def people_of(self, seen: Likeness, table: Table, *, name: str | None = None) -> People:
        """Whose records these are: of a table that was looked at, and of what the recipe made of it."""
        called = f"table {seen.digest()}" if name is None else f"named {name}"
        return People(called, seen, self._formerly(table))

    def _formerly(self, table: Table) -> str | None:
        """What the table is called in entries of earlier versions, if there are any."""
        if not any(entry.likeness is None and entry.people.startswith("table ") for entry in self.entries()):
            return None
        return "table " + hmac.new(self._secret().key, former_fingerprint(table), hashlib.sha256).hexdigest()[:32]

    def reserve(self, people: People, budget: Budget, *, mask: str, recipe: str = "") -> Entry:
        """Write down that this run spends its epsilon; refused where that exceeds the total."""
        known = None if people.likeness is None else replace(people.likeness, sketches={})  # nothing is out yet
        with appending(self.path) as file:
            before = spent_on(people, entries_of(file.chain, self.path))
            if budget.total is not None and before + budget.epsilon > budget.total:
                raise BudgetError(
                    "total",
                    "all runs on the same people together cost no more than their total",
                    given=f"{before} spent before, {budget.epsilon} asked, a total of {budget.total}",
                    remedy="ask for a smaller epsilon, or decide anew what these people may be charged and raise total",
                )
            entry = Entry(
                new_id(), "spending", people.called, mask, now(), budget.epsilon, recipe=recipe, likeness=known
            )
            file.append(entry.to_json())
        return entry

    def give_back(self, entry: Entry) -> None:
        """Take a spending back whose run stopped before it looked at the data."""
        self._close("given_back", entry)

    @contextmanager
    def reserved(self, people: People, mechanisms: Mechanisms, *, mask: str, recipe: str = "") -> Iterator[None]:
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
                self._try_to_give_back(entry)
            raise
        spending.check_complete()

    def _try_to_give_back(self, entry: Entry) -> None:
        """What cannot be given back stays spent; why the run stopped is told, not this."""
        try:
            self.give_back(entry)
        except LedgerError as error:
            warn(f"nothing was spent, and yet epsilon stays entered as spent: {error}")

    def intend(
        self,
        people: People,
        *,
        recipe: str,
        certificate: bytes,
        form: Mapping[str, Any],
        folder: str,
        check: Check = lambda _: None,
    ) -> Entry:
        """Write down a release before it gets its final name. `form` is what the certificate says.

        `check` is given all entries, while nobody else can add one, and raises where this one must not follow them.
        """
        epsilon = form.get("differential_privacy", {}).get("epsilon")
        entry = Entry(
            new_id(),
            "release",
            people.called,
            str(form["mask"]),
            now(),
            epsilon=None if epsilon is None else Fraction(epsilon),
            recipe=recipe,
            guarantee=str(form["guarantee"]),
            claims=form["claims"],
            certificate=hashlib.sha256(certificate).hexdigest(),
            folder=folder,
            likeness=people.likeness,
        )
        with appending(self.path) as file:
            check(entries_of(file.chain, self.path))  # nothing is added to a ledger that cannot be read
            file.append(entry.to_json())
        return entry

    def written(self, entry: Entry) -> None:
        """Write down that a release stands under its final name."""
        self._close("written", entry)

    def withdrawn(self, entry: Entry) -> None:
        """Write down that a release never left the house, and is gone: it is not joined with later ones."""
        self._close("withdrawn", entry)

    def _close(self, line: str, entry: Entry) -> None:
        with appending(self.path) as file:
            file.append(closing(line, entry))

    def _secret(self) -> Secret:
        """What tables are known by, made once; it never leaves the holder."""
        path = self.path.with_suffix(".key")
        with appending(self.path) as file:
            return read_secret(path) or self._first_secret(path, file)

    def _first_secret(self, path: Path, file: Appender) -> Secret:
        """Without its key a ledger would know none of its tables again."""
        entries = entries_of(file.chain, self.path)
        if any(entry.likeness is not None or entry.people.startswith("table ") for entry in entries):
            raise lost_key(path, "none, and entries that were made with it")
        return make_secret(path)


# Where a release will be entered and as whose; which earlier ones it can be joined with, and whether it may be.
@dataclass(frozen=True)
class Known:
    """An earlier release that can be joined with one to come, and the share of rows that both tables have in common.

    None: it is of the same people by name, or by how an earlier version knew the table.
    """

    entry: Entry
    share: float | None


@dataclass(frozen=True)
class Rules:
    """What a recipe says of several releases of the same people.

    `name`: what it calls them. `told`: the SHA-256 of the certificates of the earlier releases that it is made safe
    with. `accepted`: others may be out as well. `private`: it spends a budget, and private releases add up. `follow`:
    how a release could be made safe with earlier ones, in words; nothing where it cannot.
    """

    name: str | None = None
    told: frozenset[str] = frozenset()
    accepted: bool = False
    private: bool = False
    follow: Callable[[Sequence[Entry]], str] = field(default=lambda entries: "", compare=False)

    def joinable(self, entry: Entry) -> bool:
        """Whether an entry is of a release that is not accounted for."""
        return entry.kind == "release" and not entry.withdrawn and entry.certificate not in self.told

    def refuse(self, entries: Sequence[Entry], *, certificate: str = "") -> None:
        """A second release of people with a name, of which the recipe says nothing; the same one again is no second.

        One under a budget keeps its promise whatever else is out, and is counted.
        """
        if self.name is None or self.accepted or self.private:
            return
        called = People.named(self.name).called
        mine = [entry for entry in entries if entry.people == called and entry.certificate != certificate]
        others = [entry for entry in mine if self.joinable(entry)]
        if others:
            recoded = [entry for entry in others if entry.epsilon is None]
            raise _again(self.name, recoded or others, self.follow(recoded or others))


COMPARED = "whoever has two releases of the same people can compare them, and reads off what only one of them holds"
UNCOUNTED = (
    "epsilon bounds what the releases under a budget tell of these people together: one without a budget is counted "
    "nowhere, and what it tells is bounded by no epsilon"
)


def _again(name: str, others: Sequence[Entry], follow: str) -> RecipeError:
    """Rows that were generated are nobody's to be compared with: there it is the budget that ends."""
    last = others[-1]
    more = "" if len(others) == 1 else f", and {len(others) - 1} before it"
    return RecipeError(
        f"people: {name}",
        COMPARED if last.epsilon is None else UNCOUNTED,
        given=f"the ledger knows one of {last.when[:16]} in {last.folder}{more}",
        remedy=f"{follow + '; ' if follow else ''}publish under a budget (mask: private_tree, budget: {{epsilon: 1}}; "
        "no earlier), which is counted and keeps its promise whatever else is out; if that one never left the house, "
        f"delete it and say `sfumato ledger --withdraw {last.id[:8]}`; to look at what would come out, `sfumato "
        "publish --trial`; or take the risk and say i_understand: several_releases",
    )


@dataclass(frozen=True)
class Account:
    """Where a release will be entered, as whose, and by which rules.

    `untold`: nobody was told yet what it can be joined with, as it was to be a trial.
    """

    ledger: Ledger
    people: People
    rules: Rules = Rules()
    untold: bool = False

    def shrunk(self) -> list[tuple[Entry, float]]:
        """Of the releases that it is made safe with, those of a table some rows of which are gone or changed since, and
        about which share of them. Nothing is said of tables with other columns."""
        seen = self.people.likeness
        told = [entry for entry in self.ledger.releases() if entry.certificate in self.rules.told]
        found = [(entry, seen.gone(entry.likeness)) for entry in told if seen and entry.likeness]
        return [(entry, share) for entry, share in found if share > 0]

    def known(self, *, certificate: str = "") -> list[Known]:
        """Releases that can be joined with one to come, oldest first: of these people, or of nearly the same table.

        Private ones of the same people do not count among themselves: their epsilons add up. One that stands in several
        folders is one; `certificate`: the SHA-256 of that of the one to come, which is no other either.
        """
        found: dict[str, Known] = {}
        for entry in filter(self.rules.joinable, self.ledger.releases()):
            adds_up = self.rules.private and entry.epsilon is not None and self.people.own(entry)
            share = self.people.share(entry)
            same = bool(certificate) and entry.certificate == certificate
            if not adds_up and not same and (share is not None or self.people.calls(entry)):
                key = entry.certificate or entry.id
                found.pop(key, None)
                found[key] = Known(entry, share)
        return list(found.values())
