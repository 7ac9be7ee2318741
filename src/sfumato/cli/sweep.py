"""`sfumato sweep`: one recipe under many settings, and which one to take."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli.output import Allow, figures, note, show
from sfumato.cli.progress import following
from sfumato.events import checkpoint, step

EXAMPLE = "sfumato sweep recipe.yaml --over privacy.k=5,10,20,50 --over structure.k=4,6 --output sweep"


def sweep(
    recipe: Annotated[Path, typer.Argument(metavar="RECIPE", help="The recipe, in YAML (see: sfumato draft).")],
    over: Annotated[
        list[str],
        typer.Option(
            "--over",
            metavar="PATH=VALUES",
            help="A setting and its values: privacy.k=5,10 (k of all; also l, t).",
        ),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="The folder to write.")] = Path("sweep"),
    table: Annotated[
        str | None, typer.Option("--table", help="The table, if not the one that the recipe names.")
    ] = None,
    kept: Annotated[
        str | None, typer.Option("--kept", metavar="SCORE", help="The score that says how much is kept.")
    ] = None,
    workers: Annotated[
        int | None, typer.Option("--workers", min=1, help="Processes; as many as cores if left out.")
    ] = None,
    allow: Allow = None,
    public: Annotated[
        bool, typer.Option("--public", help="The table is nobody's secret: a budget may be swept on it.")
    ] = False,
) -> None:
    """Publish under every combination of settings, side by side, and draw what each keeps against what it risks.

    Nothing is released. A sweep that was interrupted goes on where it stopped when it is called again. What it writes
    compares with the raw table: for your eyes only.
    """
    from sfumato.errors import RecipeError
    from sfumato.recipe import Recipe
    from sfumato.sweeping.points import parse_over
    from sfumato.sweeping.sweep import PAGE, TABLE
    from sfumato.sweeping.sweep import sweep as run

    found = Recipe.from_yaml(recipe, allow=allow or ())
    named = table or found.table
    if named is None:
        raise RecipeError(
            "table",
            "a recipe or --table names the table",
            given="neither",
            remedy="add `table: people.csv` to the recipe",
        )
    if (output / PAGE).is_file():
        note(f"{output} holds an earlier sweep: its {PAGE} and {TABLE} are replaced; what it tried is not tried again")
    with following(lambda: [output] if output.is_dir() else []), step("Trying every setting"):
        settings = parse_over(over)
        done = run(named, found, settings, output, kept=kept, workers=workers, public=public, tell=_tell)
    results = [one.to_json() for one in done.results]
    figures("sweep", {"folder": str(output), "advice": done.advice, "results": results})
    show(done.advice)
    note(f"wrote {output / PAGE} and {output / TABLE}: {len(done.results)} settings, for your eyes only")


def _tell(done: int, total: int) -> None:
    checkpoint(done / total if total else None)
