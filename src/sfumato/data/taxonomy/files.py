"""Taxonomies from and to files: nested YAML and JSON, parent-child CSV, ARX hierarchy CSV."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

from sfumato.data.taxonomy.check import FATAL, Grown, grow
from sfumato.data.taxonomy.parsing import DRAFT_MARK, Layout, Nodes, list_entries
from sfumato.data.yaml_files import dump_yaml
from sfumato.errors import TaxonomyError, did_you_mean

_LAYOUTS: dict[str, Layout] = {".yaml": "yaml", ".yml": "yaml", ".json": "json", ".csv": "arx", ".txt": "arx"}
_ARX_TOP = "*"


@dataclass(frozen=True)
class Parents:
    """The tree in a file: the parent of every label, None for the root; `draft`: nobody has looked at it yet."""

    parent_of: Mapping[str, str | None]
    draft: bool


def read_parents(path: str | Path) -> Parents:
    """The tree in a file: `.yaml`, `.yml` and `.json` hold a nested tree, `.csv` holds rows.

    Rows under the header `parent,child` (or `child,parent`) are edges. Rows without a header are an ARX
    hierarchy: one row for each leaf, the leaf first, widening to the right, labels repeated where a level is
    padded; if the last level has several labels, `*` is put on top. A label is the text of the file: an
    unquoted `no` in YAML is the label "no".
    """
    path = Path(path)
    listing = list_entries(path)
    grown = grow(listing)
    fatal = sorted((f for f in grown.findings if f.rule in FATAL), key=lambda finding: finding.line or 0)
    if fatal:
        more = f"; {len(fatal) - 1} more" if len(fatal) > 1 else ""
        raise TaxonomyError(
            f"{path}, line {fatal[0].line}" if fatal[0].line else str(path),
            fatal[0].message,
            given=f"{fatal[0].label!r}{more}" if fatal[0].label else "",
            remedy=f"list all that is wrong with: sfumato taxonomy check {path}",
        )
    return Parents(_parent_of(grown), listing.draft)


def _parent_of(grown: Grown) -> dict[str, str | None]:
    roots = grown.roots
    top = roots[0] if len(roots) == 1 else _ARX_TOP
    above: dict[str, str | None] = {top: None}
    above.update({label: grown.parent_of.get(label, top) for label in grown.first if label != top})
    return above


def write_tree(tree: Nodes, path: str | Path, *, layout: Layout | None = None) -> None:
    """Write a taxonomy; the layout follows from the suffix (`.csv` is an ARX hierarchy) unless it is given.

    `layout` is one of "yaml", "json", "arx" and "parents".
    """
    path = Path(path)
    text = taxonomy_text(tree, layout=layout or layout_for(path))
    try:
        path.write_bytes(text.encode("utf-8"))
    except OSError as error:
        raise TaxonomyError(
            str(path),
            "the file cannot be written",
            given=error.strerror or type(error).__name__,
            remedy="name a file in a folder that exists and is yours",
        ) from error


def layout_for(path: Path) -> Layout:
    """The layout that a file's suffix stands for."""
    layout = _LAYOUTS.get(path.suffix.lower())
    if layout is None:
        raise TaxonomyError(
            str(path),
            "a taxonomy file ends in .yaml, .yml, .json, .csv or .txt",
            given=f"the ending {path.suffix!r}",
            remedy="choose one of these endings, or say the layout",
        )
    return layout


def taxonomy_text(tree: Nodes, *, layout: Layout) -> str:
    """What a file of this layout says.

    >>> from sfumato.data.taxonomy.taxonomy import Taxonomy
    >>> tree = Taxonomy.from_tree({"ANY": {"North": ["a", "b"], "c": None}})
    >>> print(taxonomy_text(tree, layout="arx"), end="")
    a;North;ANY
    b;North;ANY
    c;c;ANY
    >>> print(taxonomy_text(tree, layout="parents"), end="")
    parent,child
    ANY,North
    North,a
    North,b
    ANY,c
    """
    if layout == "yaml":
        mark = f"{DRAFT_MARK}: proposed from the data; nobody has looked at it yet\n" if tree.draft else ""
        return mark + dump_yaml(tree.to_tree(), width=10**6)
    if layout == "json":
        return json.dumps(tree.to_tree(), ensure_ascii=False, indent=2) + "\n"
    if layout == "arx":
        return _csv(_arx_paths(tree), delimiter=";")
    if layout == "parents":
        return _csv(_edges(tree), delimiter=",")
    raise TaxonomyError(
        "layout",
        "a taxonomy is written as one of " + ", ".join(get_args(Layout)),
        given=repr(layout),
        remedy=did_you_mean(str(layout), get_args(Layout)),
    )


def _arx_paths(tree: Nodes) -> Iterable[list[str]]:
    """One row for each leaf, padded with the leaf so that a label's column says how far the root is."""
    paths: list[list[str]] = []  # from each label up to the root; a parent stands before its children
    for label, parent in zip(tree.labels, tree.parents, strict=True):
        paths.append([label, *(paths[parent] if parent >= 0 else [])])
    levels, inner = max(map(len, paths)), set(tree.parents)
    for node, path in enumerate(paths):
        if node not in inner:
            yield [path[0]] * (levels - len(path)) + path


def _edges(tree: Nodes) -> Iterable[list[str]]:
    yield ["parent", "child"]
    if len(tree.labels) == 1:
        yield ["", tree.labels[0]]
    for label, parent in zip(tree.labels[1:], tree.parents[1:], strict=True):
        yield [tree.labels[parent], label]


def _csv(rows: Iterable[list[str]], *, delimiter: str) -> str:
    return "".join(delimiter.join(_quoted(row, delimiter)) + "\n" for row in rows)


def _quoted(row: list[str], delimiter: str) -> Iterable[str]:
    """Cells in quotes where a reader would otherwise split them or lose a leading space."""
    marks = {'"', "\n", "\r", ";", "\t", delimiter} | ({","} if len(row) == 1 else set())
    for cell in row:
        plain = cell == cell.strip() and marks.isdisjoint(cell)
        yield cell if plain else '"' + cell.replace('"', '""') + '"'
