"""`sfumato ledger`: what has been spent on whom; and what publish says of a budget before and after spending it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sfumato.cli.output import note, show

if TYPE_CHECKING:
    from sfumato.recipe import Recipe

EXAMPLE = "sfumato ledger"


def ledger(
    path: Annotated[Path | None, typer.Option("--path", help="Another ledger than your own.")] = None,
) -> None:
    """Show what all runs spent, run by run and added up for the same people.

    Tables are known by a keyed hash of their content, or by the name that the budget gives their people. The ledger is
    kept in XDG_STATE_HOME/sfumato (usually ~/.local/state/sfumato) and never leaves it.
    """
    from rich.table import Table

    from sfumato.privacy.ledger import Ledger

    found = Ledger(path)
    entries = found.entries()
    if not entries:
        note(f"nothing has been spent: {found.path} has no entries")
        return
    table = Table(title="Spent, run by run", title_justify="left")
    for heading in ("when", "people", "mask", "epsilon", "added up"):
        table.add_column(heading, justify="right" if heading in ("epsilon", "added up") else "left")
    sums: dict[str, Any] = {}
    for entry in entries:
        sums[entry.people] = sums.get(entry.people, 0) + (0 if entry.given_back else entry.epsilon)
        epsilon = "given back" if entry.given_back else str(entry.epsilon)
        table.add_row(entry.when, entry.people, entry.mask, epsilon, str(sums[entry.people]))
    show(table)


def show_plan(recipe: Recipe) -> None:
    """What will be spent on what, before anything is."""
    plan = getattr(recipe.mask, "plan", None)
    if recipe.budget is None or plan is None:
        return
    note(f"The plan: epsilon = {recipe.budget.epsilon} is spent on", style="bold")
    for share in plan(recipe.schema, recipe.budget):
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
