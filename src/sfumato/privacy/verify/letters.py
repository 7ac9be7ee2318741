"""Texts of a stranger, shown to people: nothing in them steers a terminal, a page or the order of its letters.

Pages that are compared byte by byte are made with this, so it asks no table of Unicode that differs between versions
of Python: the characters are written out. Labels that no reader can tell apart count as one value (`look`): a group of
`hiv`, `HIV ` and `hiv` with a letter of another alphabet holds one disease.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from unicodedata import category, normalize

# First and last code points of what is hidden: control characters, marks that format or turn the direction of writing,
# fillers and joiners that draw nothing, line and paragraph separators, halves of characters, private and no characters.
HIDDEN = (
    (0x0, 0x1F),
    (0x7F, 0x9F),
    (0xAD, 0xAD),
    (0x34F, 0x34F),
    (0x600, 0x605),
    (0x61C, 0x61C),
    (0x6DD, 0x6DD),
    (0x70F, 0x70F),
    (0x890, 0x891),
    (0x8E2, 0x8E2),
    (0x115F, 0x1160),
    (0x17B4, 0x17B5),
    (0x180B, 0x180F),
    (0x200B, 0x200F),
    (0x2028, 0x202E),
    (0x2060, 0x206F),
    (0x2800, 0x2800),
    (0x3164, 0x3164),
    (0xD800, 0xF8FF),
    (0xFDD0, 0xFDEF),
    (0xFE00, 0xFE0F),
    (0xFEFF, 0xFEFF),
    (0xFFA0, 0xFFA0),
    (0xFFF0, 0xFFFB),
    (0xFFFE, 0xFFFF),
    (0x110BD, 0x110BD),
    (0x110CD, 0x110CD),
    (0x13430, 0x1343F),
    (0x1BCA0, 0x1BCA3),
    (0x1D173, 0x1D17A),
    (0x1FFFE, 0x1FFFF),
    (0x2FFFE, 0x2FFFF),
    (0x3FFFE, 0x10FFFF),
)
_ONE = re.compile("[" + "".join(rf"\U{first:08x}-\U{last:08x}" for first, last in HIDDEN) + "]")
LONGEST_NAME = 200  # characters of a column's name


def hides(text: str) -> bool:
    """Whether a text holds characters that are not seen, or that change how others are."""
    return _ONE.search(text) is not None


def visible(text: str, *, most: int | None = None) -> str:
    """The text with every hidden character written out, as in a Python string; from `most` characters on it is cut.

    >>> visible("age\x1b[2J\u202e"), visible("a" * 10, most=4)
    ('age\\\\x1b[2J\\\\u202e', 'aaa…')
    """
    cut = text if most is None or len(text) <= most else text[: most - 1] + "…"
    return _ONE.sub(lambda found: _written_out(ord(found[0])), cut)


def _written_out(code: int) -> str:
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def why_no_name(name: str) -> str | None:
    """What is wrong with the name of a column, in words; None where nothing is."""
    if not name.strip():
        return "has no name"
    if len(name) > LONGEST_NAME:
        return f"has a name of more than {LONGEST_NAME} characters"
    return "has hidden characters in its name" if hides(name) else None


def look_of_name(name: str) -> str:
    """What a name looks like: names that differ in this only by their code are one to a reader.

    >>> look_of_name("\uff21ge ") == look_of_name("Age")
    True
    """
    return " ".join(unicodedata.normalize("NFKC", name).split())


def quoted(name: str) -> str:
    """A name as it stands in a sentence: in quotation marks that it cannot end, so that it speaks for nobody.

    >>> print(quoted("age"), quoted('a "b" c'))
    "age" "a \\"b\\" c"
    """
    return '"' + re.sub(r'(["\\])', r"\\\1", visible(name)) + '"'


def listed(words: Iterable[str]) -> str:
    """Names in a sentence, one after the other."""
    return ", ".join(quoted(word) for word in words)


TWINS = (
    # each Latin letter, then the small letters that have its shape or whose capitals have its capital's shape
    *("aаαɑ", "bвβ", "cс", "dԁ", "eеε", "gɡ", "hнһη", "iіιı", "jј", "kкκ", "lӏℓ", "mмμ", "nп", "oоο", "pрρ", "qԛ"),
    *("rг", "sѕ", "tтτ", "uυ", "vѵν", "wԝω", "xхχ", "yуγ", "zζ"),
    # signs that are drawn alike
    *("-‐‑‒–—―−⁃", "'’‘ʼ′`´", '"“”″'),
)
DRAWN_ALIKE = {ord(twin): group[0] for group in TWINS for twin in group[1:]}
UNSEEN = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]")
SPACES = re.compile(r"\s+")


def look(text: str) -> str:
    """What is left of a text when everything is taken away that a reader does not see.

    >>> look(" H\u0406V\u200d") == look("hiv"), look("flu") == look("flux")
    (True, False)
    """
    before = None
    while text != before:
        before = text
        text = UNSEEN.sub("", text)
        text = "".join(sign for sign in text if sign.isspace() or category(sign) not in ("Cf", "Cc"))
        text = normalize("NFKC", text)
        text = normalize("NFKC", text.casefold())
        text = SPACES.sub(" ", text.translate(DRAWN_ALIKE)).strip()
    return text
