"""What every screen shows: the way through all of them, and one line of all choices."""

from __future__ import annotations

from typing import Any

from starlette.responses import HTMLResponse

from sfumato.errors import SfumatoError
from sfumato.studio import form as forms
from sfumato.studio.desk import Desk, Screen
from sfumato.studio.pages import page
from sfumato.studio.workspace import Work


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
    counts = {role: len(forms.with_role(form, role)) for role in forms.ROLES}
    roles = ", ".join(f"{count} {role}" for role, count in counts.items() if count)
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
