"""`sfumato evaluate`: how much of the structure survived, for the holder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, cast

import typer

from sfumato.cli.output import figures, note, show
from sfumato.cli.progress import following

EXAMPLE = "sfumato evaluate people.csv out --seeds 10"


def evaluate(
    raw: Annotated[str, typer.Argument(metavar="RAW", help="The raw table: a file, or the address of a database.")],
    release: Annotated[Path, typer.Argument(metavar="RELEASE", help="The folder that publish made from it.")],
    seeds: Annotated[int, typer.Option("--seeds", min=1, help="How many cold starts to average over.")] = 10,
    placement: Annotated[
        str | None,
        typer.Option(
            "--placement",
            help="Where masked values stand: `expected`, as the codebook says; `middle` or `own`, without it. As the "
            "recipe says, if left out.",
        ),
    ] = None,
    every: Annotated[
        bool, typer.Option("--all", help="Show every figure, not only the first ones to look at.")
    ] = False,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Also write all figures here.")
    ] = None,
) -> None:
    """Measure what survived of the structure: found again in the masked table, beside ceiling and floors.

    The raw structure is found again as the holder's recipe says, and the learned mask is applied to RAW, because the
    released rows are in another order. What it tells is for your eyes only.
    """
    from sfumato.cli.summary import show_all_scores, show_scores
    from sfumato.data.safe_files import write_private_json
    from sfumato.publishing import evaluate as measure

    with following():
        scores = measure(raw, release, seeds=seeds, placement=cast(Any, placement))
    figures("evaluate", scores)
    (show_all_scores if every else show_scores)(scores)
    if output is not None:
        write_private_json(output, scores)
        note(f"wrote {output}")
    show("These figures compare with the raw table: never hand them over with the release.")
