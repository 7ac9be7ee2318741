"""What the recipient of a release does with its centres: finds the clusters that its holder saw."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.data.reading import read_arrow
from sfumato.errors import ReleaseError
from sfumato.release.reading import read_certificate
from sfumato.structure.space import Space
from sfumato.structure.structures import Clusters, cluster_placed

CENTRES = "centres.json"


def find_clusters(release: str | Path) -> NDArray[np.int64]:
    """(rows,): the cluster of each row of a release, in the order of its table, the largest cluster first.

    k-means, started from the centres that go along: cold starts often end elsewhere.
    """
    space = read_space(release)
    kmeans = Clusters("kmeans", k=len(space.centres))
    return cluster_placed(kmeans, space.place(released_rows(release)), centres=space.start()).labels


def read_space(release: str | Path) -> Space:
    """Where the values and the clusters of a release stand."""
    path = Path(release) / CENTRES
    if not path.is_file():
        read_certificate(release)  # the folder is a release at all
        raise ReleaseError(str(release), f"a release that tells its clusters' centres has them in {CENTRES}",
                           given="none there", remedy="cluster its table by a method of your own, from many "
                           "starts; or ask the holder why they stay, which publish tells")  # fmt: skip
    return Space.from_json(json.loads(path.read_text(encoding="utf-8")))


def released_rows(release: str | Path) -> pa.Table:
    """The table of a release as it was written."""
    return read_arrow(Path(release) / str(read_certificate(release)["table"]["file"]))
