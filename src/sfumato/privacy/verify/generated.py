"""private_tree.json and dp_heter.json: what generated rows were made of, closed at every depth.

Where rows show what a part has in common, the file is a count of the table, and is counted again. Where they were drawn
from noisy shares, these cannot be computed from the rows: they are as many as there are cells, rounded, and add up.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from sfumato.privacy.verify.fields import Form, ascending, exact_keys, field, mapping, names, one_of, short
from sfumato.privacy.verify.intervals import plain
from sfumato.privacy.verify.places import DIGITS, SEPARATOR, numbers
from sfumato.privacy.verify.verdict import CheckError

if TYPE_CHECKING:
    import polars as pl

    from sfumato.privacy.verify.folder import Folder

KINDS = {
    "numbers": ["kind", "range", "integer", "missing"],
    "intervals": ["kind", "range", "integer", "missing"],
    "labels": ["kind", "labels", "missing"],
    "sets": ["kind", "labels", "most", "separator", "missing"],
}
SIZE = " (how many)"  # added to a column of sets: the histogram of their sizes
DEEPEST = 8  # splits
BINS = 256


def made_of(release: Folder) -> str:
    """The masker's own file tells of the generated columns and rows, and of nothing else."""
    name = f"{release.certificate.mask}.json"
    form, table = release.json(name), release.table
    drawn = "splits" in form
    exact_keys(form, ["domains", "rows", *(["splits", "shares"] if drawn else ["known", "parts"])], name)
    domains = mapping(form["domains"], "domains")
    exact_keys(domains, table.columns, "domains")
    for column in table.columns:
        _domain(column, mapping(domains[column], column), table[column])
    rows = [count for count in field(form, "rows", list) if isinstance(count, int) and not isinstance(count, bool)]
    if len(rows) != len(field(form, "rows", list)) or sum(rows) != table.height or min(rows, default=0) < 0:
        raise CheckError(f"the rows of {name} do not add up to those of the table")
    if not drawn:
        _recount(form, table, rows, domains)
        return f"{len(rows)} combinations are shown, each as often as {name} says"
    _shares(form, rows, domains)
    return f"{len(rows)} parts; their shares are rounded and add up, and cannot be computed from the rows"


def _domain(name: str, domain: Form, column: pl.Series) -> None:
    kind = one_of(domain, "kind", tuple(KINDS))
    exact_keys(domain, KINDS[kind], "a domain")
    field(domain, "missing", bool)
    if "range" in domain:
        whole = field(domain, "integer", bool)
        ends: list[object] = field(domain, "range", list)
        kinds = int if whole else float
        if len(ends) != 2 or not all(type(end) is kinds for end in ends):
            raise CheckError(f"the range of {name} has two ends, whole where its numbers are")
        for end in ends if whole else ():
            plain(end)
        return
    labels = names(domain, "labels")
    ascending(labels, name)
    if set(labels) != _labels(column, domain):
        raise CheckError(f"the domain of {name} lists labels that no row shows, or not all that are shown")
    if kind == "sets":
        if not 0 < len(field(domain, "separator", str)) <= SEPARATOR:
            raise CheckError(f"a separator has 1 to {SEPARATOR} characters")
        largest = max((len(items) for items in _sets(column, domain) if items is not None), default=0)
        if field(domain, "most", int) != largest:
            raise CheckError(f"the largest set of {name} has another number of labels")


def _labels(column: pl.Series, domain: Form) -> set[str]:
    if domain.get("kind") == "sets":
        return {item for items in _sets(column, domain) if items is not None for item in items}
    return {str(label) for label in column.drop_nulls().unique().to_list()}


def _sets(column: pl.Series, domain: Form) -> list[list[str] | None]:
    """A column of sets; a text file joins them."""
    import polars as pl

    if isinstance(column.dtype, pl.List):
        return [None if items is None else [str(item) for item in items] for items in column.to_list()]
    mark, texts = str(domain.get("separator", ";")), column.cast(pl.String).to_list()
    return [None if text is None else [item for item in text.split(mark) if item] for text in texts]


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
    import polars as pl

    groups = table.group_by(table.columns).agg(pl.len().alias("\0rows"))
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
    """The histograms of a column and how many cells they have; None for bins, of which there are some."""
    if "range" in domain:
        return {name: None}
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
    if mapping(domains[name], name).get("kind") == "sets":
        exact_keys(split, ["attribute", "holds"], "a split")
        if split["holds"] is not None:
            short(field(split, "holds", str), "a split")
        return
    exact_keys(split, ["attribute", "cells"], "a split")
    cells = [cell for cell in field(split, "cells", list) if isinstance(cell, int) and not isinstance(cell, bool)]
    if cells != sorted(set(cells)) or len(cells) != len(field(split, "cells", list)):
        raise CheckError("the cells of a split ascend")
    if cells and not (cells[0] >= 0 and cells[-1] < widths[name]):
        raise CheckError("a split has a cell that there is not")
