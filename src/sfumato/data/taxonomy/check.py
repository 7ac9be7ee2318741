"""Is it a tree of unique labels, and does it fit the data? All that is wrong at once, each with its line."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path

from sfumato.data.taxonomy.parsing import MOST_LEVELS, Entry, Finding, Listing, Nodes, entries_of, list_entries

__all__ = ["FATAL", "Finding", "Grown", "check", "grow"]

MOST_FINDINGS = 10_000
"""Whoever has mended these looks again."""
# Rules without which there is no tree at all; the others are advice.
FATAL = frozenset({"syntax", "empty", "duplicate", "two-parents", "cycle", "roots", "leaf-and-group"})


def check(source: str | Path | Nodes, values: Iterable[object] | None = None) -> list[Finding]:
    """Everything that is wrong with a taxonomy, in the order of the file.

    `values` are the values of the column it is meant for (repeats and missing ones do no harm). The rules:
    `syntax`, `empty`, `duplicate` (a label twice below one parent), `two-parents`, `cycle`, `roots`
    (several), `leaf-and-group` (an ARX row begins with a group), `unary` (one child only), `type` (a boolean
    or a number where text is meant, a number written in two ways), `not-a-leaf` (a value that is no leaf).

    >>> from sfumato.data.taxonomy.taxonomy import Taxonomy
    >>> tree = Taxonomy.from_tree({"ANY": {"North": ["a"], "South": ["b", "c"]}})
    >>> for finding in check(tree, ["a", "d"]):
    ...     print(finding)
    unary: 'North': it has one child only, 'a': a step from one to the other shows nothing new
    not-a-leaf: 'd': a value of the data is no leaf of the taxonomy: add it
    """
    listing = list_entries(Path(source)) if isinstance(source, str | Path) else entries_of(source)
    grown = grow(listing)
    known = None if values is None else {value for value in values if value is not None}
    findings = [*grown.findings, *_unary(grown), *value_findings(grown.leaves, listing.entries, known)]
    in_file = [finding for finding in findings if finding.rule != "not-a-leaf"]
    of_data = [finding for finding in findings if finding.rule == "not-a-leaf"]
    return sorted(in_file, key=lambda finding: finding.line or 0) + of_data


@dataclass
class Grown:
    """Owns the tree that grows out of a listing: the first parent of each label, and what did not fit."""

    parent_of: dict[str, str] = field(default_factory=dict)
    first: dict[str, Entry] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)
    _up: dict[str, str] = field(default_factory=dict)
    _deep: dict[str, int] = field(default_factory=dict)
    _high: dict[str, int] = field(default_factory=dict)

    @property
    def roots(self) -> list[str]:
        """Labels that hang from nothing, in file order."""
        return [label for label in self.first if label not in self.parent_of]

    @property
    def children(self) -> dict[str, list[str]]:
        """Labels below each label that has any, in file order."""
        below: dict[str, list[str]] = {}
        for label, parent in self.parent_of.items():
            below.setdefault(parent, []).append(label)
        return below

    @property
    def leaves(self) -> dict[str, Entry]:
        """Labels that nothing hangs from, in file order, with the entry of each."""
        inner = set(self.parent_of.values())
        return {label: entry for label, entry in self.first.items() if label not in inner}

    def line(self, label: str) -> int | None:
        """Where a label stands first."""
        return self.first[label].line

    def hang(self, label: str, parent: str) -> int:
        """Hang a label that has no parent from one. Gives the levels there are at least, so far as the order tells."""
        self.parent_of[label] = self._up[label] = parent
        self._deep[label] = self._deep.get(parent, 1) + 1
        self._high[parent] = max(self._high.get(parent, 1), self._high.get(label, 1) + 1)
        return max(self._deep[label], self._high[parent])

    def _root(self, label: str) -> str:
        """What a label hangs from at last. Ways that were gone are cut short, so no tree takes its square in time."""
        gone = []
        while label in self._up:
            gone.append(label)
            label = self._up[label]
        self._up.update(dict.fromkeys(gone, label))
        return label

    def is_above(self, label: str, other: str) -> bool:
        """Whether the label is the other one, or hangs above it."""
        if label not in self.parent_of:
            return self._root(other) == label
        return self._on_the_way(label, other)

    def _on_the_way(self, label: str, other: str | None) -> bool:
        for _ in range(MOST_LEVELS + 1):  # a deeper tree is refused in the end, and must not take its square in time
            if other is None or other == label:
                return other == label
            other = self.parent_of.get(other)
        return False


def grow(listing: Listing) -> Grown:
    """The tree of a listing: every edge that fits is taken, every other one is a finding."""
    grown = Grown(findings=list(listing.findings))
    reported: set[tuple[str, str | None]] = set()
    for entry in listing.entries:
        problem = _problem(grown, entry)
        if problem is not None:
            if (entry.label, entry.parent) not in reported or entry.place != "group":
                grown.findings.append(problem)
            reported.add((entry.label, entry.parent))
            if len(grown.findings) > MOST_FINDINGS:
                break
            continue
        known = grown.first.get(entry.label)
        if known is None or (entry.parent is not None and known.parent is None):
            grown.first[entry.label] = entry
        if entry.parent is not None:
            if entry.label not in grown.parent_of and grown.hang(entry.label, entry.parent) > MOST_LEVELS:
                message = f"a tree has at most {MOST_LEVELS} levels, and this one has more"
                grown.findings.append(Finding("syntax", "", entry.line, message))
                break
            grown.first.setdefault(entry.parent, Entry(entry.parent, None, entry.line, place="group"))
    grown.findings.extend(_mixed(grown, listing))
    grown.findings.extend(_roots(grown, listing))
    return grown


def _problem(grown: Grown, entry: Entry) -> Finding | None:
    label, parent = entry.label, entry.parent
    known, first = grown.parent_of.get(label), grown.first.get(label)
    if parent is None or known == parent:
        repeated = first is not None and "group" not in (first.place, entry.place)
        return _duplicate(grown, entry) if repeated else None
    if grown.is_above(label, parent):
        message = f"it hangs from {parent!r} here, and {parent!r} hangs from it: a tree has no cycle"
        return Finding("cycle", label, entry.line, message)
    if known is not None:
        message = f"it hangs from {parent!r} here and from {known!r}{_where(grown.line(label))}: rename one"
        return Finding("two-parents", label, entry.line, message)
    return None


def _duplicate(grown: Grown, entry: Entry) -> Finding:
    message = f"it stands here again, after the first time{_where(grown.line(entry.label))}: leave one out"
    return Finding("duplicate", entry.label, entry.line, message)


def _where(line: int | None) -> str:
    return "" if line is None else f" in line {line}"


def _mixed(grown: Grown, listing: Listing) -> Iterator[Finding]:
    inner = set(grown.parent_of.values())
    for entry in listing.entries:
        if entry.place == "leaf" and entry.label in inner:
            message = "its row makes it a leaf, and another row hangs something below it: rename the group"
            yield Finding("leaf-and-group", entry.label, entry.line, message)


def _roots(grown: Grown, listing: Listing) -> Iterator[Finding]:
    """More than one root; in ARX's layout the top may be left out."""
    root, *others = grown.roots or [""]
    if listing.layout != "arx":
        for label in others:
            message = f"it hangs from nothing, and so does {root!r}: put all labels under one root"
            yield Finding("roots", label, grown.line(label), message)


def _unary(grown: Grown) -> Iterator[Finding]:
    for label, below in grown.children.items():
        if len(below) == 1:
            message = f"it has one child only, {below[0]!r}: a step from one to the other shows nothing new"
            yield Finding("unary", label, grown.line(label), message)


_READ_AS = {"boolean": "true or false", "nothing": "an empty value", "number": "a number"}
# Looking for a similar leaf costs about ten microseconds for each pair: above this many, no guesses.
_MOST_COMPARISONS = 100_000


def value_findings(
    leaves: Mapping[str, Entry], entries: Iterable[Entry], values: Collection[object] | None
) -> Iterator[Finding]:
    """Findings about types and values; without values, about types alone."""
    numbers = values is not None and bool(values) and all(_is_number(value) for value in values)
    yield from _typed_entries(entries, numbers=numbers)
    if numbers:
        yield from _words_among_numbers(leaves)
    if values is not None:
        labels = {entry.label: entry for entry in entries}
        twins = _Twins.of(leaves)
        strays = sorted({_label(value) for value in values} - leaves.keys())
        guess = len(strays) * len(leaves) <= _MOST_COMPARISONS
        for value in strays:
            yield _stray(value, labels, twins, guess=guess)


def _label(value: object) -> str:
    """The label of a value, as an encoded column has it: 1.0 is "1" and True is "true"."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return str(value).lower() if isinstance(value, bool) else str(value)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _typed_entries(entries: Iterable[Entry], *, numbers: bool) -> Iterator[Finding]:
    """Unquoted labels that YAML and JSON take for something else than text."""
    for entry in entries:
        if entry.typed == "text" or (numbers and entry.typed == "number"):
            continue
        message = f"without quotes it is read as {_READ_AS[entry.typed]}: write '{entry.label}' in quotes"
        yield Finding("type", entry.label, entry.line, message)


def _words_among_numbers(leaves: Mapping[str, Entry]) -> Iterator[Finding]:
    for label, entry in leaves.items():
        if _as_number(label) is None:
            yield Finding("type", label, entry.line, "the column holds numbers and this leaf is none: remove it")


@dataclass(frozen=True)
class _Twins:
    """Leaves by how they are spelt (letters' case and spaces apart), and by the number they stand for."""

    spelt: Mapping[str, Entry]
    counted: Mapping[float, Entry]

    @classmethod
    def of(cls, leaves: Mapping[str, Entry]) -> _Twins:
        spelt = {_plain(label): entry for label, entry in leaves.items()}
        counted = {number: leaves[label] for label in leaves if (number := _as_number(label)) is not None}
        return cls(spelt, counted)

    def of_text(self, value: str, *, guess: bool) -> Entry | None:
        plain = _plain(value)
        if plain not in self.spelt and guess:
            plain = next(iter(get_close_matches(plain, self.spelt, n=1, cutoff=0.8)), plain)
        return self.spelt.get(plain)


def _stray(value: str, labels: Mapping[str, Entry], twins: _Twins, *, guess: bool) -> Finding:
    if value in labels:
        message = "a value of the data is a group here, not a leaf: hang a leaf below it or rename the group"
        return Finding("not-a-leaf", value, labels[value].line, message)
    twin = twins.counted.get(number) if (number := _as_number(value)) is not None else None
    if twin is not None:
        message = f"the data write this number as {value!r}: write the leaf the same way"
        return Finding("type", twin.label, twin.line, message)
    twin = twins.of_text(value, guess=guess)
    if twin is None:
        message = "a value of the data is no leaf of the taxonomy: add it"
        return Finding("not-a-leaf", value, None, message)
    message = f"a value of the data is no leaf of the taxonomy: add it, or is it the leaf {twin.label!r}?"
    return Finding("not-a-leaf", value, twin.line, message)


def _plain(label: str) -> str:
    return "".join(label.casefold().split())


def _as_number(label: str) -> float | None:
    try:
        return float(label)
    except ValueError:
        return None
