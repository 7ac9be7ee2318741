"""`sfumato ledger`: what was released and spent; and what publish says of a budget before and after spending it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sfumato.cli.output import figures, is_quiet, note, show, show_error

if TYPE_CHECKING:
    from sfumato.privacy.ledger import Entry, Ledger
    from sfumato.recipe import Recipe

EXAMPLE = "sfumato ledger --check"
LATEST = 2
ID = 8
"""So many digits of an entry's id are shown."""


def ledger(
    path: Annotated[Path | None, typer.Option("--path", help="Another ledger than your own.")] = None,
    check: Annotated[bool, typer.Option("--check", help="Only check that no line was changed or taken out.")] = False,
    expect: Annotated[
        str | None,
        typer.Option("--expect", metavar="HEAD", help="Check too that the ledger still holds all it held at HEAD."),
    ] = None,
    withdraw: Annotated[
        str | None,
        typer.Option("--withdraw", metavar="ID", help="Enter that a release never left the house, and is deleted."),
    ] = None,
    never_left: Annotated[
        bool,
        typer.Option("--never-left", help="With --withdraw, of a release that another one replaced: nobody has it."),
    ] = False,
) -> None:
    """Show every release and every spending, and what was spent on the same people added up.

    People are known by the name that the recipe gives them, and by their table: by keyed hashes, which tell nobody what
    is in it. Releases whose tables have rows in common are told. The ledger is kept in XDG_STATE_HOME/sfumato (usually
    ~/.local/state/sfumato) and never leaves it.

    Each line holds the hash of the line before it; the last hash, the head, stands for all of them. Write it down
    elsewhere: --expect HEAD tells later whether anything up to there was changed or cut off. Exit code 1: it was.
    """
    from sfumato.privacy.ledger import Ledger

    found = Ledger(path)
    if check or expect is not None:
        _check(found, expect)
        return
    if withdraw is not None:
        _withdraw(found, withdraw, never_left=never_left)
        return
    entries = found.entries()
    figures("ledger", {"path": str(found.path), "head": found.chain().head, "entries": [*map(_form, entries)]})
    if not entries:
        note(f"nothing has been released or spent: {found.path} has no entries")
        return
    show(_table(entries))
    note(f"head: {found.chain().head}")


def _check(found: Ledger, expect: str | None) -> None:
    from sfumato.privacy.ledger import GENESIS, LedgerError

    try:
        entries, chain = found.entries(), found.chain()
        if expect is not None and expect.lower() not in (GENESIS, *chain.hashes):
            raise LedgerError(
                str(found.path),
                "what a ledger once held, it holds for good",
                given="a ledger in which the expected head does not occur",
                remedy="it was cut off or replaced: restore it from a good copy",
            )
    except LedgerError as error:
        show_error(error)
        raise typer.Exit(1) from None
    figures("ledger", {"path": str(found.path), "head": chain.head, "entries": [*map(_form, entries)]})
    show(f"{found.path}: {len(chain.hashes)} lines, every one in its place; {len(entries)} entries")
    if chain.torn:
        note("an interrupted write at the end, which nobody was told of, will be overwritten by the next")
    show(f"head: {chain.head}")


def _form(entry: Entry) -> dict[str, Any]:
    """An entry as figures."""
    return {
        "id": entry.id,
        "when": entry.when,
        "kind": entry.kind,
        "people": entry.people,
        "mask": entry.mask,
        "folder": entry.folder,
        "claims": [dict(claim) for claim in entry.claims],
        "epsilon": None if entry.epsilon is None else str(entry.epsilon),
        "withdrawn": entry.withdrawn,
    }


def _withdraw(found: Ledger, id: str, *, never_left: bool) -> None:
    from sfumato.errors import ReleaseError
    from sfumato.publishing.again import stands

    chosen = [entry for entry in found.releases() if id and entry.id.startswith(id)]
    if len(chosen) != 1:
        raise ReleaseError(
            "--withdraw",
            "it names one release of the ledger by its id, or by how that begins",
            given=f"{id!r}, which names {len(chosen)}",
            remedy="look for it with `sfumato ledger`",
        )
    there = [one.id for one in found.releases() if one.folder == chosen[0].folder]  # in the order of their time
    if stands(chosen[0]):
        raise ReleaseError(
            "--withdraw",
            "a release is withdrawn once it is gone",
            given=f"one that stands in {chosen[0].folder}",
            remedy="delete it, and whatever copies there are",
        )
    if chosen[0].written and there[-1] != chosen[0].id and not never_left:
        raise ReleaseError(
            "--withdraw",
            "what was replaced may have left the house before",
            given=f"one that a later release replaced in {chosen[0].folder}",
            remedy="say --never-left beside it if nobody has a copy of it; otherwise its entry stays",
        )
    found.withdrawn(chosen[0])
    note(f"withdrawn: the release of {chosen[0].when[:16]} in {chosen[0].folder}; it is not compared with later ones")


def _table(entries: Sequence[Entry]) -> Any:
    from rich.table import Table

    spending = any(entry.epsilon is not None for entry in entries)
    table = Table(title="Released and spent", title_justify="left")
    for heading in ("when", "people", "what", "folder"):
        table.add_column(heading, overflow="fold", no_wrap=heading == "when")
    for heading in ("epsilon", "added\nup") if spending else ():
        table.add_column(heading, justify="right", no_wrap=True)
    for at, entry in enumerate(entries):
        costs = (str(entry.epsilon or ""), str(_added_up(entry, entries[: at + 1]) or "")) if spending else ()
        what = "\n".join([_what(entry), *_rows_shared(entry, entries[:at])])
        when = _minute(entry.when) + (f"\n{entry.id[:ID]}" if entry.kind == "release" else "")
        table.add_row(when, _short(entry.people), what, Path(entry.folder).name, *costs)
    return table


def _added_up(entry: Entry, until: Sequence[Entry]) -> Fraction:
    """What was spent on the people of an entry, up to there."""
    from sfumato.privacy.ledger import People, spent_on

    return spent_on(People(entry.people, entry.likeness), until)


def _rows_shared(entry: Entry, before: Sequence[Entry]) -> list[str]:
    """A line for each earlier release whose table has tellingly many rows in common with that of this one."""
    from sfumato.privacy.ledger import People

    people = People(entry.people, entry.likeness)
    shares = {other.id[:ID]: people.share(other) for other in before if not other.withdrawn}
    lines = [f"{share * 100:.0f} % of rows also in {other}" for other, share in shares.items() if share is not None]
    more = len(lines) - LATEST
    return [*([f"rows also in {more} earlier ones"] if more > 0 else []), *lines[-LATEST:]]


def _minute(when: str) -> str:
    """A day and, below it, the time to the minute, in the holder's own time zone."""
    from datetime import datetime

    return datetime.fromisoformat(when).astimezone().strftime("%Y-%m-%d\n%H:%M")


def _short(people: str) -> str:
    """A declared name whole, a hash in its first digits; each below what it is.

    >>> _short("table b035ae1e2c597a8f"), _short("named a census")
    ('table\\nb035ae1e', 'named\\na census')
    """
    return (people if not people.startswith("table ") else people[:14]).replace(" ", "\n", 1)


def _what(entry: Entry) -> str:
    if entry.kind == "spending":
        return f"{'given back' if entry.given_back else 'spent'}: {entry.mask}"
    claims = [_claim(claim) for claim in entry.claims] or [entry.guarantee]
    state = "withdrawn" if entry.withdrawn else "released" if entry.written else _unconfirmed(entry)
    return "\n".join([f"{state}: {entry.mask}", *claims])


def _claim(claim: Mapping[str, Any]) -> str:
    """A claim with its numbers.

    >>> _claim({"claim": "k_anonymity", "on": ["age", "sex"], "k": 5, "achieved": 7})
    'k_anonymity, k = 5 on age, sex'
    """
    numbers = [
        f"{name} = {value}" for name, value in claim.items() if name != "achieved" and isinstance(value, int | float)
    ]
    return ", ".join([str(claim.get("claim")), *numbers]) + " on " + ", ".join(claim.get("on", ()))


def _unconfirmed(entry: Entry) -> str:
    """An intended release: its run was killed. Whether it still got its name is seen by looking."""
    from sfumato.publishing.again import stands

    return "released, not confirmed" if stands(entry) else "intended, not written"


def show_plan(recipe: Recipe) -> None:
    """What will be spent on what, before anything is: a remark, all of it, for the promise says what was spent."""
    if recipe.budget is None or is_quiet():
        return
    note(f"The plan: epsilon = {recipe.budget.epsilon} is spent on", style="bold")
    for share in recipe.mask.plan(recipe.schema, recipe.budget):
        note(f"  {share.purpose}: {float(share.epsilon):.4g}")
    if recipe.budget.total is not None:
        note(f"All runs on the same people together: at most {recipe.budget.total}")


def show_promise(certificate: Mapping[str, Any]) -> None:
    """What is promised, in one paragraph, and how many uses of the data stand behind it."""
    show(str(certificate["statement"]))
    events = certificate["differential_privacy"]["events"]
    show(f"{len(events)} uses of the data, adding up to epsilon = {certificate['differential_privacy']['epsilon']}.")
    for text in certificate["not_claimed"]:
        show(f"Not claimed: {text}")
