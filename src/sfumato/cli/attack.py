"""`sfumato attack`: what an attacker could do with a release, measured by its holder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sfumato.cli.output import figures, refuse_overwrite, save, show
from sfumato.cli.progress import following

if TYPE_CHECKING:
    from rich.table import Table

    from sfumato.evaluation.attacks.results import AttackReport
    from sfumato.evaluation.risk import Exposure

EXAMPLE = "sfumato attack people.csv out --output attacks.json"


def attack(
    raw: Annotated[str, typer.Argument(metavar="RAW", help="The raw table: a file, or the address of a database.")],
    release: Annotated[Path, typer.Argument(metavar="RELEASE", help="The folder that publish made from it.")],
    known: Annotated[int, typer.Option("--known", min=1, help="The most records an attacker may know.")] = 20,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Other people are attacked, by other guesses.")] = 0,
    control: Annotated[
        Path | None, typer.Option("--control", metavar="FILE", help="People of the same kind, not in RAW.")
    ] = None,
    population: Annotated[
        Path | None, typer.Option("--population", metavar="FILE", help="Everybody; those of RAW included.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Also write all figures here.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the file that is there.")] = False,
) -> None:
    """Attack RELEASE as people who know a little could, and tell how far they get.

    It needs the holder's folder beside RELEASE, and RAW to check the guesses. What it tells is for your eyes only.
    """
    from sfumato.evaluation.attacks.settings import Effort, Others
    from sfumato.publishing import attack as attack_release

    if output is not None:
        refuse_overwrite(output, force=force)
    with following():
        report = attack_release(raw, release, effort=Effort(known=known, seed=seed), others=Others(control, population))
    figures("attack", report.to_json())
    show_report(report)
    if output is not None:
        import json

        save(json.dumps(report.to_json(), indent=1) + "\n", output, force=force, private=True)


def show_report(report: AttackReport) -> None:
    """Risk from group sizes, the three criteria, the other attacks, and a sentence for each."""
    if report.risk:
        show(risk_table(report.risk))
    if any(result.criterion for result in report.results):
        show(criteria_table(report))
    if any(not result.criterion for result in report.results):
        show(results_table(report))
    for result in report.results:
        show(f"- {result.sentence}")
    for name, why in report.left_out.items():
        show(f"  not tried: {name}: {why}.")
    if report.risk and report.risk[0].bound:
        show("  no population was given: the journalist's risk is bounded by the prosecutor's.")
    show("These figures come from the raw table: never hand them over with the release.")


def risk_table(exposures: tuple[Exposure, ...]) -> Table:
    """Three lines a quasi-identifier, one for each attacker."""
    from rich.table import Table

    table = Table(title="The chance to pick out a person's record, from group sizes", title_justify="left")
    table.add_column("who", no_wrap=True)
    table.add_column("knows")
    for heading in ("highest", "average", "> 1/5", "> 1/20"):
        table.add_column(heading, justify="right", no_wrap=True)
    for one in exposures:
        knows = ", ".join(one.on) + ("" if one.claimed else " (nothing is claimed of these together)")
        for who, risk in (("prosecutor", one.prosecutor), ("journalist", one.journalist)):
            shares = (risk.highest, risk.average, risk.above[5], risk.above[20])
            table.add_row(who, knows, *(f"{share:.2%}" for share in shares))
        table.add_row("marketer", knows, "", f"{one.marketer:.2%}", "", "")
    return table


def criteria_table(report: AttackReport) -> Table:
    """One line an attack that measures a criterion: how often it works with the release and without it."""
    from rich.table import Table

    title = "Singling out, linkability, inference (opinion 05/2014 of the Article 29 Working Party)"
    table = Table(title=title, title_justify="left")
    for heading in ("attack", "the attacker knows", "success (95 % interval)", "without the release", "excess"):
        table.add_column(heading)
    for result in report.results:
        if result.criterion and result.baseline:
            beside = result.baseline
            table.add_row(
                result.attack,
                result.knowledge,
                str(result.success),
                f"{beside.success}: {beside.how}",
                str(beside.excess),
            )
    return table


def results_table(report: AttackReport) -> Table:
    """One line an attack: what it is, what it needs, how often it works."""
    from rich.table import Table

    table = Table(title=f"Other attacks on this release (mask: {report.mask})", title_justify="left")
    for heading in ("attack", "the attacker knows", "success (95 % interval)"):
        table.add_column(heading)
    for result in report.results:
        if not result.criterion:
            table.add_row(result.attack, result.knowledge, str(result.success))
    return table
