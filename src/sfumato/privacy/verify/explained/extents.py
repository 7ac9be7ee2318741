"""partition.json: what every text of a partitioned column stands for. It is written again from that, and compared.

Nothing in it goes beyond the table: a text that no row shows is refused, and so is one that is not told. Where labels
stand above others, the column comes with its taxonomy, as far as rows show it or the codebook tells of it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from itertools import pairwise
from typing import TYPE_CHECKING

from sfumato.privacy.verify.explained.shown import named
from sfumato.privacy.verify.explained.shown import told as told_labels
from sfumato.privacy.verify.explained.trees import TREE, nodes, tree_file
from sfumato.privacy.verify.fields import Form, ascending, exact_keys, field, mapping, one_of
from sfumato.privacy.verify.intervals import SUPPRESSED, Bound, bound_of, labels, range_of
from sfumato.privacy.verify.spelling import OR_MISSING, Spelling
from sfumato.privacy.verify.table import values
from sfumato.privacy.verify.verdict import CheckError, Idle

if TYPE_CHECKING:
    from sfumato.privacy.verify.folder import Folder

EXTENT, NAME = "extent", "partition.json"


def extents(release: Folder) -> str:
    """Every column of extents shows the texts that partition.json tells of, each of them and no other."""
    masked = [column.name for column in release.certificate.columns if column.masked == EXTENT]
    if not masked and NAME not in release.files:
        return Idle("this release has none")
    form = release.json(NAME)
    exact_keys(form, ["attributes", *(["apart"] if "apart" in form else [])], NAME)
    if form.get("apart", False) is not False:
        raise CheckError("'apart' is told where groups may overlap, and says false")
    attributes = mapping(form["attributes"], "attributes")
    exact_keys(attributes, masked, NAME)
    count = 0
    for name in masked:
        try:
            axis = mapping(attributes[name], name)
            told = texts(axis, spelling=release.certificate.spelling)
            ascending(list(told), "what is shown")
            shown = {text for text in values(release.table, name) if text is not None}
            if set(told) != shown - {SUPPRESSED}:
                raise CheckError("the column shows a text that is not told, or one is told that no row shows")
            if axis.get("kind") == TREE:
                _check_tree(release, name, told, apart="apart" not in form)
            if SUPPRESSED not in shown:
                _check_reach(axis, told)
        except CheckError as error:
            raise CheckError(f"{NAME}, {name}: {error}") from None
        count += len(told)
    return f"{len(masked)} columns show {count} intervals and sets of labels, each as it is told"


def _check_tree(release: Folder, name: str, told: Collection[str], *, apart: bool) -> None:
    """Its taxonomy has every label that is shown, and names no other but those of the codebook. Its root has no name:
    what stands for anything is written as *."""
    if apart:
        raise CheckError("groups that show labels of a taxonomy may overlap, which is not told")
    tree = release.json(tree_file(name))
    every = nodes(tree)
    if every[0].label is not None:
        raise CheckError("the root of its taxonomy has a name, and no row shows it")
    if not set(told) <= {node.label for node in every}:
        raise CheckError("it shows a label that its taxonomy does not have")
    named(tree, {*told, *told_labels(release, name)})


def texts(axis: Form, *, spelling: Spelling) -> dict[str, list[object]]:
    """Every text that is told of a column, in the order of the file, with what it stands for."""
    entries: list[object] = field(axis, "shown", list)
    found: dict[str, list[object]] = {}
    for entry in entries:
        if not isinstance(entry, list):
            raise CheckError("what a text stands for is a list")
        text = text_of(axis, entry, spelling=spelling)
        if text in found:
            raise CheckError("two entries are written alike")
        found[text] = entry
    return found


def text_of(axis: Form, entry: list[object], *, spelling: Spelling) -> str:
    """How what a text stands for is written; `spelling`: how they were (`intervals`)."""
    if axis.get("kind") == "number":
        return _interval(axis, entry, spelling=spelling)
    return _label(axis, entry) if axis.get("kind") == TREE else _labels(axis, entry, spelling)


def members(axis: Form, spelling: Spelling) -> dict[str, frozenset[str | None]]:
    """Of a column of labels, which of them each text stands for."""
    if axis.get("kind") != "labels":
        return {}
    told: Mapping[str, list[object]] = texts(axis, spelling=spelling)
    return {text: frozenset(label for label in entry if _is_label(label)) for text, entry in told.items()}  # type: ignore[misc]


def _is_label(entry: object) -> bool:
    return entry is None or isinstance(entry, str)


def _labels(axis: Form, entry: list[object], spelling: Spelling) -> str:
    """Labels in the order of their letters, missing last: one alone as it is, several in braces."""
    one_of(axis, "kind", ("labels",))
    exact_keys(axis, ["kind", "shown"], "a column")
    names = [label for label in entry if isinstance(label, str)]
    gone = entry[-1:] == [None]
    if not names or len(names) + gone != len(entry):
        raise CheckError("a text stands for labels, missing last")
    ascending(names, "labels")
    return spelling.set_text(names, gone=gone)


def _interval(axis: Form, entry: list[object], *, spelling: Spelling) -> str:
    """Two ends, null where an interval reaches to that of the range; a null behind them if some values are missing."""
    unit = field(axis, "calendar", str) if "calendar" in axis else None
    exact_keys(axis, ["kind", "range", *(["calendar"] if unit else []), "shown"], "a column")
    ends = range_of(axis["range"], unit)
    if len(entry) not in (2, 3) or entry[2:] not in ([], [None]):
        raise CheckError("an interval has two ends, and a null behind them if some values are missing")
    low, high = (None if end is None else bound_of(end, unit) for end in entry[:2])
    if len(entry) == 3 and low is None and high is None:
        raise CheckError("what stands for anything is written as *")
    _check_order(low, high, ends)
    breaks = [bound for bound in (low, high) if bound is not None]
    text = labels(ends, breaks, unit, spelling=spelling)[0 if low is None else 1]
    return text + OR_MISSING if len(entry) == 3 else text


def _label(axis: Form, entry: list[object]) -> str:
    """One label of a tree."""
    if len(entry) != 1 or not isinstance(entry[0], str) or entry[0] == SUPPRESSED:
        raise CheckError("a text of a column with a taxonomy stands for one label of it")
    exact_keys(axis, ["kind", "shown"], "a column")
    return entry[0]


def _check_reach(axis: Form, told: Mapping[str, list[object]]) -> None:
    """A declared range is shown at both of its ends: one to which nothing reaches might be anything."""
    entries = told.values()
    reach = any(entry[0] is None for entry in entries) and any(entry[1] is None for entry in entries)
    if axis.get("kind") == "number" and axis.get("range") is not None and not reach:
        raise CheckError("a range is told to whose ends no interval reaches")


def _check_order(low: Bound | None, high: Bound | None, ends: tuple[Bound, Bound] | None) -> None:
    least, most = (None, None) if ends is None else ends
    marks = [bound.at for bound in (least, low, high) if bound is not None]
    if any(not before < after for before, after in pairwise(marks)):
        raise CheckError("the ends of an interval ascend, inside the range")
    last = high or low
    if most is not None and last is not None and last.at > (most.at[0], most.at[1] + "~"):  # 1990 covers all of 1990
        raise CheckError("the ends of an interval ascend, inside the range")
