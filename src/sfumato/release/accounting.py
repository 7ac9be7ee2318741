"""A run and the holder's ledger: under whose name it is entered, what was released before, what it may spend."""

from __future__ import annotations

import hashlib
import warnings
from contextlib import AbstractContextManager, nullcontext

from sfumato.data.table import Table
from sfumato.errors import visible
from sfumato.maskers.registry import name_of
from sfumato.privacy.ledger import Account, Entry, Ledger
from sfumato.privacy.mechanisms import Mechanisms
from sfumato.recipe import Recipe


def account_of(people: Table, recipe: Recipe, *, mechanisms: Mechanisms | None, ledger: Ledger) -> Account | None:
    """Where a release of these people will be entered; nowhere if its noise comes from a seed.

    Warns of earlier releases of the same table, unless the recipe tells of them.
    """
    if mechanisms is not None and not mechanisms.noise.private:
        return None
    account = Account(ledger, ledger.people_of(people, recipe.budget))
    earlier = account.earlier(private=mechanisms is not None)
    if earlier and not getattr(recipe, "earlier", ()):
        warnings.warn(visible(_told(earlier)), stacklevel=3)
    return account


def reserving(account: Account | None, recipe: Recipe, mechanisms: Mechanisms | None) -> AbstractContextManager[None]:
    """Under a budget: entered in the ledger before anything is spent, and compared with what was spent after."""
    if mechanisms is None:
        return nullcontext()
    if account is None:  # noise from a seed: compared only
        return Ledger().reserved("", mechanisms, mask="")
    return account.ledger.reserved(account.people, mechanisms, mask=name_of(recipe.mask), recipe=recipe_hash(recipe))


def recipe_hash(recipe: Recipe) -> str:
    """The SHA-256 of recipe.yaml, as it is written to the holder's folder."""
    return hashlib.sha256(recipe.to_yaml().encode()).hexdigest()


def _told(earlier: list[Entry]) -> str:
    number = "an earlier release" if len(earlier) == 1 else f"{len(earlier)} earlier releases"
    return (
        f"the ledger knows {number} of this table, the last of {earlier[-1].when} in {earlier[-1].folder}. Whoever has "
        "several releases can join them: what is claimed of each alone is not claimed of all together"
    )
