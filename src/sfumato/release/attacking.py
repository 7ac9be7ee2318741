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
from sfumato.data.reading import read, read_arrow
from sfumato.data.table import Table
from sfumato.errors import ReleaseError, TableError
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
from sfumato.release.reading import read_certificate, read_generated, read_lifted, read_mask, read_recipe_of


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
    case = _Case(people, recipe, str(certificate["mask"]), how, beside)
    if certificate["guarantee"] == "differential_privacy":
        found = case.measured(pa.table(read_generated(release)), exact=False)
        return attack_generated(people, kind=case.kind, measured=found)
    if people.rows != certificate["table"]["rows"]:
        raise _stranger()
    mask = read_mask(release)
    lifted = read_lifted(release, people.rows)
    columns = mask.apply(people, lifted=lifted) if isinstance(mask, Recoding) else mask.apply(people)
    if not isinstance(mask, Centroids):
        _check_same(columns, Path(release), certificate)
    if isinstance(mask, Transformation):
        return attack_transformation(people, mask, columns, effort=how)
    released = read_arrow(Path(release) / str(certificate["table"]["file"]))
    found = case.measured(released, exact=isinstance(mask, Recoding))
    if isinstance(mask, Centroids):
        found = _of_centres(found, {name: released.column(name) for name in columns}, case)
    else:
        population = case.population(mask, lifted)
        found = replace(found, risk=exposures(columns, case.asked, population=population))
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

    def measured(self, released: pa.Table, *, exact: bool) -> Measured:
        """The three criteria, measured on the released table."""
        control = None if self.others.control is None else _table(self.others.control, self.recipe)
        seen = Seen.of(released, self.people, exact=exact)
        known = known_attributes(self.asked, seen, self.people)
        return measure_criteria(Case(self.people, seen, known, self.effort.people, self.effort.seed, control))

    def population(self, mask: Mask, lifted: NDArray[np.bool_] | None) -> Population | None:
        """Everybody, masked as the table was."""
        if self.others.population is None:
            return None
        return Population(mask.apply(_table(self.others.population, self.recipe), unseen="suppress"), lifted)


def _of_centres(found: Measured, released: Mapping[str, Any], case: _Case) -> Measured:
    """Which centre a stranger would have got is not known, so there is no population to look in."""
    left_out = dict(found.left_out)
    if case.others.population is not None:
        left_out["journalist in the population"] = "which centre a stranger would have got is not known"
    return Measured(found.results, left_out, exposures(released, case.asked))


def _table(raw: object, recipe: Recipe) -> Table:
    return _without_dropped(read(raw, recipe.schema, encoding=recipe.encoding), recipe)


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


def _check_same(columns: Mapping[str, pa.Array[Any]], folder: Path, certificate: Mapping[str, Any]) -> None:
    """Refuse a raw table that this release was not made from."""
    released = read_arrow(folder / str(certificate["table"]["file"]))
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
