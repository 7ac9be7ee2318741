"""`sfumato publish`: the main job."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sfumato.cli.family import numbers_of, show_family
from sfumato.cli.key import open_key
from sfumato.cli.ledger import show_plan
from sfumato.cli.options import Allow
from sfumato.cli.output import check_places, note, noting_warnings

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    from sfumato.publishing import Run
    from sfumato.release.release import Release

ENGINES = {
    "local": "sfumato.engines.local.engine:LocalEngine",
    "reference": "sfumato.engines.reference:ReferenceEngine",
}
EXAMPLE = "sfumato publish recipe.yaml --output out --set privacy.0.k=20"


def publish(  # noqa: PLR0913 - an argument for each option
    recipe: Annotated[Path, typer.Argument(metavar="RECIPE", help="The recipe, in YAML (see: sfumato draft).")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The release folder to write.")] = Path("release"),
    table: Annotated[
        str | None, typer.Option("--table", help="The table, if not the one that the recipe names.")
    ] = None,
    change: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="PATH=VALUE", help="Change a setting: privacy.0.k=20."),
    ] = None,
    csv: Annotated[bool, typer.Option("--csv", help="Write table.csv instead of table.parquet.")] = False,
    engine: Annotated[str, typer.Option("--engine", help="Who counts: local or reference.")] = "local",
    anytime: Annotated[
        bool,
        typer.Option("--anytime", help="After Ctrl-C release what is there; otherwise nothing is written."),
    ] = False,
    report: Annotated[bool, typer.Option("--report/--no-report", help="Draw the report, report.html.")] = True,
    clusters: Annotated[
        str | None,
        typer.Option("--clusters", metavar="N,N,...", help="A version for each number of clusters, safe together."),
    ] = None,
    allow: Allow = None,
    sign: Annotated[
        Path | None, typer.Option("--sign", metavar="KEY", help="Sign the release (see: sfumato key make).")
    ] = None,
) -> None:
    """Mask a table as RECIPE says, verify what was written, measure what survived, and write the release.

    Two folders are written: the release, to be handed over, and NAME.holder beside it, for your eyes only. An earlier
    release of that name is replaced, and told; anything else there is left alone, and refused. Every release is entered
    in your ledger (see: sfumato ledger). With --clusters 2,4,6 there is a release for each number in that folder.
    """
    from sfumato.cli.summary import show_release
    from sfumato.publishing import publish as run_recipe
    from sfumato.recipe import Recipe
    from sfumato.sweeping.family import member, publish_family

    found = Recipe.from_yaml(recipe, changes=change or (), allow=allow or ())
    numbers = [] if clusters is None else numbers_of(clusters)
    check_places([member(output, number) for number in numbers] or [output])
    opened = None if sign is None else open_key(sign)
    show_plan(found)
    with _stopping(anytime) as asked, noting_warnings():
        run = replace(_run(csv=csv, engine=engine, asked=asked), report=report)
        if numbers:
            finish = (lambda release: _sign(release, opened)) if opened is not None else (lambda release: None)
            family = publish_family(_table(table or found.table), found, numbers, output, run=run, finish=finish)
            show_family(family, output)
            return
        release = run_recipe(_table(table or found.table), found, run=run)
    with noting_warnings():
        if opened is not None:
            _sign(release, opened)
        _write(release, output)
    show_release(release, output)


def _sign(release: Release, key: Ed25519PrivateKey) -> None:
    from sfumato.release.signing import sign_release

    note(f"signed with the key {sign_release(Path(release.scratch.name) / 'release', key)}")


def _write(release: Release, output: Path) -> None:
    output = release.write(output)
    note(f"wrote {output}/ (hand it over) and {output}.holder/ (keep it)")
    if release.report is not None:
        note(f"look at it: {output}.holder/report.html")


def _table(named: str | None) -> object:
    from sfumato.data.datasets import load
    from sfumato.errors import RecipeError

    if named is None:
        raise RecipeError("table", "a recipe or --table names the table", given="neither",
                          remedy="add `table: people.csv` to the recipe")  # fmt: skip
    return load(named.removeprefix("bundled:")).table if named.startswith("bundled:") else named


def _run(*, csv: bool, engine: str, asked: Callable[[], bool]) -> Run:
    from sfumato.cli.progress import telling
    from sfumato.errors import RecipeError
    from sfumato.publishing import Run

    if engine not in ENGINES:
        raise RecipeError("--engine", "it is one of " + ", ".join(ENGINES), given=repr(engine),
                          remedy="say --engine local")  # fmt: skip
    module, _, name = ENGINES[engine].partition(":")
    chosen = getattr(import_module(module), name)
    return Run(engine=chosen(), tell=telling(), asked_to_stop=asked, format="csv" if csv else "parquet")


@contextmanager
def _stopping(anytime: bool) -> Iterator[Callable[[], bool]]:
    """With --anytime the first Ctrl-C ends the search in a valid state; a second one ends the program."""
    stop: list[int] = []
    if not anytime:
        yield lambda: False
        return
    before = signal.getsignal(signal.SIGINT)

    def ask(number: int, _: object) -> None:
        if stop:
            raise KeyboardInterrupt
        stop.append(number)

    signal.signal(signal.SIGINT, ask)
    try:
        yield lambda: bool(stop)
    finally:
        signal.signal(signal.SIGINT, before)
