"""Plots: figures as SVG inside the page, in colours that everybody can tell apart.

Ink takes the colour of the page's text, so that one picture is right on a light and on a dark screen and on paper.
matplotlib (the extra `plots`) is loaded here and nowhere else, without its global state for windows.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from io import StringIO
from typing import Any

from sfumato.errors import visible
from sfumato.events import checkpoint
from sfumato.release.report.markup import Html, tag, text

HOW_TO_GET = 'pip install "sfumato[plots]"'
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#999999")
"""The palette of Okabe and Ito, without black."""
BLUE, ORANGE, RED = COLOURS[0], COLOURS[1], COLOURS[5]
INK, FAINT = "#010203", "#040506"
"""Stand for the colour of the page's text, and for that of its remarks."""
SETTINGS = {
    "svg.fonttype": "none",
    "svg.hashsalt": "sfumato",
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.labelsize": 9,
    "axes.edgecolor": FAINT,
    "axes.labelcolor": INK,
    "axes.titlecolor": INK,
    "text.color": INK,
    "xtick.color": FAINT,
    "ytick.color": FAINT,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.7,
    "text.parse_math": False,
    "legend.frameon": False,
}
LONGEST_LABEL = 40
METADATA = dict.fromkeys(("Date", "Creator", "Format", "Type"))

LOADED = ("matplotlib", "matplotlib.backend_bases", "matplotlib.projections", "matplotlib.figure")
"""Loaded one after the other: all of it at once takes a second."""


def available() -> bool:
    """Whether the plotting library is installed."""
    return find_spec("matplotlib") is not None


def picture(
    draw: Callable[[Any], None], *, size: tuple[float, float], says: str, name: str, margins: bool = False
) -> Html:
    """A figure of `size` inches that `draw` fills. `says` is its caption; `name` keeps its parts apart from others.

    `margins`: leave the room that one panel needs, instead of measuring every text, which takes twice the time.
    """
    for library in LOADED:
        checkpoint()
        import_module(library)
    with import_module("matplotlib").rc_context(SETTINGS):
        figure = import_module("matplotlib.figure").Figure(figsize=size, layout=None if margins else "constrained")
        if margins:
            figure.subplots_adjust(left=0.085, right=0.99, top=0.96, bottom=0.22)
        import_module("matplotlib.backends.backend_svg").FigureCanvasSVG(figure)
        draw(figure)
        found = StringIO()
        figure.savefig(found, format="svg", transparent=True, metadata=METADATA)
    return tag("figure", _inline(found.getvalue(), name, says), tag("figcaption", text(says)))


def _inline(svg: str, name: str, says: str) -> Html:
    """A drawing as part of a page: no header, no addresses, names of its own, colours of the page."""
    body = svg[svg.index(">", svg.index("<svg")) + 1 :].replace("xlink:href", "href").strip()
    box = re.search(r'viewBox="([-\d. ]+)"', svg)
    used = set(re.findall(r'(?:href="#|url\(#)([\w-]+)', body))
    body = re.sub(r' id="([\w-]+)"', lambda m: f' id="{name}-{m[1]}"' if m[1] in used else "", body)
    body = re.sub(r'(href="#|url\(#)([\w-]+)', rf"\g<1>{name}-\g<2>", body)
    body = re.sub(r"<style type=\"text/css\">.*?</style>", "", body, flags=re.DOTALL)
    body = re.sub(r"<!--.*?-->|<metadata>.*?</metadata>", "", body, flags=re.DOTALL)
    body = re.sub(r"font: ([\d.]+)px [^;\"]*", r"font: \1px sans-serif", body)
    body = body.replace(INK, "currentColor").replace(FAINT, "var(--faint)")
    body = visible(re.sub(r"\s*\n\s*", " ", body))
    start = f'<svg viewBox="{box[1] if box else "0 0 1 1"}" role="img" aria-label="{text(says)}" '
    return Html(start + 'stroke-linejoin="round">' + body)


def logarithmic(axes: Any, which: str, shown: str = "{x:,.0f}") -> None:
    """Make the axis x or y logarithmic, with plain numbers beside it."""
    ticker = import_module("matplotlib.ticker")
    getattr(axes, f"set_{which}scale")("log")
    axis = getattr(axes, f"{which}axis")
    low, high = sorted(getattr(axes, f"get_{which}lim")())
    axis.set_major_locator(ticker.LogLocator(subs=(1.0, 2.0, 5.0) if high < 60 * max(low, 1e-9) else (1.0,)))
    axis.set_major_formatter(ticker.StrMethodFormatter(shown))
    axis.set_minor_formatter(ticker.NullFormatter())


def whole_numbers(axes: Any) -> None:
    """Only whole numbers beside the upright axis."""
    axes.yaxis.set_major_locator(import_module("matplotlib.ticker").MaxNLocator(5, integer=True))


def label(name: str) -> str:
    """A name beside a drawing: one short line. matplotlib leaves names out of a legend that begin with a dash below.

    >>> label("a" * 99)[:5], label("_age")
    ('aaaaa', ' _age')
    """
    shown = visible(name, most=LONGEST_LABEL)
    return f" {shown}" if shown.startswith("_") else shown


def colour(at: int) -> str:
    """The colour of the cluster with this number."""
    return COLOURS[at % len(COLOURS)]
