"""`sfumato demo`: the whole job on the bundled census table."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sfumato.cli.lean import start_libraries
from sfumato.cli.output import check_places, figures, note, noting_warnings, show
from sfumato.cli.progress import following
from sfumato.cli.publish import release_form

if TYPE_CHECKING:
    import pyarrow as pa
    from rich.table import Table

    from sfumato.maskers.masker import Masker
    from sfumato.recipe import Recipe
    from sfumato.release.release import Release

EXAMPLE = "sfumato demo --output sfumato-demo"
QUASI = (
    "age",
    "workclass",
    "education",
    "marital_status",
    "occupation",
    "race",
    "sex",
    "hours_per_week",
    "native_country",
)
SEVERAL = (
    ("age", "sex", "education"),
    ("marital_status", "occupation", "hours_per_week"),
    ("workclass", "race", "native_country"),
)
DRAWN = ("age", "education", "occupation")
SHOWN = {
    "certainty_penalty": "information lost (NCP)",
    "f_measure.start": "clusters found again from their centres (F)",
    "f_measure.cold10": "without help, best of ten starts (F)",
}


def demo(
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for the two releases.")] = Path("sfumato-demo"),
    k: Annotated[int, typer.Option("--k", help="How many people must share every combination.")] = 50,
    clusters: Annotated[int, typer.Option("--clusters", help="How many clusters must survive.")] = 6,
) -> None:
    """Publish the bundled census table, verify it, and show what survived.

    It is published twice under the same privacy: by `partition`, the masker of recipes that name none, which shows
    parts each by itself, and by `top_down`, one recoding for everybody. The clusters of the raw table guide the
    masking; afterwards they are looked for in the masked table.
    """
    start_libraries()

    from sfumato.cli.claims import claims_table
    from sfumato.data import datasets
    from sfumato.maskers.partition.fit import Partition
    from sfumato.maskers.topdown.masker import TopDown
    from sfumato.publishing import Run, publish

    masks = {"top-down": TopDown(), "partition": Partition()}
    *_, best = masks
    check_places([output / name for name in masks])
    written: list[Path] = []
    releases: dict[str, Release] = {}
    adult = datasets.load("adult", complete=True)
    show(f"The census table Adult: {adult.table.num_rows:,} people. {adult.citation}\n")
    for name, mask in masks.items():
        recipe = demo_recipe((QUASI,), k=k, clusters=clusters, mask=mask)
        with noting_warnings():
            with following(lambda: written):
                releases[name] = publish(adult.table, recipe, run=Run(report=mask is masks[best]))
            written.append(releases[name].write(output / name))
    told = {name: release_form(made, output / name) for name, made in releases.items()}
    figures("demo", {"releases": told})
    release, folder = releases[best], output / best
    show(_picture(adult.table, release))
    show(claims_table(release.certificate))
    show(f"VERDICT: {'every claim holds' if release.verdict.holds else 'A CLAIM FAILS'} for the written file\n")
    show(_side_by_side(releases))
    note(f"wrote {output}/: each release to be handed over, and beside it a .holder folder for your eyes only")
    if release.report is not None:
        show(f"Look at it: {folder}.holder/report.html for you, {folder}/report.html for everybody")
    show(
        f"Next: sfumato verify {folder}; sfumato clusters {folder}; sfumato explain {output / 'top-down'} education; "
        "sfumato draft YOUR-TABLE.csv"
    )


def demo_recipe(asked: tuple[tuple[str, ...], ...], *, k: int, clusters: int, mask: Masker) -> Recipe:
    """The census table under these quasi-identifiers, with the same k on each."""
    from dataclasses import replace

    from sfumato.data import datasets
    from sfumato.data.schema import Schema
    from sfumato.privacy.requirements import KAnonymity
    from sfumato.recipe import Recipe
    from sfumato.structure.structures import Clusters

    schema = dict(datasets.schemas.adult())
    for name in schema:
        if name not in (*QUASI, "income"):
            schema[name] = replace(schema[name], role="identifier")
    return Recipe(
        schema=Schema(schema),
        structure=Clusters("kmeans", k=clusters, seed=0, n_init=2),
        privacy=tuple(KAnonymity(on, k) for on in asked),
        mask=mask,
    )


def _side_by_side(releases: Mapping[str, Release]) -> Table:
    """What each masker keeps: detail by column, and the clusters."""
    from rich.table import Table

    from sfumato.cli.columns import detail
    from sfumato.evaluation.worth import Worth

    table = Table(title="The same privacy, masked in two ways (for your eyes only)", title_justify="left")
    table.add_column("detail kept of")
    for name in releases:
        table.add_column(name.replace("-", " "))
    kept = {
        name: {one.name: one.kept or 0.0 for one in Worth.of(made.scores, centres=True).columns}
        for name, made in releases.items()
    }
    for column in QUASI:
        table.add_row(column, *(detail(kept[name][column]) for name in releases))
    table.add_section()
    for score, says in SHOWN.items():
        figures = (made.scores["scores"].get(score, {}).get("value") for made in releases.values())
        table.add_row(says, *("" if figure is None else f"{figure:.3f}" for figure in figures))
    return table


def _picture(raw: pa.Table, release: Release) -> Table:
    """Before and after, side by side."""
    from rich.table import Table

    from sfumato.cli.summary import bars, decades, frequencies

    table = Table(show_lines=True, title="Before and after", title_justify="left")
    for heading in ("before", "after"):
        table.add_column(heading, no_wrap=True, min_width=34)
    for name in DRAWN:
        before, after = frequencies(raw, name), frequencies(release.shown, name)
        if name == "age":
            before, after = decades(raw, name), sorted(after, key=lambda pair: _first_number(pair[0]))
        table.add_row(f"{name}\n{bars(before)}", f"\n{bars(after)}")
    return table


def _first_number(label: str) -> float:
    """Where an interval begins; other labels come last."""
    first = label.strip("[]()").split("-")[0]
    return float(first) if first.isdigit() else float("inf")
