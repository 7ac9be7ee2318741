"""What a use of the data may be for: a closed list of words, with the names of columns in them."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from sfumato.privacy.verify.verdict import CheckError
from sfumato.privacy.verify.wording import quoted

PLAIN = ("the number of records", "a split of the tree", "what to specialize", "counts of the parts")
OF_A_COLUMN = ("marginal of {}", "marginal of {} (how many)", "where to split {}", "combinations of {}")
_SPLITS = re.compile("([2-9]|[1-9][0-9]) splits of the tree")


def purposes(columns: Sequence[str]) -> frozenset[str]:
    """All that there are in a table with these columns, but for numbers of splits.

    >>> 'marginal of "age"' in purposes(["age"])
    True
    """
    return frozenset({*PLAIN, *(words.format(quoted(name)) for words in OF_A_COLUMN for name in columns)})


def known(purpose: str, among: Collection[str]) -> str:
    """The purpose, if it is one of these, or some splits of the tree."""
    if purpose in among or _SPLITS.fullmatch(purpose):
        return purpose
    raise CheckError("a use of the data is for something that is not known")
