"""How an object shows itself: a card of lines and small tables, as text that fits a terminal and as HTML for notebooks.

Objects say what is on their card; only this room knows markup. A card has no script, loads nothing, follows the
reader's light or dark screen, and every text on it is escaped.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from textwrap import wrap
from typing import Literal

from sfumato.errors import visible

WIDTH = 88
"""Characters of a line of text."""
MOST_ROWS = 40
"""Rows of a table that are shown."""
LEAST = 6
"""Characters of a column that gives way to others."""
MOST_LINES = 4
"""Lines of a terminal that a cell takes, at most."""
SHORT = 20
"""A cell of so few characters stays in one line."""
LABEL = re.compile(r'(?:[^",]|"[^"]*"|,(?! ))+')
"""A label of a set, which may stand in quotation marks, to before the comma and the blank behind it."""
FEW_LABELS = 2
"""Labels of a long set that are shown."""
LONGEST = 160
"""Characters of a cell that are shown in a page."""
State = Literal["good", "poor", "plain"]
LIGHT = "--ink:#1c2126;--faint:#5d6770;--line:#d5dade;--ground:#fff;--good:#0072b2;--poor:#b34700;color-scheme:light"
DARK = "--ink:#e4e8eb;--faint:#a3adb6;--line:#3a4249;--ground:#14181b;--good:#6cbdf0;--poor:#ffa15c;color-scheme:dark"
STYLE = """
.sfumato{color:var(--ink);background:var(--ground);border:1px solid var(--line);border-left:4px solid var(--line);
padding:.6rem .9rem;margin:.2rem 0;max-width:60rem;font:14px/1.45 system-ui,sans-serif}
.sfumato.good{border-left-color:var(--good)}.sfumato.poor{border-left-color:var(--poor)}
.sfumato p{margin:.15rem 0;color:var(--ink)}.sfumato p.t{font-weight:600;font-size:1.05em}
.sfumato p.h{font-weight:600;margin-top:.6rem}.sfumato p.f{color:var(--faint)}
.sfumato .w{overflow-x:auto}
.sfumato table{border-collapse:collapse;margin:.2rem 0;font-size:.95em;background:transparent;border:0}
.sfumato thead,.sfumato tbody,.sfumato tr{background:transparent!important;border:0}
.sfumato th,.sfumato td{text-align:left!important;vertical-align:top;padding:.2rem .9rem .2rem 0!important;
color:var(--ink)!important;border:0;border-bottom:1px solid var(--line);background:transparent!important;
white-space:normal;max-width:28rem;overflow-wrap:break-word}
.sfumato th{color:var(--faint)!important;font-weight:600}
.sfumato td.s{white-space:nowrap}
.sfumato td.n,.sfumato th.n{text-align:right!important;font-variant-numeric:tabular-nums;white-space:nowrap}
"""
# Notebook pages have a theme of their own, which may differ from the screen's: the page decides where it says so.
LIGHT_PAGE, DARK_PAGE = "body[data-jp-theme-light=true] .sfumato", "body[data-jp-theme-light=false] .sfumato"
THEMES = (
    f".sfumato{{{LIGHT}}}@media (prefers-color-scheme:dark){{.sfumato{{{DARK}}}}}"
    f"{LIGHT_PAGE}{{{LIGHT}}}{DARK_PAGE},.vscode-dark .sfumato{{{DARK}}}"
)


@dataclass(frozen=True)
class Grid:
    """A small table: its title, its headings, and rows of texts and numbers."""

    headings: Sequence[str]
    rows: Sequence[Sequence[object]]
    title: str = ""


@dataclass(frozen=True)
class Card:
    """What an object shows of itself. `state`: whether that is good or poor, where it can be either."""

    title: str
    lines: Sequence[str] = ()
    grids: Sequence[Grid] = field(default_factory=tuple)
    state: State = "plain"

    def text(self) -> str:
        """Lines that fit a terminal.

        >>> print(Card("Ring", ["of gold"], [Grid(["part", "size"], [["stone", 3], ["band", 12]])]).text())
        Ring
          of gold
          part   size
          stone     3
          band     12
        """
        lines = [self.title, *(f"  {part}" for line in self.lines for part in wrap(visible(line), WIDTH - 2))]
        for grid in self.grids:
            lines += [*([f"  {grid.title}"] if grid.title else []), *_lines(grid)]
        return "\n".join(_fitting(line) for line in lines)

    def html(self) -> str:
        """A part of a page, with its own style.

        >>> "<script" in Card("<script>").html()
        False
        """
        parts = [f'<p class="t">{_safe(self.title)}</p>', *(f'<p class="f">{_safe(line)}</p>' for line in self.lines)]
        for grid in self.grids:
            parts += [*([f'<p class="h">{_safe(grid.title)}</p>'] if grid.title else []), _table(grid)]
        return f'<div class="sfumato {self.state}"><style>{STYLE}{THEMES}</style>{"".join(parts)}</div>'


def _fitting(line: str) -> str:
    shown = visible(line)
    return shown if len(shown) <= WIDTH else shown[: WIDTH - 1] + "…"


def _safe(words: object) -> str:
    return escape(visible(str(words), most=20 * LONGEST), quote=True)


def _cell(cell: object) -> str:
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, int):
        return f"{cell:,}"
    return f"{cell:.3f}" if isinstance(cell, float) else shortened(str(cell))


def shortened(text: str) -> str:
    """A long set by its first labels.

    >>> shortened("{art head, art manager, cook, guard, nurse}"), shortened("{cook, guard}")
    ('{art head, art manager and 3 more}', '{cook, guard}')
    >>> shortened('{"art, head", art manager, cook, guard, nurse} or missing')
    '{"art, head", art manager and 3 more} or missing'
    """
    inner, _, behind = text[1:].rpartition("}")
    if not text.startswith("{") or behind not in ("", " or missing"):
        return text
    labels = [label.removeprefix(" ") for label in LABEL.findall(inner)]
    left = len(labels) - FEW_LABELS
    return text if left < 2 else f"{{{', '.join(labels[:FEW_LABELS])} and {left} more}}{behind}"


def few(labels: Sequence[str], most: int = 8) -> str:
    """The first labels, and how many more there are."""
    more = f" and {len(labels) - most} more" if len(labels) > most else ""
    return ", ".join(labels[:most]) + more


def _numeric(grid: Grid) -> list[bool]:
    """Which columns hold numbers: they stand to the right."""
    kinds = [[row[at] for row in grid.rows if row[at] is not None] for at in range(len(grid.headings))]
    return [bool(cells) and all(isinstance(cell, int | float) for cell in cells) for cells in kinds]


def _shown(grid: Grid) -> tuple[list[list[str]], str]:
    """The cells of the first rows, and what is said of the others."""
    left = len(grid.rows) - MOST_ROWS
    cells = [[_cell(cell) for cell in row] for row in grid.rows[:MOST_ROWS]]
    return cells, f"and {left:,} more" if left > 0 else ""


def _lines(grid: Grid) -> list[str]:
    cells, more = _shown(grid)
    shown = [[visible(cell) for cell in row] for row in [[*grid.headings], *cells]]
    widths = _widths([max(len(row[at]) for row in shown) for at in range(len(grid.headings))])
    right = _numeric(grid)
    lines = [
        "  ".join(
            cell.rjust(width) if to_the_right else cell.ljust(width)
            for cell, width, to_the_right in zip(row, widths, right, strict=True)
        ).rstrip()
        for whole in shown
        for row in _row_lines(whole, widths)
    ]
    return [f"  {line}" for line in (*lines, *([more] if more else []))]


def _row_lines(row: list[str], widths: list[int]) -> list[list[str]]:
    """A row of cells as lines of a terminal: the last cell goes on below, others are cut where they have no room.

    >>> _row_lines(["a long name", "it is known to many people"], [6, 12])
    [['a lon…', 'it is known'], ['', 'to many'], ['', 'people']]
    """
    *first, last = row
    width = max(1, widths[-1])
    parts = wrap(last, width, max_lines=MOST_LINES, placeholder="…") or [""]
    cut = [visible(cell, most=width) for cell, width in zip(first, widths, strict=False)]
    return [[*(cut if not at else [""] * len(first)), part] for at, part in enumerate(parts)]


def _widths(wanted: list[int]) -> list[int]:
    """As wide as they want to be; where a line has no room for that, the widest give way.

    >>> sum(_widths([5, 100, 30])) + 2 * 2 + 2 <= WIDTH, _widths([5, 10])
    (True, [5, 10])
    """
    room = WIDTH - 2 * len(wanted)
    widths = list(wanted)
    while sum(widths) > room and max(widths) > LEAST:
        widths[widths.index(max(widths))] -= 1
    return widths


def _table(grid: Grid) -> str:
    cells, more = _shown(grid)
    right = ['class="n"' if one else "" for one in _numeric(grid)]
    head = "".join(f"<th {kind}>{_safe(name)}</th>" for name, kind in zip(grid.headings, right, strict=True))
    body = "".join(
        f"<tr>{''.join(_td(cell, kind) for cell, kind in zip(row, right, strict=True))}</tr>" for row in cells
    )
    told = f'<p class="f">{_safe(more)}</p>' if more else ""
    return f'<div class="w"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>{told}'


def _td(cell: str, kind: str) -> str:
    kind = kind or ('class="s"' if len(cell) <= SHORT else "")
    return f"<td {kind}>{escape(visible(cell, most=LONGEST), quote=True)}</td>"
