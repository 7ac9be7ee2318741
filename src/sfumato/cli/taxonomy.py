"""`sfumato taxonomy`: draft, check, convert and show trees of labels."""

from __future__ import annotations

import typer

app = typer.Typer(
    no_args_is_help=True,
    help="Draft, check, convert and show taxonomies: trees of labels.",
    epilog="[bold]Example[/bold]\n\nsfumato taxonomy check education.csv",
)
