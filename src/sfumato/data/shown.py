"""How what is shown of a value is written where one text stands for several: `*`, `{a, b}`, `[17-37) or missing`."""

from __future__ import annotations

from collections.abc import Sequence

SUPPRESSED = "*"
"""Anything."""
OR_MISSING = " or missing"
"""Behind an interval: some of the records that show it miss the number."""


def set_text(labels: Sequence[str], *, missing: bool) -> str:
    """One label as it is, several in braces; missing values among them are an empty one, the last.

    >>> set_text(["a", "b"], missing=False), set_text(["a"], missing=True)
    ('{a, b}', '{a, }')
    """
    every = [*labels, ""] if missing else list(labels)
    return every[0] if len(every) == 1 else "{" + ", ".join(every) + "}"


def holds_missing(text: str) -> bool:
    """Whether a shown text says that some of its records miss the value.

    >>> [holds_missing(text) for text in ("[17-37) or missing", "{a, }", "{a, b}")]
    [True, True, False]
    """
    return text.endswith((OR_MISSING, ", }"))
