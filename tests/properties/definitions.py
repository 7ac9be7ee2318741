"""Every requirement by its paper's definition, in loops over rows. Knows nothing of the library's counting."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from fractions import Fraction
from itertools import combinations
from math import log
from typing import Any

from sfumato.data.taxonomy.taxonomy import Taxonomy
from sfumato.privacy.requirements import (
    LKC,
    AlphaK,
    ConfidenceBound,
    KAnonymity,
    KMap,
    LDiversity,
    Requirement,
    TCloseness,
)

Row = Mapping[str, Hashable]
"""What is shown of a record; sensitive values as they are, None where they are missing."""
SLACK = 1e-9


def holds(requirement: Requirement, rows: Sequence[Row], *, people: Sequence[Row] = (), tree: Any = None) -> bool:
    """Whether a masked table satisfies a requirement; `people`: a population masked alike."""
    if isinstance(requirement, KAnonymity):
        return all(len(group) >= requirement.k for group in groups(rows, requirement.on))
    if isinstance(requirement, KMap):
        fits = Counter(tuple(person[name] for name in requirement.on) for person in people)
        return all(fits[tuple(row[name] for name in requirement.on)] >= requirement.k for row in rows)
    if isinstance(requirement, LDiversity):
        return all(diverse(requirement, values) for values in sensitive(rows, requirement))
    if isinstance(requirement, ConfidenceBound):
        return confident(rows, requirement.on, (requirement.sensitive, requirement.value), requirement.h)
    if isinstance(requirement, AlphaK):
        return all(len(group) >= requirement.k for group in groups(rows, requirement.on)) and confident(
            rows, requirement.on, (requirement.sensitive, requirement.value), requirement.alpha
        )
    if isinstance(requirement, LKC):
        return lkc(requirement, rows)
    assert isinstance(requirement, TCloseness)
    whole = [row[requirement.sensitive] for row in rows]
    distance = DISTANCES[requirement.distance]
    return all(
        distance(values, whole, requirement, tree) <= requirement.t + SLACK for values in sensitive(rows, requirement)
    )


def groups(rows: Sequence[Row], on: Sequence[str]) -> list[list[Row]]:
    found: dict[tuple[Hashable, ...], list[Row]] = {}
    for row in rows:
        found.setdefault(tuple(row[name] for name in on), []).append(row)
    return list(found.values())


def sensitive(rows: Sequence[Row], requirement: Requirement) -> list[list[Hashable]]:
    assert requirement.sensitive is not None
    return [[row[requirement.sensitive] for row in group] for group in groups(rows, requirement.on)]


def diverse(requirement: LDiversity, values: Sequence[Hashable]) -> bool:
    """Machanavajjhala et al., Definitions 4.1 and 4.2."""
    r = sorted(Counter(values).values(), reverse=True)
    if requirement.kind == "distinct":
        return len(r) >= requirement.l
    if requirement.kind == "entropy":
        return -sum(n / sum(r) * log(n / sum(r)) for n in r) >= log(requirement.l) - SLACK
    return r[0] < Fraction(str(requirement.c)) * sum(r[requirement.l - 1 :])


def confident(rows: Sequence[Row], on: Sequence[str], about: tuple[str, Any], most: float) -> bool:
    """Wang, Fung and Yu: no group has a larger share of the value, or of any value."""
    name, value = about
    for group in groups(rows, on):
        counts = Counter(row[name] for row in group)
        largest = max(counts.values()) if value is None else counts[value]
        if Fraction(largest, len(group)) > Fraction(str(most)):
            return False
    return True


def lkc(requirement: LKC, rows: Sequence[Row]) -> bool:
    """Mohammed et al., Definition 3.1: whatever up to l values somebody knows."""
    for size in range(1, requirement.l + 1):
        for on in combinations(requirement.on, size):
            if any(len(group) < requirement.k for group in groups(rows, on)):
                return False
            if not confident(rows, on, (requirement.sensitive, requirement.value), requirement.c):
                return False
    return True


def shares(values: Sequence[Hashable], whole: Sequence[Hashable]) -> dict[Hashable, float]:
    """How much more often each value of the table stands in a group."""
    of, all_of = Counter(values), Counter(whole)
    return {value: of[value] / len(values) - all_of[value] / len(whole) for value in all_of}


def equal(values: Sequence[Hashable], whole: Sequence[Hashable], requirement: TCloseness, tree: Any) -> float:
    """Li et al.: half of the absolute differences."""
    return sum(abs(more) for more in shares(values, whole).values()) / 2


def ordered(values: Sequence[Hashable], whole: Sequence[Hashable], requirement: TCloseness, tree: Any) -> float:
    """Li et al.: what is carried over from value to value, by the number of steps."""
    more = shares(values, whole)
    order: list[Any] = (
        [value for value in requirement.order if value in more]
        if requirement.order
        else sorted(more, key=lambda value: float(str(value)))
    )
    carried, work = 0.0, 0.0
    for value in order[:-1]:
        carried += more[value]
        work += abs(carried)
    return work / (len(order) - 1)


def hierarchical(values: Sequence[Hashable], whole: Sequence[Hashable], requirement: TCloseness, tree: Any) -> float:
    """Li et al.: extra and cost, label by label, in the tree of the values that occur."""
    assert isinstance(tree, Taxonomy)
    more = shares(values, whole)

    def below(label: str) -> list[str]:
        """The children that lead to a value which occurs; one alone is passed by."""
        if not tree.children(label):
            return []
        found = [child for child in tree.children(label) if set(tree.leaves_of(child)) & set(whole)]
        return below(found[0]) if len(found) == 1 and tree.children(found[0]) else found

    def height(label: str) -> int:
        return max((1 + height(child) for child in below(label) if len(below(label)) > 1), default=0)

    def extra(label: str) -> float:
        return sum(more.get(leaf, 0.0) for leaf in tree.leaves_of(label))

    def cost(label: str) -> float:
        gained = sum(max(extra(child), 0) for child in below(label))
        lost = sum(max(-extra(child), 0) for child in below(label))
        own = height(label) / max(height(tree.root), 1) * min(gained, lost)
        return own + sum(cost(child) for child in below(label))

    return cost(tree.root)


Distance = Callable[[Sequence[Hashable], Sequence[Hashable], TCloseness, Any], float]
DISTANCES: Mapping[str, Distance] = {"equal": equal, "ordered": ordered, "hierarchical": hierarchical}
