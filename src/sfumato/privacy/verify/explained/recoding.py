"""recoding.json, read anew: which values each masked column may show, and what a raw value becomes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from sfumato.privacy.verify.explained.trees import NAMELESS, Node, nodes
from sfumato.privacy.verify.fields import Form, field, mapping, only_keys
from sfumato.privacy.verify.intervals import SUPPRESSED, Rule, discretize, has_no_place
from sfumato.privacy.verify.maskers import SETS
from sfumato.privacy.verify.spelling import NOW, Spelling
from sfumato.privacy.verify.values import spellings
from sfumato.privacy.verify.verdict import CheckError

MARK = "\0"  # between the labels of a set; no label has it
SEPARATOR = 20  # the longest
TreeOf = Callable[[str], Form]


@dataclass(frozen=True)
class Recoding:
    """The rule of every masked column. Where `lifted`, some records show the top of all of them. `nested`: the columns
    of numbers that come with a tree of intervals, and those of sets, with a taxonomy of their items."""

    rules: Mapping[str, Rule]
    lifted: bool
    nested: tuple[str, ...] = ()

    @property
    def trees(self) -> tuple[str, ...]:
        """The columns that come with a taxonomy."""
        return tuple(name for name, rule in self.rules.items() if rule.kind == "generalize")


def read_recoding(form: Form, tree_of: TreeOf, *, spelling: Spelling = NOW) -> Recoding:
    """All rules, checked. `tree_of` reads a column's taxonomy; `spelling`: how they were written (`intervals`)."""
    only_keys(form, {"attributes", "lifted"}, "recoding.json")
    attributes: dict[str, object] = field(form, "attributes", dict)
    rules = {name: _rule(name, mapping(part, name), tree_of, spelling=spelling) for name, part in attributes.items()}
    forms = {name: mapping(part, name) for name, part in attributes.items()}
    nested = tuple(name for name, part in forms.items() if "tree" in part or part.get("kind") == SETS)
    return Recoding(rules, field(form, "lifted", bool) if "lifted" in form else False, nested)


def part_of(released: Recoding, whole: Recoding) -> Recoding:
    """The whole recoding, if the released one can be a part of it: of the same columns, with the tops that it names."""
    here, there = ({name: rule.kind for name, rule in one.rules.items()} for one in (released, whole))
    same = here == there and released.lifted == whole.lifted
    if not same or any(rule.top not in (NAMELESS, whole.rules[name].top) for name, rule in released.rules.items()):
        raise CheckError("the holder's folder keeps the recoding of another release")
    return whole


def _rule(name: str, form: Form, tree_of: TreeOf, *, spelling: Spelling) -> Rule:
    kind = form.get("kind")
    try:
        if kind == "generalize":
            return generalize(form, tree_of(name))
        if kind == "suppress":
            return suppress(form)
        if kind == SETS:
            return generalize_sets(form, tree_of(name))
        if kind == "discretize":
            return discretize(form, spelling=spelling)
    except CheckError as error:
        raise CheckError(f"{name}: {error}") from None
    raise CheckError(f"{name}: a recoding generalizes, suppresses or discretizes")


def generalize_sets(form: Form, tree: Form) -> Rule:
    """A cut through the taxonomy of items; a set becomes the labels of the cut that it has items under.

    >>> tree = {"label": "ANY", "below": [{"label": "North", "below": ["a", "b"]}, "c"]}
    >>> form = {"kind": "generalize_sets", "cut": ["North", "c"], "apart": True, "separator": ";"}
    >>> generalize_sets(form, tree).becomes(["c", "a", "b"]).split(MARK), generalize_sets(form, tree).becomes(None)
    (['North', 'c'], None)
    """
    only_keys(form, {"kind", "cut", "apart", "separator"}, "the rule")
    items = generalize({"kind": "generalize", "cut": form.get("cut")}, tree)
    apart, separator = field(form, "apart", bool), field(form, "separator", str)
    if None in items.shown or not 0 < len(separator) <= SEPARATOR or (not apart and items.shown != {items.top}):
        raise CheckError("a set shows labels of a cut, or everybody shows the root alone")

    def becomes(value: object) -> str | None:
        if not apart:
            return items.top
        if value is None:
            return None
        held = value if isinstance(value, list) else [item for item in str(value).split(separator) if item]
        return MARK.join(sorted({str(items.becomes(item)) for item in held}))

    return Rule(SETS, items.shown, items.top, becomes, separator)


def generalize(form: Form, tree: Form) -> Rule:
    """A cut through a taxonomy: on the way from the root to each leaf stands exactly one shown label.

    >>> tree = {"label": "ANY", "below": [{"label": "North", "below": ["a", "b"]}, "c"]}
    >>> rule = generalize({"kind": "generalize", "cut": ["North", "c"]}, tree)
    >>> rule.becomes("a"), rule.becomes("c"), rule.top
    ('North', 'c', 'ANY')
    """
    only_keys(form, {"kind", "cut"}, "the rule")
    cut = _labels(form, "cut")
    every = nodes(tree)
    if not cut - {None} <= {node.label for node in every}:
        raise CheckError("the cut shows labels that are not in the taxonomy")
    ways = _ways(every, cut)
    if any(not node.below and len(way) != 1 for node, way in zip(every, ways, strict=True)):
        raise CheckError("the cut is none: some leaf is covered by no shown label, or by two")
    return _cut_rule(cut, every, ways)


def over(form: Form, tree: Form) -> Rule:
    """A cut over the tree of a later release, which has its labels; leaves that it does not cover have no place."""
    cut = _labels(form, "cut")
    every = nodes(tree)
    if not cut - {None} <= {node.label for node in every}:
        raise CheckError("the last release's tree has not all labels that an earlier one shows")
    return _cut_rule(cut, every, _ways(every, cut))


def _ways(tree: Sequence[Node], cut: frozenset[str | None]) -> list[tuple[str, ...]]:
    """Of each node the shown labels on the way to it, itself included."""
    found: list[tuple[str, ...]] = []
    for node in tree:
        before = found[node.above] if node.above >= 0 else ()
        found.append((*before, node.label) if node.label is not None and node.label in cut else before)
    return found


def _cut_rule(cut: frozenset[str | None], tree: Sequence[Node], ways: Sequence[tuple[str, ...]]) -> Rule:
    pairs = zip(tree, ways, strict=True)
    shown_by = {node.label: way[0] for node, way in pairs if not node.below and way and node.label is not None}
    root = NAMELESS if tree[0].label is None else tree[0].label

    def becomes(value: object) -> str | None:
        if value is None:
            return None if None in cut else root if root in cut else has_no_place()
        told = next((text for text in spellings(value) if text in shown_by), None)
        return has_no_place() if told is None else shown_by[told]

    return Rule("generalize", cut, root, becomes)


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
        for label in spellings(value):
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
