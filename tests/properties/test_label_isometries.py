"""Exchanges of labels that keep every path in a taxonomy: counted, and by trying all permutations."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.label_isometries import drawn, exchanges, kept_paths, undone

from sfumato.data.taxonomy.taxonomy import Taxonomy


def tree(seed: int) -> Taxonomy:
    """Seven leaves or fewer, all equally deep."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 4, rng.integers(2, 4))
    return Taxonomy.from_tree(
        {"ANY": {f"{n}": [f"{n}.{leaf}" for leaf in range(size)] for n, size in enumerate(sizes)}}
    )


@pytest.mark.parametrize("seed", range(12))
def test_only_parts_of_one_shape_can_be_exchanged(seed: int) -> None:
    labels = tree(seed)
    if len(labels.leaves) > 7:
        return
    found = set(kept_paths(labels))
    assert len(found) == exchanges(labels)
    assert {drawn(labels, labels.root, np.random.default_rng(n)) for n in range(40)} <= found


def test_a_tree_may_look_the_same_from_another_node_than_its_root() -> None:
    uneven = Taxonomy.from_tree({"ANY": {"a": None, "b": None, "M": ["c", "d"]}})
    assert (exchanges(uneven), len(set(kept_paths(uneven)))) == (4, 8)


def test_frequencies_tell_what_was_exchanged() -> None:
    labels = Taxonomy.from_tree({"ANY": {"x": ["a", "b"], "y": ["c", "d"]}})
    assert undone(labels, ["a"] * 400 + ["b"] * 100 + ["c"] * 250 + ["d"] * 50) == 1.0
    assert undone(labels, ["a", "b", "c", "d"] * 50) < 0.6
