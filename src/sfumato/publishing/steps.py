"""The steps of a run, each from a Case to a Case that knows more. `orders.py` says which follow each other."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast

import numpy as np

from sfumato.counting import Engine
from sfumato.data.reading import read
from sfumato.data.sources.openers import in_order
from sfumato.errors import RecipeError, ReleaseError, SfumatoError, warn
from sfumato.evaluation.advice import advice_on_clusters
from sfumato.evaluation.attacks.attacker_view import Case as Attacked
from sfumato.evaluation.attacks.attacker_view import Seen
from sfumato.evaluation.attacks.suite import Measured, known_attributes, measure_criteria
from sfumato.evaluation.detail import check_detail
from sfumato.evaluation.evaluate import judge, objective_for
from sfumato.evaluation.risk import exposures, exposures_by
from sfumato.evaluation.scores import Scores
from sfumato.events import settling
from sfumato.maskers.masker import Labels, Outcome, Task
from sfumato.maskers.registry import name_of
from sfumato.maskers.sensitive import counted
from sfumato.privacy.requirements import largest_k, without_covered
from sfumato.privacy.verify import Verdict, verify
from sfumato.publishing.case import Case, prepare, tell_look_alikes
from sfumato.recipe import Recipe
from sfumato.recipe.policies import findings as policies
from sfumato.release.accounting import Accounting, costs_of
from sfumato.release.attacking import attack_release
from sfumato.release.bundle import needed_labels, told_labels, write_bundle, write_json
from sfumato.release.certificate import Claim, Facts, count_claims, population_of
from sfumato.release.earlier import claims_beside, fixed_groups, mask_beside
from sfumato.release.labels import in_order as in_label_order
from sfumato.release.labels import told_of, with_labels
from sfumato.release.output import holder_of, room_for_it
from sfumato.release.reading import (
    LIFTED,
    read_history,
    read_lifted,
    read_mask,
    read_masked,
    refuse_other_table,
    warn_of_formulas,
)
from sfumato.release.report.material import Held, Released
from sfumato.release.report.report import REPORT, holder_report, public_report
from sfumato.structure.released_groups import ReleasedGroups
from sfumato.structure.space import Space
from sfumato.structure.structures import declared_labels, find, find_any

PEOPLE = 400
"""How many people are attacked for a report; the command `sfumato attack` tries more."""


def open_account(case: Case) -> Case:
    """What may be spent, and what the ledger forbids, before any work."""
    recipe, run = case.recipe, case.run
    policies.refuse(recipe)
    costs = costs_of(recipe, run.chance)
    accounting = Accounting(recipe, costs, run.ledger, trial=run.trial)
    accounting.begin()
    return replace(case, costs=costs, accounting=accounting)


def read_seen(case: Case) -> Case:
    """Read and prepare the table, seen by the ledger as it came in."""
    recipe = case.recipe
    look = case.accounting.look
    _refuse_order(case)
    everything = read(
        case.source,
        recipe.schema,
        encoding=recipe.encoding,
        witness=look,
        stream=case.run.stream,
        query=recipe.query,
    )
    people = prepare(everything, recipe)
    policies.refuse(recipe, people)
    tell_look_alikes(people, recipe)
    return replace(case, people=people, account=case.accounting.account(people))


def _refuse_order(case: Case) -> None:
    if case.recipe.keep_order and not in_order(case.source):
        raise RecipeError(
            "keep_order",
            "rows that a database or Spark counts have no order",
            given="a recipe that keeps it",
            remedy="leave keep_order out",
        )


def read_again(case: Case) -> Case:
    """Read and prepare the table that a release was made from."""
    recipe = case.recipe
    read_in = read(case.source, recipe.schema, encoding=recipe.encoding, stream=case.run.stream, query=recipe.query)
    people = prepare(read_in, recipe)
    refuse_other_table(case.release, people.rows)
    return replace(case, people=people)


def find_structure(case: Case) -> Case:
    """Label the records (000 section 4.1, step 1), and say what the masker is given.

    Under a budget, spending begins here: it is reserved in the ledger first.
    """
    recipe, people = case.recipe, case.people
    case.closing.enter_context(case.costs.reserving(case.account, recipe))
    found = (find_any if recipe.mask.guarantee.spends else find)(recipe.structure, people)
    more = with_labels(recipe, people, found)
    if more is not None:
        case = replace(case, labels=more.labels, recipe=more.recipe, people=more.people)
        recipe, people = more.recipe, more.people
    labels = Labels(
        found.guide,
        max(found.n, int(found.guide.max()) + 1),
        declared_labels(recipe.structure, recipe.schema),
        told_in_part=found.of_column,
    )
    task = Task(
        people,
        labels,
        recipe.privacy,
        case.run.engine or _local(),
        objective=objective_for(recipe.structure, found, people),
        mechanisms=case.costs.mechanisms,
        fixed=fixed_groups(recipe, people),
        detail=recipe.wishes,
    )
    return replace(case, found=found, task=task, counting=replace(task, table=counted(people, recipe.privacy)))


def find_labels(case: Case) -> Case:
    """The structure, if its labels are in the release that is looked at."""
    return case if case.recipe.release.label_role is None else find_structure(case)


def mask_table(case: Case) -> Case:
    """Mask (step 2), and close what was reserved for it."""
    outcome = mask_beside(case.counting, case.recipe.masker, case.recipe)
    case.closing.close()
    outcome = replace(outcome, masked=outcome.masked.over(case.people))
    return replace(case, outcome=outcome, history=outcome.history)


def mask_until_enough(case: Case) -> Case:
    """The same, unless somebody asks to end the search early: then with what it has found by then, which is told."""
    with settling():
        case = mask_table(case)
    how_far = case.outcome.settled
    if how_far is None:
        return case
    warn(f"masking was ended early, {how_far}. Every claim holds; the recipe as it stands shows more in the end")
    return replace(case, history={**case.history, "settled": how_far})


def mask_again(case: Case) -> Case:
    """What a release shows of the raw table that it was made from, by its mask; and its rows as they were written."""
    mask, written = read_mask(case.release), read_masked(case.release, case.recipe.schema)
    if not written.row_by_row:
        return replace(case, outcome=Outcome(mask, written))
    masked = mask.apply(case.people, lifted=read_lifted(case.release, case.people.rows)).over(case.people)
    return replace(case, outcome=Outcome(mask, masked), written=written)


def measure(case: Case) -> Case:
    """Find the structure again in what is shown, and compare (steps 3 and 4). Wishes for detail must have been kept."""
    recipe, outcome = case.recipe, case.outcome
    detail = check_detail(case.people, outcome.masked, recipe.wishes)
    kind = recipe.release.kind(local=outcome.mask.local)
    judged = judge(
        recipe.structure,
        replace(case.found, measures=case.run.measures),
        case.task,
        outcome,
        seeds=case.seeds,
        written=case.written,
        codebook=kind,
        whole=case.whole,
    )
    advice = advice_on_clusters(case.found.clusters, judged.scores)
    if advice is not None and not case.run.trial:
        warn(advice)
    scores = {**judged.scores, **({"detail": [one.to_json() for one in detail]} if detail else {})}
    return replace(case, judged=replace(judged, scores=Scores(scores)))


def describe(case: Case) -> Case:
    """What goes into the release folder beside the table: claims, what explains it, aggregates that may go along."""
    recipe, people, outcome = case.recipe, case.people, case.outcome
    masked, kept = outcome.masked, without_covered(recipe.privacy).kept
    along = _along(case)
    claims = count_claims(counted(people, kept), masked, outcome.mask, kept)
    attacks = _measured(case, claims) if policies.measures_attacks(recipe) else None
    lifted = 0 if masked.lifted is None else int(masked.lifted.sum())
    csv, codebook = case.run.format == "csv", along.get("codebook.json", {})
    mask = outcome.mask.released(masked, needed_labels(codebook, recipe))
    files = {**mask.files(), **along}
    space = Space.from_json(along["centres.json"], codebook) if "centres.json" in along else None
    facts = Facts(
        schema=recipe.schema,
        rows=masked.rows,
        masked=masked.treated,
        claims=[*claims, *claims_beside(people, outcome, recipe)],
        covered=outcome.covered,
        lifted=lifted,
        keep_order=recipe.keep_order,
        mask=name_of(recipe.mask),
        table_file=f"table.{case.run.format}",
        guarantee=recipe.mask.guarantee,
        promise=case.costs.promise(recipe.mask.guarantee),
        along={name.removesuffix(".json"): True for name in along},
        spreadsheet_safe=recipe.release.spreadsheet_safe and csv,
        told=told_labels(codebook, masked, recipe.schema, files),
        policies=policies.claimed(recipe, people, masked, attacks or Measured()),
        labels={} if case.labels is None else told_of(case.labels, masked, [claim.on for claim in kept], space),
    )
    warn_of_formulas(masked, csv=csv, safe=recipe.release.spreadsheet_safe)
    if case.labels is not None and recipe.schema[case.labels.column].role == "plain":
        warn(f"labels: {facts.labels['labels']['warning']}")
    kept_back = {**_kept_back(outcome), **outcome.mask.kept_back()}
    return replace(case, released=Released(facts, masked, mask, space), files=files, kept=kept_back, attacks=attacks)


def attack_shown(case: Case) -> Case:
    """How far attacks get on what is shown, with the raw table to check them. For the holder's report."""
    masked, claims = case.outcome.masked, case.released.facts.claims
    if not case.recipe.mask.guarantee.claims or not masked.rows or not case.run.report:
        return case
    found = case.attacks or _measured(case, claims)
    risk = exposures(masked, _asked(claims)) if masked.row_by_row else ()
    by_label = exposures_by(case.labels.column, masked, _asked(claims)) if masked.row_by_row and case.labels else ()
    return replace(case, attacks=replace(found, risk=(*risk, *by_label)))


def _measured(case: Case, claims: Sequence[Claim]) -> Measured:
    """The attacks of the three criteria, by somebody who knows what the claims are about."""
    seen = Seen.of(case.outcome.masked, case.people, exact=case.outcome.mask.exact)
    return measure_criteria(Attacked(case.people, seen, known_attributes(_asked(claims), seen, case.people), PEOPLE))


def _asked(claims: Sequence[Claim]) -> list[tuple[str, ...]]:
    return [part.on for claim in claims for part in claim.requirement.parts()]


def draw_public(case: Case) -> Case:
    """The edition of the report that goes along."""
    return replace(case, pages={REPORT: public_report(case.released)}) if case.run.report else case


def write_folder(case: Case) -> Case:
    """Write the release among the temporary files; what the holder keeps stands beside it, where verify looks."""
    with room_for_it():
        scratch = TemporaryDirectory(prefix="sfumato-")
        case.closing.callback(scratch.cleanup)
        folder = Path(scratch.name) / "release"
        folder.mkdir()
        shown = write_bundle(
            folder,
            case.released.masked,
            case.files,
            case.released.facts,
            chance=case.run.chance,
            pages=case.pages,
        )
        for name, content in case.kept.items():
            write_json(holder_of(folder) / name, content)
    return replace(case, scratch=scratch, folder=folder, shown=shown)


def check(case: Case) -> Case:
    """Verify the written folder, given whatever its claims are about besides it: only what holds is released."""
    recipe, before = case.recipe, case.recipe.before
    verdict = verify(
        case.folder,
        others=before.releases,
        raw=case.people.to_arrow() if before.same else None,
        population=population_of(recipe.population),
        missing=recipe.schema.missing_texts,
    )
    if not verdict.holds:
        raise _refusal(verdict, recipe)
    certificate = json.loads((case.folder / "certificate.json").read_text(encoding="utf-8"))
    return replace(case, verdict=verdict, certificate=certificate)


def draw_holders(case: Case) -> Case:
    """The edition of the report for the holder's eyes, with the whole mask."""
    if not case.pages:
        return case
    held = Held(
        table=case.people,
        found=case.found,
        masked=case.outcome.masked,
        values=case.judged.released,
        again=case.judged.again,
        scores=case.judged.scores,
        history=case.history,
        timings=dict(case.seconds),
        verdict=case.verdict,
        attacks=case.attacks,
        name=table_name(case.source, case.recipe),
    )
    return replace(case, report=holder_report(replace(case.released, mask=case.outcome.mask), held))


def table_name(source: object, recipe: Recipe) -> str | None:
    """What the holder calls the table: its file without the ending, a bundled one's name, or whose records these are.

    >>> from types import SimpleNamespace as Told
    >>> table_name("data/people.csv", Told(table=None, people=None))
    'people'
    """
    for named in (source, recipe.table):
        if isinstance(named, str | Path) and "://" not in str(named):  # an address of a database may hold a password
            return Path(str(named).rpartition("bundled:")[2]).stem or None
    return recipe.people


def search_again(case: Case) -> Case:
    """What searching again can tell of a release, such as which k would show more."""
    found = case.recipe.masker.explained(case.counting, read_history(case.release), read_mask(case.release))
    return replace(case, history=found)


def attack_written(case: Case) -> Case:
    """Every attack that applies to a written release."""
    label = None if case.labels is None else case.labels.column
    found = attack_release(case.people, case.recipe, case.release, effort=case.effort, others=case.others, label=label)
    return replace(case, attacked=found)


def _along(case: Case) -> dict[str, Any]:
    """The aggregates that go into the release. Centres go where k-means settles on the released rows, or not at all."""
    recipe, judged = case.recipe, case.judged
    if not recipe.mask.guarantee.claims:  # means would tell the key
        return {}
    found: dict[str, Any] = {}
    if recipe.release.codebook and judged.released.tells:
        found["codebook.json"] = judged.released.to_json()
        _tell_of_groups(case)
    if recipe.release.starting_centres and judged.space is not None:
        least = max(largest_k(recipe.privacy).values(), default=1)
        start = judged.space if case.labels is None else in_label_order(judged.space, case.found, case.outcome.masked)
        space = start.settled(case.outcome.masked, minimum=least)
        if space is not None:
            found["centres.json"] = space.to_json()
    return found


def _tell_of_groups(case: Case) -> None:
    """Where groups were asked for and nothing can be told of them, values are told of: that is said."""
    if case.recipe.release.codebook == "groups" and not isinstance(case.judged.released, ReleasedGroups):
        warn(
            "codebook: there is nothing to tell of groups: some have fewer records than k on all masked columns "
            "together, or no mean or share differs from what they show. codebook.json tells of values instead"
        )


def _kept_back(outcome: Outcome) -> dict[str, Any]:
    """Files for the holder's folder: what the masker keeps back, and which rows of the raw table were lifted."""
    lifted = outcome.masked.lifted
    if lifted is None or not lifted.any():
        return dict(outcome.holder)
    return {**outcome.holder, LIFTED: {"rows": np.flatnonzero(lifted).tolist()}}


def _local() -> Engine:
    from sfumato.engines import LocalEngine

    return LocalEngine()


def _refusal(verdict: Verdict, recipe: Recipe) -> SfumatoError:
    """A policy that what is shown does not satisfy can be mended; whatever else fails is a mistake of ours."""
    found = [policies.refused(recipe, check.name, check.detail) for check in verdict.failed]
    if found and all(found):
        return cast(SfumatoError, found[0])
    return ReleaseError(
        "release",
        "only a verified table is released",
        given="; ".join(f"{check.name}: {check.detail}" for check in verdict.failed),
        remedy="report this: the masker and the verification disagree",
    )
