"""Screen 3, the trees: how labels become coarser, and between which ends numbers lie."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sfumato.data.drafting.words import CODED, says
from sfumato.data.taxonomy.check import check
from sfumato.data.taxonomy.draft import propose_taxonomy
from sfumato.data.taxonomy.taxonomy import Taxonomy
from sfumato.errors import TaxonomyError
from sfumato.recipe.yaml_form import BUNDLED
from sfumato.studio import form as forms
from sfumato.studio.desk import Context, Desk, Fields, Screen

MOST_DRAWN = 1500
"""Nodes of one tree that are drawn."""
MOST_FINDINGS = 30
MASKED = ("quasi", "sensitive", "plain")


def context(desk: Desk) -> Context:
    """One attribute's tree, or a number's range."""
    form = desk.form()
    parts = {name: part for name, part in forms.attributes(form).items() if part.get("role") != "identifier"}
    order = sorted(parts, key=lambda name: MASKED.index(parts[name].get("role", "plain")))
    wanted = desk.query.get("attribute", "")
    name = wanted if wanted in parts else next(iter(order), "")
    part = parts.get(name, {})
    tree = tree_of(desk, part)
    node = desk.query.get("node", "")
    return {
        "names": [(one, parts[one].get("role", "plain"), bool(parts[one].get("taxonomy"))) for one in order],
        "name": name,
        "part": part,
        "tree": None if tree is None else nested(tree),
        "cropped": tree is not None and len(tree) > MOST_DRAWN,
        "size": None if tree is None else (len(tree.leaves), tree.levels),
        "node": node if tree is not None and node in tree else "",
        "leaf": tree is not None and node in tree and tree.is_leaf(node),
        "groups": [] if tree is None else [label for label in tree if not tree.is_leaf(label)][:MOST_DRAWN],
        "findings": [] if tree is None else findings(desk, name, tree),
        "labels": labels(desk, name),
        "column": next((one for one in (desk.look() or {"columns": []})["columns"] if one["name"] == name), None),
    }


def tree_of(desk: Desk, part: dict[str, Any]) -> Taxonomy | None:
    """The tree of an attribute, from wherever the recipe has it."""
    given = part.get("taxonomy")
    if not given:
        return None
    if isinstance(given, dict):
        return Taxonomy.from_tree(given)
    if str(given).startswith(BUNDLED):
        from sfumato.data.datasets import taxonomy

        return taxonomy(str(given).removeprefix(BUNDLED))
    from sfumato.recipe.settings import Within

    return Taxonomy.from_file(Within.of(desk.work.folder, desk.allow).file("taxonomy", str(given)))


def nested(tree: Taxonomy) -> dict[str, Any]:
    """The tree for its template: label, whether it is a leaf, what is below; no more than can be drawn."""
    left = [MOST_DRAWN]

    def below(label: str) -> dict[str, Any]:
        left[0] -= 1
        children = [below(child) for child in tree.children(label) if left[0] > 0]
        return {"label": label, "leaf": tree.is_leaf(label), "below": children, "leaves": len(tree.leaves_of(label))}

    return below(tree.root)


def labels(desk: Desk, name: str) -> list[str]:
    """The labels of an attribute that occur, if they are few enough to be listed."""
    columns = (desk.look() or {"columns": []})["columns"]
    return next((one["labels"] or [] for one in columns if one["name"] == name), [])


def findings(desk: Desk, name: str, tree: Taxonomy) -> list[str]:
    """What does not fit the data."""
    found = check(tree, labels(desk, name) or None)
    more = [f"and {len(found) - MOST_FINDINGS} more"] if len(found) > MOST_FINDINGS else []
    return [*(str(one) for one in found[:MOST_FINDINGS]), *more]


def _part(desk: Desk, fields: Fields) -> tuple[forms.Form, dict[str, Any]]:
    form = desk.form()
    part = form["attributes"].get(fields["name"])
    if not isinstance(part, dict):
        raise TaxonomyError("attribute", "it is one of the table's", given="another", remedy="choose one of the list")
    return form, part


def here(desk: Desk, fields: Fields, node: str = "") -> str:
    """The address of one attribute's tree."""
    from urllib.parse import urlencode

    return f"trees?{urlencode({'attribute': fields['name'], **({'node': node} if node else {})})}"


def _changed(desk: Desk, fields: Fields, parent_of: dict[str, str | None], node: str = "") -> str:
    form, part = _part(desk, fields)
    part["taxonomy"] = Taxonomy.from_parents(parent_of).to_tree()
    desk.save(form)
    return here(desk, fields, node)


def _parents(desk: Desk, fields: Fields) -> tuple[Taxonomy, dict[str, str | None]]:
    tree = tree_of(desk, _part(desk, fields)[1])
    if tree is None or fields["node"] not in tree:
        raise TaxonomyError("tree", "this label stands in it", given="none of that name", remedy="look at it again")
    return tree, {label: tree.parent(label) for label in tree}


def rename(desk: Desk, fields: Fields) -> str:
    """Another name for a label."""
    _, parent_of = _parents(desk, fields)
    old, new = fields["node"], fields["label"].strip()
    if not new or (new != old and new in parent_of):
        raise TaxonomyError("label", "it is a new one", given="none, or one of the tree", remedy="choose another")
    mended = {new if label == old else label: new if up == old else up for label, up in parent_of.items()}
    return _changed(desk, fields, mended, new)


def move(desk: Desk, fields: Fields) -> str:
    """Hang a label, with all below it, from another group."""
    tree, parent_of = _parents(desk, fields)
    node, target = fields["node"], fields["target"]
    if target not in tree or tree.is_leaf(target) or node == tree.root:
        raise TaxonomyError("move", "a label moves into a group", given="another place", remedy="choose a group")
    if target == node or node in tree.ancestors(target):
        raise TaxonomyError("move", "a group does not move into itself", given="that", remedy="choose another group")
    up = parent_of[node]
    return _changed(desk, fields, _without_empty(parent_of | {node: target}, up), node)


def _without_empty(parent_of: dict[str, str | None], group: str | None) -> dict[str, str | None]:
    """A group from which the last label was taken goes with it."""
    while group is not None and group not in parent_of.values():
        group = parent_of.pop(group)
    return parent_of


def cut(desk: Desk, fields: Fields) -> str:
    """Take a group out: what is below it hangs from the group above. A leaf goes with its groups, if it was alone."""
    tree, parent_of = _parents(desk, fields)
    node = fields["node"]
    up = parent_of[node]
    if up is None:
        raise TaxonomyError("cut", "the root stays", given="the root", remedy="remove the tree instead")
    rest = {label: up if above == node else above for label, above in parent_of.items() if label != node}
    return _changed(desk, fields, _without_empty(rest, up) if tree.is_leaf(node) else rest, up if up in rest else "")


def group(desk: Desk, fields: Fields) -> str:
    """Put a new group between a label and the one above it."""
    tree, parent_of = _parents(desk, fields)
    node, new = fields["node"], fields["label"].strip()
    if not new or new in parent_of or node == tree.root:
        raise TaxonomyError("group", "it has a name of its own", given="none, or a label", remedy="choose another")
    return _changed(desk, fields, parent_of | {new: parent_of[node], node: new}, new)


def propose(desk: Desk, fields: Fields) -> str:
    """A tree over the labels that occur: by their beginnings, in runs of neighbours, or flat."""
    form, part = _part(desk, fields)
    known = labels(desk, fields["name"])
    if not known:
        raise TaxonomyError("tree", "it is made of a column's labels", given="none, or too many", remedy="import one")
    coded = says(fields["name"], CODED) is not None
    tree = Taxonomy.flat(known) if fields["way"] == "flat" else propose_taxonomy(known, coded=coded).taxonomy
    part["taxonomy"] = tree.to_tree()
    desk.save(form)
    return here(desk, fields)


def remove(desk: Desk, fields: Fields) -> str:
    """No tree: labels are shown as sets of labels, or suppressed."""
    form, part = _part(desk, fields)
    part.pop("taxonomy", None)
    desk.save(form)
    return here(desk, fields)


def take(desk: Desk, name: str, file: Path) -> None:
    """A tree from a file of ARX, CSV, YAML or JSON."""
    form = desk.form()
    part = form["attributes"].get(name)
    if not isinstance(part, dict):
        raise TaxonomyError("attribute", "it is one of the table's", given="another", remedy="choose one of the list")
    part["taxonomy"] = Taxonomy.from_file(file).to_tree()
    part.pop("values", None)
    desk.save(form)


def ends(desk: Desk, fields: Fields) -> str:
    """The ends between which a number or a date lies."""
    desk.save(forms.change_range(desk.form(), fields["name"], fields["low"], fields["high"]))
    return here(desk, fields)


SCREEN = Screen(
    "trees",
    "Trees",
    "How do labels become coarser, and between which ends do numbers lie?",
    context,
    {
        "rename": rename,
        "move": move,
        "cut": cut,
        "group": group,
        "propose": propose,
        "remove": remove,
        "range": ends,
    },
)
