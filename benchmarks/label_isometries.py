"""Could labels be exchanged in secret as numbers are turned, with every path in their tree as long as before?

    python -m benchmarks.label_isometries

004 asks in its outlook for transformations of confidential categories. A permutation of a tree's leaves that keeps the
path between every two of them can only exchange parts of the same shape: a tree follows from the paths between its
leaves (Buneman 1971), so whatever keeps those keeps the tree. Where all leaves lie equally deep these parts are
subtrees under one label, which `exchanges` counts; else a tree may also look the same from another node than its root.
`kept_paths` is the definition.

The attack knows how often each label occurs among other people of the same kind, and nothing else: among labels that
could have been exchanged it takes the most frequent for the most frequent.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import permutations
from math import factorial, prod

import numpy as np

import sfumato as sf
from sfumato.data.taxonomy.taxonomy import Taxonomy
from sfumato.randomness import Seeded

TRIALS = 20
Shape = tuple["Shape", ...]


def path(tree: Taxonomy, one: str, two: str) -> int:
    """How many edges lie between two labels."""
    first, second = (one, *tree.ancestors(one)), (two, *tree.ancestors(two))
    shared = len(set(first) & set(second))
    return len(first) + len(second) - 2 * shared


def kept_paths(tree: Taxonomy) -> Iterator[tuple[str, ...]]:
    """Every permutation of the leaves that keeps the path between every two: by trying all of them."""
    leaves = tree.leaves
    apart = [[path(tree, one, two) for two in leaves] for one in leaves]
    for order in permutations(range(len(leaves))):
        if all(apart[order[a]][order[b]] == apart[a][b] for a in range(len(order)) for b in range(a)):
            yield tuple(leaves[at] for at in order)


def shape(tree: Taxonomy, label: str) -> Shape:
    """What a subtree looks like without its names."""
    return tuple(sorted(shape(tree, child) for child in tree.children(label)))


def exchanges(tree: Taxonomy, label: str | None = None) -> int:
    """How many ways there are to exchange subtrees of one shape under one label, and below."""
    below = tree.children(tree.root if label is None else label)
    alike = Counter(shape(tree, child) for child in below)
    return prod(factorial(count) for count in alike.values()) * prod(exchanges(tree, child) for child in below)


def drawn(tree: Taxonomy, label: str, rng: np.random.Generator) -> tuple[str, ...]:
    """The leaves below a label, subtrees of one shape exchanged at random."""
    below = tree.children(label)
    if not below:
        return (label,)
    order = list(below)
    for kind in {shape(tree, child) for child in below}:
        at = [place for place, child in enumerate(below) if shape(tree, child) == kind]
        for place, taken in zip(at, rng.permutation(at), strict=True):
            order[place] = below[taken]
    return tuple(leaf for child in order for leaf in drawn(tree, child, rng))


def guessed(
    tree: Taxonomy, one: str, two: str, shown: Mapping[str, int], known: Mapping[str, int]
) -> Iterator[tuple[str, str]]:
    """(shown label, the label it is taken for) of the subtree `one`, which is taken for `two` of the same shape: parts
    of them of one shape are matched by how often they occur, in the released table and among the known people."""
    if not tree.children(one):
        yield one, two
        return
    for kind in {shape(tree, child) for child in tree.children(one)}:
        mine, theirs = _ranked(tree, one, kind, shown), _ranked(tree, two, kind, known)
        for part, taken_for in zip(mine, theirs, strict=True):
            yield from guessed(tree, part, taken_for, shown, known)


def _ranked(tree: Taxonomy, label: str, kind: Shape, table: Mapping[str, int]) -> list[str]:
    """Subtrees of one shape below a label, the rarest first."""
    alike = [child for child in tree.children(label) if shape(tree, child) == kind]
    return sorted(alike, key=lambda child: _held(tree, child, table))


def _held(tree: Taxonomy, label: str, table: Mapping[str, int]) -> int:
    return sum(table.get(leaf, 0) for leaf in tree.leaves_of(label))


def undone(tree: Taxonomy, values: Sequence[str]) -> float:
    """The share of records whose label the attack tells, where half of the people are released and half are known."""
    found = []
    for trial in range(TRIALS):
        rng = Seeded(trial).generator()
        order = rng.permutation(len(values))
        released, known = ([values[at] for at in half] for half in np.array_split(order, 2))
        key = dict(zip(tree.leaves, drawn(tree, tree.root, rng), strict=True))
        shown = Counter(key[value] for value in released)
        taken = dict(guessed(tree, tree.root, tree.root, shown, Counter(known)))
        found.append(np.mean([taken[key[value]] == value for value in released]))
    return float(np.mean(found))


def main() -> None:
    """The taxonomies of the bundled census table."""
    adult = sf.datasets.load("adult", complete=True)
    print("| attribute | leaves | ways to exchange and keep every path | told right by frequencies alone |")
    print("|---|---|---|---|")
    for name in adult.schema:
        tree = getattr(adult.schema[name], "taxonomy", None)
        if tree is not None:
            values = [str(value) for value in adult.table.column(name).to_pylist()]
            told = undone(tree, values)
            print(f"| {name} | {len(tree.leaves)} | {exchanges(tree):,} | {100 * told:.1f} % |")


if __name__ == "__main__":
    main()
