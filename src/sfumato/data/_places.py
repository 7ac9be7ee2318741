"""Where in the source something stands: for messages that must not show the value itself."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Place = Callable[[NDArray[np.bool_]], str]
"""From a mark for each entry of a column to the place of the first marked one, such as "line 17"."""

RowPlace = Callable[[int], str]
"""From a row, counted from 0, to its place."""


def row_place(row: int) -> str:
    """The place of a row in a table that has no lines.

    >>> row_place(0)
    'row 1'
    """
    return f"row {row + 1}"
