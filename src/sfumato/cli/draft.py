"""`sfumato draft`: a proposed recipe for a table, with a reason for each guess."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

EXAMPLE = "sfumato draft people.csv --output recipe.yaml"


def draft(
    table: Annotated[
        Path, typer.Argument(metavar="TABLE", help="The table: a CSV, Parquet, Arrow or Excel file.")
    ],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write the recipe here, not to the screen.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the file that is there.")] = False,
) -> None:
    """Propose a recipe for TABLE: kinds, roles and taxonomies, with a reason for each guess.

    It is a suggestion to read and change, and it is never run: only you know what the columns mean.
    """
    from sfumato.cli.output import refuse_overwrite, save
    from sfumato.data.draft import draft as draft_table
    from sfumato.data.reading import read_arrow

    if output is not None:
        refuse_overwrite(output, force=force)
    recipe = draft_table(read_arrow(table)).to_yaml(table)
    if output is None:
        typer.echo(recipe, nl=False)
    else:
        save(recipe, output, force=force)
