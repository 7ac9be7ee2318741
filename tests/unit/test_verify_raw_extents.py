"""With the raw table, for the holder: every released row of a partitioned table is a raw row of the group it shows."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from tests.corruptions import forge, read_rows, write_rows
from tests.releases import people, recipe, release_of

SCHEMA = sf.Schema(
    age=sf.Number(role="quasi", range=(17, 90)),
    town=sf.Category(role="quasi"),
    born=sf.Number(role="quasi", calendar="month", range=("1950", "1979")),
    wage=sf.Number(role="quasi"),
    ill=sf.Category(role="sensitive"),
)


def raw_people(rows: int = 240) -> pa.Table:
    rng = np.random.default_rng(8)
    days = [date(1950 + int(n), 1 + int(m), 1 + int(d)) for n, m, d in rng.integers((0, 0, 0), (30, 12, 28), (rows, 3))]
    return pa.table(
        {
            "age": pa.array(rng.integers(17, 91, rows), mask=rng.random(rows) < 0.1),
            "town": pa.array(rng.choice(["a", "b", "c", "d, e"], rows), mask=rng.random(rows) < 0.1),
            "born": pa.array(days, mask=rng.random(rows) < 0.1),
            "wage": pa.array(np.round(rng.lognormal(3, 1, rows), 2)),
            "ill": rng.choice(["flu", "rash", "gout"], rows).tolist(),
        }
    )


def published(folder: Path, extent: Any = "parts") -> Path:
    """Two trees: age, town and born are connected, and wage is on its own."""
    needs = [sf.KAnonymity(["age", "town"], 6), sf.KAnonymity(["wage"], 9), sf.KAnonymity(["town", "born"], 4)]
    how = sf.Recipe(
        schema=SCHEMA,
        structure=sf.Clusters("kmeans", k=2, n_init=1),
        mask=sf.Partition(extent=extent),
        privacy=needs,
    )
    return sf.publish(raw_people(), how, run=sf.Run(report=False)).write(folder)


def told(folder: Path, raw: pa.Table) -> Mapping[str, str]:
    """The checks that failed."""
    return {check.name: check.detail for check in sf.verify(folder, raw=raw).failed}


def changed(table: pa.Table, row: int, **cells: object) -> pa.Table:
    rows = table.to_pylist()
    rows[row] = {**rows[row], **cells}
    return pa.Table.from_pylist(rows, schema=table.schema)


@pytest.mark.parametrize("extent", ["parts", "cuts"])
def test_every_raw_row_is_found_in_its_group(extent: str, tmp_path: Path) -> None:
    verdict = sf.verify(published(tmp_path / "out", extent), raw=raw_people())
    assert verdict.holds, str(verdict)
    assert "NOT compared" not in str(verdict)


def test_the_raw_table_may_be_text(tmp_path: Path) -> None:
    import pyarrow.csv as pc

    pc.write_csv(raw_people(), tmp_path / "raw.csv")
    assert sf.verify(published(tmp_path / "out"), raw=tmp_path / "raw.csv").holds


def test_a_raw_row_that_lies_elsewhere_is_noticed(tmp_path: Path) -> None:
    folder, raw = published(tmp_path / "out"), raw_people()
    wages = raw["wage"].to_numpy()
    assert "raw rows" in told(folder, changed(raw, int(wages.argmin()), wage=float(wages.max())))
    assert "in no group" in told(folder, changed(raw, 3, town="x"))["raw rows"]
    assert "outside the range" in told(folder, changed(raw, 3, age=91))["raw rows"]
    assert "outside the range" in told(folder, changed(raw, 3, born=date(1980, 1, 1)))["raw rows"]
    assert "raw rows" in told(folder, changed(raw, 3, wage=None))


def test_records_that_changed_groups_are_noticed(tmp_path: Path) -> None:
    """The sizes of groups and the claims are as before: only whose illness stands where is not."""
    folder = release_of("partition", tmp_path / "out")
    raw, rows = people().select(list(recipe("partition").schema)), read_rows(folder)
    assert sf.verify(folder, raw=raw).holds
    one = rows[0]
    other = next(row for row in rows if row["age"] != one["age"] and row["disease"] != one["disease"])
    one["disease"], other["disease"] = other["disease"], one["disease"]
    write_rows(folder, rows, list(one))
    forge(folder)
    assert sf.verify(folder).holds
    assert set(told(folder, raw)) == {"raw rows"}


def test_groups_that_overlap_are_noticed(tmp_path: Path) -> None:
    """One group is shown as anything: true of its records, but of all others as well."""
    folder = published(tmp_path / "out")
    rows = read_rows(folder)
    first = {name: rows[0][name] for name in ("age", "town", "born")}
    for row in rows:
        if first.items() <= row.items():
            row.update(dict.fromkeys(first, "*"))
    write_rows(folder, rows, list(rows[0]))
    assert "two groups" in told(folder, raw_people())["raw rows"]
