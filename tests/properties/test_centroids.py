"""Laws of centroids on random tables with ties, duplicates, constant columns and outliers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from sfumato.arrays import Ints
from sfumato.data.encoding import encode
from sfumato.data.schema import Number, Schema
from sfumato.engines import ReferenceEngine
from sfumato.maskers.centroids.fit import MDAV, Linkage, Microaggregate, WFCMeans
from sfumato.maskers.centroids.grouping import linkage, mdav, wf_c_means
from sfumato.maskers.centroids.mask import Centroids
from sfumato.maskers.centroids.microaggregation import bisection, microaggregate
from sfumato.maskers.centroids.points import Partition, Points, loss
from sfumato.maskers.masker import Labels, Masker, Outcome, Task
from sfumato.privacy.requirements import KAnonymity

DIGITS = 1e-4
"""Means are shown to six digits, and stand aside of numbers that few records hold."""
MASKERS: list[Masker] = [Microaggregate(), Microaggregate(fast=True), MDAV(), WFCMeans(), Linkage("single")]


def paper(points: Points, k: int) -> Ints:
    return wf_c_means(points, k).labels


PARTITIONS: list[Partition] = [microaggregate, bisection, mdav, paper, linkage]


def _column(kind: str, rng: np.random.Generator, rows: int) -> NDArray[np.float64]:
    if kind == "few":
        return rng.integers(0, 3, rows).astype(np.float64)
    if kind == "one":
        return np.full(rows, 0.1)
    return rng.normal(size=rows) * 1000 if kind == "many" else np.append(rng.normal(size=rows - 1), 1e9)


@st.composite
def tables(draw: st.DrawFn) -> NDArray[np.float64]:
    """Columns of few values, of one value, of many values, and with an outlier."""
    rows = draw(st.integers(4, 40))
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    kinds = draw(st.lists(st.sampled_from(["few", "one", "many", "outlier"]), min_size=1, max_size=4))
    columns = [_column(kind, rng, rows) for kind in kinds]
    found = np.column_stack(columns)
    repeated = draw(st.integers(0, rows // 2))
    found[:repeated] = found[-1]
    return found


@dataclass(frozen=True)
class Masked:
    raw: NDArray[np.float64]
    shown: NDArray[np.float64]
    sizes: list[int]
    outcome: Outcome


def run(masker: Masker, raw: NDArray[np.float64], k: int) -> Masked:
    names = [f"a{at}" for at in range(raw.shape[1])]
    schema = Schema({name: Number(role="quasi", integer=False) for name in names})
    people = encode(pa.table(dict(zip(names, raw.T, strict=True))), schema)
    labels = Labels(np.zeros(len(raw), dtype=np.uint8), 1)
    outcome = masker.mask(Task(people, labels, (KAnonymity(names, k),), ReferenceEngine()))
    counts: Any = outcome.masked.to_arrow().group_by(names).aggregate([([], "count_all")])
    shown = np.column_stack([outcome.masked[name].decode().to_numpy(zero_copy_only=False) for name in names])
    return Masked(raw, shown, counts.column("count_all").to_pylist(), outcome)


@pytest.mark.parametrize("partition", PARTITIONS, ids=lambda partition: partition.__name__)
@settings(max_examples=25, deadline=None)
@given(raw=tables())
def test_every_class_has_k_for_all_k_up_to_half_the_table(partition: Partition, raw: NDArray[np.float64]) -> None:
    points = Points.of((raw - raw.mean(axis=0)) / np.where(np.ptp(raw, axis=0) > 0, raw.std(axis=0), 1))
    for k in range(2, len(raw) // 2 + 1):
        labels = partition(points, k)
        sizes = np.bincount(labels)
        assert len(labels) == len(raw)
        assert sizes.min() >= k


@pytest.mark.parametrize("masker", MASKERS, ids=str)
@settings(max_examples=20, deadline=None)
@given(raw=tables(), share=st.floats(0, 1))
def test_what_is_shown_is_the_centre_of_k_and_means_stay(
    masker: Masker, raw: NDArray[np.float64], share: float
) -> None:
    k = 2 + int(share * (len(raw) // 2 - 2))
    masked = run(masker, raw, k)
    assert min(masked.sizes) >= k
    scale = np.abs(raw).max(axis=0) + 1e-9
    np.testing.assert_allclose(masked.shown.mean(axis=0) / scale, raw.mean(axis=0) / scale, atol=DIGITS)
    for centre in np.unique(masked.shown, axis=0):
        members = raw[(masked.shown == centre).all(axis=1)]
        np.testing.assert_allclose(members.mean(axis=0) / scale, centre / scale, atol=DIGITS)
    assert isinstance(masked.outcome.mask, Centroids)
    assert sorted(masked.outcome.mask.sizes) == sorted(masked.sizes)


@settings(max_examples=25, deadline=None)
@given(raw=tables(), k=st.integers(2, 6))
def test_our_best_never_loses_to_mdav_on_small_tables(raw: NDArray[np.float64], k: int) -> None:
    if k > len(raw):
        return
    points = Points.of((raw - raw.mean(axis=0)) / np.where(np.ptp(raw, axis=0) > 0, raw.std(axis=0), 1))
    assert loss(points.vectors, microaggregate(points, k)) <= loss(points.vectors, mdav(points, k)) + 1e-7


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 1000), k=st.integers(2, 5))
def test_the_unit_of_a_number_changes_no_class(seed: int, k: int) -> None:
    raw = np.random.default_rng(seed).normal(size=(30, 2))
    plain, turned = run(Microaggregate(), raw, k), run(Microaggregate(), raw * [4.0, 0.25], k)
    np.testing.assert_allclose(plain.shown * [4.0, 0.25], turned.shown, rtol=DIGITS)
