"""Attacks on recodings that need no linking: everybody in a group has the same secret, or nearly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.data.table import Table
from sfumato.evaluation.attacks.results import AttackResult, hits, percent
from sfumato.structure.placed import combined
from sfumato.structure.released import Masked, Shown

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Secrets:
    """For each record, of its group: how many values of the sensitive attribute occur, and the commonest's share."""

    values: Ints
    commonest: NDArray[np.float64]


def groups_of(masked: Masked) -> Ints:
    """(rows,): which group of equal masked values each record is in."""
    shown = [Shown.of(column) for column in masked.values()]
    key = combined([one.codes for one in shown], [len(one.labels) + 1 for one in shown])
    return np.asarray(np.unique(key, return_inverse=True)[1], dtype=np.int64)


def secrets(groups: Ints, sensitive: Ints) -> Secrets:
    """What the groups tell of a sensitive attribute, given as whole numbers from 0.

    >>> found = secrets(np.array([0, 0, 1, 1]), np.array([5, 5, 5, 6]))
    >>> found.values.tolist(), found.commonest.tolist()
    ([1, 1, 2, 2], [1.0, 1.0, 0.5, 0.5])
    """
    width = int(sensitive.max()) + 1
    cells, counts = np.unique(groups * width + sensitive, return_counts=True)
    of_group = cells // width
    values = np.bincount(of_group)
    most = np.zeros(len(values))
    np.maximum.at(most, of_group, counts)
    return Secrets(values[groups].astype(np.int64), (most / np.bincount(groups))[groups])


def attack_groups(table: Table, masked: Masked, *, excluded: Sequence[int] = (0, 1, 2)) -> tuple[AttackResult, ...]:
    """Homogeneity (nothing excluded) and background knowledge (some values excluded), per sensitive attribute."""
    groups = groups_of(masked)
    results = []
    for name in table.schema.with_role("sensitive"):
        if name in masked or not hasattr(table.columns[name], "missing_code"):
            continue
        column = table.column(name)
        found = secrets(groups, column.codes.astype(np.int64))
        all_values = len(np.unique(column.codes))
        results += [_result(name, found, out, tuple(masked)) for out in excluded if out < all_values - 1]
    return tuple(results)


def _result(name: str, found: Secrets, excluded: int, masked: tuple[str, ...]) -> AttackResult:
    certain = found.values <= 1 + excluded
    knows = f"a person's {', '.join(masked)}"
    more = "" if not excluded else f", and {excluded} value{'s' * (excluded > 1)} of {name} that the person has not"
    success = hits(certain)
    return AttackResult(
        f"homogeneity of {name}" if not excluded else f"background knowledge of {name}, {excluded} excluded",
        knows + more,
        success,
        f"people of whom {name} becomes certain",
        f"Whoever knows {knows}{more} learns {name} for certain for {percent(success.value)} of the people.",
        {"guess": float(found.commonest.mean()), "certain": int(certain.sum()) if certain.sum() != 0 else 0},
    )
