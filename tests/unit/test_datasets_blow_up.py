"""Blowing up a table: its own records first, then variations as the papers describe them."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from sfumato.data import datasets
from sfumato.errors import DatasetError

NAMES = ["a", "b", "c", "d"]
WIDE = pa.table({name: [f"{name}{value}" for value in range(1000)] for name in NAMES} | {"id": list(range(1000))})


def _changed(rows: int, *, seed: int = 0) -> np.ndarray[tuple[int, int], np.dtype[np.bool_]]:
    """Variations x attributes: which cells differ from the record they vary."""
    large = datasets.blow_up(WIDE, rows, seed=seed, attributes=NAMES)
    at = large.column("id").to_numpy()
    return np.column_stack([large.column(name).to_numpy() != WIDE.column(name).to_numpy()[at] for name in NAMES])[1000:]


def test_own_records_come_first_and_rows_are_exact() -> None:
    large = datasets.blow_up(WIDE, 3500, seed=1)
    assert large.num_rows == 3500
    assert large.slice(0, 1000).equals(WIDE)
    assert large.schema == WIDE.schema


def test_each_record_is_varied_equally_often() -> None:
    large = datasets.blow_up(WIDE, 5000, seed=1, attributes=NAMES)
    assert np.bincount(large.column("id").to_numpy()).tolist() == [5] * 1000


def test_the_number_of_varied_attributes_is_uniform() -> None:
    """q in 1..4 with chance 1/4 each; a draw hits the old value once in 1000, which the bounds allow for."""
    varied = np.bincount(_changed(41_000).sum(axis=1), minlength=5) / 40_000
    assert varied[0] < 0.002
    assert varied[1:] == pytest.approx([0.25] * 4, abs=0.012)


def test_every_attribute_is_varied_equally_often() -> None:
    """Each is among the q chosen with chance E q / 4 = 0.625; alone (q = 1) with chance 1/16."""
    changed = _changed(41_000, seed=3)
    assert changed.mean(axis=0) == pytest.approx([0.625] * 4, abs=0.012)
    alone = changed[changed.sum(axis=1) == 1].sum(axis=0) / 40_000
    assert alone == pytest.approx([1 / 16] * 4, abs=0.006)


def test_values_come_from_the_column_and_missing_is_one_of_them() -> None:
    small = pa.table({"x": [1, 2, None], "y": ["u", "v", "v"]})
    large = datasets.blow_up(small, 3000, seed=0)
    assert set(large.column("x").to_pylist()) == {1, 2, None}
    assert set(large.column("y").to_pylist()) == {"u", "v"}


def test_the_seed_decides() -> None:
    first, again = (datasets.blow_up(WIDE, 2000, seed=5) for _ in range(2))
    assert first.equals(again)
    assert not first.equals(datasets.blow_up(WIDE, 2000, seed=6))


def test_lists_are_repeated_and_cannot_be_varied() -> None:
    small = pa.table({"x": [1, 2], "items": [["a"], ["b", "c"]]})
    large = datasets.blow_up(small, 6, seed=0)
    assert large.column("items").to_pylist() == [["a"], ["b", "c"]] * 3
    with pytest.raises(DatasetError, match="hold no lists"):
        datasets.blow_up(small, 6, seed=0, attributes=["items"])


def test_adult_grows_past_one_chunk() -> None:
    adult = datasets.load("adult", complete=True)
    large = datasets.blow_up(adult.table, 1_200_000, seed=0, attributes=adult.schema.quasi)
    assert large.num_rows == 1_200_000
    assert large.column("split").null_count == 0
    assert large.schema == adult.table.schema


@pytest.mark.parametrize(("rows", "attributes"), [(999, None), (2000, []), (2000, ["nobody"])])
def test_nonsense_is_refused(rows: int, attributes: list[str] | None) -> None:
    with pytest.raises(DatasetError):
        datasets.blow_up(WIDE, rows, seed=0, attributes=attributes)
