"""Markup: HTML from escaped parts. What is not `Html` yet is text, and text is always escaped."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from html import escape
from typing import NewType

from sfumato.errors import visible

Html = NewType("Html", str)
"""Text that is markup already. The type checker keeps other text from being mixed in."""
Cell = str | int | float | None
FIGURE = re.compile(r"-?[\d,.]+( ?%| s)?")
PRINTED = 16
"""Rows of a folded table that are still printed on paper."""


def text(words: object) -> Html:
    """Any text, escaped; what could not be seen is written out.

    >>> text("<script>")
    '&lt;script&gt;'
    """
    return Html(escape(visible(str(words)), quote=True))


def join(parts: Iterable[Html], between: str = "") -> Html:
    """Parts one after the other."""
    return Html(between.join(parts))


def tag(name: str, *inside: Html, **attributes: object) -> Html:
    """An element. A trailing underscore of an attribute's name goes, other underscores become dashes.

    >>> tag("p", text("a < b"), class_="note")
    '<p class="note">a &lt; b</p>'
    """
    told = "".join(f' {key.rstrip("_").replace("_", "-")}="{text(value)}"' for key, value in attributes.items())
    return Html(f"<{name}{told}>{''.join(inside)}</{name}>")


def paragraph(words: str, kind: str | None = None) -> Html:
    """A paragraph of plain text."""
    return tag("p", text(words), class_=kind) if kind else tag("p", text(words))


def bullets(lines: Iterable[str]) -> Html:
    """A list of plain texts."""
    return tag("ul", *(tag("li", text(line)) for line in lines))


def section(title: str, *inside: Html, anchor: str) -> Html:
    """A part of the page with its heading."""
    return tag("section", tag("h2", text(title)), *inside, id=anchor)


def table(headings: Sequence[str], rows: Iterable[Sequence[Cell]], *, kind: str = "") -> Html:
    """A table; numbers stand to the right. The first cell of a row is its heading."""
    head = tag("tr", *(tag("th", text(heading), scope="col") for heading in headings))
    body = [tag("tr", *(_cell(cell) for cell in row)) for row in rows]
    whole = tag("table", tag("thead", head), tag("tbody", *body), **({"class_": kind} if kind else {}))
    return tag("div", whole, class_="wide")


def _cell(cell: Cell) -> Html:
    if isinstance(cell, int | float):
        return tag("td", text(number(cell)), class_="n")
    if cell is not None and FIGURE.fullmatch(cell):
        return tag("td", text(cell), class_="n")
    return tag("td", text("") if cell is None else _inside(cell))


def _inside(cell: str) -> Html:
    return Html(cell) if isinstance(cell, _Made) else text(cell)


class _Made(str):
    """Markup that goes into a cell as it is."""


def made(markup: Html) -> Cell:
    """Markup as a cell of a table."""
    return _Made(markup)


def some(count: int, thing: str) -> str:
    """A number of things.

    >>> some(1, "label"), some(1200, "label")
    ('1 label', '1,200 labels')
    """
    return f"{count:,} {thing}{'' if count == 1 else 's'}"


def number(value: float) -> str:
    """A number for reading: thousands set apart, three digits behind the point.

    >>> number(45222), number(0.25), number(1.0)
    ('45,222', '0.250', '1.000')
    """
    return f"{value:,}" if isinstance(value, int) else f"{value:,.3f}"


def folded(summary: str, headings: Sequence[str], rows: Sequence[Sequence[Cell]]) -> Html:
    """A table behind a line that can be opened; short ones are printed on paper, too."""
    kind = "folded" if len(rows) <= PRINTED else "folded long"
    return tag("details", tag("summary", text(summary)), table(headings, rows), class_=kind)


def bar(share: float) -> Cell:
    """A bar for a cell, from 0 to 1 of its width."""
    width = max(0.0, min(1.0, share)) * 100
    inside = Html(f'<rect width="{width:.1f}" height="10"/>')
    return made(tag("svg", inside, class_="bar", viewBox="0 0 100 10", preserveAspectRatio="none", aria_hidden="true"))


def meter(share: float) -> Html:
    """A share in percent on a bar of its width.

    >>> meter(0.5)
    '<span class="meter" style="--m:50%">50%</span>'
    """
    percent = f"{max(0.0, min(1.0, share)):.0%}"
    return tag("span", text(percent), class_="meter", style=f"--m:{percent}")
