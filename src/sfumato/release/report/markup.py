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


POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
"""What a browser may load for the page: nothing."""
CSS = """
:root { --ink: #1c2126; --faint: #66707a; --line: #d5dade; --ground: #ffffff; --panel: #f5f7f8; --mark: #0072b2;
  --warn: #b34700; --bar: #56b4e9; --solid: .65; color-scheme: light dark; }
@media (prefers-color-scheme: dark) { :root { --ink: #e4e8eb; --faint: #9aa5af; --line: #3a4249; --ground: #14181b;
  --panel: #1e2429; --mark: #6cbdf0; --warn: #ffa15c; --bar: #2f7fb0; --solid: .85; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 2rem 1.25rem 4rem; max-width: 62rem; background: var(--ground); color: var(--ink);
  font: 16px/1.5 system-ui, sans-serif; overflow-wrap: break-word; }
h1 { font-size: 1.7rem; line-height: 1.25; margin: 0 0 .5rem; }
h2 { font-size: 1.25rem; margin: 2.5rem 0 .75rem; padding-top: .75rem; border-top: 1px solid var(--line); }
h3 { font-size: 1.02rem; margin: 1.75rem 0 .4rem; }
p { margin: .4rem 0 .7rem; max-width: 48rem; }
.edition { display: inline-block; padding: .1rem .6rem; border: 1px solid currentColor; border-radius: 1rem;
  font-size: .82rem; margin: 0 0 .9rem; color: var(--mark); }
.edition.holder { color: var(--warn); }
.verdict { font-size: 1.1rem; padding: .8rem 1rem; background: var(--panel); border-left: 4px solid var(--mark);
  max-width: none; }
.verdict.poor { border-left-color: var(--warn); }
.note { color: var(--faint); font-size: .9rem; }
nav { display: flex; flex-wrap: wrap; column-gap: .9rem; font-size: .9rem; color: var(--faint); margin: 1rem 0 0; }
nav a { color: var(--mark); text-decoration: none; white-space: nowrap; }
.wide { overflow-x: auto; margin: .5rem 0 1rem; }
table { border-collapse: collapse; font-size: .9rem; }
th, td { text-align: left; padding: .28rem .8rem .28rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
th { font-weight: 600; color: var(--faint); }
th.n { text-align: right; }
td.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.heat { display: block; text-align: right; padding: .15rem .5rem; font-variant-numeric: tabular-nums;
  white-space: nowrap; background: color-mix(in srgb, #0072b2 calc(var(--h) * 65%), transparent); }
.meter { display: block; min-width: 5.5rem; padding: .05rem .4rem; font-variant-numeric: tabular-nums;
  background: linear-gradient(to right,
    color-mix(in srgb, var(--c, var(--bar)) 55%, transparent) var(--m), var(--panel) 0); }
table.bars .meter { min-width: 8rem; }
table.worth td:first-child { overflow-wrap: anywhere; min-width: 7rem; }
.short table.worth td:first-child, .short table.worth td:nth-child(2) { white-space: nowrap; }
.silent { color: var(--faint); }
.was { color: var(--faint); display: block; }
.is { display: block; font-weight: 600; }
.bar { display: block; width: 9rem; height: .7rem; margin-top: .35rem;
  background: linear-gradient(to right, var(--bar) var(--m), transparent 0); }
.strip { display: block; width: min(24rem, 45vw); height: .8rem; margin-top: .3rem; }
.strip path { stroke-width: 2; vector-effect: non-scaling-stroke; }
figure { margin: .6rem 0 .8rem; color: var(--ink); }
.panels { display: flex; flex-wrap: wrap; gap: .4rem 1.2rem; }
.panel { flex: 1 1 21rem; max-width: 36rem; min-width: 0; }
.panel.large:only-child { max-width: 46rem; }
.panels.many .panel { flex-basis: 17rem; max-width: 24rem; }
.panel p { text-align: center; font-size: .88rem; margin: 0; max-width: none; }
.panel svg { width: 100%; height: auto; display: block; stroke-linejoin: round; }
.panel text { font: 12.5px system-ui, sans-serif; fill: var(--ink); }
.panel .middle { text-anchor: middle; }
.panel .end { text-anchor: end; }
.panel .mark { font-size: 16px; font-weight: 700; text-anchor: middle; dominant-baseline: central;
  paint-order: stroke; stroke: var(--ground); stroke-width: 3px; }
.axis { fill: none; stroke: var(--c); stroke-width: .8; }
.bars { fill: var(--c); fill-opacity: var(--solid); }
.bars.edged { stroke: var(--ground); stroke-width: .7; }
.line { fill: none; stroke: var(--c); stroke-width: 1.6; }
.line.dotted { stroke-width: 1; stroke-dasharray: 1.5 3; }
.dots { fill: none; stroke: var(--c); stroke-opacity: var(--solid); stroke-linecap: round; }
.dots.shaped { fill: var(--c); fill-opacity: var(--solid); stroke: none; }
.legend { display: flex; flex-wrap: wrap; gap: 0 1.2rem; font-size: .88rem; margin: 0 0 .3rem; }
.legend span::before { content: ""; display: inline-block; width: .8em; height: .8em; margin-right: .4em;
  background: var(--c); }
figcaption { color: var(--faint); font-size: .88rem; max-width: 48rem; }
details { margin: .3rem 0 .9rem; font-size: .92rem; }
summary { cursor: pointer; color: var(--mark); }
ul.tree, ul.tree ul { list-style: none; margin: 0; padding-left: 1.15rem; }
ul.tree { padding-left: 0; margin: .4rem 0 .8rem; font-size: .92rem; line-height: 1.65; }
ul.tree ul { border-left: 1px solid var(--line); margin-left: .38rem; padding-left: .9rem; }
ul.tree .shown { color: var(--ink); font-weight: 600; }
ul.tree .above, ul.tree .below { color: var(--faint); font-weight: 400; }
ul.tree .shown::before { content: "\\25CF"; color: var(--mark); margin-right: .45rem; }
ul.tree .above::before { content: "\\25CB"; margin-right: .45rem; }
ul.tree .count { color: var(--faint); font-weight: 400; font-variant-numeric: tabular-nums; margin-left: .5rem; }
.why { background: var(--panel); padding: .55rem .9rem; border-left: 3px solid var(--warn); }
.why.none { border-color: var(--line); }
.why p { margin: .15rem 0; }
code, pre { font: .88em/1.5 ui-monospace, monospace; background: var(--panel); padding: .05rem .3rem; }
li code { overflow-wrap: anywhere; }
pre { padding: .7rem 1rem; overflow-x: auto; }
@media print, (min-width: 48rem) { .pair { display: grid; column-gap: 2rem;
  grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); } }
@media (max-width: 30rem) { body { padding: 1rem .8rem 3rem; } h1 { font-size: 1.35rem; }
  table.worth, table.worth tbody, table.worth tr, table.worth td { display: block; border: 0; padding: 0; }
  table.worth { width: 100%; } table.worth thead { display: none; }
  table.worth tr { display: grid; grid-template-columns: minmax(0, 1fr) auto; column-gap: .8rem; align-items: baseline;
    padding: .4rem 0; border-bottom: 1px solid var(--line); }
  table.worth td { overflow-wrap: anywhere; } table.worth td:first-child { font-weight: 600; }
  table.worth td:nth-child(3) { color: var(--faint); font-size: .84rem; }
  table.bars .meter { min-width: 4.6rem; }
  table.listed, table.listed tbody { display: block; } table.listed thead { display: none; }
  table.listed tr { display: grid; grid-template-columns: 4rem 3.6rem auto; padding: .3rem 0;
    border-bottom: 1px solid var(--line); }
  table.listed td { border: 0; padding: 0 .6rem 0 0; overflow-wrap: anywhere; }
  table.listed td:first-child { grid-column: 1 / -1; }
  table.cards, table.cards tbody, table.cards tr, table.cards td { display: block; }
  table.cards thead { display: none; }
  table.cards tr { padding: .5rem 0; border-bottom: 1px solid var(--line); }
  table.cards td, table.cards td.n { display: grid; grid-template-columns: 7.2rem minmax(0, 1fr); column-gap: .5rem;
    border: 0; padding: .1rem 0; text-align: left; white-space: normal; overflow-wrap: anywhere; }
  table.cards td::before { content: attr(data-l); color: var(--faint); } table.cards td > * { grid-column: 2; }
  table.cards td[data-l=""] { display: block; font-weight: 600; } table.cards td:empty { display: none; } }
@media print { :root { --ink: #000; --faint: #444; --line: #bbb; --ground: #fff; --panel: #f2f2f2; --mark: #0072b2;
    --warn: #b34700; --bar: #56b4e9; --solid: .65; color-scheme: light; }
  body { max-width: none; padding: 0; font-size: 10.5pt; print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  nav, details.long { display: none; } .wide { overflow: visible; } th, td { padding-right: .45rem; }
  th { overflow-wrap: break-word; } td { overflow-wrap: anywhere; } pre { white-space: pre-wrap; }
  table.cards { font-size: 8.6pt; }
  h2, h3 { break-after: avoid; } figure, tr, .why, .verdict, ul.tree li { break-inside: avoid; }
  details.folded::details-content { content-visibility: visible; block-size: auto; }
  .short { font-size: 8.6pt; line-height: 1.32; } .short h1 { font-size: 14pt; margin: 0; }
  .short p { max-width: none; } .short .note, .short .silent { font-size: 8.2pt; }
  .short h2 { font-size: 10.5pt; margin: 6pt 0 2pt; padding-top: 3pt; } .short p, .short ul { margin: 1pt 0 3pt; }
  .short .verdict { font-size: 10pt; padding: 4pt 7pt; } .short .edition { margin: 0 0 3pt; }
  .short .wide { margin: 1pt 0 3pt; } .short th, .short td { padding: 0 .8rem 0 0; font-size: 8.2pt; }
  @page { margin: 14mm; } }
"""


def page(title: str, *inside: Html) -> str:
    """A whole page: no script, nothing to load, and a policy that forbids both."""
    head = Html(
        '<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
    )
    style = tag("style", Html(CSS))
    whole = tag("html", tag("head", head, tag("title", text(title)), style), tag("body", *inside), lang="en")
    return f"<!DOCTYPE html>\n{whole}\n"
