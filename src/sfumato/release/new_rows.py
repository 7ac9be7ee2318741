"""New rows under a learned mask: shown as a release shows the old ones. Nothing of them is verified."""

from __future__ import annotations

from typing import NamedTuple

import pyarrow as pa

from sfumato.data.reading import read
from sfumato.data.table import Origin
from sfumato.errors import RecipeError, SfumatoError, TableError, TaxonomyError
from sfumato.maskers.masker import Mask
from sfumato.recipe import Recipe

UNSEEN = ("refuse", "suppress")


class ShownRows(NamedTuple):
    """What new rows show, in their order, and what kind of table they came as."""

    table: pa.Table
    origin: Origin


def shown_rows(mask: Mask, recipe: Recipe, rows: object, *, unseen: str, query: str | None = None) -> ShownRows:
    """What new rows show; values that nobody had are refused, or suppressed. `query`: what to read from a database.

    Columns that are not masked may be lacking, such as the class that is not known yet: they are not shown then.
    """
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
    unmasked = [name for name in schema.kept if name not in schema.quasi]
    try:
        people = read(rows, schema, encoding=recipe.encoding, optional=unmasked, query=query)
    except (TableError, TaxonomyError) as error:
        raise _or_suppress(error) if unseen == "refuse" else error from None
    return ShownRows(mask.apply(people, unseen=unseen).over(people).to_arrow(), people.origin)


def _or_suppress(error: SfumatoError) -> SfumatoError:
    """Of values outside what is declared, that they can be shown as nothing, too."""
    if not isinstance(error, TaxonomyError) and "declared" not in error.rule:
        return error
    remedy = (
        f"{error.remedy}; or say unseen='suppress' to show such values as nothing, by partition and mondrian their rows"
    )
    return type(error)(error.thing, error.rule, given=error.given, remedy=remedy)
