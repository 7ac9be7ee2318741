"""What a policy asks, read from YAML: the rule in words, its source, its checks, what is attested, what is not seen."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from sfumato.data.yaml_files import load_yaml
from sfumato.errors import PolicyError, did_you_mean
from sfumato.privacy.verify.policies.terms import CHECKS, MOST_CHECKS, closed_check
from sfumato.privacy.verify.policies.wording import sentence
from sfumato.privacy.verify.verdict import CheckError

NAMES = ("cell-size-11", "hipaa-safe-harbor", "wp29", "expert-determination")
"""The policies that come along."""
TOP = ("sfumato_policy", "name", "title", "rule", "source", "checks", "attest", "not_checked", "report")
WORDS = ("rule", "source")
LONGEST = 2000
_NAME, _KEY = re.compile(r"[a-z][a-z0-9-]{1,39}"), re.compile(r"[a-z][a-z0-9_]{1,39}")


@dataclass(frozen=True)
class Check:
    """One check: its kind and settings, the part of the rule that it stands for, and where that is written."""

    terms: Mapping[str, Any]
    rule: str
    source: str

    @property
    def kind(self) -> str:
        """Which check it is."""
        return str(self.terms["check"])

    @property
    def sentence(self) -> str:
        """What it asks, in the words that a certificate has for it."""
        return sentence(self.terms)


@dataclass(frozen=True)
class Attestation:
    """What no program can see, and somebody has to say: its name, what is attested, where that is asked."""

    name: str
    text: str
    source: str


@dataclass(frozen=True)
class Definition:
    """A policy as it is written. `own`: it is none of those that come along. `report`: what is drawn for it."""

    name: str
    title: str
    rule: str
    source: str
    checks: tuple[Check, ...]
    attest: tuple[Attestation, ...] = ()
    not_checked: tuple[str, ...] = ()
    report: str | None = None

    @property
    def own(self) -> bool:
        """Whether somebody else wrote it."""
        return self.name not in NAMES

    def form(self) -> dict[str, Any]:
        """As YAML has it."""
        words = {"name": self.name, "title": self.title, "rule": self.rule, "source": self.source}
        checks = [{**check.terms, "rule": check.rule, "source": check.source} for check in self.checks]
        attest = [{"name": one.name, "text": one.text, "source": one.source} for one in self.attest]
        more = {"report": self.report} if self.report else {}
        return {"sfumato_policy": 1, **words, "checks": checks, "attest": attest} | {
            "not_checked": [*self.not_checked],
            **more,
        }


@cache
def bundled(name: str) -> Definition:
    """One of the policies that come along.

    >>> bundled("cell-size-11").title
    'No cell below eleven'
    """
    if name not in NAMES:
        hint = did_you_mean(name, NAMES)
        raise PolicyError(
            "policy",
            "it is one that comes along, or a file in YAML",
            given=repr(name),
            remedy=f"{hint} Or name a .yaml file",
        )
    text = files("sfumato.recipe.policies").joinpath(f"{name}.yaml").read_text(encoding="utf-8")
    return defined(load_yaml(text, what=f"policy {name}"), known=True)


def read_definition(path: Path) -> Definition:
    """A policy of one's own, from its file."""
    return defined(load_yaml(path, what="policy"))


def defined(form: Any, *, known: bool = False) -> Definition:
    """A policy from its parsed YAML; what is not understood is refused. `known`: it is one of those that come along."""
    if not isinstance(form, Mapping) or form.get("sfumato_policy") != 1:
        raise _wrong("policy", "it is a mapping that begins with `sfumato_policy: 1`", "see docs/policies.md")
    _only("policy", form, TOP)
    name = _text(form, "name", "policy")
    if not _NAME.fullmatch(name) or (name in NAMES) != known:
        rule = "a name of small letters, digits and hyphens, and none of those that come along"
        raise _wrong("policy: name", rule, "write for example name: our-hospital")
    checks = tuple(_check(part, name) for part in _list(form, "checks", name))
    if not checks:
        raise _wrong(name, "a policy has checks", f"add one of {', '.join(CHECKS)}")
    attest = tuple(_attestation(part, name) for part in _list(form, "attest", name))
    if len({one.name for one in attest}) < len(attest):
        raise _wrong(name, "each attestation has a name of its own", "rename one of them")
    report = form.get("report")
    if report not in (None, "determination"):
        raise _wrong(name, "`report` is determination, or left out", "leave it out")
    texts = {key: _text(form, key, name) for key in ("title", *WORDS)}
    unseen = tuple(_plain(one, name) for one in _list(form, "not_checked", name))
    return Definition(name, **texts, checks=checks, attest=attest, not_checked=unseen, report=report)


def _check(form: Any, policy: str) -> Check:
    if not isinstance(form, Mapping) or form.get("check") not in CHECKS:
        given = form.get("check") if isinstance(form, Mapping) else form
        raise _wrong(policy, f"a check is one of {', '.join(CHECKS)}", did_you_mean(str(given), CHECKS))
    settings = {key: value for key, value in form.items() if key not in WORDS}
    try:
        terms = closed_check(settings)
    except CheckError as error:
        raise _wrong(
            f"{policy}: {form['check']}", str(error), "docs/policies.md lists the settings of each check"
        ) from None
    if terms != settings or "population" in settings:
        extra = sorted({*map(str, settings)} - {*terms}) or ["population"]
        raise _wrong(f"{policy}: {form['check']}", f"it has no setting {extra[0]!r}", "leave it out")
    return Check(terms, *(_text(form, key, policy) for key in WORDS))


def _attestation(form: Any, policy: str) -> Attestation:
    if not isinstance(form, Mapping):
        raise _wrong(policy, "an attestation has name, text and source", "write {name: ..., text: ..., source: ...}")
    _only(f"{policy}: attest", form, ("name", "text", "source"))
    name, text, source = (_text(form, key, f"{policy}: attest") for key in ("name", "text", "source"))
    if not _KEY.fullmatch(name):
        raise _wrong(
            f"{policy}: attest", "its name has small letters, digits and low lines", "write name: data_officer"
        )
    return Attestation(name, text, source)


def _list(form: Mapping[str, Any], key: str, policy: str) -> list[Any]:
    found = form.get(key) or []
    if not isinstance(found, list) or len(found) > MOST_CHECKS:
        raise _wrong(f"{policy}: {key}", f"it is a list with at most {MOST_CHECKS} entries", "write - ... line by line")
    return found


def _text(form: Mapping[str, Any], key: str, policy: str) -> str:
    if key not in form:
        raise _wrong(policy, f"it says its {key}", f"write {key}: ...")
    return _plain(form[key], f"{policy}: {key}")


def _plain(text: Any, what: str) -> str:
    if not isinstance(text, str) or not text.strip() or len(text) > LONGEST:
        raise _wrong(what, f"it is a text of at most {LONGEST:,} characters", "write one")
    return " ".join(text.split())


def _only(what: str, form: Mapping[Any, Any], known: tuple[str, ...]) -> None:
    for name in form:
        if name not in known:
            raise PolicyError(
                what, "every name in a policy is known", given=repr(name), remedy=did_you_mean(str(name), known)
            )


def _wrong(what: str, rule: str, remedy: str) -> PolicyError:
    return PolicyError(what, rule, given="something else", remedy=remedy)
