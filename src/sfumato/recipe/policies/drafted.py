"""Policies in a drafted recipe: asked for, with what is still to do for them as comments."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from textwrap import wrap

from sfumato.data.yaml_files import load_yaml
from sfumato.errors import quoted
from sfumato.evaluation.attacks.singling_out import CRITERION as SINGLING_OUT
from sfumato.recipe.policies.findings import findings
from sfumato.recipe.policies.policy import Policy
from sfumato.recipe.recipe import Recipe
from sfumato.recipe.settings import EVERYWHERE, Within
from sfumato.recipe.yaml_form import settings_from

WIDTH = 116


def least_records(names: Sequence[str]) -> int:
    """The size of groups that these policies ask for; 0 where none does.

    >>> least_records(["cell-size-11", "wp29"])
    11
    """
    checks = [check for name in names for check in Policy(name).definition.checks if check.kind == "least_group"]
    return max((int(check.terms["records"]) for check in checks), default=0)


def with_policies(text: str, names: Sequence[str], home: Path) -> str:
    """A recipe's text that asks for policies, and says what its publisher has to do for them.

    `home` is the folder in which it will stand, and from which it names its files and those of policies.
    """
    asked = f"policies: [{', '.join(names)}]\n"
    form = load_yaml(f"{text}\n{asked}", what="recipe")
    recipe = Recipe(**settings_from(form, Within.of(home, EVERYWHERE)))
    return f"{text.rstrip()}\n\n{asked}" + "".join(f"# {line}\n" for line in _to_do(recipe))


def _to_do(recipe: Recipe) -> Iterator[str]:
    for one in findings(recipe):
        if one.state in ("fails", "to attest"):
            told = f"{one.policy}, {one.check}: {one.sentence.rstrip('.')}. {one.remedy[:1].upper()}{one.remedy[1:]}."
            yield from wrap(told, WIDTH)
    for policy in recipe.policies:
        if isinstance(policy, Policy):
            yield from wrap(_about_bare(recipe, policy), WIDTH)


def _about_bare(recipe: Recipe, policy: Policy) -> str:
    """That columns which go out as they are hardly go with a policy that has attacks tried on them; else nothing."""
    bare = [name for name in recipe.schema.kept if recipe.schema[name].role != "quasi"]
    attacks = [check.terms for check in policy.definition.checks if check.kind == "attack"]
    tried = any(terms["criterion"] == SINGLING_OUT for terms in attacks)
    if not bare or not tried:
        return ""
    return (
        f"{policy.name}, attack: what goes out as it is ({', '.join(map(quoted, bare))}) usually singles people out, "
        "by combinations of its values: the check on singling out then fails, at the end of the run. To see it before, "
        "publish without this policy and with --trial, and look at singling out in the holder's report, or in sfumato "
        "attack TABLE NAME.trial. What helps: role quasi or identifier for all but a few columns of few values."
    )
