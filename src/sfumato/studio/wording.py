"""How sets of labels are read: by the groups of their tree, where these make them up exactly. Files hold the sets."""

from __future__ import annotations

from collections.abc import Iterator

from sfumato.data.schema import Schema
from sfumato.data.shown import set_pieces, set_text
from sfumato.data.taxonomy.taxonomy import Taxonomy


def in_words(text: str, tree: Taxonomy | None) -> str:
    """What is shown, with groups of the tree in place of all of their labels.

    >>> tree = Taxonomy.from_tree({"*****": {"5370*": ["53703", "53706"], "90210": None}})
    >>> in_words("{53703, 53706}", tree), in_words("{53703, 90210}", tree)
    ('5370*', '{53703, 90210}')
    """
    labels = set_pieces(text)
    if tree is None or not labels:
        return text
    missing = labels[-1] == ""
    held = set(labels[:-1] if missing else labels)
    if not held <= set(tree.leaves):  # one that the tree does not have
        return text
    return set_text(list(_covering(tree, tree.root, held)), missing=missing)


def _covering(tree: Taxonomy, label: str, held: set[str]) -> Iterator[str]:
    """The fewest labels of a tree below which exactly these leaves are."""
    below = set(tree.leaves_of(label))
    if below <= held:
        yield label
    elif below & held:
        for child in tree.children(label):
            yield from _covering(tree, child, held)


def tree_of(schema: Schema, name: str) -> Taxonomy | None:
    """The tree of a column's labels, if it has one."""
    found = getattr(schema[name], "taxonomy", None) if name in schema else None
    return found if isinstance(found, Taxonomy) else None
