"""What a run tells while it goes on (Event), and the one token that asks it to end (Stop).

A run is made of steps. Whoever starts it says who listens and which token ends it; code that may take longer than a
second calls `checkpoint` in its loop, and needs neither of them as an argument. Outside a run it does nothing.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sized
from concurrent.futures import Future
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from typing import Any, TypeVar

from sfumato.errors import Stopped

T = TypeVar("T")
EVERY = 0.1
"""Seconds between two events that tell how much is done."""
THOUSAND = 1_000


@dataclass(frozen=True)
class Began:
    """A step began."""

    step: str


@dataclass(frozen=True)
class Share:
    """How much of a step is done, from 0 to 1; and how many rows it has read, where that is known."""

    step: str
    done: float
    rows: int = 0


@dataclass(frozen=True)
class Ended:
    """A step ended, after so many seconds."""

    step: str
    seconds: float


Event = Began | Share | Ended
Listener = Callable[[Event], None]


class Stop:
    """Asks a run to end: from a signal, another thread or a button. Once asked, it stays so.

    It also asks a search to settle for the best that it has found, with which the run then goes on.

    >>> stop = Stop()
    >>> stop.ask()
    >>> stop.asked
    True
    """

    def __init__(self) -> None:
        self._event = threading.Event()
        self._settle = threading.Event()

    def ask(self) -> None:
        """Ask the run to end at its next checkpoint. It leaves nothing behind."""
        self._event.set()

    @property
    def asked(self) -> bool:
        """Whether somebody asked."""
        return self._event.is_set()

    def settle(self) -> None:
        """Ask the search that is under way to end here, if it can: what it has found by then is kept, and goes on."""
        self._settle.set()

    @property
    def settled(self) -> bool:
        """Whether somebody asked that."""
        return self._settle.is_set()

    def _search(self) -> None:
        """What was asked before a search began is not meant for it."""
        self._settle.clear()


@dataclass(eq=False)
class _Run:
    """Owns what is ambient in a run: who listens, what ends it, the step and the part of it under way.

    `settles`: the search under way may be asked to settle for what it has.
    """

    listener: Listener
    stop: Stop
    step: str = ""
    told: float = 0.0
    begins: float = 0.0
    ends: float = 1.0
    settles: bool = False


class OutOfTime(Exception):
    """A part of a run took longer than it was given, and ended."""


class _Until(Stop):
    """Asks by itself when its time is over, and where the token that it stands for is asked."""

    def __init__(self, outer: Stop, seconds: float) -> None:
        super().__init__()
        self._outer, self._ends = outer, time.monotonic() + seconds

    @property
    def asked(self) -> bool:
        return self._outer.asked or time.monotonic() >= self._ends

    @property
    def settled(self) -> bool:
        return self._outer.settled


_LEFT: list[threading.Thread] = []
"""Calls that were left alone and go on."""
_RUN: ContextVar[_Run | None] = ContextVar("sfumato_run", default=None)


@contextmanager
def running(listener: Listener | None = None, stop: Stop | None = None) -> Iterator[None]:
    """Within this, steps are told to `listener` and `stop` ends the run; what is not given is the outer run's."""
    outer = _RUN.get()
    tell = listener or (outer.listener if outer else lambda event: None)
    ends = stop or (outer.stop if outer else Stop())
    if outer is None:
        _wait_for_those_left(ends)
    token = _RUN.set(_Run(tell, ends))
    try:
        yield
    finally:
        _RUN.reset(token)


def checkpoint(done: float | None = None, *, rows: int = 0) -> None:
    """End the run here if that was asked; tell how much of the step, or of this part of it, is done if it is known."""
    run = _RUN.get()
    if run is None:
        return
    if run.stop.asked:
        raise Stopped(run.step)
    if done is not None and (now := time.monotonic()) - run.told >= EVERY:
        run.told = now
        run.listener(Share(run.step, run.begins + min(max(done, 0.0), 1.0) * (run.ends - run.begins), rows))


@contextmanager
def settling() -> Iterator[None]:
    """Within this, a search that asks `enough` may be told so. Elsewhere, as in baselines and tries, none ever is."""
    run = _RUN.get()
    if run is None:
        yield
        return
    run.stop._search()
    run.settles = True
    try:
        yield
    finally:
        run.settles = False


def enough() -> bool:
    """Whether a search that has something sound to show should end here: somebody asked, and it may be asked."""
    run = _RUN.get()
    return run is not None and run.settles and run.stop.settled


@contextmanager
def part(begins: float, ends: float) -> Iterator[None]:
    """Within this, shares are those of a part of the step, or of the part that this is in."""
    run = _RUN.get()
    if run is None:
        yield
        return
    outer = run.begins, run.ends
    width = run.ends - run.begins
    run.begins, run.ends = run.begins + begins * width, run.begins + ends * width
    try:
        yield
    finally:
        run.begins, run.ends = outer


@contextmanager
def within_time(seconds: float) -> Iterator[None]:
    """Within this, a part of a run ends at its next checkpoint after so long: OutOfTime. A stop is a stop as before.

    Outside a run nothing ends it.
    """
    run = _RUN.get()
    if run is None:
        yield
        return
    outer = run.stop
    run.stop = _Until(outer, seconds)
    try:
        yield
    except Stopped:
        if outer.asked:
            raise
        raise OutOfTime from None
    finally:
        run.stop = outer


def watched(items: Iterable[T], total: int | None = None) -> Iterator[T]:
    """The items, with a checkpoint before each, and each a part of the step; `total` if they do not know their number.

    >>> list(watched([1, 2]))
    [1, 2]
    """
    count = total if total is not None else len(items) if isinstance(items, Sized) else None
    for at, item in enumerate(items):
        checkpoint(at / count if count else None)
        if not count:
            yield item
            continue
        with part(min(at / count, 1.0), min((at + 1) / count, 1.0)):
            yield item


def many(items: Iterable[T]) -> Iterator[T]:
    """The same for items of which thousands take no time: a checkpoint before every thousandth.

    >>> sum(many(range(3000)))
    4498500
    """
    for at, item in enumerate(items):
        if not at % THOUSAND:
            checkpoint()
        yield item


def awaited(work: Callable[[], T], *, always: bool = False) -> T:
    """What a long call into another library gives. It is made in a thread, and left alone there if the run ends.

    Such a call asks nobody, so whoever waits for it does. It must change nothing but what it gives back.
    `always`: in a thread outside a run as well, where only an interrupt ends the waiting.

    >>> awaited(lambda: 1 + 1)
    2
    """
    if _RUN.get() is None and not always:
        return work()
    given: Future[T] = Future()

    def fill() -> None:
        try:
            given.set_result(work())
        except BaseException as error:  # told where it is waited for
            given.set_exception(error)

    thread = threading.Thread(target=copy_context().run, args=(fill,), daemon=True)
    thread.start()
    try:
        while thread.is_alive():
            thread.join(EVERY / 2)
            checkpoint()
    except BaseException:
        _LEFT.append(thread)
        raise
    return given.result()


def limited(work: Callable[[], T]) -> T:
    """What a call gives that runs in one thread, so that its last bits do not depend on their number.

    The limit is set where the call is made and lifted when it ends: a call that is left alone leaves it to nobody.
    """

    def in_one_thread() -> T:
        with _pools(len(sys.modules)).limit(limits=1):
            return work()

    return awaited(in_one_thread)


@lru_cache(maxsize=1)
def _pools(modules: int) -> Any:
    """The threads of all libraries, looked for anew when modules were loaded: that takes longer than a small fit."""
    return import_module("threadpoolctl").ThreadpoolController()


def _wait_for_those_left(stop: Stop) -> None:
    """What an earlier run left alone may still hold settings of its library: the next run begins when it is over."""
    while _LEFT:
        _LEFT[0].join(EVERY / 2)
        if not _LEFT[0].is_alive():
            del _LEFT[0]
        elif stop.asked:
            raise Stopped


@contextmanager
def step(name: str, seconds: dict[str, float] | None = None) -> Iterator[None]:
    """One step of a run: told at both ends. Its seconds are also entered into `seconds`."""
    run = _RUN.get() or _Run(lambda event: None, Stop())
    outer = run.step, run.begins, run.ends
    run.step, run.told, run.begins, run.ends = name, 0.0, 0.0, 1.0
    run.listener(Began(name))
    began = time.perf_counter()
    checkpoint()
    try:
        yield
        checkpoint()
    finally:
        run.step, run.begins, run.ends = outer
    took = round(time.perf_counter() - began, 4)
    if seconds is not None:
        seconds[name] = took
    run.listener(Ended(name, took))
