"""Screen 2, the attributes: what each one is, who may know it, and how many people are alone with what is known."""

from __future__ import annotations

from sfumato.studio import form as forms
from sfumato.studio.desk import Context, Desk, Fields, Screen
from sfumato.studio.tables import alone

MEANS = {
    "identifier": "names a person; it is dropped",
    "quasi": "others may know it of a person; it is masked",
    "sensitive": "what must not be learned of a person; it goes out as it is, beside masked attributes",
    "plain": "nobody else knows it and nobody minds; it goes out as it is",
}


def context(desk: Desk) -> Context:
    """Every attribute with what was seen of it."""
    look = desk.look() or {}
    form = desk.form()
    parts = forms.attributes(form)
    rows = [
        {**column, **_told(parts.get(column["name"], {})), "known": column["name"] in parts}
        for column in look["columns"]
    ]
    quasi = forms.with_role(form, "quasi")
    as_it_is = forms.with_role(form, "sensitive") + forms.with_role(form, "plain")
    return {
        "rows": rows,
        "people": look["rows"],
        "several": look.get("several"),
        "questions": [one for one in look.get("questions", ()) if one != look.get("several")],
        "quasi": quasi,
        "alone": share(desk, quasi),
        "as_it_is": as_it_is,
        "shown": share(desk, as_it_is),
        "roles": MEANS,
        "kinds": forms.KINDS,
    }


def _told(part: dict[str, object]) -> dict[str, object]:
    return {"kind": part.get("kind", "category"), "role": part.get("role", "plain"), "range": part.get("range")}


def share(desk: Desk, names: list[str]) -> float:
    """The share of people who are alone with these attributes; the same question is not counted twice."""
    look = desk.look() or {"columns": []}
    known = next((float(found) for some, found in look.get("alone", ()) if set(some) == set(names)), None)
    if known is not None or not names:
        return known or 0.0
    return alone(desk.work, [column["name"] for column in look["columns"]], names)


def roles(desk: Desk, fields: Fields) -> None:
    """One attribute's role, or that of all that are ticked."""
    desk.save(forms.change_roles(desk.form(), fields.every("name"), fields["role"]))


def kind(desk: Desk, fields: Fields) -> None:
    """One attribute's kind."""
    columns = (desk.look() or {"columns": []})["columns"]
    drafted: dict[str, object] = next((one["drafted"] for one in columns if one["name"] == fields["name"]), {})
    desk.save(forms.change_kind(desk.form(), fields["name"], fields["kind"], drafted))


SCREEN = Screen(
    "attributes",
    "Attributes",
    "What is each column, and can others know it of a person?",
    context,
    {"roles": roles, "kind": kind},
)
