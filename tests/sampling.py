"""Cases of one sort: the fast suite runs some of them, and the slow one the others."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def some(cases: Iterable[Any], every: int) -> list[Any]:
    """All cases, but for one in `every` marked as slow; the first is none of those."""
    return [one if at % every == 0 else pytest.param(one, marks=pytest.mark.slow) for at, one in enumerate(cases)]
