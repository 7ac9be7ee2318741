"""The tree of intervals that a search has grown for a number, read off its history: to be edited, and given again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sfumato.data.axis import MISSING
from sfumato.data.taxonomy.taxonomy import Taxonomy
from sfumato.errors import ReleaseError
from sfumato.maskers.recoding.rules import SUPPRESSED


def grown_tree(history: Mapping[str, Any], attribute: str) -> Taxonomy:
    """What the rounds of a search made of one number.

    >>> rounds = [{"attribute": "age", "value": "[17-90]", "children": ["[17-37)", "[37-90]"]}]
    >>> grown_tree({"rounds": rounds}, "age").to_tree()
    {'[17-90]': ['[17-37)', '[37-90]']}
    """
    own = [one for one in history.get("rounds", ()) if one["attribute"] == attribute and one["value"] != SUPPRESSED]
    if not own or not all(one["value"].startswith("[") for one in own):
        raise ReleaseError(
            attribute,
            "intervals were grown for it by top-down refinement",
            given="a history without any",
            remedy="name a number that the release shows in several intervals",
        )
    above: dict[str, str | None] = {own[0]["value"]: None}
    for one in own:
        above |= {child: one["value"] for child in one["children"] if child != MISSING}
    return Taxonomy.from_parents(above)
