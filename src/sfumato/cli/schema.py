"""`sfumato schema`: what recipes look like, and what --json prints, for editors and programs."""

from __future__ import annotations

from importlib.resources import files
from typing import Annotated

import typer

from sfumato.cli.output import echo
from sfumato.errors import SfumatoError, did_you_mean

EXAMPLE = (
    "sfumato schema > recipe.schema.json   (then, in a recipe: # yaml-language-server: $schema=recipe.schema.json)"
)
RECIPE = "recipe"
COMMANDS = (
    "advise",
    "attack",
    "clusters",
    "demo",
    "draft",
    "evaluate",
    "explain",
    "ledger",
    "policies",
    "publish",
    "sweep",
    "verify",
)
"""Commands that print figures, each with a schema beside this file."""


def schema(
    what: Annotated[
        str, typer.Argument(metavar="[WHAT]", help="recipe, or a command: what its --json prints.")
    ] = RECIPE,
) -> None:
    """Print a JSON Schema: of recipes, so that editors complete and check them, or of what --json of a command has."""
    if what == RECIPE:
        import json

        from sfumato.recipe.json_schema import recipe_schema

        echo(json.dumps(recipe_schema(), indent=1) + "\n")
        return
    if what not in COMMANDS:
        known = (RECIPE, *COMMANDS)
        raise SfumatoError(
            "schema", "it is of recipes, or of a command", given=repr(what), remedy=did_you_mean(what, known)
        )
    echo(schema_text(what))


def schema_text(command: str) -> str:
    """The schema of what a command prints with --json."""
    return files("sfumato.cli").joinpath("schemas", f"{command}.schema.json").read_text(encoding="utf-8")
