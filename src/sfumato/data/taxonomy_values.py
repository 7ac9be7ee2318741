"""Does a taxonomy fit the values of a column? Types, spellings, and values that are no leaf."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches

from sfumato.data.taxonomy_entries import Entry, Finding

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
