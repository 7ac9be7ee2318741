"""How each file of a release was checked, in words: what cannot be checked is named, not passed over."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sfumato.privacy.verify.canonical import TABLES
from sfumato.privacy.verify.readme import README
from sfumato.privacy.verify.signature import SIGNATURE
from sfumato.privacy.verify.twins import NAMES, REPORT
from sfumato.privacy.verify.verdict import CheckError, Looked

if TYPE_CHECKING:
    from sfumato.privacy.verify.folder import Folder

RECOUNTED = "recounted, and every byte of it accounted for"
MADE_AGAIN = "made again from the certificate and compared to the byte"
REBUILT = "made again from its own settings and compared to the byte"
HELD = "read, and held against the table"
SIGNED = "checked as a signature"
NOT_CHECKED = "NOT CHECKED beyond its SHA-256"
STRANGE = "NOT CHECKED: no part of a release"
HOW = {
    "certificate.json": REBUILT,
    README: MADE_AGAIN,
    **dict.fromkeys(NAMES, MADE_AGAIN),
    **dict.fromkeys(TABLES, RECOUNTED),
    SIGNATURE: SIGNED,
    REPORT: NOT_CHECKED,
}
# How a report begins: with the policy that forbids a browser to load or to run anything.
BEGINS = (
    '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
    '<meta name="viewport" content="width=device-width, initial-scale=1">'
    '<meta http-equiv="Content-Security-Policy" '
    "content=\"default-src 'none'; style-src 'unsafe-inline'; img-src data:\">"
)
TAGS = {
    *("html", "head", "title", "style", "body", "section", "nav", "div", "span", "p", "pre", "code", "a", "br"),
    *("h1", "h2", "h3", "h4", "ul", "ol", "li", "table", "thead", "tbody", "tr", "th", "td", "details", "summary"),
    *("figure", "figcaption", "img", "em", "strong", "b", "i", "small"),
    *("svg", "g", "path", "rect", "circle", "line", "polyline", "polygon", "text", "tspan", "defs", "clippath", "use"),
    *("image", "lineargradient", "pattern", "stop", "desc"),
}
# Quantifiers that give nothing back: a page made of spaces would be searched for ever.
_TAG = re.compile(r"<\s*+/?\s*+(!--|[!?a-z][^\s>/]{0,20})", re.IGNORECASE)
_POINTS = re.compile(r"""<[^<>]*[\s:](?:href|src|action)\s*+=\s*+["']?\s*+(?!#|data:image/)[^\s"'>]""", re.IGNORECASE)


def coverage(release: Folder) -> tuple[Looked, ...]:
    """Of every file that is there, how it was checked."""
    known = release.explaining
    return tuple(Looked(name, HOW.get(name, HELD if name in known else STRANGE)) for name in release.files)


def unchecked(release: Folder) -> tuple[str, ...]:
    """The files that nobody could look into."""
    return tuple(one.name for one in coverage(release) if one.how in (NOT_CHECKED, STRANGE))


def all_checked(release: Folder) -> str:
    """For whoever asks for a strict verdict: there is no file that cannot be checked."""
    found = unchecked(release)
    if found:
        raise CheckError(f"{found[0]} cannot be checked beyond its SHA-256: it might say or hold anything")
    return "every file was checked"


def harmless(release: Folder) -> str:
    """What can be seen of a report: a browser loads nothing for it and runs nothing. What it says is not checked."""
    if REPORT not in release.files:
        return "this release has none"
    page = release.content(REPORT).decode("utf-8")
    if not page.startswith(BEGINS):
        raise CheckError(f"{REPORT} does not begin by forbidding a browser to load or to run anything")
    tags = (found[1].lower() for found in _TAG.finditer(page, len(BEGINS)))
    if any(tag not in TAGS for tag in tags) or _POINTS.search(page, len(BEGINS)):
        raise CheckError(f"{REPORT} holds a script, a form, or an address outside itself")
    return f"{REPORT} runs nothing and loads nothing; what it says was NOT CHECKED"
