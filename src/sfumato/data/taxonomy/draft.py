"""A first taxonomy for a column's values: a proposal to look at, never used by itself.

Three ways, by what the values look like: the calendar for dates, prefixes for codes, and groups of
neighbouring labels with similar numbers of records for everything else.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from sfumato.data.taxonomy.taxonomy import Taxonomy
from sfumato.errors import TaxonomyError, did_you_mean

Way = Literal["calendar", "prefix", "balanced"]
Nested = dict[str, "Nested | None"]

_DATE = re.compile(r"(\d{4})-(\d{2})-\d{2}(?:[T ].*)?")
_CODE = re.compile(r"([A-Za-z]{1,3}-?\d+|\d{3,})[A-Za-z]?([-.][\dA-Za-z]+)*")
_FEWEST_CODES = 4
_POST_CODES = tuple(
    re.compile(form)
    for form in (
        r"(\d)(\d)(\d)(\d)(?P<blank> ?[A-Z]{2})",  # 3511 AB: Netherlands
        r"([A-Z]{1,2})(\d[A-Z\d]?)(?P<blank> ?\d)([A-Z]{2})",  # SW1A 1AA: United Kingdom
        r"([A-Z])(\d)([A-Z])(?P<blank> ?\d)([A-Z]\d)",  # K1A 0B1: Canada
        r"([A-Z])(\d[\dW])(?P<blank> ?[A-Z\d])([A-Z\d]{3})",  # D02 X285: Ireland
        r"(\d)(\d)(\d\d)(?P<hyphen>-?\d)(\d\d)",  # 1234-567: Portugal
        r"(\d)(\d)(?P<hyphen>-\d)(\d\d)",  # 00-950: Poland
        r"(\d)(\d)(\d)(?P<blank> \d\d)",  # 114 55: Sweden, Czechia, Slovakia, Greece
        r"(\d)(\d)(\d)(\d\d)(?P<hyphen>-\d{3})",  # 01310-100: Brazil
        r"(\d)(\d\d)(?P<hyphen>-\d{4})",  # 100-0001: Japan
    )
)
"""Post codes in capitals, each part of which stands for a smaller area; before one there is a blank or a hyphen."""
_NEARLY_ALL = 0.95
"""So many of the values are post codes; the others are written otherwise, and stand by themselves."""
_FEWEST_DIGITS, _MOST_LENGTHS, _OF_ONE_LENGTH = 3, 3, 0.99
"""Codes of digits: how many they have at least, how many lengths there are at most, and of how many records."""


@dataclass(frozen=True)
class TaxonomyDraft:
    """A proposed taxonomy, how it was made, and why so."""

    taxonomy: Taxonomy
    way: Way
    reason: str


def draft_taxonomy(
    values: Iterable[object], *, counts: Sequence[int] | None = None, kind: Way | None = None
) -> Taxonomy:
    """A proposed taxonomy over values, marked as a draft; `propose_taxonomy` also tells the reason.

    >>> draft_taxonomy(["53715", "53710", "53706", "90210"]).to_tree()
    {'ANY': {'537**': {'53706': None, '5371*': ['53710', '53715']}, '90210': None}}
    >>> draft_taxonomy(["ant", "bee", "cat", "dog"], counts=[3, 3, 3, 3]).to_tree()
    {'ANY': {'ant..bee': ['ant', 'bee'], 'cat..dog': ['cat', 'dog']}}
    """
    return propose_taxonomy(values, counts=counts, kind=kind).taxonomy


def propose_taxonomy(
    values: Iterable[object], *, counts: Sequence[int] | None = None, kind: Way | None = None, coded: bool = False
) -> TaxonomyDraft:
    """A proposed taxonomy and the reason for it.

    `counts` says how many records have each value (left out: as many as the value is repeated); missing
    values are passed over. `kind` asks for one way: "calendar", "prefix" or "balanced". `coded`: they are codes, so
    that digits of several lengths are no numbers.
    """
    records = _records(values, counts)
    way = kind or ("prefix" if coded and _lengths(records) else _way(list(records)))
    if way not in get_args(Way):
        raise TaxonomyError(
            "kind",
            "a taxonomy is drafted in one of the ways " + ", ".join(get_args(Way)),
            given=repr(kind),
            remedy=did_you_mean(str(kind), get_args(Way)),
        )
    groups, reason = _grouped(records, way)
    groups = _pruned(groups)
    only = next(iter(groups.values())) if len(groups) == 1 else None
    root = next(name for name in ("ANY", "(ANY)", "((ANY))") if name not in records)
    return TaxonomyDraft(Taxonomy.from_tree({root: only or groups}, draft=True), way, reason)


def _records(values: Iterable[object], counts: Sequence[int] | None) -> dict[str, int]:
    listed = list(values)
    if counts is not None and len(counts) != len(listed):
        raise TaxonomyError(
            "counts",
            "there is one count for each value",
            given=f"{len(counts)} counts for {len(listed)} values",
            remedy="leave counts out, or give one for each value",
        )
    records: dict[str, int] = {}
    for value, count in zip(listed, counts if counts is not None else [1] * len(listed), strict=True):
        if value is not None and str(value).strip():
            records[str(value)] = records.get(str(value), 0) + int(count)
    if not records:
        raise TaxonomyError(
            "taxonomy", "a taxonomy has values", given="none", remedy="choose a column that is not empty"
        )
    return dict(sorted(records.items(), key=_in_order(records)))


def _in_order(records: Iterable[str]) -> _Key:
    numbers = all(re.fullmatch(r"-?\d+(\.\d+)?", value) for value in records)
    return _Key(numbers=numbers)


@dataclass(frozen=True)
class _Key:
    """Sorts numbers as numbers and everything else by its text."""

    numbers: bool

    def __call__(self, item: tuple[str, int]) -> tuple[float, str]:
        return (float(item[0]) if self.numbers else 0.0, item[0])


def _way(values: list[str]) -> Way:
    if all(_DATE.fullmatch(value) for value in values):
        return "calendar"
    if _post_code(values) is not None:
        return "prefix"
    codes = all(_CODE.fullmatch(value) for value in values)
    lengths = {len(value) for value in values}
    lettered = any(not value.isdigit() for value in values)
    if codes and len(values) >= _FEWEST_CODES and (lettered or len(lengths) == 1):
        return "prefix"
    return "balanced"


def _grouped(records: dict[str, int], way: Way) -> tuple[Nested, str]:
    if way == "calendar":
        return _calendar(list(records)), "the values are dates: years, then months, then the values"
    if way == "prefix":
        even = len({len(value) for value in records}) == 1
        post_code = _post_code(list(records))
        if post_code is not None:
            return _by_area(
                list(records), post_code
            ), "the values are post codes: those that begin alike stand together"
        lengths = _lengths(records)
        if lengths and not even:
            told = (
                "the values are codes of several lengths: by their length, then those that begin alike stand together"
            )
            return _by_length(list(records), lengths), told
        return _prefixes(list(records), 1, even=even), "the values are codes: those that begin alike stand together"
    reason = "labels that follow each other, in groups with similar numbers of records: rename and regroup them"
    return _balanced(records), reason


def _calendar(values: list[str]) -> Nested:
    groups: Nested = {}
    for value in values:
        match = _DATE.fullmatch(value)
        if match is None:
            raise TaxonomyError(
                "taxonomy",
                "a calendar is drafted over dates such as 2026-12-31",
                given="values that are no ISO dates",
                remedy="ask for another kind (--kind balanced), or rewrite the dates",
            )
        year, month = match[1], f"{match[1]}-{match[2]}"
        _at(_at(groups, year), month)[value] = None
    return groups


def _pruned(groups: Nested) -> Nested:
    """Without groups that have one child only: the child says more."""
    kept: Nested = {}
    for label, below in groups.items():
        under = _pruned(below) if below else None
        kept.update(under if under is not None and len(under) == 1 else {label: under})
    return kept


def _at(groups: Nested, label: str) -> Nested:
    below = groups.get(label)
    if below is None:
        below = groups[label] = {}
    return below


def _prefixes(values: list[str], length: int, *, even: bool) -> Nested:
    """Values by their first characters; a shared beginning is no level of its own."""
    if len(values) <= 2:
        return dict.fromkeys(values)
    by_start: dict[str, list[str]] = {}
    for value in values:
        by_start.setdefault(value[:length].rstrip("-. "), []).append(value)
    if len(by_start) == 1:
        longest = max(len(value) for value in values)
        return _prefixes(values, length + 1, even=even) if length < longest else dict.fromkeys(values)
    groups: Nested = {}
    for members in by_start.values():
        if len(members) == 1:
            groups[members[0]] = None
        else:
            groups[_starred(members, even=even)] = _prefixes(members, length + 1, even=even)
    return groups


def _lengths(records: dict[str, int]) -> list[int]:
    """The few lengths that nearly all records' codes of digits have; none where they have many, or are no digits."""
    held: dict[int, int] = {}
    for value, count in records.items():
        if _is_digits(value) and len(value) >= _FEWEST_DIGITS:
            held[len(value)] = held.get(len(value), 0) + count
    most = sorted(held, key=lambda length: -held[length])[:_MOST_LENGTHS]
    enough = sum(held[length] for length in most) >= _OF_ONE_LENGTH * sum(records.values())
    return sorted(most) if enough and len(records) >= _FEWEST_CODES else []


def _by_length(values: list[str], lengths: Sequence[int]) -> Nested:
    """Codes of digits by their length, then by their beginnings; what is written otherwise stands by itself.

    >>> _by_length(["5020", "5023", "5110", "83301", "90402", "X"], [4, 5])["5***"]
    {'502*': {'5020': None, '5023': None}, '5110': None}
    """
    groups: Nested = {}
    for length in lengths:
        members = [value for value in values if len(value) == length and _is_digits(value)]
        shared = _starred(members, even=True)
        name = shared if shared[0] != "*" and len(members) > 1 else f"{length} digits"
        groups[name] = _prefixes(members, 1, even=True)
    return groups | {value: None for value in values if len(value) not in lengths or not _is_digits(value)}


def _is_digits(value: str) -> bool:
    return value.isascii() and value.isdecimal()


def _post_code(values: list[str]) -> re.Pattern[str] | None:
    """The form of post codes that nearly all values have, in capitals or not, with a blank or without; None of others.

    What is the same in all of them at its end is a unit of measure, and no area.
    """
    for form in _POST_CODES if len(values) >= _FEWEST_CODES else ():
        parts = [found.groups() for value in values if (found := form.fullmatch(_capitals(value)))]
        if len(parts) >= _NEARLY_ALL * len(values) and len({part[-1] for part in parts}) > 1:
            return form
    return None


def _capitals(value: str) -> str:
    return " ".join(value.upper().split())


def _by_area(values: list[str], form: re.Pattern[str]) -> Nested:
    """Post codes by their beginnings, part by part; several spellings of one code stand together."""
    groups: Nested = {}
    marks = {at: " " if name == "blank" else "-" for name, at in form.groupindex.items()}
    for value in values:
        found = form.fullmatch(_capitals(value))
        if found is None:
            groups[value] = None
            continue
        below, start = groups, ""
        for at, part in enumerate(found.groups(), start=1):
            start += marks.get(at, "") + part.strip(" -")
            below = _at(below, f"{start}*")
        below[value] = None
    return groups


def _starred(values: list[str], *, even: bool) -> str:
    """What all values begin with, and a star: one for each place after it if all codes are of even length.

    >>> _starred(["53715", "53706"], even=True), _starred(["I10", "I10.1"], even=False)
    ('537**', 'I10*')
    """
    shared = next(n for n in range(min(map(len, values)), -1, -1) if len({value[:n] for value in values}) == 1)
    start = values[0][:shared].rstrip("-. ")
    return start + "*" * (len(values[0]) - len(start) if even else 1)


def _balanced(records: dict[str, int]) -> Nested:
    """Runs of neighbouring labels, about as many as the root of their number; long runs are split again."""
    if len(records) < _FEWEST_CODES:
        return dict.fromkeys(records)
    wanted = math.ceil(math.sqrt(len(records)))
    groups: Nested = {}
    for run in _runs(records, wanted):
        if len(run) == 1:
            groups[run[0]] = None
        else:
            below: Nested = dict.fromkeys(run)
            if len(run) > 2 * wanted:
                below = _balanced({value: records[value] for value in run})
            groups[_named(run, records)] = below
    return groups


def _named(run: list[str], records: dict[str, int]) -> str:
    name = f"{run[0]}..{run[-1]}"
    return name if name not in records else f"({name})"


def _runs(records: dict[str, int], wanted: int) -> list[list[str]]:
    """At least two runs, each near its share of the records that are left when it begins."""
    runs: list[list[str]] = [[]]
    left, held, share = sum(records.values()), 0, sum(records.values()) / wanted
    for value, count in records.items():
        short, over = share - held, held + count - share
        if runs[-1] and len(runs) < wanted and over > short:
            left -= held
            share, held = left / (wanted - len(runs)), 0
            runs.append([])
        runs[-1].append(value)
        held += count
    if len(runs) == 1:
        values = runs[0]
        runs = [values[:-1], values[-1:]]
    return runs
