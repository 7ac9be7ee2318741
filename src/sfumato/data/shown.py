"""How what is shown of a value is written where it stands for several: `*`, `{a, b}`, `{a} or missing`, `[17-37)`.

An interval can be read without doubt: its ends stand with a minus sign between them where neither has one of its own,
else with two dots: `[17-37)`, `[-5..3)`, `[1897-01-01..1947-01-01)`. An end that is not told is `*`: `[*..37)`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

SUPPRESSED = "*"
"""Anything."""
OR_MISSING = " or missing"
"""Behind an interval, and behind the braces of a set: some of the records that show it miss the value."""
BETWEEN, DOTS = "-", ".."
"""What stands between the ends of an interval."""


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
    in the same words.

    >>> set_text(["a", "b"], missing=False), set_text(["a"], missing=True), set_text(["a or missing"], missing=False)
    ('{a, b}', '{a} or missing', 'a or missing')
    """
    if len(labels) == 1 and not missing:
        return labels[0]
    return "{" + ", ".join(labels) + "}" + (OR_MISSING if missing else "")


def set_pieces(text: str) -> tuple[str, ...]:
    """What a set lists, between its commas, and an empty text last if some values are missing; none of what is no set.

    Up to format 4 of certificates the empty one was written.

    >>> set_pieces("{a, b}"), set_pieces("{a} or missing"), set_pieces("{a, }")
    (('a', 'b'), ('a', ''), ('a', ''))
    >>> set_pieces("a or missing"), set_pieces("{a}")
    ((), ())
    """
    inner = text.removesuffix(OR_MISSING)
    if not (inner.startswith("{") and inner.endswith("}")):
        return ()
    found = (*inner[1:-1].split(", "), *([""] if inner != text else []))
    return found if len(found) > 1 else ()


def listed(text: str, known: Collection[str]) -> tuple[str, ...]:
    """What a set lists where all labels with commas in them are known: pieces that are one of these belong together.

    >>> listed("{cook, head, nurse} or missing", {"cook, head"}), listed("{a, b}", ())
    (('cook, head', 'nurse', ''), ('a', 'b'))
    """
    pieces, found, at = set_pieces(text), [], 0
    while at < len(pieces):
        ends = (end for end in range(len(pieces), at + 1, -1) if ", ".join(pieces[at:end]) in known) if known else ()
        end = next(iter(ends), at + 1)
        found.append(", ".join(pieces[at:end]))
        at = end
    return tuple(found)


def holds_missing(text: str) -> bool:
    """Whether a shown text says that some of its records miss the value.

    >>> [holds_missing(text) for text in ("[17-37) or missing", "{a} or missing", "{a, }", "{a, b}", "a or missing")]
    [True, True, True, False, False]
    """
    return text.endswith(tuple(f"{end}{OR_MISSING}" for end in ")]}")) or set_pieces(text)[-1:] == ("",)
