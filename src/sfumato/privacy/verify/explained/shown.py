"""The trees and rules of recoding.json: they tell what the table shows, what the codebook tells, and no more.

Labels are in the order of their letters. A label that no row shows and nothing tells of has no name: it joins at least
two others, and says no more.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

from sfumato.privacy.verify.explained.groups import by_groups
from sfumato.privacy.verify.explained.trees import NAMELESS, in_order, nodes, tree_file
from sfumato.privacy.verify.fields import Form, ascending, exact_keys, field, mapping
from sfumato.privacy.verify.intervals import SUPPRESSED, ends_of_shown, nested, plain
from sfumato.privacy.verify.maskers import SETS
from sfumato.privacy.verify.spelling import Spelling
from sfumato.privacy.verify.table import held, sets
from sfumato.privacy.verify.verdict import CheckError, Idle

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
        return Idle("this release has no recoding")
    form = release.json("recoding.json")
    exact_keys(form, ["attributes", *(["lifted"] if release.recoding.lifted else [])], "recoding.json")
    attributes = mapping(form["attributes"], "attributes")
    exact_keys(attributes, recoded, "recoding.json")
    for name in recoded:
        try:
            _rule(release, name, mapping(attributes[name], name), also)
        except CheckError as error:
            raise CheckError(f"{name}: {error}") from None
    trees = len(release.recoding.trees) + len(release.recoding.nested)
    return f"{len(recoded)} rules and {trees} trees tell what is shown, or what the codebook tells, and nothing else"


def told(release: Folder, name: str) -> set[str]:
    """The labels of a column that the codebook tells of."""
    if CODEBOOK not in release.files:
        return set()
    form = release.json(CODEBOOK)
    if by_groups(form):
        groups = mapping(form.get("columns"), "columns").get(name, [])
        spreads = [entry for entry in groups if isinstance(entry, dict)] if isinstance(groups, list) else []
        return {label for spread in spreads for label in spread}
    entries = mapping(form.get(name, {}), name)
    return {label for shown, spread in entries.items() for label in mapping(spread, shown)}


def _rule(release: Folder, name: str, form: Form, also: Also) -> None:
    shown = held(release.table, name, release.recoding.rules[name])
    if form.get("kind") == SETS:
        exact_keys(form, ["kind", "cut", "apart", "separator"], "the rule")
        if set(_ordered(form, "cut")) != shown:
            raise CheckError("the cut lists labels that no set shows, or not all that are shown")
        texts = set(sets(release.table, name, field(form, "separator", str)).unique().to_list())
        if not field(form, "apart", bool) and texts != {release.recoding.rules[name].top}:
            raise CheckError("everybody shows the root, and some row does not")
        named(release.json(tree_file(name)), shown)
    elif form.get("kind") == "generalize":
        exact_keys(form, ["kind", "cut"], "the rule")
        cut = _ordered(form, "cut")
        _cut(cut, shown, release.recoding.rules[name].top, lifted=release.recoding.lifted)
        more = also.get(name, ())
        if more is not None:
            named(release.json(tree_file(name)), {*shown, *told(release, name), *more})
    elif form.get("kind") == "suppress":
        exact_keys(form, ["kind", "disclosed", "complete"], "the rule")
        hidden = () if field(form, "complete", bool) else (SUPPRESSED,)
        if not {*_ordered(form, "disclosed"), *hidden} <= shown:
            raise CheckError("a label is disclosed, or hidden, that no row shows")
    else:
        _breaks(form, shown, spelling=release.certificate.spelling)
        if "tree" in form:
            nested(form, nodes(release.json(tree_file(name))), spelling=release.certificate.spelling)


def _ordered(form: Form, key: str) -> list[str | None]:
    entries: list[object] = field(form, key, list)
    labels = [entry for entry in entries if entry is None or isinstance(entry, str)]
    if len(labels) != len(entries):
        raise CheckError(f"{key!r} is a list of labels")
    ascending(labels, key)
    return labels


def _cut(cut: Labels, shown: Labels, top: str, *, lifted: bool) -> None:
    """The cut is what the rows show; lifted records show the top besides, which has a name then."""
    if lifted and top == NAMELESS:
        raise CheckError("records were lifted to a top that has no name")
    expected = set(shown) - ({top} if lifted and top not in cut else set())
    if set(cut) != expected:
        raise CheckError("the cut lists labels that no row shows, or not all that are shown")


def named(tree: Form, known: Collection[str | None]) -> None:
    """A label has a name where a row shows it, the codebook tells of it or a claim is counted with it; else none."""
    every = nodes(tree)
    if any(node.label is not None and node.label not in known for node in every):
        raise CheckError("its taxonomy names a label that is neither shown nor told by the codebook")
    if not in_order(every):
        raise CheckError("the labels of its taxonomy do not stand in the order of their letters")


def _breaks(form: Form, shown: Labels, *, spelling: Spelling) -> None:
    """Every break is the end of an interval that some row shows; numbers stand in their one form."""
    keys = [key for key in ("missing", "calendar", "tree") if key in form]
    exact_keys(form, ["kind", "range", "breaks", *keys], "the rule")
    breaks: list[object] = field(form, "breaks", list)
    for entry in (*breaks, *(field(form, "range", list) if form["range"] is not None else ())):
        plain(entry)
    if form.get("missing") == "together" and (breaks or "tree" in form):
        raise CheckError("it has breaks or a tree, and shows no interval")
    if "tree" in form and form["tree"] is not True:
        raise CheckError("it says that it has a tree, or does not speak of it")
    if not all(ends_of_shown(form, shown, spelling=spelling)):
        raise CheckError("a break lies between intervals that no row shows")
