"""`sfumato attack`: what an attacker could do with a release, measured by its holder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sfumato.cli.output import refuse_overwrite, save, show

if TYPE_CHECKING:
    from rich.table import Table

    from sfumato.evaluation.attacks.results import AttackReport

EXAMPLE = "sfumato attack people.csv out --json attacks.json"


def attack(
    raw: Annotated[Path, typer.Argument(metavar="RAW", help="The raw table.")],
    release: Annotated[Path, typer.Argument(metavar="RELEASE", help="The folder that publish made from it.")],
    known: Annotated[int, typer.Option("--known", min=1, help="The most records an attacker may know.")] = 20,
    trials: Annotated[int, typer.Option("--trials", min=1, help="How often each number of records is tried.")] = 40,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Other known records, another public sample.")] = 0,
    json: Annotated[Path | None, typer.Option("--json", metavar="FILE", help="Also write all figures here.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the file that is there.")] = False,
) -> None:
    """Attack RELEASE as people who know a little could, and tell how far they get.

    It needs the holder's folder beside RELEASE, and RAW to check the guesses. What it tells is for your eyes only.
    """
    from sfumato.evaluation.attacks.attacking import Effort
    from sfumato.release.attacking import attack as attack_release

    if json is not None:
        refuse_overwrite(json, force=force)
    report = attack_release(raw, release, effort=Effort(known, trials, seed))
    show(results_table(report))
    for result in report.results:
        show(f"- {result.sentence}")
    for name, why in report.left_out.items():
        show(f"  not tried: {name}: {why}.")
    show("These figures come from the raw table: never hand them over with the release.")
    if json is not None:
        import json as plain

        save(plain.dumps(report.to_json(), indent=1) + "\n", json, force=force)


def results_table(report: AttackReport) -> Table:
    """One line an attack: what it is, what it needs, how often it works."""
    from rich.table import Table

    table = Table(title=f"Attacks on this release (mask: {report.mask})", title_justify="left")
    for heading in ("attack", "the attacker knows", "success (95 % interval)"):
        table.add_column(heading)
    for result in report.results:
        table.add_row(result.attack, result.knowledge, str(result.success))
    return table
