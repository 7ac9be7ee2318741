"""A table is known again in whatever order and form it comes, and the share of rows that two have in common is told."""

from __future__ import annotations

from collections import Counter
from datetime import date, datetime
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sfumato.privacy.ledger.entries import Likeness, likeness
from sfumato.privacy.ledger.keyed_rows import Secret
from sfumato.privacy.ledger.sketches import KEPT, Shared, Sketch, shared, sketch
from tests.sampling import some

SECRET = Secret(bytes(range(32)))
ROW = st.tuples(
    st.sampled_from([None, 0, 1, 2]),
    st.sampled_from([None, "a", "b", "ab"]),
    st.sampled_from([None, (), ("a",), ("b",), ("a", "b")]),
)
Row = tuple[int | None, str | None, tuple[str, ...] | None]
CROSSED: list[Row] = [(0, "a", ()), (1, "b", ())]
SWAPPED: list[Row] = [(0, "b", ()), (1, "a", ())]


def table_of(rows: list[Row], *, numbers: pa.DataType | None = None) -> Any:
    ages, towns, items = ([row[at] for row in rows] for at in range(3))
    return pa.table(
        {
            "age": pa.array(ages, type=numbers or pa.int64()),
            "town": pa.array(towns, type=pa.string()),
            "items": pa.array(items, type=pa.list_(pa.string())),
        }
    )


def look(table: Any) -> Likeness:
    return likeness(table, SECRET)


def hashes(found: Likeness) -> list[int]:
    return [int(one) for one in found.sketches["all"].hashes]


@given(st.lists(ROW, min_size=1, max_size=6), st.lists(ROW, min_size=1, max_size=6))
@example(CROSSED, SWAPPED)
@example([(0, "a", None)], [(0, "a", ())])
@example([(0, "a", ()), (0, "a", ())], [(0, "a", ())])
def test_the_share_in_common_is_that_of_equal_rows(one: list[Row], other: list[Row]) -> None:
    left, right = look(table_of(one)), look(table_of(other))
    common = sum((Counter(one) & Counter(other)).values())
    found = shared(left.sketches["all"], right.sketches["all"])
    assert found.share == pytest.approx(common / min(len(one), len(other)))
    if sorted(map(repr, one)) == sorted(map(repr, other)):
        assert left.same(right)
        assert hashes(left) == hashes(right)


@given(st.lists(ROW, min_size=1, max_size=8), st.randoms(use_true_random=False))
def test_neither_the_order_nor_the_type_matters(rows: list[Row], chance: Any) -> None:
    shuffled = table_of(chance.sample(rows, len(rows)), numbers=pa.float64())
    columns = chance.sample(shuffled.column_names, 3)
    assert hashes(look(shuffled.select(columns))) == hashes(look(table_of(rows)))


SAME: list[tuple[list[Any], list[Any]]] = [
    ([1, 2, None], ["1", "2.0", ""]),
    ([0.0, -0.0, 1e3], ["0", "-0", "1000"]),
    (["a", "b", None], [" a", "b ", ""]),
    ([True, False, None], ["true", "false", None]),
    ([date(2020, 1, 2), date(2020, 2, 1), None], ["2020-01-02", "2020-02-01", None]),
    ([datetime(2020, 1, 2, 10, 20, 30), None, datetime(2020, 1, 2)], ["2020-01-02 10:20:30", None, "2020-01-02"]),
]


@pytest.mark.parametrize(("typed", "written"), SAME)
def test_a_value_counts_by_what_it_says(typed: list[Any], written: list[Any]) -> None:
    forms = [pa.array(typed, from_pandas=True), pa.array(written), pa.array(written).dictionary_encode()]
    found = [hashes(look(pa.table({"x": form}))) for form in forms]
    assert found[0] == found[1] == found[2]
    assert hashes(look(pa.table({"y": forms[0]}))) != found[0], "the column's name counts"


def test_chunks_and_their_dictionaries_change_nothing() -> None:
    texts = ["a", "bc", None, "", "bc", "1", "é"]
    whole = pa.table({"x": pa.chunked_array([texts])})
    parts = [pa.array(texts[:3]), pa.array(texts[3:5]), pa.array(texts[5:])]
    apart = pa.chunked_array([part.dictionary_encode() for part in parts])
    assert hashes(look(pa.table({"x": apart}))) == hashes(look(whole))
    assert hashes(look(pa.table({"x": pa.chunked_array(parts)}).slice(0, 7))) == hashes(look(whole))
    assert hashes(look(whole.slice(2, 4))) == hashes(look(pa.table({"x": texts[2:6]})))


def people(rows: int, seed: int, width: int = 6, values: int = 40) -> pa.Table:
    """A table of `rows` people drawn from the same population, other people for each seed."""
    chance = np.random.default_rng(seed)
    return pa.table({f"x{at}": chance.binomial(values, 0.4, rows) for at in range(width)})


@pytest.mark.parametrize("rows", [50, 2 * KEPT - 1, 2 * KEPT, 20_000])
@pytest.mark.parametrize("width", [1, 3, 6], ids=["all alike", "many alike", "all different"])
@pytest.mark.parametrize("others", some((range(1, 5), range(5, 13)), 2), ids=["four others", "eight others"])
def test_one_less_is_told_and_other_people_are_not(others: range, rows: int, width: int) -> None:
    table = people(rows, 0, width)
    known = look(table)
    for less in (1, 2):
        found = known.shared(look(table.slice(less)))
        assert found.share > 0.98
        assert found.telling or known.sketches["all"].halves > 0.97 or rows < 100
    for seed in others:
        for size in (rows, rows - 1, rows // 2, rows * 2):
            assert not known.shared(look(people(size, seed, width))).telling


@pytest.mark.parametrize("share", [0.6, 0.8, 0.95])
def test_the_share_is_right_to_some_hundredths(share: float) -> None:
    table, others = people(30_000, 0), people(30_000, 1)
    kept = int(share * 30_000)
    mixed = pa.concat_tables([table.slice(0, kept), others.slice(0, 30_000 - kept)])
    found = look(table).shared(look(mixed))
    assert found.telling
    assert found.share == pytest.approx(share, abs=0.05)


@pytest.mark.parametrize("part", [2, 10, 40])
def test_a_part_of_a_table_is_told(part: int) -> None:
    table = people(40_000, 0)
    found = look(table).shared(look(table.slice(100, 40_000 // part)))
    assert found.telling
    assert found.share == 1.0


def test_another_column_less_or_changed_is_still_the_table() -> None:
    table = people(5_000, 0, width=12)
    for name in table.column_names:
        less = table.drop_columns([name])
        changed = less.append_column(name, pa.array(np.arange(5_000)))
        for other in (less, changed):
            assert look(table).same(look(other))
            assert look(table).shared(look(other)).telling
    few = look(table.select(table.column_names[:3]))
    assert look(table).shared(few) == few.shared(look(table)) == Shared(1.0, telling=True), "a query with few of them"
    assert not look(people(5_000, 1, width=12)).shared(few).telling
    assert not look(table).same(look(people(5_000, 1, width=12)))


@pytest.mark.parametrize("seed", some(range(20), 4))
def test_columns_that_are_shuffled_one_by_one_are_other_people_under_every_secret(seed: int) -> None:
    table, chance, secret = people(3_000, 0), np.random.default_rng(seed), Secret(bytes([seed]) * 32)
    shuffled = pa.table({name: table.column(name).take(chance.permutation(3_000)) for name in table.column_names})
    assert not likeness(table, secret).shared(likeness(shuffled, secret)).telling
    assert likeness(table, secret).shared(likeness(table.slice(1), secret)).telling


def test_another_secret_gives_other_hashes() -> None:
    table = people(3_000, 0)
    one, other = look(table), likeness(table, Secret(bytes(32)))
    assert not set(hashes(one)) & set(hashes(other))
    assert not set(one.columns) & set(other.columns)
    assert not set(one.columns.values()) & set(other.columns.values())


def test_a_sketch_is_written_and_read() -> None:
    found = look(people(9_000, 0))
    again = Likeness.from_json(found.to_json())
    assert again.to_json() == found.to_json()
    assert again.shared(found).share == 1.0
    assert len(again.sketches["all"].hashes) < 2.3 * KEPT
    with pytest.raises(ValueError, match="as many"):
        Sketch.from_json({**found.sketches["all"].to_json(), "levels": ""})


def test_the_n_th_of_equal_rows_is_a_row_of_its_own() -> None:
    twice = sketch(np.repeat(np.arange(100, dtype=np.uint64), 2), SECRET)
    once = sketch(np.arange(100, dtype=np.uint64), SECRET)
    assert len(set(twice.hashes.tolist())) == 200
    assert set(once.hashes.tolist()) < set(twice.hashes.tolist())
    assert (once.seen, twice.seen) == (0.0, 1.0)
    assert twice.halves == 0.5, "of two equal rows, both are in the same half or there is one in each"


def test_columns_that_were_cleaned_are_the_same_people_and_one_column_alone_is_nobody() -> None:
    chance = np.random.default_rng(3)
    whole = pa.table({f"c{at}": chance.integers(0, 50, 2_000) for at in range(12)})
    cleaned = pa.table(
        {name: np.asarray(whole[name]) * (10 if at < 4 else 1) for at, name in enumerate(whole.column_names)}
    )
    assert look(whole).shared(look(cleaned)) == Shared(1.0, telling=True)
    few = pa.table({"c0": whole["c0"], "other": chance.integers(0, 9, 2_000)})
    assert not look(whole).shared(look(few)).telling or look(whole).shared(look(few)).share < 1
    assert look(few.select(["c0"])).shared(look(whole)) != Shared(1.0, telling=True)
