"""What every claim has in common: the fields it may have, and the figures it says were reached."""

from __future__ import annotations

from collections.abc import Mapping

from sfumato.privacy.verify.fields import Form, field, mapping, names, number
from sfumato.privacy.verify.verdict import CheckError

COMMON = {"claim", "on", "achieved", "attacker", "sentence"}
ROUNDED = 2e-6  # certificates round figures to six digits
ROUNDING = 1e-9  # by how much sums of logarithms and of shares may miss a bound that they meet on paper


def columns(claim: Form, settings: set[str]) -> tuple[str, ...]:
    """The columns that a claim is on; it has these settings and nothing that is not understood."""
    strange = set(claim) - settings - COMMON
    if strange:
        raise CheckError(f"the claim has {min(strange)!r}, which is not understood")
    for key in ("attacker", "sentence"):
        if key in claim:
            field(claim, key, str)
    on = names(claim, "on")
    if not on:
        raise CheckError("the claim names no columns")
    return on


def as_told(claim: Form, reached: Mapping[str, float]) -> str:
    """The figures that were counted are those that the certificate tells, if it tells any."""
    text = ", ".join(f"{name} = {round(figure, 6):g}" for name, figure in reached.items())
    if "achieved" in claim:
        told = mapping(claim["achieved"], "achieved")
        if set(told) != set(reached) or any(abs(number(told, n) - f) > ROUNDED for n, f in reached.items()):
            raise CheckError(f"the file reaches {text}; the certificate says otherwise")
    return f"the file reaches {text}"
