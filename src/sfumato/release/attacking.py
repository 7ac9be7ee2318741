"""Attacking a written release with everything its holder knows: the raw table, the recipe, the key.

The released rows stand in another order than the raw ones, and an attack is only measured if it is known which
record is whose. So the mask is applied to the raw table again: for a transformation it is made from the key in the
holder's folder, for recodings and regions from the release, and the result is compared with the released file. Of
centroids only the nearest centre is known, which is not always the one that was released.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sfumato.data.encoding import encode
from sfumato.data.reading import headers, read
from sfumato.data.schema import Category, Schema
from sfumato.data.table import Table
from sfumato.errors import ReleaseError, TableError, did_you_mean
from sfumato.evaluation.attacks.attacking import Effort, attack_generated, attack_recoding, attack_transformation
from sfumato.evaluation.attacks.criteria import Measured, known_attributes, measure_criteria
from sfumato.evaluation.attacks.exposing import Population, exposures
from sfumato.evaluation.attacks.results import AttackReport
from sfumato.evaluation.attacks.seeing import Case, Seen
from sfumato.maskers.centroids.mask import Centroids
from sfumato.maskers.geometric.mask import Transformation
from sfumato.maskers.geometric.numbers import of_arrow
from sfumato.maskers.masker import Mask
from sfumato.maskers.topdown.recoding import Recoding
from sfumato.recipe import Recipe
from sfumato.release.bundle import released_table
from sfumato.release.reading import (
    read_certificate,
    read_columns,
    read_lifted,
    read_mask,
    read_recipe_of,
    read_rows,
)


@dataclass(frozen=True, eq=False)
class Others:
    """Further tables of people, as `publish` takes them, each a path or a data frame.

    `control`: people of the same kind who are not in the released table: what is guessed of them is no fault of the
    release. `population`: everybody among whom the people of the table would have to be found, themselves included.
    """

    control: object | None = None
    population: object | None = None


def attack(
    raw: object, release: str | Path, *, effort: Effort | None = None, others: Others | None = None
) -> AttackReport:
    """Every attack that applies to a release, measured on the raw table it was made from. For the holder only.

    `raw`: a path, a data frame, anything that `publish` takes. The recipe is that of the holder's folder.
    """
    recipe, certificate = read_recipe_of(release), read_certificate(release)
    people, how, beside = _table(raw, recipe), effort or Effort(), others or Others()
    case = _Case(people, recipe, str(certificate.get("mask")), how, beside)
    if certificate["guarantee"] == "differential_privacy":
        found = case.measured(pa.table(read_columns(release)), exact=())
        return attack_generated(people, kind=case.kind, measured=found)
    if people.rows != certificate["table"]["rows"]:
        raise _stranger()
    mask = read_mask(release)
    lifted = read_lifted(release, people.rows)
    columns = mask.apply(people, lifted=lifted) if isinstance(mask, Recoding) else mask.apply(people)
    if not isinstance(mask, Centroids):
        _check_same(columns, Path(release))
    if isinstance(mask, Transformation):
        return attack_transformation(people, mask, columns, effort=how)
    if isinstance(mask, Centroids):
        found = case.of_centres(read_rows(release), tuple(columns))
    else:
        exact = tuple(columns) if isinstance(mask, Recoding) else ()
        found = case.measured(released_table(people, columns), exact=exact)
        found = replace(
            found, risk=exposures(columns, case.asked, population=case.population(mask, tuple(columns), lifted))
        )
    return attack_recoding(people, columns, kind=case.kind, effort=how, measured=found)


@dataclass(frozen=True, eq=False)
class _Case:
    """One release under attack, and who else is at hand."""

    people: Table
    recipe: Recipe
    kind: str
    effort: Effort
    others: Others

    @property
    def asked(self) -> list[tuple[str, ...]]:
        """The quasi-identifiers of the requirements."""
        return [part.on for requirement in self.recipe.privacy for part in requirement.parts()]

    def measured(self, released: pa.Table, *, exact: tuple[str, ...]) -> Measured:
        """The three criteria, measured on the released table."""
        seen = Seen.of(released, self.people, exact=exact)
        known = known_attributes(self.asked, seen, self.people)
        control = None
        if self.others.control is not None:
            secrets = self.recipe.schema.with_role("sensitive")
            control = _others("control", self.others.control, self.recipe, names=(*known, *secrets))
        return measure_criteria(Case(self.people, seen, known, self.effort.people, self.effort.seed, control))

    def of_centres(self, released: pa.Table, names: tuple[str, ...]) -> Measured:
        """Centres as the file has them. Which one a stranger would have got is not known: no population."""
        found = self.measured(released, exact=())
        left_out = dict(found.left_out)
        if self.others.population is not None:
            left_out["journalist in the population"] = "which centre a stranger would have got is not known"
        masked = {name: released.column(name) for name in names}
        return Measured(found.results, left_out, exposures(masked, self.asked))

    def population(self, mask: Mask, names: tuple[str, ...], lifted: NDArray[np.bool_] | None) -> Population | None:
        """Everybody, masked as the table was."""
        if self.others.population is None:
            return None
        everybody = _others("population", self.others.population, self.recipe, names=names)
        return Population(mask.apply(everybody, unseen="suppress"), lifted)


def _table(raw: object, recipe: Recipe) -> Table:
    return _without_dropped(read(raw, recipe.schema, encoding=recipe.encoding), recipe)


def _others(what: str, source: object, recipe: Recipe, *, names: tuple[str, ...]) -> Table:
    """Other people, of whom only some columns are needed."""
    there = headers(source, encoding=recipe.encoding)
    for name in names:
        if name not in there:
            raise TableError(what, f"the attacks need the column {name!r} of these people", given="none of that name",
                             remedy=did_you_mean(name, there))  # fmt: skip
    schema = Schema({name: recipe.schema[name] if name in names else Category(role="identifier") for name in there})
    return read(source, schema, encoding=recipe.encoding)


def _without_dropped(people: Table, recipe: Recipe) -> Table:
    """The rows that were published: the recipe may leave out those that miss a value."""
    kept = np.ones(people.rows, dtype=np.bool_)
    for name in recipe.missing:
        kept &= people.columns[name].decode().is_valid().to_numpy(zero_copy_only=False)
    if kept.all():
        return people
    return encode(people.to_arrow().filter(pa.array(kept)), people.schema, origin=people.origin)


def _stranger() -> TableError:
    return TableError("raw table", "a release is attacked with the table it was made from", given="another table",
                      remedy="name the table that was published")  # fmt: skip


def _check_same(columns: Mapping[str, pa.Array[Any]], folder: Path) -> None:
    """Refuse a raw table that this release was not made from."""
    released = read_rows(folder)
    for name, column in columns.items():
        if name not in released.column_names:
            raise ReleaseError(str(folder), "the released table has every masked column", given=f"no {name}",
                               remedy="restore the release from a good copy")  # fmt: skip
        if not _same_values(column, released.column(name).combine_chunks()):
            raise _stranger()


def _same_values(ours: Any, theirs: Any) -> bool:
    """Whether two columns hold the same values in whatever order; numbers up to rounding."""
    if not pa.types.is_dictionary(ours.type) and not pa.types.is_string(ours.type):
        left, right = np.sort(of_arrow(ours)), np.sort(of_arrow(theirs))
        return bool(np.allclose(left, right, rtol=1e-9, atol=1e-9, equal_nan=True))
    return _counts(ours) == _counts(theirs)


def _counts(column: Any) -> dict[str, int]:
    """How often each label occurs."""
    plain = column.dictionary_decode() if pa.types.is_dictionary(column.type) else column
    return {str(pair["values"]): pair["counts"] for pair in pc.value_counts(plain.cast(pa.string())).to_pylist()}
