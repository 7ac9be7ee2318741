"""A taxonomy: a given tree of labels over the values of a Category or an ItemSet."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from sfumato.data.taxonomy.parsing import MOST_LEVELS, Layout
from sfumato.errors import TaxonomyError, did_you_mean

Tree = Mapping[str, "Tree | list[str] | None"] | list[str] | None


@dataclass(frozen=True)
class Taxonomy:
    """An immutable tree of unique labels; leaves are values of the table.

    Nodes stand in depth-first order, so every node's leaves are neighbours: `leaf_range(label)` is
    a range of positions in `leaves`. `draft` marks a proposal that nobody has looked at yet.

    >>> tree = Taxonomy.from_tree({"ANY": {"Secondary": ["9th", "10th"], "University": ["Bachelors"]}})
    >>> tree.root, tree.leaves
    ('ANY', ('9th', '10th', 'Bachelors'))
    >>> tree.children("Secondary"), tree.leaf_range("Secondary"), tree.levels
    (('9th', '10th'), (0, 2), 3)
    """

    labels: tuple[str, ...]
    parents: tuple[int, ...] = ()
    draft: bool = field(default=False, compare=False)

    def __post_init__(self) -> None:
        if not isinstance(self.labels, tuple) or len(self.labels) != len(self.parents):
            raise TaxonomyError(
                "taxonomy",
                "it is made of a tree, of the parents of labels, or of a file",
                given=type(self.labels).__name__,
                remedy='write sf.Taxonomy.from_tree({"ANY": {"North": ["a", "b"]}}), or from_parents or from_file',
            )
        _check_shape(self.labels, self.parents)

    @classmethod
    def from_tree(cls, tree: Tree, *, draft: bool = False) -> Taxonomy:
        """Nested mappings and lists under one root: {"ANY": {"North": ["a", "b"], "South": None}}."""
        if not isinstance(tree, Mapping) or len(tree) != 1:
            raise TaxonomyError(
                "taxonomy",
                "a tree has exactly one root",
                given=f"{len(tree) if isinstance(tree, Mapping) else 'no mapping of'} roots",
                remedy='put everything under one label, such as {"ANY": {...}}',
            )
        labels: list[str] = []
        parents: list[int] = []
        stack: list[tuple[str, Tree, int]] = [(_text(label), below, -1) for label, below in tree.items()]
        while stack:
            label, below, parent = stack.pop()
            labels.append(label)
            parents.append(parent)
            at = len(labels) - 1
            stack.extend(reversed([(child, under, at) for child, under in _branches(label, below)]))
        return cls(tuple(labels), tuple(parents), draft)

    @classmethod
    def from_parents(cls, parent_of: Mapping[str, str | None], *, draft: bool = False) -> Taxonomy:
        """A mapping of every label to its parent; the root's parent is None.

        >>> Taxonomy.from_parents({"ANY": None, "a": "ANY", "b": "ANY"}).leaves
        ('a', 'b')
        """
        below: dict[str | None, list[str]] = {}
        for label, parent in parent_of.items():
            if parent is not None and parent not in parent_of:
                raise TaxonomyError(
                    repr(label),
                    "every parent is a label of the tree",
                    given=f"parent {parent!r}",
                    remedy=did_you_mean(parent, parent_of),
                )
            below.setdefault(parent, []).append(label)
        roots = below.get(None, [])
        if len(roots) != 1:
            raise TaxonomyError(
                "taxonomy",
                "a tree has exactly one root",
                given=f"{len(roots)} roots",
                remedy="give exactly one label no parent",
            )
        labels: list[str] = []
        parents: list[int] = []
        stack: list[tuple[str, int]] = [(roots[0], -1)]
        while stack:
            label, parent_at = stack.pop()
            labels.append(label)
            parents.append(parent_at)
            stack.extend((child, len(labels) - 1) for child in reversed(below.get(label, [])))
        if len(labels) != len(parent_of):
            lost = sorted(set(parent_of) - set(labels))
            raise TaxonomyError(
                "taxonomy",
                "every label hangs from the root; these hang from each other in a cycle",
                given=", ".join(lost[:5]),
                remedy="give one of them a parent outside the cycle",
            )
        return cls(tuple(labels), tuple(parents), draft)

    @classmethod
    def flat(cls, values: Iterable[str], *, root: str = "ANY") -> Taxonomy:
        """One root over all values."""
        return cls.from_tree({root: list(values)})

    @classmethod
    def from_file(cls, path: str | Path) -> Taxonomy:
        """The taxonomy in a YAML, JSON or CSV file; `sfumato.data.taxonomy.files` tells the layouts."""
        from sfumato.data.taxonomy.files import read_parents

        read = read_parents(path)
        return cls.from_parents(read.parent_of, draft=read.draft)

    def to_file(self, path: str | Path, *, layout: Layout | None = None) -> None:
        """Write it as YAML, JSON or an ARX hierarchy, as the file's suffix says unless a layout is given."""
        from sfumato.data.taxonomy.files import write_tree

        write_tree(self, path, layout=layout)

    @cached_property
    def _at(self) -> dict[str, int]:
        return {label: node for node, label in enumerate(self.labels)}

    @cached_property
    def _below(self) -> tuple[tuple[int, ...], ...]:
        below: list[list[int]] = [[] for _ in self.labels]
        for node, parent in enumerate(self.parents):
            if parent >= 0:
                below[parent].append(node)
        return tuple(tuple(children) for children in below)

    @cached_property
    def _leaf_ranges(self) -> tuple[tuple[int, int], ...]:
        ranges = [(0, 0)] * len(self.labels)
        seen = sum(1 for below in self._below if not below)
        for node in reversed(range(len(self.labels))):
            below = self._below[node]
            if below:
                ranges[node] = (ranges[below[0]][0], ranges[below[-1]][1])
            else:
                seen -= 1
                ranges[node] = (seen, seen + 1)
        return tuple(ranges)

    @property
    def root(self) -> str:
        """The label that covers everything."""
        return self.labels[0]

    @cached_property
    def leaves(self) -> tuple[str, ...]:
        """The values of the table, in tree order."""
        return tuple(label for label, below in zip(self.labels, self._below, strict=True) if not below)

    @cached_property
    def levels(self) -> int:
        """Labels on the longest path from the root to a leaf, both counted."""
        depth = [1] * len(self.labels)
        for node, parent in enumerate(self.parents):
            if parent >= 0:
                depth[node] = depth[parent] + 1
        return max(depth)

    def __contains__(self, label: object) -> bool:
        return label in self._at

    def __iter__(self) -> Iterator[str]:
        return iter(self.labels)

    def __len__(self) -> int:
        return len(self.labels)

    def _node(self, label: str) -> int:
        try:
            return self._at[label]
        except KeyError:
            raise TaxonomyError(
                "taxonomy",
                "this is no label of the tree",
                given=repr(label),
                remedy=did_you_mean(label, self.labels),
            ) from None

    def children(self, label: str) -> tuple[str, ...]:
        """The labels just below; none for a leaf."""
        return tuple(self.labels[node] for node in self._below[self._node(label)])

    def parent(self, label: str) -> str | None:
        """The label just above; None for the root."""
        above = self.parents[self._node(label)]
        return None if above < 0 else self.labels[above]

    def ancestors(self, label: str) -> tuple[str, ...]:
        """The labels above, nearest first.

        >>> Taxonomy.from_tree({"ANY": {"a": ["b"]}}).ancestors("b")
        ('a', 'ANY')
        """
        found = []
        above = self.parents[self._node(label)]
        while above >= 0:
            found.append(self.labels[above])
            above = self.parents[above]
        return tuple(found)

    def common(self, labels: Collection[str]) -> str:
        """The lowest label that stands above all of these; of one alone, the label itself.

        >>> Taxonomy.from_tree({"ANY": {"a": {"b": ["c", "d"], "e": None}}}).common(["c", "e"])
        'a'
        """
        ranges = [self.leaf_range(label) for label in labels]
        first, end = min(low for low, _ in ranges), max(high for _, high in ranges)
        one = next(iter(labels))
        for label in (one, *self.ancestors(one)):
            low, high = self.leaf_range(label)
            if low <= first and end <= high:
                return label
        raise AssertionError("the root stands above all labels")

    def is_leaf(self, label: str) -> bool:
        """Whether nothing hangs below."""
        return not self._below[self._node(label)]

    def leaf_range(self, label: str) -> tuple[int, int]:
        """Positions in `leaves` that hang below: the first, and one past the last."""
        return self._leaf_ranges[self._node(label)]

    def leaves_of(self, label: str) -> tuple[str, ...]:
        """The leaves below a label; a leaf is its own."""
        first, end = self.leaf_range(label)
        return self.leaves[first:end]

    def to_tree(self) -> dict[str, object]:
        """Nested mappings, lists where only leaves hang below: what `from_tree` reads.

        >>> Taxonomy.from_tree({"ANY": {"a": ["b", "c"], "d": None}}).to_tree()
        {'ANY': {'a': ['b', 'c'], 'd': None}}
        """

        def below(node: int) -> object:
            under = self._below[node]
            if not under:
                return None
            if all(not self._below[child] for child in under):
                return [self.labels[child] for child in under]
            return {self.labels[child]: below(child) for child in under}

        return {self.root: below(0)}


def _branches(label: str, below: object) -> list[tuple[str, Tree]]:
    if below is None:
        return []
    if isinstance(below, Mapping):
        return [(_text(child), under) for child, under in below.items()]
    if isinstance(below, list | tuple):
        return [pair for child in below for pair in _list_entry(label, child)]
    raise TaxonomyError(
        repr(label),
        "what hangs below a label is a mapping, a list of labels, or nothing",
        given=type(below).__name__,
        remedy="write a list, even for one leaf: [leaf]",
    )


def _list_entry(label: str, child: object) -> list[tuple[str, Tree]]:
    if isinstance(child, Mapping):
        return [(_text(name), under) for name, under in child.items()]
    if isinstance(child, list | tuple | set) or child is None:
        raise TaxonomyError(
            repr(label),
            "a list below a label holds labels",
            given=type(child).__name__,
            remedy="write labels as text",
        )
    return [(_text(child), None)]


def _text(label: object) -> str:
    if isinstance(label, bool) or label is None:
        raise TaxonomyError(
            "taxonomy",
            "a label is a text, and YAML reads an unquoted no, yes, on, off or null as something else",
            given=f"{label} where a label should stand",
            remedy="write the label in quotes",
        )
    return str(label)


def _check_shape(labels: tuple[str, ...], parents: tuple[int, ...]) -> None:
    if not labels or parents[0] != -1 or any(not 0 <= above < node for node, above in enumerate(parents) if node):
        raise TaxonomyError(
            "taxonomy",
            "nodes stand in depth-first order below one root",
            given="another order",
            remedy="build it with Taxonomy.from_tree or Taxonomy.from_parents",
        )
    levels = [1] * len(labels)
    for node, above in enumerate(parents[1:], start=1):
        levels[node] = levels[above] + 1
    if max(levels) > MOST_LEVELS:
        raise TaxonomyError(
            "taxonomy",
            f"a tree has at most {MOST_LEVELS} levels, from its root to its deepest leaf",
            given=f"{max(levels):,}",
            remedy="leave out levels that show nothing new",
        )
    seen: set[str] = set()
    for label in labels:
        if label in seen:
            raise TaxonomyError(
                repr(label),
                "a label stands in a taxonomy once",
                given="it stands there twice",
                remedy="rename one of the two, for example by adding its parent's name",
            )
        seen.add(label)


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
        stays = label in kept or len(under) > 1 or (root and node == 0)
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
