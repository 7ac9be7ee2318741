"""Policies on the screen Privacy: chosen, checked sentence by sentence, attested; what others wrote stays."""

from __future__ import annotations

from pathlib import Path

import pytest

from sfumato.recipe import Recipe
from sfumato.recipe.policies.policy import Policy
from sfumato.studio import form as forms
from sfumato.studio.policies import asked, names
from sfumato.studio.workspace import Work
from tests.studio_visitor import Visitor
from tests.unit.test_studio_screens import opened

__all__ = ["opened"]
ENTRY = {"policy": "hipaa-safe-harbor", "columns": {"town": "other"}}


def page(visitor: Visitor, work: Work, action: str, **fields: str) -> str:
    return str(visitor.post(f"/w/{work.id}/privacy/{action}", fields).text)


def test_every_policy_that_comes_along_can_be_chosen(opened: tuple[Visitor, Work]) -> None:
    visitor, work = opened
    for name in Policy.names():
        told = page(visitor, work, "policy", policy=name, wanted="yes")
        assert "That was not possible" not in told
        assert names(forms.read(work))[-1] == name
    found = Recipe.from_yaml(work.recipe_path)
    assert [str(getattr(policy, "name", policy)) for policy in found.policies] == list(Policy.names())
    for name in Policy.names():
        page(visitor, work, "policy", policy=name)
    assert "policies" not in forms.read(work)


def test_each_check_says_its_sentence_and_how_it_stands(opened: tuple[Visitor, Work]) -> None:
    visitor, work = opened
    told = page(visitor, work, "policy", policy="cell-size-11", wanted="yes")
    group = next(one for one in Policy("cell-size-11").definition.checks if one.kind == "least_group")
    assert f"It does not hold:</strong> {group.sentence}" in told
    assert "k_anonymity: 11" in told
    mended = page(visitor, work, "change", at="0", number="11")
    assert f"It will be seen:</strong> {group.sentence}" in mended


def test_what_no_program_can_see_is_attested_and_taken_back(opened: tuple[Visitor, Work]) -> None:
    visitor, work = opened
    page(visitor, work, "policy", policy="cell-size-11", wanted="yes")
    (wanted,) = Policy("cell-size-11").definition.attest
    page(visitor, work, "attest", name=wanted.name, words="A. Muster, 2026-03-01")
    assert forms.read(work)["attest"] == {wanted.name: "A. Muster, 2026-03-01"}
    assert "Attested:</strong>" in visitor.get(f"/w/{work.id}/privacy").text
    page(visitor, work, "attest", name=wanted.name, words=" ")
    assert "attest" not in forms.read(work)
    page(visitor, work, "attest", name=wanted.name, words="A. Muster")
    page(visitor, work, "policy", policy="cell-size-11")
    assert "attest" not in forms.read(work)


@pytest.mark.parametrize("fields", [{"policy": "nobody's"}, {"policy": "/etc/passwd.yaml", "wanted": "yes"}, {}])
def test_another_policy_is_refused(opened: tuple[Visitor, Work], fields: dict[str, str]) -> None:
    visitor, work = opened
    before = work.recipe_text()
    assert "That was not possible" in page(visitor, work, "policy", **fields)
    assert "That was not possible" in page(visitor, work, "attest", name="nothing", words="x")
    assert work.recipe_text() == before


def test_what_an_entry_says_besides_stays(tmp_path: Path) -> None:
    form: forms.Form = {"attributes": {}, "policies": [ENTRY, {"policy": "ours.yaml"}], "attest": {"ours": "me"}}
    more = asked(form, "wp29", wanted=True)
    assert more["policies"] == [ENTRY, {"policy": "ours.yaml"}, "wp29"]
    assert asked(more, "hipaa-safe-harbor", wanted=True)["policies"] == more["policies"]
    less = asked(more, "hipaa-safe-harbor", wanted=False)
    assert less["policies"] == [{"policy": "ours.yaml"}, "wp29"]
    assert less["attest"] == {"ours": "me"}
    assert "policies" not in asked(asked(less, "wp29", wanted=False), "ours.yaml", wanted=False)
