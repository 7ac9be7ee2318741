"""Policies that a release does not satisfy, or not those, or that carry what nobody has looked at."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.corruptions import read_rows, write_rows
from tests.forgeries import forgery
from tests.forgeries.certificates import RAW, Form, certificate, read, write
from tests.releases import POLICIES, untouched


def told(*names: str) -> list[Form]:
    """What an honest certificate tells of these policies."""
    return [policy for policy in read(untouched(POLICIES))["policies"] if policy["policy"] in names]


def claimed(name: str, make: Callable[[], list[Form]]) -> None:
    """Enter a forgery that tells policies of a release of groups of four, for which none was asked."""

    @forgery(name)
    def forge(folder: Path) -> None:
        form = read(folder)
        at = [*form].index("versions")
        items = [*form.items()]
        write(folder, dict([*items[:at], ("policies", make()), *items[at:]]))


def softened(policy: Form, **terms: Any) -> Form:
    """The policy with the settings of its first check changed."""
    first, *more = policy["checks"]
    return {**policy, "checks": [{**first, **terms}, *more]}


WP29: Form = {
    "policy": "wp29",
    "own": False,
    "checks": [
        {"check": "guarantee"},
        {"check": "least_group", "records": 5},
        {"check": "attack", "criterion": "singling out", "most": 0.1},
        {"check": "shuffled"},
        {"check": "named_people"},
        {"check": "attack", "criterion": "linkability", "most": 0.1},
        {"check": "bounded"},
        {"check": "attack", "criterion": "inference", "most": 0.2},
    ],
    "attested": ["source_data", "reviewed"],
}
claimed("a policy whose groups are larger than those of the table", lambda: told("cell-size-11"))
claimed("a policy with a softened setting", lambda: [softened(told("cell-size-11")[0], records=4)])
claimed(
    "a policy without its check that fails",
    lambda: [{**one, "checks": one["checks"][1:]} for one in told("cell-size-11")],
)
claimed("a known policy called one's own", lambda: [{**one, "own": True} for one in told("cell-size-11")])
claimed("a policy that nobody knows", lambda: [{**one, "policy": "gdpr"} for one in told("cell-size-11")])
claimed("a policy of one's own with larger groups than the table has", lambda: told("ours"))
claimed("the three risks of a table whose sensitive column is free", lambda: [WP29])
claimed("an empty list of policies", lambda: [])
claimed("an own policy of five groups in a table of four", lambda: [softened(told("ours")[0], records=5)])


def changed(name: str, at: int, change: Callable[[Form], object]) -> None:
    """Enter a forgery that changes one of the policies of a release that satisfies them."""

    @forgery(name, of=POLICIES)
    def forge(folder: Path) -> None:
        with certificate(folder) as form:
            change(form["policies"][at])


changed("a policy without an attestation", 0, lambda policy: policy.update(attested=[]))
changed(
    "a policy with an attestation that it does not ask for", 0, lambda policy: policy["attested"].append("signed_off")
)
changed("raw values as what is attested", 2, lambda policy: policy.update(attested=[RAW]))
changed("raw values as the name of a policy", 2, lambda policy: policy.update(policy=RAW))
changed("raw values beside a policy", 0, lambda policy: policy.update(note=RAW))
changed("raw values beside a check", 2, lambda policy: policy["checks"][0].update(note=RAW))
changed("a setting of another check", 2, lambda policy: policy["checks"][1].update(records=10))
changed("a check that nobody knows", 2, lambda policy: policy["checks"].append({"check": "all_is_well"}))
changed("a policy of one's own without checks", 2, lambda policy: policy.update(checks=[]))
changed("what an age is, left unsaid", 1, lambda policy: policy.update(contents={}))
changed("contents of a column that is not there", 1, lambda policy: policy["contents"].update(name="other"))
changed("contents that nobody knows", 1, lambda policy: policy["contents"].update(age=RAW))
changed("a column said to hold names", 1, lambda policy: policy["contents"].update(country="name"))
changed("a column said to hold dates of birth", 1, lambda policy: policy["contents"].update(country="birth"))
changed("contents where no check asks for them", 0, lambda policy: policy.update(contents={"age": "age"}))
changed("an own policy whose groups are larger", 2, lambda policy: policy["checks"][0].update(records=190))
changed("checks in another order", 1, lambda policy: policy["checks"].reverse())


@forgery("a policy twice", of=POLICIES)
def twice(folder: Path) -> None:
    with certificate(folder) as form:
        form["policies"].append(form["policies"][0])


@forgery("a policy beside rows in their order", of=POLICIES)
def kept(folder: Path) -> None:
    with certificate(folder) as form:
        form["row_order"] = "kept"


@forgery("a label that too few have, where a policy forbids it", of=POLICIES)
def rare(folder: Path) -> None:
    rows = read_rows(folder)
    write_rows(folder, [{**row, "disease": "plague"} if at < 4 else row for at, row in enumerate(rows)], [*rows[0]])


@forgery("policies in a file of their own", of=POLICIES)
def apart(folder: Path) -> None:
    write(folder, {"policies": told("cell-size-11")}, "policies.json")
