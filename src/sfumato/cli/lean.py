"""Libraries that others look for at their start, and that no command asks for: looking takes longer than most steps."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.abc import MetaPathFinder
from types import ModuleType

SELDOM = 50_000
"""New objects after which Python looks for those that refer to each other; usually 700."""


class _Absent(MetaPathFinder):
    """Says of some modules that they are not installed."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = names

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None) -> None:
        """Nothing is found by this finder; others go on where it is silent."""
        if fullname in self.names:
            raise ModuleNotFoundError(f"{fullname} is not looked for here", name=fullname)


@contextmanager
def unseen(*names: str) -> Iterator[None]:
    """Meanwhile these modules are not found, unless they are there already."""
    finder = _Absent(names)
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)


def start_libraries() -> None:
    """Load pyarrow without pandas, numba without BLAS and a parser of C, which no loop here uses: half a second.

    For a process that runs a command and nothing else. Whoever turns a table into one of pandas gets it: pyarrow looks
    again then. Objects that refer to each other are looked for seldom: next to nothing here does.
    """
    gc.set_threshold(SELDOM, 20, 50)
    with unseen("pandas"):
        import pyarrow as pa

        pa.scalar("")  # looks for pandas the first time that a value is given, and keeps what it found
    with unseen("scipy.linalg", "cffi"):
        import numba.core.typing.cffi_utils
        import numba.np.arraymath  # noqa: F401  asks for BLAS while it is loaded
