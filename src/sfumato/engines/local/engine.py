"""Who counts on one machine."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

from sfumato.counting import Needs, Records
from sfumato.engines.local.session import LocalSession


@dataclass(frozen=True)
class LocalEngine:
    """Counts in compiled kernels. `threads` changes the time only, never an answer."""

    threads: int = 0

    def open(self, records: Records, needs: Sequence[Needs]) -> LocalSession:
        """Take up a table in its most masked state."""
        return LocalSession(records, needs, self.threads or os.cpu_count() or 1)
