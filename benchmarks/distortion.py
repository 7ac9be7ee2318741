"""What masking by centroids lost: plain arrays in, figures out (001 section 3).

`raw` and `masked` are (rows, attributes) of the same records in the same order.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from sfumato.arrays import Floats
from sfumato.errors import TableError

Metric = Literal["manhattan", "euclidean"]

_NORMS = {"manhattan": 1.0, "euclidean": 2.0}


def sse(raw: Floats, masked: Floats) -> float:
    """The sum of squared differences.

    >>> sse(np.array([[1.0], [3.0]]), np.array([[2.0], [2.0]]))
    2.0
    """
    _check(raw, masked)
    return float(((raw - masked) ** 2).sum())


def sst(raw: Floats) -> float:
    """The sum of squared differences from the mean: what masking all records as one would lose."""
    return float(((raw - raw.mean(axis=0)) ** 2).sum())


def information_loss(raw: Floats, masked: Floats) -> float:
    """SSE / SST with every attribute divided by its standard deviation, so that all count alike. In [0, 1].

    Attributes that are the same for everybody count nothing. The usual figure of microaggregation, and the
    one by which methods can be compared: everybody's weights are the same.

    >>> information_loss(np.array([[0.0], [2.0], [4.0], [6.0]]), np.array([[1.0], [1.0], [5.0], [5.0]]))
    0.2
    """
    _check(raw, masked)
    varies = np.ptp(raw, axis=0) > 0
    if not varies.any():
        return 0.0
    deviation = raw[:, varies].std(axis=0)
    return sse(raw[:, varies] / deviation, masked[:, varies] / deviation) / (len(raw) * int(varies.sum()))


def distortion(raw: Floats, masked: Floats, weights: Sequence[float] | Floats | None = None) -> float:
    """001 Eq. 4: the weighted sum of squared differences; equal weights, adding up to 1, if none are given.

    Methods that choose their own weights can make this as small as they like by weighing most what they kept
    best, so figures with different weights say nothing about which method is better.

    >>> distortion(np.array([[1.0, 5.0], [3.0, 5.0]]), np.array([[2.0, 5.0], [2.0, 5.0]]), [0.25, 0.75])
    0.5
    """
    _check(raw, masked)
    shares = np.full(raw.shape[1], 1 / raw.shape[1]) if weights is None else np.asarray(weights, dtype=np.float64)
    return float((((raw - masked) ** 2).sum(axis=0) * shares).sum())


def nearest_neighbour_error(
    known: Floats,
    classes: NDArray[Any] | Sequence[Any],
    asked: Floats,
    *,
    metric: Metric = "manhattan",
    leave_one_out: bool = False,
) -> float:
    """The share of asked records whose nearest known record has another class (001 section 3.2).

    Row i of `asked` and of `known` is the same record; `leave_one_out` does not let it be its own neighbour.
    Among equally near records the class that most of them have decides, the first in order if there are two.

    >>> points = np.array([[0.0], [1.0], [5.0]])
    >>> nearest_neighbour_error(points, ["a", "a", "b"], points, leave_one_out=True)
    0.3333333333333333
    """
    from scipy.spatial.distance import cdist

    _check(known, asked)
    labels, codes = np.unique(np.asarray(classes), return_inverse=True)
    apart = cdist(asked, known, "minkowski", p=_NORMS[metric])
    if leave_one_out:
        np.fill_diagonal(apart, np.inf)
    nearest = apart <= apart.min(axis=1, keepdims=True) * (1 + 1e-12)
    votes = nearest.astype(np.int64) @ np.eye(len(labels), dtype=np.int64)[codes]
    return float((votes.argmax(axis=1) != codes).mean())


def _check(raw: Floats, masked: Floats) -> None:
    if raw.shape != masked.shape or raw.ndim != 2 or not len(raw):
        raise TableError(
            "distortion",
            "raw and masked records are the same ones on the same attributes",
            given=f"tables of {raw.shape} and {masked.shape}",
            remedy="give two tables of equal shape, rows in the same order",
        )
