"""Releases under differential privacy: what can be seen of them in a file.

Epsilon is a property of how a table was made: no file shows it. What can be checked is that the record of the uses of
the data is well formed and adds up to epsilon exactly, that every value lies in its declared domain, and (with the
other checks) that the folder holds nothing else.
"""

from __future__ import annotations

import re
from fractions import Fraction
from typing import TYPE_CHECKING

from sfumato.privacy.verify.fields import Form, field, forms, mapping, names, read_json, whole
from sfumato.privacy.verify.verdict import CheckError

if TYPE_CHECKING:
    import polars as pl

    from sfumato.privacy.verify.folder import Folder

GUARANTEE = "differential_privacy"
GENERATED = "generated"
UNIT = "one record added or removed"
NOT_PRIVATE = "NOT PRIVATE"
MECHANISMS = {
    "discrete Laplace",
    "permute-and-flip",
    "discrete Laplace, thresholded; empty cells sampled",
    "uniform choice",
}
_EXACT = re.compile(r"[0-9]+(/[0-9]+)?")
_INTERVAL = re.compile(r"\[(-?[0-9.e+]+)-(-?[0-9.e+]+)([)\]])")


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
    for name in declared:
        _check_column(release.table[name], mapping(domains[name], name))
    drawn = [rows for rows in field(form, "rows", list) if isinstance(rows, int)]
    if sum(drawn) != release.table.height:
        raise CheckError("the table has other rows than its noisy counts made")
    return f"{len(declared)} columns, all generated, show values of their declared domains"


def _check_column(column: pl.Series, domain: Form) -> None:
    if not field(domain, "missing", bool) and column.null_count():
        raise CheckError(f"{column.name} misses values, and its domain does not allow that")
    kinds = {"numbers": _numbers, "intervals": _intervals, "labels": _labels, "sets": _sets}
    check = kinds.get(field(domain, "kind", str))
    if check is None:
        raise CheckError(f"{column.name}: the kind of its domain is not understood")
    if not check(column.drop_nulls(), domain):
        raise CheckError(f"{column.name} shows a value outside its declared domain")


def _numbers(column: pl.Series, domain: Form) -> bool:
    import polars as pl

    low, high = _ends(domain)
    numbers = column.cast(pl.String).cast(pl.Float64) if column.dtype == pl.Categorical else column.cast(pl.Float64)
    inside = bool(((numbers >= low) & (numbers <= high)).all())
    return inside and (not field(domain, "integer", bool) or bool((numbers == numbers.floor()).all()))


def _intervals(column: pl.Series, domain: Form) -> bool:
    """Intervals of the range; the last one, in `]`, may be its upper end alone, as [16-16]."""
    low, high = _ends(domain)
    for label in column.unique().to_list():
        parts = _INTERVAL.fullmatch(str(label))
        if parts is None:
            return False
        first, end, last = float(parts[1]), float(parts[2]), parts[3] == "]"
        if not low <= first <= end <= high or not (end == high if last else first < end):
            return False
    return True


def _ends(domain: Form) -> tuple[float, float]:
    ends: list[object] = field(domain, "range", list)
    numbers = [float(end) for end in ends if isinstance(end, int | float) and not isinstance(end, bool)]
    if len(numbers) != 2 or len(ends) != 2:
        raise CheckError("a range has two ends")
    return numbers[0], numbers[1]


def _labels(column: pl.Series, domain: Form) -> bool:
    return {str(label) for label in column.unique().to_list()} <= set(names(domain, "labels"))


def _sets(column: pl.Series, domain: Form) -> bool:
    import polars as pl

    if not isinstance(column.dtype, pl.List):  # a text file joins them
        texts = column.cast(pl.String).to_list()
        lists = [[item for item in text.split(str(domain.get("separator", ";"))) if item] for text in texts]
    else:
        lists = column.to_list()
    most, known = whole(domain, "most"), set(names(domain, "labels"))
    return all(len(set(items)) == len(items) <= most and known.issuperset(items) for items in lists)
