"""Whatever a run meets on its way, what it spent is epsilon, to the last fraction."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.data.encoding import encode
from sfumato.engines import ReferenceEngine
from sfumato.maskers.masker import Labels, Task
from sfumato.privacy.budget import Budget, Spending
from sfumato.privacy.mechanisms import Mechanisms, SeededNoise

SCHEMA = sf.Schema(
    number=sf.Number(role="quasi", range=(0, 9), integer=True),
    label=sf.Category(role="quasi", taxonomy=sf.Taxonomy.from_tree({"ANY": {"N": ["a", "b"], "S": ["c", "d"]}})),
    items=sf.ItemSet(role="quasi", values=("p", "q", "r")),
    wage=sf.Number(role="sensitive", range=(0.0, 1.0)),
)
ROW = st.tuples(
    st.one_of(st.none(), st.integers(0, 9)),
    st.sampled_from("abcd"),
    st.one_of(st.none(), st.lists(st.sampled_from("pqr"), unique=True, max_size=3)),
    st.floats(0, 1),
)
MAY_MISS = ("number", "items")
MASKERS = st.one_of(
    st.builds(
        sf.PrivateTree,
        rows=st.sampled_from(("values", "generalized")),
        bins=st.integers(2, 4),
        splits=st.one_of(st.none(), st.integers(1, 5)),
        may_miss=st.just(MAY_MISS),
    ),
    st.builds(
        sf.DPHeter,
        steps=st.integers(1, 12),
        may_miss=st.just(MAY_MISS),
        selection=st.sampled_from(("private", "random")),
    ),
)


@settings(max_examples=30)
@given(
    st.lists(ROW, min_size=1, max_size=12), MASKERS, st.fractions("1/5", 10**6, max_denominator=997), st.integers(0, 99)
)
def test_every_path_spends_epsilon_exactly_and_as_planned(
    rows: list[tuple[int | None, str, list[str] | None, float]],
    masker: sf.PrivateTree | sf.DPHeter,
    epsilon: Fraction,
    seed: int,
) -> None:
    columns = dict(zip(SCHEMA, map(list, zip(*rows, strict=True)), strict=True))
    types = (pa.int64(), pa.string(), pa.list_(pa.string()), pa.float64())
    arrays = [pa.array(values, type=kind) for values, kind in zip(columns.values(), types, strict=True)]
    table = encode(pa.table(dict(zip(SCHEMA, arrays, strict=True))), SCHEMA)
    budget = Budget(epsilon)
    mechanisms = Mechanisms(Spending(budget), SeededNoise(seed))
    labels = Labels((np.arange(table.rows) % 2).astype(np.uint8), 2, most=2)
    masker.mask(Task(table, labels, (), ReferenceEngine(), mechanisms=mechanisms))
    events = mechanisms.spending.events
    assert sum(event.epsilon for event in events) == epsilon
    assert all(event.epsilon > 0 for event in events)
    plan = masker.plan(SCHEMA, budget)
    assert sum(share.epsilon for share in plan) == epsilon
