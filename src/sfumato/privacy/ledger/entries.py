"""What the lines of a ledger say, put together: each spending and each release once, with what became of it."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal

from sfumato.privacy.ledger.chain import Chain
from sfumato.privacy.ledger.likeness import Likeness
from sfumato.privacy.ledger.trouble import RESTORE, LedgerError

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
        return {**form, "guarantee": self.guarantee, "claims": list(self.claims), "certificate": self.certificate,
                "folder": self.folder}  # fmt: skip


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
            raise LedgerError(f"{path}, line {at}", "every line of the ledger is an entry",
                              given="a line that this version does not know", remedy=RESTORE) from None  # fmt: skip
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
