"""A table is known again exactly if it holds the same rows, however often each, in whatever order."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import example, given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.data.encoding import encode
from sfumato.privacy.ledger import fingerprint

SCHEMA = sf.Schema(age=sf.Number(), town=sf.Category(), items=sf.ItemSet())
ROW = st.tuples(
    st.sampled_from([None, 0, 1, 2]),
    st.sampled_from([None, "a", "b", "ab"]),
    st.sampled_from([None, (), ("a",), ("b",), ("a", "b")]),
)
Row = tuple[int | None, str | None, tuple[str, ...] | None]
CROSSED: list[Row] = [(0, "a", ()), (1, "b", ())]
SWAPPED: list[Row] = [(0, "b", ()), (1, "a", ())]


def known(rows: list[Row], *, numbers: pa.DataType | None = None) -> bytes:
    ages, towns, items = ([row[at] for row in rows] for at in range(3))
    table: Any = pa.table({
        "age": pa.array(ages, type=numbers or pa.int64()),
        "town": pa.array(towns, type=pa.string()),
        "items": pa.array(items, type=pa.list_(pa.string())),
    })  # fmt: skip
    return fingerprint(encode(table, SCHEMA))


@given(st.lists(ROW, min_size=1, max_size=6), st.lists(ROW, min_size=1, max_size=6))
@example(CROSSED, SWAPPED)
@example([(0, "a", None)], [(0, "a", ())])
@example([(0, "a", ()), (0, "a", ())], [(0, "a", ())])
def test_equal_rows_and_only_they_are_known_again(one: list[Row], other: list[Row]) -> None:
    assert (known(one) == known(other)) == (sorted(map(repr, one)) == sorted(map(repr, other)))


@given(st.lists(ROW, min_size=1, max_size=8), st.randoms(use_true_random=False))
def test_neither_order_nor_the_type_of_numbers_matters(rows: list[Row], chance: Any) -> None:
    shuffled = chance.sample(rows, len(rows))
    assert known(shuffled, numbers=pa.float64()) == known(rows)


def test_names_count() -> None:
    tables = [encode(pa.table({name: np.arange(3)}), sf.Schema({name: sf.Number()})) for name in ("age", "size")]
    assert fingerprint(tables[0]) != fingerprint(tables[1])
