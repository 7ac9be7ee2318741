"""Sweep: publish one table under many settings, side by side, and say which one to take.

A family: one version of a table for each number of clusters, safe together (000, section 4.1).

All versions that are safe when joined show no more than one table could that shows what they show together. So the
versions are not given one after the other what is left: every search is guided by the clusters of all numbers at once
and finds the same cut, and each version comes with the clusters, centres and figures of its own number.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from sfumato.calls import called
from sfumato.data.safe_files import private_folder, write_private
from sfumato.display import Card, Grid
from sfumato.errors import RecipeError, ReleaseError
from sfumato.forks import refuse_second_reading
from sfumato.publishing import Run, publish
from sfumato.recipe import Earlier, Recipe
from sfumato.recipe.parts import check_earlier
from sfumato.release.output import check_output
from sfumato.release.release import Release
from sfumato.structure.clusterers import check_clusterer, finds_k
from sfumato.structure.structures import Clusters, class_column, clusters_of
from sfumato.sweeping.frontier import Frontier, advice, frontier
from sfumato.sweeping.page import csv_text, html
from sfumato.sweeping.points import POINTS, Over, Result, cores, fingerprint, points, refuse_budget, run_points

Tell = Callable[[int, int], None]
PAGE, TABLE = "sweep.html", "sweep.csv"


@dataclass(frozen=True)
class Sweep:
    """What came out: the result of every setting, the frontier, one sentence of advice, and where it was written.

    All of it was measured against the raw table: for the holder's eyes.
    """

    results: Sequence[Result]
    frontier: Frontier
    folder: Path

    def __repr__(self) -> str:
        return self._card().text()

    def _repr_html_(self) -> str:
        return self._card().html()

    def _card(self) -> Card:
        """The frontier's, with what was refused and where it was written."""
        found = self.frontier._card()
        refused = [[one.name, one.refused] for one in self.results if one.refused is not None]
        grids = [*found.grids, *([Grid(("setting", "why it cannot be published"), refused)] if refused else [])]
        lines = [*found.lines, f"{self.folder / PAGE} draws it, {self.folder / TABLE} has every score."]
        return Card(f"Sweep: {len(self.results)} settings", lines, grids)

    @property
    def advice(self) -> str:
        """One sentence that names a setting."""
        return advice(self.frontier)


@called
def sweep(
    table: object,
    recipe: Recipe | str | Path,
    over: Over,
    output: str | Path,
    *,
    kept: str | None = None,
    workers: int | None = None,
    public: bool = False,
    tell: Tell = lambda done, total: None,
) -> Sweep:
    """Run every combination of `over` on the cores, and write sweep.html and sweep.csv.

    `table`: a path, "bundled:NAME", or a data frame. `over`: values by the path of their setting; "privacy.k" sets k of
    all requirements that have one, and "privacy.l" or "privacy.t" likewise. `kept`: the score to go by. `public`: the
    table is nobody's secret, so that a budget of differential privacy may be swept. A sweep that was interrupted goes
    on where it stopped. Values are numbers, texts or, for "mask", maskers: {"mask": [sf.Partition(), "mondrian"]}. If
    no setting can be published it is refused, once the reasons of all are written.

    Processes are started anew, so a script that calls this does so under `if __name__ == "__main__":`.
    """
    refuse_second_reading()
    recipe = Recipe.of(recipe)
    found = points(recipe, over)
    refuse_budget(recipe, found, public=public)
    folder = _folder(Path(output))
    done = [0]

    def finished() -> None:
        done[0] += 1
        tell(done[0], len(found))

    with ExitStack() as stack:
        path = table if isinstance(table, str) else _written(table, stack)
        tell(0, len(found))
        results = run_points(
            found, path, folder, fingerprint=fingerprint(path), workers=workers or cores(), finished=finished
        )
    best = frontier(results, kept=kept)
    write_private(folder / TABLE, csv_text(results, best))
    write_private(folder / PAGE, html(results, best))
    _refuse_none(results, folder)
    return Sweep(results, best, folder)


def _refuse_none(results: Sequence[Result], folder: Path) -> None:
    """Where nothing can be published nothing was compared."""
    if all(one.refused is not None for one in results):
        raise RecipeError(
            "sweep",
            "at least one setting can be published",
            given=f"{len(results)} that cannot; {results[0].name}: {results[0].refused}",
            remedy=f"change the recipe or the values; {folder / TABLE} has the reasons of all",
        )


def _folder(output: Path) -> Path:
    """A new folder, or that of an earlier sweep, that can be written; others may not look into it."""
    try:
        if output.exists() and (not output.is_dir() or (any(output.iterdir()) and not (output / POINTS).is_dir())):
            raise ReleaseError(
                str(output),
                "an output folder is new, empty, or that of an earlier sweep",
                given="something else is there",
                remedy="choose another name",
            )
        for folder in (output, output / POINTS):
            if not folder.is_dir():
                private_folder(folder)
        write_private(output / POINTS / ".trial", "")
        (output / POINTS / ".trial").unlink()
    except OSError as error:
        raise ReleaseError(
            str(output),
            "the output folder must be writable",
            given=error.strerror or str(error),
            remedy="make room or choose another place; nothing was read yet",
        ) from None
    return output


def _written(table: object, stack: ExitStack) -> str:
    """A path as it is; a table in memory in a file that the other processes can read, gone at the end."""
    if isinstance(table, Path):
        return str(table)
    import pyarrow.parquet as pq

    from sfumato.data.reading import read_arrow

    folder = stack.enter_context(TemporaryDirectory(prefix="sfumato-"))
    path = Path(folder) / "table.parquet"
    pq.write_table(read_arrow(table), path)
    return str(path)


@dataclass(frozen=True, eq=False)
class Family:
    """The versions by their number of clusters, or by method and number, and where each was written."""

    releases: Mapping[int | str, Release]
    folders: Mapping[int | str, Path]


def publish_family(
    table: object,
    recipe: Recipe,
    clusters: Sequence[int],
    output: str | Path,
    *,
    methods: Sequence[str] = (),
    run: Run | None = None,
    finish: Callable[[Release], None] = lambda release: None,
) -> Family:
    """Publish a version for each number of clusters into OUTPUT/clusters-N, each safe with those before it.

    With `methods` there is one for each method and number, in OUTPUT/METHOD-N; a method that finds the number by itself
    has one. The recipe asks for clusters and is masked by top-down refinement. `finish` is called with each release
    before it is written, for example to sign it. Versions that were written before something goes wrong stay: each is
    a release.
    """
    recipe = recipe.beside_others()
    asked = versions(clusters, methods)
    _check(recipe, asked)
    for version in asked:
        check_output(member(output, version))
    releases: dict[int | str, Release] = {}
    folders: dict[int | str, Path] = {}
    for version in asked:
        releases[version.key] = publish(table, _recipe_of(recipe, version, asked, list(folders.values())), run=run)
        finish(releases[version.key])
        folders[version.key] = releases[version.key].write(member(output, version))
    return Family(releases, folders)


@dataclass(frozen=True)
class Version:
    """One version of a family: a method (None: that of the recipe) with a number of clusters (None: it finds it)."""

    method: str | None
    number: int | None

    @property
    def key(self) -> int | str:
        """What it is called by: its number where there is one method alone."""
        if self.method is None:
            return self.number or 0
        return self.method if self.number is None else f"{self.method}-{self.number}"


def versions(clusters: Sequence[int], methods: Sequence[str]) -> list[Version]:
    """Every method with every number.

    >>> [version.key for version in versions([2, 4], ["kmeans", "hdbscan"])], versions([2], [])[0].key
    (['kmeans-2', 'kmeans-4', 'hdbscan'], 2)
    """
    if not methods:
        return [Version(None, number) for number in clusters]
    for name in methods:
        check_clusterer(name)
    return [Version(name, number) for name in methods for number in ([None] if finds_k(name) else clusters)]


def member(output: str | Path, version: Version) -> Path:
    """The folder of one version.

    >>> member("out", Version(None, 4)).as_posix(), member("out", Version("ward", 4)).as_posix()
    ('out/clusters-4', 'out/ward-4')
    """
    return Path(output) / (f"clusters-{version.key}" if version.method is None else str(version.key))


def _recipe_of(recipe: Recipe, version: Version, family: Sequence[Version], before: Sequence[Path]) -> Recipe:
    """A version's own recipe, guided by the clusters of all others as well."""
    clusters = _clusters(recipe)
    numbers = [number for number in dict.fromkeys(one.number for one in family) if number is not None]
    methods = [name for name in dict.fromkeys(one.method for one in family) if name is not None]
    own = (
        clusters if version.method in (None, clusters.method) else replace(clusters, method=version.method, options={})
    )
    structure = replace(
        own,
        k=version.number or "auto",
        also=tuple(number for number in numbers if number != version.number and version.number),
        beside=tuple(name for name in methods if name != version.method),
    )
    releases = (*recipe.before.releases, *(str(folder.resolve()) for folder in before))
    earlier = Earlier(releases=releases, people="same") if releases else None
    return replace(recipe, structure=structure, earlier=earlier)


def _check(recipe: Recipe, family: Sequence[Version]) -> None:
    _clusters(recipe)
    if len(family) < 2 or len({version.key for version in family}) < len(family):
        raise RecipeError(
            "--clusters",
            "a family has at least two versions, each number once",
            given=", ".join(str(version.key) for version in family) or "none",
            remedy="say --clusters 2,4,6, or --clusters 4 --methods kmeans,ward",
        )
    check_earlier(recipe.schema, recipe.mask, recipe.privacy)
    if recipe.before.growing:
        raise RecipeError(
            "--clusters",
            "versions of one table go with earlier versions of it",
            given="earlier releases of a growing table",
            remedy="publish one version beside them",
        )


def _clusters(recipe: Recipe) -> Clusters:
    """What a version is made of for each number."""
    found = clusters_of(recipe.structure)
    if found is None:
        raise RecipeError(
            "--clusters",
            "a family has a version for each number of clusters",
            given="classes" if class_column(recipe.structure) else "no structure",
            remedy="give the recipe structure: {clusters: kmeans, k: 6}",
        )
    return found
