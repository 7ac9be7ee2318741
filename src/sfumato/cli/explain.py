"""`sfumato explain`: why values look as they do."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from sfumato.cli.output import figures, show
from sfumato.cli.progress import following
from sfumato.errors import ReleaseError

EXAMPLE = "sfumato explain out education"


def explain(
    release: Annotated[Path, typer.Argument(metavar="RELEASE", help="A folder that publish wrote.")],
    attribute: Annotated[str | None, typer.Argument(metavar="ATTRIBUTE", help="Only this attribute.")] = None,
    raw: Annotated[
        str | None, typer.Option("--raw", metavar="TABLE", help="The raw table: try again which k would show more.")
    ] = None,
    tree: Annotated[bool, typer.Option("--tree", help="Also draw what is shown on the taxonomy.")] = False,
) -> None:
    """Tell why values look as they do: each refinement, and what blocked the next, with the k that would allow it.

    It reads the holder's folder beside RELEASE, because group sizes below k are for the holder's eyes only.
    """
    from sfumato.maskers.partition.explanation import explain as tell_values
    from sfumato.maskers.topdown.explanation import explain as tell_search
    from sfumato.release.reading import read_history, read_recoding

    history: Mapping[str, Any] = read_history(release)
    if raw is not None:
        from sfumato.publishing import explain

        with following():
            history = explain(raw, release)
    if "rounds" not in history and "values" not in history:
        raise _untold(release, raw)
    figures("explain", {"attribute": attribute, "history": dict(history)})
    show((tell_search if "rounds" in history else tell_values)(history, attribute))
    if tree:
        rules = read_recoding(release).rules
        for name in [attribute] if attribute else rules:
            show(f"\n{name}\n{rules[name].drawn()}")


def _untold(release: Path, raw: str | None) -> ReleaseError:
    from sfumato.release.reading import read_certificate

    return ReleaseError(
        str(release),
        "explain tells of a top-down search, and of a partition beside the raw table",
        given=f"a release masked by {read_certificate(release).get('mask')}",
        remedy="its README.md and the holder's folder say what was done" + ("" if raw else "; or add --raw TABLE"),
    )
