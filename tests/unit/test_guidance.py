"""What Partition's cuts follow where a class guides: the same for rows in any order."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import NDArray

import sfumato as sf
from sfumato.data.axis import make_axis
from sfumato.data.encoding import encode
from sfumato.data.table import Table
from sfumato.engines import LocalEngine
from sfumato.maskers.masker import Labels, Task
from sfumato.maskers.partition.cells import Binned, soft_guide
from sfumato.maskers.partition.guidance import likely_classes

SCHEMA = sf.Schema(
    age=sf.Number(role="quasi", range=(0, 40), integer=True), place=sf.Category(role="quasi", values=tuple("abcd"))
)


def people(classes: int) -> tuple[pa.Table, NDArray[Any]]:
    chance = np.random.default_rng(classes)
    age, place = chance.integers(0, 40, 240), chance.integers(0, 4, 240)
    found = (age // 14 + (place == 2) + (chance.random(240) < 0.2)) % classes
    return pa.table({"age": age, "place": np.array(list("abcd"))[place]}), found.astype(np.uint8)


def binned(table: Table) -> Binned:
    return Binned.of(table, [make_axis(name, SCHEMA[name], table.column(name), many=5) for name in SCHEMA], least=5)


@pytest.mark.parametrize("classes", [2, 3])
def test_rows_in_another_order_are_cut_alike(classes: int) -> None:
    table, labels = people(classes)
    order = np.random.default_rng(9).permutation(len(labels))
    masks, guides = [], []
    for rows, held in ((table, labels), (table.take(order), labels[order])):
        encoded = encode(rows, SCHEMA)
        likely = likely_classes(binned(encoded), held, classes)
        guides.append((soft_guide(likely).scale, np.sort(likely, axis=0).tolist()))
        task = Task(encoded, Labels(held, classes, told_in_part=True), (sf.KAnonymity(SCHEMA.quasi, 5),), LocalEngine())
        masks.append(sf.Partition().mask(task).mask.files())
    assert guides[0] == guides[1]
    assert masks[0] == masks[1]
