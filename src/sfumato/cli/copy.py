"""`sfumato copy`: the table of a release in a database, or in a file of another program."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sfumato.cli.output import note, show
from sfumato.cli.verify import Others, Population, verified

if TYPE_CHECKING:
    from sfumato.errors import SfumatoError, TableError
    from sfumato.recipe import Recipe
    from sfumato.release.release import Release

EXAMPLE = "sfumato copy out 'postgresql://holder@db.example.org/census?table=people_masked'"


def copy(
    release: Annotated[Path, typer.Argument(metavar="RELEASE", help="The folder of a release.")],
    target: Annotated[
        str,
        typer.Argument(metavar="TARGET", help="A database's address; or a file: .xlsx, .dta, .sav, .csv."),
    ],
    others: Others = None,
    population: Population = None,
    raw: Annotated[
        str | None,
        typer.Option("--raw", metavar="TABLE", help="The table that was published, where a check asks for it."),
    ] = None,
) -> None:
    """Copy the table of RELEASE to a new table of a database, or to a file, once every check of it holds.

    Some claims are about more than RELEASE, and are checked with what sfumato verify is given for them: --with for one
    that is safe with earlier releases, --population for a k-map. What was written is counted again: for a database, by
    the database itself. The folder stays the release.
    """
    from sfumato.people.door import accepted

    verdict = verified(release, raw=raw, population=population, others=others)
    found = accepted(release, verdict, "arrow").export(target)
    note("wrote a copy of the table, and counted it again; the folder stays the release")
    for claim, smallest in found.items():
        show(f"{claim}: {smallest} rows in the smallest group")


@dataclass(frozen=True)
class Copied:
    """What came of a copy that `publish --copy` was asked for. `failed`: why there is none."""

    says: str = ""
    there: bool = False
    failed: SfumatoError | None = None

    @property
    def form(self) -> dict[str, Any]:
        """As figures."""
        return {
            "written": self.failed is None,
            "why": "" if self.failed is None else str(self.failed),
            **({"already": True} if self.there else {}),
        }


def check_copy(address: str | None, recipe: Recipe, *, several: bool) -> None:
    """Before any work: an address that is none, one for several versions, or columns that no database takes."""
    from sfumato.data.sources.sql.copies import address_of, check_folder, check_kinds
    from sfumato.errors import RecipeError

    if address is None:
        return
    found = address_of(address, None)
    if several:
        raise RecipeError("--copy", "one version is copied", given="--clusters with several", remedy="leave one out")
    check_kinds(found, recipe.schema)
    check_folder(found)


def check_target(address: str | None, output: Path) -> None:
    """Before anything is published: whether a table of that name could be made there."""
    from sfumato.data.sources.sql.copies import address_of, is_taken, try_copy
    from sfumato.errors import TableError

    if address is None:
        return
    try:
        try_copy(address_of(address, None))
    except TableError as error:
        if not is_taken(error):
            raise
        remedy = f"{error.remedy}; a release that stands already is copied by sfumato copy {output} ADDRESS"
        raise TableError(error.thing, error.rule, given=error.given, remedy=remedy) from None


def copied(release: Release, address: str, written: Path) -> Copied:
    """Make a copy in a database; if that fails, the release stands and is entered all the same, and why is given."""
    from sfumato.errors import TableError

    try:
        release.write(address)
    except TableError as error:
        return Copied(failed=_uncopied(error, written, release.recipe, "released and entered"))
    except (KeyboardInterrupt, SystemExit):
        note(f"{written} is released and entered, and not copied: {_left(written, release.recipe)}", style="yellow")
        raise
    note("wrote the released table to the database; the folder stays the release")
    return Copied()


def copy_of_standing(folder: Path, recipe: Recipe, address: str) -> Copied:
    """The copy of a release that stands already: the table that is there, if it is one, or a new table."""
    from sfumato.errors import SfumatoError
    from sfumato.release.copies import has_copy

    try:
        if has_copy(address, folder):
            return Copied("its copy is in the database, which counted it: nothing to do", there=True)
        _copy_standing(folder, recipe, address)
    except SfumatoError as error:
        return Copied("its copy is not there", failed=_uncopied(error, folder, recipe, "released already"))
    return Copied("its copy was missing in the database, and is written now")


def _copy_standing(folder: Path, recipe: Recipe, address: str) -> None:
    from sfumato.people.door import accepted

    population = next((Path(str(need.population)) for need in recipe.privacy if need.population is not None), None)
    verdict = verified(folder, population=population, others=[Path(one) for one in recipe.before.releases])
    accepted(folder, verdict, "arrow").export(address)


def _uncopied(error: SfumatoError, folder: Path, recipe: Recipe, state: str) -> TableError:
    """What is left to be done is a copy: published again, it would be a second release of the same people."""
    from sfumato.errors import TableError

    given = "; ".join(filter(None, (error.given, f"{folder}, which is {state}, and not copied")))
    return TableError(error.thing, error.rule, given=given, remedy=f"{error.remedy}; then {_left(folder, recipe)}")


def _left(folder: Path, recipe: Recipe) -> str:
    from sfumato.cli.summary import beside

    return f"say sfumato copy {folder} ADDRESS{beside(recipe)}, and do not publish again"
