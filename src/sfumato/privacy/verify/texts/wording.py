"""What a certificate says to people: of each claim, on what grounds, and what is not claimed.

The words are verify's own, made by fixed rules from the settings: whoever publishes writes what these functions give,
and a certificate that words anything otherwise is not believed. Numbers that hold may not promise more than they do.

So are those of the uses of the data under differential privacy: by which mechanisms, for what, and as OpenDP's registry
tells of them. All words are from closed lists, with the names of columns in them; the registry's fields are made from
the rest of a certificate and from nothing else.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

from sfumato.privacy.verify.fields import Form, field, names
from sfumato.privacy.verify.letters import listed, quoted
from sfumato.privacy.verify.verdict import CheckError

GUARANTEE = "differential_privacy"
GENERATED = "generated"
UNIT = "one record added or removed"
NOT_PRIVATE = "NOT PRIVATE"
MECHANISMS = {
    "discrete Laplace",
    "permute-and-flip",
    "discrete Laplace, thresholded; empty cells sampled",
    "uniform choice",
}
LIBRARIES = ("opendp", "sfumato")
BINNED = 8  # from this format on, the bins of numbers may be declared, and the masker's file tells where they begin
BINS = "numbers in bins of their declared ranges: declared bins, or else equal ones"
EQUAL_BINS = "numbers in equal bins of their declared ranges"


@dataclass(frozen=True)
class Deployed:
    """What the registry's fields are made of. `events` as they stand in the certificate, `columns` with their kinds;
    `release`: of which format it is."""

    epsilon: Fraction
    private: bool
    events: Sequence[Form]
    mask: str
    columns: Mapping[str, str]
    created: str
    versions: Mapping[str, str]
    release: int


def deployment(of: Deployed) -> dict[str, object]:
    """As far as the program knows them; the curator adds the others."""
    uses = "; ".join(f"{event['mechanism']} for {event['purpose']}: {event['epsilon']}" for event in of.events)
    return {
        "basic": {
            "name": None,
            "data_curators": None,
            "description": f"A table generated from noisy counts ({of.mask}), for cluster analysis.",
            "intended_use": None,
            "data_product_type": "Synthetic data",
            "data_product_region": None,
            "data_product_sector": None,
            "publication_date": of.created[:10],
        },
        "dp_variant": {
            "variant_name": "Pure DP" if of.private else NOT_PRIVATE,
            "data_domain": "; ".join(f"{quoted(name)}: {kind}" for name, kind in of.columns.items()),
            "unprotected_quantities": "declared domains and settings, which are public",
        },
        "privacy_loss": {
            "privacy_unit": "Record-level",
            "privacy_unit_details": UNIT,
            "privacy_parameters": {"epsilon": float(of.epsilon), "delta": 0},
            "privacy_parameters_details": f"epsilon = {of.epsilon} exactly: {uses}",
        },
        "deployment_model": {
            "model_name": "Central",
            "actors": "the holder of the table, who runs the program and releases its output",
            "release_type": "One release",
            "release_type_details": "one generated table; further releases of the same people add their own epsilon",
            "access_type": "Non-interactive",
        },
        "implementation": {
            "preprocessing_and_hyperparameter_tuning": BINS if of.release >= BINNED else EQUAL_BINS,
            "mechanisms": ", ".join(dict.fromkeys(str(event["mechanism"]) for event in of.events)),
            "composition": "sequential over the events; within a parallel event disjoint parts of the records",
            "post_processing": "counts made consistent and not negative, rows drawn from them",
            "libraries": {name: of.versions[name] for name in LIBRARIES},
            "justification": None,
        },
        "administrative": {"evidence_sources": None, "status": None, "registry_authors": None, "tier": None},
    }


PLAIN = (
    "the number of records",
    "a split of the tree",
    "what to specialize",
    "counts of the parts",
    "a pair of attributes",
)
OF_A_COLUMN = ("marginal of {}", "marginal of {} (how many)", "where to split {}", "combinations of {}")
OF_TWO = "pair of {} and {}"
_SPLITS = re.compile("([2-9]|[1-9][0-9]) splits of the tree")


def purposes(columns: Sequence[str]) -> frozenset[str]:
    """All that there are in a table with these columns, but for numbers of splits.

    >>> 'marginal of "age"' in purposes(["age"])
    True
    """
    told = [quoted(name) for name in columns]
    single = (words.format(name) for words in OF_A_COLUMN for name in told)
    return frozenset({*PLAIN, *single, *(OF_TWO.format(*two) for two in combinations(told, 2))})


def known(purpose: str, among: Collection[str]) -> str:
    """The purpose, if it is one of these, or some splits of the tree."""
    if purpose in among or _SPLITS.fullmatch(purpose):
        return purpose
    raise CheckError("a use of the data is for something that is not known")


BEGIN, BETWEEN, END = "In this table ", "; and ", "."


def check_wording(claim: Form, release: int) -> None:
    """The claim's sentence and attacker are what its settings mean; `release`: of which format it is."""
    told = {"sentence": sentence(claim, release), "attacker": ATTACKERS[field(claim, "claim", str)](claim)}
    for key, words in told.items():
        if claim.get(key) != words:
            raise CheckError(f"a claim's {key} says something else than its settings")


def sentence(claim: Form, release: int) -> str:
    """What a claim promises, in the words of a format."""
    words = SENTENCES if release >= PLAINER else {**SENTENCES, **BEFORE}
    return words[field(claim, "claim", str)](claim)


def statement(sentences: list[str]) -> str:
    """What is claimed in all."""
    return BEGIN + BETWEEN.join(sentences) + END


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
    if claim["kind"] == "items":
        if "c" in claim:
            return f"of {_alike(claim)} at most the share {claim['c']} have the same item of {sensitive} (items)"
        one, least = field(claim, "l", int) == 2, field(claim, "l", int) - 1
        look, do = ("record that looks", "does") if one else ("records that look", "do")
        who = f"at least {least} {look} the same on {_on(claim)} {do} not have it"
        return f"whatever item of {sensitive} a record has, {who} (items)"
    if claim["kind"] == "entropy":
        return f"{_alike(claim)} have values of {sensitive} whose entropy is at least that of {many} equal shares"
    return (
        f"{_alike(claim)} have values of {sensitive} of which the most frequent is less than {claim['c']} times as "
        f"frequent as all from the {many}. most frequent on together (recursive)"
    )


def _diversity_before(claim: Form) -> str:
    """Before format 5."""
    if claim["kind"] != "items" or "c" in claim:
        return _diversity(claim)
    least, of = field(claim, "l", int) - 1, _sensitive(claim)
    return f"of {_alike(claim)} at least {least} lack each item of {of} that others of them have (items)"


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


PLAINER = 5
"""The format from which on `SENTENCES` hold; earlier ones say some of them as `BEFORE` does."""
BEFORE: dict[str, Callable[[Form], str]] = {"l_diversity": _diversity_before}


def _learner(claim: Form, end: str) -> str:
    return f"knows {_on(claim)} of a person in the table, and wants to learn {_sensitive(claim)}: {end}"


ATTACKERS: dict[str, Callable[[Form], str]] = {
    "k_anonymity": lambda claim: (
        f"knows that a person is in the table, and {_on(claim)} of that person: cannot tell which of at least "
        f"{claim['k']} records is theirs"
    ),
    "l_diversity": lambda claim: _learner(
        claim, "is certain of no item of it" if claim.get("kind") == "items" else "it could be one of several"
    ),
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


NOTHING = "none"
GROUNDS = "Recounted from the written file by code that shares nothing with the masker (sfumato verify)."
GROUNDS_OF_NOISE = (
    "Differential privacy is a property of how the table was made and cannot be recounted from it. verify checks that "
    "the recorded uses of the data add up to epsilon exactly, that every value lies in its declared domain and that "
    "the file holds nothing else; that the recorded uses are all there were rests on the program that made it."
)
NOTHING_CLAIMED = (
    "Nothing is claimed of this table: its numbers were transformed in a way that can be undone by whoever knows a few "
    "of its records. It is not anonymised."
)
NO_GUARANTEE = (
    "No k, l or epsilon holds. The transformation hides values from a glance and from nobody who tries; use it only "
    "under contract with a partner you trust."
)
OTHERS = (
    "Nothing is claimed against somebody who knows other attributes of a person than those listed, or who knows the "
    "records of others in the table."
)
SHARED = "A value of {} that all records of a group share is not hidden by the size of the group."
SEVERAL = "It does not hold across several releases of the same people."
OTHER_RELEASES = "It does not hold across other releases of the same people than those that are named."
BEYOND_EPSILON = (
    "What is true of people in general may be learned from the table, and with it something about a person whose "
    "record was not used at all.",
    "A person with several records is protected for each record; of all of them together epsilon grows in proportion.",
    "Other releases of the same people cost their own epsilon, which adds up.",
    "Choosing this release after comparing others with the raw data is not covered by epsilon.",
)


RELATED = 8  # from this format on, a generated table says what is left of relations between its columns
IN_PARTS = (
    "Relations between columns are kept only as far as the splits of the records into parts tell of them: within a "
    "part every column is made by itself, and every item of a set. Comparisons of one column by another may come out "
    "too flat."
)
IN_PAIRS = (
    "Relations between columns are kept only as far as the counted pairs of columns tell of them, and none of sets: "
    "beyond these pairs every column is made by itself, and every item of a set. Comparisons of one column by another "
    "may come out too flat."
)


def of_relations(events: Sequence[Form]) -> str:
    """What nobody may conclude from how columns of a generated table go along, by what was counted."""
    return IN_PAIRS if any(event.get("purpose") == PLAIN[-1] for event in events) else IN_PARTS


def grounds(guarantee: str) -> str:
    """Why to believe what is claimed."""
    return GROUNDS_OF_NOISE if guarantee == GUARANTEE else GROUNDS


def not_claimed(guarantee: str, *, bare: Sequence[str], beside: bool, relations: str | None = None) -> tuple[str, ...]:
    """What nobody may conclude. `bare`: sensitive columns that no claim bounds; `beside`: earlier releases are named.
    `relations`: what is said of those between columns that are generated, from format 8 on.

    >>> not_claimed("k_anonymity", bare=["disease"], beside=False)[1]
    'A value of "disease" that all records of a group share is not hidden by the size of the group.'
    """
    if guarantee == GUARANTEE:
        return BEYOND_EPSILON if relations is None else (*BEYOND_EPSILON, relations)
    if guarantee == NOTHING:
        return (NO_GUARANTEE,)
    return (OTHERS, *([SHARED.format(listed(bare))] if bare else []), OTHER_RELEASES if beside else SEVERAL)


def private_statement(epsilon: Fraction, *, private: bool) -> str:
    """What differential privacy promises, in a paragraph a lawyer can read; noise that repeats is named first."""
    text = (
        f"The rows of this table are not records of people: they were generated from counts to which random noise "
        f"was added, and from nothing else. The way they were made is differentially private with epsilon = "
        f"{epsilon}; the unit of privacy is {UNIT}. Whatever anybody could conclude about a person from this "
        f"table, or do to a person because of it, would have been almost as likely had that person's record not "
        f"been used: its probability differs by a factor of at most {odds(float(epsilon))}. That holds whatever else "
        f"is known about the person, now or later, and whatever is done with the table."
    )
    if private:
        return text
    return f"{NOT_PRIVATE}: the noise repeats from a seed, so nothing is promised. Otherwise it would read: {text}"


def odds(epsilon: float) -> str:
    """e to the epsilon with three digits, rounded up.

    >>> odds(1.0), odds(0.1)
    ('2.72', '1.11')
    """
    if epsilon > 50:
        return "more than anybody would call a limit"
    factor = math.exp(epsilon)
    unit = 10.0 ** (math.floor(math.log10(factor)) - 2)
    return f"{math.ceil(factor / unit) * unit:.3g}"
