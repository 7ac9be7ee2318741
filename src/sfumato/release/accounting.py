"""A run and the holder's ledger: under whose name it is entered, what was released before, what it may spend."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from pathlib import Path

import pyarrow as pa

from sfumato.data.table import Table
from sfumato.errors import visible
from sfumato.maskers.registry import name_of
from sfumato.privacy.ledger import Account, Known, Ledger, Likeness, People, Rules
from sfumato.privacy.mechanisms import Mechanisms
from sfumato.recipe import Recipe

SHORT = 8
"""So many digits of an entry's id are shown."""


class Accounting:
    """Owns what the ledger gets to see of one run: the rules of the recipe, then the table as it is read.

    A run whose noise comes from a seed is not private and never entered: the ledger is not even opened. With
    `trial` nothing will be written, so that earlier releases are neither told nor in the way.
    """

    def __init__(self, recipe: Recipe, mechanisms: Mechanisms | None, ledger: Ledger, *, trial: bool = False) -> None:
        self.recipe, self.mechanisms, self.ledger, self.trial = recipe, mechanisms, ledger, trial
        self.entered = mechanisms is None or mechanisms.noise.private
        self._seen: Likeness | None = None

    def begin(self) -> None:
        """Refuse what the ledger forbids, before any work."""
        if self.entered and not self.trial:
            rules_of(self.recipe).refuse(self.ledger.entries())

    def look(self, table: pa.Table) -> None:
        """See the table as it was read, before the recipe changes anything in it."""
        if self.entered:
            self._seen = self.ledger.look(table)

    def account(self, people: Table) -> Account | None:
        """Where a release of these people will be entered. Warns of what can be joined with it."""
        if self._seen is None:
            return None
        whose = self.ledger.people_of(self._seen, people, name=self.recipe.people)
        account = Account(self.ledger, whose, rules_of(self.recipe))
        known = [] if self.trial else account.known()
        if known:
            warnings.warn(visible(_told(known, private=self.mechanisms is not None)), stacklevel=3)
        return account


def rules_of(recipe: Recipe) -> Rules:
    """What a recipe says of several releases of the same people."""
    told = set()
    for folder in () if recipe.earlier is None else recipe.earlier.releases:
        with suppress(OSError):  # a release that is not there is told where it is read
            told.add(hashlib.sha256((Path(folder) / "certificate.json").read_bytes()).hexdigest())
    return Rules(recipe.people, frozenset(told), "several_releases" in recipe.understood, recipe.budget is not None)


def reserving(account: Account | None, recipe: Recipe, mechanisms: Mechanisms | None) -> AbstractContextManager[None]:
    """Under a budget: entered in the ledger before anything is spent, and compared with what was spent after."""
    if mechanisms is None:
        return nullcontext()
    if account is None:  # noise from a seed: compared only
        return Ledger().reserved(People(""), mechanisms, mask="")
    return account.ledger.reserved(account.people, mechanisms, mask=name_of(recipe.mask), recipe=recipe_hash(recipe))


def recipe_hash(recipe: Recipe) -> str:
    """The SHA-256 of recipe.yaml, as it is written to the holder's folder."""
    return hashlib.sha256(recipe.to_yaml().encode()).hexdigest()


def _told(known: Sequence[Known], *, private: bool) -> str:
    last = max(known, key=lambda one: one.share or 0.0) if known[-1].share is None else known[-1]
    number = "an earlier release" if len(known) == 1 else f"{len(known)} earlier releases"
    share = "" if last.share is None else f", with about {last.share * 100:.0f} % of the smaller one's rows in common"
    remedy = (
        "If they are the same people, give both recipes the same people: NAME, so that their epsilons add up"
        if private and last.entry.epsilon is not None
        else "Where the table is the same or has only grown, make this one safe with it (earlier: {releases: "
        f"[{last.entry.folder}], people: same or growing}}); else publish under a budget, or hand over one of them "
        "only. If that one never left the house, delete it and say "
        f"`sfumato ledger --withdraw {last.entry.id[:SHORT]}`"
    )
    return (
        f"the ledger knows {number} of this table, or of nearly this table: the last of {last.entry.when} in "
        f"{last.entry.folder}{share}. Whoever has both can compare them and reads off what only one of them holds: "
        f"every value of a person who is missing from the other. {remedy}"
    )
