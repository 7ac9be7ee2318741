"""Drawings: round numbers beside axes, marks where the numbers are, names that do not stand on each other."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.release.report import plots
from sfumato.release.report.markup import table
from sfumato.release.report.plots import Axis, Ruler, written

NUMBERS = st.floats(-1e12, 1e12, allow_nan=False)
X, Y = Ruler(Axis(0, 10), 100, 200), Ruler(Axis(0, 10), 80, 30)


@given(NUMBERS, st.floats(1e-3, 1e12), st.integers(2, 9), st.booleans())
def test_round_numbers_stand_inside_and_are_few(low: float, width: float, most: int, whole: bool) -> None:
    axis = Axis(low, low + width, whole=whole)
    found = axis.ticks(most)
    assert len(found) <= most + 1
    slack = 1e-6 * max(width, abs(low), 1.0)
    assert all(low - slack <= one <= low + width + slack for one in found)
    assert not whole or all(one == round(one) for one in found)


@given(st.floats(1e-3, 1e6), st.floats(1.5, 1e6))
def test_a_logarithmic_axis_has_numbers_in_ascending_order(low: float, ratio: float) -> None:
    found = Axis(low, low * ratio, log=True).ticks(5)
    assert found == sorted(set(found))
    assert len(found) <= 12


def test_numbers_are_written_so_that_they_differ() -> None:
    assert written([0.25, 0.5]) == ["0.25", "0.5"]
    assert len({*written(Axis(0.1001, 0.1004).ticks(4))}) == len(Axis(0.1001, 0.1004).ticks(4))


def test_bars_and_outlines_are_as_high_as_their_numbers() -> None:
    drawn = plots.bars([0, 5, 10], [10, 5], plots.BLUE)(X, Y)
    assert 'd="M100.0 80.0V30.0H150.0V80.0zM150.0 80.0V55.0H200.0V80.0z"' in drawn
    assert 'd="M100.0 80.0V30.0H150.0V55.0H200.0V80.0"' in plots.stairs([0, 5, 10], [10, 5], plots.RED)(X, Y)
    assert 'd="M100.0 30.0H200.0V55.0"' in plots.steps([0, 10], [10, 5], plots.RED)(X, Y)
    assert 'd="M150.0 80.0V30.0"' in plots.uprights(5, plots.RED)(X, Y)
    assert 'd="M100.0 55.0H200.0"' in plots.levels(5, plots.RED)(X, Y)


@pytest.mark.parametrize("cluster", range(0, 48, 8))
def test_every_shape_is_drawn_once_a_point(cluster: int) -> None:
    points = np.array([[1.0, 1.0], [9.0, 9.0]])
    drawn = plots.dots(points, 5, plots.colour(cluster), shape=plots.shape(cluster))(X, Y)
    assert drawn.count("M") == 2
    assert plots.shape(cluster) != plots.shape(cluster + 8)


def test_names_do_not_stand_on_each_other() -> None:
    drawn = plots.words([(5, 5), (5.2, 5.1), (5.1, 5.05)], ["6", "9", "10"], kind="mark")(X, Y)
    places = sorted(float(at) for at in re.findall(r'y="([\d.]+)"', drawn))
    assert np.diff(places).min() >= plots.HIGH - 0.1
    apart = plots.words([(1, 5), (9, 5)], ["6", "9"])(X, Y)
    assert re.findall(r'y="([\d.]+)"', apart) == ["55.0", "55.0"]


def test_the_last_number_below_an_axis_is_not_cut_off() -> None:
    drawn = plots.Panel(Axis(-600, 60_600, "cost"), Axis(0, 1), [], width=480).drawn("costs")
    across = re.search(r'x="([\d.]+)"[^>]*>60,000<', drawn)
    assert across is not None
    assert float(across[1]) + plots.LETTER * len("60,000") / 2 <= 480


def test_numbers_below_an_axis_have_room() -> None:
    panel = plots.Panel(Axis(0, 123_456_789), Axis(0, 1), [], width=320)
    drawn = panel.drawn("")
    found = re.findall(r'<text x="([\d.]+)" y="[\d.]+" class="middle">([^<]+)<', drawn)
    places, widths = [float(at) for at, _ in found], [plots.LETTER * len(word) for _, word in found]
    assert len(found) >= 2
    assert all(b - a > (v + w) / 2 for a, b, v, w in zip(places, places[1:], widths, widths[1:], strict=False))


def test_headings_stand_above_their_numbers_and_on_every_card() -> None:
    drawn = table(["name", "n<"], [("a", 1), ("b", 2)], kind="cards")
    assert drawn.count('data-l="n&lt;"') == 2
    assert '<th scope="col" class="n">n&lt;</th>' in drawn
    assert "data-l" not in table(["name"], [])
