"""A taxonomy with the cut drawn on it: what is shown stands out, what is above it is hollow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sfumato.data.taxonomy.taxonomy import Taxonomy
from sfumato.maskers.recoding.rules import Generalize
from sfumato.release.report.markup import Html, join, paragraph, tag, text
from sfumato.release.report.material import MISSING, Frequency

MOST = 250
"""Nodes that are drawn; of larger cuts the list of values tells the rest."""
FEW = 6


def tree(rule: Generalize, found: Sequence[Frequency], *, below: bool) -> Html:
    """The tree down to the cut, with how many records show each value; `below` names what is hidden under it."""
    counts = {one.label: one.count for one in found}
    left = [MOST]
    root = _node(rule.taxonomy, rule.taxonomy.root, frozenset(rule.cut), counts, below=below, left=left)
    lines = [root]
    if None in rule.cut and MISSING in counts:
        lines.append(tag("li", _shown(MISSING, counts[MISSING])))
    cropped = [paragraph(f"Only the first {MOST} nodes are drawn.", "note")] if left[0] < 0 else []
    return join([tag("ul", *lines, class_="tree"), *cropped])


def _node(
    of: Taxonomy, label: str, cut: frozenset[str | None], counts: Mapping[str, int], *, below: bool, left: list[int]
) -> Html:
    left[0] -= 1
    if left[0] < 0:
        return text("")
    if label in cut:
        hidden = [] if of.is_leaf(label) else [_hidden(of.leaves_of(label), below)]
        return tag("li", _shown(label, counts.get(label, 0)), *hidden)
    children = [_node(of, child, cut, counts, below=below, left=left) for child in of.children(label)]
    # A record can still show a label above the cut: lifted ones show the root.
    lifted = [_count(counts[label])] if label in counts else []
    return tag("li", tag("span", text(label), class_="above"), *lifted, tag("ul", *children))


def _shown(label: str, count: int) -> Html:
    return join([tag("span", text(label), class_="shown"), _count(count)])


def _count(count: int) -> Html:
    return tag("span", text(f"{count:,}"), class_="count")


def _hidden(leaves: Sequence[str], named: bool) -> Html:
    more = f" and {len(leaves) - FEW} more" if len(leaves) > FEW else ""
    words = f" ({', '.join(leaves[:FEW])}{more})" if named else f" ({len(leaves)} leaves below)"
    return tag("span", text(words), class_="count")
