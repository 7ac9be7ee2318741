"""What the recipient of a release does with its centres: finds the clusters that its holder saw."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.errors import ReleaseError
from sfumato.release.certificate import sha256
from sfumato.release.reading import DAMAGE, plain_file, read_certificate, read_json, read_rows
from sfumato.structure.space import Space
from sfumato.structure.structures import Clusters, cluster_placed

CENTRES = "centres.json"


def find_clusters(release: str | Path) -> NDArray[np.int64]:
    """(rows,): the cluster of each row of a release, in the order of its table, the largest cluster first.

    k-means, started from the centres that go along: cold starts often end elsewhere.
    """
    space, rows = read_space(release), released_rows(release)
    try:
        return cluster_placed(Clusters("kmeans"), space.place(rows), k=len(space.centres), centres=space.start()).labels
    except DAMAGE:
        raise _damaged(release) from None


def read_space(release: str | Path) -> Space:
    """Where the values and the clusters of a release stand."""
    path, certificate = Path(release) / CENTRES, read_certificate(release)
    if not os.path.lexists(path):
        raise ReleaseError(str(release), f"a release that tells its clusters' centres has them in {CENTRES}",
                           given="none there", remedy="cluster its table by a method of your own, from many "
                           "starts; or ask the holder why they stay, which publish tells")  # fmt: skip
    try:
        if certificate["files"][CENTRES]["sha256"] != sha256(plain_file(release, CENTRES)):
            raise _damaged(release)
        return Space.from_json(read_json(release, CENTRES))
    except DAMAGE:
        raise _damaged(release) from None


def released_rows(release: str | Path) -> pa.Table:
    """The table of a release as it was written; a CSV as text."""
    return read_rows(release, guess=False)


def _damaged(release: str | Path) -> ReleaseError:
    return ReleaseError(str(release), f"{CENTRES}, the table and the certificate belong together", given="they do not",
                        remedy=f"run sfumato verify {release}, and restore the release from a good copy")  # fmt: skip
