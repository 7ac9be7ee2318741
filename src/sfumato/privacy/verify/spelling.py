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
    `quoted`, from format 6 on: a label that could not be told apart in a set stands there in quotation marks, its own
    doubled; and one that looks like a set stands in braces.
    """

    dotted: bool = True
    said_behind: bool = True
    whole_units: bool = True
    quoted: bool = True

    def set_text(self, names: Sequence[str], *, gone: bool) -> str:
        """Labels as they are shown together, with missing values among them if some are `gone`.

        >>> Spelling().set_text(["a"], gone=True), Spelling(said_behind=False).set_text(["a"], gone=True)
        ('{a} or missing', '{a, }')
        >>> Spelling().set_text(["a", "b, c"], gone=False), Spelling(quoted=False).set_text(["a", "b, c"], gone=False)
        ('{a, "b, c"}', '{a, b, c}')
        """
        if len(names) == 1 and not gone and not (self.quoted and _within(names[0]) is not None):
            return names[0]
        written = [_marked(name) for name in names] if self.quoted else [*names]
        if self.said_behind:
            return "{" + ", ".join(written) + "}" + (OR_MISSING if gone else "")
        return "{" + ", ".join([*written, *([""] if gone else [])]) + "}"

    def pieces(self, text: str) -> list[str]:
        """What stands in the braces of a set, an empty text for missing values; nothing of what is none.

        >>> Spelling().pieces("{a, b} or missing"), Spelling(said_behind=False, quoted=False).pieces("{a, }")
        (['a', 'b', ''], ['a', ''])
        >>> Spelling().pieces('{a, "b, c"}'), Spelling(quoted=False).pieces("{a, b, c}"), Spelling().pieces("a")
        (['a', 'b, c'], ['a', 'b', 'c'], [])
        """
        inner = _within(text)
        if inner is None:
            return []
        found = _parted(inner) if self.quoted else inner.split(", ")
        return found + ([""] if found and text.endswith(OR_MISSING) else [])


NOW = Spelling()
MARKS = ',"{}\n\r'  # a label with one of these in it stands in quotation marks


def _within(text: str) -> str | None:
    """What stands in the braces of a set; None if there are none around it."""
    bare = text.removesuffix(OR_MISSING)
    return bare[1:-1] if len(bare) > 1 and bare[0] + bare[-1] == "{}" else None


def _marked(name: str) -> str:
    """A label among others."""
    if name.strip() == name != "" and not any(mark in name for mark in MARKS):
        return name
    return '"' + name.replace('"', '""') + '"'


def _parted(inner: str) -> list[str]:
    """Labels between commas, but for those in quotation marks; nothing where one is written in no such way."""
    found, rest = list[str](), inner.split('"')  # every other part stands inside; an empty one between two is a mark
    if len(rest) % 2 == 0:
        return []
    words = [""]
    for at, part in enumerate(rest):
        if at % 2:
            words[-1] += '"' + part + '"'
        else:
            first, *more = part.split(", ")
            words[-1] += first
            words += more
    for word in words:
        name = word[1:-1].replace('""', '"') if word[:1] == '"' else word
        if _marked(name) != word:
            return []
        found.append(name)
    return found
