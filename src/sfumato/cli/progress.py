"""Progress in the terminal: the step under way. Nothing when standard error is not a terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable


def telling() -> Callable[[str], None]:
    """Tell each step as it begins, with the seconds of the one before."""
    if not sys.stderr.isatty():
        return lambda step: None
    began = time.monotonic()

    def tell(step: str) -> None:
        from sfumato.cli.output import note

        note(f"[{time.monotonic() - began:5.1f} s] {step} ...")

    return tell
