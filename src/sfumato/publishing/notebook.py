"""Progress in notebooks: while a run goes on, a bar below the cell; nothing is left of it at the end."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from html import escape
from typing import Any

from sfumato.events import Began, Ended, Event, Listener

PATIENCE = 1.0
"""Seconds after which something is shown."""
Draw = Callable[[str], None]


class Progress:
    """Owns what is shown of one run: which step is under way, how much of it is done, and how many steps are."""

    def __init__(self, draw: Draw, steps: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._draw, self._steps, self._clock = draw, steps, clock
        self._began, self._over, self._shown = clock(), 0, False
        self._open: list[str] = []

    def hear(self, event: Event) -> None:
        """A listener of a run. Only the run's own steps count; what they call may have steps of its own."""
        done = 0.0
        if isinstance(event, Began):
            self._open.append(event.step)
        elif isinstance(event, Ended):
            del self._open[-1:]
            self._over += not self._open
        elif len(self._open) == 1:
            done = event.done
        if self._open and self._clock() - self._began >= PATIENCE:
            self._shown = True
            self._draw(_bar(self._open[-1], min((self._over + done) / max(self._steps, 1), 1.0)))

    def close(self) -> None:
        """Take it away."""
        if self._shown:
            self._draw("")


def _bar(step: str, share: float) -> str:
    """The step's name and a bar, in the page's own colours."""
    return (
        f'<div style="font:13px/1.4 system-ui,sans-serif"><progress value="{share:.3f}" max="1" '
        f'style="width:14rem;vertical-align:middle"></progress> {escape(step)} …</div>'
    )


@contextmanager
def told_in_notebook(steps: int) -> Iterator[Listener | None]:
    """Within this, a listener that draws below the cell; None outside notebooks."""
    draw = _drawing()
    if draw is None:
        yield None
        return
    progress = Progress(draw, steps)
    try:
        yield progress.hear
    finally:
        progress.close()


def _drawing() -> Draw | None:
    """How to draw below the cell that runs; None where no notebook runs one."""
    loaded: Any = sys.modules.get("IPython")
    shell = None if loaded is None else loaded.get_ipython()
    if shell is None or not hasattr(shell, "kernel"):
        return None
    from importlib import import_module

    display = import_module("IPython.display")
    handle: list[Any] = []

    def draw(markup: str) -> None:
        page = display.HTML(markup)
        if handle:
            handle[0].update(page)
        else:
            handle.append(display.display(page, display_id=True))

    return draw
