"""Trees in lines of text: `●` marks what is shown, `○` what is above it."""

from __future__ import annotations

from sfumato.data.axis import MISSING
from sfumato.data.taxonomy.taxonomy import Taxonomy

SHOWN, HIDDEN = "●", "○"


def drawn_tree(tree: Taxonomy, cut: set[str | None], label: str, depth: int, missing: bool) -> list[str]:
    """A label with what hangs below it, down to the cut; what is hidden below a label stands behind it."""
    indent = "  " * depth
    if label in cut:
        below = () if tree.is_leaf(label) else tree.leaves_of(label)
        return [f"{indent}{SHOWN} {label}" + (f"  ({_few(below)})" if below else "")]
    lines = [f"{indent}{HIDDEN} {label}"]
    for child in tree.children(label):
        lines += drawn_tree(tree, cut, child, depth + 1, False)
    return [*lines, f"{indent}  {SHOWN} {MISSING}"] if missing else lines


def _few(labels: tuple[str, ...], most: int = 6) -> str:
    more = f", and {len(labels) - most} more" if len(labels) > most else ""
    return ", ".join(labels[:most]) + more
