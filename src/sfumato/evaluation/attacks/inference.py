"""Inference: what the release tells about a secret of somebody whose quasi-identifying values are known.

Opinion 05/2014 calls it the possibility to deduce the value of an attribute, with significant probability, from the
values of others. Here the attacker guesses the commonest secret among the released rows that cover the person. That
works for people who are not in the table, too, as far as the table tells what is true of people in general; what the
release gives away about its own people is how much better it works for them. With a control group that is measured;
without one the commonest secret of the whole table is all that stands beside it.

`attack_groups` looks for secrets that become certain: those of groups in which everybody has the same one, or in which
all others can be excluded.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.arrays import Floats, Ints
from sfumato.data.axis import labels_of, numbers_of
from sfumato.data.grouping import pairs
from sfumato.data.masked import Masked
from sfumato.data.schema import Number
from sfumato.data.table import Column, Table
from sfumato.evaluation.attacks.attacker_view import Case, Seen, Sight
from sfumato.evaluation.attacks.results import AttackResult, Beside, beside, hits, percent
from sfumato.evaluation.certainty import NEARLY
from sfumato.evaluation.scores import difference
from sfumato.events import watched
from sfumato.structure.masked_positions import interval_ends

CRITERION = "inference"
PARTS = 10
"""The secret of a number is which tenth of the table it is in."""


@dataclass(frozen=True, eq=False)
class Guesses:
    """For some people: the secret that is guessed, the share of the rows that have it, and the true one."""

    guess: Ints
    confidence: Floats
    truth: Ints

    @property
    def right(self) -> NDArray[np.bool_]:
        """Which guesses are true."""
        return np.asarray(self.guess == self.truth)


@dataclass(frozen=True, eq=False)
class Secret:
    """A sensitive attribute in whole numbers, the same for the release and for any raw table: missing is one too."""

    name: str
    labels: dict[str, int]
    edges: Floats | None = None

    @classmethod
    def of(cls, table: Table, name: str) -> Secret:
        """The values of a category; of a number in which tenth it is."""
        column, attribute = table.column(name), table.schema[name]
        if isinstance(attribute, Number):
            numbers = np.append(numbers_of(column.values, attribute).astype(np.float64), np.nan)[column.codes]
            return cls(name, {}, np.unique(np.nanquantile(numbers, np.arange(1, PARTS) / PARTS)))
        return cls(name, {label: at for at, label in enumerate(labels_of(column.values))})

    @property
    def values(self) -> int:
        """How many there are, with one for missing or unknown."""
        return (len(self.labels) if self.edges is None else len(self.edges) + 1) + 1

    def shown(self, seen: Seen) -> Ints:
        """(rows,): of the released rows."""
        column = seen.columns[self.name]
        numbers = [interval_ends(label) for label in column.labels] if self.edges is not None else []
        points = np.array([np.nan if ends is None or ends.low is None else ends.low for ends in numbers])
        return np.append(self._codes(column.labels, points), self.values - 1)[column.codes]

    def raw(self, table: Table, rows: Ints) -> Ints:
        """(rows,): of some people."""
        column, attribute = table.column(self.name), table.schema[self.name]
        exact = numbers_of(column.values, attribute).astype(np.float64) if isinstance(attribute, Number) else None
        codes = self._codes(labels_of(column.values), exact)
        return np.append(codes, self.values - 1)[column.codes[rows]]

    def _codes(self, labels: tuple[str, ...], numbers: Floats | None) -> Ints:
        if self.edges is None or numbers is None:
            return np.array([self.labels.get(label, self.values - 1) for label in labels], dtype=np.int64)
        return np.where(np.isnan(numbers), self.values - 1, np.searchsorted(self.edges, numbers, side="right"))


def infer(case: Case, name: str) -> AttackResult:
    """Guess a sensitive attribute of people in the table, and beside it that of others."""
    secret = Secret.of(case.table, name)
    found = guesses(case, secret, case.table)
    success, confident = hits(found.right), {f"above_{level}": _above(found, level) for level in (0.8, NEARLY)}
    baseline = _baseline(case, secret, found)
    sure = found.confidence >= NEARLY
    what = name if secret.edges is None else f"the tenth in which {name} is"
    return AttackResult(
        attack=f"inference of {name}",
        knowledge=f"a person's {', '.join(case.known)}",
        success=success,
        of=f"people of whom {what} was guessed rightly",
        sentence=f"Whoever knows {', '.join(case.known)} of a person in the table guesses {what} rightly for "
        f"{percent(success.value)} of them, against {percent(baseline.success.value)} by {baseline.how}. "
        f"{_agreeing(found, sure)}",
        details={
            "people": len(found.guess),
            **({} if secret.edges is None else {"tenths": True}),
            **confident,
            "homogeneous": float((found.confidence == 1).mean()),
            "highest_confidence": float(found.confidence.max()),
            "right_if_sure": float(found.right[sure].mean()) if sure.any() else None,
            "commonest": float(np.bincount(secret.shown(case.seen)).max() / case.seen.rows),
        },
        criterion=CRITERION,
        baseline=baseline,
    )


def guesses(case: Case, secret: Secret, table: Table) -> Guesses:
    """The commonest secret among the released rows that cover each person of a table, or are nearest to it."""
    groups = case.seen.groups(case.known)
    cells = groups.of_row * secret.values + secret.shown(case.seen)
    counts = np.bincount(cells, minlength=len(groups.sizes) * secret.values).reshape(-1, secret.values)
    rows = case.drawn(np.arange(table.rows), groups)
    sight = case.sight if table is case.table else Sight(case.seen, table)
    near = sight.near(groups, rows)
    around = np.stack([counts[at].sum(axis=0) for at in watched(near)])
    return Guesses(around.argmax(axis=1), around.max(axis=1) / around.sum(axis=1), secret.raw(table, rows))


def _baseline(case: Case, secret: Secret, found: Guesses) -> Beside:
    if case.control is not None:
        others = hits(guesses(case, secret, case.control).right)
        return beside("the same guess about people who are not in the table", hits(found.right), others)
    commonest = np.bincount(secret.shown(case.seen)).argmax()
    plain = found.truth == commonest
    return Beside("always guessing the commonest value", hits(plain), difference(found.right, plain))


def _agreeing(found: Guesses, sure: NDArray[np.bool_]) -> str:
    """How often the rows leave little doubt, and are right: generated ones may agree and be wrong."""
    if not sure.any():
        return "For none of them 90 % or more of the matching rows agree."
    shares = percent(float(sure.mean())), percent(float(found.right[sure].mean()))
    return f"For {shares[0]} of them 90 % or more of the matching rows agree, rightly for {shares[1]} of those."


def _above(found: Guesses, level: float) -> float:
    return float((found.confidence >= level).mean())


def can_infer(table: Table, seen: Seen, name: str) -> bool:
    """Whether a sensitive attribute is one that can be guessed and is released."""
    return isinstance(table.columns[name], Column) and name in seen.columns


@dataclass(frozen=True, eq=False)
class Secrets:
    """For each record, of its group: how many values of the sensitive attribute occur, and the commonest's share."""

    values: Ints
    commonest: NDArray[np.float64]


def groups_of(masked: Masked) -> Ints:
    """(rows,): which group of equal masked values each record is in."""
    return masked.groups(tuple(masked))


def secrets(groups: Ints, sensitive: Ints) -> Secrets:
    """What the groups tell of a sensitive attribute, given as whole numbers from 0.

    >>> found = secrets(np.array([0, 0, 1, 1]), np.array([5, 5, 5, 6]))
    >>> found.values.tolist(), found.commonest.tolist()
    ([1, 1, 2, 2], [1.0, 1.0, 0.5, 0.5])
    """
    cells = pairs(groups, sensitive)
    values = np.bincount(cells.first)
    most = np.zeros(len(values))
    np.maximum.at(most, cells.first, cells.counts)
    return Secrets(values[groups].astype(np.int64), (most / np.bincount(groups))[groups])


def attack_groups(table: Table, masked: Masked, *, excluded: Sequence[int] = (0, 1, 2)) -> tuple[AttackResult, ...]:
    """Homogeneity (nothing excluded) and background knowledge (some values excluded), per sensitive attribute.

    A set is one value, as a whole.
    """
    groups = groups_of(masked)
    results = []
    for name in watched(table.schema.with_role("sensitive")):
        if name in masked:
            continue
        values = table.columns[name].keys
        found = secrets(groups, values)
        all_values = len(np.unique(values))
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
