"""`sfumato demo`: the whole job on the bundled census table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sfumato.cli.output import check_places, note, noting_warnings, show

if TYPE_CHECKING:
    import pyarrow as pa
    from rich.table import Table

    from sfumato.recipe import Recipe
    from sfumato.release.release import Release

EXAMPLE = "sfumato demo --output sfumato-demo"
QUASI = ("age", "workclass", "education", "marital_status", "occupation", "race", "sex", "hours_per_week",
         "native_country")  # fmt: skip
SEVERAL = (("age", "sex", "education"), ("marital_status", "occupation", "hours_per_week"),
           ("workclass", "race", "native_country"))  # fmt: skip
DRAWN = ("age", "education", "occupation")


def demo(
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for the two releases.")] = Path("sfumato-demo"),
    k: Annotated[int, typer.Option("--k", help="How many people must share every combination.")] = 50,
    clusters: Annotated[int, typer.Option("--clusters", help="How many clusters must survive.")] = 6,
) -> None:
    """Publish the bundled census table twice: under one quasi-identifier, and under three smaller ones.

    The clusters of the raw table guide the masking; afterwards they are looked for in the masked table.
    """
    from sfumato.cli.progress import telling
    from sfumato.cli.summary import claims_table, show_scores
    from sfumato.data import datasets
    from sfumato.publishing import Run, publish

    asked_of = {"one-quasi-identifier": (QUASI,), "three-quasi-identifiers": SEVERAL}
    check_places([output / name for name in asked_of])
    adult = datasets.load("adult", complete=True)
    show(f"The census table Adult: {adult.table.num_rows:,} people. {adult.citation}\n")
    for name, asked in asked_of.items():
        recipe = demo_recipe(asked, k=k, clusters=clusters)
        show(f"── {name.replace('-', ' ')}, k = {k} " + "─" * 40)
        with noting_warnings():
            release = publish(adult.table, recipe, run=Run(tell=telling()))
            release.write(output / name)
        show(_picture(adult.table, release))
        show(claims_table(release.certificate))
        if lifted := release.certificate["lifted"]:
            show(f"{lifted} records ({lifted / adult.table.num_rows:.1%}) are shown at the top of every column.")
        show(f"VERDICT: {'every claim holds' if release.verdict.holds else 'A CLAIM FAILS'} for the written file\n")
        show_scores(release.scores)
    note(f"wrote {output}/: each release to be handed over, and beside it a .holder folder for your eyes only")
    if release.report is not None:
        show(f"Look at it: {output / name}.holder/report.html for you, {output / name}/report.html for everybody")
    show(f"Next: sfumato verify {output / name}; sfumato explain {output / name} education; "
         f"sfumato clusters {output / name}")  # fmt: skip


def demo_recipe(asked: tuple[tuple[str, ...], ...], *, k: int, clusters: int) -> Recipe:
    """The census table under these quasi-identifiers, with the same k on each."""
    from dataclasses import replace

    from sfumato.data import datasets
    from sfumato.data.schema import Schema
    from sfumato.maskers.topdown.fit import TopDown
    from sfumato.privacy.requirements import KAnonymity
    from sfumato.recipe import Recipe
    from sfumato.structure.structures import Clusters

    schema = dict(datasets.schemas.adult())
    for name in schema:
        if name not in (*QUASI, "income"):
            schema[name] = replace(schema[name], role="identifier")
    return Recipe(
        schema=Schema(schema),
        structure=Clusters("kmeans", k=clusters, seed=0),
        privacy=tuple(KAnonymity(on, k) for on in asked),
        mask=TopDown(search="portfolio", seconds=5, suppress=0.01) if len(asked) == 1 else TopDown(),
    )


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
