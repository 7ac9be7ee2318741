"""What the lines of a ledger say, put together: each spending and each release once, with what became of it."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal

from sfumato.privacy.ledger.chain import RESTORE, Chain, LedgerError

Kind = Literal["spending", "release"]
OPENING: Mapping[str, Kind] = {"reserved": "spending", "intended": "release"}
"""Lines that begin an entry, and what it is."""
CLOSING = {"given_back": "spending", "written": "release"}
"""Lines that tell what became of an entry, and of which kind that must be."""


@dataclass(frozen=True)
class Entry:
    """A spending: what one run may spend on some people. A release: what was put into which folder.

    `people` is the declared name of the people, or a keyed hash of the table's content. `recipe` and `certificate`
    are the SHA-256 of the texts that lie in the holder's folder and in the release. `given_back`: the run stopped
    before it looked at the data. `written`: the release stood under its final name; one that is only intended may,
    if the run was killed in the moment between.
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

    def to_json(self) -> dict[str, Any]:
        """The line that begins this entry."""
        line = {"spending": "reserved", "release": "intended"}[self.kind]
        epsilon = {} if self.epsilon is None else {"epsilon": str(self.epsilon)}
        form = {"line": line, "id": self.id, "people": self.people, "mask": self.mask, "when": self.when,
                **epsilon, "recipe": self.recipe}  # fmt: skip
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
    """The line that tells what became of an entry: given_back or written."""
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
    if "epsilon" in fields:
        fields["epsilon"] = Fraction(fields["epsilon"])
    return Entry(kind=OPENING[form["line"]], **fields)


def _closed(form: Mapping[str, Any], found: Mapping[str, Entry]) -> Entry:
    entry = found[form["id"]]
    if entry.kind != CLOSING[form["line"]]:
        raise ValueError
    return replace(entry, given_back=form["line"] == "given_back", written=form["line"] == "written")


def spent_on(people: str, entries: Iterable[Entry]) -> Fraction:
    """What all runs together spent on these people."""
    spendings = (e for e in entries if e.kind == "spending" and e.people == people and not e.given_back)
    return sum((e.epsilon for e in spendings if e.epsilon is not None), Fraction(0))
