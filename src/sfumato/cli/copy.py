"""`sfumato copy`: the table of a release in a database, or in a file of another program."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli.output import note, show

EXAMPLE = "sfumato copy out 'postgresql://holder@db.example.org/census?table=people_masked'"


def copy(
    release: Annotated[Path, typer.Argument(metavar="RELEASE", help="The folder of a release.")],
    target: Annotated[
        str,
        typer.Argument(metavar="TARGET", help="A database's address; or a file: .xlsx, .dta, .sav, .csv."),
    ],
) -> None:
    """Copy the table of RELEASE to a new table of a database, or to a file, once every check of it holds.

    What was written is counted again: for a database, by the database itself. The folder stays the release.
    """
    from sfumato.people.people import load

    found = load(release, kind="arrow").export(target)
    note("wrote a copy of the table, and counted it again; the folder stays the release")
    for claim, smallest in found.items():
        show(f"{claim}: {smallest} rows in the smallest group")
