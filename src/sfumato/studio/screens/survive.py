"""Screen 4, what must survive: clusters, a class, or nothing in particular."""

from __future__ import annotations

from sfumato.studio import form as forms
from sfumato.studio.desk import Context, Desk, Fields, Screen


def context(desk: Desk) -> Context:
    """What is chosen, what could be, and the clusters as they are now."""
    form = desk.form()
    given = form.get("structure")
    structure = given if isinstance(given, dict) else {}
    kind = "clusters" if "clusters" in structure else "classes" if "classes" in structure else "none"
    shown = [*forms.with_role(form, "sensitive"), *forms.with_role(form, "plain")]
    columns = {column["name"]: column for column in (desk.look() or {"columns": []})["columns"]}
    return {
        "kind": kind,
        "k": structure.get("k", "auto"),
        "column": structure.get("classes", ""),
        "columns": [(name, columns[name]["distinct"]) for name in shown if name in columns],
        "job": desk.job("clusters"),
        "found": desk.work.found("clusters"),
        "fresh": desk.fresh("clusters"),
    }


def choose(desk: Desk, fields: Fields) -> None:
    """Another structure."""
    form = desk.form()
    kind, column = fields["kind"], fields["column"]
    if kind == "classes" and not column:
        shown = [*forms.with_role(form, "sensitive"), *forms.with_role(form, "plain")]
        column = shown[0] if shown else ""
    desk.save(forms.change_structure(form, kind, column=column, k=fields["k"] or "auto"))


def clusters(desk: Desk, fields: Fields) -> None:
    """Draw the clusters as they are, and try how many seem right."""
    desk.start("clusters")


SCREEN = Screen(
    "survive",
    "What must survive",
    "What should a reader still find in the masked table?",
    context,
    {"choose": choose, "clusters": clusters},
)
