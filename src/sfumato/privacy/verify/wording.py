"""What each claim says to people. A certificate that words a claim otherwise is not believed.

The words are verify's own: a certificate whose numbers hold may not promise more than they do.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable

from sfumato.privacy.verify.fields import Form, field, names
from sfumato.privacy.verify.letters import visible
from sfumato.privacy.verify.verdict import CheckError

BEGIN, BETWEEN, END = "In this table ", "; and ", "."


def check_wording(claim: Form) -> None:
    """The claim's sentence and attacker are what its settings mean."""
    for key, words in (("sentence", SENTENCES), ("attacker", ATTACKERS)):
        if claim.get(key) != words[field(claim, "claim", str)](claim):
            raise CheckError(f"a claim's {key} says something else than its settings")


def statement(sentences: list[str]) -> str:
    """What is claimed in all."""
    return BEGIN + BETWEEN.join(sentences) + END


def quoted(name: str) -> str:
    """A name as it stands in a sentence: in quotation marks that it cannot end, so that it speaks for nobody.

    >>> print(quoted("age"), quoted('a "b" c'))
    "age" "a \\"b\\" c"
    """
    return '"' + re.sub(r'(["\\])', r"\\\1", visible(name)) + '"'


def listed(words: Iterable[str]) -> str:
    """Names in a sentence, one after the other."""
    return ", ".join(quoted(word) for word in words)


def _on(claim: Form) -> str:
    return listed(names(claim, "on"))


def _sensitive(claim: Form) -> str:
    return quoted(field(claim, "sensitive", str))


def _value(claim: Form) -> str:
    value = claim["value"]
    return quoted(value) if isinstance(value, str) else json.dumps(value)


def _alike(claim: Form) -> str:
    return f"records that look alike on {_on(claim)}"


def _share(claim: Form, key: str) -> str:
    value = f"the same value of {_sensitive(claim)}"
    if "value" in claim:
        value = f"{_sensitive(claim)} = {_value(claim)}"
    return f"at most the share {claim[key]} have {value}"


def _anonymity(claim: Form) -> str:
    return f"at least {claim['k']} records share every combination of values shown for {_on(claim)}"


def _diversity(claim: Form) -> str:
    sensitive, many = _sensitive(claim), claim["l"]
    if claim["kind"] == "distinct":
        return f"{_alike(claim)} have at least {many} different values of {sensitive} (distinct)"
    if claim["kind"] == "entropy":
        return f"{_alike(claim)} have values of {sensitive} whose entropy is at least that of {many} equal shares"
    return (
        f"{_alike(claim)} have values of {sensitive} of which the most frequent is less than {claim['c']} times as "
        f"frequent as all from the {many}. most frequent on together (recursive)"
    )


def _closeness(claim: Form) -> str:
    return (
        f"among {_alike(claim)} the values of {_sensitive(claim)} are distributed as in the whole table, up to a "
        f"distance of {claim['t']} ({claim['distance']})"
    )


def _lkc(claim: Form) -> str:
    return (
        f"whoever knows any {claim['l']} of {_on(claim)} finds at least {claim['k']} records, of whom "
        f"{_share(claim, 'c')}"
    )


def _k_map(claim: Form) -> str:
    return f"every combination of values shown for {_on(claim)} fits at least {claim['k']} people of the population"


def _earlier(claim: Form) -> str:
    many = len(field(claim, "with", list))
    return "1 earlier release" if many == 1 else f"{many} earlier releases"


def _growing(claim: Form) -> str:
    return (
        f"beside {_earlier(claim)} of a growing table, at least {claim['k']} people fit whatever is known of "
        f"{_on(claim)}, provided that later releases contain the earlier people and that rows cannot be joined"
    )


def _same(claim: Form) -> str:
    return (
        f"beside {_earlier(claim)} of the same people, even with their rows joined, at least {claim['k']} records "
        f"share every combination of values shown for {_on(claim)} in all of them"
    )


SENTENCES: dict[str, Callable[[Form], str]] = {
    "k_anonymity": _anonymity,
    "l_diversity": _diversity,
    "confidence_bound": lambda claim: f"of {_alike(claim)} {_share(claim, 'h')}",
    "alpha_k": lambda claim: f"{_anonymity(claim)}, of whom {_share(claim, 'alpha')}",
    "t_closeness": _closeness,
    "lkc": _lkc,
    "k_map": _k_map,
    "bcf_anonymity": _growing,
    "joint_k_anonymity": _same,
}


def _learner(claim: Form, end: str) -> str:
    return f"knows {_on(claim)} of a person in the table, and wants to learn {_sensitive(claim)}: {end}"


ATTACKERS: dict[str, Callable[[Form], str]] = {
    "k_anonymity": lambda claim: (
        f"knows that a person is in the table, and {_on(claim)} of that person: cannot tell which of at least "
        f"{claim['k']} records is theirs"
    ),
    "l_diversity": lambda claim: _learner(claim, "it could be one of several"),
    "confidence_bound": lambda claim: _learner(claim, f"is never surer than {claim['h']}"),
    "alpha_k": lambda claim: _learner(claim, f"is never surer than {claim['alpha']}"),
    "t_closeness": lambda claim: _learner(claim, "learns little more than the whole table tells of anybody"),
    "lkc": lambda claim: (
        f"knows any {claim['l']} of {_on(claim)} of a person in the table: finds at least {claim['k']} records, and "
        f"is never surer of {_sensitive(claim)} than {claim['c']}"
    ),
    "k_map": lambda claim: (
        f"knows the whole population with {_on(claim)}, but not who of them is in the table: cannot tell which of at "
        f"least {claim['k']} people a record is about"
    ),
    "bcf_anonymity": lambda claim: (
        f"has all these releases, knows {_on(claim)} of a person and since which release the person is in the table, "
        f"and cannot join rows: cannot tell which of at least {claim['k']} people it is"
    ),
    "joint_k_anonymity": lambda claim: (
        f"has all these releases and can join their rows, and knows {_on(claim)} of a person: cannot tell which of at "
        f"least {claim['k']} records is theirs"
    ),
}
