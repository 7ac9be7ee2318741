"""Whole maskers as an adversary meets them: what one generated table shows of the records that hurt."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

import numpy as np

import sfumato as sf
from sfumato.arrays import Ints
from sfumato.data.masked import Masked
from sfumato.engines import ReferenceEngine
from sfumato.maskers.histogram import growth
from sfumato.maskers.histogram.growth import Combination
from sfumato.maskers.histogram.public_space import PublicSpace
from sfumato.maskers.histogram.records import Records
from sfumato.maskers.masker import Labels, Masker, Task
from sfumato.privacy.budget import Budget, Spending
from sfumato.privacy.mechanisms import Mechanisms, Noise, SeededNoise
from tests.statistical.audit import Leak, Outputs, leak
from tests.statistical.many_at_once import ManyAtOnce
from tests.statistical.neighbours import BASE, HURT, SCHEMA, Row, far_labels, table_of


@dataclass(frozen=True)
class Whole:
    """A masker at its epsilon, and where its noise comes from."""

    masker: Masker
    epsilon: int
    noise: Callable[[int], Noise]

    def outputs(
        self, rows: Sequence[Row], runs: int, *, seed: int, learn: bool = False, spent: int | None = None
    ) -> Outputs:
        """What each of so many releases shows.

        Two bugs may be planted: `learn` declares labels as they occur in the data, `spent` is more than epsilon.
        """
        table, noise = table_of(rows, learned(rows) if learn else SCHEMA), self.noise(seed)
        labels = Labels(far_labels(rows).astype(np.uint8), 2, most=2)
        found = []
        with counted_once():
            for _ in range(runs):
                mechanisms = Mechanisms(Spending(Budget(spent or self.epsilon)), noise)
                task = Task(table, labels, (), ReferenceEngine(), mechanisms=mechanisms)
                found.append(shown(self.masker.mask(task).masked))
        return found


@contextmanager
def counted_once() -> Iterator[None]:
    """The tree's exact scores before noise are the same in all runs on one table, so count them once for each."""
    count, seen = growth.scores, dict[Hashable, list[int]]()

    def scores(records: Records, space: PublicSpace, part_of: Ints, choices: Sequence[Combination]) -> list[int]:
        key = (part_of.tobytes(), tuple(choices))
        if key not in seen:
            seen[key] = count(records, space, part_of, choices)
        return seen[key]

    with patch.object(growth, "scores", scores):
        yield


WHOLE = {
    "private tree": Whole(sf.PrivateTree(bins=4, splits=2), 1, lambda _: ManyAtOnce()),
    "pairs": Whole(sf.PrivateTree(bins=4, pairs=1), 1, lambda _: ManyAtOnce()),
    "DPHeter": Whole(sf.DPHeter(steps=3), 1, SeededNoise),
}
"""DPHeter asks too many different questions to draw OpenDP's answers a thousand at a time."""
TOO_MUCH = 40
"""What a planted bug spends instead of epsilon 1."""


def learned(rows: Sequence[Row]) -> sf.Schema:
    """A planted bug: the labels that may occur are those that do."""
    tree = sf.Taxonomy.from_tree({"ANY": sorted({row[1] for row in rows})})
    return sf.Schema({**SCHEMA, "label": sf.Category(role="quasi", taxonomy=tree)})


def shown(columns: Masked) -> Hashable:
    """Rows with the label d, with a high number and with the item r, and all rows: as many as tell anything."""
    numbers, labels, items = (columns[name].to_pylist() for name in SCHEMA)
    counts = (labels.count("d"), sum(map(_high, numbers)), sum("r" in (some or ()) for some in items))
    return (*(min((count + 1) // 2, 3) for count in counts), min(len(labels) // 6, 4))


def _high(number: Any) -> bool:
    """Whether a number, or the interval that is shown for it, is in the upper half."""
    return float(number.strip("[").split("-")[0] if isinstance(number, str) else number) >= 8


def worst_of(name: str, runs: int) -> dict[str, Leak]:
    """For each of the four pairs the most that was found; the table without the record serves all of them."""
    whole = WHOLE[name]
    without = whole.outputs(BASE, runs, seed=0)
    return {
        hurt: leak(whole.outputs([*BASE, record], runs, seed=1 + at), without)
        for at, (hurt, record) in enumerate(HURT.items())
    }


def spendthrift(name: str, runs: int) -> Leak:
    """What is found of a masker that spends `TOO_MUCH`."""
    tables = [*BASE, HURT["alone in a leaf"]], BASE
    return leak(*(WHOLE[name].outputs(rows, runs, seed=at, spent=TOO_MUCH) for at, rows in enumerate(tables)))
