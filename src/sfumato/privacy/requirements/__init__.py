"""Requirements: properties that the masked table must have, as pure functions of counts.

To add one: a frozen dataclass that satisfies `Requirement`, with the answers of `Usual` where it has no others, a line
in REQUIREMENTS, and a check of its claim, in its own code, in `sfumato.privacy.verify.claims`.
"""

from collections.abc import Mapping
from typing import Any

from sfumato.privacy.requirements.anonymity import Covered, Demands, KAnonymity, KMap, basic, largest_k, without_covered
from sfumato.privacy.requirements.closeness import TCloseness
from sfumato.privacy.requirements.confidence import LKC, AlphaK, ConfidenceBound
from sfumato.privacy.requirements.diversity import LDiversity
from sfumato.privacy.requirements.requirement import Basic, Requirement, Sensitive, codes_of

REQUIREMENTS: Mapping[str, Any] = {
    kind.name: kind for kind in (KAnonymity, LDiversity, ConfidenceBound, AlphaK, TCloseness, KMap, LKC)
}
"""Every requirement by its name in recipes."""

__all__ = [
    "LKC",
    "REQUIREMENTS",
    "AlphaK",
    "Basic",
    "ConfidenceBound",
    "Covered",
    "Demands",
    "KAnonymity",
    "KMap",
    "LDiversity",
    "Requirement",
    "Sensitive",
    "TCloseness",
    "basic",
    "codes_of",
    "largest_k",
    "without_covered",
]
