"""What may stand behind a shown interval, drawn by its recipient."""

from __future__ import annotations

from datetime import datetime

import numpy as np
import pyarrow as pa

from sfumato.people.frames import frame, number_array
from sfumato.people.shown_columns import Numbers
from sfumato.structure.released import Told


def drawn(*texts: str, mean: float | None = None) -> set[float]:
    spreads = [{} if mean is None else {"mean": mean}] * len(texts)
    told = Told(np.repeat(np.arange(len(texts), dtype=np.uint8), 200), texts, spreads)
    return {*Numbers.of(told).drawn(np.random.default_rng(0)).tolist()}


def test_whole_numbers_are_drawn_where_few_ends_stand_between_two() -> None:
    ages = ["[18-28.5)", "[28.5-31)", "[31-40)", "[40-52]"]
    assert drawn(*ages) == {*map(float, range(18, 53))}
    assert drawn("[28.5-31)", *ages[2:], "[52-60]") == {*map(float, range(29, 61))}
    assert drawn("[2..*]", mean=3.7) <= {2.0, 3.0, 4.0}, "where the end is not told, up to the largest mean"
    assert not all(one.is_integer() for one in drawn("[0.5-1.5)", "[1.5-3.5)", "[3.5-7)"))


def test_days_are_drawn_where_ends_are_days() -> None:
    day = 24 * 60 * 60 * 10**6
    assert all(one % day == 0 for one in drawn("[2020-01..2021-07)", "[2021-07..2022-01-15]"))


def test_moments_are_days_where_ends_are_days() -> None:
    noon = 12 * 60 * 60 * 10**6
    found = number_array(np.array([noon * 5.0, np.nan]), dates=True, days=True).to_pylist()
    assert found == [datetime(1970, 1, 3), None]


def test_whole_numbers_of_which_some_are_missing_stay_whole_in_pandas() -> None:
    found = frame({"children": pa.array([1, None, 3]), "age": pa.array([1, 2, 3])}, "pandas")
    assert [str(kind) for kind in found.dtypes] == ["Int64", "int64"]
