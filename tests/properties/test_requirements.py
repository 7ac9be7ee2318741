"""Every requirement's measure against its paper's definition, an optimal transport, and an independent checker."""

from __future__ import annotations

from importlib import import_module
from typing import Any, get_args

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from sfumato.data.taxonomy.taxonomy import Taxonomy
from sfumato.privacy.requirements import Basic, ConfidenceBound, LDiversity, Sensitive, TCloseness
from sfumato.privacy.requirements.closeness import Distance
from tests.properties.definitions import holds
from tests.sampling import some

TREE = Taxonomy.from_tree({"ANY": {"L": {"v0": [], "v1": [], "M": ["v2", "v3"]}, "R": ["v4", "v5"]}})
VALUES = tuple(f"v{value}" for value in range(6))
GRADED = (10, 20, 35, 40, 70, 90)
ON = ["a"]


def needs() -> list[Basic]:
    found: list[Basic] = [LDiversity(ON, "s", least) for least in (2, 3, 4)]
    found += [LDiversity(ON, "s", least, "entropy") for least in (2, 3)]
    found += [LDiversity(ON, "s", least, "recursive", c) for least in (2, 3) for c in (0.5, 1, 2.5)]
    found += [ConfidenceBound(ON, "s", h) for h in (0.3, 0.5, 0.75)]
    found += [ConfidenceBound(ON, "s", h, "v1") for h in (0.1, 0.3)]
    found += [TCloseness(ON, "s", t, "equal") for t in (0.1, 0.3)]
    return found + [TCloseness(ON, "s", t, "hierarchical") for t in (0.1, 0.3)]


counts_of_groups = st.lists(st.lists(st.integers(0, 6), min_size=6, max_size=6).filter(any), min_size=1, max_size=4)


def used(groups: list[list[int]], values: tuple[Any, ...]) -> tuple[NDArray[np.int64], Sensitive]:
    """The counts without values that nobody has."""
    counts = np.array(groups)
    held = np.flatnonzero(counts.sum(axis=0))
    assume(len(held) > 1)
    counts = counts[:, held]
    return counts, Sensitive(tuple(values[at] for at in held), counts.sum(axis=0), TREE)


@settings(max_examples=60, deadline=None)
@given(counts_of_groups)
def test_measures_say_what_the_definitions_say(groups: list[list[int]]) -> None:
    counts, sensitive = used(groups, VALUES)
    rows = [
        {"a": group, "s": value}
        for group, of in enumerate(counts)
        for value, n in zip(sensitive.values, of, strict=True)
        for _ in range(n)
    ]
    for need in needs():
        if getattr(need, "value", None) not in (None, *sensitive.values):
            continue
        level = need.measure(sensitive)(counts).min()
        assert (level >= need.threshold) == holds(need, rows, tree=TREE), str(need)


@settings(max_examples=50, deadline=None)
@given(counts_of_groups, st.randoms(use_true_random=False))
def test_of_the_parts_of_a_group_one_measures_no_more(groups: list[list[int]], chance: Any) -> None:
    """Monotone: what a refinement breaks stays broken (t-closeness too, as the distance is convex)."""
    counts, sensitive = used(groups, VALUES)
    parts = np.array([[chance.randint(0, int(n)) for n in of] for of in counts])
    numbers = Sensitive(tuple(range(len(sensitive.values))), sensitive.totals)
    everything = [(need, sensitive) for need in needs()] + [(TCloseness(ON, "s", 0.2, "ordered"), numbers)]
    for need, column in everything:
        if getattr(need, "value", None) not in (None, *column.values):
            continue
        measure = need.measure(column)
        for whole, part in zip(counts, parts, strict=True):
            pieces = np.array([piece for piece in (part, whole - part) if piece.any()])
            assert measure(pieces).min() <= measure(whole[None])[0] + 1e-12, str(need)


def transported(p: NDArray[np.float64], q: NDArray[np.float64], ground: NDArray[np.float64]) -> float:
    """The earth mover's distance by its definition: the cheapest way to move p to q."""
    from scipy.optimize import linprog

    n = len(p)
    leaving = np.kron(np.eye(n), np.ones(n))
    coming = np.kron(np.ones(n), np.eye(n))
    found = linprog(ground.ravel(), A_eq=np.vstack([leaving, coming]), b_eq=np.concatenate([p, q]))
    assert found.fun is not None
    return float(found.fun)


def ground_distances(distance: str, values: tuple[Any, ...]) -> NDArray[np.float64]:
    n = len(values)
    if distance == "equal":
        return 1 - np.eye(n)
    if distance == "ordered":
        return np.abs(np.subtract.outer(np.arange(n), np.arange(n))) / (n - 1)
    joins = {frozenset(TREE.leaves_of(label)) & frozenset(values) for label in TREE}

    def height(join: frozenset[Any]) -> int:
        """How many sets of values that occur stand inside each other up to this one; single values are at 0."""
        return 1 + max((height(other) for other in joins if len(other) > 1 and other < join), default=0)

    top = height(frozenset(values))
    return np.array(
        [[0 if a == b else min(height(join) for join in joins if {a, b} <= join) / top for b in values] for a in values]
    )


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(counts_of_groups)
def test_distances_are_the_cheapest_transports(groups: list[list[int]]) -> None:
    for distance in get_args(Distance):
        counts, sensitive = used(groups, VALUES if distance != "ordered" else GRADED)
        need = TCloseness(ON, "s", 0.2, distance)
        ground = ground_distances(distance, sensitive.values)
        q = sensitive.totals / sensitive.totals.sum()
        expected = [transported(of / of.sum(), q, ground) for of in counts]
        assert np.allclose(-need.measure(sensitive)(counts), expected, atol=1e-7)


@pytest.mark.filterwarnings("ignore::Warning:pycanon")
@pytest.mark.parametrize("seed", some(range(25), 4))
def test_pycanon_finds_the_same_levels(seed: int) -> None:
    """An independent checker; its entropy is rounded down to a whole l. Its (c, l) takes the rarest value for the most
    frequent one, so that only the definitions above speak for ours."""
    anonymity = import_module("pycanon.anonymity")
    rng = np.random.default_rng(seed)
    rows = int(rng.integers(20, 80))
    group = rng.integers(0, 4, rows)
    codes = np.minimum(rng.integers(0, 5, rows), rng.integers(0, 6, rows))
    for name, column in (("s", np.array([VALUES[code] for code in codes])), ("n", np.array(GRADED)[codes])):
        frame = pa.table({"a": group.astype(str), name: column}).to_pandas()
        values, at = np.unique(column, return_inverse=True)
        if len(values) < 2:
            continue
        counts = np.zeros((4, len(values)), dtype=np.int64)
        np.add.at(counts, (group, at), 1)
        sensitive = Sensitive(tuple(values.tolist()), counts.sum(axis=0))
        counts = counts[counts.any(axis=1)]
        assert LDiversity(["a"], name, 2).measure(sensitive)(counts).min() == anonymity.l_diversity(
            frame, ["a"], [name]
        )
        entropy = LDiversity(["a"], name, 2, "entropy").measure(sensitive)(counts).min()
        shares = {int(np.exp(entropy) + 1e-9), int(np.exp(entropy) - 1e-9)}
        assert anonymity.entropy_l_diversity(frame, ["a"], [name]) in shares
        t = -TCloseness(["a"], name, 0.5, "equal" if name == "s" else "ordered").measure(sensitive)(counts).min()
        assert t == pytest.approx(anonymity.t_closeness(frame, ["a"], [name]))
        alpha, k = anonymity.alpha_k_anonymity(frame, ["a"], [name])
        assert -ConfidenceBound(["a"], name, 0.5).measure(sensitive)(counts).min() == pytest.approx(alpha)
        assert counts.sum(axis=1).min() == k
