"""Singling out: a predicate over the released attributes that exactly one person satisfies.

Opinion 05/2014 of the Article 29 Working Party calls it the possibility to isolate the records of one person. Here
the attacker knows nobody; he has the release and claims "there is exactly one person with these values", and the raw
table tells whether he is right. Some such claims come true for whoever knows how frequent each value is: a predicate
that one person in n satisfies on average isolates somebody with a chance of up to 37 % (Cohen and Nissim, "Towards
formalizing the GDPR's notion of singling out", 2020). So the same number of claims made from the frequencies of single
values, which tell nothing about anyone, stands beside each attack.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from sfumato.arrays import Ints
from sfumato.data.table import Codes
from sfumato.errors import quoted
from sfumato.evaluation.attacks.attacker_view import Case, Sight
from sfumato.evaluation.attacks.results import AttackResult, beside, hits, percent
from sfumato.events import watched
from sfumato.randomness import Seeded

Predicate = tuple[tuple[str, int], ...]
"""Attributes and the shown value that each must have."""
CRITERION = "singling out"
CHOSEN = "singling out, chosen predicates"
MOST_ATTRIBUTES = 3
LOOKED_THROUGH = 20
"""So many predicates from single frequencies are looked through for each that is claimed."""
ROWS_COUNTED, LEAST_TRIES = 30_000_000, 400
"""In large tables fewer predicates are counted, never fewer than so many."""
THIN = 4_096
"""So many records, spread over the table, are looked at first: a predicate that two of them satisfy isolates nobody."""


def single_out(case: Case) -> tuple[AttackResult, ...]:
    """Predicates drawn at random from the release, and the best that can be chosen in it."""
    records = Records(case.sight)
    return _drawn(case, records), _chosen(case, records)


def _drawn(case: Case, records: Records) -> AttackResult:
    """One to three attributes and the values that a random released row shows; beside it values drawn one by one."""
    chance, names = Seeded(case.seed).generator(), tuple(case.seen.columns)
    tries = _tries(case)
    sizes = chance.integers(1, min(MOST_ATTRIBUTES, len(names)) + 1, tries).tolist()
    asked = [chance.choice(len(names), size, replace=False).tolist() for size in sizes]
    rows = chance.integers(0, case.seen.rows, tries).tolist()
    ours = [_at(case, [names[at] for at in which], row) for which, row in zip(asked, rows, strict=True)]
    theirs = [_apart(case, [names[at] for at in which], chance) for which in asked]
    found, guessed = (hits(records.isolated(claims)) for claims in (ours, theirs))
    return AttackResult(
        attack="singling out, random predicates",
        knowledge=f"nobody, only the release: {MOST_ATTRIBUTES} of its attributes at most, "
        "with the values of one of its rows",
        success=found,
        of="predicates that exactly one raw record satisfies",
        sentence=f"Of predicates with one to {MOST_ATTRIBUTES} attributes, taken from the release at random, "
        f"{percent(found.value)} hold for exactly one person; with values drawn one by one "
        f"{percent(guessed.value)} do.",
        details={"predicates": tries},
        criterion=CRITERION,
        baseline=beside("the same attributes, each value drawn by its frequency alone", found, guessed),
    )


def _chosen(case: Case, records: Records) -> AttackResult:
    """The released rows that stand most alone, all their values together; beside it the best from frequencies."""
    chance, names = Seeded(case.seed + 1).generator(), tuple(case.seen.columns)
    groups = case.seen.groups(names)
    order = np.lexsort((chance.random(len(groups.sizes)), groups.sizes))[: _tries(case)]
    ours = [tuple(zip(names, groups.codes[at].tolist(), strict=True)) for at in order]
    found, guessed = (hits(records.isolated(claims)) for claims in (ours, _best_guesses(case, _tries(case), chance)))
    alone, sets = case.seen.alone, case.seen.sets
    return AttackResult(
        attack=CHOSEN,
        knowledge=f"nobody, only the release: {len(ours):,} of its rows ({percent(len(ours) / case.seen.rows)}), those "
        f"that look like the fewest others by all their values, the sensitive ones too{', sets left out' * bool(sets)}",
        success=found,
        of="predicates that exactly one raw record satisfies",
        sentence=f"Of the released rows {percent(alone)} stand alone if all released attributes are taken together, "
        f"the sensitive ones too{_with_sets(sets)}. Of the {len(ours):,} rows that stand most alone"
        f"{' without these' * bool(sets)}, {percent(found.value)} describe exactly "
        f"one person; {percent(guessed.value)} of the best claims that need no release do.",
        details={"predicates": len(ours), "alone": alone},
        criterion=CRITERION,
        baseline=beside(
            "predicates that one person should satisfy by the frequencies of single values", found, guessed
        ),
    )


def _with_sets(names: Sequence[str]) -> str:
    """What is said of set-valued columns, of which there may be none.

    >>> _with_sets([]), _with_sets(["drugs", "stays"])
    ('', ', and the sets of "drugs", "stays" as wholes')
    """
    return f", and the sets of {', '.join(map(quoted, names))} as wholes" if names else ""


@dataclass(frozen=True, eq=False)
class _Term:
    """One part of a predicate: which raw values satisfy it, the code of each record, and how many records do."""

    name: str
    match: NDArray[np.bool_]
    codes: Codes
    size: int

    def kept(self, rows: Ints) -> Ints:
        """Those of some records that satisfy it."""
        return rows[self.match[self.codes[rows]]]


@dataclass(frozen=True, eq=False)
class _Places:
    """The records of a column in the order of their codes, and where each code begins."""

    order: Ints
    begins: Ints

    @classmethod
    def of(cls, codes: Codes, counts: Ints) -> _Places:
        """Of a column."""
        return cls(np.argsort(codes, kind="stable"), np.append(0, np.cumsum(counts)))

    def rows(self, match: NDArray[np.bool_]) -> Ints:
        """The records that have one of some values."""
        return np.concatenate([self.order[self.begins[at] : self.begins[at + 1]] for at in np.flatnonzero(match)])


class Records:
    """Owns what is known of the raw records so far: which of them a shown value stands for, and where they are."""

    def __init__(self, sight: Sight) -> None:
        self._sight = sight
        self._terms: dict[tuple[str, int], _Term] = {}
        self._places: dict[str, _Places] = {}
        rows = sight.table.rows
        self._thin = np.arange(0, rows, max(1, rows // THIN))

    def isolated(self, predicates: Sequence[Predicate]) -> NDArray[np.bool_]:
        """(predicates,): whether exactly one raw record has what each of them asks for."""
        self._learn(predicates)
        return np.array([self._is_one([self._terms[part] for part in one]) for one in watched(predicates)])

    def _learn(self, predicates: Sequence[Predicate]) -> None:
        """What the shown values of some predicates stand for, all values of an attribute at once."""
        wanted: dict[str, list[int]] = {}
        for name, label in sorted({*chain.from_iterable(predicates)} - self._terms.keys()):
            wanted.setdefault(name, []).append(label)
        for name, labels in wanted.items():
            column = self._sight.table.column(name)
            matches = self._sight.matches(name, np.array(labels))
            sizes = (matches @ column.counts).tolist()
            for label, match, size in zip(labels, matches, sizes, strict=True):
                self._terms[name, label] = _Term(name, match, column.codes, size)

    def _is_one(self, terms: Sequence[_Term]) -> bool:
        """Whether one record satisfies all of them. The part that the fewest satisfy comes first."""
        first, *others = sorted(terms, key=lambda term: term.size)
        if not others or first.size == 0:
            return first.size == 1
        if len(_all_kept(self._thin, [first, *others])) > 1:
            return False
        if first.name not in self._places:
            column = self._sight.table.column(first.name)
            self._places[first.name] = _Places.of(column.codes, column.counts)
        return len(_all_kept(self._places[first.name].rows(first.match), others)) == 1


def _all_kept(rows: Ints, terms: Sequence[_Term]) -> Ints:
    for term in terms:
        if not len(rows):
            break
        rows = term.kept(rows)
    return rows


def _best_guesses(case: Case, wanted: int, chance: np.random.Generator) -> list[Predicate]:
    """Of many predicates drawn from single frequencies those that isolate best if attributes were independent.

    A predicate that m of n records satisfy on average isolates one with a chance of about m exp(-m).
    """
    names, rows = tuple(case.seen.columns), case.seen.rows
    many = wanted * LOOKED_THROUGH
    labels = np.stack([case.seen.columns[name].codes[chance.integers(0, rows, many)] for name in names], axis=1)
    asked = chance.random(labels.shape).argsort(axis=1) < chance.integers(1, len(names) + 1, many)[:, None]
    shares = np.stack([_frequencies(case, name)[labels[:, at]] for at, name in enumerate(names)], axis=1)
    expected = rows * np.where(asked, shares, 1.0).prod(axis=1)
    best = np.argsort(-expected * np.exp(-expected), kind="stable")[:wanted]
    return [tuple((names[at], int(labels[one, at])) for at in np.flatnonzero(asked[one])) for one in best]


def _at(case: Case, names: Sequence[str], row: int) -> Predicate:
    """What a released row shows."""
    return tuple((name, int(case.seen.columns[name].codes[row])) for name in names)


def _apart(case: Case, names: Sequence[str], chance: np.random.Generator) -> Predicate:
    """Values drawn one by one, each by its frequency in the release."""
    return tuple((n, int(case.seen.columns[n].codes[chance.integers(0, case.seen.rows)])) for n in names)


def _frequencies(case: Case, name: str) -> NDArray[np.float64]:
    shown = case.seen.columns[name]
    return shown.counts / case.seen.rows


def _tries(case: Case) -> int:
    return min(case.people, max(LEAST_TRIES, ROWS_COUNTED // max(1, case.table.rows)))
