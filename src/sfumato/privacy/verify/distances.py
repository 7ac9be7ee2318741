"""The earth mover's distance between two distributions, after Li, Li and Venkatasubramanian, "t-closeness", 2007."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sfumato.privacy.verify.fields import Form
from sfumato.privacy.verify.verdict import CheckError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


def ordered(excess: Floats) -> Floats:
    """Their section 4.2: what is cumulated too much or too little moves to the next rank, 1 / (m - 1) away."""
    import numpy as np

    moved = np.abs(np.cumsum(excess, axis=1)).sum(axis=1)
    return np.asarray(moved / max(1, excess.shape[1] - 1), dtype=np.float64)


@dataclass(frozen=True)
class Node:
    """A label of a tree: how far it stands above its deepest leaf, what hangs below, a leaf's column (None: nobody)."""

    height: int
    below: tuple[Node, ...]
    column: int | None


@dataclass(frozen=True, eq=False)
class Moved:
    """What is too much, or too little, under a label (groups,), and what moving below it has cost (groups,)."""

    extra: Floats
    cost: Floats


@dataclass(frozen=True)
class Tree:
    """The tree of a hierarchical distance."""

    root: Node

    def distance(self, excess: Floats) -> Floats:
        """Their section 4.3: what the children of a label settle among themselves moves its height, as a share."""
        return self._move(self.root, excess).cost

    def _move(self, node: Node, excess: Floats) -> Moved:
        import numpy as np

        if not node.below:
            extra = np.zeros(len(excess)) if node.column is None else excess[:, node.column]
            return Moved(extra, np.zeros(len(excess)))
        parts = [self._move(child, excess) for child in node.below]
        extras = np.stack([part.extra for part in parts])
        settled = np.minimum(np.clip(extras, 0, None).sum(axis=0), np.clip(-extras, 0, None).sum(axis=0))
        cost = np.sum([part.cost for part in parts], axis=0) + settled * (node.height / self.root.height)
        return Moved(extras.sum(axis=0), cost)


def read_tree(form: Form, values: Sequence[object]) -> Tree:
    """A taxonomy that has each of these values at a leaf, and no label twice; columns are in the values' order."""
    if len(form) != 1:
        raise CheckError("a taxonomy has one root")
    texts = [value if isinstance(value, str) else None for value in values]
    columns = {text: column for column, text in enumerate(texts) if text is not None}
    leaves: list[str] = []
    labels: set[str] = set()
    root = _node(*next(iter(form.items())), columns=columns, leaves=leaves, labels=labels)
    if not set(texts) <= set(leaves):
        raise CheckError("the sensitive column has values that are no leaves of the claim's tree")
    return Tree(root)


def _node(label: str, under: object, *, columns: dict[str, int], leaves: list[str], labels: set[str]) -> Node:
    if label in labels:
        raise CheckError("a label stands twice in the claim's tree")
    labels.add(label)
    branches = _branches(under)
    if not branches:
        leaves.append(label)
        return Node(0, (), columns.get(label))
    below = [_node(name, part, columns=columns, leaves=leaves, labels=labels) for name, part in branches]
    return Node(1 + max(node.height for node in below), tuple(below), None)


def _branches(under: object) -> list[tuple[str, object]]:
    """What hangs below a label: nothing, a list of leaves, or a mapping."""
    if isinstance(under, dict):
        return list(under.items())
    entries = under if isinstance(under, list) else [] if under is None else [under]
    texts: list[tuple[str, object]] = [(entry, None) for entry in entries if isinstance(entry, str)]
    if len(texts) != len(entries) or isinstance(under, str):
        raise CheckError("below a label of a taxonomy stand labels")
    return texts
