"""`sfumato explain`: why values look as they do."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli.output import figures, show
from sfumato.cli.progress import following

EXAMPLE = "sfumato explain out education"


def explain(
    release: Annotated[Path, typer.Argument(metavar="RELEASE", help="A folder that publish wrote.")],
    attribute: Annotated[str | None, typer.Argument(metavar="ATTRIBUTE", help="Only this attribute.")] = None,
    raw: Annotated[
        str | None,
        typer.Option(
            "--raw",
            metavar="TABLE",
            help="The raw table: try again which k would show more. Of a partition, if not that of the recipe.",
        ),
    ] = None,
    value: Annotated[
        str | None, typer.Option("--value", metavar="TEXT", help="Only this value, as the table shows it.")
    ] = None,
    row: Annotated[
        int | None,
        typer.Option("--row", metavar="NUMBER", help="Only this row of the raw table, the first being 1: its group."),
    ] = None,
    tree: Annotated[bool, typer.Option("--tree", help="Also draw what is shown on the taxonomy.")] = False,
) -> None:
    """Tell why values look as they do: each refinement, and what blocked the next, with the k that would allow it.

    With --row, which group a row of the raw table is in, what it shows, and what stood in the way of showing it finer.

    It reads the holder's folder beside RELEASE, because group sizes below k are for the holder's eyes only.
    """
    from sfumato.publishing.explanation import explain as tell
    from sfumato.release.reading import read_recoding

    with following():
        found = tell(release, attribute, value=value, row=row, raw=raw)
    figures("explain", {"attribute": attribute, "row": row, "text": found.text, "history": dict(found.history)})
    show(found.text)
    if tree:
        rules = read_recoding(release).rules
        for name in [attribute] if attribute else rules:
            show(f"\n{name}\n{rules[name].drawn()}")
