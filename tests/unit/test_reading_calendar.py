"""Dates and times as numbers, calendar units and text."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import get_args

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from sfumato.data import calendar
from sfumato.data.encoding import encode
from sfumato.data.reading import read
from sfumato.data.schema import Calendar, Number, Schema
from sfumato.errors import SchemaError

MOMENTS = [
    datetime.datetime(1899, 12, 31, 23, 59, 59, 999999),
    datetime.datetime(1969, 12, 31, 23, 59, 59),
    datetime.datetime(1970, 1, 1),
    datetime.datetime(2000, 2, 29, 12, 30, 15, 5),
    datetime.datetime(2026, 11, 15, 21, 0),
]


@pytest.mark.parametrize("unit", get_args(Calendar))
def test_floor_agrees_with_arrow(unit: Calendar) -> None:
    values = pa.array(MOMENTS, pa.timestamp("us"))
    expected = pc.floor_temporal(values, unit=unit).cast(pa.int64()).to_numpy()
    assert calendar.floor(values, unit).tolist() == expected.tolist()


@pytest.mark.parametrize(
    "kind", [pa.timestamp("s"), pa.timestamp("ms"), pa.timestamp("ns", "UTC"), pa.date32(), pa.date64()]
)
def test_every_type_has_one_unit(kind: pa.DataType) -> None:
    values = pa.array([datetime.datetime(1960, 5, 17), datetime.datetime(2000, 2, 29)]).cast(kind)
    assert calendar.to_number(values).tolist() == [calendar.parse("1960-05-17"), calendar.parse("2000-02-29")]


def test_nanoseconds_before_1970_round_down() -> None:
    assert calendar.to_number(pa.array([-1], pa.timestamp("ns"))).tolist() == [-1]


@pytest.mark.parametrize(
    ("unit", "text"),
    [
        ("year", "1990"),
        ("quarter", "1990-07"),
        ("month", "1990-08"),
        ("week", "1990-08-27"),
        ("day", "1990-08-31"),
        ("hour", "1990-08-31T23:00"),
        ("minute", "1990-08-31T23:59"),
        ("second", "1990-08-31T23:59:58"),
    ],
)
def test_show_and_parse(unit: Calendar, text: str) -> None:
    moment = calendar.parse("1990-08-31T23:59:58.5")
    assert calendar.show(moment, unit) == text
    assert calendar.parse(text) == int(calendar.floor(np.array([moment]), unit)[0])


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("1999", "2000"),
        ("1999-12", "2000-01"),
        ("1999-12-31", "2000-01-01"),
        ("1999-12-31T23", "2000-01-01"),
        ("1999-12-31T23:59", "2000-01-01"),
        ("1999-12-31T23:59:59", "2000-01-01"),
        ("1999-12-31T23:59:59Z", "2000-01-01"),
        ("1999-12-31T22:59-01:00", "2000-01-01"),
        ("1999-12-31T23:59:59.999999", "2000-01-01"),
    ],
)
def test_the_end_of_a_text_is_its_last_microsecond(text: str, after: str) -> None:
    assert calendar.parse(text, end=True) == calendar.parse(after) - 1


@pytest.mark.parametrize("text", ["9999", "9999-12", "9999-12-31"])
def test_the_last_day_of_all_has_an_end(text: str) -> None:
    assert calendar.show(calendar.parse(text, end=True), "day") == "9999-12-31"


@pytest.mark.parametrize("text", ["yesterday", "1990-13", "", "90", "1990-02-30"])
def test_other_text_is_refused(text: str) -> None:
    with pytest.raises(SchemaError, match="ISO 8601"):
        calendar.parse(text)


def test_dates_and_times_from_csv(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text(
        "born,seen,sent\n1990-03-01,1990-03-01 12:00:00,1990-03-01T12:00:00+02:00\n"
        "?,1990-03-01T12:00:00.25,1990-03-01T12:00:00Z\n1989-01-31,,\n"
    )
    schema = Schema(
        born=Number(calendar="month", missing=("?",), range=("1989", "1990-03-01")),
        seen=Number(calendar="hour"),
        sent=Number(calendar="hour"),
    )
    table = read(path, schema)
    assert table.column("born").values.to_pylist() == [datetime.date(1989, 1, 31), datetime.date(1990, 3, 1)]
    assert table.column("born").codes.tolist() == [1, 2, 0]
    assert table.column("seen").values.type == pa.timestamp("us")
    assert table.column("sent").values.type == pa.timestamp("us", "UTC")
    assert [str(moment)[11:16] for moment in table.column("sent").values] == ["10:00", "12:00"]


def test_the_upper_end_of_a_range_covers_its_whole_day() -> None:
    table = pa.table({"x": [datetime.datetime(2000, 12, 31, 23, 59)]})
    for upper in ("2000", "2000-12-31"):
        assert encode(table, Schema(x=Number(calendar="day", range=("1990", upper)))).rows == 1
