"""How sensitive values are spread over groups, counted from the file: every figure that a claim may be about.

A group are the records that show the same on some columns. A missing value is a value, on either side. How far two
spreads are apart depends on the values: all alike, in an order, or in a tree.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from sfumato.events import checkpoint
from sfumato.privacy.verify.fields import field, mapping, whole
from sfumato.privacy.verify.letters import look
from sfumato.privacy.verify.tallies import is_text, tallied
from sfumato.privacy.verify.verdict import CheckError

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

COUNT, FIGURE, OVERALL = "\0count", "\0figure", "\0overall"  # no column has these names
CELLS = 2**22  # of a matrix of groups and values that is held at once


@dataclass(frozen=True)
class Frequent:
    """Of one group: the records with its most frequent value, and those with the l-th most frequent or a rarer one."""

    most: int
    rest: int


@dataclass(frozen=True, eq=False)
class Spread:
    """How many records of each group have each sensitive value: a row for each pair that occurs."""

    counts: pl.DataFrame
    on: tuple[str, ...]
    sensitive: str

    @cached_property
    def values(self) -> list[object]:
        """Every sensitive value of the table; None for missing."""
        return self.counts[self.sensitive].unique(maintain_order=True).to_list()

    def knowing(self, some: tuple[str, ...]) -> Spread:
        """The same for whoever knows some of the columns: groups are put together."""
        import polars as pl

        return Spread(self.counts.group_by([*some, self.sensitive]).agg(pl.col(COUNT).sum()), some, self.sensitive)

    def smallest(self) -> int:
        """How many records the smallest group has."""
        import polars as pl

        return int(self._figures(pl.col(COUNT).sum()).min())

    def fewest_values(self) -> int:
        """How many different values the group with the fewest has."""
        import polars as pl

        return int(self._figures(pl.len()).min())

    def least_entropy(self) -> float:
        """The entropy of the values of the group that has least, in natural units."""
        share = self._share()
        return float(self._figures(-(share * share.log()).sum()).min())

    def largest_share(self, values: Sequence[object] | None) -> float:
        """The largest share of a group that has one of these values; or any one value, where none is named."""
        import polars as pl

        held = pl.col(COUNT).max()
        if values is not None:
            column = pl.Series(self.sensitive, values, dtype=self.counts.schema[self.sensitive], strict=False)
            held = pl.when(pl.col(self.sensitive).is_in(column.implode())).then(pl.col(COUNT)).otherwise(0).sum()
        pairs = self._figures(pl.struct(held.alias("held"), pl.col(COUNT).sum().alias("all"))).unique()
        return max(float(pair["held"] / pair["all"]) for pair in pairs.to_list())  # polars' own division is not exact

    def frequent(self, l: int) -> list[Frequent]:  # noqa: E741 - the name that everybody knows it by
        """The different pairs of counts that (c, l)-diversity is about."""
        import polars as pl

        falling = pl.col(COUNT).cast(pl.Int64).sort(descending=True)
        both = pl.struct(falling.first().alias("most"), falling.slice(l - 1).sum().alias("rest"))
        return [Frequent(**pair) for pair in self._figures(both).unique().to_list()]

    def furthest(self) -> float:
        """The largest distance of a group from the table where any two values are equally far: half of sum |p - q|.

        What p has too much is what it has too little elsewhere, so the values that a group has are enough.
        """
        import polars as pl

        overall = pl.col(COUNT).sum().over(self.sensitive) / pl.col(COUNT).sum()
        counts = self.counts.with_columns(overall.alias(OVERALL))
        more = (self._share() - pl.col(OVERALL)).clip(lower_bound=0).sum()
        return float(_per_group(counts, self.on, more).max())

    def furthest_by(self, places: Sequence[int], distance: Callable[[Floats], Floats]) -> float:
        """The largest distance of a group from the table. `places` has a column for each of `values`;
        `distance` takes (groups, columns) of differences of shares."""
        import numpy as np
        import polars as pl

        at = pl.Series(places, dtype=pl.Int64)
        column = self.counts[self.sensitive].replace_strict(pl.Series(self.values), at, return_dtype=pl.Int64)
        groups = self.counts.with_columns(column.alias(FIGURE)).group_by(self.on).agg(FIGURE, COUNT)
        width = max(places) + 1
        overall = np.bincount(column.to_numpy(), weights=self.counts[COUNT].to_numpy(), minlength=width)
        furthest, step = 0.0, max(1, CELLS // width)
        for start in range(0, groups.height, step):
            checkpoint()
            part = groups[start : start + step].with_row_index("\0row").explode(FIGURE, COUNT)
            cells = np.zeros((min(step, groups.height - start), width))
            np.add.at(cells, (part["\0row"].to_numpy(), part[FIGURE].to_numpy()), part[COUNT].to_numpy())
            excess = cells / cells.sum(axis=1, keepdims=True) - overall / overall.sum()
            furthest = max(furthest, float(distance(excess).max()))
        return furthest

    def _share(self) -> pl.Expr:
        import polars as pl

        return pl.col(COUNT) / pl.col(COUNT).sum()

    def _figures(self, figure: pl.Expr) -> Any:
        return _per_group(self.counts, self.on, figure)


def _per_group(counts: pl.DataFrame, on: Sequence[str], figure: pl.Expr) -> Any:
    """A figure of each group, as a series."""
    return counts.group_by(on).agg(figure.alias(FIGURE))[FIGURE]


def spread_of(table: pl.DataFrame, on: tuple[str, ...], sensitive: str, *, exact: bool = False) -> Spread:
    """Count a table; its columns are there, and the sensitive one is none of the others.

    Labels that look alike are one value, unless it is asked to tell them apart exactly.
    """
    import polars as pl

    gone = [name for name in (*on, sensitive) if name not in table.columns]
    if gone:
        raise CheckError(f"the table has no column {gone[0]!r}")
    if sensitive in on:
        raise CheckError(f"{sensitive!r} is sensitive, and among the columns that the attacker knows")
    if table.schema[sensitive].is_nested():
        raise CheckError(f"{sensitive!r} holds sets: this claim is about single values")
    if not table.height:
        raise CheckError("the table has no rows")
    counts = tallied(table, [*on, sensitive], COUNT)
    if is_text(counts.schema[sensitive]):
        counts = counts.with_columns(pl.col(sensitive).cast(pl.String))
    return Spread(counts if exact else _by_look(counts, on, sensitive), on, sensitive)


def _by_look(counts: pl.DataFrame, on: tuple[str, ...], sensitive: str) -> pl.DataFrame:
    """The same counts, with labels that no reader can tell apart counted as one."""
    import polars as pl

    if counts.schema[sensitive] != pl.String:
        return counts
    labels = counts[sensitive].unique()
    seen = pl.Series([None if label is None else look(label) for label in labels.to_list()], dtype=pl.String)
    column = counts[sensitive].replace_strict(labels, seen, return_dtype=pl.String)
    return counts.with_columns(column.alias(sensitive)).group_by([*on, sensitive]).agg(pl.col(COUNT).sum())


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
