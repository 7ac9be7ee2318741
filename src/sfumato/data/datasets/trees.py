"""The bundled taxonomies."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from importlib.resources import files

import yaml

from sfumato.data.datasets.icd9 import icd9
from sfumato.data.taxonomy import Taxonomy
from sfumato.errors import DatasetError, did_you_mean

_ADULT = (
    "workclass",
    "education",
    "marital_status",
    "occupation",
    "relationship",
    "race",
    "sex",
    "native_country",
)
TAXONOMIES = (*_ADULT, "icd9")


def taxonomy(name: str, *, codes: Iterable[str] = ()) -> Taxonomy:
    """A bundled taxonomy: one of the eight categorical attributes of Adult, or "icd9".

    `codes` hangs full diagnosis codes below the categories of "icd9" (see `icd9`).

    >>> tree = taxonomy("education")
    >>> len(tree.leaves), tree.levels, tree.parent("Masters")
    (16, 5, 'Graduate-school')
    """
    if name == "icd9":
        return icd9(codes=codes)
    if name not in _ADULT:
        raise DatasetError(
            "taxonomy",
            "this is no bundled taxonomy",
            given=repr(name),
            remedy=did_you_mean(name, TAXONOMIES),
        )
    if tuple(codes):
        raise DatasetError(
            "taxonomy",
            "only 'icd9' takes codes",
            given=f"codes for {name!r}",
            remedy="leave codes out",
        )
    return _read(name)


@cache
def _read(name: str) -> Taxonomy:
    text = files(__package__).joinpath("taxonomies", f"{name}.yaml").read_text(encoding="utf-8")
    return Taxonomy.from_tree(yaml.safe_load(text))
