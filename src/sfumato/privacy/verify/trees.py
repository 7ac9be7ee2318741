"""Trees of labels as JSON has them: nested mappings, a list where only leaves stand below, null for nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from sfumato.privacy.verify.fields import Form
from sfumato.privacy.verify.verdict import CheckError


@dataclass(frozen=True)
class Node:
    """A label of a tree, how deep it stands, and the labels just below it."""

    label: str
    depth: int
    below: tuple[str, ...]


def nodes(tree: Form) -> Iterator[Node]:
    """Every label, parents first. A tree has one form: a list where only leaves stand below, null for nothing."""
    if len(tree) != 1:
        raise CheckError("a taxonomy has one root")
    waiting: list[tuple[str, object, int]] = [(label, under, 0) for label, under in tree.items()]
    while waiting:
        label, under, depth = waiting.pop()
        branches: Mapping[object, object] = {}
        if isinstance(under, dict):
            branches = under
        elif isinstance(under, list):
            branches = dict.fromkeys(under) if all(isinstance(name, str) for name in under) else {}
        below = tuple(name for name in branches if isinstance(name, str))
        inner = isinstance(under, dict) and any(part is not None for part in under.values())
        leaves = isinstance(under, list) and len(below) == len(under) > 0
        if under is not None and not inner and not leaves:
            raise CheckError("its taxonomy is not written as trees are: a mapping, a list of leaves, or null")
        waiting += [(name, branches[name], depth + 1) for name in below]
        yield Node(label, depth, below)


def labels_below(tree: Form, above: str) -> set[str]:
    """The labels of a tree that stand below one of them."""
    found: set[str] = set()
    for node in nodes(tree):
        if node.label == above or node.label in found:
            found.update(node.below)
    return found


def agree(one: Form, other: Form) -> bool:
    """Whether of the labels that two trees have in common the same stand above each other in both."""
    both = [_above(tree) for tree in (one, other)]
    common = set(both[0]) & set(both[1])
    return all(both[0][label] & common == both[1][label] & common for label in common)


def _above(tree: Form) -> dict[str, frozenset[str]]:
    """Of each label those above it."""
    found: dict[str, frozenset[str]] = {label: frozenset() for label in tree}
    for node in nodes(tree):
        for label in node.below:
            found[label] = found[node.label] | {node.label}
    return found
