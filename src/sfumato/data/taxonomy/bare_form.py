"""The form in which a release tells of a tree: labels that nothing else in it would bear out have no name."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import count
from typing import Any, NamedTuple

from sfumato.data.taxonomy.taxonomy import Taxonomy

NAMELESS_ROOT = "*"


def to_form(tree: Taxonomy, named: Collection[str] | None = None) -> dict[str, Any]:
    """A leaf as its text, all else with a label and what is below it. All of a tree, unless some labels are named.

    Others than the named have no name then, for nothing else in the release would bear it out. Children stand in the
    order of letters, one without a name where the first label below it would.

    >>> tree = Taxonomy.from_tree({"ANY": {"North": ["b", "a"], "c": None}})
    >>> to_form(tree)
    {'label': 'ANY', 'below': [{'label': 'North', 'below': ['b', 'a']}, 'c']}
    >>> to_form(tree, {"a", "b", "c"})
    {'label': None, 'below': [{'label': None, 'below': ['a', 'b']}, 'c']}
    """
    below: list[list[_Part]] = [[] for _ in tree.labels]
    for node in range(len(tree.labels) - 1, 0, -1):
        below[tree.parents[node]].append(_part(tree.labels[node], below[node], named))
    root = _part(tree.root, below[0], named).form
    if isinstance(root, str):
        return {"label": root, "below": []}
    first = root["below"][0]
    alone = root["label"] is None and len(root["below"]) == 1 and isinstance(first, dict) and first["label"] is None
    return dict(first if alone else root)  # two labels without a name would say what one says


class _Part(NamedTuple):
    """What is told of a label and those below it, and by which label it is put in order."""

    first: str
    form: Any


def _part(label: str, backwards: Sequence[_Part], named: Collection[str] | None) -> _Part:
    if not backwards:
        return _Part(label, label)
    parts = list(reversed(backwards)) if named is None else sorted(backwards, key=lambda part: part.first)
    bare = named is not None and label not in named
    form = {"label": None if bare else label, "below": [part.form for part in parts]}
    return _Part(parts[0].first if bare else label, form)


def from_form(form: Mapping[str, Any]) -> Taxonomy:
    """The tree that a release tells of; labels without a name are called by a number, the root `*`.

    >>> from_form({"label": None, "below": [{"label": None, "below": ["a", "b"]}, "c"]}).to_tree()
    {'*': {'(1)': ['a', 'b'], 'c': None}}
    """
    labels: list[str | None] = []
    parents: list[int] = []
    waiting: list[tuple[Any, int]] = [(form, -1)]
    while waiting:
        part, parent = waiting.pop()
        below = [] if isinstance(part, str) else part["below"]
        labels.append(part if isinstance(part, str) else part["label"])
        parents.append(parent)
        at = len(labels) - 1
        waiting.extend((under, at) for under in reversed(below))
    taken = {label for label in labels if label is not None}
    free = (name for name in (f"({number})" for number in count(1)) if name not in taken)
    if labels[0] is None and NAMELESS_ROOT not in taken:
        labels[0] = NAMELESS_ROOT
    return Taxonomy(tuple(next(free) if label is None else label for label in labels), tuple(parents))
