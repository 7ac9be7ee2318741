"""What is claimed of a release, in the terminal: asked, and reached."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.table import Table

MOST_LISTED = 4
"""Quasi-identifiers that are listed where a claim is on all of them."""
NO_SETTING = (
    "claim",
    "on",
    "sensitive",
    "achieved",
    "attacker",
    "sentence",
    "by",
    "tree",
    "order",
    "population",
    "with",
)


def claims_table(certificate: Mapping[str, Any], quasi: Sequence[str] = ()) -> Table:
    """What was asked and what the recount of the written file found. `quasi`: many of them are told by their number."""
    from rich.table import Table

    table = Table(title="Privacy, recounted from the written file", title_justify="left")
    for heading in ("on", "asked", "reached"):
        table.add_column(heading)
    for claim in certificate["claims"]:
        table.add_row(on_columns(claim["on"], quasi), asked(claim), reached(claim["achieved"]))
    for claim in certificate["covered"]:
        table.add_row(on_columns(claim["on"], quasi), asked(claim), f"follows from {', '.join(claim['by'])}")
    return table


def on_columns(on: Sequence[str], quasi: Sequence[str]) -> str:
    """The columns that a claim is on.

    >>> on_columns(["b", "a"], ["a", "b"]), on_columns(list("abcdef"), list("fedcba"))
    ('b, a', 'all 6 quasi-identifiers')
    """
    return f"all {len(on)} quasi-identifiers" if len(on) > MOST_LISTED and {*on} == {*quasi} else ", ".join(on)


def across(claims: Sequence[Mapping[str, Any]]) -> list[str]:
    """What is promised of several releases together, and what is not.

    >>> across([{"claim": "k_anonymity"}]), len(across([{"claim": "bcf_anonymity"}, {"claim": "l_diversity"}]))
    ([], 1)
    """
    joint = [one["claim"] for one in claims if one["claim"] in JOINT]
    others = dict.fromkeys(one["claim"] for one in claims if one["claim"] not in (*JOINT, "k_anonymity"))
    alone = f"; {', '.join(others)} of this one alone" if others else ""
    return [f"{joint[0]}: k holds for whoever has the earlier releases, too{alone}."] if joint else []


JOINT = ("bcf_anonymity", "joint_k_anonymity")


def asked(claim: Mapping[str, Any]) -> str:
    """A claim's name and settings in a few words.

    >>> asked({"claim": "l_diversity", "on": ["age"], "sensitive": "disease", "l": 3, "kind": "distinct"})
    'l_diversity of disease, l = 3, kind = distinct'
    """
    settings = [f"{name} = {claim[name]}" for name in claim if name not in NO_SETTING]
    of = f" of {claim['sensitive']}" if "sensitive" in claim else ""
    return f"{claim['claim']}{of}, " + ", ".join(settings)


def reached(achieved: Any) -> str:
    """What the worst group reached.

    >>> reached(57), reached({"alpha": 0.25, "k": 12})
    ('57 in the smallest group', 'alpha = 0.25, k = 12')
    """
    if isinstance(achieved, Mapping):
        return ", ".join(f"{name} = {figure:g}" for name, figure in achieved.items())
    return f"{achieved} in the smallest group"
