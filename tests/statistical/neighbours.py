"""Neighbouring tables chosen to hurt: one record that is unlike all others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

import sfumato as sf
from sfumato.data.encoding import encode

TREE = sf.Taxonomy.from_tree({"ANY": {"N": ["a", "b"], "S": ["c", "d"]}})
SCHEMA = sf.Schema(
    number=sf.Number(role="quasi", range=(0, 16), integer=True),
    label=sf.Category(role="quasi", taxonomy=TREE),
    items=sf.ItemSet(role="quasi", values=("p", "q", "r")),
)
Row = tuple[int, str, list[str]]
BASE: list[Row] = [(2 + at % 3, "ab"[at % 2], [["p"], ["q"], ["p", "q"]][at % 3]) for at in range(9)]
HURT: dict[str, Row] = {
    "a category nobody else has": (3, "d", ["p"]),
    "an extreme number": (16, "a", ["p"]),
    "alone in a leaf": (16, "d", ["p", "q"]),
    "an item nobody else has": (3, "a", ["r"]),
}


def table_of(rows: Sequence[Row], schema: sf.Schema = SCHEMA) -> Any:
    columns = {name: [row[at] for row in rows] for at, name in enumerate(schema)}
    return encode(pa.table({**columns, "items": pa.array(columns["items"], pa.list_(pa.string()))}), schema)


WITH_ITEMS = sf.Schema(
    number=SCHEMA["number"],
    label=SCHEMA["label"],
    p=sf.Category(role="quasi", values=("no", "yes")),
    r=sf.Category(role="quasi", values=("no", "yes")),
)


def with_items(rows: Sequence[Row]) -> Any:
    """Two of the items as attributes of their own: what has one value is paired, sets are not."""
    columns: dict[str, Any] = {"number": [row[0] for row in rows], "label": [row[1] for row in rows]}
    columns |= {item: ["yes" if item in row[2] else "no" for row in rows] for item in "pr"}
    return encode(pa.table(columns), WITH_ITEMS)


def far_labels(rows: Sequence[Row]) -> NDArray[np.int64]:
    """Two clusters of the raw table: one far record turns all others into one cluster."""
    numbers = np.array([row[0] for row in rows])
    found: NDArray[np.int64] = (numbers > (numbers.min() + numbers.max()) / 2).astype(np.int64)
    return found
