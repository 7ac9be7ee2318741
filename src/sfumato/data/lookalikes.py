"""Labels that look alike: what a reader cannot tell apart counts as one value.

`hiv`, `HIV`, `hiv ` and `hiv` with a Cyrillic letter or an invisible mark in it are different texts and the same word.
Counted as different values they would make a group diverse on paper alone. verify has its own code for the same rule.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

from sfumato.errors import hides, visible

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
    return _shared(map(looks, labels))


def spelt_alike(labels: Iterable[str]) -> list[list[int]]:
    """The places of labels that look alike, and of codes that are written with blanks or hyphens and without.

    No requirement counts such codes as one value: they are what a holder is asked to write alike.

    >>> spelt_alike(["3570 AG", "3570AG", "3570 ag", "1 2", "12"])
    [[0, 1, 2]]
    """
    return _shared(map(_code, map(looks, labels)))


def _code(look: str) -> str:
    """A look without blanks and hyphens, if it is a code: of letters and digits."""
    letters, digits = any(map(str.isalpha, look)), any(map(str.isdigit, look))
    return look.replace(" ", "").replace("-", "") if letters and digits else look


def _shared(looks_of: Iterable[str]) -> list[list[int]]:
    """The places of what comes several times."""
    places: dict[str, list[int]] = {}
    for at, look in enumerate(looks_of):
        places.setdefault(look, []).append(at)
    return [several for several in places.values() if len(several) > 1]


# Names of columns: they stand in messages, pages and certificates, so they must be what they look like.
LONGEST = 200
"""Characters of a name."""


@dataclass(frozen=True)
class BadName:
    """A name that cannot be used: the rule, what was given, and what to do."""

    name: str
    rule: str
    given: str
    remedy: str


def bad_name(names: Iterable[str]) -> BadName | None:
    """The first name that is empty, too long, hides characters, or looks like an earlier one; None where all are good.

    >>> bad_name(["age", "sex\u200b"]).given
    "'sex\\\\u200b'"
    """
    seen: dict[str, str] = {}
    for name in names:
        found = _bad(name)
        if found is not None:
            return found
        twin = seen.setdefault(_look(name), name)
        if twin != name:
            rule = "names of columns must differ by more than their code or their spaces"
            return BadName(name, rule, f"{twin!a} and {name!a}, which look alike", "rename one of them")
    return None


def _bad(name: str) -> BadName | None:
    shown = visible(name, most=60)
    if not name.strip():
        return BadName(shown, "an attribute has a name", "an empty name", "name it")
    if len(name) > LONGEST:
        rule = f"a column's name has at most {LONGEST} characters"
        return BadName(shown, rule, f"{len(name)} characters", "rename the column")
    if hides(name):
        rule = "a column's name has no line breaks, control, direction or invisible characters"
        return BadName(shown, rule, f"'{shown}'", "rename the column in the table and in the recipe")
    return None


def _look(name: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", name).split())
