"""A family: one version of a table for each number of clusters, safe together (000, section 4.1).

All versions that are safe when joined show no more than one table could that shows what they show together. So the
versions are not given one after the other what is left: every search is guided by the clusters of all numbers at once
and finds the same cut, and each version comes with the clusters, centres and figures of its own number.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from sfumato.errors import RecipeError
from sfumato.publishing import Run, publish
from sfumato.recipe import Earlier, Recipe
from sfumato.recipe.earlier import check_earlier
from sfumato.release.output import check_output
from sfumato.release.release import Release
from sfumato.structure.structures import Clusters


@dataclass(frozen=True, eq=False)
class Family:
    """The versions by their number of clusters, and where each was written."""

    releases: Mapping[int, Release]
    folders: Mapping[int, Path]


def publish_family(
    table: object,
    recipe: Recipe,
    clusters: Sequence[int],
    output: str | Path,
    *,
    run: Run | None = None,
    finish: Callable[[Release], None] = lambda release: None,
) -> Family:
    """Publish a version for each number of clusters into OUTPUT/clusters-N, each safe with those before it.

    The recipe asks for clusters and is masked by top-down refinement. `finish` is called with each release before it is
    written, for example to sign it. Versions that were written before something goes wrong stay: each is a release.
    """
    _check(recipe, clusters)
    for number in clusters:
        check_output(member(output, number))
    releases: dict[int, Release] = {}
    folders: dict[int, Path] = {}
    for number in clusters:
        version = _version(recipe, number, [k for k in clusters if k != number], list(folders.values()))
        releases[number] = publish(table, version, run=run)
        finish(releases[number])
        folders[number] = releases[number].write(member(output, number))
    return Family(releases, folders)


def member(output: str | Path, number: int) -> Path:
    """The folder of one version.

    >>> member("out", 4).as_posix()
    'out/clusters-4'
    """
    return Path(output) / f"clusters-{number}"


def _version(recipe: Recipe, number: int, others: Sequence[int], before: Sequence[Path]) -> Recipe:
    if not isinstance(recipe.structure, Clusters):
        raise AssertionError("checked before")
    given = recipe.earlier.releases if recipe.earlier is not None else ()
    releases = (*given, *(str(folder.resolve()) for folder in before))
    earlier = Earlier(releases=releases, people="same") if releases else None
    return replace(recipe, structure=replace(recipe.structure, k=number, also=tuple(others)), earlier=earlier)


def _check(recipe: Recipe, clusters: Sequence[int]) -> None:
    if not isinstance(recipe.structure, Clusters):
        raise RecipeError("--clusters", "a family has a version for each number of clusters", given="classes",
                          remedy="give the recipe structure: {clusters: kmeans, k: 6}")  # fmt: skip
    if len(clusters) < 2 or len(set(clusters)) < len(clusters):
        raise RecipeError("--clusters", "a family has at least two versions, each number once",
                          given=", ".join(map(str, clusters)) or "none", remedy="say --clusters 2,4,6")  # fmt: skip
    check_earlier(recipe.mask, recipe.privacy)
    if recipe.earlier is not None and recipe.earlier.people != "same":
        raise RecipeError("--clusters", "versions of one table go with earlier versions of it",
                          given="earlier releases of a growing table",
                          remedy="publish one version beside them")  # fmt: skip
