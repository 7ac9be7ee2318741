"""The later steps of a run: from a masked table to a folder that is written, verified, attacked and drawn."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir
from typing import Any, cast

import numpy as np

from sfumato.data.safe_files import write_kept
from sfumato.errors import ReleaseError, SfumatoError, warn
from sfumato.evaluation.attacks.results import Measured
from sfumato.evaluation.risk import exposures, exposures_by
from sfumato.maskers.masker import Outcome
from sfumato.maskers.registry import name_of
from sfumato.maskers.sensitive import counted
from sfumato.privacy.requirements import largest_k, without_covered
from sfumato.privacy.verify import Verdict, verify
from sfumato.publishing.case import Case
from sfumato.publishing.masked_numbers import of_numbers
from sfumato.publishing.rare_labels import rare_labels
from sfumato.publishing.remarks import undone
from sfumato.recipe import Recipe
from sfumato.recipe.policies import findings as policies
from sfumato.release.bundle import needed_labels, told_labels, write_bundle
from sfumato.release.certificate import Claim, Facts, count_claims, population_of
from sfumato.release.earlier import claims_beside
from sfumato.release.labels import in_order as in_label_order
from sfumato.release.labels import told_of
from sfumato.release.output import holder_of
from sfumato.release.reading import (
    LIFTED,
    warn_of_formulas,
)
from sfumato.release.report.material import Held, Released
from sfumato.structure.released_groups import ReleasedGroups
from sfumato.structure.space import Space
from sfumato.structure.structures import class_column

PEOPLE = 400
"""How many people are attacked for a report; the command `sfumato attack` tries more."""


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
        classes=column if (column := class_column(recipe.structure)) in recipe.schema.kept else None,
    )
    warn_of_formulas(masked, csv=csv, safe=recipe.release.spreadsheet_safe)
    later = (*undone(people, masked, recipe), *rare_labels(people, masked, recipe), *of_numbers(people, masked, recipe))
    told = replace(case.remarks, lines=(*case.remarks.lines, *later))
    if case.labels is not None and recipe.schema[case.labels.column].role == "plain":
        warn(f"labels: {facts.labels['labels']['warning']}")
    kept_back = {**_kept_back(outcome), **outcome.mask.kept_back()}
    released = Released(facts, masked, mask, space)
    return replace(case, released=released, files=files, kept=kept_back, attacks=attacks, remarks=told)


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
    from sfumato.evaluation.attacks.attacker_view import Case as Attacked
    from sfumato.evaluation.attacks.attacker_view import Seen
    from sfumato.evaluation.attacks.criteria import known_attributes, measure_criteria

    seen = Seen.of(case.outcome.masked, case.people, exact=case.outcome.mask.exact)
    return measure_criteria(Attacked(case.people, seen, known_attributes(_asked(claims), seen, case.people), PEOPLE))


def _asked(claims: Sequence[Claim]) -> list[tuple[str, ...]]:
    return [part.on for claim in claims for part in claim.requirement.parts()]


def draw_public(case: Case) -> Case:
    """The edition of the report that goes along."""
    if not case.run.report:
        return case
    from sfumato.release.report.report import REPORT, public_report

    return replace(case, pages={REPORT: public_report(case.released)})


def write_folder(case: Case) -> Case:
    """Write the release among the temporary files; what the holder keeps stands beside it, where verify looks."""
    with _room_for_it():
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
            write_kept(holder_of(folder) / name, content)
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
    from sfumato.release.report.report import holder_pages, holder_report

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
        people=case.recipe.people,
        policies=policies.asked(case.recipe),
        attest=case.recipe.attest,
        remarks=case.remarks.lines,
    )
    whole = replace(case.released, mask=case.outcome.mask)
    return replace(case, report=holder_report(whole, held), papers=holder_pages(whole, held))


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


def attack_written(case: Case) -> Case:
    """Every attack that applies to a written release."""
    from sfumato.release.attacking import attack_release

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


def _kept_back(outcome: Outcome) -> dict[str, Any]:
    """Files for the holder's folder: what the masker keeps back, and which rows of the raw table were lifted."""
    lifted = outcome.masked.lifted
    if lifted is None or not lifted.any():
        return dict(outcome.holder)
    return {**outcome.holder, LIFTED: {"rows": np.flatnonzero(lifted).tolist()}}


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


def _tell_of_groups(case: Case) -> None:
    """Where groups were asked for and nothing can be told of them, values are told of: that is said."""
    if case.recipe.release.codebook == "groups" and not isinstance(case.judged.released, ReleasedGroups):
        warn(
            "codebook: there is nothing to tell of groups: some have fewer records than k on all masked columns "
            "together, or no mean or share differs from what they show. codebook.json tells of values instead"
        )
