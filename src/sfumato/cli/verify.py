"""`sfumato verify`: whether a written release is what its certificate says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sfumato.cli.output import echo, figures, note
from sfumato.cli.progress import following
from sfumato.events import step

if TYPE_CHECKING:
    from sfumato.errors import SfumatoError
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

Others = Annotated[
    list[Path] | None,
    typer.Option("--with", metavar="FOLDER", help="An earlier release that RELEASE is claimed to be safe with."),
]
Population = Annotated[
    Path | None,
    typer.Option("--population", metavar="TABLE", help="What a k-map is counted in: everybody a record may be."),
]


def verify(
    release: Annotated[Path, typer.Argument(metavar="RELEASE", help="The folder that was released.")],
    raw: Annotated[
        str | None,
        typer.Option("--raw", metavar="TABLE", help="For the holder: the table that was published, or its address."),
    ] = None,
    missing: Annotated[
        list[str] | None,
        typer.Option("--missing", metavar="TEXT", help='A text that means "missing" in a TABLE, such as "?".'),
    ] = None,
    population: Population = None,
    others: Others = None,
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
    with following(), step("Verifying"):
        verdict = verified(
            release, raw=raw, missing=missing, population=population, others=others, key=key, strict=strict
        )
    _end(verdict, () if copy is None else recounted(copy, release))


def verified(
    release: Path,
    *,
    raw: str | None = None,
    missing: Sequence[str] | None = None,
    population: Path | None = None,
    others: Sequence[Path] | None = None,
    key: Path | None = None,
    strict: bool = False,
) -> Verdict:
    """What verify finds, with all that the options of a command give for its claims."""
    from sfumato.privacy.verify import verify as verify_release
    from sfumato.release.certificate import population_of

    given = raw_table(raw, release)
    return verify_release(
        release,
        raw=given.table,
        missing=(*(missing or ()), *given.missing),
        population=population_of(population),
        others=others or (),
        key=key,
        strict=strict,
    )


def _end(verdict: Verdict, counted: Sequence[Recounted]) -> None:
    """Tell it, and end with 1 where something does not hold."""
    copies = [{"says": str(claim), "holds": claim.holds} for claim in counted]
    same = all(claim.holds for claim in counted)
    figures("verify", {**verdict_form(verdict), **({"copy": copies} if counted else {})})
    if verdict.holds and not same:
        echo("DOES NOT HOLD: the folder is what its certificate says, and its copy is not\n")
        echo("".join(f"{one}\n" for one in (*counted, f"The folder: {verdict}")))
    else:
        echo("".join(f"{one}\n" for one in (verdict, *counted)))
    if not verdict.holds or not same:
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


@dataclass(frozen=True, eq=False)
class Raw:
    """The raw table as verify takes it, and the texts that still mean missing in it."""

    table: object
    missing: tuple[str, ...]


def raw_table(named: str | None, release: Path) -> Raw:
    """The raw table; where its cells are text, or in a database, read as publish read them.

    How a number or a date is written, in which letters, with which separator, and which rows are left out, says the
    recipe in the holder's folder. Reading by it is publish's, and so is that of a folder of files; what is compared
    then, and how, is verify's alone. A file that holds numbers and dates by type needs no such help, and verify reads
    it by itself.
    """
    if named is None:
        return Raw(None, ())
    from sfumato.data.reading import read, read_arrow
    from sfumato.data.sources.openers import CSV, EXCEL, in_order
    from sfumato.publishing.case import published_rows

    path, elsewhere = Path(named), not in_order(named)
    texts = path.is_dir() or path.suffix.lower() in CSV + EXCEL
    recipe = _holders_recipe(release)
    if elsewhere and recipe is None:
        raise _unread(release)
    if recipe is not None and (texts or elsewhere or _reads_otherwise(recipe)):
        note(f"the raw table is read as the recipe in {release}.holder says")
        people = read(named, recipe.schema, encoding=recipe.encoding, query=recipe.query if elsewhere else None)
        return Raw(published_rows(people, recipe).to_arrow(), ())
    return Raw(read_arrow(named) if texts else Path(named), () if recipe is None else recipe.schema.missing_texts)


def _unread(release: Path) -> SfumatoError:
    from sfumato.errors import ReleaseError

    return ReleaseError(
        "--raw",
        "a database is asked for the columns that the recipe in the holder's folder keeps",
        given=f"no {release}.holder with a recipe",
        remedy="verify it where the holder's folder stands beside the release, or export the table to Parquet",
    )


def _reads_otherwise(recipe: Recipe) -> bool:
    """Whether a recipe tells how to read what may have types already, or which rows to leave out."""

    def told(attribute: Any) -> bool:
        forms = [getattr(attribute, name, None) for name in ("dates", "decimal", "outside")]
        return any(forms) or getattr(attribute, "separator", ";") != ";"

    return bool(recipe.missing) or any(told(recipe.schema[name]) for name in recipe.schema)


def _holders_recipe(release: Path) -> Recipe | None:
    """Only its holder has the raw table. Nobody else has a recipe there that could be believed, so none is read."""
    from sfumato.errors import SfumatoError
    from sfumato.release.reading import read_recipe_of

    try:
        return read_recipe_of(release)
    except SfumatoError:
        return None
