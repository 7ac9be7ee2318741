"""Exposure: the risk from group sizes, for each quasi-identifier that is asked for and for all of them at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.types as pt
from numpy.typing import NDArray

from sfumato.evaluation.attacks.seeing import Groups, Ints, Seen
from sfumato.evaluation.risk import Exposure, exposure
from sfumato.structure.released import Masked, Shown, encoded

MOST = 6


@dataclass(frozen=True, eq=False)
class Population:
    """Everybody among whom people of the table may be looked for, masked as the table was.

    `lifted` (rows of the table,): records that are shown at the top of every column, which may be anybody.
    """

    columns: Masked
    lifted: NDArray[np.bool_] | None = None


def exposures(
    masked: Masked, asked: Sequence[Sequence[str]], *, population: Population | None = None
) -> tuple[Exposure, ...]:
    """What the group sizes of a masked table tell. `asked`: the quasi-identifiers of its requirements.

    Of more than MOST quasi-identifiers those with the smallest groups are told.
    """
    claimed = {frozenset(on) for on in asked}
    found = []
    for on in quasi_identifiers(asked, masked):
        groups = _groups(masked, on)
        around = None if population is None else sizes_in(population, masked, on)
        found.append(exposure(on, groups.sizes, claimed=frozenset(on) in claimed, population=around))
    worst = sorted(found, key=lambda one: one.smallest)[:MOST]
    return tuple(one for one in found if one in worst or not one.claimed)


def quasi_identifiers(asked: Sequence[Sequence[str]], masked: Masked) -> tuple[tuple[str, ...], ...]:
    """Each that is asked for once, then all their attributes together; set-valued attributes are not compared."""
    flat = {name for name, column in masked.items() if not pt.is_nested(column.type)}
    able = tuple(dict.fromkeys(tuple(on) for on in asked if flat.issuperset(on)))
    union = tuple(dict.fromkeys(chain.from_iterable(able))) or tuple(name for name in masked if name in flat)
    return able if not union or any({*on} == {*union} for on in able) else (*able, union)


def sizes_in(population: Population, masked: Masked, on: tuple[str, ...]) -> Ints:
    """(groups,): how many people of the population show what each group of the masked table shows."""
    here, rows = _groups(masked, on), len(masked[on[0]])
    both = _groups({name: _stacked(masked[name], population.columns[name]) for name in on}, on)
    people, strangers = both.of_row[:rows], both.of_row[rows:]
    counts = np.bincount(strangers, minlength=len(both.sizes))
    if population.lifted is not None:
        counts[people[population.lifted]] = len(strangers)
    found = np.zeros(len(here.sizes), dtype=np.int64)
    found[here.of_row] = counts[people]
    return found


def _groups(masked: Masked, on: tuple[str, ...]) -> Groups:
    return Seen({name: Shown.of(masked[name]) for name in on}, len(masked[on[0]])).groups(on)


def _stacked(first: Any, second: Any) -> pa.Array[Any]:
    return pa.concat_arrays([encoded(one).dictionary_decode().cast(pa.string()) for one in (first, second)])
