"""A table comes in from every kind of source, and comes out in codes."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv as csv
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest

import sfumato as sf
from sfumato.data.encoding import encode
from sfumato.data.reading import headers, read, read_arrow
from sfumato.data.schema import Category, ItemSet, Number, Schema
from sfumato.data.table import ItemColumn
from sfumato.errors import Stopped, TableError
from sfumato.events import Event, Share, Stop, running, step
from sfumato.privacy.verify.raw.rows import read_raw
from tests import engines

SCHEMA = Schema(
    name=Category(role="identifier"),
    age=Number(role="quasi"),
    zip=Category(role="quasi"),
    pay=Number(role="sensitive"),
)
ROWS = pa.table(
    {
        "name": ["Ada", "Bo", "Cy", "Di"],
        "age": pa.array([40, None, 20, 40]),
        "zip": pa.array(["007", "99", None, ""]),
        "pay": pa.array([1.5, -0.0, None, 0.0]),
    }
)


def _csv(path: Path) -> Path:
    to = path / "t.csv"
    to.write_text('name,age,zip,pay\nAda,40,007,1.5\nBo,,99,-0.0\nCy,20,,\nDi,40,"",0.0\n')
    return to


def _parquet(path: Path) -> Path:
    pq.write_table(ROWS, path / "t.parquet", row_group_size=3)
    return path / "t.parquet"


def _feather(path: Path) -> Path:
    feather.write_feather(ROWS, path / "t.feather")
    return path / "t.feather"


def _stream_file(path: Path) -> Path:
    with pa.OSFile(str(path / "t.arrow"), "wb") as file, pa.ipc.new_stream(file, ROWS.schema) as writer:
        writer.write_table(ROWS)
    return path / "t.arrow"


def _pandas(path: Path) -> Any:
    return ROWS.to_pandas(types_mapper=pytest.importorskip("pandas").ArrowDtype)


def _polars(path: Path) -> Any:
    return pytest.importorskip("polars").DataFrame(ROWS)


def _lazy(path: Path) -> Any:
    return _polars(path).lazy()


def _pyarrow(path: Path) -> pa.Table:
    return pa.concat_tables([ROWS.slice(0, 1), ROWS.slice(1)])


class Streaming:
    """Nothing but the Arrow C stream interface."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        reader: Any = ROWS.to_reader(max_chunksize=3)
        return reader.__arrow_c_stream__(requested_schema)


def _stream(path: Path) -> Streaming:
    return Streaming()


SOURCES: dict[str, Callable[[Path], Any]] = {
    "csv": _csv,
    "parquet": _parquet,
    "feather": _feather,
    "arrow stream file": _stream_file,
    "pandas": _pandas,
    "polars": _polars,
    "polars lazy": _lazy,
    "pyarrow": _pyarrow,
    "arrow stream": _stream,
}


@pytest.mark.parametrize("kind", SOURCES)
def test_every_source_gives_the_same_codes(kind: str, tmp_path: Path) -> None:
    table = read(SOURCES[kind](tmp_path), SCHEMA)
    assert list(table.columns) == ["age", "zip", "pay"]
    assert table.rows == 4
    assert table.column("age").codes.tolist() == [1, 2, 0, 1]
    assert table.column("age").values.to_pylist() == [20, 40]
    assert table.column("zip").codes.tolist() == [1, 2, 3, 0]
    assert table.column("zip").values.to_pylist() == ["", "007", "99"]
    assert table.column("pay").codes.tolist() == [2, 0, 3, 1]
    assert [str(value) for value in table.column("pay").values.to_pylist()] == ["-0.0", "0.0", "1.5"]


@pytest.mark.parametrize("kind", SOURCES)
def test_headers_and_origin(kind: str, tmp_path: Path) -> None:
    source = SOURCES[kind](tmp_path)
    assert headers(source) == ["name", "age", "zip", "pay"]
    expected = {"pandas": "pandas", "polars": "polars", "polars lazy": "polars"}.get(kind)
    origin = read(SOURCES[kind](tmp_path), SCHEMA).origin
    assert origin == (expected or ("path" if isinstance(source, Path) else "pyarrow"))


def _written(write: Callable[[pa.Table, Path], None]) -> Callable[[pa.Table, Path], Path]:
    def to(table: pa.Table, path: Path) -> Path:
        write(table, path)
        return path

    return to


NARROW: dict[str, Callable[[pa.Table, Path], Any]] = {
    "csv": _written(csv.write_csv),
    "parquet": _written(pq.write_table),
    "pandas": lambda table, path: table.to_pandas(),
    "polars": lambda table, path: pl.from_arrow(table),
    "duckdb": lambda table, path: engines.in_duckdb(table, path.parent),
}


@pytest.mark.parametrize(("kind", "stream"), [*((kind, False) for kind in NARROW), ("parquet", True)])
def test_numbers_of_four_bytes_are_what_they_are_written_as(kind: str, stream: bool, tmp_path: Path) -> None:
    hours = [33.6, 0.1, 16777216.0, 1e-05, 33.6]
    narrow = pa.table({"hours": pa.array([*hours, None], pa.float32())})
    source = NARROW[kind](narrow, tmp_path / f"t.{kind}")
    found = read(source, Schema(hours=Number()), stream=stream)
    assert found.column("hours").values.to_pylist() == [1e-05, 0.1, 33.6, 16777216.0]
    if kind != "duckdb":
        assert {*read_arrow(source)["hours"].drop_null().to_pylist()} == {*hours}
        texts = read_raw(source, missing=())["hours"].cast(pl.String).cast(pl.Float64)  # a CSV is read as text
        assert texts.drop_nulls().sort().to_list() == sorted(hours)


@pytest.mark.parametrize("zone", [None, "Europe/Rome"])
def test_moments_with_nanoseconds_are_rounded_down_wherever_they_are_read(zone: str | None, tmp_path: Path) -> None:
    start = 233_107_200_000_000_000  # 1977-05-22: a night without a midnight in Rome, and nights after it
    moments = pd.Series(pd.to_datetime([-1, -1_000, 1_001, 1_002, *range(start, start + 40 * 10**15, 10**15)]))
    frame = pd.DataFrame({"when": moments if zone is None else moments.dt.tz_localize("UTC").dt.tz_convert(zone)})
    attribute = Number(calendar="second", unique_ok=True)
    assert "when" in sf.draft(frame).schema
    path = tmp_path / "moments.parquet"
    pq.write_table(pa.Table.from_pandas(frame), path)
    schema = Schema(when=attribute)
    for source, stream in ((frame, None), (path, False), (path, True), (pl.from_pandas(frame), None)):
        found = read(source, schema, stream=stream).column("when")
        assert found.values.cast(pa.int64()).to_pylist()[:3] == [-1_000, 1_000, start]
        assert found.codes.tolist()[:5] == [0, 0, 1, 1, 2]
    recipe = sf.Recipe(
        schema=Schema(when=attribute, born=Number(role="quasi", calendar="year")),
        privacy=[sf.KAnonymity(["born"], 5)],
    )
    both = frame.assign(born=frame["when"])
    release = sf.publish(both, recipe, run=sf.Run(report=False, trial=True))
    assert sf.verify(release.write(tmp_path / "out"), raw=both).holds
    assert len(release.apply(both)) == len(both)


def test_excel(tmp_path: Path) -> None:
    polars = pytest.importorskip("polars")
    path = tmp_path / "t.xlsx"
    frame = polars.DataFrame(ROWS).with_columns(polars.col("zip").replace("", None))
    frame.write_excel(path)
    table = read(path, SCHEMA)
    assert headers(path) == ["name", "age", "zip", "pay"]
    assert table.column("age").values.to_pylist() == [20, 40]
    assert table.column("zip").values.to_pylist() == ["007", "99"]
    assert table.column("zip").missing == 2


def test_excel_without_its_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "t.xlsx"
    path.write_bytes(b"PK")
    monkeypatch.setitem(sys.modules, "fastexcel", None)
    with pytest.raises(TableError, match=r"sfumato\[excel\]"):
        read(path, SCHEMA)


def test_identifiers_are_not_read(tmp_path: Path) -> None:
    """The identifier's bytes are broken, which nobody notices who does not read them."""
    path = tmp_path / "t.csv"
    path.write_bytes(b"name,age\nJos\xe9,40\nBo,41\n")
    table = read(path, Schema(name=Category(role="identifier"), age=Number()))
    assert table.column("age").values.to_pylist() == [40, 41]


def test_an_absent_identifier_is_no_harm() -> None:
    assert list(read(ROWS.drop_columns(["name"]), SCHEMA).columns) == ["age", "zip", "pay"]


def test_numbers_in_csv_take_the_narrowest_exact_type(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text(
        "whole,large,decimal,special\n"
        f"{-(2**63)},{2**64 - 1},1e3,nan\n{2**63 - 1},0, 5 ,-inf\n+7,1,9007199254740992,Infinity\n"
    )
    table = read(path, Schema({name: Number() for name in ("whole", "large", "decimal", "special")}))
    kinds = {name: table.column(name).values.type for name in table.columns}
    assert kinds == {
        "whole": pa.int64(),
        "large": pa.uint64(),
        "decimal": pa.float64(),
        "special": pa.float64(),
    }
    assert table.column("whole").values.to_pylist() == [-(2**63), 7, 2**63 - 1]
    assert table.column("large").values.to_pylist() == [0, 1, 2**64 - 1]
    assert table.column("decimal").values.to_pylist() == [5.0, 1000.0, 2.0**53]
    assert [str(value) for value in table.column("special").values.to_pylist()] == ["-inf", "inf", "nan"]


def test_texts_that_mean_missing(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a,b,c,d\n?,?,-9,?\n1,x,-9.0,x\n2,NA,3,y\n")
    schema = Schema(a=Number(missing=("?",)), b=Category(missing=("NA",)), c=Number(missing=("-9",)), d=Category())
    table = read(path, schema)
    assert table.column("a").values.to_pylist() == [1, 2]
    assert table.column("b").values.to_pylist() == ["?", "x"]
    assert table.column("c").values.to_pylist() == [3.0]
    assert [table.column(name).missing for name in "abcd"] == [1, 1, 2, 0]


@pytest.mark.parametrize(
    ("values", "missing", "left"),
    [
        (pa.array([2**63 - 1, 2**63 - 2]), "9223372036854775807", [2**63 - 2]),
        (pa.array([2**64 - 1, 5], pa.uint64()), "-1", [5, 2**64 - 1]),
        (pa.array([255, 5], pa.uint8()), "99999", [5, 255]),
        (pa.array([float("nan"), 1.0]), "nan", [1.0]),
        (pa.array([-0.0, 0.0, 1.0]), "0", [1.0]),
        (pa.array([-9999.0, 1.0]), "-9999", [1.0]),
    ],
)
def test_numbers_that_mean_missing_are_told_exactly(values: pa.Array[Any], missing: str, left: list[float]) -> None:
    column = encode(pa.table({"x": values}), Schema(x=Number(missing=(missing,)))).column("x")
    assert column.values.to_pylist() == left
    assert column.missing == len(values) - len(left)


def test_categories_keep_their_arrow_type() -> None:
    import datetime

    table = pa.table(
        {
            "i": pa.array([3, 1, 3], pa.int16()),
            "b": [True, None, False],
            "d": [datetime.date(2000, 1, 2), datetime.date(1999, 1, 1), None],
            "n": pa.nulls(3),
            "s": pa.array(["b", "a", "b"], pa.string_view()),
        }
    )
    codes = encode(table, Schema({name: Category() for name in "ibdns"}))
    assert codes.column("i").values == pa.array([1, 3], pa.int16())
    assert codes.column("b").values == pa.array([False, True])
    assert codes.column("d").values.type == pa.date32()
    assert codes.column("d").codes.tolist() == [1, 0, 2]
    assert codes.column("n").missing == 3
    assert codes.column("s").values.to_pylist() == ["a", "b"]


def test_a_dictionary_may_hold_nulls_doubles_and_unused_labels() -> None:
    indices = pa.array([0, 1, 2, 3, None], pa.int8())
    messy = pa.DictionaryArray.from_arrays(indices, pa.array(["b", "a", None, "b", "unused"]))
    clean = pa.DictionaryArray.from_arrays(pa.array([0], pa.int8()), pa.array(["c"]))
    column = encode(pa.table({"x": pa.chunked_array([messy, clean])}), Schema(x=Category())).column("x")
    assert column.values.to_pylist() == ["a", "b", "c"]
    assert column.codes.tolist() == [1, 0, 3, 1, 3, 2]


def test_wide_and_narrow_ranges_of_integers_agree_with_a_sort() -> None:
    rng = np.random.default_rng(0)
    for low, high, kind in [(-100, 100, np.int8), (0, 60000, np.uint16), (-(2**62), 2**62, np.int64)]:
        numbers = rng.integers(low, high, 5000).astype(kind)
        column = encode(pa.table({"x": numbers}), Schema(x=Number())).column("x")
        values, codes = np.unique(numbers, return_inverse=True)
        assert column.values.to_numpy().tolist() == values.tolist()
        assert column.codes.tolist() == codes.tolist()


def test_decimals_and_floats_in_pandas() -> None:
    import decimal

    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(
        {"d": [decimal.Decimal("9202.05"), None], "w": [decimal.Decimal(7), None], "f": [1.0, float("nan")]}
    )
    table = read(frame, Schema(d=Number(), w=Number(), f=Number()))
    assert table.column("d").values.to_pylist() == [9202.05]
    assert table.column("w").values == pa.array([7])
    assert table.column("f").missing == 1


def test_item_sets_from_lists() -> None:
    lists = pa.array([["b", "a", "b"], [], None, ["c"], ["?"]])
    table = encode(pa.table({"x": lists}), Schema(x=ItemSet(missing=("?",))))
    column = table.columns["x"]
    assert isinstance(column, ItemColumn)
    assert column.values.to_pylist() == ["a", "b", "c"]
    assert column.decode().to_pylist() == [["a", "b"], [], None, ["c"], None]
    assert column.missing == 2


@pytest.mark.parametrize("kind", ["list_view", "fixed", "large", "dictionary"])
def test_item_sets_from_every_list_type(kind: str) -> None:
    types: dict[str, pa.DataType] = {
        "list_view": pa.list_view(pa.string()),
        "fixed": pa.list_(pa.string(), 2),
        "large": pa.large_list(pa.large_string()),
        "dictionary": pa.list_(pa.dictionary(pa.int32(), pa.string())),
    }
    lists = pa.array([["b", "a"], None, ["c", "c"]], type=types[kind])
    column = encode(pa.table({"x": lists}), Schema(x=ItemSet())).columns["x"]
    assert column.decode().to_pylist() == [["a", "b"], None, ["c"]]


def test_item_sets_from_text(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text('n,x\n1,b|a|b\n2,""\n3,\n4,c|\n5,?\n6,b|a|b\n')
    schema = Schema(n=Number(), x=ItemSet(separator="|", missing=("?",)))
    column = read(path, schema).columns["x"]
    assert column.decode().to_pylist() == [["a", "b"], [], None, ["c"], None, ["a", "b"]]


def test_item_sets_with_another_separator_than_the_declared_one_are_refused() -> None:
    """Each cell would be one item. One cell that has the declared one is enough, and so are few that have another."""
    cells = ["flu|gout", "flu", "gout|asthma", "flu|asthma|gout", "asthma|flu", "gout|flu", "asthma|gout", None]
    found = pa.table({"x": pa.array(cells).dictionary_encode()})
    with pytest.raises(TableError, match=r"write separator: '\|' for this column") as refused:
        encode(found, Schema(x=ItemSet(separator=",")))
    assert "flu" not in str(refused.value)
    for fine in ([*cells, "flu,gout"], cells[:3]):
        table = pa.table({"x": pa.array(fine).dictionary_encode()})
        assert len(encode(table, Schema(x=ItemSet(separator=","))).columns["x"]) == len(fine)


def test_read_arrow_guesses_types(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("i,f,d,t,z,s,e\n1,1.5,1990-03-01,1990-03-01T12:00,007,x,\n,2,1991-01-01,,008,,\n")
    table = read_arrow(path)
    assert table.schema.types == [
        pa.int64(),
        pa.float64(),
        pa.date32(),
        pa.timestamp("us"),
        pa.string(),
        pa.string(),
        pa.string(),
    ]
    assert table.column("z").to_pylist() == ["007", "008"]
    assert table.column("i").to_pylist() == [1, None]


def test_read_arrow_keeps_parquet_types(tmp_path: Path) -> None:
    assert read_arrow(_parquet(tmp_path)).equals(ROWS)


def test_how_much_was_read_is_told_and_a_stop_ends_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sfumato.events.EVERY", 0.0)
    for source in (_csv(tmp_path), _parquet(tmp_path)):
        told: list[Event] = []
        with running(told.append), step("Reading"):
            read(source, SCHEMA)
        shares = [event.done for event in told if isinstance(event, Share)]
        assert shares == sorted(shares)
        assert 0.5 in shares
        stop = Stop()
        stop.ask()
        with running(stop=stop), pytest.raises(Stopped):
            read(source, SCHEMA)
