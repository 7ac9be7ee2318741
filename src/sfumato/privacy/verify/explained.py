"""The trees and rules of recoding.json: they tell what the table shows, what the codebook tells, and no more.

Labels are in the order of their letters. A label that no row shows joins at least two others, so a tree has fewer of
these than of labels that are shown or told.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

from sfumato.privacy.verify.fields import Form, ascending, exact_keys, field, mapping, short
from sfumato.privacy.verify.intervals import ends_of_shown, plain
from sfumato.privacy.verify.rule import SUPPRESSED, tree_file
from sfumato.privacy.verify.table import values
from sfumato.privacy.verify.trees import nodes
from sfumato.privacy.verify.verdict import CheckError

if TYPE_CHECKING:
    from sfumato.privacy.verify.folder import Folder

CODEBOOK = "codebook.json"
Labels = Collection[str | None]
Also = Mapping[str, Collection[str] | None]
"""Of some columns, labels that a claim is counted with; None where they are not at hand, so that no claim holds."""


def explained(release: Folder, also: Also) -> str:
    """recoding.json tells of the recoded columns in their order, and of each what the table shows of it."""
    recoded = release.certificate.recoded
    if "recoding.json" not in release.files and not recoded:
        return "this release has no recoding"
    form = release.json("recoding.json")
    exact_keys(form, ["attributes", *(["lifted"] if release.recoding.lifted else [])], "recoding.json")
    attributes = mapping(form["attributes"], "attributes")
    exact_keys(attributes, recoded, "recoding.json")
    for name in recoded:
        try:
            _rule(release, name, mapping(attributes[name], name), also)
        except CheckError as error:
            raise CheckError(f"{name}: {error}") from None
    trees = len(release.recoding.trees)
    return f"{len(recoded)} rules and {trees} trees tell what is shown, or what the codebook tells, and nothing else"


def told(release: Folder, name: str) -> set[str]:
    """The labels of a column that the codebook tells of."""
    if CODEBOOK not in release.files:
        return set()
    entries = mapping(release.json(CODEBOOK).get(name, {}), name)
    return {label for shown, spread in entries.items() for label in mapping(spread, shown)}


def _rule(release: Folder, name: str, form: Form, also: Also) -> None:
    shown = values(release.table, name)
    if form.get("kind") == "generalize":
        exact_keys(form, ["kind", "cut"], "the rule")
        cut = _ordered(form, "cut")
        _cut(cut, shown, release.recoding.rules[name].top, lifted=release.recoding.lifted)
        more = also.get(name, ())
        if more is not None:
            tree = release.json(tree_file(name))
            _pruned(tree, cut, {*told(release, name), *more})
    elif form.get("kind") == "suppress":
        exact_keys(form, ["kind", "disclosed", "complete"], "the rule")
        hidden = () if field(form, "complete", bool) else (SUPPRESSED,)
        if not {*_ordered(form, "disclosed"), *hidden} <= shown:
            raise CheckError("a label is disclosed, or hidden, that no row shows")
    else:
        _breaks(form, shown)


def _ordered(form: Form, key: str) -> list[str | None]:
    entries: list[object] = field(form, key, list)
    labels = [entry for entry in entries if entry is None or isinstance(entry, str)]
    if len(labels) != len(entries):
        raise CheckError(f"{key!r} is a list of labels")
    ascending(labels, key)
    return labels


def _cut(cut: Labels, shown: Labels, top: str, *, lifted: bool) -> None:
    """The cut is what the rows show; lifted records show the top besides."""
    expected = set(shown) - ({top} if lifted and top not in cut else set())
    if set(cut) != expected:
        raise CheckError("the cut lists labels that no row shows, or not all that are shown")


def _pruned(tree: Form, cut: Labels, told: Collection[str]) -> None:
    """Every label is shown or told, or joins others that are; the root stands above all."""
    for node in nodes(tree):
        ascending(node.below, "a taxonomy")
        if node.label in cut or (node.label in told and not node.below):
            continue
        short(node.label, "a taxonomy")
        if node.label not in told and node.depth and len(node.below) < 2:
            raise CheckError("its taxonomy has a label that is neither shown nor told by the codebook")


def _breaks(form: Form, shown: Labels) -> None:
    """Every break is the end of an interval that some row shows; numbers stand in their one form."""
    keys = [key for key in ("missing", "calendar") if key in form]
    exact_keys(form, ["kind", "range", "breaks", *keys], "the rule")
    breaks: list[object] = field(form, "breaks", list)
    for entry in (*breaks, *(field(form, "range", list) if form["range"] is not None else ())):
        plain(entry)
    if form.get("missing") == "together" and breaks:
        raise CheckError("it has breaks, and shows no interval")
    if not all(ends_of_shown(form, shown)):
        raise CheckError("a break lies between intervals that no row shows")
