from __future__ import annotations

import datetime

import pyarrow as pa
import pytest

from sfumato.data.encoding import encode
from sfumato.data.schema import Number, Schema
from sfumato.errors import SchemaError, TableError


def read(texts: list[object], attribute: Number) -> list[object]:
    column = encode(pa.table({"x": texts}), Schema(x=attribute)).column("x")
    return column.decode().to_pylist()


@pytest.mark.parametrize(
    ("texts", "order"),
    [
        (["31.12.1990", " 1/2/2003", "2003-02-01", None], "dmy"),
        (["12/31/1990", "2-1-2003", "2003-02-01", None], "mdy"),
        (["19901231", "2003/2/1", "2003.02.01", None], "ymd"),
    ],
)
def test_dates_in_the_declared_order(texts: list[object], order: str) -> None:
    days = [datetime.date(1990, 12, 31), datetime.date(2003, 2, 1), datetime.date(2003, 2, 1), None]
    assert read(texts, Number(calendar="day", dates=order)) == days  # type: ignore[arg-type]


def test_numbers_and_dates_by_type_need_no_order() -> None:
    days = [datetime.date(1990, 12, 31), datetime.date(2003, 2, 1)]
    assert read([19901231, 20030201], Number(calendar="day", dates="ymd")) == days
    assert read([*days], Number(calendar="day", dates="dmy")) == days


def test_numbers_with_the_declared_mark() -> None:
    assert read(["1.234,5", "-7", "12 345,25"], Number(decimal="comma")) == [1234.5, -7.0, 12345.25]
    assert read(["1,234.5", "-7"], Number(decimal="point")) == [1234.5, -7.0]


@pytest.mark.parametrize(
    ("text", "attribute"),
    [
        ("1.5", Number(decimal="comma")),
        ("1,5", Number(decimal="point")),
        ("1,5", Number()),
        ("12/31/1990", Number(calendar="day", dates="dmy")),
        ("31.02.1990", Number(calendar="day", dates="dmy")),
        ("31.12.90", Number(calendar="day", dates="dmy")),
        ("1990131", Number(calendar="day", dates="ymd")),
    ],
)
def test_what_is_written_otherwise_is_refused(text: str, attribute: Number) -> None:
    with pytest.raises(TableError) as refused:
        read([text], attribute)
    assert text not in str(refused.value)


@pytest.mark.parametrize("wrong", [{"dates": "dmy"}, {"calendar": "day", "dates": "dym"}, {"decimal": ","}])
def test_a_schema_refuses_what_means_nothing(wrong: dict[str, str]) -> None:
    with pytest.raises(SchemaError, match=r"order of dates|mark before decimals"):
        Number(**wrong)  # type: ignore[arg-type]
