"""Clustering a masked table again: exactly 1 unmasked, the floor when all is hidden, the bounds in between."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from sfumato.data.datasets import load
from sfumato.data.encoding import encode
from sfumato.data.masked import Masked
from sfumato.data.table import Table
from sfumato.errors import RecipeError
from sfumato.evaluation.clusters import f_measure, match_point
from sfumato.evaluation.report import FIGURES, evaluate_clusters
from sfumato.structure.released import ReleasedValues
from sfumato.structure.structures import Classes, Clusters, Found, find

STRUCTURE = Clusters("kmeans", k=3, n_init=3)


@pytest.fixture(scope="module")
def iris() -> Table:
    data = load("iris")
    return encode(data.table, data.schema)


@pytest.fixture(scope="module")
def found(iris: Table) -> Found:
    return find(STRUCTURE, iris)


def halves(table: Table) -> Masked:
    """Petal length and width in two intervals each."""
    columns = {}
    for name, split in {"petal_length": 2.5, "petal_width": 1.7}.items():
        numbers = table.column(name).decode().to_numpy(zero_copy_only=False)
        low, high = (f"[..-{split})", f"[{split}-..]")
        columns[name] = pa.array(np.where(numbers < split, low, high).tolist()).dictionary_encode()
    return Masked.of(columns)


def unmasked(table: Table) -> Masked:
    """Everything as it is."""
    return Masked.of({}, rows=table.rows)


def hidden(table: Table) -> Masked:
    """Every measurement at its top."""
    return Masked.of({name: pa.array(["*"] * table.rows) for name in table.schema.quasi})


@pytest.mark.parametrize("method", ["kmeans", "bisecting", "ward", "kmedoids", "hdbscan"])
def test_an_unmasked_table_scores_exactly_1(iris: Table, method: str) -> None:
    structure = Clusters(method, k="auto" if method == "hdbscan" else 3, n_init=2)
    raw = find(structure, iris)
    told = evaluate_clusters(raw, iris, unmasked(iris), structure, seeds=1)
    assert told["f_measure.cold.mean"] == 1.0
    assert told["match_point.cold.mean"] == 1.0
    assert told["agreement"] == 1.0


def test_an_unmasked_table_stays_where_k_means_started(iris: Table, found: Found) -> None:
    told = evaluate_clusters(found, iris, unmasked(iris), STRUCTURE, seeds=1)
    assert told["f_measure.start"] > 0.98  # k-means stops just before the means settle


@pytest.mark.parametrize("placement", ["expected", "own"])
def test_a_table_that_shows_its_raw_values_as_text_scores_exactly_1(placement: Any) -> None:
    """Labels come in another order than codes: that must not change the clusters."""
    data = load("german")
    table = encode(data.table, data.schema)
    structure = Clusters("kmeans", k=4, n_init=1, placement=placement)
    raw = find(structure, table)
    names = [name for name in table.schema.quasi if pa.types.is_string(table.column(name).values.type)]
    shown = Masked.of({name: table.column(name).decode().dictionary_encode() for name in names})
    told = evaluate_clusters(raw, table, shown, structure, seeds=1)
    assert told["f_measure.cold.mean"] == 1.0
    assert told["match_point.cold.mean"] == 1.0


def test_a_wholly_hidden_table_scores_the_floor(iris: Table, found: Found) -> None:
    told = evaluate_clusters(found, iris, hidden(iris), STRUCTURE, seeds=2)
    one_cluster = np.zeros(iris.rows, dtype=np.int64)
    assert told["f_measure.cold.mean"] == told["f_measure.floor.top"] == f_measure(found.labels, one_cluster)
    assert told["match_point.cold.best"] == told["match_point.floor.top"] == match_point(found.labels, one_cluster)
    assert told["adjusted_rand.cold.mean"] == 0.0


def test_a_partly_masked_table_stands_between_floor_and_ceiling(iris: Table, found: Found) -> None:
    told = evaluate_clusters(found, iris, halves(iris), STRUCTURE, seeds=3)
    for figure in ("f_measure.floor.top", "f_measure.start"):  # two numbers as they are tell nearly as much as all
        assert told["f_measure.floor.random"] < told[figure] < 1
    assert told["f_measure.cold.worst"] <= told["f_measure.cold.mean"] <= told["f_measure.cold.best"]
    assert told["misclassification.cold.worst"] >= told["misclassification.cold.best"]
    assert told["f_measure.ceiling.worst"] > 0.8
    assert 0.5 < told["agreement"] < 1
    assert told["silhouette.raw"] > told["silhouette.masked"] > 0
    assert told.settings["cold_seeds"] == [0, 1, 2]


def test_another_masked_table_stands_beside_it(iris: Table, found: Found) -> None:
    told = evaluate_clusters(found, iris, halves(iris), STRUCTURE, seeds=[4, 5], others={"blind": hidden(iris)})
    gain = told["f_measure.cold.mean"] / told["blind.f_measure.cold.mean"] - 1
    assert gain > 0
    assert told["benefit.blind.f_measure"] == pytest.approx(gain)


def test_everything_is_json_and_nothing_of_it_is_publishable(iris: Table, found: Found) -> None:
    book = ReleasedValues.learn(iris, halves(iris), minimum=10)
    told = evaluate_clusters(found, iris, halves(iris), STRUCTURE, seeds=1, released=book)
    form = json.loads(json.dumps(told.to_json()))
    assert len(form["clusters"]) == 3
    assert set(form["scores"]) >= {f"{figure.name}.cold.mean" for figure in FIGURES}
    assert told.to_json(publishable_only=True) == {"scores": {}}


def test_the_recipients_method_may_be_another(iris: Table, found: Found) -> None:
    structure = Clusters("kmeans", k=3, n_init=3, recluster="ward")
    told = evaluate_clusters(found, iris, unmasked(iris), structure, seeds=1)
    assert 0.7 < told["f_measure.cold.mean"] < 1
    assert told.settings["recluster"] == "ward"


def test_classes_are_not_evaluated_as_clusters(iris: Table) -> None:
    with pytest.raises(RecipeError, match="class column"):
        evaluate_clusters(find(Classes("species"), iris), iris, unmasked(iris), STRUCTURE)


def test_one_start_and_ten_are_told_of_methods_that_begin_at_random(iris: Table) -> None:
    one_start = Clusters("kmeans", k=3, n_init=1)
    raw = find(one_start, iris)
    told = evaluate_clusters(raw, iris, halves(iris), one_start, seeds=1)
    ten = evaluate_clusters(raw, iris, halves(iris), Clusters("kmeans", k=3, n_init=10), seeds=1)
    assert told["f_measure.cold10"] == ten["f_measure.cold10"] == ten["f_measure.cold.mean"]
    assert 0 < told["f_measure.cold1"] <= 1
    ward = Clusters("ward", k=3)
    names = {score.name for score in evaluate_clusters(find(ward, iris), iris, halves(iris), ward, seeds=1).scores}
    assert not [name for name in names if "cold1" in name]
