"""The tree of cuts as it is told: regions that hold records, in one order, and the labels that it takes to show them.

A region without records would tell where nobody is; the order of nodes, and a label that is cut again before anybody
shows it, would be room for anything.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from sfumato.maskers.mondrian.mask import Branch, Leaf, Node


def told(nodes: Mapping[int, Node], empty: Collection[int], trees: Collection[str]) -> tuple[Node, ...]:
    """The nodes below the first, each before those below it, without empty ones.

    `trees`: the attributes with a taxonomy. Along these, parts without records are left out, and so is a cut into one
    part whose label no region shows.
    """
    filled = {number: _filled(node, empty, trees) for number, node in nodes.items() if number not in empty}
    silent = _silent(filled, trees)
    found: list[Node] = []
    waiting: list[tuple[int, int | None, int]] = [(0, None, 0)]
    while waiting:
        number, parent, part = waiting.pop()
        node = filled[number]
        while isinstance(node, Branch) and number in silent:
            number = next(child for child in node.below if child is not None)
            node = filled[number]
        if parent is not None:
            found[parent] = _with_child(found[parent], part, len(found))
        at = len(found)
        found.append(node)
        if isinstance(node, Branch):
            below = [(child, at, place) for place, child in enumerate(node.below) if child is not None]
            waiting += reversed(below)
    return tuple(found)


def _filled(node: Node, empty: Collection[int], trees: Collection[str]) -> Node:
    """A node whose parts stand in the order of their labels; parts without records are None, or gone from a tree."""
    if isinstance(node, Leaf):
        return node
    below = [None if child in empty else child for child in node.below]
    if node.test["cut"] != "labels":
        return replace(node, below=tuple(below))
    pairs = [
        (part, child)
        for part, child in zip(node.test["labels"], below, strict=True)
        if child is not None or node.attribute not in trees
    ]
    pairs.sort(key=lambda pair: [(label is None, label or "") for label in pair[0]])
    return replace(
        node,
        test={"cut": "labels", "labels": [list(part) for part, _ in pairs]},
        below=tuple(child for _, child in pairs),
    )


def _silent(nodes: Mapping[int, Node], trees: Collection[str]) -> set[int]:
    """The cuts into one part whose label no region shows; children have larger numbers than their parents."""
    found: set[int] = set()
    shown: dict[int, set[tuple[str, str | None]]] = {}
    for number in sorted(nodes, reverse=True):
        node = nodes[number]
        if isinstance(node, Leaf):
            shown[number] = {(name, node.shown[name]) for name in trees}
            continue
        below = sorted((shown.pop(child) for child in node.below if child is not None), key=len)
        shown[number] = _together(below)
        one = node.attribute in trees and len(node.below) == 1
        if one and (node.attribute, node.test["labels"][0][0]) not in shown[number]:
            found.add(number)
    return found


def _together(sets: list[set[tuple[str, str | None]]]) -> set[tuple[str, str | None]]:
    """All of them in the last, which is the largest: of a tall tree the same is not copied at every cut."""
    sets[-1].update(*sets[:-1])
    return sets[-1]


def _with_child(node: Node, part: int, child: int) -> Node:
    if not isinstance(node, Branch):
        raise TypeError("only a cut has parts")
    return replace(node, below=tuple(child if at == part else old for at, old in enumerate(node.below)))
