"""`sfumato apply`: the learned mask on new rows."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli.output import note, refuse_overwrite

EXAMPLE = "sfumato apply out newcomers.csv --output masked.parquet"


def apply(
    release: Annotated[Path, typer.Argument(metavar="RELEASE", help="A folder that publish wrote.")],
    table: Annotated[
        str,
        typer.Argument(
            metavar="TABLE",
            help="New rows with the same columns, or a database's address; those that are not masked may be lacking.",
        ),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="The file to write: .parquet or .csv.")],
    unseen: Annotated[
        str,
        typer.Option("--unseen", help="Values never seen or declared: refuse them, or suppress them."),
    ] = "refuse",
    keep_order: Annotated[
        bool, typer.Option("--keep-order", help="Write the rows in their order; by default they are shuffled.")
    ] = False,
    query: Annotated[
        str | None,
        typer.Option("--query", metavar="SQL", help="What to read from a database whose address names no table."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the file that is there.")] = False,
) -> None:
    """Show new rows as RELEASE shows the old ones, in random order.

    The recipe comes from the holder's folder, RELEASE.holder, which must stand beside RELEASE. Nothing is verified: few
    new rows make small groups. Publish all rows together if they leave the house.
    """
    from sfumato.data.writing import write
    from sfumato.randomness import Secure
    from sfumato.release.new_rows import shown_rows
    from sfumato.release.reading import read_mask, read_recipe_of

    refuse_overwrite(output, force=force)
    recipe = read_recipe_of(release)
    _check_order(table, keep_order=keep_order)
    with _as_options():
        shown = shown_rows(read_mask(release), recipe, table, unseen=unseen, query=query).table
    order = None if keep_order else Secure().permutation(shown.num_rows)
    write(shown, output, order=order, spreadsheet_safe=recipe.release.spreadsheet_safe)
    note(f"wrote {output}: {shown.num_rows:,} {'row' if shown.num_rows == 1 else 'rows'}, unverified", style="yellow")


def _check_order(table: str, *, keep_order: bool) -> None:
    from sfumato.data.sources.openers import in_order
    from sfumato.errors import TableError

    if keep_order and not in_order(table):
        rule = "rows that a database counts have no order"
        raise TableError("--keep-order", rule, given="an address", remedy="leave it out, or export the rows to a file")


@contextmanager
def _as_options() -> Iterator[None]:
    """What Python is told by arguments, the shell is told by options."""
    from sfumato.errors import SfumatoError

    try:
        yield
    except SfumatoError as error:
        remedy = error.remedy.replace("unseen='suppress'", "--unseen suppress")
        raise type(error)(error.thing, error.rule, given=error.given, remedy=remedy) from None
