"""Templates: every text in them is escaped."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response

from sfumato.errors import visible

HERE = Path(__file__).parent
STATIC = HERE / "static"
NOTHING = "There is nothing here."


@cache
def environment() -> Environment:
    """All templates; every text in them is escaped, and what could not be seen is written out."""
    found = Environment(
        loader=FileSystemLoader(HERE / "templates"),
        autoescape=select_autoescape(default=True),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: visible(value) if type(value) is str else value,
    )
    found.filters |= {"percent": percent, "thousands": "{:,}".format, "size": size, "lines": lines}
    return found


def percent(share: float) -> str:
    """A share for reading.

    >>> percent(0.324), percent(0.004), percent(0)
    ('32 %', '0.4 %', '0 %')
    """
    return f"{share * 100:.1f} %" if 0 < share < 0.01 else f"{share * 100:.0f} %"


def size(count: int | None) -> str:
    """Bytes for reading.

    >>> size(2_500_000), size(900)
    ('2.5 MB', '0.9 kB')
    """
    if count is None:
        return ""
    return f"{count / 1e6:,.1f} MB" if count >= 1e6 else f"{count / 1e3:.1f} kB"


def lines(text: str) -> Markup:
    """A text of several lines, each escaped."""
    return Markup("\n").join(Markup.escape(visible(line)) for line in text.split("\n"))


def page(template: str, *, status: int = 200, **context: Any) -> HTMLResponse:
    """A whole page."""
    return HTMLResponse(environment().get_template(template).render(**context), status_code=status)


def fragment(template: str, **context: Any) -> str:
    """A part of one."""
    return environment().get_template(template).render(**context)


async def missing(request: Request, error: Exception) -> Response:
    """Nothing is there, or it was not received whole."""
    status = int(getattr(error, "status_code", 404))
    words = "The file was not received whole: it is too large, or the line was cut." if status == 413 else NOTHING
    return PlainTextResponse(f"{words}\n", status_code=status)
