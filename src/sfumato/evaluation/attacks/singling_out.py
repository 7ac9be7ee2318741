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

import numpy as np
from numpy.typing import NDArray

from sfumato.arrays import Ints
from sfumato.evaluation.attacks.attacker_view import Case, Sight
from sfumato.evaluation.attacks.results import AttackResult, beside, hits, percent
from sfumato.randomness import Seeded

Predicate = tuple[tuple[str, int], ...]
"""Attributes and the shown value that each must have."""
CRITERION = "singling out"
MOST_ATTRIBUTES = 3
LOOKED_THROUGH = 20
"""So many predicates from single frequencies are looked through for each that is claimed."""
ROWS_COUNTED = 30_000_000


def single_out(case: Case) -> tuple[AttackResult, ...]:
    """Predicates drawn at random from the release, and the best that can be chosen in it."""
    return _drawn(case), _chosen(case)


def _drawn(case: Case) -> AttackResult:
    """One to three attributes and the values that a random released row shows; beside it values drawn one by one."""
    chance, names = Seeded(case.seed).generator(), tuple(case.seen.columns)
    tries = _tries(case)
    sizes = chance.integers(1, min(MOST_ATTRIBUTES, len(names)) + 1, tries).tolist()
    asked = [chance.choice(len(names), size, replace=False).tolist() for size in sizes]
    rows = chance.integers(0, case.seen.rows, tries).tolist()
    ours = [_at(case, [names[at] for at in which], row) for which, row in zip(asked, rows, strict=True)]
    theirs = [_apart(case, [names[at] for at in which], chance) for which in asked]
    sight = Sight(case.seen, case.table)
    found, guessed = (hits(np.array([isolates(sight, one) for one in claims])) for claims in (ours, theirs))
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


def _chosen(case: Case) -> AttackResult:
    """The released rows that stand most alone, all their values together; beside it the best from frequencies."""
    chance, names = Seeded(case.seed + 1).generator(), tuple(case.seen.columns)
    groups = case.seen.groups(names)
    order = np.lexsort((chance.random(len(groups.sizes)), groups.sizes))[: _tries(case)]
    ours = [tuple(zip(names, groups.codes[at].tolist(), strict=True)) for at in order]
    sight = Sight(case.seen, case.table)
    found = hits(np.array([isolates(sight, one) for one in ours]))
    guessed = hits(np.array([isolates(sight, one) for one in _best_guesses(case, _tries(case), chance)]))
    alone = int((groups.sizes == 1).sum()) / case.seen.rows
    return AttackResult(
        attack="singling out, chosen predicates",
        knowledge="nobody, only the release: the rows in it that look like the fewest others, by all their values",
        success=found,
        of="predicates that exactly one raw record satisfies",
        sentence=f"{percent(alone)} of the released rows stand alone if all released attributes are taken together, "
        "the "
        f"sensitive ones too. Of the {len(ours):,} rows that stand most alone, {percent(found.value)} describe exactly "
        f"one person; {percent(guessed.value)} of the best claims that need no release do.",
        details={"predicates": len(ours), "alone": alone},
        criterion=CRITERION,
        baseline=beside(
            "predicates that one person should satisfy by the frequencies of single values", found, guessed
        ),
    )


def isolates(sight: Sight, predicate: Predicate) -> bool:
    """Whether exactly one record of the raw table has what the predicate asks for."""
    rows: Ints | None = None
    for name, label in predicate:
        match, codes = sight.matches(name, label), sight.table.column(name).codes
        rows = np.flatnonzero(match[codes]) if rows is None else rows[match[codes[rows]]]
        if not len(rows):
            return False
    return rows is not None and len(rows) == 1


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
    return np.bincount(shown.codes, minlength=len(shown.labels) + 1) / case.seen.rows


def _tries(case: Case) -> int:
    return min(case.people, max(100, ROWS_COUNTED // max(1, case.table.rows)))
