"""The earth mover's distance between two distributions, after Li, Li and Venkatasubramanian, "t-closeness", 2007."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sfumato.privacy.verify.fields import field, mapping, whole
from sfumato.privacy.verify.lookalikes import look
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


def read_tree(form: object, values: Sequence[object]) -> Tree:
    """A tree whose leaves are these values, each once and no other; columns are in the values' order.

    A leaf is a text. A label is `{"height": 2, "below": [...]}`: how high it stands above its deepest leaf. It has no
    name: a distance needs none. It joins at least two parts, and is one step above the higher of them: a label with one
    below it, or a height that a branch made where nobody is, would make distances smaller. Where all have one value,
    that stands alone below the root.
    """
    columns = {value: column for column, value in enumerate(values) if isinstance(value, str)}
    leaves: list[str] = []
    root = _node(form, columns=columns, leaves=leaves)
    if len(columns) != len(values) or sorted(leaves) != sorted(columns):
        raise CheckError("the leaves of the claim's tree are not the values of the sensitive column, each once")
    if len({look(leaf) for leaf in leaves}) < len(leaves):
        raise CheckError("leaves of the claim's tree look alike: a value has one place in it")
    if not root.below:
        raise CheckError("the claim's tree has no root above its leaves")
    return Tree(root)


def _node(form: object, *, columns: dict[str, int], leaves: list[str]) -> Node:
    if isinstance(form, str):
        leaves.append(form)
        return Node(0, (), columns.get(form))
    label = mapping(form, "tree")
    below = [_node(part, columns=columns, leaves=leaves) for part in field(label, "below", list)]
    height = whole(label, "height")
    if height != 1 + max((node.height for node in below), default=-1) or (len(below) < 2 and len(columns) > 1):
        raise CheckError("a label of the claim's tree joins no two parts, or stands not one step above the higher")
    return Node(height, tuple(below), None)
