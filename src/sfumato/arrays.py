"""Arrays by what they hold: the words that signatures use. Their shapes stand in docstrings."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
"""Whole numbers: counts, places, group numbers."""
Floats = NDArray[np.float64]
"""Numbers with a fraction."""
Marks = NDArray[np.bool_]
"""True where something is so."""
