"""The recipe: the frozen description of one run, validated whole, refusing unsound combinations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, cast

from sfumato.calls import constructed, expected
from sfumato.data.detail import Given, Wish, read_detail
from sfumato.data.roles import Role
from sfumato.data.schema import ItemSet, Number, Schema
from sfumato.errors import RecipeError, SchemaError
from sfumato.maskers.masker import Masker
from sfumato.maskers.partition.fit import Partition
from sfumato.maskers.registry import masker_named
from sfumato.privacy.budget import Budget, Plan
from sfumato.privacy.requirements import Requirement, without_covered
from sfumato.recipe.card import recipe_card
from sfumato.recipe.changes import with_roles
from sfumato.recipe.kinds import check_kinds
from sfumato.recipe.labels import Asked, check_labels
from sfumato.recipe.misspelt import by_header
from sfumato.recipe.parts import USUAL, Along, Before, Earlier, Settings, Structure, check_along, check_earlier
from sfumato.recipe.policies.policy import Policy, check_policies, listed
from sfumato.recipe.understood import check_budget, check_people, check_understood, texts
from sfumato.structure.embedding import Placement
from sfumato.structure.structures import Classes, clusters_of, declared_labels


@constructed
@dataclass(frozen=True, kw_only=True)
class Recipe:
    """What each attribute is, what structure must survive, what privacy must hold, and how to mask.

    Without a `structure` masking is guided by how much it distorts, and loss and risk are what is measured.

    `query` is what to read from the database that `table` or the caller names, one SELECT in its own SQL.
    `keep_order` releases the rows in their input order, which may tell who is who: stated in the certificate.
    `missing` names attributes whose rows are left out when they miss a value there ("drop"). `people` names those whose
    records these are: the ledger adds up what bears the same name, and a second release of them is refused unless
    `earlier` tells of the first. `i_understand` says "no_guarantee" for maskers of which nothing may be claimed, and
    "several_releases" where people with a name may be released again without `earlier`. `budget` is the epsilon of
    maskers that generate rows under differential privacy, which go without requirements. `encoding` is that of a CSV
    table which is not UTF-8. `earlier`: releases that are out already, with which this one must be safe. `mask`: if it
    is left out, Partition, or TopDown beside earlier releases, for a k-map, where a number has a tree of intervals, and
    where a requirement is on an item set with a taxonomy (one without is refused until a mask is named). `detail`: how
    finely quasi-identifiers are shown to everybody at the least, {"age": 10, "zip": 3}: of numbers the width of
    intervals, of labels how many one shown value stands for. What cannot be kept beside the requirements is
    `Infeasible`. `policies`: whose checks the release must satisfy, by name or as `sf.Policy`; `attest`: who says what
    no program can see, by what they ask.
    `reasons`, `questions`: of a recipe that was drafted, why each attribute is what it is, and what only you know.
    """

    _another: ClassVar[str] = "write recipe = recipe.replace({name}=...)"

    schema: Schema
    structure: Structure | None = None
    privacy: Sequence[Requirement] = ()
    mask: Masker = USUAL
    table: str | None = None
    query: str | None = None
    keep_order: bool = False
    release: Along = field(default_factory=Along)
    missing: Sequence[str] = ()
    people: str | None = None
    i_understand: str | Sequence[str] | None = None
    encoding: str | None = None
    budget: Budget | None = None
    earlier: Earlier | None = None
    detail: Mapping[str, Given] = field(default_factory=dict, hash=False)
    policies: Sequence[str | Policy] = ()
    attest: Mapping[str, str] = field(default_factory=dict, hash=False)
    reasons: Mapping[str, str] = field(default_factory=dict, compare=False, repr=False)
    questions: Sequence[str] = field(default=(), compare=False, repr=False)

    def __post_init__(self) -> None:
        check_kinds(self)
        object.__setattr__(self, "privacy", _listed(self.privacy))
        object.__setattr__(self, "missing", (self.missing,) if isinstance(self.missing, str) else tuple(self.missing))
        if self.mask is USUAL:
            object.__setattr__(self, "mask", _usual_mask(self))
        if isinstance(self.i_understand, list):
            object.__setattr__(self, "i_understand", tuple(self.i_understand))
        self.schema.require(self.missing, "missing")
        _refuse_drafts(self.schema)
        for requirement in self.privacy:
            self.schema.require(requirement.on, str(requirement))
            _check_quasi(self.schema, requirement)
            _check_sensitive(self.schema, requirement)
        without_covered(self.privacy)
        _check_population(self.privacy)
        if self.privacy:
            _check_all_covered(self.schema, self.privacy)
        check_people(self.people)
        check_understood(self)
        check_budget(self)
        self.mask.check(self.schema, self.privacy)
        _check_interval_trees(self.schema, self.mask)
        self.mask.check_detail(self.wishes)
        object.__setattr__(self, "detail", dict(self.detail))
        object.__setattr__(self, "policies", listed(self.policies))
        object.__setattr__(self, "attest", dict(self.attest))
        check_policies(cast("tuple[Policy, ...]", self.policies), self.attest, self.schema)
        check_along(self.release, self.mask)
        if self.earlier is not None:
            check_earlier(self.schema, self.mask, self.privacy)
        if self.structure is None:
            self.mask.unguided()
        else:
            _check_structure(self.schema, self.structure)
            self.mask.check_labels(declared_labels(self.structure, self.schema))
        check_labels(self.release, Asked(self.schema, self.structure, self.privacy, self.mask, self.earlier))

    def __repr__(self) -> str:
        return recipe_card(self).text()

    def _repr_html_(self) -> str:
        return recipe_card(self).html()

    @property
    def understood(self) -> frozenset[str]:
        """What `i_understand` says."""
        return frozenset(() if self.i_understand is None else texts(self.i_understand))

    @property
    def wishes(self) -> dict[str, Wish]:
        """What `detail` says of each attribute."""
        return read_detail(self.detail, self.schema)

    @property
    def population(self) -> object:
        """The population of its k-map, if it asks for one."""
        return next((r.population for r in self.privacy if r.population is not None), None)

    @property
    def plan(self) -> Plan:
        """What its budget will be spent on; nothing without one. It says where the classes do not guide the masker."""
        if self.budget is None:
            return Plan()
        from sfumato.evaluation.advice import advice_on_classes

        return Plan(self.mask.plan(self.schema, self.budget), advice_on_classes(self.structure, self.mask) or "")

    @property
    def before(self) -> Before:
        """The releases with which this one must be safe; maybe none."""
        return Before() if self.earlier is None else self.earlier.before

    @property
    def masker(self) -> Masker:
        """The masker as it is run: guided by the structure, if there is one."""
        return self.mask if self.structure is not None else self.mask.unguided()

    def replace(self, **settings: Any) -> Recipe:
        """The same with other settings: recipe.replace(structure=sf.Classes("ill"), mask=sf.TopDown())."""
        return replace(self, **settings)

    def with_roles(self, roles: Mapping[str, Role] | None = None, /, **more: Role) -> Recipe:
        """The same with other roles: recipe.with_roles(weight="quasi", ward="identifier").

        Requirements follow: what becomes quasi is asked of by each that was asked on all that were quasi before, and
        what is no longer quasi by none. A bound on what is no longer sensitive is left out, with a warning. Questions
        of a draft say which of the columns they name were given a role since.
        """
        return replace(self, **with_roles(self, {**(roles or {}), **more}))

    def placed(self, placement: Placement) -> Recipe:
        """The same with masked values placed in another way where clusters are looked for again."""
        clusters = clusters_of(self.structure)
        if clusters is None:
            raise RecipeError(
                "placement",
                "masked values are placed where clusters are looked for",
                given="a recipe without clusters",
                remedy="leave it out",
            )
        return replace(self, structure=replace(clusters, placement=placement))

    def beside_others(self) -> Recipe:
        """The same for a table of which other versions go out: by a masker that can be held beside them, if it asks for
        none in particular."""
        return replace(self, mask=masker_named("top_down")()) if self.mask == Partition() else self

    @classmethod
    def from_yaml(cls, source: str | Path, *, changes: Iterable[str] = (), allow: Iterable[str | Path] = ()) -> Recipe:
        """Read a recipe file (or its text). `changes` are settings such as "privacy.0.k=20".

        The files that a recipe names lie in its folder (those of a text in the current one), or in folders that
        `allow` names: a stranger's recipe reads nothing else.
        """
        from sfumato.recipe.yaml_form import read_settings

        rule, remedy = "a recipe is read from a file, or from its text", 'write sf.Recipe.from_yaml("recipe.yaml")'
        expected("from_yaml", source, (str, Path), rule=rule, remedy=remedy)
        settings = read_settings(source, changes, allow)
        try:
            return cls(**settings)
        except SchemaError as error:
            raise by_header(settings, error) from None

    @classmethod
    def of(cls, given: object) -> Recipe:
        """A recipe, or the one that lies in a file; whatever else is given in its place is told."""
        if isinstance(given, str | Path):
            return cls.from_yaml(given)
        rule, remedy = "a recipe is an sf.Recipe, or the path of one", "write publish(table, recipe): the table first"
        expected("recipe", given, cls, rule=rule, remedy=remedy)
        return cast(Recipe, given)

    def to_yaml(self) -> str:
        """The recipe as YAML, taxonomies written out; `from_yaml` gives the same recipe back."""
        return self._text

    @cached_property
    def _text(self) -> str:
        """Kept, as one run asks for it several times: with thousands of codes it takes seconds to write."""
        from sfumato.recipe.yaml_form import settings_text

        return settings_text(cast(Settings, {one.name: getattr(self, one.name) for one in fields(self)}))


def _usual_mask(recipe: Recipe) -> Masker:
    """Partition keeps most; what it cannot do, beside earlier releases, in a population or of sets, TopDown can."""
    if not recipe.privacy and recipe.budget is None:
        quasi = ", ".join(recipe.schema.quasi)
        raise RecipeError(
            "privacy",
            "a recipe asks for at least one requirement, on columns with the role quasi",
            given="none, though these are quasi: " + quasi if quasi else "none, and no column with the role quasi",
            remedy="declare role quasi what others may know of somebody, and ask for example "
            'sf.KAnonymity(["age", "sex"], k=10) (in YAML {k_anonymity: 10, on: [age, sex]})',
        )
    asked = [recipe.schema.get(name) for need in recipe.privacy for name in need.on]
    asks_others = recipe.earlier is not None or recipe.population is not None or bool(_interval_trees(recipe.schema))
    asks_others = asks_others or any(isinstance(one, ItemSet) and one.taxonomy is not None for one in asked)
    usual: Masker = masker_named("top_down")() if asks_others or recipe.budget is not None else Partition()
    return usual


def _listed(privacy: Any) -> tuple[Requirement, ...]:
    return (privacy,) if hasattr(privacy, "parts") else tuple(privacy)


def _refuse_drafts(schema: Schema) -> None:
    for name, attribute in schema.items():
        if attribute.taxonomy is not None and attribute.taxonomy.draft:
            raise RecipeError(
                name,
                "a drafted taxonomy is made of the table's own values, and goes out with the release",
                given="a taxonomy that is still marked as a draft",
                remedy="read it, give values that few people have one label (outside: LABEL), then delete `# draft`",
            )


def _interval_trees(schema: Schema) -> list[str]:
    """The numbers that come with a tree of intervals."""
    return [name for name, attribute in schema.items() if isinstance(attribute, Number) and attribute.taxonomy]


def _check_interval_trees(schema: Schema, mask: Masker) -> None:
    """A masker that places its own ends would leave the given ones aside."""
    given = _interval_trees(schema)
    if given and not mask.interval_trees:
        raise RecipeError(
            given[0],
            "a given tree of intervals is cut by top-down refinement: other maskers choose where intervals end",
            given=type(mask).__name__,
            remedy="use mask: top_down, or leave the number's taxonomy out",
        )


def _check_quasi(schema: Schema, requirement: Requirement) -> None:
    for name in requirement.on:
        if schema[name].role != "quasi":
            raise RecipeError(
                str(requirement),
                "a quasi-identifier is made of attributes with the role quasi",
                given=f"{name!r}, which is {schema[name].role}",
                remedy=f"declare {name} with role: quasi, or leave it out of `on`",
            )


def _check_sensitive(schema: Schema, requirement: Requirement) -> None:
    name = requirement.sensitive
    if name is None:
        return
    schema.require([name], str(requirement))
    attribute = schema[name]
    if attribute.role in ("quasi", "identifier"):
        raise RecipeError(
            str(requirement),
            "what must not be learned is released as it is",
            given=f"{name!r}, which is {attribute.role}",
            remedy=f"declare {name} with role: sensitive",
        )
    if isinstance(attribute, ItemSet) != requirement.of_items:
        sets = isinstance(attribute, ItemSet)
        raise RecipeError(
            str(requirement),
            "of an item set its items are counted, and this counts single values"
            if sets
            else "it counts the items of sets, and nothing else",
            given=f"{name!r}, an item set" if sets else f"{name!r}, which holds single values",
            remedy=f"ask for l_diversity with kind: {'items' if sets else 'distinct'}, or name another attribute",
        )


def _check_population(privacy: Sequence[Requirement]) -> None:
    populations = [requirement.population for requirement in privacy if requirement.population is not None]
    if any(population is not populations[0] and population != populations[0] for population in populations):
        raise RecipeError(
            "k_map",
            "all k-maps of a recipe are counted in one population",
            given="several",
            remedy="name the same population for all of them",
        )


def _check_all_covered(schema: Schema, privacy: Sequence[Requirement]) -> None:
    asked = {name for requirement in privacy for name in requirement.on}
    bare = [name for name in schema.quasi if name not in asked]
    if bare:
        raise RecipeError(
            ", ".join(bare),
            "every quasi-identifying attribute stands in a requirement, else it would go out raw",
            given="in none",
            remedy="add it to a requirement's `on`, or declare it plain to release it as it is",
        )


def _check_structure(schema: Schema, structure: Structure) -> None:
    if isinstance(structure, Classes):
        schema.require([structure.column], "classes")
        attribute = schema[structure.column]
        if attribute.role == "quasi":
            raise RecipeError(
                structure.column,
                "the class column is not masked, so it is no quasi-identifier",
                given="role quasi",
                remedy="declare it sensitive or plain, or choose another class column",
            )
        if attribute.role == "identifier" or isinstance(attribute, ItemSet):
            raise RecipeError(
                structure.column,
                "a class column is a category or a number that is released",
                given="an identifier" if attribute.role == "identifier" else "an item set",
                remedy="choose another class column",
            )
    elif structure.attributes is not None:
        schema.require(structure.attributes, "clusters")
