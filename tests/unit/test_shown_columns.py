"""What may stand behind a shown interval, drawn by its recipient."""

from __future__ import annotations

from datetime import datetime

import numpy as np
import pyarrow as pa

from sfumato.people.frames import frame, number_array
from sfumato.people.likely_missing import drawn_missing, likely_missing
from sfumato.people.shown_columns import Labels, Numbers, as_met
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


def test_a_missing_value_whose_share_is_told_has_no_part_of_the_rest() -> None:
    text = "{a, b} or missing"
    told = Told(np.zeros(3, dtype=np.uint8), [text], [{"(missing)": 0.3, text: 0.7}])
    found = Labels.of(told)
    assert dict(zip(("a", "b", ""), found.shares[0].tolist(), strict=True)) == {"a": 0.35, "b": 0.35, "": 0.3}
    assert as_met(told) == ("", "a", "b")


def test_what_stands_for_anything_is_the_mean_of_the_others_even_where_these_leave_a_part_open() -> None:
    told = Told(np.array([0, 0, 1, 2], dtype=np.uint8), ["a", "*", "*"], [{}, {"b": 0.4, "*": 0.6}, {}])
    found = Labels.of(told).shares
    assert np.allclose(found, np.array([[1.0, 0.0, 0.0], [0.0, 0.4, 0.0], [2 / 3, 0.4 / 3, 0.0]])), (
        "as the lines of a README have it"
    )


def test_missing_numbers_are_drawn_as_often_as_is_likely() -> None:
    """Groups of ten: of those that say "or missing" nobody tells how many are, one at least in each."""
    chance = np.random.default_rng(2)
    gone = chance.random((400, 10)) < 0.09
    gone[gone.all(axis=1)] = False
    texts = ["[0-9)", "[0-9) or missing"]
    told = Told(np.repeat(gone.any(axis=1), 10).astype(np.uint8), texts, [{"mean": 4.0}, {}])
    groups = np.repeat(np.arange(400), 10)
    found = likely_missing(told, groups=lambda: groups, clusters=lambda: None)
    assert found is not None
    drawn = drawn_missing(found, chance)
    assert abs(drawn.mean() - gone.mean()) < 0.04
    assert not drawn[told.codes == 0].any()
    sure = Told(told.codes, ["[0-9)", None], [{}, {}])
    assert likely_missing(sure, groups=lambda: groups, clusters=lambda: None) is None
