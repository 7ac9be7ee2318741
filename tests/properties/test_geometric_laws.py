"""Laws of geometric transformations: distances stay, the holder's inverse restores, the release tells nothing."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import pdist

from sfumato.data.encoding import encode
from sfumato.data.schema import Number, Schema
from sfumato.data.table import Table
from sfumato.engines import ReferenceEngine
from sfumato.maskers.geometric.mask import Transformation
from sfumato.maskers.geometric.masker import AddNoise, Hybrid, Rotate, Scale, Translate
from sfumato.maskers.masker import Labels, Masker, Outcome, Task
from sfumato.publishing import publish
from sfumato.recipe import Recipe
from sfumato.structure.structures import Clusters

NAMES = ("a", "b", "c", "d")
values = st.floats(-1e6, 1e6, allow_nan=False).map(lambda x: round(x, 3))
tables = st.lists(st.tuples(values, values, values, st.integers(-5_000, 5_000)), min_size=3, max_size=30)
seeds = st.integers(0, 10_000)


def encoded(rows: list[tuple[float, float, float, int]]) -> Table:
    columns = list(zip(*rows, strict=True))
    types = (pa.float64(), pa.float64(), pa.float64(), pa.int64())
    arrays = {name: pa.array(columns[at], type=types[at]) for at, name in enumerate(NAMES)}
    return encode(pa.table(arrays), Schema({name: Number(role="quasi") for name in NAMES}))


def masked(table: Table, settings: Masker) -> Outcome:
    return settings.mask(Task(table, Labels(np.zeros(table.rows, dtype=np.uint8), 1), (), ReferenceEngine()))


def matrix(columns: Any) -> Any:
    arrays = [columns[name] if isinstance(columns[name], pa.Array) else columns[name].decode() for name in NAMES]
    return np.column_stack([array.to_numpy(zero_copy_only=False) for array in arrays]).astype(float)


def raw_of(table: Table) -> Any:
    return matrix(table.columns)


@given(tables, seeds)
@settings(max_examples=20, deadline=None)
def test_isometries_leave_all_distances_unchanged(rows: list[tuple[float, float, float, int]], seed: int) -> None:
    table = encoded(rows)
    before = pdist(raw_of(table))
    for isometry in (Translate(seed=seed), Rotate(seed=seed, normalise=False), Scale(by=-1.0)):
        assert pdist(matrix(masked(table, isometry).masked)) == pytest.approx(before, rel=1e-9, abs=1e-5)


@given(tables, seeds, st.sampled_from(["range", "spread"]))
@example([(0.0, 699050.953, float(at == 2), 0) for at in range(3)], 0, "spread")  # equal numbers, a rounded mean
@settings(max_examples=20, deadline=None)
def test_a_normalised_rotation_keeps_normalised_distances(
    rows: list[tuple[float, float, float, int]], seed: int, scale: Any
) -> None:
    table = encoded(rows)
    outcome = masked(table, Rotate(seed=seed, normalise=scale))
    mask = Transformation.from_json(outcome.holder["key.json"])
    units = np.array([mask.frames[name].unit for name in NAMES])
    before, after = pdist(raw_of(table) / units), pdist(matrix(outcome.masked) / units)
    assert after == pytest.approx(before, rel=1e-7, abs=1e-7)


@given(tables, seeds, st.sampled_from([Translate, Scale, Rotate, Hybrid, AddNoise]), st.sampled_from([0.0, 0.3, 1.0]))
@settings(max_examples=20, deadline=None)
def test_the_holders_inverse_restores_the_table(
    rows: list[tuple[float, float, float, int]], seed: int, kind: Any, rho: float
) -> None:
    table = encoded(rows)
    outcome = masked(table, kind(seed=seed, enhance=rho))
    mask = Transformation.from_json(outcome.holder["key.json"])
    back = mask.invert(outcome.masked)
    raw = raw_of(table)
    assert matrix(back) == pytest.approx(raw, rel=1e-7, abs=1e-6 * (1 + np.abs(raw).max()))
    assert back["d"].to_pylist() == table.column("d").decode().to_pylist()  # whole numbers exactly


@given(tables, seeds, st.sampled_from([Translate, Scale, Rotate, Hybrid, AddNoise]))
@settings(max_examples=20, deadline=None)
def test_the_key_makes_the_released_columns_again(
    rows: list[tuple[float, float, float, int]], seed: int, kind: Any
) -> None:
    table = encoded(rows)
    outcome = masked(table, kind(seed=seed, enhance=0.5, round={"a": "nearest", "d": "truncate"}))
    again = Transformation.from_json(outcome.holder["key.json"]).apply(table)
    assert {name: column.to_pylist() for name, column in again.items()} == {
        name: column.to_pylist() for name, column in outcome.masked.items()
    }


def key_numbers(form: Any) -> list[float]:
    """Every number of a key that is not round: found in a release by chance it would not be."""
    if isinstance(form, dict):
        return [number for part in form.values() for number in key_numbers(part)]
    if isinstance(form, list):
        return [number for part in form for number in key_numbers(part)]
    return [form] if isinstance(form, float) and len(f"{form:.17g}") > 8 else []


def in_folder(folder: Path, needles: list[bytes]) -> list[bytes]:
    """Needles that occur in the bytes of a file, or in those of the table without compression."""
    whole = b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())
    table = pq.read_table(folder / "table.parquet")
    for column in table.columns:
        chunk = column.combine_chunks()
        whole += b"".join(bytes(buffer) for buffer in chunk.buffers() if buffer is not None)
    return [needle for needle in needles if needle in whole]


@pytest.mark.parametrize("kind", [Translate, Scale, Rotate, Hybrid, AddNoise])
def test_nothing_of_the_key_is_in_the_release_folder(kind: Any, tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    raw = pa.table({name: rng.normal(40, 11, 400) for name in ("a", "b", "c")})
    schema = Schema({name: Number(role="quasi") for name in ("a", "b", "c")})
    recipe = Recipe(
        schema=schema, structure=Clusters("kmeans", k=2), mask=kind(enhance=0.1), i_understand="no_guarantee"
    )
    release = publish(raw, recipe)
    folder = release.write(tmp_path / "out")
    key = release.holder["key.json"]
    secrets = [noise["secret"] for noise in key["noises"]]
    numbers = key_numbers({"frames": key["frames"], "operations": key["operations"]})
    assert (tmp_path / "out.holder" / "key.json").is_file()
    assert secrets
    needles = [secret.encode() for secret in secrets] + [bytes.fromhex(secret) for secret in secrets]
    needles += [f"{number:.{digits}g}".encode() for number in numbers for digits in (8, 12, 17)]
    needles += [repr(number).encode() for number in numbers] + [struct.pack("<d", number) for number in numbers]
    assert in_folder(folder, needles) == []
    assert release.certificate["guarantee"] == "none"
    assert release.certificate["claims"] == []
    (folder / "key.json").write_bytes((tmp_path / "out.holder" / "key.json").read_bytes())
    assert in_folder(folder, needles)  # the search finds a key that is there
