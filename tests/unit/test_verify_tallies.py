"""What verify counts by numbers of texts is what a library's group-by counts, however few rows are taken at a time."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from sfumato.privacy.verify import tallies


def table(rows: int, sizes: list[int], seed: int) -> pl.DataFrame:
    """Columns of text, of which some cells are missing and some labels nobody's."""
    chance, columns = np.random.default_rng(seed), dict[str, pl.Series]()
    for at, size in enumerate(sizes):
        labels = [f"{at} {number}" for number in range(size)]
        drawn = chance.integers(-1, max(1, size - 1), rows)
        columns[f"c{at}"] = pl.Series([None if one < 0 else labels[one] for one in drawn], dtype=pl.Enum(labels))
    return pl.DataFrame(columns)


def rows_of(found: pl.DataFrame) -> list[tuple[object, ...]]:
    return sorted(found.cast({pl.Enum: pl.String}).rows(), key=repr)


@pytest.mark.parametrize("most", [7, 1_000])
@pytest.mark.parametrize("largest", [tallies.LARGEST, 1])
def test_groups_are_those_of_a_group_by(monkeypatch: pytest.MonkeyPatch, most: int, largest: int) -> None:
    monkeypatch.setattr(tallies, "ROWS", most)
    monkeypatch.setattr(tallies, "LARGEST", largest)
    for seed, (rows, sizes) in enumerate([(0, [3]), (1, [1]), (5, [2, 3]), (50, [300, 2, 2]), (200, [4, 255, 3, 2])]):
        made = table(rows, sizes, seed)
        expected = made.group_by(made.columns).agg(pl.len().alias("rows"))
        found = tallies.tallied(made, made.columns, "rows")
        assert rows_of(found) == rows_of(expected)
        assert [found.schema[name] for name in made.columns] == [made.schema[name] for name in made.columns]


def test_texts_are_counted_and_those_of_nobody_are_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tallies, "FEW", 7)
    for seed, size in enumerate((1, 4, 255, 256, 300)):
        column = table(100, [size], seed)["c0"]
        expected = dict(column.cast(pl.String).value_counts().rows())
        assert tallies.text_counts(column) == expected == tallies.text_counts(column.cast(pl.String))
