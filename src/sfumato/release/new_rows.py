"""New rows under a learned mask: shown as a release shows the old ones. Nothing of them is verified."""

from __future__ import annotations

from typing import NamedTuple

import pyarrow as pa

from sfumato.data.reading import read
from sfumato.data.table import Origin
from sfumato.errors import RecipeError
from sfumato.maskers.masker import Mask
from sfumato.recipe import Recipe

UNSEEN = ("refuse", "suppress")


class ShownRows(NamedTuple):
    """What new rows show, in their order, and what kind of table they came as."""

    table: pa.Table
    origin: Origin


def shown_rows(mask: Mask, recipe: Recipe, rows: object, *, unseen: str) -> ShownRows:
    """What new rows show; values that nobody had are refused, or suppressed."""
    if unseen not in UNSEEN:
        raise RecipeError("unseen", "it is refuse or suppress", given=repr(unseen), remedy="say 'suppress'")
    if recipe.release.label_role == "quasi":
        raise RecipeError(
            "release: labels",
            "the mask was learned with the label of each record, which new rows have not",
            given="a release whose labels are masked",
            remedy="publish with labels: plain, or without them",
        )
    schema = recipe.schema if unseen == "refuse" else recipe.schema.without_domains()
    people = read(rows, schema, encoding=recipe.encoding)
    return ShownRows(mask.apply(people, unseen=unseen).over(people).to_arrow(), people.origin)
