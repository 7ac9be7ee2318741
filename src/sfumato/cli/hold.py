"""`sfumato hold`: a table that stays here, and answers a coordinator's questions; `sfumato together` asks them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli.output import note, refuse_overwrite

EXAMPLE = "sfumato hold ours.csv recipe.yaml --transcript said.txt"
EXAMPLE_TOGETHER = (
    'sfumato together recipe.yaml --holder "sfumato hold a.csv recipe.yaml" '
    '--holder "ssh b sfumato hold b.csv recipe.yaml" --output out'
)


def hold(
    table: Annotated[str, typer.Argument(metavar="TABLE", help="This holder's table, which stays here.")],
    recipe: Annotated[Path, typer.Argument(metavar="RECIPE", help="The recipe that all holders agreed to.")],
    transcript: Annotated[
        Path | None, typer.Option("--transcript", help="Also write every line that was asked and said.")
    ] = None,
) -> None:
    """Answer a coordinator, who reads and writes standard output and input: `sfumato together` starts this command.

    Told are counts by codes of declared domains, then the rows as the mask shows them; nothing else.
    """
    from sfumato.holders.holder import Holder
    from sfumato.holders.lines import hold as answer_all

    if transcript is not None:
        refuse_overwrite(transcript, force=False)
    kept = answer_all(Holder(table, recipe), sys.stdin, sys.stdout)
    if transcript is not None:
        both = zip(kept.seen, kept.said, strict=True)
        lines = [f"{who} {line.rstrip()}\n" for asked, said in both for who, line in (("asked", asked), ("said", said))]
        transcript.write_text("".join(lines), encoding="utf-8")


def together(
    recipe: Annotated[Path, typer.Argument(metavar="RECIPE", help="The recipe that all holders have.")],
    holder: Annotated[list[str], typer.Option("--holder", help="A command that answers: sfumato hold TABLE RECIPE.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Where to write the release.")],
) -> None:
    """Publish the tables of several holders as one release; their rows stay with them until they are masked.

    With a budget every holder makes a release of its own, with its own noise: OUTPUT/1, OUTPUT/2, and together.json.
    """
    import shlex
    from contextlib import ExitStack

    from sfumato.holders.lines import RemoteHolder
    from sfumato.holders.parts import publish_parts
    from sfumato.holders.together import publish_together
    from sfumato.recipe import Recipe
    from sfumato.release.output import check_output

    check_output(output)
    found = Recipe.of(recipe)
    with ExitStack() as open_lines:
        commands = enumerate(holder, start=1)
        lines = [open_lines.enter_context(RemoteHolder(shlex.split(one), f"holder {at}")) for at, one in commands]
        if found.mask.guarantee.spends:
            parts = publish_parts(lines, found, output)
            note(f"wrote {output}: {len(parts.folders)} parts, epsilon {parts.epsilon} for whoever is in one of them")
            return
        written = publish_together(lines, found).write(output)
    note(f"wrote {written}: check it with sfumato verify {written}")
