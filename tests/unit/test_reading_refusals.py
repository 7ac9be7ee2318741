"""What does not fit its schema is refused, with a remedy and without a cell."""

from __future__ import annotations

import datetime
import os
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sfumato.data.encoding import encode
from sfumato.data.reading import read
from sfumato.data.schema import Attribute, Category, ItemSet, Number, Schema
from sfumato.data.taxonomy.taxonomy import Taxonomy
from sfumato.errors import SchemaError, SfumatoError, TableError, TaxonomyError

TREE = Taxonomy.from_tree({"ANY": ["a", "b"]})
DAY = datetime.date(2001, 2, 3)


@pytest.mark.parametrize(
    ("values", "attribute", "error", "message"),
    [
        (
            pa.array([17] * 9 + [91]),
            Number(range=(17, 90)),
            TableError,
            r"\[17, 90\], but row 10 holds another.* 1 row o",
        ),
        (
            pa.array([17] * 9 + [91] * 10),
            Number(range=(17, 90)),
            TableError,
            r"every number .*\[17, 90\], but row 10 \(the first of 10 such cells\).*10 rows",
        ),
        (pa.array([float("nan")]), Number(range=(0, 1)), TableError, r"\[0, 1\]"),
        (pa.array([float("inf")]), Number(range=(0, 1)), TableError, r"\[0, 1\]"),
        (pa.array([1.5]), Number(integer=True), TableError, "whole numbers"),
        (pa.array([True]), Number(), SchemaError, "bool"),
        (pa.array([DAY]), Number(), SchemaError, "calendar"),
        (pa.array([1]), Number(calendar="day"), SchemaError, "calendar"),
        (pa.array(["secret"]), Number(), TableError, "row 1"),
        (pa.array(["1", "secret"]), Number(missing=("?",)), TableError, "row 2"),
        (
            pa.array(["7 secrets", "8.5 secrets", "n/a"]),
            Number(),
            TableError,
            "take it out of the column, and write all in",
        ),
        (pa.array(["7 secrets", "8", "9"]), Number(), TableError, "list the text under `missing`, or declare"),
        (pa.array(["2001-02-30"]), Number(calendar="day"), TableError, "row 1"),
        (pa.array(["2001-02-03T10:00", "2001-02-03T10:00Z"]), Number(calendar="day"), TableError, "row 1"),
        (
            pa.array([DAY]),
            Number(calendar="day", range=("1990", "2000")),
            TableError,
            r"every date or time .*\[1990, 2000\], but row 1 .*mend the rows, say outside: clip, or list the date",
        ),
        (
            pa.array(["01.02.2001", "31.02.2001", "secret", "30.02.2001"]),
            Number(calendar="day", dates="dmy"),
            TableError,
            r"row 2 \(the first of 2 such cells\) holds a date that is not .*no such day .*dates: dmy.*mend the cells",
        ),
        (
            pa.array(["01.02.2001", "secret"]),
            Number(calendar="day", dates="dmy"),
            TableError,
            "row 2 holds no ISO 8601 .*nor is it a date in the declared order.* 1990-03-01T12:00:00, list the text",
        ),
        (
            pa.array(["2001-02-03T10:00", "2001-02-03T10:00Z"]),
            Number(calendar="day", dates="ymd"),
            TableError,
            "row 1 holds no ISO 8601 date or time, or one with a zone",
        ),
        (pa.array([["a"]]), Category(), SchemaError, "item set"),
        (pa.array([["a"]]), Number(), SchemaError, "list"),
        (pa.array([{"a": 1}]), Category(), SchemaError, "struct"),
        (pa.array([b"a"]), Category(), SchemaError, "binary"),
        (pa.array([datetime.timedelta(1)]), Category(), SchemaError, "duration"),
        (pa.array([1]), ItemSet(), SchemaError, "list column"),
        (pa.array(["['secret', 'b']", "[]"]).dictionary_encode(), ItemSet(), TableError, "write a;b in place of"),
        (pa.array(['["secret", "b"]']).dictionary_encode(), ItemSet(separator="|"), TableError, "str.join\\('|'\\)"),
        (pa.array([["a"], ["b", None]]), ItemSet(), TableError, "row 2"),
        (pa.array([[["a"]]]), ItemSet(), SchemaError, "labels"),
        (pa.array(["a", "secret"]), Category(taxonomy=TREE), TaxonomyError, "1 of 2.*taxonomy check"),
        (pa.array([["a", "secret"]]), ItemSet(taxonomy=TREE), TaxonomyError, "1 of 2.*taxonomy check"),
        (pa.array(["a", "secret"]), Category(values=("a",)), TableError, "declared values"),
        (pa.array([["secret"]]), ItemSet(values=("a",)), TableError, "declared values"),
    ],
)
def test_refused(values: pa.Array[Any], attribute: Attribute, error: type[SfumatoError], message: str) -> None:
    with pytest.raises(error, match=message) as caught:
        encode(pa.table({"thing": values}), Schema(thing=attribute))
    assert caught.value.thing == "thing"
    assert caught.value.remedy
    assert "secret" not in str(caught.value)


def test_what_is_declared_is_accepted() -> None:
    table = pa.table({"c": ["a", None], "n": [1, 2], "i": [["a"], []]})
    schema = Schema(c=Category(taxonomy=TREE), n=Category(values=("1", "2", "3")), i=ItemSet(values=("a", "b")))
    assert encode(table, schema).rows == 2


def test_whole_floats_may_be_declared_whole() -> None:
    assert encode(pa.table({"x": [1.0, None]}), Schema(x=Number(integer=True))).rows == 2


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["age", "sexx"], "the schema has sex, the table has sexx.*did you mean 'sexx'"),
        (["age", "sex", "height"], "height.*declare it, or leave it out of the table.$"),
        (["age", "height"], "height.*declare it, or leave it out of the table.$"),
        (["age"], "sex.*no such column"),
        (["age", "sex", "city"], "city.*undeclared"),
        (["age", "sex", "city", "zip"], "^city, zip: .* 2 undeclared columns.*declare each"),
        (["agee", "sex"], "the schema has age, the table has agee"),
    ],
)
def test_columns_and_schema_name_the_same(names: list[str], message: str) -> None:
    table = pa.table({name: [1] for name in names})
    with pytest.raises(SchemaError, match=message):
        read(table, Schema(age=Number(), sex=Category()))


@pytest.mark.parametrize(("names", "message"), [(["a", "a"], "a: .*2 columns"), (["a", ""], "column 2")])
def test_names_are_there_and_differ(names: list[str], message: str) -> None:
    table = pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=names)
    with pytest.raises(TableError, match=message):
        read(table, Schema(a=Number()))


def test_no_rows_and_no_columns() -> None:
    with pytest.raises(TableError, match="must have rows"):
        read(pa.table({"a": pa.array([], pa.int64())}), Schema(a=Number()))
    with pytest.raises(SchemaError, match="identifier"):
        read(pa.table({"a": [1]}), Schema(a=Category(role="identifier")))


def test_mixed_types_in_pandas_and_polars() -> None:
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    with pytest.raises(TableError, match=r"x: .*one type") as caught:
        read(pandas.DataFrame({"x": [1, "secret"]}), Schema(x=Category()))
    assert caught.value.__suppress_context__
    with pytest.raises(TableError, match=r"x: .*one type"):
        read(polars.DataFrame({"x": [1, "b"]}, schema={"x": polars.Object}), Schema(x=Category()))


def test_something_else_is_no_table() -> None:
    with pytest.raises(TableError, match="dict"):
        read({"a": [1]}, Schema(a=Number()))


@pytest.mark.parametrize("suffix", [".parquet", ".feather", ".xlsx"])
@pytest.mark.parametrize("content", [b"", b"neither this nor that, but long enough"])
def test_files_that_are_not_what_they_say(suffix: str, content: bytes, tmp_path: Path) -> None:
    path = tmp_path / f"t{suffix}"
    path.write_bytes(content)
    with pytest.raises(TableError, match="whole"):
        read(path, Schema(a=Number()))


@pytest.mark.parametrize("kept", [0.5, 0.99])
def test_truncated_parquet(kept: float, tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"a": list(range(1000))}), path)
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * kept)])
    with pytest.raises(TableError, match="whole Parquet"):
        read(path, Schema(a=Number()))


def test_damaged_parquet(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"a": list(range(1000))}), path)
    content = bytearray(path.read_bytes())
    content[4:200] = b"\xff" * 196
    path.write_bytes(bytes(content))
    with pytest.raises(TableError, match="whole Parquet"):
        read(path, Schema(a=Number()))


def test_paths_that_are_no_readable_file(tmp_path: Path) -> None:
    schema = Schema(a=Number())
    with pytest.raises(TableError, match="folder"):
        read(tmp_path, schema)
    with pytest.raises(TableError, match="no such file"):
        read(tmp_path / "nowhere.csv", schema)
    (tmp_path / "t.doc").write_text("a\n1\n")
    with pytest.raises(TableError, match="suffix"):
        read(tmp_path / "t.doc", schema)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a\n1\n")
    path.chmod(0)
    with pytest.raises(TableError, match="ermission"):
        read(path, Schema(a=Number()))


def test_a_file_that_fails_to_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a\n1\n")

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(TableError, match="Permission denied"):
        read(path, Schema(a=Number()))


@pytest.mark.parametrize("coded", [False, True])
def test_cells_that_are_no_numbers_are_counted(coded: bool) -> None:
    cells: pa.Array[Any] = pa.array(["4", "1 day", "5", "1 day", "2 days"])
    with pytest.raises(TableError, match=r"row 2 \(the first of 3 such cells\) holds no number"):
        encode(pa.table({"days": cells.dictionary_encode() if coded else cells}), Schema(days=Number()))


def test_decimals_with_a_comma_and_with_a_point_are_told_as_such() -> None:
    schema = Schema(cost=Number(decimal="comma"))
    table = pa.table({"cost": ["3,5", "7,25", "12.75", "8.50"]})
    with pytest.raises(TableError, match=r"2 different texts that are none.*write them alike"):
        encode(table, schema)
