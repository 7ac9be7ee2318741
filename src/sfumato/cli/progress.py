"""What a run shows while it goes on, on standard error, and what Ctrl-C does.

A phase that takes longer than two seconds shows a bar with the time that is left on a terminal; elsewhere a line, and
another one every ten seconds.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import typer

from sfumato.cli.output import console, is_quiet, note
from sfumato.errors import Stopped
from sfumato.events import Began, Ended, Event, Stop, running

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

PATIENCE = 2.0
"""Seconds after which a phase is shown."""
AGAIN = 10.0
"""Seconds between two lines about one phase, where there is no terminal."""
TICK = 0.2


class Compiling:
    """Owns what is known of compiling: whether it was said, and how many loops are being compiled, one in the other."""

    def __init__(self) -> None:
        self.said, self.under_way = False, 0


COMPILED = Compiling()
LEAST = 0.005
"""A share below this is not worth telling."""
SURE = 0.02
"""The share that must be done before it tells how long the rest takes."""


@dataclass
class Phase:
    """A phase under way: its name, when it began, how much is done if that is known, and how many rows it read."""

    name: str
    began: float
    done: float | None = None
    rows: int = 0

    def left(self, now: float) -> str:
        """How long it may still take, in words; nothing where it is not known.

        >>> Phase("Masking", began=0.0, done=0.25).left(10.0)
        'about 30 s left'
        >>> Phase("Reading", began=0.0, done=0.25, rows=5_000_000).left(10.0)
        '500,000 rows a second, about 30 s left'
        """
        if COMPILED.under_way > 0:
            return "compiling loops"
        if self.done is None or not SURE <= self.done < 1:
            return ""
        seconds = (now - self.began) * (1 - self.done) / self.done
        speed = f"{self.rows / (now - self.began):,.0f} rows a second, " if self.rows else ""
        return speed + (f"about {seconds:.0f} s left" if seconds < 100 else f"about {seconds / 60:.0f} min left")


class Face(Protocol):
    """How phases are shown: as lines or as a bar."""

    def began(self, phase: Phase, now: float) -> None:
        """A phase began."""

    def goes_on(self, phase: Phase, now: float) -> None:
        """It has taken longer than one likes to wait without a word."""

    def ended(self) -> None:
        """The phase that was shown last is over."""


class Shown:
    """Owns the phases under way, the innermost last, and shows that one; events and a clock drive it."""

    def __init__(self, face: Face, clock: Callable[[], float] = time.monotonic) -> None:
        self._face, self._clock = face, clock
        self._phases: list[Phase] = []
        self._lock = threading.Lock()

    def hear(self, event: Event) -> None:
        """A listener of a run."""
        with self._lock:
            if isinstance(event, Began):
                self._phases.append(Phase(event.step, self._clock()))
                self._face.ended()
                self._face.began(self._phases[-1], self._clock())
            elif isinstance(event, Ended):
                self._face.ended()
                del self._phases[-1:]
            elif self._phases:
                self._phases[-1].done = max(event.done, self._phases[-1].done or 0.0)
                self._phases[-1].rows = event.rows

    def tick(self) -> None:
        """Show the phase under way, if it is time to."""
        with self._lock:
            now = self._clock()
            if self._phases and now - self._phases[-1].began >= PATIENCE:
                self._face.goes_on(self._phases[-1], now)

    def close(self) -> None:
        """Whatever happened, nothing is under way any more."""
        with self._lock:
            self._face.ended()
            self._phases.clear()


class Lines:
    """Shows phases as lines: one when it is clear that a phase takes time, and one every ten seconds after that."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._said: float | None = None

    def began(self, phase: Phase, now: float) -> None:
        """Nothing yet."""

    def goes_on(self, phase: Phase, now: float) -> None:
        """Say so, unless it was said a moment ago."""
        if self._said is None:
            self._say(f"{phase.name} ...")
        elif now - self._said >= AGAIN:
            share = "" if phase.done is None or phase.done < LEAST else f" {phase.done:.0%} done,"
            left = phase.left(now)
            self._say(f"{phase.name} ...{share} {now - phase.began:.0f} s so far{f', {left}' if left else ''}")
        else:
            return
        self._said = now

    def ended(self) -> None:
        """The next phase is told from its beginning."""
        self._said = None


class Silence:
    """Shows nothing, as --quiet asks."""

    def began(self, phase: Phase, now: float) -> None:
        """Nothing."""

    def goes_on(self, phase: Phase, now: float) -> None:
        """Nothing."""

    def ended(self) -> None:
        """Nothing."""


class Bar:
    """Shows a line for every phase as it begins, and below it a bar with the time left while it takes long."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._drawn: tuple[Progress, TaskID] | None = None

    def began(self, phase: Phase, now: float) -> None:
        """A line, with the seconds since all began."""
        note(f"[{now - self._began:5.1f} s] {phase.name} ...")

    def goes_on(self, phase: Phase, now: float) -> None:
        """Draw the bar, or move it."""
        if self._drawn is None:
            self._drawn = self._draw(phase)
        progress, task = self._drawn
        total = None if phase.done is None else 1.0
        progress.update(task, total=total, completed=phase.done or 0.0, left=phase.left(now))

    def ended(self) -> None:
        """Wipe it away."""
        if self._drawn is not None:
            self._drawn[0].stop()
            self._drawn = None

    def _draw(self, phase: Phase) -> tuple[Progress, TaskID]:
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        texts = TextColumn("{task.description}", markup=False), TextColumn("{task.fields[left]}", markup=False)
        columns = (texts[0], BarColumn(), TimeElapsedColumn(), texts[1])
        progress = Progress(*columns, console=console(stderr=True), transient=True)
        task = progress.add_task(phase.name, total=None, left="")
        progress.start()
        return progress, task


@contextmanager
def following(written: Callable[[], Sequence[Path]] = lambda: ()) -> Iterator[None]:
    """Within this, long phases are shown, and Ctrl-C asks the run to end: one line says what is left, and it ends.

    So do the signals by which a system ends a program. A second one ends it at once. `written`: what was written by
    then, and stays.
    """
    with _shown() as shown, _stopping() as stop, _told_of_compiling():
        try:
            with running(shown.hear, stop):
                yield
        except Stopped as error:
            shown.close()
            left = ", ".join(map(str, written()))
            note(f"{error}: {f'written before, and left as it is: {left}' if left else 'nothing is left'}")
            raise typer.Exit(128 + (stop.number or signal.SIGINT)) from None


def written_from_now(folders: Sequence[Path]) -> Callable[[], Sequence[Path]]:
    """Tells which of some folders are there, or others of their name, since this was called."""

    def number(folder: Path) -> int | None:
        return folder.stat().st_ino if folder.is_dir() else None

    before = {folder: number(folder) for folder in folders}
    return lambda: [folder for folder in folders if number(folder) not in (None, before[folder])]


@contextmanager
def _shown() -> Iterator[Shown]:
    face: Face = Silence() if is_quiet() else Bar() if sys.stderr.isatty() else Lines(note)
    shown, over = Shown(face), threading.Event()

    def tick() -> None:
        while not over.wait(TICK):
            shown.tick()

    thread = threading.Thread(target=tick, daemon=True)
    thread.start()
    try:
        yield shown
    finally:
        over.set()
        thread.join()
        shown.close()


@contextmanager
def _told_of_compiling() -> Iterator[None]:
    """Within this, the first loop that is compiled is told of: what is kept from an earlier run needs no compiling."""
    event = import_module("numba.core.event") if "numba" in sys.modules else None
    if event is None or is_quiet():
        yield
        return

    def on_start(_: object, __: object) -> None:
        COMPILED.under_way += 1
        if not COMPILED.said:
            COMPILED.said = True
            note("Compiling loops for this machine: the first run of each kind waits for it, later ones do not.")

    def on_end(_: object, __: object) -> None:
        COMPILED.under_way -= 1

    COMPILED.under_way = 0
    listener = type("Listening", (event.Listener,), {"on_start": on_start, "on_end": on_end})()
    with event.install_listener("numba:compile", listener):
        yield


GRACE = 5.0
"""Seconds that a second signal waits for the run to end by itself."""


class _Signalled(Stop):
    """A token that remembers by which signal it was asked."""

    number: int | None = None


def ending_signals() -> list[int]:
    """Signals that ask the program to end, where they exist and nobody said that they are ignored, as nohup does."""
    named = (getattr(signal, name, None) for name in ("SIGINT", "SIGTERM", "SIGHUP"))
    return [number for number in named if number is not None and signal.getsignal(number) is not signal.SIG_IGN]


@contextmanager
def _stopping() -> Iterator[_Signalled]:
    """A token that the first Ctrl-C asks, or another signal to end; the second one ends the run.

    What is raised by the second may be lost in a compiler that calls back: then the process ends a little later.
    """
    stop, waiting = _Signalled(), list[threading.Timer]()
    if threading.current_thread() is not threading.main_thread():  # only the main thread hears signals
        yield stop
        return

    def ask(number: int, frame: object) -> None:
        if stop.asked:
            waiting.append(threading.Timer(GRACE, os._exit, (128 + number,)))
            waiting[-1].daemon = True
            waiting[-1].start()
            raise SystemExit(128 + number) if number != signal.SIGINT else KeyboardInterrupt
        stop.number = number
        stop.ask()

    before = {number: signal.signal(number, ask) for number in ending_signals()}
    try:
        yield stop
    finally:
        for timer in waiting:
            timer.cancel()
        for number, handler in before.items():
            signal.signal(number, handler)
