"""Clusters and Classes: what they refuse, and what is found in a table."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from sfumato.data.datasets import load
from sfumato.data.encoding import encode
from sfumato.data.schema import Category, ItemSet, Number, Schema
from sfumato.data.table import Table
from sfumato.errors import RecipeError, SchemaError, SfumatoError, TableError
from sfumato.evaluation.clusters import f_measure
from sfumato.structure.structures import Classes, Clusters, cluster_placed, find, starting_centres


@pytest.fixture(scope="module")
def iris() -> Table:
    data = load("iris")
    return encode(data.table, data.schema)


def people(**columns: list[Any]) -> Table:
    schema = Schema(
        {
            name: ItemSet() if isinstance(values[0], list) else Number() if name == "age" else Category(role="plain")
            for name, values in columns.items()
        }
    )
    return encode(pa.table(columns), schema)


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"method": "kmeanz"}, "did you mean 'kmeans'"),
        ({"recluster": "kmeanz"}, "did you mean 'kmeans'"),
        ({"k": 1}, "at least 2"),
        ({"k": 2.0}, "whole number"),
        ({"k": True}, "whole number"),
        ({"seed": -1}, "at least 0"),
        ({"n_init": 0}, "at least 1"),
        ({"placement": "somewhere"}, "in one of these ways"),
        ({"method": "dbscan", "k": 3}, "by itself"),
    ],
)
def test_nonsense_is_refused(settings: dict[str, Any], told: str) -> None:
    with pytest.raises(RecipeError, match=told):
        Clusters(**settings)


def test_lists_of_attributes_become_tuples() -> None:
    given: Any = ["age"]
    assert Clusters(attributes=given).attributes == ("age",)


def test_clusters_of_iris_are_nearly_its_species(iris: Table) -> None:
    found = find(Clusters("kmeans", k=3), iris)
    assert found.names == ("cluster 0", "cluster 1", "cluster 2"), "as recipients number them"
    assert found.n == 3
    assert found.labels.dtype == np.uint8
    assert found.embedding is not None
    assert found.embedding.attributes == ("sepal_length", "sepal_width", "petal_length", "petal_width")
    assert f_measure(iris.column("species").codes, found.labels) > 0.85
    assert found.placed is not None
    assert found.centres is not None
    assert found.centres.shape == (3, 4)


def test_finding_twice_finds_the_same(iris: Table) -> None:
    labels = [find(Clusters("kmeans", k=4, seed=3), iris).labels for _ in range(2)]
    assert np.array_equal(labels[0], labels[1])


def test_noise_is_the_last_label(iris: Table) -> None:
    found = find(Clusters("dbscan", options={"eps": 0.06, "min_samples": 5}), iris)
    assert found.names[-1] == "noise"
    assert found.labels.max() == found.n - 1


def test_one_cluster_is_no_structure(iris: Table) -> None:
    with pytest.raises(RecipeError, match="at least two clusters"):
        find(Clusters("dbscan", options={"eps": 10.0}), iris)


def test_few_distinct_records_are_clustered_once_each() -> None:
    table = people(a=["x", "y", "z"] * 50, age=[1, 1, 9] * 50)
    placed = find(Clusters("kmeans", k=3), table).placed
    assert placed is not None
    found = cluster_placed(Clusters("kmeans", k=3), placed)
    assert len(found.labels) == 150
    assert np.bincount(found.labels).tolist() == [50, 50, 50]


def test_another_method_takes_none_of_the_options(iris: Table) -> None:
    structure = Clusters("kmeans", k=3, options={"max_iter": 5}, recluster="ward")
    placed = find(structure, iris).placed
    assert placed is not None
    assert cluster_placed(structure, placed, method=structure.again).k == 3


def test_classes_are_the_codes_of_their_column(iris: Table) -> None:
    found = find(Classes("species"), iris)
    assert found.names == ("setosa", "versicolor", "virginica")
    assert found.labels is iris.column("species").codes
    assert found.placed is None


@pytest.mark.parametrize(
    ("column", "kind"),
    [
        ("sepal_length", RecipeError),  # quasi-identifying
        ("specis", SchemaError),
    ],
)
def test_a_class_column_is_known_and_not_masked(iris: Table, column: str, kind: type[SfumatoError]) -> None:
    with pytest.raises(kind):
        find(Classes(column), iris)


@pytest.mark.parametrize(
    ("values", "kind"),
    [(["a", "a"], RecipeError), (["a", None], TableError), ([["a"], ["b"]], RecipeError)],
)
def test_a_class_column_labels_every_record(values: list[Any], kind: type[SfumatoError]) -> None:
    with pytest.raises(kind):
        find(Classes("c"), people(c=values))


def test_starting_centres_are_the_means_of_the_raw_clusters_records() -> None:
    vectors = np.array([[0, 0], [2, 0], [5, 5]], dtype=np.float32)
    labels = np.array([1, 1, 0], dtype=np.uint8)
    assert starting_centres(vectors, labels, 2).tolist() == [[5, 5], [1, 0]]
    assert starting_centres(vectors, labels, 3)[2] == pytest.approx(vectors.mean(axis=0))
