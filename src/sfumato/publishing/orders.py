"""The order of steps: `publish` as 000 section 4.1 has it, and the shorter orders that measure or explain a release.

`find_clusters` is what the recipient of a release does with its centres: it finds the clusters that its holder saw.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.calls import called, expected
from sfumato.data.masked import Masked
from sfumato.data.table import Table
from sfumato.errors import ReleaseError, quoted
from sfumato.evaluation.attacks.results import AttackReport
from sfumato.evaluation.attacks.settings import Effort, Others
from sfumato.events import running, step
from sfumato.forks import refuse_second_reading
from sfumato.maskers.masker import Outcome
from sfumato.privacy.verify.texts.snippet import CLASSES
from sfumato.publishing import handover, steps
from sfumato.publishing.case import Case, Run, Step
from sfumato.publishing.notebook import told_in_notebook
from sfumato.publishing.tries import try_others
from sfumato.recipe import Recipe
from sfumato.release.certificate import sha256
from sfumato.release.output import CERTIFICATE
from sfumato.release.reading import DAMAGE, plain_file, read_certificate, read_json, read_recipe_of, read_rows
from sfumato.release.release import Release
from sfumato.structure.embedding import Placement, check_placement
from sfumato.structure.measures import Measure
from sfumato.structure.space import PLACEMENTS, Space
from sfumato.structure.structures import Clusters, cluster_placed

READ = Step("Reading the table", steps.read_again)
FIND = Step("Finding the structure that must survive", steps.find_structure)
MEASURE = Step("Measuring what survived", steps.measure)

MASK = Step("Masking", steps.mask_until_enough)

PUBLISH = (
    Step("Looking into the ledger", steps.open_account),
    Step("Reading the table", steps.read_seen),
    FIND,
    MASK,
    MEASURE,
    Step("Counting what is claimed", handover.describe),
    Step("Drawing the public report", handover.draw_public),
    Step("Writing", handover.write_folder),
    Step("Verifying the written file", handover.check),
    Step("Attacking what is shown", handover.attack_shown),
    Step("Trying what would show more", try_others),
    Step("Drawing the holder's report", handover.draw_holders),
)
EVALUATE = (READ, FIND, Step("Masking again", steps.mask_again), MEASURE)
EXPLAIN = (READ, FIND, Step("Trying which k would show more", steps.search_again))
LEARN = (FIND, MASK)
ATTACK = (READ, Step("Finding the labels", steps.find_labels), Step("Attacking", handover.attack_written))


@called
def publish(table: object, recipe: Recipe | str | Path, *, run: Run | None = None) -> Release:
    """Mask a table as the recipe says, verify what was written, and measure what survived.

    `table` is a path, a pandas, polars or pyarrow table, or anything with the Arrow C stream interface. `recipe` is a
    `Recipe`, or the path of one.
    """
    recipe = Recipe.of(recipe)
    if run is not None:
        expected("publish", run, Run, rule="how to run is an sf.Run", remedy="write run=sf.Run(report=False)")
    refuse_second_reading()
    return released_by(recipe, walk(PUBLISH, Case(source=table, recipe=recipe, run=run or Run())))


def released_by(recipe: Recipe, case: Case) -> Release:
    """The release that a run has come to, by the recipe that it began with."""
    return Release(
        recipe=recipe,
        mask=case.outcome.mask,
        certificate=case.certificate,
        verdict=case.verdict,
        scores=case.judged.scores,
        history=case.history,
        holder=case.kept,
        timings=case.seconds,
        written=case.shown,
        origin=case.people.origin,
        scratch=case.scratch,
        report=case.report,
        papers=case.papers,
        account=case.account,
        left_out=case.left_out,
        source=_file_of(case.source),
    )


def _file_of(source: object) -> Path | None:
    """Where the table lies that a run was given, if it is a file."""
    named = isinstance(source, str | Path) and "://" not in str(source) and Path(source).is_file()
    return Path(str(source)) if named else None


@called
def evaluate(
    raw: object,
    release: str | Path,
    *,
    seeds: int = 10,
    placement: Placement | None = None,
    measures: Mapping[str, Measure] | None = None,
) -> Mapping[str, Any]:
    """Measure a written release against the raw table that it was made from, for the holder's eyes.

    `raw` is whatever `publish` takes. The recipe, and which records were lifted, come from the holder's folder, which
    must stand beside the release. `seeds`: how many cold starts to average over. `placement`: where masked values stand
    when clusters are looked for again, if not as the recipe says. `measures`: figures of your own by name, each a
    function of the labels of raw records and those of the same records found in the masked table. The result is plain
    JSON: "headline" has the first figures to look at, "scores" all of them by name.
    """
    case = replace(_opened(raw, release), seeds=seeds, whole=True)
    case = replace(case, run=replace(case.run, measures=measures or {}))
    if placement is not None:
        case = replace(case, recipe=case.recipe.placed(placement))
    return walk(EVALUATE, case).judged.scores


@called
def explain(raw: object, release: str | Path) -> Mapping[str, Any]:
    """The history of a release's search, with what searching the raw table again can tell."""
    return walk(EXPLAIN, _opened(raw, release)).history


@called
def attack(
    raw: object, release: str | Path, *, effort: Effort | None = None, others: Others | None = None
) -> AttackReport:
    """Every attack that applies to a release, measured on the raw table it was made from. For the holder only.

    `raw`: a path, a data frame, anything that `publish` takes. The recipe is that of the holder's folder.
    """
    case = replace(_opened(raw, release), effort=effort or Effort(), others=others or Others())
    return walk(ATTACK, case).attacked


def learn(people: Table, recipe: Recipe) -> Outcome:
    """A mask for rows that stay in the house, and what they show: found and masked as for a release, and no more."""
    inside = replace(recipe, release=replace(recipe.release, labels=False, score=False))
    return _walk(LEARN, Case(recipe=inside, run=Run(), people=people)).outcome


def walk(order: Sequence[Step], case: Case) -> Case:
    """Take the steps one after the other. If one of them fails, or a stop is asked, nothing is left behind.

    In a notebook a bar tells how far they are, unless somebody else listens.
    """
    if case.run.listener is not None:
        return _walk(order, case)
    with told_in_notebook(len(order)) as listener:
        return _walk(order, replace(case, run=replace(case.run, listener=listener)))


def _walk(order: Sequence[Step], case: Case) -> Case:
    with ExitStack() as closing, running(case.run.listener, case.run.stop):
        case = replace(case, closing=closing)
        for one in order:
            with step(one.name, case.seconds):
                case = one.do(case)
        closing.pop_all()
    return case


def check_folder(given: object) -> None:
    """Refuse what is no path of a release."""
    rule, remedy = "a release is a folder, named by its path", 'write for example "out", after the raw table if any'
    expected("release", given, (str, Path), rule=rule, remedy=remedy)


def refuse_swapped(raw: object, release: str | Path) -> None:
    """A release folder where the raw table belongs, and a file where the release does."""
    if isinstance(raw, str | Path) and (Path(raw) / CERTIFICATE).is_file() and not Path(release).is_dir():
        table = "the address" if "://" in str(release) else str(release)  # which may hold a password
        raise ReleaseError(
            table,
            "the raw table comes first, and the release after it",
            given=f"{raw}, which is a release, before it",
            remedy=f"name them the other way round: {table} {raw}",
        )


def _opened(raw: object, release: str | Path) -> Case:
    check_folder(release)
    refuse_swapped(raw, release)
    return Case(source=raw, recipe=read_recipe_of(release), run=Run(), release=Path(release))


CENTRES, CODEBOOK = "centres.json", "codebook.json"


@called
def find_clusters(release: str | Path, *, placement: Placement = "expected") -> NDArray[np.int64]:
    """(rows,): the cluster of each row of a release, in the order of its table, the largest cluster first.

    k-means, started from the centres that go along: cold starts often end elsewhere. `placement`: "expected", where the
    codebook says, or "middle", by what rows show alone: intervals at their middles, sets in the middle of their labels.
    """
    check_folder(release)
    check_placement(placement, PLACEMENTS)
    space, table = read_space(release), released_rows(release)
    if placement not in space.placements:
        raise ReleaseError(
            str(release),
            "values are placed without the codebook where that tells of groups",
            given="a release whose places were told with a codebook of values, or with none",
            remedy="leave the placement out",
        )
    try:
        rows = Masked.of({name: table.column(name) for name in table.column_names})
        placed = space.place(rows, placement=placement)
        found = cluster_placed(Clusters("kmeans"), placed, k=len(space.centres), centres=space.start())
        return found.labels.astype(np.int64)
    except DAMAGE:
        raise _damaged(release) from None


def _no_centres(release: str | Path, certificate: Mapping[str, Any]) -> ReleaseError:
    """A release without centres; one that was to keep classes has no clusters of its holder's."""
    classes = certificate.get(CLASSES)
    looked = f"say how many to look for, from many starts: sfumato clusters {release} --k 5, in Python "
    looked += f'sf.load("{release}").clusters(5)'
    if classes is not None:
        return ReleaseError(
            str(release),
            f"a release whose masking was to keep clusters has their centres in {CENTRES}",
            given=f"one that was to keep the classes in {quoted(classes)}: there are no clusters to start from",
            remedy=looked,
        )
    return ReleaseError(
        str(release),
        f"a release that tells its clusters' centres has them in {CENTRES}",
        given="none there",
        remedy=f"{looked}; if there were clusters, publish told the holder why their centres stay there",
    )


def read_space(release: str | Path) -> Space:
    """Where the values and the clusters of a release stand."""
    path, certificate = Path(release) / CENTRES, read_certificate(release)
    if not os.path.lexists(path):
        raise _no_centres(release, certificate)
    try:
        for name in {CENTRES, CODEBOOK} & {CENTRES, *certificate["files"]}:
            if certificate["files"][name]["sha256"] != sha256(plain_file(release, name)):
                raise _damaged(release)
        told = read_json(release, CODEBOOK) if CODEBOOK in certificate["files"] else None
        return Space.from_json(read_json(release, CENTRES), told)
    except DAMAGE:
        raise _damaged(release) from None


def released_rows(release: str | Path) -> pa.Table:
    """The table of a release as it was written; a CSV as text."""
    return read_rows(release, guess=False)


def _damaged(release: str | Path) -> ReleaseError:
    return ReleaseError(
        str(release),
        f"{CENTRES}, the table and the certificate belong together",
        given="they do not",
        remedy=f"run sfumato verify {release}, and restore the release from a good copy",
    )
