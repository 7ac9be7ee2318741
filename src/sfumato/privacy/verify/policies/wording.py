"""The words for policies: what each check asks, and how much of it a folder can show. Never more than was checked."""

from __future__ import annotations

from collections.abc import Callable

from sfumato.privacy.verify.fields import Form, field, names
from sfumato.privacy.verify.policies.terms import KNOWN

RECHECKED, UNSEEN, ATTESTED = "rechecked", "cannot be seen from the folder", "attested"
NOT_COMPLIANT = (
    "To satisfy the checks of a policy is not to comply with a law: what the policy cannot check, and whether it is "
    "the right one, is for people to judge."
)
CONTENT = {
    "name": "names",
    "area": "areas smaller than a state",
    "zip": "ZIP codes",
    "state": "states",
    "date": "dates",
    "birth": "dates of birth",
    "age": "ages",
    "telephone": "telephone numbers",
    "fax": "fax numbers",
    "email": "e-mail addresses",
    "social_security": "social security numbers",
    "medical_record": "numbers of medical records",
    "health_plan": "numbers of a health plan's members",
    "account": "account numbers",
    "licence": "numbers of certificates and licences",
    "vehicle": "vehicles and their plates",
    "device": "devices and their serial numbers",
    "url": "web addresses",
    "ip": "IP addresses",
    "biometric": "finger and voice prints and the like",
    "photograph": "photographs of faces",
    "code": "other numbers and codes of one person",
    "other": "nothing that identifies",
}
"""What a column holds, in words."""
SENTENCES: dict[str, Callable[[Form], str]] = {
    "least_group": lambda c: (
        f"every combination of values shown for the quasi-identifiers is shared by at least {c['records']} records"
    ),
    "least_value": lambda c: f"every label shown as it is, is shared by at least {c['records']} records",
    "identifiers": lambda c: f"no column shows {_either([CONTENT[kind] for kind in names(c, 'kinds')])}",
    "years": lambda c: "dates are shown by their years alone",
    "oldest": lambda c: f"ages over {c['age']}, and years of birth that tell them, are shown together as one",
    "areas": lambda c: (
        f"of ZIP codes at most the first {c['digits']} digits are shown, and 000 for areas of {c['people']:,} or fewer "
        "people"
    ),
    "unique": lambda c: (
        f"no column that is shown as it is tells most records apart, by values that fewer than {c['fewest']} of them "
        "share"
    ),
    "shuffled": lambda c: "the rows stand in random order",
    "guarantee": lambda c: "the masker makes a promise that can be checked",
    "bounded": lambda c: "every sensitive column is bounded by a requirement, so that groups do not tell its values",
    "named_people": lambda c: "the people have a name, so that the ledger holds back a second release of them",
    "attack": lambda c: (
        f"the attacks of the criterion {c['criterion']} succeed at most {c['most']} more often than guessing without "
        "the release"
    ),
}
"""What each check asks, as part of a sentence."""


def sentence(check: Form) -> str:
    """What a check asks."""
    return SENTENCES[field(check, "check", str)](check)


def statement(policy: Form) -> str:
    """What is said of a policy, and no more.

    >>> statement({"policy": "wp29"})
    'This release satisfies the checks of the policy wp29'
    """
    name = field(policy, "policy", str)
    whose = "the policy" if name in KNOWN else "its holder's own policy"
    return f"This release satisfies the checks of {whose} {name}"


def _either(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"
