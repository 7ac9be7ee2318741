"""Publish: the steps of 000 section 4.1 in order. Label, mask, write, verify, re-cluster and evaluate, release."""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir
from typing import Any

import numpy as np
import pyarrow as pa

from sfumato.counting import Engine
from sfumato.data.encoding import encode
from sfumato.data.reading import read
from sfumato.data.table import Table, whole_values
from sfumato.errors import RecipeError, ReleaseError
from sfumato.evaluation.generated import judge_generated
from sfumato.evaluation.judging import Judged, agreement_with, judge
from sfumato.maskers.histogram.mask import NoisyHistogram
from sfumato.maskers.masker import Labels, Outcome, Task
from sfumato.maskers.registry import name_of
from sfumato.maskers.sensitive import counted, look_alikes, settled
from sfumato.maskers.topdown.fit import TopDown
from sfumato.maskers.topdown.recoding import Recoding
from sfumato.maskers.topdown.trying import allowed_to_json, allowing
from sfumato.privacy.budget import Spending
from sfumato.privacy.ledger import Ledger
from sfumato.privacy.mechanisms import Mechanisms, noise_of
from sfumato.privacy.requirements import largest_k, without_covered
from sfumato.privacy.verify import Verdict, verify
from sfumato.randomness import Randomness, Secure
from sfumato.recipe import Recipe
from sfumato.release.accounting import Accounting, reserving
from sfumato.release.beside import claims_beside, fixed_groups, mask_beside
from sfumato.release.bundle import Format, generated_table, released_table, write_bundle, write_json
from sfumato.release.certificate import Facts
from sfumato.release.claims import count_claims, population_of
from sfumato.release.differential import Differential
from sfumato.release.output import holder_of
from sfumato.release.pruning import explained
from sfumato.release.reading import (
    LIFTED,
    read_certificate,
    read_columns,
    read_history,
    read_lifted,
    read_mask,
    read_recipe_of,
    refuse_other_table,
)  # fmt: skip
from sfumato.release.release import Release
from sfumato.release.report.report import (
    HOW_TO_GET,
    REPORT,
    Held,
    Released,
    available,
    holder_report,
    public_report,
)  # fmt: skip
from sfumato.release.spreadsheets import warn_of_formulas
from sfumato.structure.space import Space
from sfumato.structure.structures import Found, declared_labels, find, find_any

Tell = Callable[[str], None]
TRYING = 5.0
"""Seconds that may be spent on finding out which k would show more."""
FEW = 5
"""A value held by fewer people than this tells them apart."""


@dataclass(frozen=True)
class Run:
    """How to run, apart from what: who counts, where chance comes from, who is told, when to stop early.

    `report`: draw the report in its two editions (needs the extra `plots`), and try which k would show more.
    `ledger`: where spent epsilon is entered, and every release that is written. `trial`: nothing will be written, so
    that releases which are out already are neither told nor in the way.
    """

    engine: Engine | None = None
    chance: Randomness = field(default_factory=Secure)
    tell: Tell = field(default=lambda step: None)
    asked_to_stop: Callable[[], bool] = field(default=lambda: False)
    format: Format = "parquet"
    progress: bool | None = None
    report: bool = True
    ledger: Ledger = field(default_factory=Ledger)
    trial: bool = False


def publish(table: object, recipe: Recipe, *, run: Run | None = None) -> Release:
    """Mask a table as the recipe says, verify what was written, and measure what survived.

    `table` is a path, a pandas, polars or pyarrow table, or anything with the Arrow C stream interface.
    """
    run = run or Run()
    clock = _Clock(run.tell)
    mechanisms = _mechanisms(recipe, run)
    accounting = Accounting(recipe, mechanisms, run.ledger, trial=run.trial)
    accounting.begin()
    with clock.step("Reading the table"):
        everything = read(
            table, recipe.schema, progress=run.progress, encoding=recipe.encoding, witness=accounting.look
        )
        people = _prepare(everything, recipe)
    _tell_look_alikes(people, recipe)
    account = accounting.account(people)
    with reserving(account, recipe, mechanisms):
        with clock.step("Finding the structure that must survive"):
            found = (find if mechanisms is None else find_any)(recipe.structure, people)
        with clock.step("Masking"):
            task = replace(_task(people, found, recipe, run), mechanisms=mechanisms, fixed=fixed_groups(recipe, people))
            counting = replace(task, table=counted(people, recipe.privacy))
            outcome = mask_beside(counting, recipe)
    with clock.step("Measuring what survived"):
        judged = _judged(recipe, found, task, outcome)
    ready = _ready(people, outcome, judged, recipe=recipe, run=run, mechanisms=mechanisms)
    with clock.step("Drawing the public report"):
        pages = {REPORT: public_report(ready.released)} if _can_draw(run) else {}
    with clock.step("Writing"), _room_for_it():
        scratch = TemporaryDirectory(prefix="sfumato-")
        folder = Path(scratch.name) / "release"
        folder.mkdir()
        shown = write_bundle(folder, ready.released.shown, ready.files, ready.released.facts, chance=run.chance,
                             pages=pages)  # fmt: skip
        for name, content in ready.holder.items():  # beside the release, where verify looks for it with the raw table
            write_json(holder_of(folder) / name, content)
    with clock.step("Verifying the written file"):
        verdict = _verified(folder, recipe, people)
    if not verdict.holds:
        scratch.cleanup()
        failed = "; ".join(f"{check.name}: {check.detail}" for check in verdict.failed)
        raise ReleaseError("release", "only a verified table is released", given=failed,
                           remedy="report this: the masker and the verification disagree")  # fmt: skip
    certificate = json.loads((folder / "certificate.json").read_text(encoding="utf-8"))
    with clock.step("Trying which k would show more"):
        history = _tried(outcome, counting, recipe) if run.report else outcome.history
    with clock.step("Drawing the holder's report"):
        held = Held(people, found, outcome.columns, judged.released, outcome.generated, judged.again,
                    judged.scores, history, dict(clock.seconds), verdict)  # fmt: skip
        report = holder_report(replace(ready.released, recoding=_recoding(outcome)), held) if pages else None
    kept_back = {**_kept_back(outcome), **ready.holder}
    return Release(recipe, outcome.mask, certificate, verdict, judged.scores, history, kept_back,
                   clock.seconds, shown, people.origin, scratch, report, account)  # fmt: skip


def _recoding(outcome: Outcome) -> Recoding | None:
    return outcome.mask if isinstance(outcome.mask, Recoding) else None


def _disagreement(verdict: Verdict) -> ReleaseError:
    return ReleaseError(
        "release",
        "only a verified table is released",
        given=str(verdict),
        remedy="report this: the masker and the verification disagree",
    )


@contextmanager
def _room_for_it() -> Iterator[None]:
    """A release is made in the folder for temporary files first: a disk that is full there is told in words."""
    try:
        yield
    except OSError as error:
        raise ReleaseError(
            gettempdir(),
            "a release is first written among the temporary files",
            given=error.strerror or type(error).__name__,
            remedy="free space there, or name another folder in TMPDIR; nothing is left",
        ) from None


def _verified(folder: Path, recipe: Recipe, people: Table) -> Verdict:
    """What verify says of the written folder, given whatever its claims are about besides it."""
    earlier = recipe.earlier
    joined = earlier is not None and earlier.people == "same"
    return verify(
        folder, others=() if earlier is None else earlier.releases, raw=people.to_arrow() if joined else None,
        population=population_of(recipe.population), missing=recipe.schema.missing_texts,
    )  # fmt: skip


def evaluate(raw: object, release: str | Path, *, seeds: int = 10) -> Mapping[str, Any]:
    """Measure a written release against the raw table that it was made from, for the holder's eyes.

    `raw` is whatever `publish` takes. The recipe, and which records were lifted, come from the holder's folder, which
    must stand beside the release. `seeds`: how many cold starts to average over. The result is plain JSON:
    "headline" has the first figures to look at, "scores" all of them by name.
    """
    recipe = read_recipe_of(release)
    people = _prepare(read(raw, recipe.schema, encoding=recipe.encoding), recipe)
    refuse_other_table(release, people.rows)
    found = find(recipe.structure, people)
    if recipe.budget is not None:
        return judge_generated(recipe.structure, found, people, read_columns(release)).scores
    mask = read_mask(release)
    lifted = read_lifted(release, people.rows)
    columns = mask.apply(people, lifted=lifted) if isinstance(mask, Recoding) else mask.apply(people)
    task = _task(people, found, recipe, Run())
    moved = read_certificate(release)["guarantee"] == "none"
    written = {name: column for name, column in read_columns(release).items() if name in columns}
    return judge(recipe.structure, found, task, columns, seeds=seeds, moved=moved, written=written).scores


def explain_release(raw: object, release: str | Path) -> Mapping[str, Any]:
    """The history of a top-down release, with the k that would show more, found by searching the raw table again."""
    recipe, history = read_recipe_of(release), read_history(release)
    if not isinstance(recipe.mask, TopDown):
        return history
    people = _prepare(read(raw, recipe.schema, encoding=recipe.encoding), recipe)
    task = replace(_task(people, find(recipe.structure, people), recipe, Run()), fixed=fixed_groups(recipe, people))
    counting = replace(task, table=counted(people, recipe.privacy))
    return {**history, "allowed": allowed_to_json(allowing(counting, recipe.mask, history))}


def _kept_back(outcome: Outcome) -> dict[str, Any]:
    """Files for the holder's folder: what the masker keeps back, and which rows of the raw table were lifted."""
    if outcome.lifted is None or not outcome.lifted.any():
        return dict(outcome.holder)
    return {**outcome.holder, LIFTED: {"rows": np.flatnonzero(outcome.lifted).tolist()}}


def _mechanisms(recipe: Recipe, run: Run) -> Mechanisms | None:
    return None if recipe.budget is None else Mechanisms(Spending(recipe.budget), noise_of(run.chance))


def _judged(recipe: Recipe, found: Found, task: Task, outcome: Outcome) -> Judged:
    if outcome.generated:
        mask = outcome.mask if isinstance(outcome.mask, NoisyHistogram) else None
        return judge_generated(recipe.structure, found, task.table, outcome.columns, mask=mask)
    return judge(recipe.structure, found, task, outcome.columns, moved=outcome.guarantee == "none")


def _task(people: Table, found: Found, recipe: Recipe, run: Run) -> Task:
    most = declared_labels(recipe.structure, recipe.schema)
    labels = Labels(found.guide, max(found.n, int(found.guide.max()) + 1), most)
    return Task(people, labels, recipe.privacy, run.engine or _local(), run.asked_to_stop,
                agreement_with(found, people))  # fmt: skip


def _local() -> Engine:
    from sfumato.engines.local.engine import LocalEngine

    return LocalEngine()


def _prepare(people: Table, recipe: Recipe) -> Table:
    """Leave out rows that the recipe says to drop, and refuse columns that are as good as a name."""
    if recipe.missing:
        kept = np.ones(people.rows, dtype=bool)
        for name in recipe.missing:
            column = people.columns[name].decode()
            kept &= column.is_valid().to_numpy(zero_copy_only=False)
        if not kept.any():
            raise RecipeError("missing", "dropping rows leaves some", given="a rule that drops every row",
                              remedy="keep missing values as a value: missing: {NAME: value}")  # fmt: skip
        people = encode(people.to_arrow().filter(pa.array(kept)), people.schema, origin=people.origin)
    if recipe.budget is None:
        _refuse_fingerprints(people)
    return settled(people, recipe.privacy)


def _tell_look_alikes(people: Table, recipe: Recipe) -> None:
    for name, number in look_alikes(people, recipe.privacy).items():
        warnings.warn(
            f"{name}: {number} labels look like another one (letters' case, spaces, invisible marks, letters of other "
            "alphabets). Requirements count those that look alike as one value; the table shows them as they are",
            stacklevel=3,
        )


def _refuse_fingerprints(people: Table) -> None:
    for name in (*people.schema.with_role("plain"), *people.schema.with_role("sensitive")):
        codes = whole_values(people.columns[name])
        rare = int((np.bincount(codes)[codes] < FEW).sum())
        if 2 * rare > people.rows and not people.schema[name].unique_ok:
            raise RecipeError(
                name, f"a column released as it is does not tell most people apart (values shared by fewer than {FEW})",
                given="a fingerprint: more than half of the rows have such a value",
                remedy="declare it an identifier (dropped) or quasi (masked), or confirm it with unique_ok: true",
            )  # fmt: skip


@dataclass(frozen=True, eq=False)
class _Ready:
    """What goes into the release folder, before it is written: the table with its facts, and JSON by file name.

    `holder`: files for the holder's folder, of what the release tells in part only.
    """

    released: Released
    files: dict[str, Any]
    holder: Mapping[str, Any]


def _ready(
    people: Table, outcome: Outcome, judged: Judged, *, recipe: Recipe, run: Run, mechanisms: Mechanisms | None
) -> _Ready:
    shown = generated_table(recipe.schema, outcome) if outcome.generated else released_table(people, outcome.columns)
    kept = without_covered(recipe.privacy).kept
    lifted = 0 if outcome.lifted is None else int(outcome.lifted.sum())
    along = {} if outcome.guarantee == "none" else _along(judged, recipe, shown)  # means would tell the key
    claims = [*count_claims(counted(people, kept), shown, outcome.mask, kept), *claims_beside(people, outcome, recipe)]
    facts = Facts(
        recipe.schema, shown.num_rows, outcome.masked, claims, outcome.covered, lifted,
        recipe.keep_order, name_of(recipe.mask), f"table.{run.format}",
        outcome.guarantee, {name.removesuffix(".json"): True for name in along},
        None if mechanisms is None else Differential.of(mechanisms),
        spreadsheet_safe=recipe.release.spreadsheet_safe and run.format == "csv",
    )  # fmt: skip
    warn_of_formulas(shown, csv=run.format == "csv", safe=recipe.release.spreadsheet_safe)
    told = explained(outcome.mask, shown, along.get("codebook.json", {}), recipe)
    recoding = told.mask if isinstance(told.mask, Recoding) else None
    space = Space.from_json(along["centres.json"]) if "centres.json" in along else None
    return _Ready(Released(facts, shown, recoding, space), {**told.mask.files(), **along}, told.holder)


def _can_draw(run: Run) -> bool:
    if run.report and not available():
        warnings.warn(f"no report without the plotting library: {HOW_TO_GET}", stacklevel=3)
    return run.report and available()


def _tried(outcome: Outcome, task: Task, recipe: Recipe) -> Mapping[str, Any]:
    """The history with what a search with a lower k would show, as far as the time allows."""
    if not isinstance(recipe.mask, TopDown) or (recipe.earlier and recipe.earlier.people == "growing"):
        return outcome.history
    found = allowing(task, recipe.mask, outcome.history, seconds=TRYING)
    return {**outcome.history, "allowed": allowed_to_json(found)}


def _along(judged: Judged, recipe: Recipe, shown: pa.Table) -> dict[str, Any]:
    """The aggregates that go into the release. Centres go where k-means settles on the released rows, or not at all."""
    found: dict[str, Any] = {}
    if recipe.release.codebook and judged.released.values:
        found["codebook.json"] = judged.released.to_json()
    if recipe.release.starting_centres and judged.space is not None:
        space = judged.space.settled(shown, minimum=max(largest_k(recipe.privacy).values(), default=1))
        if space is not None:
            found["centres.json"] = space.to_json()
    return found


class _Clock:
    """Owns the seconds of each step."""

    def __init__(self, tell: Tell) -> None:
        self.seconds: dict[str, float] = {}
        self._tell = tell

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Time one step and tell that it began."""
        self._tell(name)
        began = time.perf_counter()
        yield
        self.seconds[name] = round(time.perf_counter() - began, 4)
