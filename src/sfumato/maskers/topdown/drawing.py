"""The printed form of a recoding: the cut drawn on the tree."""

from __future__ import annotations

from sfumato.data.cut import MISSING
from sfumato.data.taxonomy import Taxonomy
from sfumato.errors import visible
from sfumato.maskers.topdown.recoding import Discretize, Generalize, Rule

SHOWN, HIDDEN = "●", "○"


def draw(rule: Rule) -> str:
    """Lines of text, indented by two: `●` marks what is shown, `○` what is above it, `·` what is hidden below.

    >>> tree = Taxonomy.from_tree({"ANY": {"Low": ["a", "b"], "High": ["c", "d"]}})
    >>> print(draw(Generalize(tree, ("Low", "c", "d"))))
      ○ ANY
        ● Low  (a, b)
        ○ High
          ● c
          ● d
    """
    if isinstance(rule, Generalize):
        return "\n".join(map(visible, _tree(rule.taxonomy, set(rule.cut), rule.taxonomy.root, 1, None in rule.cut)))
    if isinstance(rule, Discretize):
        return "  " + " | ".join(MISSING if label is None else visible(label) for label in rule.shown)
    shown = ", ".join(MISSING if label is None else visible(label) for label in rule.disclosed) or "nothing"
    return f"  {SHOWN} {shown}" + ("" if rule.complete else "   all others: *")


def _tree(tree: Taxonomy, cut: set[str | None], label: str, depth: int, missing: bool) -> list[str]:
    indent = "  " * depth
    if label in cut:
        below = () if tree.is_leaf(label) else tree.leaves_of(label)
        return [f"{indent}{SHOWN} {label}" + (f"  ({_few(below)})" if below else "")]
    lines = [f"{indent}{HIDDEN} {label}"]
    for child in tree.children(label):
        lines += _tree(tree, cut, child, depth + 1, False)
    return [*lines, f"{indent}  {SHOWN} {MISSING}"] if missing else lines


def _few(labels: tuple[str, ...], most: int = 6) -> str:
    more = f", and {len(labels) - most} more" if len(labels) > most else ""
    return ", ".join(labels[:most]) + more
