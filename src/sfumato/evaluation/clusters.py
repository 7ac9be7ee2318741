"""How alike two cluster structures over the same records are: plain label arrays in, figures out.

Everything but `silhouettes` and `agreement` is computed from the contingency table, which takes one pass over
the rows. Labels may be whole numbers or texts; which number or text a cluster has does not matter.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import TableError
from sfumato.evaluation.matching import matched
from sfumato.randomness import Seeded
from sfumato.structure.coded_points import Placed
from sfumato.structure.silhouettes import silhouettes_of

Labels = NDArray[Any] | Sequence[int] | Sequence[str]
Contingency = NDArray[np.int64]

SILHOUETTE_ROWS = 5_000
"""Above this many rows the silhouette is taken on a sample of this size."""


def contingency(raw: Labels, masked: Labels) -> Contingency:
    """(raw clusters, masked clusters): how many records each pair of clusters shares; 000 Table 4.

    Rows and columns stand in the order of their labels; clusters without records are left out.

    >>> contingency([0, 0, 1], ["b", "a", "a"]).tolist()
    [[1, 1], [1, 0]]
    """
    left, right = _codes(raw), _codes(masked)
    if len(left) != len(right) or not len(left):
        raise TableError(
            "labels",
            "two structures are compared over the same records",
            given="different lengths or no rows",
            remedy="give one label per record in both, in the same order",
        )
    width = int(right.max()) + 1
    table = np.bincount(left * width + right, minlength=(int(left.max()) + 1) * width).reshape(-1, width)
    return np.asarray(table[table.any(axis=1)][:, table.any(axis=0)], dtype=np.int64)


def f_measures(table: Contingency) -> NDArray[np.float64]:
    """(raw clusters, masked clusters): F of each pair, the harmonic mean of recall and precision.

    000 Eq. 6-8 in one: 2 n_ij / (|C_i| + |K_j|).
    """
    raw, masked = table.sum(axis=1), table.sum(axis=0)
    return np.asarray(2 * table / (raw[:, None] + masked[None, :]), dtype=np.float64)


def f_measure(raw: Labels, masked: Labels) -> float:
    """The overall F-measure (000 Eq. 9): each raw cluster's best F, weighted by its size. In (0, 1].

    >>> f_measure([0, 0, 1, 1], [1, 1, 0, 0])
    1.0
    """
    return f_measure_of(contingency(raw, masked))


def f_measure_of(table: Contingency) -> float:
    """The overall F-measure of a contingency table."""
    best = f_measures(table).max(axis=1)
    return float((table.sum(axis=1) * best).sum() / table.sum())


def match_point(raw: Labels, masked: Labels) -> float:
    """The share of ordered pairs of records that are together in both structures or apart in both.

    000 Eq. 10; the Rand index with the pairs of a record with itself counted.

    >>> match_point([0, 0, 1], [0, 1, 1])
    0.5555555555555556
    """
    return match_point_of(contingency(raw, masked))


def match_point_of(table: Contingency) -> float:
    """The match point of a contingency table: no matrix of record pairs is needed."""
    pairs = _Pairs.of(table)
    return (pairs.all + 2 * pairs.both - pairs.raw - pairs.masked) / pairs.all


def misclassification(raw: Labels, masked: Labels) -> float:
    """The share of records outside their own cluster, clusters matched one to one in the best way (004).

    The formula printed there is 0 whenever sizes agree; its text means this (PAPERS.md, 004-3).

    >>> misclassification([0, 0, 1, 1], [1, 1, 0, 1])
    0.25
    """
    return misclassification_of(contingency(raw, masked))


def misclassification_of(table: Contingency) -> float:
    """The misclassification error of a contingency table."""
    columns = matched(table)
    rows = np.flatnonzero(columns >= 0)
    return 1.0 - float(table[rows, columns[rows]].sum() / table.sum())


def adjusted_rand(raw: Labels, masked: Labels) -> float:
    """The Rand index adjusted for chance: 1 for the same clusters, about 0 for unrelated ones.

    >>> adjusted_rand([0, 0, 1, 1], [1, 1, 0, 0])
    1.0
    """
    return adjusted_rand_of(contingency(raw, masked))


def adjusted_rand_of(table: Contingency) -> float:
    """The adjusted Rand index of a contingency table."""
    n = int(table.sum())
    pairs = _Pairs.of(table)
    both, raw, masked = pairs.both - n, pairs.raw - n, pairs.masked - n  # ordered pairs of different records
    if raw + masked == 2 * both:
        return 1.0
    expected = raw * masked / (n * (n - 1))
    return (both - expected) / ((raw + masked) / 2 - expected)


def nmi(raw: Labels, masked: Labels) -> float:
    """Mutual information over the mean of both entropies: 1 for the same clusters, 0 for independent ones.

    >>> nmi([0, 0, 1, 1], [0, 1, 0, 1])
    0.0
    """
    return nmi_of(contingency(raw, masked))


def nmi_of(table: Contingency) -> float:
    """The normalised mutual information of a contingency table; 1 if neither side has two clusters."""
    raw, masked, both = _entropy(table.sum(axis=1)), _entropy(table.sum(axis=0)), _entropy(table.ravel())
    if raw + masked == 0:
        return 1.0
    return float(np.clip(2 * (raw + masked - both) / (raw + masked), 0.0, 1.0))


@dataclass(frozen=True)
class ClusterKept:
    """One raw cluster and the masked cluster that describes it best; a row of 000 Table 7."""

    cluster: int
    size: int
    found_as: int
    found: int
    recall: float
    precision: float
    f: float

    def to_json(self) -> dict[str, int | float]:
        """Its fields by name."""
        return asdict(self)


def clusters_kept(raw: Labels, masked: Labels) -> tuple[ClusterKept, ...]:
    """What became of each raw cluster. Holder-only: it tells sizes of raw clusters."""
    table = contingency(raw, masked)
    scores = f_measures(table)
    best = scores.argmax(axis=1)
    return tuple(
        ClusterKept(
            cluster=at,
            size=int(table[at].sum()),
            found_as=int(to),
            found=int(table[at, to]),
            recall=float(table[at, to] / table[at].sum()),
            precision=float(table[at, to] / table[:, to].sum()),
            f=float(scores[at, to]),
        )
        for at, to in enumerate(best)
    )


def silhouettes(records: Placed, structures: Sequence[Labels], *, seed: int = 0) -> list[float | None]:
    """Of each structure, how much nearer records are to their own cluster than to the next, from -1 to 1.

    Above `SILHOUETTE_ROWS` rows on a seeded sample of that size; None where there are not two clusters.
    """
    rows = np.arange(records.rows)
    if len(rows) > SILHOUETTE_ROWS:
        rows = np.sort(Seeded(seed).generator().choice(len(rows), SILHOUETTE_ROWS, replace=False))
    held = [np.unique(np.asarray(labels)[rows], return_inverse=True)[1] for labels in structures]
    found: list[float | None] = [None] * len(held)
    several = [at for at, codes in enumerate(held) if 1 < int(codes.max(initial=0)) + 1 < len(rows)]
    if several:
        values = silhouettes_of(records.vectors(rows), [held[at] for at in several])
        for at, value in zip(several, values, strict=True):
            found[at] = value
    return found


def agreement(raw: Placed, masked: Placed, centres: NDArray[np.float32]) -> float:
    """The share of records whose nearest raw centre is the same before and after masking."""
    return float((raw.nearest(centres) == masked.nearest(centres)).mean())


@dataclass(frozen=True)
class _Pairs:
    """Ordered pairs of records, each with itself included: all; together in raw, in masked, in both."""

    all: int
    raw: int
    masked: int
    both: int

    @classmethod
    def of(cls, table: Contingency) -> _Pairs:
        n = int(table.sum())
        return cls(n * n, *(_squares(part) for part in (table.sum(axis=1), table.sum(axis=0), table.ravel())))


def _squares(counts: Contingency) -> int:
    return int(np.dot(counts, counts))


def _entropy(counts: Contingency) -> float:
    shares = counts[counts > 0] / counts.sum()
    return -float((shares * np.log(shares)).sum()) if len(shares) > 1 else 0.0


def _codes(labels: Labels) -> NDArray[np.int64]:
    """Labels as small whole numbers from 0."""
    array = np.asarray(labels)
    if array.dtype.kind in "iub" and len(array) and array.min() >= 0 and array.max() < 4096:
        return array.astype(np.int64, copy=False)
    return np.asarray(np.unique(array, return_inverse=True)[1], dtype=np.int64)
