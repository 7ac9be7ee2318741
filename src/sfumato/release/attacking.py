"""Attacking a written release with everything its holder knows: the raw table, the recipe, the key.

The released rows stand in another order than the raw ones, and an attack is only measured if it is known which
record is whose. So the mask is applied to the raw table again: for a transformation it is made from the key in the
holder's folder, for recodings and regions from the release, and the result is compared with the released file. Of
centroids only the nearest centre is known, which is not always the one that was released.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from sfumato.data.masked import Came, Masked
from sfumato.data.reading import headers, read
from sfumato.data.schema import Category, Schema
from sfumato.data.table import AnyColumn, Table
from sfumato.errors import ReleaseError, TableError, did_you_mean
from sfumato.evaluation.attacks.attacker_view import Case, Seen
from sfumato.evaluation.attacks.criteria import known_attributes, measure_criteria
from sfumato.evaluation.attacks.results import AttackReport, Measured
from sfumato.evaluation.attacks.settings import Effort, Others
from sfumato.evaluation.attacks.suite import attack_generated, attack_recoding, attack_transformation
from sfumato.evaluation.risk import Exposure, Population, exposures, exposures_by
from sfumato.maskers.geometric.operations import of_arrow
from sfumato.maskers.masker import Mask
from sfumato.recipe import Recipe
from sfumato.release.reading import (
    read_certificate,
    read_lifted,
    read_mask,
    read_masked,
)


def attack_release(
    people: Table,
    recipe: Recipe,
    release: Path,
    *,
    effort: Effort | None = None,
    others: Others | None = None,
    label: str | None = None,
) -> AttackReport:
    """Every attack that applies to a release, measured on the people it was made of.

    `label`: the column of labels that go along, if any.
    """
    kind = str(read_certificate(release).get("mask"))
    case = _Case(people, recipe, kind, effort or Effort(), others or Others(), label)
    return ATTACKS[recipe.mask.guarantee.came](case, release)


def _generated(case: _Case, release: Path) -> AttackReport:
    """Rows that are nobody's: what they tell of people in general."""
    found = case.measured(read_masked(release, case.recipe.schema), exact=())
    return attack_generated(case.people, kind=case.kind, measured=found)


def _moved(case: _Case, release: Path) -> AttackReport:
    """Numbers that stand elsewhere, with the holder's key to check who was found."""
    mask: Any = read_mask(release)
    masked = mask.apply(case.people)
    _check_same(masked, release)
    return attack_transformation(case.people, mask, masked, effort=case.effort)


def _recoded(case: _Case, release: Path) -> AttackReport:
    """Rows that show a raw record each. Of centres only the nearest is known, so that the file is looked at instead."""
    mask = read_mask(release)
    lifted = read_lifted(release, case.people.rows)
    masked = mask.apply(case.people, lifted=lifted).over(case.people)
    if mask.repeats:
        _check_same(masked, release)
        found = case.measured(masked, exact=mask.exact)
        risk = exposures(masked, case.asked, population=case.population(mask, masked))
        found = replace(found, risk=(*risk, *case.by_label(masked)))
    else:
        found = case.of_centres(read_masked(release), tuple(masked))
    return attack_recoding(case.people, masked, kind=case.kind, effort=case.effort, measured=found)


ATTACKS: Mapping[Came, Callable[[_Case, Path], AttackReport]] = {
    "recoded": _recoded,
    "moved": _moved,
    "generated": _generated,
}
"""Which attacks apply follows from where the rows came from."""


@dataclass(frozen=True, eq=False)
class _Case:
    """One release under attack, and who else is at hand."""

    people: Table
    recipe: Recipe
    kind: str
    effort: Effort
    others: Others
    label: str | None = None

    @property
    def asked(self) -> list[tuple[str, ...]]:
        """The quasi-identifiers of the requirements."""
        return [part.on for requirement in self.recipe.privacy for part in requirement.parts()]

    def measured(self, masked: Masked, *, exact: Collection[str]) -> Measured:
        """The three criteria, measured on the released table."""
        seen = Seen.of(masked, self.people, exact=exact)
        known = known_attributes(self.asked, seen, self.people)
        control = None
        if self.others.control is not None:
            secrets = self.recipe.schema.with_role("sensitive")
            control = _others("control", self.others.control, self.recipe, names=(*known, *secrets))
        return measure_criteria(Case(self.people, seen, known, self.effort.people, self.effort.seed, control))

    def of_centres(self, written: Masked, names: tuple[str, ...]) -> Measured:
        """Centres as the file has them. Which one a stranger would have got is not known: no population."""
        found = self.measured(written, exact=())
        left_out = dict(found.left_out)
        if self.others.population is not None:
            left_out["journalist in the population"] = "which centre a stranger would have got is not known"
        masked = replace(written, columns={name: written[name] for name in names}, released=written.columns)
        return Measured(found.results, left_out, (*exposures(masked, self.asked), *self.by_label(masked)))

    def by_label(self, masked: Masked) -> tuple[Exposure, ...]:
        """What somebody finds who knows the label, too; nothing where none goes along."""
        return () if self.label is None else exposures_by(self.label, masked, self.asked)

    def population(self, mask: Mask, masked: Masked) -> Population | None:
        """Everybody, masked as the table was."""
        if self.others.population is None:
            return None
        everybody = _others("population", self.others.population, self.recipe, names=tuple(masked))
        return Population(mask.apply(everybody, unseen="suppress"), masked.lifted)


def _others(what: str, source: object, recipe: Recipe, *, names: tuple[str, ...]) -> Table:
    """Other people, of whom only some columns are needed."""
    there = headers(source, encoding=recipe.encoding)
    for name in names:
        if name not in there:
            raise TableError(
                what,
                f"the attacks need the column {name!r} of these people",
                given="none of that name",
                remedy=did_you_mean(name, there),
            )
    schema = Schema({name: recipe.schema[name] if name in names else Category(role="identifier") for name in there})
    return read(source, schema, encoding=recipe.encoding)


def _stranger() -> TableError:
    return TableError(
        "raw table",
        "a release is attacked with the table it was made from",
        given="another table",
        remedy="name the table that was published",
    )


def _check_same(masked: Masked, folder: Path) -> None:
    """Refuse a raw table that this release was not made from."""
    released = read_masked(folder)
    for name, column in masked.items():
        if name not in released:
            raise ReleaseError(
                str(folder),
                "the released table has every masked column",
                given=f"no {name}",
                remedy="restore the release from a good copy",
            )
        if not _same_values(column, released[name]):
            raise _stranger()


def _same_values(ours: AnyColumn, theirs: AnyColumn) -> bool:
    """Whether two columns hold the same values in whatever order; numbers up to rounding."""
    if not ours.shows_labels:
        left, right = np.sort(of_arrow(ours.decode())), np.sort(of_arrow(theirs.decode()))
        return bool(np.allclose(left, right, rtol=1e-9, atol=1e-9, equal_nan=True))
    return _counts(ours) == _counts(theirs)


def _counts(column: AnyColumn) -> dict[str | None, int]:
    """How often each label occurs."""
    counts = np.bincount(column.keys, minlength=len(column.labels) + 1).tolist()
    return {label: count for label, count in zip((*column.labels, None), counts, strict=True) if count}
