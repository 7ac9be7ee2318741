"""Sets that are told apart all at once: the same as one after the other, in the library and in verify."""

from __future__ import annotations

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.data.table import ItemColumn
from sfumato.privacy.verify.explained.bags import bags
from sfumato.privacy.verify.verdict import CheckError

LISTS = st.lists(st.none() | st.lists(st.sampled_from("abc"), max_size=3), max_size=12)
PART = {"sets": {"a": [0], "b": [0, 1], "c": [2]}, "missing": [3], "dims": 4, "length": 0.5, "separator": ";"}
ROWS = [["a", "c"], [], None, ["b", "a"], ["c", "a"], ["c"]]


@given(LISTS)
def test_different_sets_come_in_the_order_of_their_first_rows(rows: list[list[str] | None]) -> None:
    column = ItemColumn.of(pa.array(rows, type=pa.list_(pa.string())))
    found, seen = column.sets, list(dict.fromkeys(None if row is None else tuple(row) for row in rows))
    held = [column.items[at] for at in found.items]
    ends = found.offsets.tolist()
    sets = [None if gone else tuple(held[ends[at] : ends[at + 1]]) for at, gone in enumerate(found.missing)]
    assert sets == seen
    assert [seen[code] for code in found.codes] == [None if row is None else tuple(row) for row in rows]


@pytest.mark.parametrize(
    "column", [pl.Series(ROWS), pl.Series([None if row is None else ";".join(row) for row in ROWS])]
)
def test_verify_places_a_set_at_all_its_labels(column: pl.Series) -> None:
    found, half = bags(column, PART), 0.5 / np.sqrt(2)
    places = found.places.toarray()[found.codes]
    assert np.allclose(places[0], [half, 0, half, 0])
    assert np.allclose(places[4], places[0])
    assert not places[1].any()
    assert np.allclose(places[2], [0, 0, 0, 0.5])
    centres = np.array([[0.1, 0.2, 0.3, 0.4], [0.0, 0.0, 0.0, 0.5]])
    apart = ((places[:, None] - centres) ** 2).sum(axis=2)
    assert np.allclose(found.apart(centres)[found.codes], apart)
    counts = np.zeros((found.count, 2))
    counts[found.codes[0], 1] = 2
    assert np.allclose(found.sums(counts)[1], 2 * places[0])


def test_verify_refuses_labels_that_no_row_shows() -> None:
    with pytest.raises(CheckError, match="labels that no row shows"):
        bags(pl.Series([["a"], ["c"], None]), PART)
