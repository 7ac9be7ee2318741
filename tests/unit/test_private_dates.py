"""Dates under a budget: the declared range in whole calendar units, and what is read, drawn, told and refused of it."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.data.encoding import encode
from sfumato.data.schema import Calendar
from sfumato.engines import ReferenceEngine
from sfumato.maskers.histogram.dates import bin_edges, unit_text
from sfumato.maskers.histogram.domains import NumberDomain, declared
from sfumato.maskers.histogram.mask import domain_form
from sfumato.maskers.histogram.records import records_of
from sfumato.maskers.masker import Labels, Task
from sfumato.privacy.budget import Budget, Spending
from sfumato.privacy.mechanisms import Mechanisms, SeededNoise
from sfumato.privacy.verify.private.dates import range_of, shown_dates, shown_intervals
from sfumato.privacy.verify.verdict import CheckError

RANGE = ("1930-01-01", "2009-12-31")


def domain(unit: Calendar, ends: tuple[str, str] = RANGE, *, bins: int = 8, missing: bool = False) -> NumberDomain:
    schema = sf.Schema(born=sf.Number(role="quasi", calendar=unit, range=ends))
    found = declared(schema, bins=bins, may_miss=("born",) if missing else ())["born"]
    assert isinstance(found, NumberDomain)
    return found


def edges(unit: Calendar, ends: tuple[str, str], bins: int) -> list[str]:
    return [unit_text(int(edge), unit) for edge in domain(unit, ends, bins=bins).edges]


def test_bins_begin_with_the_longest_periods_that_are_near() -> None:
    assert edges("day", RANGE, 4) == ["1930-01-01", "1950-01-01", "1970-01-01", "1990-01-01", "2010-01-01"]
    assert edges("day", ("2024-01-01", "2024-12-31"), 4) == [
        "2024-01-01",
        "2024-04-01",
        "2024-07-01",
        "2024-10-01",
        "2025-01-01",
    ]
    assert edges("hour", ("2024-03-01", "2024-03-02"), 2) == [
        "2024-03-01T00:00",
        "2024-03-02T00:00",
        "2024-03-03T00:00",
    ]
    assert edges("year", ("2020", "2022-06"), 8) == ["2020", "2021", "2022", "2023"]


def test_a_range_inside_periods_keeps_its_own_ends() -> None:
    assert edges("day", ("2019-11-30", "2021-02-01"), 3) == ["2019-11-30", "2020-01-01", "2021-01-01", "2021-02-02"]
    assert edges("week", ("2020", "2021"), 2) == ["2019-12-30", "2021-01-04", "2022-01-03"]


def test_dates_fall_into_the_bins_of_their_units_and_missing_ones_into_their_own() -> None:
    schema = sf.Schema(born=sf.Number(role="quasi", calendar="day", range=RANGE))
    values = [date(1930, 1, 1), date(1939, 12, 31), date(1940, 1, 1), None, date(2009, 12, 31)]
    domains = declared(schema, bins=8, may_miss=("born",))
    found = records_of(encode(pa.table({"born": values}), schema), domains)
    assert found.cells["born"].tolist() == [0, 0, 1, 8, 7]


def test_a_moment_of_the_last_day_is_inside() -> None:
    schema = sf.Schema(seen=sf.Number(role="quasi", calendar="day", range=("2024-01-01", "2024-12-31")))
    values = [datetime(2024, 12, 31, 23, 59, 59), datetime(2024, 1, 1)]
    found = records_of(encode(pa.table({"seen": values}), schema), declared(schema, bins=12, may_miss=()))
    assert found.cells["seen"].tolist() == [11, 0]


def drawn(unit: Calendar, values: list[Any], *, ends: tuple[str, str] = RANGE, mask: Any = None, **more: Any) -> Any:
    """What a generous budget draws of a column of dates."""
    schema = sf.Schema(born=sf.Number(role="quasi", calendar=unit, range=ends, **more))
    people = encode(pa.table({"born": values}), schema)
    mechanisms = Mechanisms(Spending(Budget(50)), SeededNoise(1))
    labels = Labels(np.zeros(people.rows, dtype=np.uint8), 1, most=1)
    task = Task(people, labels, (), ReferenceEngine(), mechanisms=mechanisms)
    return (mask or sf.PrivateTree()).mask(task).masked["born"].to_arrow()


def test_days_are_dates_and_hours_are_moments_whatever_the_table_holds() -> None:
    whole = [date(1980, 5, 17), date(1990, 1, 1)] * 30
    assert drawn("day", whole).type == pa.date32()
    assert drawn("day", [datetime(1980, 5, 17, 12), datetime(1990, 1, 1)] * 30).type == pa.date32()
    assert drawn("hour", whole, ends=("1980", "1990")).type == pa.timestamp("us")


def test_a_date_of_a_longer_unit_is_its_first_day() -> None:
    years = drawn("year", [date(1980, 5, 17)] * 60).to_pylist()
    assert {(day.month, day.day) for day in years} == {(1, 1)}
    assert {day.weekday() for day in drawn("week", [date(1980, 5, 17)] * 60).to_pylist()} == {0}


def test_a_generous_budget_draws_dates_where_they_were() -> None:
    found = drawn("day", [date(1965, 5, 17)] * 200).to_pylist()
    assert sum(1960 <= day.year < 1970 for day in found) > 150
    assert all(1930 <= day.year < 2010 for day in found)


def test_dates_outside_are_refused_or_clipped_as_declared() -> None:
    values = [date(1900, 1, 1), date(1980, 1, 1), date(2030, 5, 5)]
    with pytest.raises(sf.TableError, match="outside: clip"):
        drawn("day", values)
    schema = sf.Schema(born=sf.Number(role="quasi", calendar="day", range=RANGE, outside="clip"))
    read = encode(pa.table({"born": values}), schema).column("born").decode().to_pylist()
    assert read == [date(1930, 1, 1), date(1980, 1, 1), date(2009, 12, 31)]
    timed = pa.array([datetime(1900, 1, 1, 3), datetime(1980, 1, 1, 3, 4, 5, 6), None, datetime(2030, 1, 1)])
    read = encode(pa.table({"born": timed}), schema).column("born").decode().to_pylist()
    assert read == [datetime(1930, 1, 1), datetime(1980, 1, 1, 3, 4, 5, 6), None, datetime(2009, 12, 31, 23, 59, 59)]


def test_a_range_of_one_unit_is_refused_before_the_table_is_read() -> None:
    with pytest.raises(sf.RecipeError, match="born with a range of one year"):
        domain("year", ("1990-01-01", "1990-12-31"))


def test_the_plan_names_the_unit() -> None:
    schema = sf.Schema(born=sf.Number(role="quasi", calendar="month", range=RANGE))
    assert "marginal of born (8 bins, months)" in repr(
        sf.Recipe(schema=schema, mask=sf.PrivateTree(), budget=sf.Budget(1)).plan
    )


def test_a_domain_is_told_as_dates() -> None:
    expected = {"kind": "dates", "range": ["1930-01", "2009-12"], "calendar": "month", "missing": True}
    assert domain_form(domain("month", missing=True), "values") == expected
    assert domain_form(domain("month", missing=True), "generalized") == expected | {"kind": "intervals"}


@pytest.mark.parametrize(
    ("ends", "unit"),
    [
        (["1930-01-02", "2009"], "year"),
        (["1930", "1930"], "year"),
        (["2009", "1930"], "year"),
        (["1930", 2009], "year"),
        (["1930"], "year"),
        (["1930-02", "2009-04"], "quarter"),
        (["1930-01-01", "2009-12-31"], "week"),
        (["1930-01-01T00:30", "2009-12-31T00:00"], "hour"),
        (["1930-02-30", "2009-12-31"], "day"),
        (["1930", "9999"], "year"),
    ],
)
def test_verify_knows_one_form_of_a_range(ends: list[Any], unit: str) -> None:
    with pytest.raises(CheckError):
        range_of({"range": ends, "calendar": unit}, "born")


def column(cells: list[Any]) -> pl.Series:
    """As a released table is held: texts by their numbers."""
    found = pl.Series("born", cells)
    return found.cast(pl.Categorical) if found.dtype == pl.String else found


@pytest.mark.parametrize(
    ("shown", "unit", "holds"),
    [
        (date(1930, 1, 1), "year", True),
        (date(2009, 1, 1), "year", True),
        (date(2009, 1, 2), "year", False),
        (date(2010, 1, 1), "year", False),
        (date(1929, 1, 1), "year", False),
        (datetime(1930, 1, 1), "year", False),
        ("1930-01-01", "year", True),
        ("1930", "year", False),
        ("1930-01-01T00:00:00", "year", False),
        (7, "year", False),
    ],
)
def test_verify_knows_which_dates_lie_in_a_range(shown: Any, unit: str, holds: bool) -> None:
    form = {"kind": "dates", "range": ["1930", "2009"], "calendar": unit, "missing": False}
    assert shown_dates(column([shown]), form) == holds


def test_verify_wants_moments_of_hours() -> None:
    form = {"range": ["2024-01-01T00:00", "2024-12-31T23:00"], "calendar": "hour"}
    assert shown_dates(column([datetime(2024, 5, 1, 7)]), form)
    assert shown_dates(column(["2024-05-01T07:00:00"]), form)
    for wrong in ([datetime(2024, 5, 1, 7, 30)], [date(2024, 5, 1)], ["2024-05-01"], ["2024-05-01 07:00:00"]):
        assert not shown_dates(column(wrong), form)
    assert not shown_dates(column([datetime(2024, 5, 1, 7)]).dt.replace_time_zone("UTC"), form)


@pytest.mark.parametrize(
    ("label", "holds"),
    [
        ("[1930-01..2010-01)", True),
        ("[1950-03..1950-04)", True),
        ("[1930-01..2010-02)", False),
        ("[1929-12..2010-01)", False),
        ("[1950-03..1950-03)", False),
        ("[1930-01..2010-01]", False),
        ("[1930-01-2010-01)", False),
        ("[1930..2010)", False),
        ("[1930-01-01..2010-01)", False),
        ("*", False),
        ("[1930-01..2010-01) or missing", False),
    ],
)
def test_verify_knows_which_intervals_lie_in_a_range(label: str, holds: bool) -> None:
    form = {"range": ["1930-01", "2009-12"], "calendar": "month"}
    assert shown_intervals(pl.Series("born", [label]), form) == holds


def test_every_start_of_a_bin_is_one_of_its_unit() -> None:
    assert len(set(bin_edges(0, 30_000, "day", 256))) == 257
