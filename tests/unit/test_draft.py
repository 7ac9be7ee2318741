from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import yaml

from sfumato.data.draft import Draft, column_values, draft, propose_for
from sfumato.data.draft_values import rounded_range
from sfumato.data.encoding import encode
from sfumato.data.schema import ItemSet, Number
from sfumato.errors import TableError, TaxonomyError

ROWS = 400


def people() -> pa.Table:
    chance = np.random.default_rng(0)
    ages = chance.integers(18, 88, ROWS)
    towns = chance.choice(["Bern", "Basel", "Chur", "Genf", "Olten"], ROWS)
    items = [";".join(chance.choice(["flu", "gout", "asthma"], chance.integers(1, 4), replace=False)) for _ in ages]
    return pa.table(
        {
            "patientID": np.arange(ROWS),
            "code": [f"X{n:05}-{n % 7}q{n}" for n in range(ROWS)],
            "age": ages,
            "town": towns,
            "weight": chance.normal(70, 10, ROWS),
            "born": [datetime.date(1950, 1, 1) + datetime.timedelta(days=int(n) * 40) for n in ages],
            "seen": [f"20{n % 3 + 20}-0{n % 9 + 1}-11" for n in range(ROWS)],
            "findings": items,
            "tags": [["a", "b"][: n % 3] for n in range(ROWS)],
            "zip": chance.choice([53715, 53710, 53706, 90210, 90211], ROWS),
            "smokes": chance.choice([0, 1], ROWS),
            "steps": [str(n % 90) if n % 5 else "?" for n in range(ROWS)],
            "remarks": [f"patient {n} came in with a cough and left after {n} days" for n in range(ROWS)],
            "salary": chance.integers(20_000, 900_000, ROWS),
            "disease": chance.choice(["flu", "gout"], ROWS),
            "gone": pa.nulls(ROWS, pa.string()),
            "married": chance.choice([True, False], ROWS),
        }
    )  # fmt: skip


@pytest.fixture(scope="module")
def found() -> Draft:
    return draft(people())


@pytest.mark.parametrize(
    ("name", "kind", "role", "reason"),
    [
        ("patientID", "category", "identifier", "the name says 'id'"),
        ("code", "category", "identifier", "a value of its own"),
        ("age", "number", "quasi", "whole numbers"),
        ("town", "category", "quasi", "few different texts"),
        ("weight", "number", "quasi", "numbers"),
        ("born", "number", "quasi", "dates"),
        ("seen", "number", "quasi", "every text is a date"),
        ("findings", "item_set", "quasi", "separator ';'"),
        ("tags", "item_set", "quasi", "a list"),
        ("zip", "category", "quasi", "'zip'"),
        ("smokes", "category", "quasi", "two values"),
        ("steps", "number", "quasi", "whole numbers"),
        ("remarks", "category", "identifier", "free text"),
        ("salary", "number", "sensitive", "'salary'"),
        ("disease", "category", "sensitive", "'disease'"),
        ("gone", "category", "plain", "empty"),
        ("married", "category", "quasi", "true or false"),
    ],
)
def test_kind_role_and_reason_of_each_column(found: Draft, name: str, kind: str, role: str, reason: str) -> None:
    column = found[name]
    assert (column.kind, column.role) == (kind, role)
    assert reason in column.reason


def test_details_of_the_guesses(found: Draft) -> None:
    schema = found.schema
    assert schema["age"] == Number(role="quasi", range=(10, 90))
    assert schema["born"] == Number(role="quasi", range=("1951-01-01", "1959-12-31"), calendar="month")
    assert schema["steps"] == Number(role="quasi", range=(0, 90), missing=("?",))
    assert schema["findings"] == ItemSet(role="quasi", separator=";")


MARKS = ("NA", "N/A", "n/a", "null", "NULL", "None", "?", "-", "nan", "NaN", "#N/A", "missing")


def marked(mark: str) -> pa.Table:
    """Columns of every kind, each with a text that means missing."""
    columns = {
        "born": [f"19{n % 50 + 40}-0{n % 9 + 1}-11" for n in range(60)],
        "pay": [str(1000 + 7 * (n % 20)) for n in range(60)],
        "zip": [f"{53700 + n % 5}" for n in range(60)],
        "postcode": [f"0213{n % 5}" for n in range(60)],
        "town": [("Bern", "Basel", "Chur", "Genf")[n % 4] for n in range(60)],
        "findings": [("flu;gout", "gout", "flu;asthma;gout", "asthma;flu", "gout;asthma")[n % 5] for n in range(60)],
    }
    return pa.table({name: [*values, mark] for name, values in columns.items()})


@pytest.mark.parametrize("mark", MARKS)
def test_texts_for_missing_are_one_thing_in_every_column(mark: str) -> None:
    kinds = {"born": "number", "pay": "number", "zip": "category", "postcode": "category", "town": "category"}
    table = marked(mark)
    found = draft(table)
    assert {column.name: column.kind for column in found.columns} == {**kinds, "findings": "item_set"}
    assert {column.attribute.missing for column in found.columns} == {(mark,)}
    assert isinstance(found.schema["born"], Number)
    assert found.schema["born"].calendar == "year"
    text = found.to_yaml("people.csv")
    entries: dict[str, Any] = yaml.safe_load(text)["attributes"]
    assert all(entry["missing"] == [mark] for entry in entries.values())
    assert text.count("# Taken for missing: ") == len(entries)
    coded = encode(pa.table({name: table.column(name).dictionary_encode() for name in found.schema}), found.schema)
    assert all(coded.column(name).missing for name in kinds)


def test_numbers_that_are_none_are_missing_too() -> None:
    column = draft(pa.table({"pay": [*map(float, range(10, 70)), float("nan")]}))["pay"]
    assert column.attribute == Number(role="quasi", range=(10, 70), missing=("nan",))


def test_taxonomies_leave_out_what_means_missing() -> None:
    table = marked("NA")
    assert set(propose_for(table, "town").taxonomy.leaves) == {"Bern", "Basel", "Chur", "Genf"}
    assert set(propose_for(table, "findings").taxonomy.leaves) == {"flu", "gout", "asthma"}
    assert propose_for(table, "zip").way == "prefix"
    assert "Chur" not in propose_for(table, "town", missing=["Chur"]).taxonomy.leaves
    assert set(column_values(table, "town", missing=["Genf", "Chur"])) == {"Bern", "Basel"}
    assert set(column_values(pa.table({"tags": [["a", "b"], ["NA"], ["b", "c"]]}), "tags")) == {"a", "b", "c"}


def test_the_proposed_schema_fits_its_own_table(found: Draft) -> None:
    table = encode(people(), found.schema)
    assert table.rows == ROWS


def test_fingerprints_are_warned_of(found: Draft) -> None:
    warned = {column.name for column in found.columns if any("fingerprint" in text for text in column.warnings)}
    assert warned == {"weight", "salary"}


def test_uniqueness_figures(found: Draft) -> None:
    assert (found["town"].distinct, found["town"].unique_share) == (5, 0.0)
    assert found["weight"].unique_share == 1.0
    assert found.alone == 1.0
    assert draft(pa.table({"sex": ["f", "m", "m", "f", "x"]})).alone == 0.2


def test_taxonomies_are_proposed_for_quasi_labels(found: Draft) -> None:
    zip_codes, town = found["zip"].taxonomy, found["town"].taxonomy
    assert zip_codes is not None
    assert town is not None
    assert "537**" in zip_codes
    assert town.draft
    assert found["disease"].taxonomy is None


def test_the_recipe_is_yaml_with_reasons_and_no_exact_figures(found: Draft) -> None:
    text = found.to_yaml("people.csv", taxonomies={"town": "town.yaml"})
    recipe: dict[str, Any] = yaml.safe_load(text)
    assert list(recipe) == ["sfumato", "table", "attributes", "structure", "privacy", "mask"]
    assert recipe["table"] == "people.csv"
    assert recipe["attributes"]["age"] == {"kind": "number", "role": "quasi", "range": [10, 90]}
    assert recipe["attributes"]["town"] == {"kind": "category", "role": "quasi", "taxonomy": "town.yaml"}
    assert recipe["privacy"] == [{"k_anonymity": 10, "on": list(found.quasi)}]
    assert recipe["mask"] == {"top_down": {"score": "tradeoff"}}
    assert "# age: whole numbers; quasi, as others may know it" in text
    assert "replace it by the one that is publicly known" in text
    assert "the quasi columns make all of the rows unique" in text
    assert "sfumato taxonomy draft people.csv zip --output zip.yaml" in text


def test_awkward_names_stay_valid_yaml() -> None:
    names = ["no", "a: b", "# c", "Größe", "'q'", "x y", "1"]
    table = pa.table({name: ["a", "b", "c", "a", "b", "d", "e"] for name in names})
    text = draft(table).to_yaml(Path("my table.csv"))
    assert list(yaml.safe_load(text)["attributes"]) == names


def test_an_empty_table_is_refused() -> None:
    with pytest.raises(TableError, match="columns and rows"):
        draft(pa.table({"a": pa.array([], pa.int64())}))


def test_a_taxonomy_for_one_column(found: Draft) -> None:
    table = people()
    assert set(propose_for(table, "findings").taxonomy.leaves) == {"flu", "gout", "asthma"}
    assert set(column_values(table, "tags")) == {"a", "b"}
    assert propose_for(table, "seen").way == "calendar"
    with pytest.raises(TableError, match="did you mean 'town'"):
        propose_for(table, "twon")
    with pytest.raises(TaxonomyError, match="has values"):
        propose_for(table, "gone")


@pytest.mark.parametrize(
    ("low", "high"), [(17, 90), (0.13, 0.87), (-5, 5), (1e-7, 3e-7), (12285, 1484705), (3, 3), (-1.5e9, 0)]
)
def test_ranges_are_rounded_outwards(low: float, high: float) -> None:
    lower, upper = rounded_range(low, high)
    assert lower <= low <= high <= upper
    assert upper - lower <= max(3 * (high - low), 1)
