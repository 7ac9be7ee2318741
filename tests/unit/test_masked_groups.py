"""Groups of a masked table: counted once, and from groups that are kept as they would be from the rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from sfumato.data.grouping import group_numbers
from sfumato.data.masked import Masked
from sfumato.release.report.clusters import Bubbles, Frame, Plane
from sfumato.structure.coded_points import Block, Placed

NAMES = ("a", "b", "c", "d")
KEYS = st.lists(st.lists(st.sampled_from(NAMES), min_size=1, max_size=6), min_size=1, max_size=6)


def table(seed: int, rows: int = 80) -> Masked:
    chance = np.random.default_rng(seed)
    labels = chance.integers(0, 4, (len(NAMES), rows))
    shown = {
        name: pa.array([None if at == 3 else f"v{at}" for at in row]) for name, row in zip(NAMES, labels, strict=True)
    }
    sets = pa.array([[f"s{at % 3}"] * (at % 2) for at in chance.integers(0, 9, rows)])
    return replace(Masked.of(shown), released={**Masked.of(shown), "sets": Masked.of({"s": sets})["s"]})


@given(st.integers(0, 50), KEYS)
def test_groups_are_the_same_whatever_was_counted_before(seed: int, asked: list[list[str]]) -> None:
    masked = table(seed)
    for on in asked:
        names = list(dict.fromkeys(on))
        alone = group_numbers([masked.shown(name).keys for name in names], masked.rows)
        assert np.array_equal(masked.groups(on), alone)


def test_each_combination_once_with_how_many_rows_show_it() -> None:
    masked = table(7)
    for on in (["a"], ["a", "c"], ["b", "sets"]):
        found = masked.distinct(on)
        rows = [tuple(map(str, row)) for row in zip(*(masked.shown(name).to_pylist() for name in on), strict=True)]
        once = [tuple(map(str, row)) for row in zip(*(found.masked[name].to_pylist() for name in on), strict=True)]
        assert sorted(once) == sorted({*rows})
        assert found.counts.tolist() == [rows.count(row) for row in once]


def test_a_projection_of_combinations_is_that_of_their_rows() -> None:
    chance = np.random.default_rng(0)
    codes = [chance.integers(0, n, 60) for n in (4, 9)]
    places = [chance.normal(0, 1, (n, width)).astype(np.float32) for n, width in ((4, 3), (9, 2))]
    counts = chance.integers(1, 7, 60)
    once = Placed(tuple(Block(c, p) for c, p in zip(codes, places, strict=True)), 60)
    blocks = (Block(np.repeat(c, counts), p) for c, p in zip(codes, places, strict=True))
    every = Placed(tuple(blocks), int(counts.sum()))
    planes = Plane.of(once, counts), Plane.of(every)
    assert np.allclose(planes[0].axes, planes[1].axes)
    points, clusters = planes[0].points(once), chance.integers(0, 3, 60)
    frame = Frame.around(points)
    left = Bubbles.of(points, clusters, frame, counts)
    right = Bubbles.of(np.repeat(points, counts, axis=0), np.repeat(clusters, counts), frame)
    assert left.counts.tolist() == right.counts.tolist()
    assert np.allclose(left.points, right.points)
