"""The form in which a certificate tells policies: closed, so that nothing else can stand there.

Of the four that are known here every check and its settings are known, too; of a policy of the holder's own the
certificate tells its checks. Words are made from them, and have no place of their own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from sfumato.privacy.verify.fields import Form, column_name, count, field, forms, mapping, names, one_of, sha256, share
from sfumato.privacy.verify.policies.contents import CONTENTS
from sfumato.privacy.verify.verdict import CheckError

MOST_POLICIES, MOST_CHECKS = 10, 40
CRITERIA = ("singling out", "linkability", "inference")
_KEY = re.compile(r"[a-z][a-z0-9_]{1,39}")
_NAME = re.compile(r"[a-z][a-z0-9-]{1,39}")
Terms = dict[str, object]


def _records(form: Form) -> Terms:
    return {"records": count(form, "records", least=2, most=10**6)}


def _kinds(form: Form) -> Terms:
    told = names(form, "kinds")
    made = [content for content in CONTENTS[:-1] if content in told]
    if not made or list(told) != made:
        raise CheckError("'kinds' lists what columns may hold, in its one order")
    return {"kinds": made}


def _areas(form: Form) -> Terms:
    least = {"digits": count(form, "digits", least=1, most=5), "people": count(form, "people", least=1, most=10**9)}
    return least | ({"population": sha256(form, "population")} if "population" in form else {})


def _attack(form: Form) -> Terms:
    return {"criterion": one_of(form, "criterion", CRITERIA), "most": share(form, "most")}


def _nothing(form: Form) -> Terms:
    del form
    return {}


CHECKS: dict[str, Callable[[Form], Terms]] = {
    "least_group": _records,
    "least_value": _records,
    "identifiers": _kinds,
    "years": _nothing,
    "oldest": lambda form: {"age": count(form, "age", least=1, most=150)},
    "areas": _areas,
    "unique": lambda form: {"fewest": count(form, "fewest", least=2, most=10**6)},
    "shuffled": _nothing,
    "guarantee": _nothing,
    "bounded": _nothing,
    "named_people": _nothing,
    "attack": _attack,
}
"""The settings of every check that a policy can ask for."""
OF_CONTENTS = ("identifiers", "years", "oldest", "areas")
"""Checks that ask what columns hold."""
GIVEN = ("population",)
"""Settings that a policy leaves to whoever publishes."""


@dataclass(frozen=True)
class Known:
    """What a policy asks: its checks, and what somebody has to attest."""

    checks: tuple[Mapping[str, object], ...]
    attested: tuple[str, ...]


EIGHTEEN = tuple(one for one in CONTENTS[:-1] if one not in ("zip", "state", "date", "birth", "age"))
KNOWN = {
    "cell-size-11": Known(
        ({"check": "least_group", "records": 11}, {"check": "least_value", "records": 11}),
        ("no_differencing",),
    ),
    "hipaa-safe-harbor": Known(
        (
            {"check": "identifiers", "kinds": [*EIGHTEEN]},
            {"check": "areas", "digits": 3, "people": 20_000},
            {"check": "years"},
            {"check": "oldest", "age": 89},
            {"check": "unique", "fewest": 5},
        ),
        ("no_actual_knowledge", "columns_as_told"),
    ),
    "wp29": Known(
        (
            {"check": "guarantee"},
            {"check": "least_group", "records": 5},
            {"check": "attack", "criterion": "singling out", "most": 0.1},
            {"check": "shuffled"},
            {"check": "named_people"},
            {"check": "attack", "criterion": "linkability", "most": 0.1},
            {"check": "bounded"},
            {"check": "attack", "criterion": "inference", "most": 0.2},
        ),
        ("source_data", "reviewed"),
    ),
    "expert-determination": Known(
        (
            {"check": "guarantee"},
            {"check": "least_group", "records": 11},
            {"check": "shuffled"},
            {"check": "named_people"},
            {"check": "unique", "fewest": 5},
        ),
        ("expert", "methods", "recipients", "agreement", "monitoring"),
    ),
}
"""What verify knows to be asked by these names; a test holds it against the definitions that publish reads."""


def closed_policies(form: Form, columns: Sequence[str]) -> list[Terms]:
    """The policies of a certificate in their one form."""
    found = [_closed(policy, columns) for policy in forms(form, "policies")]
    told = [policy["policy"] for policy in found]
    if not 0 < len(found) <= MOST_POLICIES or len({*map(str, told)}) < len(found):
        raise CheckError(f"'policies' lists at most {MOST_POLICIES}, each once, or is not there")
    return found


def _closed(form: Form, columns: Sequence[str]) -> Terms:
    name, own = field(form, "policy", str), field(form, "own", bool)
    if not _NAME.fullmatch(name) or own == (name in KNOWN):
        raise CheckError("a policy is one that verify knows, or is said to be the holder's own under another name")
    checks, attested = [closed_check(check) for check in forms(form, "checks")], list(names(form, "attested"))
    if not checks or len(checks) > MOST_CHECKS or len(attested) > MOST_CHECKS:
        raise CheckError(f"a policy has checks, at most {MOST_CHECKS}")
    if not own:
        _as_known(name, checks, attested)
    if not all(_KEY.fullmatch(key) for key in attested):
        raise CheckError("what is attested has a name of small letters, digits and low lines")
    contents = {"contents": _contents(form, columns)} if any(c["check"] in OF_CONTENTS for c in checks) else {}
    return {"policy": name, "own": own, "checks": checks, **contents, "attested": attested}


def closed_check(form: Form) -> Terms:
    """A check and its settings."""
    kind = field(form, "check", str)
    if kind not in CHECKS:
        raise CheckError(f"a check of a policy is one of {', '.join(CHECKS)}")
    return {"check": kind, **CHECKS[kind](form)}


def _as_known(name: str, checks: Sequence[Terms], attested: Sequence[str]) -> None:
    """A policy that is known by its name asks what that name stands for, and nothing less."""
    asked = [{key: value for key, value in check.items() if key not in GIVEN} for check in checks]
    if asked != [dict(check) for check in KNOWN[name].checks]:
        raise CheckError(f"the checks of the policy {name} are not those that it consists of")
    if list(attested) != list(KNOWN[name].attested):
        raise CheckError(f"the policy {name} asks for other attestations than the certificate tells")


def _contents(form: Form, columns: Sequence[str]) -> dict[str, str]:
    """By column, in the order of the table, what it is said to hold."""
    told = mapping(form.get("contents"), "contents")
    if [*told] != [name for name in columns if name in told]:
        raise CheckError("'contents' tells of columns of the table, in their order")
    return {column_name({"name": name}, "name"): one_of(told, name, CONTENTS) for name in told}
