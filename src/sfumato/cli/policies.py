"""`sfumato policies`: the policies that come along, and one of them in full; and how commands ask for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sfumato.cli.output import echo, figures, show

if TYPE_CHECKING:
    from sfumato.recipe import Policy, Recipe

EXAMPLE = "sfumato policies hipaa-safe-harbor   (then: sfumato publish recipe.yaml --policy hipaa-safe-harbor)"

Policies = Annotated[
    list[str] | None,
    typer.Option("--policy", metavar="NAME", help="Satisfy its checks, too (see: sfumato policies); or a .yaml file."),
]
Attest = Annotated[
    list[str] | None,
    typer.Option("--attest", metavar="NAME=WHO", help="Who says what a policy asks and no program can see."),
]


def policies(
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="One of them, or a .yaml file.")] = None,
    text: Annotated[bool, typer.Option("--yaml", help="Print its YAML, to begin one of your own with.")] = False,
) -> None:
    """List the policies that come along; with NAME, tell its rule, every check, what is attested, what is not checked.

    A release can satisfy the checks of a policy. Whether that is enough is for people to judge.
    """
    from sfumato.errors import PolicyError
    from sfumato.recipe import Policy

    if text and name is None:
        raise PolicyError("--yaml", "it is of one policy", given="no name", remedy="say sfumato policies wp29 --yaml")
    found = [Policy(one) for one in (Policy.names() if name is None else [name])]
    figures("policies", {"policies": [policy_form(one) for one in found]})
    if text:
        from sfumato.data.yaml_files import dump_yaml

        echo(dump_yaml(found[0].definition.form(), width=110))
    elif name is not None:
        _show_one(found[0])
    else:
        _show_all(found)


def is_policy_file(name: str) -> bool:
    """Whether --policy names a file, and no policy that comes along."""
    from sfumato.recipe.policies.policy import SUFFIXES

    return name.endswith(SUFFIXES)


def policy_form(policy: Policy) -> dict[str, Any]:
    """A policy as figures, each check with its sentence."""
    of = policy.definition
    checks = [{"check": c.kind, "asks": c.sentence, "rule": c.rule, "source": c.source} for c in of.checks]
    attest = [{"name": a.name, "text": a.text, "source": a.source} for a in of.attest]
    words = {"name": of.name, "title": of.title, "rule": of.rule, "source": of.source}
    return {**words, "checks": checks, "attest": attest, "not_checked": [*of.not_checked]}


def _show_all(found: Sequence[Policy]) -> None:
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for heading in ("policy", "what it is", "checks", "attested", "source"):
        table.add_column(heading, overflow="fold")
    for one in found:
        of = one.definition
        table.add_row(of.name, of.title, str(len(of.checks)), str(len(of.attest)), of.source)
    show(table)
    show("Read one: sfumato policies NAME. Ask for it: sfumato publish recipe.yaml --policy NAME")


def _show_one(policy: Policy) -> None:
    of = policy.definition
    lines = [f"{of.title} ({of.name})", of.rule, f"Source: {of.source}", "", "Checks"]
    for check in of.checks:
        lines += [f"  {check.kind}: {check.sentence}", f"    {check.rule} [{check.source}]"]
    if of.attest:
        lines += ["", "Attested by somebody: attest: {NAME: who, when} in the recipe, or --attest NAME=WHO"]
        lines += [f"  {one.name}: {one.text} [{one.source}]" for one in of.attest]
    lines += ["", "Not checked", *(f"  {text}" for text in of.not_checked)]
    echo("\n".join(lines) + "\n")


def with_policies(recipe: Recipe, names: Sequence[str], attest: Sequence[str]) -> Recipe:
    """A recipe that asks for these policies as well, with these attestations."""
    from sfumato.errors import RecipeError
    from sfumato.recipe import Policy

    if not names and not attest:
        return recipe
    said = dict(one.partition("=")[::2] for one in attest)
    if not all(said.values()):
        given = next(name for name, who in said.items() if not who)
        raise RecipeError("--attest", "it is NAME=WHO", given=repr(given), remedy=f'say --attest {given}="who, when"')
    asked = {
        one.name: one
        for one in (*map(Policy, names), *(Policy(p) if isinstance(p, str) else p for p in recipe.policies))
    }
    return replace(recipe, policies=tuple(asked.values()), attest={**recipe.attest, **said})
