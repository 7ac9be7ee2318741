"""Labels that look alike: what a reader cannot tell apart counts as one value.

`hiv`, `HIV`, `hiv ` and `hiv` with a Cyrillic letter or an invisible mark in it are different texts and the same word.
Counted as different values they would make a group diverse on paper alone. verify has its own code for the same rule.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

_CYRILLIC = str.maketrans("авеѕіјкмнорстухһԁӏѵԛԝгп", "abesijkmhopctyxhdlvqwrn")
_GREEK = str.maketrans("αβεζηικμνορτυχγω", "abezhikmvoptuxyw")
_OTHERS = str.maketrans("ıɑɡℓ‐‑‒–—―−⁃’‘ʼ′`´“”″", "iagl--------'''''" + "'" + '"""')
_BLANK = "\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0"
"""Letters and marks that show nothing, though they are not among the format characters."""


def looks(label: str) -> str:
    """One text for all labels that look alike: without invisible marks, of one width, case, form and alphabet.

    >>> looks("HIV") == looks("hiv\\u200b ") == looks("\\uff28\\uff29\\uff36") == looks("h\\u0456v")
    True
    """
    found = label
    while (plainer := _plainer(found)) != found:  # a step can uncover work for an earlier one
        found = plainer
    return found


def _plainer(label: str) -> str:
    seen = "".join(mark for mark in label if not _invisible(mark))
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", seen).casefold())
    return " ".join(folded.translate(_CYRILLIC).translate(_GREEK).translate(_OTHERS).split())


def _invisible(mark: str) -> bool:
    kind = unicodedata.category(mark)
    return kind == "Cf" or (kind == "Cc" and not mark.isspace()) or mark in _BLANK or _selects(mark)


def _selects(mark: str) -> bool:
    """A variation selector: it chooses among pictures of the letter before it."""
    return "\ufe00" <= mark <= "\ufe0f" or "\U000e0100" <= mark <= "\U000e01ef" or "\u180b" <= mark <= "\u180f"


def alike(labels: Iterable[str]) -> list[list[int]]:
    """The places of labels that look alike, for every look that several labels have.

    >>> alike(["hiv", "flu", "HIV "])
    [[0, 2]]
    """
    places: dict[str, list[int]] = {}
    for at, label in enumerate(labels):
        places.setdefault(looks(label), []).append(at)
    return [several for several in places.values() if len(several) > 1]
