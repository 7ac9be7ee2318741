"""The terms of each claim: which settings it has, in which order, and which figures it says were reached.

`closed` makes a claim again from what is understood of it. What differs from that, in whatever way, is refused;
`as_told` holds the figures against those that were counted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from sfumato.privacy.verify.fields import (
    MOST,
    Form,
    column_name,
    count,
    field,
    figure,
    forms,
    mapping,
    moment,
    names,
    number,
    one_of,
    sha256,
    share,
)
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


Terms = dict[str, object]
KINDS = ("distinct", "entropy", "recursive", "items")
DISTANCES = ("equal", "ordered", "hierarchical")
SEPARATOR = 20  # characters between items
MOST_LEVELS = 100  # of a tree
MOST_CLAIMS = 100


def closed(claim: Form, columns: Sequence[str]) -> Terms:
    """The claim as it must stand in a certificate of a table with these columns; its words are taken as they are."""
    kind = one_of(claim, "claim", tuple(TERMS))
    settings = TERMS[kind](claim)
    if "sensitive" in settings:
        one_of(claim, "sensitive", columns)
    words = {key: field(claim, key, str) for key in ("attacker", "sentence")}
    return {"claim": kind, "on": _on(claim, columns), **settings, "achieved": REACHED[kind](claim), **words}


def closed_covered(claim: Form, columns: Sequence[str]) -> Terms:
    """K-anonymity that follows from a claim on more columns: `by`."""
    if claim.get("claim") != "k_anonymity":
        raise CheckError("of other claims than k_anonymity none is said to follow from another")
    return {"claim": "k_anonymity", "on": _on(claim, columns), **_k(claim), "by": _on(claim, columns, "by")}


def _on(claim: Form, columns: Sequence[str], key: str = "on") -> list[str]:
    on = names(claim, key)
    if not on or not set(on) <= set(columns):
        raise CheckError(f"{key!r} of a claim names columns of the table, at least one")
    return list(on)


def _k(claim: Form) -> Terms:
    return {"k": count(claim, "k", least=1)}


def _sensitive(claim: Form) -> Terms:
    return {"sensitive": field(claim, "sensitive", str)}


def _value(claim: Form) -> Terms:
    """One value, if the claim is about one; that somebody has it is seen when it is recounted."""
    return {"value": _cell(claim["value"])} if "value" in claim else {}


def _cell(value: object) -> object:
    """A value that a claim names; a text that no reader could tell from another says nothing else."""
    if isinstance(value, str):
        return column_name({"value": value}, "value") if value else value
    if not isinstance(value, int | float) or not abs(value) < MOST:
        raise CheckError("a sensitive value is a text, a number, or true or false")
    return value


def _diversity(claim: Form) -> Terms:
    kind = one_of(claim, "kind", KINDS)
    found = {**_sensitive(claim), "l": count(claim, "l", least=2), "kind": kind}
    if kind == "items":
        bound = {"c": share(claim, "c")} if "c" in claim else {}
        between = field(claim, "separator", str)
        if not 1 <= len(between) <= SEPARATOR:
            raise CheckError(f"a separator has 1 to {SEPARATOR} characters")
        return found | bound | {"separator": between}
    return found | ({"c": number(claim, "c")} if kind == "recursive" else {})


def _closeness(claim: Form) -> Terms:
    distance = one_of(claim, "distance", DISTANCES)
    found = {**_sensitive(claim), "t": share(claim, "t"), "distance": distance}
    if distance == "ordered" and "order" in claim:
        cells: list[object] = field(claim, "order", list)
        found["order"] = [_cell(cell) for cell in cells]
    if distance == "hierarchical":
        found["tree"] = closed_tree(claim.get("tree"))
    return found


def closed_tree(node: object, *, above: int = MOST_LEVELS + 1) -> object:
    """A leaf, which is a value; or how high a label stands above its deepest leaf, and what hangs below it.

    Labels have no names here: the distance does not need them.
    """
    if isinstance(node, str):
        return node
    form = mapping(node, "tree")
    height, below = count(form, "height", least=1, most=above - 1), field(form, "below", list)
    if len(below) < (1 if above > MOST_LEVELS else 2):
        raise CheckError("below every label but the root of a claim's tree stand at least two others")
    parts = sorted(below, key=first_leaf)
    return {"height": height, "below": [closed_tree(part, above=height) for part in parts]}


def first_leaf(node: object) -> str:
    """The first leaf of a tree in alphabetical order."""
    return node if isinstance(node, str) else min(map(first_leaf, field(mapping(node, "tree"), "below", list)))


def _population(claim: Form) -> Terms:
    return {"population": sha256(claim, "population")} if "population" in claim else {}


def _several(people: str) -> Callable[[Form], Terms]:
    def terms(claim: Form) -> Terms:
        others = [{"sha256": sha256(o, "sha256"), "created": moment(o, "created")} for o in forms(claim, "with")]
        if len(others) > MOST_CLAIMS:
            raise CheckError(f"'with' names more than {MOST_CLAIMS} releases")
        return {**_k(claim), "people": people, "with": others}

    return terms


TERMS: dict[str, Callable[[Form], Terms]] = {
    "k_anonymity": _k,
    "l_diversity": _diversity,
    "confidence_bound": lambda claim: {**_sensitive(claim), "h": share(claim, "h"), **_value(claim)},
    "alpha_k": lambda claim: {**_sensitive(claim), "alpha": share(claim, "alpha"), **_k(claim), **_value(claim)},
    "t_closeness": _closeness,
    "lkc": lambda claim: {
        **_sensitive(claim),
        "l": count(claim, "l", least=1),
        **_k(claim),
        "c": share(claim, "c"),
        **_value(claim),
    },
    "k_map": lambda claim: {**_k(claim), **_population(claim)},
    "bcf_anonymity": _several("growing"),
    "joint_k_anonymity": _several("same"),
}


def _records(claim: Form) -> object:
    return count(claim, "achieved", least=1)


def _figures(*keys: str) -> Callable[[Form], object]:
    """Figures by their settings' names; groups are counted in whole numbers."""

    def reached(claim: Form) -> object:
        told = field(claim, "achieved", dict)
        return {key: count(told, key, least=1) if key == "k" else figure(told, key) for key in keys}

    return reached


def _diverse(claim: Form) -> object:
    if claim.get("kind") == "distinct" or (claim.get("kind") == "items" and "c" not in claim):
        return {"l": count(field(claim, "achieved", dict), "l", least=2)}
    return _figures("c" if "c" in claim else "l")(claim)


REACHED: dict[str, Callable[[Form], object]] = {
    "k_anonymity": _records,
    "l_diversity": _diverse,
    "confidence_bound": _figures("h"),
    "alpha_k": _figures("alpha", "k"),
    "t_closeness": _figures("t"),
    "lkc": _figures("k", "c"),
    "k_map": _figures("k"),
    "bcf_anonymity": _records,
    "joint_k_anonymity": _records,
}
