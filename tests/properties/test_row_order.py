"""The order of rows changes nothing: not the clusters that are found, not the mask, not what a record is shown as."""

from __future__ import annotations

from random import Random

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.arrays import Ints
from sfumato.data.datasets import load
from sfumato.data.encoding import encode
from sfumato.data.schema import Category, ItemSet, Number, Schema
from sfumato.data.table import Codes, Table
from sfumato.engines import LocalEngine
from sfumato.maskers.masker import Labels, Outcome, Task
from sfumato.maskers.mondrian.fit import Mondrian
from sfumato.maskers.partition.fit import Partition
from sfumato.maskers.topdown.masker import TopDown
from sfumato.privacy.requirements import KAnonymity
from sfumato.structure.structures import Clusters, find

QUASI = ("age", "education", "sex", "hours_per_week")
MASKERS = (Partition(), TopDown(), Mondrian())


def adult(order: Ints) -> Table:
    """Some records of Adult, in this order."""
    known = load("adult", complete=True)
    schema = Schema({name: known.schema[name] for name in QUASI})
    return encode(known.table.select(QUASI).take(pa.array(order, pa.int64())), schema)


def masked(table: Table, labels: Codes, masker: Partition | TopDown | Mondrian) -> Outcome:
    return masker.mask(
        Task(
            table, Labels(labels.astype(np.uint8), int(labels.max()) + 1, None), [KAnonymity(QUASI, 10)], LocalEngine()
        )
    )


@settings(max_examples=3, deadline=None)
@given(st.randoms(use_true_random=False))
def test_any_order_of_rows_gives_the_same_clusters_and_the_same_mask(chance: Random) -> None:
    rows = np.arange(600)
    order = np.array(chance.sample(range(len(rows)), len(rows)))
    one, other = adult(rows), adult(order)
    structure = Clusters("kmeans", k=4, n_init=2)
    found, again = find(structure, one), find(structure, other)
    assert np.array_equal(found.labels[order], again.labels)
    assert found.centres is not None
    assert again.centres is not None
    assert found.centres.tobytes() == again.centres.tobytes()
    for masker in MASKERS:
        was, now = masked(one, found.labels, masker), masked(other, again.labels, masker)
        assert was.mask.files() == now.mask.files()
        for name in QUASI:
            assert was.masked[name].decode().take(pa.array(order, pa.int64())).equals(now.masked[name].decode())


def mixed(order: Ints) -> Table:
    """Every kind of attribute, values missing, and fewer places than records."""
    draw = np.random.default_rng(4)
    numbers, texts = draw.integers(0, 2_000, 400), draw.integers(0, 5, 400)
    items = [["a", "b", "c", "d"][: int(at)] if at < 4 else None for at in draw.integers(0, 5, 400)]
    columns = {
        "number": [None if at % 50 == 0 else float(at) / 7 for at in numbers],
        "text": ["uvwxy"[at] for at in texts],
        "items": items,
    }
    schema = Schema(number=Number(role="quasi"), text=Category(role="quasi"), items=ItemSet(role="quasi"))
    return encode(pa.table(columns).take(pa.array(order, pa.int64())), schema)


@pytest.mark.parametrize("method", ["kmeans", "bisecting", "ward", "kmedoids", "hdbscan"])
def test_every_clusterer_finds_the_same_in_any_order(method: str) -> None:
    structure = Clusters(method, k="auto") if method in ("hdbscan", "kmeans") else Clusters(method, k=3)
    order = np.random.default_rng(1).permutation(400)
    found, again = find(structure, mixed(np.arange(400))), find(structure, mixed(order))
    assert found.names == again.names
    assert np.array_equal(found.labels[order], again.labels)
