"""`sfumato copy`: the table of a release in a database, or in a file of another program."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli.output import note, show
from sfumato.cli.verify import Others, Population, verified

EXAMPLE = "sfumato copy out 'postgresql://holder@db.example.org/census?table=people_masked'"


def copy(
    release: Annotated[Path, typer.Argument(metavar="RELEASE", help="The folder of a release.")],
    target: Annotated[
        str,
        typer.Argument(metavar="TARGET", help="A database's address; or a file: .xlsx, .dta, .sav, .csv."),
    ],
    others: Others = None,
    population: Population = None,
    raw: Annotated[
        str | None,
        typer.Option("--raw", metavar="TABLE", help="The table that was published, where a check asks for it."),
    ] = None,
) -> None:
    """Copy the table of RELEASE to a new table of a database, or to a file, once every check of it holds.

    Some claims are about more than RELEASE, and are checked with what sfumato verify is given for them: --with for one
    that is safe with earlier releases, --population for a k-map. What was written is counted again: for a database, by
    the database itself. The folder stays the release.
    """
    from sfumato.people.door import accepted

    verdict = verified(release, raw=raw, population=population, others=others)
    found = accepted(release, verdict, "arrow").export(target)
    note("wrote a copy of the table, and counted it again; the folder stays the release")
    for claim, smallest in found.items():
        show(f"{claim}: {smallest} rows in the smallest group")
