"""How what is shown was written when a release was made: it changed with the formats of certificates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

OR_MISSING = " or missing"  # behind an interval or a set, where some of the records that show it miss the value


@dataclass(frozen=True)
class Spelling:
    """The way of one format; as it stands, that of the latest.

    `dotted`, from format 4 on: two dots stand between the ends of an interval where a minus sign would leave a doubt.
    `said_behind`, from format 5 on: a set says `or missing` behind its braces; before, an empty label stood last.
    `whole_units`, from format 5 on: intervals of dates end where a calendar unit begins, all of them before their upper
    end. Before, those that reach to an end of the range had it as declared, and the last one was closed.
    """

    dotted: bool = True
    said_behind: bool = True
    whole_units: bool = True

    def set_text(self, names: Sequence[str], *, gone: bool) -> str:
        """Labels as they are shown together, with missing values among them if some are `gone`.

        >>> Spelling().set_text(["a"], gone=True), Spelling(said_behind=False).set_text(["a"], gone=True)
        ('{a} or missing', '{a, }')
        """
        if len(names) == 1 and not gone:
            return names[0]
        if self.said_behind:
            return "{" + ", ".join(names) + "}" + (OR_MISSING if gone else "")
        return "{" + ", ".join([*names, *([""] if gone else [])]) + "}"


NOW = Spelling()


def pieces(text: str) -> list[str]:
    """What stands in the braces of a set of any format, an empty text for missing values; nothing of what is none.

    >>> pieces("{a, b} or missing"), pieces("{a, }"), pieces("a or missing")
    (['a', 'b', ''], ['a', ''], [])
    """
    inner = text.removesuffix(OR_MISSING)
    if inner[:1] + inner[-1:] != "{}":
        return []
    return inner[1:-1].split(", ") + ([""] if inner != text else [])
