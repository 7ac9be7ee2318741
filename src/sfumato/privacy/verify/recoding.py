"""recoding.json, read anew: which values each masked column may show, and what a raw value becomes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from sfumato.privacy.verify.fields import Form, field, mapping
from sfumato.privacy.verify.intervals import discretize
from sfumato.privacy.verify.rule import SUPPRESSED, Rule, has_no_place, only_keys
from sfumato.privacy.verify.trees import nodes
from sfumato.privacy.verify.verdict import CheckError

TreeOf = Callable[[str], Form]


@dataclass(frozen=True)
class Recoding:
    """The rule of every masked column. Where `lifted`, some records show the top of all of them."""

    rules: Mapping[str, Rule]
    lifted: bool

    @property
    def trees(self) -> tuple[str, ...]:
        """The columns that come with a taxonomy."""
        return tuple(name for name, rule in self.rules.items() if rule.kind == "generalize")


def read_recoding(form: Form, tree_of: TreeOf) -> Recoding:
    """All rules, checked. `tree_of` reads a column's taxonomy."""
    only_keys(form, {"attributes", "lifted"}, "recoding.json")
    attributes: dict[str, object] = field(form, "attributes", dict)
    rules = {name: _rule(name, mapping(part, name), tree_of) for name, part in attributes.items()}
    return Recoding(rules, field(form, "lifted", bool) if "lifted" in form else False)


def part_of(released: Recoding, whole: Recoding) -> Recoding:
    """The whole recoding, if the released one can be a part of it: of the same columns, with the same tops."""
    here, there = ({name: (rule.kind, rule.top) for name, rule in one.rules.items()} for one in (released, whole))
    if here != there or released.lifted != whole.lifted:
        raise CheckError("the holder's folder keeps the recoding of another release")
    return whole


def _rule(name: str, form: Form, tree_of: TreeOf) -> Rule:
    kind = form.get("kind")
    try:
        if kind == "generalize":
            return generalize(form, tree_of(name))
        if kind == "suppress":
            return suppress(form)
        if kind == "discretize":
            return discretize(form)
    except CheckError as error:
        raise CheckError(f"{name}: {error}") from None
    raise CheckError(f"{name}: a recoding generalizes, suppresses or discretizes")


def generalize(form: Form, tree: Form) -> Rule:
    """A cut through a taxonomy: on the way from the root to each leaf stands exactly one shown label.

    >>> rule = generalize({"kind": "generalize", "cut": ["North", "c"]}, {"ANY": {"North": ["a", "b"], "c": None}})
    >>> rule.becomes("a"), rule.becomes("c"), rule.top
    ('North', 'c', 'ANY')
    """
    only_keys(form, {"kind", "cut"}, "the rule")
    cut = _labels(form, "cut")
    if len(tree) != 1:
        raise CheckError("a taxonomy has one root")
    root = next(iter(tree))
    shown_by: dict[str, str] = {}
    labels: list[str] = []
    _descend(tree, (), cut, shown_by=shown_by, labels=labels)
    if len(set(labels)) != len(labels):
        raise CheckError("a label stands twice in the taxonomy")
    if not cut - {None} <= set(labels):
        raise CheckError("the cut shows labels that are not in the taxonomy")

    def becomes(value: object) -> str | None:
        if value is None:
            return None if None in cut else root if root in cut else has_no_place()
        return shown_by[str(value)] if str(value) in shown_by else has_no_place()

    return Rule("generalize", cut, root, becomes)


def over(form: Form, tree: Form) -> Rule:
    """A cut over the tree of a later release, which has its labels; leaves that it does not cover have no place."""
    cut = _labels(form, "cut")
    root = next(iter(tree))
    shown_by: dict[str, str] = {}
    above: dict[str, str | None] = {root: root if root in cut else None}
    for node in nodes(tree):
        for label in node.below:
            above[label] = above[node.label] or (label if label in cut else None)
        shown = above[node.label]
        if not node.below and shown is not None:
            shown_by[node.label] = shown
    if not cut - {None} <= set(above):
        raise CheckError("the last release's tree has not all labels that an earlier one shows")

    def becomes(value: object) -> str | None:
        if value is None:
            return None if None in cut else root if root in cut else has_no_place()
        return shown_by[str(value)] if str(value) in shown_by else has_no_place()

    return Rule("generalize", cut, root, becomes)


def _descend(
    below: object,
    above: tuple[str, ...],
    cut: frozenset[str | None],
    *,
    shown_by: dict[str, str],
    labels: list[str],
) -> None:
    """Walk down a tree, collecting its labels, and for each leaf the shown label above it."""
    branches = dict.fromkeys(_texts(below)) if isinstance(below, list) else below
    if not isinstance(branches, dict):
        raise CheckError("below a label of a taxonomy stand labels")
    for label, under in branches.items():
        labels.append(label)
        way = (*above, label)
        if under:
            _descend(under, way, cut, shown_by=shown_by, labels=labels)
            continue
        shown = [step for step in way if step in cut]
        if len(shown) != 1:
            raise CheckError("the cut is none: some leaf is covered by no shown label, or by two")
        shown_by[label] = shown[0]


def _texts(entries: list[object]) -> list[str]:
    texts = [entry for entry in entries if isinstance(entry, str)]
    if len(set(texts)) != len(entries):
        raise CheckError("a list in a taxonomy holds different labels")
    return texts


def suppress(form: Form) -> Rule:
    """Disclosed labels are shown, all others are `*`, if there are others.

    >>> rule = suppress({"kind": "suppress", "disclosed": ["Mexico"]})
    >>> rule.becomes("Mexico"), rule.becomes("Peru"), rule.becomes(None)
    ('Mexico', '*', '*')
    """
    only_keys(form, {"kind", "disclosed", "complete"}, "the rule")
    disclosed = _labels(form, "disclosed")
    complete = field(form, "complete", bool) if "complete" in form else False

    def becomes(value: object) -> str | None:
        label = None if value is None else str(value)
        if label in disclosed:
            return label
        return has_no_place() if complete else SUPPRESSED

    shown = disclosed if complete else disclosed | {SUPPRESSED}
    return Rule("suppress", shown, SUPPRESSED, becomes)


def _labels(form: Form, key: str) -> frozenset[str | None]:
    """A list of different labels; null stands for missing."""
    entries: list[object] = field(form, key, list)
    labels = frozenset(entry for entry in entries if entry is None or isinstance(entry, str))
    if len(labels) != len(entries):
        raise CheckError(f"{key!r} is a list of different labels")
    return labels
