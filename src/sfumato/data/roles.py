"""The four roles of attributes, and what others call them."""

from __future__ import annotations

from typing import Literal, get_args

from sfumato.errors import SchemaError, did_you_mean

Role = Literal["identifier", "quasi", "sensitive", "plain"]
ELSEWHERE: dict[Role, tuple[str, ...]] = {
    "identifier": ("id", "direct", "direct_identifier", "pii"),
    "quasi": ("quasi_identifier", "quasi_identifying", "quasiidentifier", "qi", "qid", "indirect", "key"),
    "sensitive": ("secret", "confidential", "sensitive_attribute"),
    "plain": ("public", "insensitive", "non_sensitive", "nonsensitive", "other"),
}
"""What a role is called elsewhere, in small letters and with underscores."""
CLASSES = ("target", "label", "class", "y", "outcome")
"""What the column is called elsewhere that is to be learned: here that is no role."""


def check_role(kind: str, role: str) -> None:
    """Refuse what is no role; a name from elsewhere is told as what it is here, before what is spelt alike.

    >>> check_role("number", "quasi-identifier")
    Traceback (most recent call last):
        ...
    sfumato.errors.SchemaError: number: a role is one of identifier, quasi, sensitive, plain. \
Given: 'quasi-identifier'. To mend it: here it is called quasi.
    """
    if role in get_args(Role):
        return
    plain = str(role).strip().lower().replace("-", "_").replace(" ", "_")
    raise SchemaError(
        kind, "a role is one of " + ", ".join(get_args(Role)), given=repr(role), remedy=_remedy(str(role), plain)
    )


def _remedy(role: str, plain: str) -> str:
    if plain in CLASSES:
        return (
            'make it plain, or sensitive where it is a secret, and name it in structure=sf.Classes("NAME") '
            "(in YAML structure: {classes: NAME}): classes that must survive are no role"
        )
    ours = next((one for one, names in ELSEWHERE.items() if plain == one or plain in names), None)
    return did_you_mean(role, get_args(Role)) if ours is None else f"here it is called {ours}"
