"""Releases under differential privacy: what can be seen of them in a file.

Epsilon is a property of how a table was made: no file shows it. What can be checked is that the record of the uses of
the data is well formed and adds up to epsilon exactly, that every value lies in its declared domain, and (with the
other checks) that the folder holds nothing else.

private_tree.json and dp_heter.json are what generated rows were made of, closed at every depth.

Where rows show what a part has in common, the file is a count of the table, and is counted again. Where they were drawn
from noisy shares, these cannot be computed from the rows: they are as many as there are cells, rounded, and add up.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

from sfumato.privacy.verify.explained.bags import SEPARATOR
from sfumato.privacy.verify.explained.places import DIGITS, numbers
from sfumato.privacy.verify.fields import (
    Form,
    ascending,
    exact_keys,
    field,
    forms,
    mapping,
    names,
    one_of,
    read_json,
    whole,
)
from sfumato.privacy.verify.intervals import between, plain
from sfumato.privacy.verify.private import bins, dates
from sfumato.privacy.verify.tallies import is_text, tallied
from sfumato.privacy.verify.texts.wording import BINNED, GENERATED, GUARANTEE, MECHANISMS, NOT_PRIVATE, UNIT
from sfumato.privacy.verify.verdict import CheckError

if TYPE_CHECKING:
    import polars as pl

    from sfumato.privacy.verify.folder import Folder

_EXACT = re.compile(r"[0-9]+(/[0-9]+)?")
_NUMBER = r"-?[0-9]+(?:\.[0-9]+)?(?:e[+-][0-9]+)?"
_INTERVAL = re.compile(rf"\[({_NUMBER})(-|\.\.)({_NUMBER})([)\]])")


def spent(form: Form) -> str:
    """The recorded uses of the data add up to epsilon, exactly."""
    part = mapping(form.get(GUARANTEE), GUARANTEE)
    epsilon = _fraction(part, "epsilon")
    if part.get("delta") != "0" or part.get("unit") != UNIT or epsilon <= 0:
        raise CheckError(f"epsilon is positive, delta is 0, and the unit of privacy is {UNIT}")
    events = forms(part, "events")
    total = sum((_price(event) for event in events), Fraction(0))
    if total != epsilon:
        raise CheckError(f"the {len(events)} events add up to {total}, not to the claimed {epsilon}")
    told = "" if field(part, "private", bool) else f"; {NOT_PRIVATE}: the noise repeats from a seed"
    return f"{len(events)} events add up to epsilon = {epsilon}; that they are all cannot be seen from a file{told}"


def _price(event: Form) -> Fraction:
    if field(event, "mechanism", str) not in MECHANISMS:
        raise CheckError("an event names a mechanism that is not known")
    how, parts, price = field(event, "composition", str), whole(event, "parts"), _fraction(event, "epsilon")
    if parts < 1 or how != ("parallel" if parts > 1 else "sequential"):
        raise CheckError("an event is sequential, or parallel over some disjoint parts")
    if price <= 0 or not field(event, "purpose", str):
        raise CheckError("an event has a purpose and a price: no use of the data is free")
    return price


def _fraction(form: Form, key: str) -> Fraction:
    text = field(form, key, str)
    if not _EXACT.fullmatch(text):
        raise CheckError(f"{key!r} is no exact fraction")
    return Fraction(text)


def in_domains(release: Folder) -> str:
    """Every column is generated, every value lies in its declared domain, and there are as many rows as counted."""
    certificate = release.certificate
    form = read_json(release.file(f"{certificate.mask}.json"))
    domains = field(form, "domains", dict)
    declared = [column.name for column in certificate.columns]
    raw = [column.name for column in certificate.columns if column.masked != GENERATED]
    if raw or list(domains) != declared:
        raise CheckError(f"{(raw or declared)[0]!r} is not generated, or has no declared domain")
    units = {column.name: column.calendar for column in certificate.columns}
    for name in declared:
        if mapping(domains[name], name).get(dates.UNIT) != units[name]:
            raise CheckError(f"{name!r} has another calendar in its domain than in the certificate")
        _check_column(release.table[name], mapping(domains[name], name), dotted=certificate.spelling.dotted)
    drawn = [rows for rows in field(form, "rows", list) if isinstance(rows, int)]
    if sum(drawn) != release.table.height:
        raise CheckError("the table has other rows than its noisy counts made")
    return f"{len(declared)} columns, all generated, show values of their declared domains"


def _check_column(column: pl.Series, domain: Form, *, dotted: bool) -> None:
    if not field(domain, "missing", bool) and column.null_count():
        raise CheckError(f"{column.name} misses values, and its domain does not allow that")
    kinds: dict[str, Callable[[pl.Series, Form], bool]] = {
        "numbers": _numbers,
        "dates": dates.shown_dates,
        "intervals": partial(_intervals, dotted=dotted),
        "labels": _shown_labels,
        "sets": _shown_sets,
    }
    check = kinds.get(field(domain, "kind", str))
    if check is None:
        raise CheckError(f"{column.name}: the kind of its domain is not understood")
    if not check(column.drop_nulls(), domain):
        raise CheckError(f"{column.name} shows a value outside its declared domain")


def _numbers(column: pl.Series, domain: Form) -> bool:
    import polars as pl

    low, high = _ends(domain)
    numbers = column.cast(pl.String).cast(pl.Float64) if is_text(column.dtype) else column.cast(pl.Float64)
    inside = bool(((numbers >= low) & (numbers <= high)).all())
    return inside and (not field(domain, "integer", bool) or bool((numbers == numbers.floor()).all()))


def _intervals(column: pl.Series, domain: Form, *, dotted: bool) -> bool:
    """Intervals of the range; the last one, in `]`, may be its upper end alone, as [16-16]. Dates are open above. Where
    bins are declared, intervals begin and end with some, and the first may be the lower end alone."""
    known = bins.ends_of(domain, column.name)
    if dates.UNIT in domain:
        return dates.shown_intervals(column, domain, known)
    low, high = _ends(domain)
    alone = bins.low_alone(domain, column.name)
    for label in column.unique().to_list():
        parts = _INTERVAL.fullmatch(str(label))
        if parts is None:
            return False
        if dotted and parts[2] != between(parts[1], parts[3]):
            return False
        first, end, last = float(parts[1]), float(parts[3]), parts[4] == "]"
        if not low <= first <= end <= high or not (end == high or (alone and end == low) if last else first < end):
            return False
        if known is not None and not {parts[1], parts[3]} <= known:
            return False
    return True


def _ends(domain: Form) -> tuple[float, float]:
    ends: list[object] = field(domain, "range", list)
    numbers = [float(end) for end in ends if isinstance(end, int | float) and not isinstance(end, bool)]
    if len(numbers) != 2 or len(ends) != 2:
        raise CheckError("a range has two ends")
    return numbers[0], numbers[1]


def _shown_labels(column: pl.Series, domain: Form) -> bool:
    return {str(label) for label in column.unique().to_list()} <= set(names(domain, "labels"))


def _shown_sets(column: pl.Series, domain: Form) -> bool:
    lists = _lists(column, domain)
    sizes = lists.list.len()
    if not bool((sizes <= whole(domain, "most")).all()) or not bool((lists.list.n_unique() == sizes).all()):
        return False
    return set(_items(lists)) <= set(names(domain, "labels"))


KINDS = {
    "numbers": ["kind", "range", "integer", "missing"],
    "dates": ["kind", "range", dates.UNIT, "missing"],
    "intervals": ["kind", "range", "integer", "missing"],
    "labels": ["kind", "labels", "missing"],
    "sets": ["kind", "labels", "most", "separator", "missing"],
}
SIZE = " (how many)"  # added to a column of sets: the histogram of their sizes
DEEPEST = 8  # splits
BINS = bins.MOST + 1


def made_of(release: Folder) -> str:
    """The masker's own file tells of the generated columns and rows, and of nothing else."""
    name = f"{release.certificate.mask}.json"
    form, table = release.json(name), release.table
    drawn = "splits" in form
    exact_keys(form, ["domains", "rows", *(["splits", "shares"] if drawn else ["known", "parts"])], name)
    domains = mapping(form["domains"], "domains")
    exact_keys(domains, table.columns, "domains")
    cut = release.certificate.format >= BINNED
    for column in table.columns:
        _domain(column, mapping(domains[column], column), table[column], cut=cut)
    rows = [count for count in field(form, "rows", list) if isinstance(count, int) and not isinstance(count, bool)]
    if len(rows) != len(field(form, "rows", list)) or sum(rows) != table.height or min(rows, default=0) < 0:
        raise CheckError(f"the rows of {name} do not add up to those of the table")
    if not drawn:
        _recount(form, table, rows, domains)
        return f"{len(rows)} combinations are shown, each as often as {name} says"
    _shares(form, rows, domains)
    return f"{len(rows)} parts; their shares are rounded and add up, and cannot be computed from the rows"


def _domain(name: str, domain: Form, column: pl.Series, *, cut: bool) -> None:
    kind = one_of(domain, "kind", tuple(KINDS))
    dated = kind == "intervals" and dates.UNIT in domain
    more = [bins.KEY] if cut and "range" in domain and bins.KEY in domain else []
    exact_keys(domain, [*KINDS["dates" if dated else kind], *more], "a domain")
    field(domain, "missing", bool)
    if dated or kind == "dates":
        dates.range_of(domain, name)
        bins.cuts_of(domain, name)
        return
    if "range" in domain:
        whole = field(domain, "integer", bool)
        ends: list[object] = field(domain, "range", list)
        kinds = int if whole else float
        if len(ends) != 2 or not all(type(end) is kinds for end in ends):
            raise CheckError(f"the range of {name} has two ends, whole where its numbers are")
        for end in ends if whole else ():
            plain(end)
        bins.cuts_of(domain, name)
        return
    labels = names(domain, "labels")
    ascending(labels, name)
    if set(labels) != _labels(column, domain):
        raise CheckError(f"the domain of {name} lists labels that no row shows, or not all that are shown")
    if kind == "sets":
        if not 0 < len(field(domain, "separator", str)) <= SEPARATOR:
            raise CheckError(f"a separator has 1 to {SEPARATOR} characters")
        if field(domain, "most", int) != (_lists(column, domain).list.len().max() or 0):
            raise CheckError(f"the largest set of {name} has another number of labels")


def _labels(column: pl.Series, domain: Form) -> set[object]:
    if domain.get("kind") == "sets":
        return set(_items(_lists(column.drop_nulls(), domain)))
    return {str(label) for label in column.drop_nulls().unique().to_list()}


def _lists(column: pl.Series, domain: Form) -> pl.Series:
    """A column of sets as lists of texts; a text file joins them."""
    import polars as pl

    if isinstance(column.dtype, pl.List):
        return column.list.eval(pl.element().cast(pl.String))
    parts = column.cast(pl.String).str.split(str(domain.get("separator", ";")))
    return parts.list.eval(pl.element().filter(pl.element() != ""))


def _items(lists: pl.Series) -> list[object]:
    """Every label that some set holds, once. An empty set holds none."""
    found: list[object] = lists.filter(lists.list.len() > 0).explode().unique().to_list()
    return found


def _sets(column: pl.Series, domain: Form) -> list[list[str] | None]:
    found: list[list[str] | None] = _lists(column, domain).to_list()
    return found


def _recount(form: Form, table: pl.DataFrame, rows: Sequence[int], domains: Form) -> None:
    """Every combination is shown as often as it says; values and combinations stand in one order."""
    known, parts = (mapping(form[key], key) for key in ("known", "parts"))
    told = {}
    for name in table.columns:
        values: list[object] = field(known, name, list)
        texts = [json.dumps(value, ensure_ascii=False) for value in values]
        places = [place for place in field(parts, name, list) if isinstance(place, int)]
        if texts != sorted(set(texts)) or len(places) != len(rows) or set(places) != set(range(len(texts))):
            raise CheckError(f"the values of {name} stand in another order, or are not those of the combinations")
        told[name] = (texts, places)
    exact_keys(known, table.columns, "known")
    exact_keys(parts, table.columns, "parts")
    combinations = list(zip(*(places for _, places in told.values()), strict=True))
    if any(not before < after for before, after in pairwise(combinations)):
        raise CheckError("combinations stand in another order, or one of them twice")
    shown = _counted(table, domains)
    expected = {
        tuple(told[name][0][place] for name, place in zip(table.columns, key, strict=True)): count
        for key, count in zip(combinations, rows, strict=True)
    }
    if shown != expected:
        raise CheckError("the table does not show the combinations as often as their rows say")


def _counted(table: pl.DataFrame, domains: Form) -> Counter[tuple[str, ...]]:
    """How often each combination is shown, as the texts that JSON writes."""

    groups = tallied(table, table.columns, "\0rows")
    columns = [_texts(groups[name], mapping(domains[name], name)) for name in table.columns]
    found: Counter[tuple[str, ...]] = Counter()
    for key, count in zip(zip(*columns, strict=True), groups["\0rows"].to_list(), strict=True):
        found[key] += count
    return found


def _texts(column: pl.Series, domain: Form) -> list[str]:
    cells = _sets(column, domain) if domain.get("kind") == "sets" else column.to_list()
    return [json.dumps(sorted(cell) if isinstance(cell, list) else cell, ensure_ascii=False) for cell in cells]


def _shares(form: Form, rows: Sequence[int], domains: Form) -> None:
    splits: list[object] = field(form, "splits", list)
    if len(splits) > DEEPEST or len(rows) != 2 ** len(splits):
        raise CheckError("there is not one part for every answer to the splits")
    shares = mapping(form["shares"], "shares")
    expected: dict[str, int | None] = {}
    for name, domain in domains.items():
        expected |= _cells(name, mapping(domain, name))
    exact_keys(shares, list(expected), "shares")
    widths = {name: _matrix(shares[name], rows, cells) for name, cells in expected.items()}
    for split in splits:
        _split(mapping(split, "a split"), domains, widths)
    for name in expected:
        if name + SIZE not in expected:
            _add_up(shares[name], name)


def _cells(name: str, domain: Form) -> dict[str, int | None]:
    """The histograms of a column and how many cells they have; None for equal bins, of which there are some."""
    if "range" in domain:
        cuts = bins.cuts_of(domain, name)
        return {name: None if cuts is None else len(cuts) + 1 + field(domain, "missing", bool)}
    labels = len(names(domain, "labels"))
    if domain["kind"] == "sets":
        return {name: labels, name + SIZE: None}
    return {name: labels + field(domain, "missing", bool)}


def _matrix(entries: object, rows: Sequence[int], cells: int | None) -> int:
    """Shares of every part, of as many cells each; none where a part has no rows."""
    parts = entries if isinstance(entries, list) else []
    wide = cells if cells is not None else len(parts[0]) if parts and isinstance(parts[0], list) else 0
    if len(parts) != len(rows) or not (cells is not None or 0 < wide <= BINS + 1):
        raise CheckError("there are not shares for every part")
    for part, count in zip(parts, rows, strict=True):
        found = numbers(part if isinstance(part, list) else [None], digits=DIGITS)
        if len(found) != wide or any(not 0 <= share <= 1 for share in found) or (not count and any(found)):
            raise CheckError("shares are from 0 to 1, one for every cell, and 0 in parts without rows")
    return wide


def _add_up(parts: object, name: str) -> None:
    """No more than 1 in a part; cells of labels that no row shows are left out."""
    slack = 0.5 * 10**-DIGITS
    for part in parts if isinstance(parts, list) else ():
        if math.fsum(part) > 1 + slack * (len(part) + 1):
            raise CheckError(f"the shares of {name} add up to more than 1")


def _split(split: Form, domains: Form, widths: Mapping[str, int]) -> None:
    name = one_of(split, "attribute", tuple(domains))
    key = "holds" if mapping(domains[name], name).get("kind") == "sets" else "cells"
    exact_keys(split, ["attribute", key], "a split")
    if key == "holds" and split[key] is None:
        return
    cells = [cell for cell in field(split, key, list) if isinstance(cell, int) and not isinstance(cell, bool)]
    if cells != sorted(set(cells)) or len(cells) != len(field(split, key, list)):
        raise CheckError("the cells of a split ascend")
    if cells and not (cells[0] >= 0 and cells[-1] < widths[name]):
        raise CheckError("a split has a cell that there is not")
