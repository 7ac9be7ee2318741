"""Where a release will be entered and as whose; which earlier ones it can be joined with, and whether it may be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sfumato.errors import RecipeError
from sfumato.privacy.ledger.entries import Entry, People
from sfumato.privacy.ledger.ledger import Ledger


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
    with. `accepted`: others may be out as well. `private`: it spends a budget, and private releases add up.
    """

    name: str | None = None
    told: frozenset[str] = frozenset()
    accepted: bool = False
    private: bool = False

    def joinable(self, entry: Entry) -> bool:
        """Whether an entry is of a release that is not accounted for."""
        return entry.kind == "release" and not entry.withdrawn and entry.certificate not in self.told

    def refuse(self, entries: Sequence[Entry], *, certificate: str = "") -> None:
        """A second release of people with a name, of which the recipe says nothing; the same one again is no second."""
        if self.name is None or self.accepted:
            return
        called = People.named(self.name).called
        mine = [entry for entry in entries if entry.people == called and entry.certificate != certificate]
        others = [e for e in mine if self.joinable(e) and not (self.private and e.epsilon is not None)]
        if others:
            raise _again(self.name, others)


def _again(name: str, others: Sequence[Entry]) -> RecipeError:
    last = others[-1]
    more = "" if len(others) == 1 else f", and {len(others) - 1} before it"
    return RecipeError(
        f"people: {name}",
        "whoever has two releases of the same people can compare them, and reads off what only one of them holds",
        given=f"the ledger knows one of {last.when[:16]} in {last.folder}{more}",
        remedy=f"where the table is the same or has only grown, say earlier: {{releases: [{last.folder}], people: same "
        "or growing}; if that one never left the house, delete it and say `sfumato ledger --withdraw "
        f"{last.id[:8]}`; or take the risk and say i_understand: several_releases",
    )


@dataclass(frozen=True)
class Account:
    """Where a release will be entered, as whose, and by which rules."""

    ledger: Ledger
    people: People
    rules: Rules = Rules()

    def known(self) -> list[Known]:
        """Releases that can be joined with one to come, oldest first: of these people, or of nearly the same table.

        Private ones of the same people do not count among themselves: their epsilons add up.
        """
        found = []
        for entry in filter(self.rules.joinable, self.ledger.releases()):
            adds_up = self.rules.private and entry.epsilon is not None and self.people.own(entry)
            share = self.people.share(entry)
            if not adds_up and (share is not None or self.people.calls(entry)):
                found.append(Known(entry, share))
        return found
