"""The codebook of released groups: what is told of each, and where their records stand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.data.encoding import encode
from sfumato.data.masked import Masked
from sfumato.data.table import Column, Table
from sfumato.structure.embedding import Embedding
from sfumato.structure.released import ReleasedValues
from sfumato.structure.released_groups import Numbered, ReleasedGroups, learn_codebook

SCHEMA = sf.Schema(age=sf.Number(role="quasi", range=(0, 100)), town=sf.Category(role="quasi"))
AGES = [10, 12, 14, 16, 30, 32, 34, 36]
TOWNS = ["a", "a", "b", "b", "a", "c", "c", "c"]
SHOWN = {"age": ["[0-50)"] * 8, "town": ["{a, b}"] * 4 + ["{a, c}"] * 4}


def raw() -> Table:
    return encode(pa.table({"age": AGES, "town": TOWNS}), SCHEMA)


def masked(**shown: list[Any]) -> Masked:
    return Masked.of({name: pa.array(values) for name, values in {**SHOWN, **shown}.items()}, rows=8)


def test_a_value_that_two_groups_show_has_two_means() -> None:
    shown = masked(age=["[0-50)"] * 7 + ["[50-100]"], town=["{a, b}"] * 4 + ["{a, c}"] * 4)
    book = ReleasedGroups.learn(raw(), shown)
    assert book.to_json()["groups"] == 3
    assert book.to_json()["columns"]["age"] == [13.0, 32.0, 36.0]
    assert ReleasedValues.learn(raw(), shown).to_json()["age"]["[0-50)"] == {"mean": 21.1}


@pytest.mark.parametrize(
    ("unit", "means"), [("year", ["1950-06-16", "1970-01-16"]), ("day", ["1950-06-10", "1970-01-29"])]
)
def test_a_mean_of_dates_is_no_finer_than_their_unit_asks_for(unit: Any, means: list[str]) -> None:
    born = ["1950-06-09", "1950-06-10", "1950-06-11", "1950-06-10", "1970-01-29"] + ["1970-01-29"] * 3
    schema = sf.Schema(born=sf.Number(role="quasi", range=("1940-01-01", "1979-12-31"), calendar=unit))
    shown = Masked.of({"born": pa.array(["[1950-1951)"] * 4 + ["[1970-1971)"] * 4)}, rows=8)
    assert ReleasedGroups.learn(encode(pa.table({"born": born}), schema), shown).to_json()["columns"]["born"] == means


def test_a_column_that_shows_one_value_and_texts_are_left_out() -> None:
    assert ReleasedGroups.learn(raw(), masked()).to_json()["columns"]["age"] == []
    long = encode(pa.table({"age": AGES, "town": [f"{town} " * 40 for town in TOWNS]}), SCHEMA)
    shown = masked(age=["[0-20)"] * 4 + ["[20-100]"] * 4)
    assert ReleasedGroups.learn(long, shown).to_json()["columns"] == {"age": [13.0, 33.0], "town": []}
    values = learn_codebook(long, shown, kind="values", minimum={})
    assert isinstance(values, ReleasedValues)
    assert not values.values["town"]


def test_no_label_of_fewer_records_than_k_is_told_or_follows() -> None:
    """One of four has another label: told alone, the other three would tell of it."""
    assert ReleasedGroups.learn(raw(), masked(), minimum=2).to_json()["columns"]["town"] == [
        {"a": 0.5, "b": 0.5},
        None,
    ]


def test_nothing_is_told_of_an_attribute_where_a_group_is_too_small() -> None:
    book = learn_codebook(raw(), masked(), kind="groups", minimum={"age": 5, "town": 5})
    assert isinstance(book, ReleasedValues), "then values are told of, which show more records"


def test_what_is_left_over_stands_among_the_other_labels_of_a_set() -> None:
    table, shown = raw(), masked()
    embedding = Embedding.of(table, attributes=["town"])
    places = {town: embedding.raw(table)[at] for at, town in enumerate(TOWNS)}
    half = ReleasedGroups(2, {"age": (), "town": ({"a": 0.75, "{a, b}": 0.25}, {})})
    found = embedding.masked(table, shown, released=half)
    assert found[0] == pytest.approx(0.75 * places["a"] + 0.25 * places["b"])
    assert found[7] == pytest.approx((places["a"] + places["c"]) / 2)
    alone = embedding.masked(table, shown, placement="middle")
    assert alone[0] == pytest.approx((places["a"] + places["b"]) / 2)


def test_groups_are_numbered_by_what_they_show_whatever_the_order_of_rows() -> None:
    table, shown = raw(), masked(town=["{a, b}"] * 4 + [None] * 4)
    order = np.random.default_rng(0).permutation(8).astype(np.int64)
    turned = encode(table.to_arrow().take(order), SCHEMA)
    other = Masked.of({name: column.to_arrow().take(order) for name, column in shown.items()})
    assert ReleasedGroups.learn(turned, other).to_json() == ReleasedGroups.learn(table, shown).to_json()
    assert ReleasedGroups.learn(table, shown).to_json()["columns"]["town"] == [{"a": 0.5, "b": 0.5}, None]


@pytest.mark.parametrize(
    ("codebook", "mask", "says"),
    [("group", sf.TopDown(), "groups"), ("groups", sf.Translate(seed=1), "coarser"), (3, sf.TopDown(), "true, false")],
)
def test_a_codebook_that_makes_no_sense_is_refused(codebook: Any, mask: Any, says: str) -> None:
    numbers = sf.Schema(age=SCHEMA["age"])
    nothing = mask.guarantee.name == "none"
    with pytest.raises(sf.RecipeError, match=says):
        sf.Recipe(
            schema=numbers,
            structure=sf.Clusters("kmeans", k=2),
            mask=mask,
            privacy=[] if nothing else [sf.KAnonymity(["age"], 2)],
            i_understand="no_guarantee" if nothing else None,
            release=sf.Along(codebook=codebook),
        )


@pytest.mark.parametrize("codebook", ["groups", "values", "false", "true"])
def test_a_recipe_with_a_codebook_survives_yaml(codebook: str) -> None:
    text = f"""sfumato: 1
attributes: {{age: {{kind: number, role: quasi, range: [0, 100]}}}}
structure: {{clusters: kmeans, k: 2}}
privacy: [{{k_anonymity: 2, on: [age]}}]
mask: mondrian
release: {{codebook: {codebook}}}
"""
    recipe = sf.Recipe.from_yaml(text)
    assert sf.Recipe.from_yaml(recipe.to_yaml()) == recipe
    kinds = {"groups": "groups", "values": "values", "false": "values", "true": "groups"}
    assert recipe.release.kind(local=True) == kinds[codebook]


def test_a_column_is_not_copied_for_every_group(monkeypatch: pytest.MonkeyPatch) -> None:
    """A copy of all rows for each group: at a million rows it took minutes."""
    copies: list[Column] = []

    def keys(column: Column) -> Any:
        copies.append(column)
        return column.codes.astype(np.int64)

    monkeypatch.setattr(Column, "keys", property(keys))
    shown = Masked.of({name: pa.array([f"{name}{at}" for at in range(300)]) for name in ("age", "town")}, rows=300)
    numbered = Numbered.of(shown, ["age", "town"])
    assert len(numbered.shown) == 300
    assert len(copies) <= 4


def test_an_empty_label_is_refused_with_what_to_write() -> None:
    table = pa.table({"age": [*range(20, 60)], "city": ["a", "", "b", "c"] * 10})
    schema = sf.Schema(age=sf.Number(role="quasi"), city=sf.Category(role="quasi"))
    recipe = sf.Recipe(schema=schema, structure=sf.Clusters("kmeans", k=2), privacy=[sf.KAnonymity(["age", "city"], 3)])
    with pytest.raises(sf.TableError, match=r"missing: \[''\]"):
        sf.publish(table, recipe, run=sf.Run(report=False, trial=True))
    mended = recipe.replace(schema=sf.Schema({**schema, "city": sf.Category(role="quasi", missing=("",))}))
    assert sf.publish(table, mended, run=sf.Run(report=False, trial=True)).verdict.holds
