"""Releases as an attacker sees them side by side: what each row shows, and what that may stand for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sfumato.data.groups import group_numbers
from sfumato.errors import ReleaseError
from sfumato.maskers.topdown.intervals import covers
from sfumato.maskers.topdown.recoding import Discretize, Recoding, Rule
from sfumato.privacy.several import View

Ints = NDArray[np.int64]
Marks = NDArray[np.bool_]
OTHER = "\0other"
"""A label that no release shows."""


@dataclass(frozen=True, eq=False)
class Side:
    """A released table with the recoding that masks it."""

    table: pa.Table
    recoding: Recoding


def views(sides: Sequence[Side], *, domains: Mapping[str, Sequence[str | None]] | None = None) -> list[View]:
    """What an attacker sees who holds all of them. Columns that none of them masks and all have tell records apart.

    `domains`: of attributes without a taxonomy, which labels there are, for an attacker who knows that too; None among
    them where somebody's is missing.
    """
    rules = {name: [side.recoding.attributes.get(name) for side in sides] for side in sides
             for name in side.recoding.attributes}  # fmt: skip
    _refuse_bare(sides, list(rules))
    reach = {name: _reach(name, of, (domains or {}).get(name)) for name, of in rules.items()}
    values = _values(sides, rules)
    return [
        _view(side, {name: found[at] for name, found in reach.items() if found[at] is not None}, values[at])
        for at, side in enumerate(sides)
    ]


def _refuse_bare(sides: Sequence[Side], masked: Sequence[str]) -> None:
    for side in sides:
        bare = [name for name in masked if name in side.table.column_names and name not in side.recoding.attributes]
        if bare:
            raise ReleaseError(bare[0], "what one release masks no other shows as it is", given="shown in one of them",
                               remedy="give it the role quasi again")  # fmt: skip


def _view(side: Side, reach: Mapping[str, Any], values: Ints) -> View:
    shown = {name: _codes(side.table.column(name), side.recoding.attributes[name]) for name in reach}
    found: dict[str, Marks] = dict(reach)
    if side.recoding.lifted:  # who shows the top everywhere may be anybody
        at_top = np.logical_and.reduce([codes == _top(side.recoding.attributes[name]) for name, codes in shown.items()])
        for name, covered in found.items():
            shown[name] = np.where(at_top, len(covered), shown[name])
            found[name] = np.vstack([covered, np.ones((1, covered.shape[1]), dtype=bool)])
    return View(shown, found, values)


def _labels(rule: Rule) -> list[str | None]:
    return [*rule.shown, *([] if rule.top in rule.shown else [rule.top])]


def _top(rule: Rule) -> int:
    return _labels(rule).index(rule.top)


def _codes(column: pa.ChunkedArray[Any], rule: Rule) -> Ints:
    """(rows,): which of the rule's values a row shows."""
    labels = _labels(rule)
    found = pc.index_in(column.cast(pa.string()), value_set=pa.array(labels, type=pa.string()))
    codes = found.to_numpy(zero_copy_only=False)
    if np.isnan(codes.astype(float)).any():
        raise ReleaseError("several releases", "every masked value stands in the recoding", given="one that does not",
                           remedy="restore the release from a good copy")  # fmt: skip
    return codes.astype(np.int64)


def _reach(name: str, rules: Sequence[Rule | None], domain: Sequence[str | None] | None) -> list[Marks | None]:
    """Of each release (values, points): which points of the domain a shown value may stand for, missing last."""
    kinds = {isinstance(rule, Discretize) for rule in rules if rule is not None}
    if len(kinds) > 1:
        raise ReleaseError(name, "an attribute is a number in all releases, or in none", given="both",
                           remedy="declare it as in the earlier release")  # fmt: skip
    if kinds == {True}:
        numbers = [rule for rule in rules if isinstance(rule, Discretize)]
        points = _points(numbers)
        return [None if rule is None else _marks(rule, _in_intervals(rule, points)) for rule in rules
                if rule is None or isinstance(rule, Discretize)]  # fmt: skip
    labels = sorted({label for rule in rules if rule is not None for label in _known(rule)})
    held = [*labels, OTHER, None] if domain is None else list(domain)
    named = pa.array([label for label in held if label is not None], type=pa.string())
    count = len(named) + (None in held)
    return [None if rule is None else _marks(rule, rule.places(named)[:count]) for rule in rules]


def _known(rule: Rule) -> list[str]:
    if isinstance(rule, Discretize):
        return []
    taxonomy = getattr(rule, "taxonomy", None)
    return list(taxonomy.leaves) if taxonomy is not None else [label for label in rule.shown if label is not None]


def _marks(rule: Rule, places: Ints) -> Marks:
    marks = np.zeros((len(_labels(rule)), len(places)), dtype=bool)
    inside = places >= 0
    marks[places[inside], np.flatnonzero(inside)] = True
    return marks


def _points(rules: Sequence[Discretize]) -> NDArray[np.float64]:
    """Numbers so that any two intervals of any releases that overlap do so in one of them."""
    found = {-np.inf, *(float(at) for rule in rules for at in rule.breaks)}
    for rule in rules:
        if rule.range is not None:
            low, high = covers(rule.range, rule.calendar)
            found |= {float(low), float(np.nextafter(float(high), np.inf))}
    return np.array(sorted(found))


def _in_intervals(rule: Discretize, points: NDArray[np.float64]) -> Ints:
    """(points + 1,): the interval of each point, missing last; -1 where nobody can be."""
    if rule.missing == "together":
        return np.zeros(len(points) + 1, dtype=np.int64)
    found = np.searchsorted(np.array(rule.breaks, dtype=np.float64), points, side="right").astype(np.int64)
    if rule.range is not None:
        low, high = covers(rule.range, rule.calendar)
        found[(points < float(low)) | (points > float(high))] = -1
    return np.append(found, len(rule.breaks) + 1 if rule.missing == "apart" else -1)


def _values(sides: Sequence[Side], masked: Mapping[str, object]) -> list[Ints]:
    """Of each release (rows,): what is shown as it is in all of them, in codes that are the same in all."""
    names = [name for name in sides[0].table.column_names
             if name not in masked and all(name in side.table.column_names for side in sides)]  # fmt: skip
    rows = [side.table.num_rows for side in sides]
    codes = [_alike([side.table.column(name) for side in sides]) for name in names]
    return np.split(group_numbers(codes, sum(rows)), np.cumsum(rows)[:-1])


def _alike(columns: Sequence[pa.ChunkedArray[Any]]) -> Ints:
    """Codes of one column over all releases; a missing value is a value."""
    texts = [_text(column) for column in columns]
    encoded: Any = pa.concat_arrays(texts).dictionary_encode(null_encoding="encode")
    return np.asarray(encoded.indices.to_numpy(zero_copy_only=False), dtype=np.int64)


def _text(column: pa.ChunkedArray[Any]) -> pa.Array[Any]:
    if pa.types.is_nested(column.type):
        sets = [None if items is None else "\0".join(sorted(map(str, items))) for items in column.to_pylist()]
        return pa.array(sets, type=pa.string())
    return pa.concat_arrays(column.cast(pa.string()).chunks)
