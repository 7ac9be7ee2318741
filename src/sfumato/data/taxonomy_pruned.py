"""A taxonomy pruned to some of its labels: what a release tells of a tree."""

from __future__ import annotations

from collections.abc import Collection

from sfumato.data.taxonomy import Taxonomy

LONGEST = 1000
"""Characters of a label that no row shows; a longer one gives its place to the labels below it."""


def pruned(tree: Taxonomy, kept: Collection[str], *, root: bool = True) -> Taxonomy:
    """The kept labels and those that join several of them; children in the order of letters.

    A label that is neither kept nor joins two others says nothing of any value that is kept. `root`: the root stays,
    whatever hangs below it.

    >>> tree = Taxonomy.from_tree({"ANY": {"North": {"b": ["b1", "b2"], "a": ["a1"]}, "South": ["c", "d"]}})
    >>> pruned(tree, {"b", "a1", "c"}).to_tree()
    {'ANY': {'North': ['a1', 'b'], 'c': None}}
    >>> pruned(tree, {"b1", "b2"}, root=False).to_tree()
    {'b': ['b1', 'b2']}
    """
    below: list[list[_Branch]] = [[] for _ in tree.labels]
    tops: list[_Branch] = []
    for node in range(len(tree.labels) - 1, -1, -1):
        label, under = tree.labels[node], below[node]
        joins = len(under) > 1 and len(label) <= LONGEST
        stays = label in kept or joins or (root and node == 0)
        found = [_Branch(label, sorted(under, key=_letters))] if stays else under
        (below[tree.parents[node]] if node else tops).extend(found)
    return _tree(tops if len(tops) == 1 else [_Branch(tree.root, sorted(tops, key=_letters))])


class _Branch:
    """A label with what hangs below it."""

    def __init__(self, label: str, below: list[_Branch]) -> None:
        self.label, self.below = label, below


def _letters(branch: _Branch) -> str:
    return branch.label


def _tree(tops: list[_Branch]) -> Taxonomy:
    labels: list[str] = []
    parents: list[int] = []
    waiting = [(top, -1) for top in tops]
    while waiting:
        branch, parent = waiting.pop()
        labels.append(branch.label)
        parents.append(parent)
        waiting.extend((under, len(labels) - 1) for under in reversed(branch.below))
    return Taxonomy(tuple(labels), tuple(parents))
