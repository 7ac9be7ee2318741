"""Labels that go along (000 section 4.1, step 5): the cluster of each record as a further column of the table.

A label follows from the raw values of its record: whoever knows a person well enough can tell it. So it is counted as a
quasi-identifier (`quasi`), unless the holder says that nobody can know it (`plain`); then it goes out as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from sfumato.data.schema import Category, Schema
from sfumato.errors import RecipeError
from sfumato.maskers.masker import Masker
from sfumato.privacy.requirements import Requirement
from sfumato.recipe.parts import Along, Earlier, LabelRole, Structure
from sfumato.structure.structures import clusters_of

COLUMN = "cluster"
"""What the column of labels is called, with a line behind it where a table has such a column already."""


def label_column(schema: Schema) -> str:
    """The name of the column of labels.

    >>> label_column(Schema(cluster=Category()))
    'cluster_'
    """
    name = COLUMN
    while name in schema:
        name += "_"
    return name


@dataclass(frozen=True)
class Asked:
    """What a recipe says of a table, and of the same table with one more column for its labels."""

    schema: Schema
    structure: Structure | None
    privacy: Sequence[Requirement]
    mask: Masker
    earlier: Earlier | None = None

    def labelled(self, role: LabelRole) -> Asked:
        """With the column: if it is quasi, every requirement is one against somebody who knows the label, too."""
        name = label_column(self.schema)
        schema = Schema({**self.schema, name: Category(role=role)})
        known = tuple(replace(cast(Any, one), on=(*one.on, name)) for one in self.privacy)
        return replace(self, schema=schema, privacy=known if role == "quasi" else self.privacy)


def check_labels(release: Along, asked: Asked) -> None:
    """Refuse labels, or a score, that cannot go along."""
    role = release.label_role
    if release.score and role is None:
        raise _refusal(
            "score",
            "it compares the labels that are released with the clusters that recipients find: without them nobody "
            "could count it again",
            given="no labels",
            remedy="add labels: true, or leave it out; publish tells the holder all scores",
        )
    if role is None:
        return
    if release.score and not release.starting_centres:
        raise _refusal(
            "score", "recipients find clusters from the centres", given="starting_centres: false", remedy="leave it out"
        )
    for wrong, rule, given, remedy in _wrong(asked, role):
        if wrong:
            raise _refusal("labels", rule, given=given, remedy=remedy)
    if role == "quasi":
        more = asked.labelled(role)
        asked.mask.check(more.schema, more.privacy)


def _wrong(asked: Asked, role: LabelRole) -> Sequence[tuple[bool, str, str, str]]:
    """What may be wrong with labels: whether it is, the rule, what is given, the remedy."""
    guarantee = asked.mask.guarantee
    return (
        (
            guarantee.spends,
            "the label of a record follows from raw records, and is in no account of the budget",
            type(asked.mask).__name__,
            "leave it out: recipients find clusters in the generated rows",
        ),
        (
            not guarantee.claims,
            "they go along with a table of which something is claimed: beside transformed numbers they tell the key",
            type(asked.mask).__name__,
            "leave it out",
        ),
        (
            clusters_of(asked.structure) is None,
            "they are those of clusters",
            "a structure without clusters",
            "name clusters: structure: {clusters: kmeans, k: 6}; a class column goes out by its role",
        ),
        (
            asked.earlier is not None,
            "what labels tell beside earlier releases is not counted",
            "earlier",
            "leave out one of both",
        ),
        (
            role == "quasi" and any(need.population is not None for need in asked.privacy),
            "people of a population have no label by which they could be counted",
            "k_map",
            "leave out one of both",
        ),
    )


def _refusal(what: str, rule: str, *, given: str, remedy: str) -> RecipeError:
    return RecipeError(f"release: {what}", rule, given=given, remedy=remedy)
