"""Templates, and what every page shows: the way through the screens, and one line of all choices."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape
from markupsafe import Markup
from starlette.responses import HTMLResponse

from sfumato.errors import SfumatoError, visible
from sfumato.studio import form as forms
from sfumato.studio.desk import Desk, Screen
from sfumato.studio.workspace import Work

HERE = Path(__file__).parent
STATIC = HERE / "static"


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


def screen_page(desk: Desk, screen: Screen, screens: list[Screen], error: SfumatoError | None = None) -> HTMLResponse:
    """One screen of a piece of work."""
    look = desk.look()
    ready = look is not None or not screen.needs_table
    context = screen.context(desk) if ready else {"job": desk.job("look")}
    at = screens.index(screen)
    return page(
        f"{screen.key}.html" if ready else "waiting.html",
        screen=screen,
        screens=screens,
        previous=screens[at - 1] if at else None,
        following=screens[at + 1] if at + 1 < len(screens) else None,
        work=desk.work,
        base=f"/w/{desk.work.id}",
        summary=summary(desk.work),
        problem=desk.problem() if look is not None else None,
        error=error,
        **context,
    )


def summary(work: Work) -> list[tuple[str, str, str]]:
    """All choices in one line: what it is about, in words, and on which screen it is chosen."""
    facts = work.facts
    look = work.found("look")
    if look is None:
        return [("Table", str(facts.get("called", "none yet")), "table")]
    try:
        form = forms.read(work)
    except SfumatoError:
        return [("Recipe", "cannot be read", "recipe")]
    roles = ", ".join(f"{len(forms.with_role(form, role))} {role}" for role in forms.ROLES)
    return [
        ("Table", f"{facts.get('called', '')} · {look['rows']:,} rows", "table"),
        ("Attributes", roles, "attributes"),
        ("Survives", structure_words(form), "survive"),
        ("Privacy", privacy_words(form), "privacy"),
        ("Mask", forms.mask_name(form) or "as fits", "privacy"),
    ]


def structure_words(form: forms.Form) -> str:
    """What must survive, in a few words."""
    structure = form.get("structure")
    if not isinstance(structure, dict):
        return "nothing in particular"
    if "classes" in structure:
        return f"the class {structure['classes']}"
    k = structure.get("k", "auto")
    return f"{'as many' if k == 'auto' else k} clusters{' as seem right' if k == 'auto' else ''}"


def privacy_words(form: forms.Form) -> str:
    """What must hold, in a few words."""
    budget = form.get("budget")
    if budget:
        epsilon = budget.get("epsilon") if isinstance(budget, dict) else budget
        return f"epsilon {epsilon}"
    needs = [need for need in form.get("privacy") or [] if isinstance(need, dict)]
    words = [f"{forms.requirement_name(n)} {_main(n)}".replace("_", "-").strip() for n in needs]
    return ", ".join(words) or "none yet"


def _main(need: dict[str, Any]) -> str:
    found = need.get(forms.requirement_name(need))
    return "" if isinstance(found, dict) else str(found)
