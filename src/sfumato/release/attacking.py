"""Attacking a written release with everything its holder knows: the raw table, the recipe, the key.

The released rows stand in another order than the raw ones, and an attack is only measured if it is known which
record is whose. So the mask is applied to the raw table again: for a transformation it is made from the key in the
holder's folder, for recodings and regions from the release, and the result is compared with the released file. Of
centroids only the nearest centre is known, which is not always the one that was released.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.data.encoding import encode
from sfumato.data.reading import read, read_arrow
from sfumato.data.table import Table
from sfumato.errors import ReleaseError, TableError
from sfumato.evaluation.attacks.attacking import Effort, attack_recoding, attack_transformation
from sfumato.evaluation.attacks.results import AttackReport
from sfumato.maskers.centroids.mask import Centroids
from sfumato.maskers.geometric.mask import KEY, Transformation
from sfumato.maskers.geometric.numbers import of_arrow
from sfumato.maskers.masker import Mask
from sfumato.maskers.mondrian.mask import Regions
from sfumato.recipe import Recipe
from sfumato.release.reading import read_certificate, read_recipe_of, read_recoding
from sfumato.release.release import HOLDER


def attack(raw: object, release: str | Path, *, effort: Effort | None = None) -> AttackReport:
    """Every attack that applies to a release, measured on the raw table it was made from. For the holder only.

    `raw`: a path, a data frame, anything that `publish` takes. The recipe is that of the holder's folder.
    """
    recipe, certificate = read_recipe_of(release), read_certificate(release)
    people = _without_dropped(read(raw, recipe.schema), recipe)
    mask = mask_of(release)
    columns = mask.apply(people)
    _check_same(people, columns, Path(release), certificate, exact=not isinstance(mask, Centroids))
    if isinstance(mask, Transformation):
        return attack_transformation(people, mask, columns, effort=effort)
    return attack_recoding(people, columns, kind=str(certificate["mask"]), effort=effort)


def mask_of(release: str | Path) -> Mask:
    """The mask of a release, from the release or from the holder's folder."""
    folder = Path(release).resolve()
    key = folder.with_name(folder.name + HOLDER) / KEY
    if key.is_file():
        return Transformation.from_json(_read(key))
    kinds: dict[str, Callable[[Mapping[str, Any]], Mask]] = {
        "regions.json": Regions.from_json,
        "centroids.json": Centroids.from_json,
    }
    for name, made in kinds.items():
        if (folder / name).is_file():
            return made(_read(folder / name))
    return read_recoding(release)


def _read(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (json.JSONDecodeError, UnicodeDecodeError):
        raise ReleaseError(str(path), "this file is JSON", given="something else",
                           remedy="restore it from a good copy") from None  # fmt: skip


def _without_dropped(people: Table, recipe: Recipe) -> Table:
    """The rows that were published: the recipe may leave out those that miss a value."""
    kept = np.ones(people.rows, dtype=np.bool_)
    for name in recipe.missing:
        kept &= people.columns[name].decode().is_valid().to_numpy(zero_copy_only=False)
    if kept.all():
        return people
    return encode(people.to_arrow().filter(pa.array(kept)), people.schema, origin=people.origin)


def _check_same(
    people: Table, columns: Mapping[str, pa.Array[Any]], folder: Path, certificate: Mapping[str, Any], *, exact: bool
) -> None:
    """Refuse a raw table that this release was not made from."""
    stranger = TableError("raw table", "a release is attacked with the table it was made from", given="another table",
                          remedy="name the table that was published")  # fmt: skip
    if people.rows != certificate["table"]["rows"]:
        raise stranger
    if not exact or certificate["lifted"]:
        return
    released = read_arrow(folder / str(certificate["table"]["file"]))
    for name, column in columns.items():
        if name not in released.column_names:
            raise ReleaseError(str(folder), "the released table has every masked column", given=f"no {name}",
                               remedy="restore the release from a good copy")  # fmt: skip
        if not _same_values(column, released.column(name).combine_chunks()):
            raise stranger


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
