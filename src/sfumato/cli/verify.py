"""`sfumato verify`: whether a written release is what its certificate says."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sfumato.cli.output import echo, figures
from sfumato.cli.progress import following
from sfumato.events import step

if TYPE_CHECKING:
    from sfumato.privacy.verify import Verdict
    from sfumato.recipe import Recipe
    from sfumato.release.copies import Recounted

EXAMPLE = "sfumato verify out/"

_Strict = Annotated[
    bool,
    typer.Option("--strict", help="Refuse a release with a file that cannot be checked, such as report.html."),
]
_Copy = Annotated[
    str | None,
    typer.Option("--copy", metavar="ADDRESS", help="A copy in a database (?table=): counted by the database, too."),
]


def verify(
    release: Annotated[Path, typer.Argument(metavar="RELEASE", help="The folder that was released.")],
    raw: Annotated[
        Path | None,
        typer.Option("--raw", metavar="TABLE", help="For the holder: the table that was published."),
    ] = None,
    missing: Annotated[
        list[str] | None,
        typer.Option("--missing", metavar="TEXT", help='A text that means "missing" in a TABLE, such as "?".'),
    ] = None,
    population: Annotated[
        Path | None,
        typer.Option("--population", metavar="TABLE", help="What a k-map is counted in: everybody a record may be."),
    ] = None,
    others: Annotated[
        list[Path] | None,
        typer.Option("--with", metavar="FOLDER", help="An earlier release that RELEASE is claimed to be safe with."),
    ] = None,
    key: Annotated[
        Path | None,
        typer.Option("--key", metavar="PUBLIC_KEY", help="Of whoever must have signed RELEASE: a file in .pub."),
    ] = None,
    strict: _Strict = False,
    copy: _Copy = None,
) -> None:
    """Recount every claim of RELEASE from the written files. It needs nothing but the folder, and reads nothing else.

    A k-map is about other people too: it needs their table. Without --key nobody is asked for a signature, and one
    that was taken away is not missed. The last lines tell how each file was checked: a report is drawn for people, and
    what it says cannot be checked. With --strict such a release fails.

    Exit code 0: everything holds. 1: some check fails, and the output says which. 2: this is no release.
    """
    from sfumato.privacy.verify import verify as verify_release
    from sfumato.release.certificate import population_of

    texts = (*(missing or ()), *missing_texts(release, raw))
    with following(), step("Verifying"):
        verdict = verify_release(
            release,
            raw=raw_table(raw, release),
            missing=texts,
            population=population_of(population),
            others=others or (),
            key=key,
            strict=strict,
        )
    _end(verdict, () if copy is None else recounted(copy, release))


def _end(verdict: Verdict, counted: Sequence[Recounted]) -> None:
    """Tell it, and end with 1 where something does not hold."""
    copies = [{"says": str(claim), "holds": claim.holds} for claim in counted]
    figures("verify", {**verdict_form(verdict), **({"copy": copies} if counted else {})})
    if not all(claim.holds for claim in counted):
        echo("The copy is NOT what was released; the release itself:\n")
    echo("".join(f"{one}\n" for one in (verdict, *counted)))
    if not verdict.holds or not all(claim.holds for claim in counted):
        raise typer.Exit(1)


def recounted(copy: str, release: Path) -> list[Recounted]:
    """What the database itself counts in a copy of the table."""
    from sfumato.release.copies import recount

    return recount(copy, release)


def verdict_form(verdict: Verdict) -> dict[str, Any]:
    """A verdict as figures."""
    return {
        "holds": verdict.holds,
        "checks": [{"name": one.name, "holds": one.holds, "detail": one.detail} for one in verdict.checks],
        "files": [{"name": one.name, "how": one.how} for one in verdict.files],
    }


def raw_table(path: Path | None, release: Path) -> object:
    """The raw table; a CSV in any dialect, and a workbook, which verify does not read, as publish reads them.

    Dates and numbers that are written in another way are read as the holder's recipe says.
    """
    if path is None:
        return None
    from sfumato.data.number_columns import by_type
    from sfumato.data.reading import read_arrow
    from sfumato.data.sources.openers import CSV, EXCEL

    kind, recipe = path.suffix.lower(), _holders_recipe(release)
    if kind not in CSV + EXCEL:
        return path
    table = read_arrow(path, encoding=recipe.encoding if recipe is not None and kind in CSV else None)
    return table if recipe is None else by_type(table, recipe.schema)


def missing_texts(release: Path, raw: Path | None) -> tuple[str, ...]:
    """Texts that mean missing, from the holder's recipe if it lies beside the release."""
    recipe = None if raw is None else _holders_recipe(release)
    return () if recipe is None else recipe.schema.missing_texts


def _holders_recipe(release: Path) -> Recipe | None:
    """Only its holder has the raw table. Nobody else has a recipe there that could be believed, so none is read."""
    from sfumato.errors import SfumatoError
    from sfumato.release.reading import read_recipe_of

    try:
        return read_recipe_of(release)
    except SfumatoError:
        return None
