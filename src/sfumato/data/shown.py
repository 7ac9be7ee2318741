"""How what is shown of a value is written where it stands for several: `*`, `{a, b}`, `{a} or missing`, `[17-37)`.

A set can be read without doubt, as a line of CSV with a blank behind each comma: a label that has a comma, a quotation
mark, a brace or a line end in it, that begins or ends with a blank, or that is empty, stands in quotation marks there,
and each of its own is doubled: `{a, "b, c"}`. This is so from format 6 of certificates on.

An interval can be read without doubt: its ends stand with a minus sign between them where neither has one of its own,
else with two dots: `[17-37)`, `[-5..3)`, `[1897-01-01..1947-01-01)`. An end that is not told is `*`: `[*..37)`.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Sequence

SUPPRESSED = "*"
"""Anything."""
OR_MISSING = " or missing"
"""Behind an interval, and behind the braces of a set: some of the records that show it miss the value."""
BETWEEN, DOTS = "-", ".."
"""What stands between the ends of an interval."""
LONGEST = 20
"""Pieces between commas that one label of an earlier format may have."""
_PLAIN = re.compile(r'[^\s,"{}](?:[^,"{}\r\n]*[^\s,"{}])?')
"""A label that is told apart in a set as it is."""
_PIECE = re.compile(r'(?:"((?:[^"]|"")*)"|([^",]+))(?:, |\Z)')
"""One label of a set, in quotation marks or as it is, to before the next one."""


def interval_text(low: str | None, high: str | None, *, closed: bool) -> str:
    """An interval by the texts of its ends, None for one that is not told.

    >>> interval_text("17", "37", closed=False), interval_text("-5", "3", closed=False)
    ('[17-37)', '[-5..3)')
    >>> interval_text("1897-01-01", "1947-01-01", closed=False), interval_text(None, "37", closed=False)
    ('[1897-01-01..1947-01-01)', '[*..37)')
    """
    ends = [SUPPRESSED if end is None else end for end in (low, high)]
    plain = not any(BETWEEN in end or end == SUPPRESSED for end in ends)
    return "[" + (BETWEEN if plain else DOTS).join(ends) + ("]" if closed else ")")


def interval_splits(text: str) -> Iterator[tuple[str, str]]:
    """In which ways the ends of an interval may be told apart; there is one, but for texts of earlier releases.

    Those put a minus sign between any two ends, and wrote an end that is not told as two dots.

    >>> list(interval_splits("[-5..3)")), list(interval_splits("[-5--1)"))
    ([('-5', '3')], [('', '5--1'), ('-5', '-1'), ('-5-', '1')])
    """
    text = text.removesuffix(OR_MISSING)
    if not (text.startswith("[") and text.endswith((")", "]"))):
        return
    inner = text[1:-1]
    if DOTS in inner.strip("."):
        low, _, high = inner.partition(DOTS)
        yield low, high
        return
    for at in (at for at, letter in enumerate(inner) if letter == BETWEEN):
        low, high = inner[:at], inner[at + 1 :]
        yield (SUPPRESSED if low == DOTS else low), (SUPPRESSED if high == DOTS else high)


def set_text(labels: Sequence[str], *, missing: bool) -> str:
    """One label as it is, several in braces. Where some values are missing one stands in braces, too: a label may end
    in the same words. So does a label that looks like a set.

    >>> set_text(["a", "b"], missing=False), set_text(["a"], missing=True), set_text(["a or missing"], missing=False)
    ('{a, b}', '{a} or missing', 'a or missing')
    >>> set_text(["a", "b, c"], missing=False), set_text(["b, c"], missing=False), set_text(["{b}"], missing=False)
    ('{a, "b, c"}', 'b, c', '{"{b}"}')
    """
    if len(labels) == 1 and not missing and not _in_braces(labels[0].removesuffix(OR_MISSING)):
        return labels[0]
    return braced(labels) + (OR_MISSING if missing else "")


def braced(labels: Sequence[str]) -> str:
    """Labels in braces, one alone as well.

    >>> braced(["a", 'b "c" d'])
    '{a, "b ""c"" d"}'
    """
    return "{" + ", ".join(map(among_others, labels)) + "}"


def among_others(label: str) -> str:
    """A label as it stands in a set."""
    return label if _PLAIN.fullmatch(label) else '"' + label.replace('"', '""') + '"'


def _in_braces(text: str) -> bool:
    return text.startswith("{") and text.endswith("}")


def set_pieces(text: str) -> tuple[str, ...]:
    """What a set lists, and an empty text last if some values are missing; none of what is no set.

    A text that is written in no way of today is parted at its commas: up to format 5 of certificates nothing stood in
    quotation marks, and up to format 4 the empty text of missing values was written.

    >>> set_pieces("{a, b}"), set_pieces("{a} or missing"), set_pieces("{a, }")
    (('a', 'b'), ('a', ''), ('a', ''))
    >>> set_pieces('{a, "b, c"}'), set_pieces("a or missing"), set_pieces("{a}")
    (('a', 'b, c'), (), ())
    """
    inner = text.removesuffix(OR_MISSING)
    if not _in_braces(inner):
        return ()
    gone = ("",) if inner != text else ()
    if '"' in inner and (quoted := _unquoted(inner[1:-1])) and set_text(quoted, missing=bool(gone)) == text:
        return (*quoted, *gone)
    found = (*inner[1:-1].split(", "), *gone)
    return found if len(found) > 1 else ()


def _unquoted(inner: str) -> tuple[str, ...]:
    """What stands between braces, label by label; nothing where some piece is neither quoted nor plain."""
    found, at = [], 0
    while at < len(inner):
        piece = _PIECE.match(inner, at)
        if piece is None:
            return ()
        found.append(piece[2] if piece[1] is None else piece[1].replace('""', '"'))
        at = piece.end()
    return tuple(found)


def set_members(label: str, known: Container[str]) -> tuple[str, ...]:
    """The labels of a shown set, an empty text for missing values; none of what is no set of known labels.

    >>> set_members("{a, b} or missing", {"a", "b"}), set_members("{a, b}", {"a"}), set_members("a", {"a"})
    (('a', 'b', ''), (), ())
    >>> set_members("{a, b, c}", {"a", "b, c"})  # as format 5 had it
    ('a', 'b, c')
    """
    found = set_pieces(label)
    if all(not member or member in known for member in found):
        return found
    joined = listed(label, known)
    return joined if all(not member or member in known for member in joined) else ()


def listed(text: str, known: Container[str]) -> tuple[str, ...]:
    """What a set of an earlier format lists, where labels with commas in them are known: pieces that are one of these
    belong together.

    >>> listed("{cook, head, nurse} or missing", {"cook, head"}), listed("{a, b}", ())
    (('cook, head', 'nurse', ''), ('a', 'b'))
    """
    pieces, found, at = set_pieces(text), list[str](), 0
    while at < len(pieces):
        ends = (end for end in range(min(len(pieces), at + LONGEST), at + 1, -1) if ", ".join(pieces[at:end]) in known)
        end = next(ends, at + 1)
        found.append(", ".join(pieces[at:end]))
        at = end
    return tuple(found)


def holds_missing(text: str) -> bool:
    """Whether a shown text says that some of its records miss the value.

    >>> [holds_missing(text) for text in ("[17-37) or missing", "{a} or missing", "{a, }", "{a, b}", "a or missing")]
    [True, True, True, False, False]
    """
    return text.endswith(tuple(f"{end}{OR_MISSING}" for end in ")]}")) or set_pieces(text)[-1:] == ("",)
