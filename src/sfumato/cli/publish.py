"""`sfumato publish`: the main job; with `--clusters 2,4,6` a family of versions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from sfumato.cli.copy import Copied, check_copy, check_target, copied, copy_of_standing
from sfumato.cli.key import open_key
from sfumato.cli.lean import start_libraries
from sfumato.cli.ledger import show_plan
from sfumato.cli.output import Allow, check_places, figures, note, noting_warnings, show, show_error
from sfumato.cli.policies import Attest, Policies, with_policies
from sfumato.cli.progress import following, written_from_now

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    from sfumato.publishing import Run
    from sfumato.recipe import Recipe
    from sfumato.release.release import Release
    from sfumato.sweeping.sweep import Family

EXAMPLE = "sfumato publish recipe.yaml --output out --set privacy.0.k=20"
NOT_COPIED = 3
"""How `publish --copy` ends where the release stands and its copy does not."""
FIGURES = {"agreement": "agreement", "f_measure.start": "F-measure"}

_Table = Annotated[str | None, typer.Option("--table", help="The table, if not the one that the recipe names.")]
_Changes = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="PATH=VALUE", help="Change a setting: privacy.0.k=20."),
]
_Forms = Annotated[
    list[str] | None,
    typer.Option("--format", metavar="NAME", help="parquet or csv; excel, stata, spss: a copy beside the folder."),
]
_Stream = Annotated[
    bool | None,
    typer.Option("--stream/--in-memory", help="Read the table by batches, or whole; if not said, by its size."),
]
_Suggest = Annotated[
    bool,
    typer.Option("--suggest/--no-suggest", help="Where one table tells little, try other settings on a sample."),
]
_Copy = Annotated[
    str | None, typer.Option("--copy", metavar="ADDRESS", help="Write the released table to a database as well.")
]
_Sign = Annotated[Path | None, typer.Option("--sign", metavar="KEY", help="Sign the release (see: sfumato key make).")]
_Clusters = Annotated[
    str | None,
    typer.Option("--clusters", metavar="N,N,...", help="A version for each number of clusters, safe together."),
]
_Methods = Annotated[
    str | None,
    typer.Option("--methods", metavar="NAME,...", help="With --clusters: a version for each clusterer, too."),
]


_Trial = Annotated[
    bool,
    typer.Option("--trial", help="Only look: NAME.trial is entered in no ledger, and must not be handed over."),
]


def publish(  # noqa: PLR0913 - an argument for each option
    recipe: Annotated[Path, typer.Argument(metavar="RECIPE", help="The recipe, in YAML (see: sfumato draft).")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The release folder to write.")] = Path("release"),
    table: _Table = None,
    change: _Changes = None,
    csv: Annotated[bool, typer.Option("--csv", help="Write table.csv instead of table.parquet.")] = False,
    form: _Forms = None,
    engine: Annotated[str, typer.Option("--engine", help="Who counts: local or reference.")] = "local",
    report: Annotated[bool, typer.Option("--report/--no-report", help="Draw the report, report.html.")] = True,
    clusters: _Clusters = None,
    methods: _Methods = None,
    suggest: _Suggest = True,
    stream: _Stream = None,
    allow: Allow = None,
    copy: _Copy = None,
    sign: _Sign = None,
    policy: Policies = None,
    attest: Attest = None,
    trial: _Trial = False,
) -> None:
    """Mask a table as RECIPE says, verify what was written, measure what survived, and write the release.

    Two folders are written: the release, to be handed over, and NAME.holder beside it, for your eyes only. An earlier
    release of that name is replaced, and told; anything else there is left alone, and refused. Every release is entered
    in your ledger (see: sfumato ledger). Where the recipe names its people, and their release stands there by the same
    recipe from the same table, it is not published again, and that is said; with --copy a copy that is missing is
    made. With --clusters 2,4,6 there is a release for each number in
    that folder, with --methods kmeans,ward for each clusterer and number.
    """
    start_libraries()

    from sfumato.engines import engine_named
    from sfumato.publishing import Run
    from sfumato.recipe import Recipe

    read = Recipe.from_yaml(recipe, changes=change or (), allow=allow or ())
    found = with_policies(read, policy or (), attest or ())
    asked = _Asked.of(found, clusters, methods)
    if trial:
        _check_trial(found, several=asked.several, signed=sign is not None, copied=copy is not None)
        output = output.with_name(f"{output.name}.trial")
    check_places(asked.places(output) if asked.several else [output])
    opened = None if sign is None else open_key(sign)
    check_copy(copy, found, several=asked.several)
    show_plan(found)
    forms = chosen_forms(form or (), csv=csv, several=asked.several)
    local = engine_named(engine)
    run = Run(engine=local, format=forms.table, report=report, suggest=suggest, stream=stream, trial=trial)
    people = _table(table or found.table)
    anew = trial or asked.several or opened is not None or bool(forms.also)
    if not anew and _already(people, found, output, run, copy):
        return
    check_target(copy, output)
    if not trial:
        _tell_replaced(asked.places(output) if asked.several else [output])
    if asked.several:
        _publish_family(people, found, asked, output=output, run=run, key=opened)
    else:
        _publish_one(people, found, output=output, run=run, key=opened, also=forms.also, copy=copy)


def _publish_one(
    people: object,
    recipe: Recipe,
    *,
    output: Path,
    run: Run,
    key: Ed25519PrivateKey | None,
    also: Sequence[str],
    copy: str | None,
) -> None:
    from sfumato.cli.summary import show_release
    from sfumato.publishing import publish as run_recipe

    with following(), noting_warnings() as told:
        release = run_recipe(people, recipe, run=run)
    with noting_warnings() as told_later:
        if key is not None:
            _sign(release, key)
        written = release.keep(output) if run.trial else _write(release, output, also=also)
    made = None if copy is None else copied(release, copy, written)
    of_copy = {} if made is None else {"copy": made.form}
    figures("publish", {**release_form(release, written), "warnings": [*told, *told_later], **of_copy})
    show_release(release, output)
    if run.trial:
        note(f"a trial: {written} is entered in no ledger, and must not be handed over", style="yellow")
    _end_uncopied(made)


def _check_trial(recipe: Recipe, *, several: bool, signed: bool, copied: bool) -> None:
    """A trial is for looking at: it is one, nobody's signature stands for it, and no copy of it is made."""
    from sfumato.errors import RecipeError

    if recipe.mask.guarantee.spends:
        raise RecipeError(
            "--trial",
            "under a budget there are no trials: every look at private data spends epsilon, which nothing gives back",
            given="a recipe with a budget",
            remedy="look at what comes of a public or made-up table of the same columns: publish that one, or compare "
            "settings with sfumato advise TABLE RECIPE --public FILE; then publish yours once, without --trial "
            "(docs/differential_privacy.md, What would it look like?)",
        )
    given = {"--clusters or --methods": several, "--sign": signed, "--copy": copied}
    for option in (name for name, is_given in given.items() if is_given):
        raise RecipeError("--trial", "a trial is looked at, and not handed over", given=option, remedy="leave one out")


def _tell_replaced(places: Sequence[Path]) -> None:
    """Said before the work begins, so that it can still be stopped."""
    from sfumato.release.output import CERTIFICATE

    for place in places:
        if (place / CERTIFICATE).is_file():
            note(f"{place} holds an earlier release, which this one will replace: whoever has that one has both")


def _already(people: object, recipe: Recipe, output: Path, run: Run, copy: str | None) -> bool:
    """Whether this very release stands there: people with a name are not released again for nothing. With `copy` its
    copy in a database is looked for, too, and made where there is none."""
    from sfumato.publishing.again import already_published

    with following():
        entry = already_published(people, recipe, output, run=run)
    if entry is None:
        return False
    made = None if copy is None else copy_of_standing(output, recipe, copy)
    told = {} if made is None else {"copy": made.form}
    figures("publish", {"folder": str(output), "already": True, "warnings": [], **told})
    todo = "nothing to do" if made is None else made.says
    show(f"already published on {entry.when[:10]} by this recipe from this table: {output}; {todo}")
    _end_uncopied(made)
    return True


def _end_uncopied(made: Copied | None) -> None:
    """Where the release stands and its copy does not, that has an exit code of its own."""
    if made is not None and made.failed is not None:
        show_error(made.failed)
        raise typer.Exit(NOT_COPIED)


def release_form(release: Release, folder: Path) -> dict[str, Any]:
    """A release as figures; what was measured against the raw table is for the holder's eyes only."""
    from sfumato.cli.summary import headline, proposals, suggestions, told_of_secrets

    return {
        "folder": str(folder),
        "rows": release.shown.num_rows,
        "left_out": release.left_out,
        "holds": release.verdict.holds,
        "headline": headline(release),
        "but": list(release.worth.but),
        "suggestions": suggestions(release),
        "proposals": proposals(release),
        "given_away": told_of_secrets(release),
        "guarantee": release.guarantee,
        "claims": [dict(one) for one in release.certificate["claims"]],
        "evaluation": dict(release.scores),
        "seconds": dict(release.timings),
    }


@dataclass(frozen=True)
class _Asked:
    """Of which numbers of clusters, and by which methods, there is a version each; none where it is one release."""

    numbers: list[int]
    methods: list[str]

    @classmethod
    def of(cls, recipe: Recipe, clusters: str | None, methods: str | None) -> _Asked:
        """As the options say; methods alone go with the recipe's own number."""
        from sfumato.structure.structures import clusters_of

        own = clusters_of(recipe.structure)
        named = [] if methods is None else [name.strip() for name in methods.split(",")]
        if clusters is not None:
            return cls(numbers_of(clusters), named)
        return cls([own.k] if methods is not None and own is not None and own.k != "auto" else [], named)

    @property
    def several(self) -> bool:
        """Whether there is a release for each of several numbers or clusterers."""
        return bool(self.numbers or self.methods)

    def places(self, output: Path) -> list[Path]:
        """The folders of the versions."""
        from sfumato.sweeping.sweep import member, versions

        return [member(output, version) for version in versions(self.numbers, self.methods)]


def _publish_family(
    people: object, recipe: Recipe, asked: _Asked, *, output: Path, run: Run, key: Ed25519PrivateKey | None
) -> None:
    from sfumato.sweeping.sweep import publish_family

    run = replace(run, suggest=False)
    finish = (lambda release: _sign(release, key)) if key is not None else (lambda release: None)
    with following(written_from_now(asked.places(output))), noting_warnings() as told:
        family = publish_family(people, recipe, asked.numbers, output, methods=asked.methods, run=run, finish=finish)
    members = [release_form(family.releases[one], family.folders[one]) for one in family.releases]
    figures("publish", {"family": members, "warnings": told})
    show_family(family, output)


def _sign(release: Release, key: Ed25519PrivateKey) -> None:
    from sfumato.release.signing import sign_release

    note(f"signed with the key {sign_release(Path(release.scratch.name) / 'release', key)}")


@dataclass(frozen=True)
class Forms:
    """In which form the table of the release is written, and which copies of it stand beside the folder."""

    table: Literal["parquet", "csv"]
    also: tuple[str, ...]


def chosen_forms(names: Sequence[str], *, csv: bool, several: bool = False) -> Forms:
    """What --format and --csv ask for.

    >>> chosen_forms(["stata", "csv"], csv=False)
    Forms(table='csv', also=('stata',))
    """
    from sfumato.errors import RecipeError
    from sfumato.release.exports.export import suffixes_of

    suffixes_of(names)
    if several and {*names} - {"csv", "parquet"}:
        raise RecipeError(
            "--format",
            "copies for other programs are written beside one release",
            given="several versions",
            remedy="leave it out, and say people.export of the one that is handed over",
        )
    return Forms("csv" if csv or "csv" in names else "parquet", tuple(n for n in names if n not in ("csv", "parquet")))


def _write(release: Release, output: Path, *, also: Sequence[str]) -> Path:
    """Write it, and say so; where it was written."""
    output = release.write(output, also=also)
    advice = "read the verdict and the warnings before you hand it over" if release.worth.but else "hand it over"
    note(f"wrote {output}/ ({advice}) and {output}.holder/ (keep it)")
    if also:
        note(f"and beside them a copy of the table for {', '.join(also)}, read back and counted again")
    if release.report is not None:
        note(f"look at it: {output}.holder/report.html; in short, for one printed page: report_short.html beside it")
    return output


def _table(named: str | None) -> object:
    from sfumato.errors import RecipeError

    if named is None:
        rule, remedy = "a recipe or --table names the table", "add `table: people.csv` to the recipe"
        raise RecipeError("table", rule, given="neither", remedy=remedy)
    if not named.startswith("bundled:"):
        return named
    from sfumato.data.datasets import load

    return load(named.removeprefix("bundled:")).table


def numbers_of(text: str) -> list[int]:
    """The numbers of clusters.

    >>> numbers_of("2, 4,6")
    [2, 4, 6]
    """
    from sfumato.errors import RecipeError

    parts = [part.strip() for part in text.split(",")]
    if not all(part.isascii() and part.isdigit() and len(part) < 7 for part in parts):
        raise RecipeError(
            "--clusters", "it is a list of whole numbers", given=repr(text), remedy="say --clusters 2,4,6"
        )
    return [int(part) for part in parts]


def show_family(family: Family, output: Path) -> None:
    """One line a version: what survived, and the smallest group that all versions so far make together."""
    from rich.table import Table

    table = Table(title=f"{len(family.releases)} versions, safe together", title_justify="left")
    for heading in ("clusters", *FIGURES.values(), "smallest group", "with those above, joined"):
        table.add_column(heading, justify="right")
    for key, release in family.releases.items():
        sizes = [claim for claim in release.certificate["claims"] if isinstance(claim["achieved"], int)]
        alone = [claim["achieved"] for claim in sizes if "with" not in claim]
        joint = [claim["achieved"] for claim in sizes if "with" in claim]
        table.add_row(
            str(key),
            *(_figure(release.scores, name) for name in FIGURES),
            str(min(alone)),
            str(min(joint)) if joint else "",
        )
    show(table)
    minded = any(release.worth.but for release in family.releases.values())
    advice = "read the verdicts and the warnings before you hand them over" if minded else "hand them over"
    note(f"wrote {', '.join(str(folder) for folder in family.folders.values())} ({advice}), each with its .holder")
    first, *_, last = family.folders.values()
    show(f"Check them again at any time: sfumato verify {last} --with {first} ...")


def _figure(scores: Mapping[str, Any], name: str) -> str:
    found = scores.get("scores", {}).get(name)
    return "" if found is None else f"{found['value']:.3f}"
