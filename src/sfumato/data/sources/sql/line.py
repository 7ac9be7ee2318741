"""The line to a database: one call at a time, each made in a thread, so that whoever waits for it can be asked to end.

A driver is at work inside a library that hears no signal, and two threads that read from one connection may each wait
for what the other has taken, for ever. So whatever is asked of a connection, and its closing too, has its turn.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TypeVar

import pyarrow as pa

from sfumato.errors import Stopped
from sfumato.events import awaited

T = TypeVar("T")
GRACE = 5.0
"""Seconds that a database is given to end what was called off, and to close."""


def _over() -> threading.Event:
    event = threading.Event()
    event.set()
    return event


@dataclass(eq=False)
class Line:
    """Owns whose turn it is on a connection. `last`: set when the latest call has ended."""

    last: threading.Event = field(default_factory=_over)

    def asked(self, work: Callable[[], T], cancel: Callable[[], object] | None = None) -> T:
        """What a call to a database gives. Whoever waits for it may be asked to end meanwhile: then it is called off.

        A database may take long to hear of it, while it compiles a statement for one: it is left alone then, as one is
        at once that cannot be called off.
        """
        turn = self._turn(work)
        over = self.last
        try:
            return awaited(turn, always=True)
        except BaseException:
            if not over.is_set() and cancel is not None:
                _left(cancel)
                over.wait(GRACE)
            raise

    def arriving(
        self, batches: Iterable[pa.RecordBatch], cancel: Callable[[], object] | None = None
    ) -> Iterator[pa.RecordBatch]:
        """Batches, each waited for in that way."""
        each = iter(batches)
        while (batch := self.asked(lambda: next(each, None), cancel)) is not None:
            yield batch

    @contextmanager
    def closing(self, *ends: Callable[[], object], whole: Callable[[], object] = lambda: None) -> Iterator[None]:
        """Within this, a connection or a part of it is open; `ends` close it, once whatever is at work there is over.

        `whole`: said before them, but not to a run that was ended, of which nobody knows what the database still sends.
        """
        try:
            yield
        except (Stopped, KeyboardInterrupt, SystemExit):
            self._close(ends)
            raise
        except BaseException:
            self._close((whole, *ends))
            raise
        self._close((whole, *ends))

    def _close(self, ends: Iterable[Callable[[], object]]) -> None:
        """Nobody waits for a call that was left alone: its connection closes behind it."""
        free = self.last.is_set()

        def close() -> None:
            for end in ends:
                with suppress(Exception):  # a connection that was lost cannot be closed well, and need not be
                    end()

        thread = _left(self._turn(close))
        if free:
            thread.join(GRACE)

    def _turn(self, work: Callable[[], T]) -> Callable[[], T]:
        """The same work, behind all that has begun before."""
        before, over = self.last, threading.Event()
        self.last = over

        def whole() -> T:
            before.wait()
            try:
                return work()
            finally:
                over.set()

        return whole


def _left(work: Callable[[], object]) -> threading.Thread:
    """A call that is made elsewhere, and may fail there."""

    def quiet() -> None:
        with suppress(Exception):
            work()

    thread = threading.Thread(target=quiet, daemon=True)
    thread.start()
    return thread
