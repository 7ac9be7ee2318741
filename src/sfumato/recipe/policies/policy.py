"""A policy that a recipe asks for: which, what columns hold, and the table of people in areas."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from sfumato.calls import constructed, expected
from sfumato.data.schema import Schema
from sfumato.display import Card, Grid
from sfumato.errors import PolicyError, did_you_mean
from sfumato.privacy.verify.policies.contents import CONTENTS
from sfumato.recipe.policies.definition import NAMES, Attestation, Definition, bundled, defined, read_definition

SUFFIXES = (".yaml", ".yml")
LONGEST = 500


@constructed
@dataclass(frozen=True)
class Policy:
    """A policy whose checks a release must satisfy: one that comes along, or the path of one in YAML.

    `columns` says what columns hold where their names do not, or mislead: {"home": "zip", "ward": "other"}. `areas`: a
    table (CSV) of areas by the first digits of their ZIP codes, and how many people live there.

    >>> Policy("cell-size-11").definition.source.split(",")[0]
    'CMS Cell Size Suppression Policy'
    """

    name: str
    columns: Mapping[str, str] = field(default_factory=dict, hash=False)
    areas: str | None = None
    definition: Definition = field(init=False, repr=False, hash=False)

    def __post_init__(self) -> None:
        given: Any = self.name
        expected("Policy", given, (str, Path, Mapping), rule="a policy has a name", remedy='write sf.Policy("wp29")')
        object.__setattr__(self, "definition", _definition(given))
        object.__setattr__(self, "name", self.definition.name)
        rule, remedy = "what columns hold, by their names", 'write columns={"home": "zip"}'
        expected("Policy: columns", self.columns, Mapping, rule=rule, remedy=remedy)
        object.__setattr__(self, "columns", {str(name): str(held) for name, held in self.columns.items()})
        for held in self.columns.values():
            if held not in CONTENTS:
                raise PolicyError(
                    f"policy {self.name}: columns",
                    f"a column holds one of {', '.join(CONTENTS)}",
                    given=repr(held),
                    remedy=did_you_mean(held, CONTENTS),
                )
        object.__setattr__(self, "areas", None if self.areas is None else str(self.areas))

    @staticmethod
    def names() -> tuple[str, ...]:
        """The policies that come along.

        >>> Policy.names()[0]
        'cell-size-11'
        """
        return NAMES

    def form(self) -> Any:
        """As a recipe has it: a name alone, or with what goes with it; one of somebody's own written out."""
        named: Any = self.definition.form() if self.definition.own else self.name
        more: dict[str, Any] = {"columns": dict(self.columns)} if self.columns else {}
        more |= {"areas": self.areas} if self.areas else {}
        return {"policy": named, **more} if more or self.definition.own else named

    def __repr__(self) -> str:
        return self._card().text()

    def _repr_html_(self) -> str:
        return self._card().html()

    def _card(self) -> Card:
        """The rule, its source, every check, what is attested, what is not checked."""
        of = self.definition
        checks = Grid(("check", "asks that", "source"), [[c.kind, c.sentence, c.source] for c in of.checks])
        attest = Grid(("attest", "that", "source"), [[a.name, a.text, a.source] for a in of.attest])
        lines = [of.rule, f"source: {of.source}", *(f"not checked: {text}" for text in of.not_checked)]
        return Card(f"Policy {self.name}: {of.title}", lines, [checks, *([attest] if of.attest else [])])


def _definition(given: Any) -> Definition:
    if isinstance(given, Mapping):
        return defined(given)
    path = Path(given)
    return read_definition(path) if path.suffix in SUFFIXES else bundled(str(given))


def listed(policies: Any) -> tuple[Policy, ...]:
    """Policies as a recipe is given them: a name, a policy, or a list of both; each once."""
    many = [policies] if isinstance(policies, str | Path | Policy) else policies
    rule, remedy = "it is a list of policies", 'write policies=["wp29"], or sf.Policy("wp29", columns={...})'
    expected("Recipe: policies", many, Iterable, rule=rule, remedy=remedy)
    found = tuple(one if isinstance(one, Policy) else Policy(cast(str, one)) for one in many)
    twice = [one.name for one in found if [other.name for other in found].count(one.name) > 1]
    if twice:
        raise PolicyError(
            "policies", "each policy is asked for once", given=f"{twice[0]} twice", remedy="leave one out"
        )
    return found


def check_policies(policies: Iterable[Policy], attest: Mapping[str, str], schema: Schema) -> None:
    """Columns exist, and what is attested is asked for, in words."""
    asked: dict[str, Attestation] = {}
    for policy in policies:
        schema.require(policy.columns, f"policy {policy.name}: columns")
        asked |= {one.name: one for one in policy.definition.attest}
    for name, words in attest.items():
        if name not in asked:
            remedy = did_you_mean(str(name), asked) if asked else "leave it out, or add policies: [...]"
            raise PolicyError("attest", "it answers what a policy asks", given=repr(name), remedy=remedy)
        if not isinstance(words, str) or not words.strip() or not words.isprintable() or len(words) > LONGEST:
            raise PolicyError(
                f"attest: {name}",
                f"it says who attests it, in at most {LONGEST} characters: {asked[name].text}",
                given="an empty text, or none",
                remedy=f'write attest: {{{name}: "A. Muster, data protection officer, 2026-03-01"}}',
            )
