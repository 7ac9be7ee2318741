"""The only two sources of chance: `Secure` for what is released, `Seeded` for what must repeat.

Chance is always passed as an argument; nothing here or elsewhere touches a global generator.
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from operator import index
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np
    from numpy.typing import NDArray


class Randomness(Protocol):
    """A source of chance."""

    @property
    def secure(self) -> bool:
        """Whether an adversary could not predict it."""

    def permutation(self, n: int) -> NDArray[np.int64]:
        """A uniformly drawn order of n rows."""

    def pieces(self, n: int) -> Iterator[NDArray[np.int64]]:
        """Such an order piece by piece, in memory for one piece and little more."""


PIECE = 2**20
"""Rows of a piece of an order, about."""


@dataclass(frozen=True)
class Seeded:
    """The same numbers every time: for tests and for clustering, never for what protects people.

    >>> Seeded(7).permutation(4).tolist() == Seeded(7).permutation(4).tolist()
    True
    """

    seed: int

    def __post_init__(self) -> None:
        try:
            index(self.seed)
        except TypeError:
            kind = type(self.seed).__name__
            raise TypeError(f"Seeded: a seed is a whole number. Given: {kind}. To mend it: write Seeded(1).") from None

    @property
    def secure(self) -> bool:
        """Never: whoever knows the seed knows it all."""
        return False

    def generator(self) -> np.random.Generator:
        """A numpy generator, new from the seed each time."""
        import numpy as np

        return np.random.default_rng(self.seed)

    def lasting(self) -> np.random.RandomState:
        """numpy's older generator, new from the seed each time: its draws stay the same in every release of numpy, and
        are those that scikit-learn makes from that seed."""
        import numpy as np

        return np.random.RandomState(self.seed)

    def permutation(self, n: int) -> NDArray[np.int64]:
        """A repeatable order of n rows."""
        return self.generator().permutation(n)

    def pieces(self, n: int) -> Iterator[NDArray[np.int64]]:
        """The same order; what repeats is small."""
        order = self.permutation(n)
        return (order[begin : begin + PIECE] for begin in range(0, n, PIECE))

    def token(self) -> bytes:
        """256 bits that belong to the seed."""
        return hashlib.sha256(f"sfumato seed {self.seed}".encode()).digest()


@dataclass(frozen=True)
class Secure:
    """The operating system's generator.

    >>> sorted(Secure().permutation(4).tolist())
    [0, 1, 2, 3]
    """

    @property
    def secure(self) -> bool:
        """Always."""
        return True

    def permutation(self, n: int) -> NDArray[np.int64]:
        """A uniformly drawn order of n rows: the order of n random 64-bit keys.

        Two equal keys (chance below n^2 / 2^65) keep some order between those two rows only.
        """
        import numpy as np

        keys = np.frombuffer(os.urandom(8 * n), dtype=np.uint64)
        return np.argsort(keys).astype(np.int64, copy=False)

    def pieces(self, n: int) -> Iterator[NDArray[np.int64]]:
        """Such an order, piece by piece: every row draws a bucket, and the buckets are shuffled one after the other.

        That is sorting by random keys whose first bits are the bucket, so that every order is equally likely. A byte or
        two for each row are in memory, and one bucket.

        >>> import numpy as np
        >>> sorted(np.concatenate(list(Secure().pieces(5))).tolist())
        [0, 1, 2, 3, 4]
        """
        import numpy as np

        buckets = 1 << max(0, (n - 1) // PIECE).bit_length()
        width = 1 if buckets <= 256 else 4  # bytes of a lot
        lots = np.frombuffer(os.urandom(width * n), dtype=np.uint8 if width == 1 else np.uint32)
        for bucket in range(buckets):  # a power of two: all of them are equally likely
            rows = np.flatnonzero(np.bitwise_and(lots, buckets - 1) == bucket)
            yield rows[self.permutation(len(rows))]

    def token(self) -> bytes:
        """256 bits that nobody can guess."""
        return os.urandom(32)
