"""What a taxonomy says, entry by entry, before anybody asks whether it is a tree.

Files are taken apart leniently: nested YAML and JSON, parent-child rows, ARX hierarchy rows. Reading and checking
both start here, so a file that can be read and a file that is checked mean the same.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple, Protocol

import yaml

from sfumato.data.safe_files import read_text
from sfumato.data.yaml_files import Limited, Refusal
from sfumato.errors import TaxonomyError

MOST_BYTES, MOST_CELLS = 16 * 2**20, 300_000
"""The largest file of a taxonomy, and how many cells its rows may have: five levels of sixty thousand values."""
MOST_LEVELS = 100
"""From the root to the deepest leaf; the deepest that are in use have about ten."""
DRAFT_MARK = "# draft"
_SPLIT_ESCAPE = re.compile(r"\\\\|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}")
_TYPED: dict[str, Typed] = {
    "tag:yaml.org,2002:str": "text",
    "tag:yaml.org,2002:int": "number",
    "tag:yaml.org,2002:float": "number",
    "tag:yaml.org,2002:timestamp": "number",
    "tag:yaml.org,2002:bool": "boolean",
    "tag:yaml.org,2002:null": "nothing",
}
Layout = Literal["yaml", "json", "arx", "parents"]
Typed = Literal["text", "number", "boolean", "nothing"]
Place = Literal["anywhere", "leaf", "group"]


class Entry(NamedTuple):
    """One place where a label stands: below which label, in which line, and what YAML or JSON takes it for.

    `place` is what the layout says about it: an ARX row begins with a leaf and repeats its groups.
    """

    label: str
    parent: str | None
    line: int | None = None
    typed: Typed = "text"
    place: Place = "anywhere"


@dataclass(frozen=True)
class Finding:
    """Something wrong with a taxonomy: the rule it breaks, the label, the line of the file, and what to do.

    >>> str(Finding("unary", "North", 3, "it has one child only"))
    "line 3: unary: 'North': it has one child only"
    """

    rule: str
    label: str
    line: int | None
    message: str

    def __str__(self) -> str:
        line = "" if self.line is None else f"line {self.line}: "
        label = f"{self.label!r}: " if self.label else ""
        return f"{line}{self.rule}: {label}{self.message}"


@dataclass(frozen=True)
class Listing:
    """All entries of one taxonomy in file order, and what could not be understood."""

    layout: Layout
    entries: tuple[Entry, ...]
    findings: tuple[Finding, ...] = ()
    draft: bool = False


class Nodes(Protocol):
    """A tree in memory: the labels in depth-first order, and the number of each one's parent (-1 above the root)."""

    @property
    def labels(self) -> tuple[str, ...]:
        """All labels, the root first."""

    @property
    def parents(self) -> tuple[int, ...]:
        """For each label the number of the label above it."""

    @property
    def draft(self) -> bool:
        """Whether nobody has looked at it yet."""

    def to_tree(self) -> dict[str, object]:
        """Nested mappings, lists where only leaves hang below."""


def entries_of(tree: Nodes) -> Listing:
    """The entries of a taxonomy that is no file: without lines."""
    above = (None if parent < 0 else tree.labels[parent] for parent in tree.parents)
    entries = (Entry(label, parent) for label, parent in zip(tree.labels, above, strict=True))
    return Listing("yaml", tuple(entries), draft=tree.draft)


def list_entries(path: Path) -> Listing:
    """Everything a taxonomy file says; its layout follows from the suffix and the first row."""
    suffix = path.suffix.lower()
    if suffix in (".yaml", ".yml"):
        return _nested(_text(path), "yaml")
    if suffix == ".json":
        return _json(_text(path))
    if suffix in (".csv", ".tsv", ".txt"):
        return _rows(_text(path))
    raise TaxonomyError(
        str(path),
        "a taxonomy file ends in .yaml, .yml, .json, .csv, .tsv or .txt",
        given=f"the ending {path.suffix!r}",
        remedy="rename the file after what is in it",
    )


def _text(path: Path) -> str:
    return read_text(path, what=str(path), most=MOST_BYTES, kind=TaxonomyError)


def _json(text: str) -> Listing:
    beyond = _beyond(text, "json")
    if beyond is not None:
        return beyond
    try:
        form = json.loads(text)
    except (ValueError, RecursionError) as error:
        line = error.lineno if isinstance(error, json.JSONDecodeError) else None
        return Listing("json", (), (Finding("syntax", "", line, f"this is no JSON: {error}"),))
    if isinstance(form, dict) and set(form) == {"label", "below"}:
        return Listing("json", tuple(_told(form)))
    # Taken as YAML, JSON has line numbers. Two things differ: tabs, which JSON allows between tokens only,
    # and characters beyond 16 bits, which JSON escapes as two halves.
    return _nested(_SPLIT_ESCAPE.sub(_joined, text.replace("\t", " ")), "json")


def _told(form: dict[str, object]) -> Iterator[Entry]:
    """The entries of a tree as a release tells of it; a label without a name is called by its number."""
    waiting: list[tuple[object, str | None]] = [(form, None)]
    nameless = 0
    while waiting:
        part, parent = waiting.pop()
        own = part if isinstance(part, dict) else {"label": part}
        label, below = own.get("label"), own.get("below")
        nameless += label is None
        name = f"({nameless})" if label is None else str(label)
        yield Entry(name, parent)
        waiting.extend((under, name) for under in reversed(below if isinstance(below, list) else []))


def _joined(match: re.Match[str]) -> str:
    return match[0] if match[0] == "\\\\" else str(json.loads(f'"{match[0]}"'))


def _beyond(text: str, layout: Literal["yaml", "json"]) -> Listing | None:
    """What a text has that is beyond the limits, found before anything is made of it; broken ones are told later."""
    try:
        for _ in Limited(text.replace("\t", " ") if layout == "json" else text, tags=True):
            pass
    except Refusal as refusal:
        return Listing(layout, (), (Finding("syntax", "", refusal.line, f"{refusal.rule}: {refusal.given}"),))
    except yaml.YAMLError:
        return None
    return None


def _nested(text: str, layout: Literal["yaml", "json"]) -> Listing:
    beyond = _beyond(text, layout)
    if beyond is not None:
        return beyond
    try:
        root: yaml.Node | None = yaml.compose(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except (yaml.YAMLError, RecursionError) as error:
        mark, problem = getattr(error, "problem_mark", None), getattr(error, "problem", None)
        line = None if mark is None else mark.line + 1
        message = f"this is no YAML: {problem or type(error).__name__}"
        return Listing(layout, (), (Finding("syntax", "", line, message),))
    if not isinstance(root, yaml.MappingNode) or not root.value:
        message = "a taxonomy is one mapping under one root, such as ANY: {North: [a, b], South: [c]}"
        return Listing(layout, (), (Finding("syntax", "", 1, message),))
    found = sorted(_walk(root), key=lambda thing: thing.line or 0)
    entries = tuple(thing for thing in found if isinstance(thing, Entry))
    findings = tuple(thing for thing in found if isinstance(thing, Finding))
    return Listing(layout, entries, findings, text.startswith(DRAFT_MARK))


def _walk(root: yaml.MappingNode) -> Iterator[Entry | Finding]:
    """Entries and findings of nested nodes, siblings in their order; a stack, so no depth is too deep."""
    stack: list[tuple[yaml.Node, str | None]] = [(root, None)]
    seen: set[int] = set()
    while stack:
        node, parent = stack.pop()
        if id(node) in seen:
            message = "anchors and aliases are not used in a taxonomy: write the labels out"
            yield Finding("syntax", parent or "", _line(node), message)
            continue
        seen.add(id(node))
        for key, below in _pairs(node):
            thing = _entry(key, parent)
            yield thing
            if isinstance(thing, Finding) or below is None:
                continue
            if isinstance(below, yaml.CollectionNode):
                stack.append((below, thing.label))
            elif not (isinstance(below, yaml.ScalarNode) and _typed(below) == "nothing"):
                message = "what hangs below a label is a list or a mapping: write [leaf] for one leaf"
                yield Finding("syntax", thing.label, _line(below), message)


def _pairs(node: yaml.Node) -> Iterator[tuple[yaml.Node, yaml.Node | None]]:
    if isinstance(node, yaml.MappingNode):
        yield from node.value
    elif isinstance(node, yaml.SequenceNode):
        for item in node.value:
            if isinstance(item, yaml.MappingNode):
                yield from item.value
            else:
                yield item, None


def _entry(node: yaml.Node, parent: str | None) -> Entry | Finding:
    """A label is the text of the file: `no` is "no" and `01` is "01", whatever YAML makes of it."""
    if not isinstance(node, yaml.ScalarNode):
        return Finding("syntax", parent or "", _line(node), "a label is a text, not a list or a mapping")
    if node.tag not in _TYPED:
        return Finding("syntax", parent or "", _line(node), f"a label has no YAML tag: leave {node.tag} out")
    label = node.value
    if not label.strip():
        return Finding("empty", parent or "", _line(node), "below it stands an empty label: name it")
    return Entry(label, parent, _line(node), _typed(node))


def _typed(node: yaml.ScalarNode) -> Typed:
    return _TYPED.get(node.tag, "text")


def _line(node: yaml.Node) -> int:
    return int(node.start_mark.line) + 1


def _rows(text: str) -> Listing:
    try:
        rows, cells = [], 0
        for line, row in _cells(text):
            rows.append((line, row))
            cells += len(row)
            if cells > MOST_CELLS:
                message = f"a taxonomy has at most {MOST_CELLS:,} cells: leave out values that do not occur"
                return Listing("arx", (), (Finding("syntax", "", line, message),))
    except csv.Error as error:
        return Listing("arx", (), (Finding("syntax", "", None, f"this is no CSV: {error}"),))
    if not rows:
        return Listing("arx", (), (Finding("syntax", "", 1, "the file has no rows"),))
    header = [cell.strip().lower() for cell in rows[0][1]]
    if sorted(header) == ["child", "parent"]:
        return _parent_rows(rows[1:], parent_at=header.index("parent"))
    return _arx_rows(rows)


def _cells(text: str) -> Iterator[tuple[int, list[str]]]:
    """The rows that are not blank, each with the line where it begins."""
    first = next((line for line in text.splitlines() if line.strip()), "")
    unquoted = re.sub(r'"[^"]*"', "", first)
    delimiter = next((mark for mark in ";\t," if mark in unquoted), ";")
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, skipinitialspace=True)
    line = 1
    for row in reader:
        if any(cell.strip() for cell in row):
            yield line, row
        line = reader.line_num + 1


def _parent_rows(rows: list[tuple[int, list[str]]], *, parent_at: int) -> Listing:
    entries: list[Entry] = []
    findings: list[Finding] = []
    for line, row in rows:
        if len(row) != 2:
            message = f"a row has a parent and a child, and this one has {len(row)} cells: quote the labels"
            findings.append(Finding("syntax", row[0], line, message))
        elif not row[1 - parent_at].strip():
            findings.append(Finding("empty", row[parent_at], line, "its child in this row is empty: name it"))
        else:
            entries.append(Entry(row[1 - parent_at], row[parent_at] or None, line))
    if not rows:
        findings.append(Finding("syntax", "", 1, "the file has a header and no rows"))
    return Listing("parents", tuple(entries), tuple(findings))


def _arx_rows(rows: list[tuple[int, list[str]]]) -> Listing:
    entries: list[Entry] = []
    findings: list[Finding] = []
    for line, row in rows:
        path = [cell for at, cell in enumerate(row) if at == 0 or cell != row[at - 1]]
        if not all(cell.strip() for cell in path):
            message = "a cell of this row is empty: repeat the label to its left"
            findings.append(Finding("empty", row[0], line, message))
            path = [cell for cell in path if cell.strip()]
        above = [*path[1:], None]
        for at, (label, parent) in enumerate(zip(path, above, strict=True)):
            entries.append(Entry(label, parent, line, place="group" if at else "leaf"))
    return Listing("arx", tuple(entries), tuple(findings))
