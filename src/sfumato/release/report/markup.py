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
NUMERIC = ' class="n"'
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


def table(headings: Sequence[str], rows: Sequence[Sequence[Cell]], *, kind: str = "") -> Html:
    """A table; numbers stand to the right, and so do their headings. The first cell of a row is its heading.

    `kind` "cards": on a telephone each row is a card, on which every cell is told with its heading.
    """
    first = rows[0] if rows else ()
    numeric = [_is_figure(cell) for cell in first] or [False] * len(headings)
    head = "".join(
        f'<th scope="col"{NUMERIC if right else ""}>{text(heading)}</th>'
        for heading, right in zip(headings, numeric, strict=True)
    )
    told = [f' data-l="{text(heading)}"' if kind == "cards" else "" for heading in headings]
    body = "".join(f"<tr>{''.join(map(_cell, row, told))}</tr>" for row in rows)
    named = f' class="{kind}"' if kind else ""
    return Html(f'<div class="wide"><table{named}><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>')


def _cell(cell: Cell, told: str) -> str:
    if isinstance(cell, int | float):
        return f"<td{NUMERIC}{told}>{number(cell)}</td>"
    if cell is None or isinstance(cell, _Made):
        return f"<td{told}>{cell or ''}</td>"
    return f"<td{NUMERIC if FIGURE.fullmatch(cell) else ''}{told}>{text(cell)}</td>"


def _is_figure(cell: Cell) -> bool:
    return isinstance(cell, int | float) or (cell is not None and FIGURE.fullmatch(cell) is not None)


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


def folded(summary: str, headings: Sequence[str], rows: Sequence[Sequence[Cell]], *, kind: str = "") -> Html:
    """A table behind a line that can be opened; short ones are printed on paper, too."""
    length = "folded" if len(rows) <= PRINTED else "folded long"
    return tag("details", tag("summary", text(summary)), table(headings, rows, kind=kind), class_=length)


def bar(share: float) -> Cell:
    """A bar for a cell, from 0 to 1 of its width."""
    return made(Html(f'<span class="bar" style="--m:{max(0.0, min(1.0, share)):.1%}"></span>'))


def meter(share: float, words: str | None = None, colour: str | None = None) -> Html:
    """A share in percent, or in other words, on a bar of its width.

    >>> meter(0.5)
    '<span class="meter" style="--m:50%">50%</span>'
    """
    percent = f"{max(0.0, min(1.0, share)):.0%}"
    kind, style = ("meter", "") if colour is None else ("meter coloured", f";--c:{colour}")
    return tag("span", text(percent if words is None else words), class_=kind, style=f"--m:{percent}{style}")
