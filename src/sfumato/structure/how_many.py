"""How many clusters seem right: the silhouette of each number, for somebody who chooses by looking."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sfumato.data.table import Table
from sfumato.events import watched
from sfumato.structure.clusterers import AUTO_RANGE, AUTO_ROWS
from sfumato.structure.embedding import Embedding
from sfumato.structure.methods import sample
from sfumato.structure.silhouettes import silhouettes_of
from sfumato.structure.structures import Clusters, cluster_placed


def how_many(structure: Clusters, table: Table) -> dict[int, float]:
    """The silhouette by the number of clusters, from -1 to 1: on the sample that k = "auto" goes by."""
    placed = Embedding.of(table, attributes=structure.attributes, weights=structure.weights).place(table)
    rows = sample(placed.rows, AUTO_ROWS, structure.seed)
    vectors, found = placed.vectors(rows), {}
    for k in watched([k for k in AUTO_RANGE if 2 * k <= table.rows]):
        labels = cluster_placed(replace(structure, k=k, also=()), placed).labels[rows]
        clusters, codes = np.unique(labels, return_inverse=True)
        if 1 < len(clusters) < len(labels):
            found[k] = silhouettes_of(vectors, [codes])[0]
    return found
