"""A progress bar on stderr, for what takes longer than a second."""

from __future__ import annotations

import io
import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer
    from rich.progress import Progress, TaskID

PATIENCE = 1.0


class Bar:
    """Owns one bar: `advance` draws it once a second has passed, leaving the context wipes it away.

    `wanted` says whether to draw at all; None draws only on a terminal.
    """

    def __init__(self, title: str, total: int, *, wanted: bool | None = None) -> None:
        self.title, self.total = title, total
        self.active = sys.stderr.isatty() if wanted is None else wanted
        self._began = time.monotonic()
        self._done = 0
        self._shown: tuple[Progress, TaskID] | None = None

    def __enter__(self) -> Bar:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._shown:
            self._shown[0].stop()

    def advance(self, steps: int) -> None:
        """So much more is done."""
        self._done += steps
        if not self.active:
            return
        if self._shown is None and time.monotonic() - self._began >= PATIENCE:
            self._shown = self._draw()
        if self._shown is not None:
            self._shown[0].update(self._shown[1], completed=self._done)

    def _draw(self) -> tuple[Progress, TaskID]:
        from rich.console import Console
        from rich.progress import Progress

        console = Console(stderr=True)
        progress = Progress(console=console, transient=console.is_terminal)
        task = progress.add_task(self.title, total=self.total)
        progress.start()
        return progress, task


class Watched(io.RawIOBase):
    """A file that tells a bar how much of it has been read."""

    def __init__(self, file: io.BufferedReader, bar: Bar) -> None:
        self._file, self._bar = file, bar

    def readable(self) -> bool:
        """Always."""
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        """Fill the buffer from the file."""
        count = self._file.readinto(buffer)
        self._bar.advance(count)
        return count
