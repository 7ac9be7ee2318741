"""Clusters by density, found again in a masked table: with the settings of the raw table, and with those that suit it.

python -m benchmarks.density    # blobs and two moons of 1,500 points, k = 10; a minute
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

import sfumato as sf
from sfumato.arrays import Floats
from sfumato.data.encoding import encode
from sfumato.engines import LocalEngine
from sfumato.evaluation.clusters import f_measure
from sfumato.maskers.masker import Labels, Masker, Task
from sfumato.structure.density import masked_options
from sfumato.structure.structures import Clusters, cluster_placed, find

ROWS, K = 1_500, 10
SCHEMA = sf.Schema(x=sf.Number(role="quasi", range=(-20, 120)), y=sf.Number(role="quasi", range=(-20, 120)))


def blobs(chance: np.random.Generator) -> Floats:
    """Four round heaps."""
    centres = np.array([(20, 20), (50, 70), (80, 30), (30, 80)])
    return np.asarray(centres[chance.integers(0, 4, ROWS)] + chance.normal(0, 4, (ROWS, 2)))


def moons(chance: np.random.Generator) -> Floats:
    """Two half circles, one within reach of the other."""
    angle, second = chance.uniform(0, np.pi, ROWS), chance.random(ROWS) < 0.5
    points = np.column_stack([np.cos(angle), np.sin(angle)])
    points = np.where(second[:, None], (1, 0.5) - points, points) + chance.normal(0, 0.05, (ROWS, 2))
    return np.asarray(points * 25 + 40)


def measured(points: Floats, method: str, masker: Masker) -> tuple[float, float]:
    """F with the raw table's settings, and with the masked one's."""
    table, structure = encode(pa.table({"x": points[:, 0], "y": points[:, 1]}), SCHEMA), Clusters(method)
    found = find(structure, table)
    need = (sf.KAnonymity(SCHEMA.quasi, K),)
    masked = masker.mask(Task(table, Labels(found.labels, found.n), need, LocalEngine())).masked
    if found.embedding is None or found.clustering is None:
        raise ValueError("clusters are found in a space")
    placed = found.embedding.place_masked(table, masked, released=None, placement="expected")
    raw = dict(found.clustering.chosen)
    both = [cluster_placed(structure, placed, options=given) for given in (raw, masked_options(method, raw, placed))]
    one, other = (f_measure(found.labels, np.where(of.labels < 0, of.k, of.labels)) for of in both)
    return one, other


def main() -> None:
    """Print a table."""
    print("| points | clusterer | mask | raw settings | these |\n|---|---|---|---|---|")
    for made in (blobs, moons):
        points = made(np.random.default_rng(3))
        for method in ("dbscan", "hdbscan"):
            for masker in (sf.Partition(), sf.TopDown()):
                before, after = measured(points, method, masker)
                name = "partition" if isinstance(masker, sf.Partition) else "top_down"
                print(f"| {made.__name__} | `{method}` | `{name}` | {before:.2f} | {after:.2f} |", flush=True)


if __name__ == "__main__":
    main()
