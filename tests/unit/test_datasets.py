"""The bundled tables: how many rows, which values, and that their schemas fit them."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from sfumato.data import datasets
from sfumato.data.datasets.loading import DROPPED, merge
from sfumato.data.schema import Category, ItemSet, Number
from sfumato.errors import DatasetError

HERE = [name for name in datasets.names() if name != "crx"]


@pytest.fixture(scope="module")
def adult() -> datasets.Dataset:
    return datasets.load("adult")


def _count(table: pa.Table, column: str, value: str) -> int:
    return table.column(column).to_pylist().count(value)


def test_adult_has_the_known_counts(adult: datasets.Dataset) -> None:
    complete = datasets.load("adult", complete=True).table
    assert adult.table.num_rows == 48_842
    assert (_count(adult.table, "split", "train"), _count(adult.table, "split", "test")) == (32_561, 16_281)
    assert complete.num_rows == 45_222
    assert (_count(complete, "split", "train"), _count(complete, "split", "test")) == (30_162, 15_060)


def test_adult_classes_are_the_published_shares(adult: datasets.Dataset) -> None:
    complete = datasets.load("adult", complete=True).table
    assert _count(adult.table, "income", ">50K") / 48_842 == pytest.approx(0.2393, abs=5e-5)
    assert _count(complete, "income", ">50K") / 45_222 == pytest.approx(0.2478, abs=5e-5)
    assert set(adult.table.column("income").unique().to_pylist()) == {"<=50K", ">50K"}


def test_adult_misses_values_in_three_columns_only(adult: datasets.Dataset) -> None:
    missing = {name: adult.table.column(name).null_count for name in adult.table.column_names}
    assert {name for name, count in missing.items() if count} == {"workclass", "occupation", "native_country"}


def test_adult_roles(adult: datasets.Dataset) -> None:
    assert len(adult.schema.quasi) == 14
    assert adult.schema.with_role("sensitive") == ("income",)
    assert adult.schema.with_role("plain") == ("split",)
    assert "Becker" in adult.citation


@pytest.mark.parametrize(
    ("name", "rows", "sensitive", "largest_class"),
    [
        ("german", 1000, "class", 700),
        ("iris", 150, "species", 50),
        ("wine", 178, "class", 71),
        ("zoo", 101, "type", 41),
    ],
)
def test_small_tables(name: str, rows: int, sensitive: str, largest_class: int) -> None:
    found = datasets.load(name, complete=True)
    assert found.table.num_rows == rows
    assert found.schema.with_role("sensitive") == (sensitive,)
    classes = found.table.column(sensitive).to_pylist()
    assert max(classes.count(label) for label in set(classes)) == largest_class


def test_measurements_keep_their_decimals() -> None:
    iris, wine = datasets.load("iris").table, datasets.load("wine").table
    assert iris.slice(0, 1).to_pylist()[0]["sepal_length"] == 5.1
    assert pc.mean(iris.column("petal_width")).as_py() == pytest.approx(1.1993, abs=1e-4)
    assert pc.mean(wine.column("alcohol")).as_py() == pytest.approx(13.0006, abs=1e-4)


def test_zoo_names_identify() -> None:
    schema = datasets.load("zoo").schema
    assert schema.with_role("identifier") == ("name",)
    assert len(schema.quasi) == 16


@pytest.mark.parametrize("name", HERE)
def test_schema_names_the_columns_in_order(name: str) -> None:
    found = datasets.load(name, rows=500 if name == "patients" else None)
    assert found.name == name
    assert list(found.schema) == found.table.column_names
    assert found.citation


@pytest.mark.parametrize("name", HERE)
def test_every_value_lies_in_its_declared_domain(name: str) -> None:
    found = datasets.load(name, rows=500 if name == "patients" else None)
    for column, attribute in found.schema.items():
        values = found.table.column(column).drop_null()
        if isinstance(attribute, Number):
            assert attribute.range is not None
            assert attribute.range[0] <= pc.min(values).as_py(), column
            assert pc.max(values).as_py() <= attribute.range[1], column
            assert attribute.integer is pa.types.is_integer(values.type), column
        elif attribute.role != "identifier":
            assert _domain(attribute) >= _distinct(values), column


def _domain(attribute: Category | ItemSet) -> set[str]:
    return set(attribute.taxonomy.leaves if attribute.taxonomy else attribute.values or ())


def _distinct(values: pa.ChunkedArray[Any]) -> set[str]:
    flat = pc.list_flatten(values) if pa.types.is_list(values.type) else values
    return {str(value) for value in flat.unique().to_pylist()}


@pytest.mark.parametrize("name", HERE)
def test_columns_are_plain_arrow_types(name: str) -> None:
    found = datasets.load(name, rows=500 if name == "patients" else None)
    allowed = {pa.string(), pa.int64(), pa.float64(), pa.list_(pa.string())}
    assert set(found.table.schema.types) <= allowed


def test_heterogeneous_adult_has_as_many_rows_as_the_paper() -> None:
    found = datasets.load("adult_heterogeneous")
    assert found.table.num_rows == 28_308  # 003 section 5.1
    kinds = [type(attribute) for attribute in found.schema.values()]
    assert (kinds.count(Category), kinds.count(Number), kinds.count(ItemSet)) == (7, 3, 1)
    assert datasets.load("adult_heterogeneous", complete=False).table.num_rows == 31_449


def test_heterogeneous_adult_is_what_plain_loops_make(adult: datasets.Dataset) -> None:
    part = adult.table.slice(0, 6000)
    sets: dict[tuple[object, ...], set[str]] = {}
    for row in part.drop_columns(list(DROPPED)).to_pylist():
        occupation = row.pop("occupation")
        sets.setdefault(tuple(row.values()), set()).update([occupation] if occupation else [])
    merged = merge(part).to_pylist()
    items = [row.pop("occupation") for row in merged]
    assert [tuple(row.values()) for row in merged] == list(sets)
    assert items == [sorted(found) or None for found in sets.values()]
    assert any(found is None for found in items)
    assert max(len(found) for found in items if found) > 1


def test_unknown_names_and_foreign_options_are_refused() -> None:
    with pytest.raises(DatasetError, match="did you mean 'adult'"):
        datasets.load("adults")
    with pytest.raises(DatasetError, match="only 'patients' takes"):
        datasets.load("iris", rows=10)
    with pytest.raises(DatasetError, match="only 'patients' takes"):
        datasets.load("adult", seed=0)


def test_data_files_lie_in_the_package_and_adult_is_small() -> None:
    package = files("sfumato.data.datasets")
    for name in ("adult", "german", "iris", "wine", "zoo"):
        assert 500 < len(package.joinpath(f"{name}.parquet").read_bytes()) < 1_000_000
    sources = package.joinpath("SOURCES.md").read_text(encoding="utf-8")
    assert "CC BY 4.0" in sources
    assert all(cite in sources for cite in ("Becker", "Hofmann", "Forsyth", "Fisher", "Aeberhard"))
