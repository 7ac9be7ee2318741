"""`sfumato advise`: candidate recipes for a table, tried on a sample, side by side."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sfumato.cli.output import Allow, figures, refuse_overwrite, save, show
from sfumato.cli.progress import following
from sfumato.errors import visible

if TYPE_CHECKING:
    from rich.table import Table

    from sfumato.sweeping.advice import Advice
    from sfumato.sweeping.side_by_side import Grid

EXAMPLE = (
    "sfumato advise people.csv   (then, once you have a recipe: sfumato advise people.csv recipe.yaml --rows 2000)"
)

LABEL = 28
"""Letters of a column's name that are shown."""


def advise(  # noqa: PLR0913 - an argument for each option
    table: Annotated[
        str, typer.Argument(metavar="TABLE", help="The table: CSV, Parquet, Arrow or Excel; or bundled:adult.")
    ],
    recipe: Annotated[
        Path | None, typer.Argument(metavar="RECIPE", help="What is asked of it, in YAML; drafted if left out.")
    ] = None,
    rows: Annotated[int, typer.Option("--rows", min=50, help="Records of a larger table to try on.")] = 5_000,
    seconds: Annotated[
        float, typer.Option("--seconds", min=1, help="After so long no further candidate is tried.")
    ] = 60.0,
    public: Annotated[
        str | None,
        typer.Option("--public", metavar="FILE", help="Try on this table instead, which is nobody's secret."),
    ] = None,
    encoding: Annotated[
        str | None, typer.Option("--encoding", help="Of a CSV without a recipe that is not UTF-8, such as cp1252.")
    ] = None,
    html: Annotated[
        Path | None, typer.Option("--html", metavar="FILE", help="Write it as a page, too: for your eyes only.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the page that is there.")] = False,
    allow: Allow = None,
) -> None:
    """Try three to six recipes for TABLE on a sample and show, side by side, what each keeps and what it risks.

    All promise what RECIPE asks, with other maskers; the best is also tried with half and with double of k. It ends
    with one sentence of advice and the command to follow it. Nothing is released, and nothing enters your ledger. What
    is shown compares with the raw table: for your eyes only.

    A recipe with a budget of differential privacy is tried on public data alone (--public FILE).
    """
    from sfumato.recipe import Recipe
    from sfumato.sweeping.advice import advise as run

    if html is not None:
        refuse_overwrite(html, force=force)
    found = None if recipe is None else Recipe.from_yaml(recipe, allow=allow or ())
    with following():
        advice = run(table, found, rows=rows, seconds=seconds, public=public, encoding=encoding)
    if html is not None:
        _write_page(advice, html, force=force)
    figures("advise", advice.to_json())
    show_advice(advice)
    for line in commands(advice, table, recipe, encoding):
        show(line)


def _write_page(advice: Advice, path: Path, *, force: bool) -> None:
    from sfumato.sweeping.side_by_side import html

    save(html(advice), path, force=force, private=True)


def show_advice(advice: Advice) -> None:
    """The candidates, what each means, and the advice."""
    from sfumato.sweeping.side_by_side import Grid

    quasi = advice.base.schema.quasi
    if advice.drafted:
        show(
            f"No recipe was given, so one was drafted, with {len(quasi)} columns that others may know: "
            f"{visible(', '.join(quasi))}. It is a guess; only you know what they mean.\n"
        )
    if advice.tried:
        show(comparison(Grid.of(advice.tried)))
    for one in advice.tried:
        show(f"  {one.contender.title}: {one.contender.price}")
    for left in advice.skipped:
        show(f"  left out: {left.name}: {visible(left.reason)}")
    show(f"\n{advice.sample}")
    show(f"\n{visible(advice.sentence)}")
    if advice.trade is not None:
        show(advice.trade)
    if advice.warning is not None:
        show(f"Mind: {visible(advice.warning)}")


def comparison(grid: Grid) -> Table:
    """One column for each candidate; a line for each masked column of the table, then the figures of the whole."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    title = "Candidates side by side (for your eyes only; -: the column tells nothing)"
    table = Table(title=title, title_justify="left", box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    lines = [tuple(map(visible, line)) for line in (*grid.columns, *grid.whole)]
    for at, head in enumerate(grid.heads):
        widest = min(max(len(line[at]) for line in lines), LABEL)
        width = max(widest, *map(len, head.split("\n")))
        table.add_column(head, justify="right" if at else "left", no_wrap=True, min_width=width, max_width=width)
    for number, line in enumerate(lines, start=1):
        table.add_row(*line, end_section=number == len(grid.columns))
    return table


def commands(advice: Advice, table: str, recipe: Path | None, encoding: str | None) -> list[str]:
    """What to type, and what to write in the recipe."""
    best = advice.best
    if best is None:
        return []
    file = "recipe.yaml" if recipe is None else str(recipe)
    masks = [change.removeprefix("mask=") for change in best.contender.changes if change.startswith("mask=")]
    written = [f"or write in {visible(file)}:\n  mask: {mask}" for mask in masks]
    if recipe is None and table.startswith("bundled:"):  # `draft` reads files
        return [f"\nTo follow it, write a recipe (docs/recipes.md){''.join(f' with mask: {mask}' for mask in masks)}."]
    told = f" --encoding {encoding}" if encoding else ""
    draft = f"  sfumato draft {shlex.quote(table)}{told} --output recipe.yaml    # read it, and change what is wrong"
    return ["\nTo follow it:", *([visible(draft)] if recipe is None else []), _publish(advice, table, file), *written]


def _publish(advice: Advice, table: str, file: str) -> str:
    settings = "" if advice.best is None else advice.best.contender.settings
    other = not advice.drafted and table != advice.base.table
    words = [
        shlex.quote(file),
        *([f"--table {shlex.quote(table)}"] if other else []),
        *([settings] if settings else []),
    ]
    return visible(f"  sfumato publish {' '.join(words)} --output out")
