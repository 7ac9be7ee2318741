"""What jobs do: each calls the library, and gives back plain JSON for the screens; pages are drawn beside it."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from sfumato.data.safe_files import write_private
from sfumato.data.schema import Schema
from sfumato.recipe import Recipe
from sfumato.recipe.yaml_form import BUNDLED
from sfumato.studio.jobs import Job
from sfumato.studio.tables import in_database, look
from sfumato.studio.wording import in_words, tree_of

Task = Callable[[Job], dict[str, Any]]
RELEASE = "release"


def _work(job: Job) -> Path:
    """The folder of the piece of work that a job belongs to."""
    return job.folder.parents[1]


def _recipe(job: Job) -> Recipe:
    """The recipe as it stood when the job was begun; its files lie in the folder of the piece of work."""
    os.chdir(_work(job))
    found = Recipe.from_yaml(job.form["of"] + "\n", allow=job.form.get("allow", ()))
    if found.table is None or found.table.startswith(BUNDLED) or in_database(found.table):
        return found
    return replace(found, table=str(Path(found.table).resolve()))


def _table(recipe: Recipe) -> object:
    from sfumato.sweeping.points import load

    return load(recipe.table or "")


def _people(recipe: Recipe) -> Any:
    from sfumato.data.reading import read
    from sfumato.events import step
    from sfumato.publishing.case import prepare

    with step("Reading the table"):
        return prepare(read(_table(recipe), recipe.schema, encoding=recipe.encoding, query=recipe.query), recipe)


def look_at_table(job: Job) -> dict[str, Any]:
    """Read a table, say what its columns may be, and draft a recipe where there is none."""
    os.chdir(_work(job))
    return look(_work(job), str(job.form["table"]), encoding=job.form.get("encoding"))


def find_clusters(job: Job) -> dict[str, Any]:
    """The clusters as they are now, drawn, and how many seem right."""
    from sfumato.data.encoding import encode
    from sfumato.events import step
    from sfumato.publishing.tries import sampled
    from sfumato.release.report.clusters import raw_clusters
    from sfumato.release.report.markup import page
    from sfumato.structure.how_many import how_many
    from sfumato.structure.structures import Clusters, clusters_of, find

    recipe = _recipe(job)
    structure = clusters_of(recipe.structure) or Clusters()
    people = encode(sampled(_people(recipe), 20_000), recipe.schema)
    with step("Trying how many clusters seem right"):
        seem = how_many(structure, people)
    with step("Finding the clusters"):
        best = max(seem, key=lambda k: seem[k]) if seem else 2
        found = find(replace(structure, k=best) if structure.k == "auto" else structure, people)
    drawn = raw_clusters(found)
    if drawn is not None:
        write_private(job.folder / "page.html", page("The clusters now", drawn))
    return {"silhouettes": {str(k): round(value, 3) for k, value in seem.items()}, "best": best, "k": found.n}


def check_feasible(job: Job) -> dict[str, Any]:
    """Whether even the most masked table would keep each requirement."""
    from sfumato.errors import SfumatoError
    from sfumato.maskers.sensitive import check_top, counted
    from sfumato.recipe.policies.findings import findings
    from sfumato.studio.policies import plain

    recipe = _recipe(job)
    people = _people(recipe)
    lines = []
    for need in recipe.privacy:
        line: dict[str, Any] = {"says": need.sentence(), "holds": True}
        if need.population is None:
            try:
                check_top(counted(people, recipe.privacy), need.parts())
            except SfumatoError as error:
                line |= {"holds": False, "given": error.given, "remedy": error.remedy}
        lines.append(line)
    return {"needs": lines, "rows": people.rows, "policies": [plain(one) for one in findings(recipe, people)]}


def run_trial(job: Job) -> dict[str, Any]:
    """Mask, verify and measure; what comes out is kept in the job's folder, and no ledger knows of it.

    Under a budget it is no trial: what it spends is entered before it is spent.
    """
    from sfumato.publishing import Run, publish
    from sfumato.publishing.trials import keep_trial
    from sfumato.release.bundle import Format

    recipe = _recipe(job)
    table = _table(recipe)
    written: Format = "csv" if job.form.get("format") == "csv" else "parquet"
    release = publish(table, recipe, run=Run(trial=not recipe.mask.guarantee.spends, format=written))
    keep_trial(table, release, job.folder / RELEASE)
    told = release.certificate
    return {
        "statement": told["statement"],
        "rows": told["table"]["rows"],
        "lifted": told["lifted"],
        "holds": release.verdict.holds,
        "checks": len(release.verdict.checks),
        "seconds": round(sum(release.timings.values()), 2),
        "headline": release.scores.get("headline", []),
        "columns": release.scores.get("columns", []),
        "nothing_shown": release.scores.get("nothing_shown", 0.0),
        "sample": _sample(release.shown, recipe.schema),
        "yaml": recipe.to_yaml(),
    }


def _sample(shown: Any, schema: Schema, rows: int = 8) -> dict[str, Any]:
    """The first rows of what would go out, as they are read."""
    trees = {name: tree_of(schema, name) for name in shown.column_names}
    first = shown.slice(0, rows).to_pylist()
    cells = [[in_words(_text(cell), trees[name]) for name, cell in row.items()] for row in first]
    return {"names": shown.column_names, "rows": cells}


def _text(cell: object) -> str:
    return "" if cell is None else ", ".join(map(str, cell)) if isinstance(cell, list) else str(cell)


def advise(job: Job) -> dict[str, Any]:
    """Several maskers side by side on a sample."""
    from sfumato.sweeping.advice import advise as advise_on
    from sfumato.sweeping.side_by_side import html

    recipe = _recipe(job)
    found = advise_on(_table(recipe), recipe, seconds=30)
    write_private(job.folder / "page.html", html(found))
    best = found.best
    return {
        "sentence": found.sentence,
        "warning": found.warning,
        "sample": found.sample,
        "mask": None if best is None or not best.contender.changes else best.contender.name,
        "set": [] if best is None else list(best.contender.changes),
    }


def _kept(job: Job) -> Any:
    from sfumato.publishing.trials import Kept

    return Kept(Path(job.form["trial"]) / RELEASE)


def look_into_ledger(job: Job) -> dict[str, Any]:
    """What the ledger says to a release of a trial; its warnings are the job's."""
    from sfumato.privacy.ledger import Ledger
    from sfumato.publishing import Run
    from sfumato.publishing.trials import look_up

    kept = _kept(job)
    recipe = kept.recipe
    Ledger().check()
    case = look_up(_table(recipe), kept, run=Run())
    known = [] if case.account is None else case.account.known()
    spent = None
    if recipe.mask.guarantee.spends and case.account is not None:
        spent = str(case.account.ledger.spent(case.account.people))
    return {"known": [one.entry.folder for one in known], "spent": spent, "people": recipe.people}


def release(job: Job) -> dict[str, Any]:
    """Write a trial as a release: entered in the ledger, signed if there is a key, verified again where it stands."""
    from sfumato.events import step
    from sfumato.privacy.verify import verify
    from sfumato.publishing import Run
    from sfumato.publishing.trials import release_trial
    from sfumato.release.certificate import population_of
    from sfumato.release.signing import load_key, sign_release

    kept, form = _kept(job), job.form
    recipe, signed = kept.recipe, []
    key = None if not form.get("key") else load_key(form["key"], passphrase=job.secret.encode())

    def finish(folder: Path) -> None:
        if key is not None:
            signed.append(sign_release(folder, key))

    folder = release_trial(_table(recipe), kept, Path(form["output"]), run=Run(), finish=finish)
    with step("Verifying what was released"):
        verdict = verify(
            folder,
            others=recipe.before.releases,
            raw=_people(recipe).to_arrow() if recipe.before.same else None,
            population=population_of(recipe.population),
            missing=recipe.schema.missing_texts,
        )
    return {
        "folder": str(folder),
        "name": folder.name,
        "holds": verdict.holds,
        "verdict": str(verdict),
        "fingerprint": signed[0] if signed else None,
    }


def explain(job: Job) -> dict[str, Any]:
    """Why values look as they do, and which k would show more, found by searching again."""
    from sfumato.maskers.partition.explanation import whys
    from sfumato.maskers.topdown.explanation import overview, stories
    from sfumato.publishing import explain as explain_release

    kept = _kept(job)
    history = explain_release(_table(kept.recipe), kept.folder)
    if "rounds" not in history:
        return {"overview": None, "stories": [], "values": [why(one, kept.recipe.schema) for one in whys(history)]}
    return {"overview": overview(history), "stories": [story(one) for one in stories(history)], "values": []}


def why(one: Any, schema: Schema) -> dict[str, Any]:
    """What is told of one value."""
    told = {"shows": one.shows, "next": one.next, "remedy": one.remedy}
    words = in_words(one.value, tree_of(schema, one.attribute))
    return {"attribute": one.attribute, "value": one.value, "words": words, "people": one.people, **told}


def story(one: Any) -> dict[str, Any]:
    """What is told of one attribute."""
    return {
        "attribute": one.attribute,
        "shown": list(one.shown),
        "shows": one.shows,
        "next": one.next,
        "remedy": one.remedy,
        "steps": len(one.steps),
    }


def attack(job: Job) -> dict[str, Any]:
    """Every attack that applies, measured on the raw table."""
    from sfumato.publishing import attack as attack_release

    kept = _kept(job)
    found = attack_release(_table(kept.recipe), kept.folder)
    return {"sentences": [one.sentence for one in found.results], "left_out": dict(found.left_out)}


TASKS: dict[str, Task] = {
    "look": look_at_table,
    "clusters": find_clusters,
    "feasible": check_feasible,
    "trial": run_trial,
    "advise": advise,
    "ledger": look_into_ledger,
    "release": release,
    "explain": explain,
    "attack": attack,
}
