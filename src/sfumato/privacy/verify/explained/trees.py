"""Trees of labels as a release has them: a leaf is a text, all else is `{"label": ..., "below": [...]}`.

A label that no row shows and that nothing tells of has no name, null: it says which labels belong together, no more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from urllib.parse import quote

from sfumato.privacy.verify.fields import Form, exact_keys, mapping
from sfumato.privacy.verify.verdict import CheckError

NAMELESS = "\0"  # stands for the top of a tree whose name is not told: no row shows it
TREE = "tree"  # in partition.json the kind of a column that shows labels of a taxonomy


def tree_columns(form: Form) -> list[str]:
    """The columns of partition.json that come with a taxonomy."""
    attributes = mapping(form.get("attributes"), "attributes")
    return [name for name, axis in attributes.items() if mapping(axis, name).get("kind") == TREE]


def tree_file(name: str) -> str:
    """The file of a column's taxonomy; what a file name cannot hold is written as in an address."""
    return f"taxonomies/{quote(name, safe=' ')}.json"


@dataclass(frozen=True)
class Node:
    """A label of a tree, None where it has no name; the number of the node above it, -1 at the root; those below."""

    label: str | None
    above: int
    below: tuple[int, ...]


def nodes(tree: Form) -> tuple[Node, ...]:
    """Every node, parents first; each name stands once.

    >>> [node.label for node in nodes({"label": None, "below": ["c", {"label": "North", "below": ["a", "b"]}]})]
    [None, 'c', 'North', 'a', 'b']
    """
    labels: list[str | None] = []
    above: list[int] = []
    below: list[list[int]] = []
    waiting: list[tuple[object, int]] = [(tree, -1)]
    while waiting:
        part, parent = waiting.pop()
        at = len(labels)
        label, under = _read(part, root=parent < 0)
        if parent >= 0:
            below[parent].append(at)
        labels.append(label)
        above.append(parent)
        below.append([])
        waiting += [(one, at) for one in reversed(under)]
    if labels[:2] == [None, None] and len(below[0]) == 1:
        raise CheckError("two labels of a taxonomy without a name stand above the same others")
    names = [label for label in labels if label is not None]
    if len(set(names)) < len(names):
        raise CheckError("a label stands twice in the taxonomy")
    return tuple(Node(*node) for node in zip(labels, above, map(tuple, below), strict=True))


def _read(part: object, *, root: bool) -> tuple[str | None, Sequence[object]]:
    """What one node is called, and what stands below it. There is one form: what has nothing below it is a text."""
    if isinstance(part, str) and not root:
        return part, ()
    form = mapping(part, "a taxonomy")
    exact_keys(form, ["label", "below"], "a taxonomy")
    label, below = form["label"], form["below"]
    if not isinstance(below, list) or not (label is None or isinstance(label, str)):
        raise CheckError("a label of a taxonomy is a text, or null, and below it stands a list")
    if not below and not (root and label is not None):
        raise CheckError("a label of a taxonomy that has none below it is written as a text")
    if label is None and len(below) < 2 and not root:
        raise CheckError("a label of a taxonomy without a name joins at least two others")
    return label, below


def in_order(tree: Sequence[Node]) -> bool:
    """Whether labels stand in the order of their letters; one without a name stands where its first label would."""
    first: list[str] = ["" if node.label is None else node.label for node in tree]
    for at in range(len(tree) - 1, -1, -1):
        below = [first[child] for child in tree[at].below]
        if any(one >= other for one, other in pairwise(below)):
            return False
        if tree[at].label is None and below:
            first[at] = below[0]
    return True


def labels_below(tree: Form, above: str) -> set[str]:
    """The labels of a tree that stand below one of them."""
    return {label for label, those in _above(nodes(tree)).items() if above in those}


def agree(one: Form, other: Form) -> bool:
    """Whether of the labels that two trees have in common the same stand above each other in both."""
    both = [_above(nodes(tree)) for tree in (one, other)]
    common = set(both[0]) & set(both[1])
    return all(both[0][label] & common == both[1][label] & common for label in common)


def _above(tree: Sequence[Node]) -> dict[str, frozenset[str]]:
    """Of each label those above it."""
    below: list[frozenset[str]] = []  # of each node what stands above its children, who share it
    found: dict[str, frozenset[str]] = {}
    for node in tree:
        above = below[node.above] if node.above >= 0 else frozenset()
        if node.label is not None:
            found[node.label] = above
        below.append(above if node.label is None or not node.below else above | {node.label})
    return found
