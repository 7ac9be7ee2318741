"""What recipients are told of a release in the words of its README.md, for pages that are drawn before there is one."""

from __future__ import annotations

from sfumato.data.schema import Attribute
from sfumato.privacy.verify import readme
from sfumato.release.certificate import Facts, calendar_of


def title(facts: Facts) -> str:
    """What the page is called; noise that repeats is named first."""
    generated = facts.differential is not None
    return readme.title(generated=generated, private=facts.differential is None or facts.differential.private)


def cited(facts: Facts) -> str:
    """How to cite a release."""
    return readme.cited(facts.mask, generated=facts.differential is not None)


def checks(facts: Facts) -> str:
    """What verify does with a release."""
    return readme.checks(generated=facts.differential is not None)


def explained(attribute: Attribute, masked: str | None) -> str:
    """What a column shows, in words."""
    return readme.explained(masked, calendar_of(attribute, masked))
