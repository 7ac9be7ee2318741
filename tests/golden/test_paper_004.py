"""The worked examples of paper 004: Figures 2B, 3B, 4B and 5B, to the printed digit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from sfumato.data.encoding import encode
from sfumato.data.schema import Category, Number, Schema
from sfumato.engines import ReferenceEngine
from sfumato.maskers.geometric.mask import Transformation
from sfumato.maskers.geometric.masker import Hybrid, Rotate, Scale, Translate
from sfumato.maskers.masker import Labels, Masker, Outcome, Task

OCCUPATIONS = ["Student", "Executive", "Professor", "Lawyer", "Dentist", "Nurse"]
AGES = [29, 38, 34, 43, 42, 48]
SALARIES = [48_000, 72_000, 51_000, 65_000, 60_000, 53_000]
SCHEMA = Schema(occupation=Category(), age=Number(role="quasi"), salary=Number(role="quasi"))
TABLE = encode(pa.table({"occupation": OCCUPATIONS, "age": AGES, "salary": SALARIES}), SCHEMA)
WHOLE = {"age": "nearest", "salary": "nearest"}


def masked(settings: Masker) -> Outcome:
    settings.check(SCHEMA, ())
    return settings.mask(Task(TABLE, Labels(np.zeros(6, dtype=np.uint8), 1), (), ReferenceEngine()))


def rows(outcome: Outcome) -> list[tuple[Any, Any]]:
    return list(zip(outcome.masked["age"].to_pylist(), outcome.masked["salary"].to_pylist(), strict=True))


def with_misprint(printed: Sequence[tuple[int, int]], occupation: str, ours: tuple[int, int]) -> list[tuple[int, int]]:
    """The printed rows with the one misprint mended."""
    at = OCCUPATIONS.index(occupation)
    assert printed[at] != ours
    return [*printed[:at], ours, *printed[at + 1 :]]


def test_figure_2b_translation() -> None:
    printed = [(26, 53_000), (35, 77_000), (31, 56_000), (40, 70_000), (39, 65_000), (45, 58_000)]
    assert rows(masked(Translate(by={"age": -3, "salary": 5_000}))) == printed  # nothing is rounded


def test_figure_3b_scaling() -> None:
    printed = [(27, 49_680), (35, 74_520), (32, 52_785), (40, 67_275), (39, 62_100), (45, 54_855)]
    outcome = masked(Scale(by={"age": 0.94, "salary": 1.035}, round=WHOLE))
    # 38 x 0.94 = 35.72: the executive is printed 35, every other age is rounded to the nearest.
    assert rows(outcome) == with_misprint(printed, "Executive", (36, 74_520))


def test_figure_3b_salaries_need_no_rounding() -> None:
    outcome = masked(Scale(by={"age": 0.94, "salary": 1.035}))
    assert outcome.masked["salary"].to_pylist() == pytest.approx([49_680, 74_520, 52_785, 67_275, 62_100, 54_855])


def test_figure_4b_rotation_in_thousands() -> None:
    printed = [(40, 39_766), (54, 60_951), (45, 41_496), (57, 52_966), (55, 48_354), (59, 40_123)]
    settings = Rotate(
        pairs=(("age", "salary", 13.7),),
        normalise=False,
        units={"salary": 1000},
        round={"age": "nearest", "salary": "truncate"},
    )
    # Two digits of the dentist's salary changed places in print.
    assert rows(masked(settings)) == with_misprint(printed, "Dentist", (55, 48_345))


def test_figure_4b_truncates_salaries() -> None:
    settings = Rotate(pairs=(("age", "salary", 13.7),), normalise=False, units={"salary": 1000})
    assert masked(settings).masked["salary"].to_pylist()[1] == pytest.approx(60_951.69, abs=0.005)


def test_figure_5b_hybrid() -> None:
    printed = [(31, 44_640), (40, 66_960), (36, 47_430), (45, 60_450), (44, 55_800), (50, 49_290)]
    settings = Hybrid(operations={"age": ("add", 2), "salary": ("multiply", 0.93)}, round=WHOLE)
    assert rows(masked(settings)) == printed


def test_the_holder_gets_the_figures_back() -> None:
    settings = Rotate(pairs=(("age", "salary", 13.7),), normalise=False, units={"salary": 1000})
    outcome = masked(settings)
    key = Transformation.from_json(outcome.holder["key.json"])
    back = key.invert(outcome.masked)
    assert (back["age"].to_pylist(), back["salary"].to_pylist()) == (AGES, SALARIES)
