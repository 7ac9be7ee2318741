"""What a recipe is made of beside schema, requirements and masker: what goes along, and what is out already."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypedDict, get_args

from sfumato.calls import constructed
from sfumato.data.detail import Given
from sfumato.data.schema import ItemSet, Schema
from sfumato.errors import RecipeError, did_you_mean
from sfumato.maskers.masker import Masker
from sfumato.privacy.budget import Budget
from sfumato.privacy.joint_claims import promised_together
from sfumato.privacy.requirements import Requirement
from sfumato.recipe.policies.policy import Policy
from sfumato.structure.released_groups import Kind
from sfumato.structure.structures import Classes, Clusters

Structure = Clusters | Classes
People = Literal["same", "growing"]
LabelRole = Literal["quasi", "plain"]


class Usual(Masker):
    """Shows itself in signatures by what it stands for."""

    def __repr__(self) -> str:
        return "Partition()"


USUAL = Usual()
"""Stands for the masker of a recipe that names none."""


@constructed
@dataclass(frozen=True, kw_only=True)
class Along:
    """What goes along with the released table.

    `codebook`: the mean of each interval and the shares of the leaves under each generalized value, of each shown
    value ("values") or of each group of records that look alike ("groups"); True for what fits the mask, groups where
    one value may be shown in several ways; False for none.
    `starting_centres`: the clusters' centres in the masked space, from which a recipient's k-means finds the
    same structure. `spreadsheet_safe`: a CSV table holds no cell and no column name that a spreadsheet would run; each
    has an apostrophe before it.
    `labels`: the cluster of each record as a column of the table, counted as a quasi-identifier ("quasi", and True), or
    as it is ("plain"), where nobody can know anybody's cluster; False for none. `score`: how alike the labels and the
    clusters that recipients find are, in the certificate.
    """

    codebook: bool | Kind = True
    starting_centres: bool = True
    spreadsheet_safe: bool = False
    labels: bool | LabelRole = False
    score: bool = False

    def __post_init__(self) -> None:
        for name, words in (("codebook", get_args(Kind)), ("labels", get_args(LabelRole))):
            given = getattr(self, name)
            if not isinstance(given, bool) and given not in words:
                raise RecipeError(
                    f"release: {name}",
                    f"it is true, false, or one of {', '.join(words)}",
                    given=repr(given),
                    remedy=did_you_mean(str(given), words),
                )

    @property
    def label_role(self) -> LabelRole | None:
        """What the column of labels is; None where none goes along."""
        return ("quasi" if self.labels else None) if isinstance(self.labels, bool) else self.labels

    def kind(self, *, local: bool) -> Kind:
        """What a codebook tells of, where the mask is local or not."""
        if isinstance(self.codebook, bool):
            return "groups" if self.codebook and local else "values"
        return self.codebook


@constructed
@dataclass(frozen=True, kw_only=True)
class Earlier:
    """Releases that are out already, in the order of their time, and whose they are.

    `people`: "same" for versions of one table, made safe even for an attacker who can join their rows; "growing" for
    releases of a table to which people were added since, made safe for an attacker who cannot (BCF-anonymity).

    >>> Earlier(releases=["out/2024"], people="growing").releases
    ('out/2024',)
    """

    releases: tuple[str, ...]
    people: People

    def __post_init__(self) -> None:
        given: object = self.releases
        names = (given,) if isinstance(given, str | Path) else tuple(self.releases)
        object.__setattr__(self, "releases", tuple(str(name) for name in names))
        if not self.releases or len(set(self.releases)) < len(self.releases):
            raise RecipeError(
                "earlier",
                "it names at least one release, each once",
                given="none" if not self.releases else "one of them twice",
                remedy="write releases: [FOLDER, ...], or leave it out",
            )
        if self.people not in get_args(People):
            raise RecipeError(
                "earlier",
                "the people are the same, or their table is growing",
                given=repr(self.people),
                remedy=did_you_mean(str(self.people), get_args(People)),
            )

    @property
    def before(self) -> Before:
        """Its folders, by whose they are."""
        return Before(**{self.people: self.releases})


@dataclass(frozen=True)
class Before:
    """The folders of releases that are out already, by whose they are: of the same people, of a table that has grown.

    What a recipe without earlier releases answers: none.
    """

    same: tuple[str, ...] = ()
    growing: tuple[str, ...] = ()

    @property
    def releases(self) -> tuple[str, ...]:
        """All of them, in the order of their time."""
        return (*self.same, *self.growing)


def check_along(release: Along, mask: Masker) -> None:
    """A codebook that is asked for by its kind tells of records that are shown coarser."""
    if not isinstance(release.codebook, bool) and mask.guarantee.came != "recoded":
        raise RecipeError(
            "release: codebook",
            "a codebook tells what shown values stand for, where records are shown coarser than they are",
            given=f"codebook: {release.codebook} with {type(mask).__name__}",
            remedy="leave it out",
        )


def check_earlier(schema: Schema, mask: Masker, privacy: Sequence[Requirement]) -> None:
    """Only a search that knows of the earlier releases can be safe with them; one under a budget needs not know."""
    if mask.guarantee.spends:
        raise RecipeError(
            "earlier",
            "a release under a budget keeps its promise whatever else is out: it is held beside no other",
            given=type(mask).__name__,
            remedy="leave earlier out; people: NAME has the ledger count its epsilon with others of these people",
        )
    if not mask.joins_earlier:
        raise RecipeError(
            "earlier",
            "top-down refinement without lifted records is what can be held beside them",
            given=type(mask).__name__ + (" with suppress" if getattr(mask, "suppress", 0) else ""),
            remedy="use mask: top_down, without suppress",
        )
    if not promised_together(privacy):
        raise RecipeError(
            "earlier",
            "what is promised of several releases is k-anonymity",
            given="no k_anonymity",
            remedy="add {k_anonymity: 10, on: [...]} to privacy",
        )
    if any(requirement.population is not None for requirement in privacy):
        raise RecipeError(
            "earlier",
            "a population is not counted by what earlier releases show",
            given="k_map",
            remedy="leave out one of both",
        )
    _refuse_sets(schema)


def _refuse_sets(schema: Schema) -> None:
    """What sets tell beside other releases is not counted."""
    sets = [name for name in schema.quasi if isinstance(schema[name], ItemSet)]
    if sets:
        raise RecipeError(
            "earlier",
            "several releases are counted together where no quasi-identifier is set-valued",
            given=f"{sets[0]}, an item set",
            remedy="give it another role, or publish without earlier",
        )


class Settings(TypedDict):
    """The settings of a recipe by their names, before they are held against each other."""

    schema: Schema
    structure: Structure | None
    privacy: Sequence[Requirement]
    mask: Masker
    table: str | None
    query: str | None
    keep_order: bool
    release: Along
    missing: Sequence[str]
    people: str | None
    i_understand: str | Sequence[str] | None
    encoding: str | None
    budget: Budget | None
    earlier: Earlier | None
    detail: Mapping[str, Given]
    policies: Sequence[str | Policy]
    attest: Mapping[str, str]
