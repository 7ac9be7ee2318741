"""What a run shows while it goes on: a bar on a terminal, lines elsewhere, and one line when it is asked to end."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import typer

from sfumato.cli import progress
from sfumato.cli.progress import Lines, Shown, following, written_from_now
from sfumato.events import Began, Ended, Share, checkpoint, step


class Clock:
    """Owns a time that a test sets."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_without_a_terminal_a_long_phase_is_told_once_and_every_ten_seconds() -> None:
    said: list[tuple[float, str]] = []
    clock = Clock()
    shown = Shown(Lines(lambda text: said.append((clock.now, text))), clock)
    shown.hear(Began("Masking"))
    for at in range(241):
        clock.now = at / 10
        shown.hear(Share("Masking", at / 300))
        shown.tick()
    shown.hear(Ended("Masking", 24.0))
    shown.tick()
    assert said == [
        (2.0, "Masking ..."),
        (12.0, "Masking ... 40% done, 12 s so far, about 18 s left"),
        (22.0, "Masking ... 73% done, 22 s so far, about 8 s left"),
    ]


def test_short_phases_are_not_worth_a_word_and_an_outer_one_is_told_again() -> None:
    said: list[str] = []
    clock = Clock()
    shown = Shown(Lines(said.append), clock)
    shown.hear(Began("All of it"))
    for _ in range(5):
        shown.hear(Began("A step"))
        clock.now += 1.5
        shown.tick()
        shown.hear(Ended("A step", 1.5))
    assert said == []
    shown.tick()
    assert said == ["All of it ..."]


def test_how_much_is_done_never_shrinks() -> None:
    said: list[str] = []
    clock = Clock()
    shown = Shown(Lines(said.append), clock)
    shown.hear(Began("Masking"))
    shown.hear(Share("Masking", 0.5))
    shown.hear(Share("Masking", 0.1))
    clock.now = 2.0
    shown.tick()
    clock.now = 12.0
    shown.tick()
    assert said[-1] == "Masking ... 50% done, 12 s so far, about 12 s left"


@pytest.fixture
def not_ignored() -> Iterator[None]:
    """Signals as in a terminal, though the tests may run under nohup."""
    before = signal.getsignal(signal.SIGHUP)
    if before is signal.SIG_IGN:
        signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


@pytest.mark.usefixtures("not_ignored")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_asks_the_run_to_end_and_one_line_says_what_is_left(
    number: signal.Signals, capsys: pytest.CaptureFixture[str]
) -> None:
    before = signal.getsignal(number)

    def work(written: Callable[[], list[Path]]) -> None:
        with following(written), step("Masking"):
            os.kill(os.getpid(), number)
            checkpoint()

    with pytest.raises(typer.Exit) as ended:
        work(list)
    assert ended.value.exit_code == 128 + number
    assert capsys.readouterr().err == "stopped while masking: nothing is left\n"
    with pytest.raises(typer.Exit):
        work(lambda: [Path("out/first")])
    assert capsys.readouterr().err == "stopped while masking: written before, and left as it is: out/first\n"
    assert signal.getsignal(number) is before


TWICE = """
import os, signal
from sfumato.cli import progress
progress.GRACE = 0.2
with progress.following():
    os.kill(os.getpid(), signal.SIGTERM)
    try:
        os.kill(os.getpid(), signal.SIGTERM)
    except SystemExit:
        while True:  # as a compiler that loses what a signal raises
            pass
"""


def test_a_second_signal_ends_a_run_that_loses_what_is_raised() -> None:
    assert subprocess.run([sys.executable, "-c", TWICE], timeout=60, check=False).returncode == 128 + signal.SIGTERM


def test_a_signal_that_is_ignored_stays_so() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with following(), step("Masking"):
            os.kill(os.getpid(), signal.SIGHUP)
            checkpoint()
    finally:
        signal.signal(signal.SIGHUP, before)


def test_what_was_written_since_is_told(tmp_path: Path) -> None:
    folders = [tmp_path / name for name in ("old", "replaced", "new", "never")]
    for folder in folders[:2]:
        folder.mkdir()
    written = written_from_now(folders)
    assert written() == []
    (tmp_path / "fresh").mkdir()
    folders[1].rename(tmp_path / "away")
    (tmp_path / "fresh").rename(folders[1])
    folders[2].mkdir()
    assert written() == folders[1:3]


def test_a_second_ctrl_c_ends_at_once() -> None:
    def work() -> None:
        with following(), step("Masking"):
            os.kill(os.getpid(), signal.SIGINT)
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        work()


PROGRAM = """
import time
from sfumato.cli import progress
from sfumato.events import checkpoint, step
progress.PATIENCE, progress.AGAIN, progress.TICK = 0.3, 0.4, 0.05
with progress.following(), step("Masking"):
    for at in range(24):
        time.sleep(0.05)
        checkpoint(at / 24)
"""


def test_on_a_terminal_there_is_a_bar_with_the_time_left() -> None:
    ours, theirs = pty.openpty()
    with subprocess.Popen([sys.executable, "-c", PROGRAM], stderr=theirs) as running:
        os.close(theirs)
        shown = b""
        end = time.monotonic() + 30
        while time.monotonic() < end:
            try:
                part = os.read(ours, 65536)
            except OSError:  # the other side is closed
                break
            shown += part
    os.close(ours)
    text = shown.decode()
    assert running.returncode == 0
    assert "s] Masking ..." in text
    assert "━" in text
    assert "about 1 s left" in text or "about 0 s left" in text


def test_without_a_terminal_the_program_writes_plain_lines() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    lines = done.stderr.splitlines()
    assert lines[0] == "Masking ..."
    assert len(lines) >= 2
    assert all(line.startswith("Masking ... ") and "% done" in line for line in lines[1:])
    assert done.stdout == ""


def test_nobody_waits_longer_than_two_seconds_for_a_first_word() -> None:
    assert (progress.PATIENCE, progress.AGAIN) == (2.0, 10.0)


def test_compiling_is_told_of_once(capsys: pytest.CaptureFixture[str]) -> None:
    numba = pytest.importorskip("numba")
    progress.COMPILED.said = False
    with following():
        assert numba.njit(lambda x: x + 1)(1) == 2
    with following():
        assert numba.njit(lambda x: x + 2)(1) == 3
    assert numba.njit(lambda x: x + 3)(1) == 4
    assert capsys.readouterr().err.count("Compiling loops for this machine") == 1
    assert progress.COMPILED.under_way == 0


def test_while_loops_are_compiled_that_is_told_and_no_share_that_stands_still(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    clock = Clock()
    shown = Shown(Lines(said.append), clock)
    shown.hear(Began("Masking"))
    shown.hear(Share("Masking", 0.0))
    monkeypatch.setattr(progress.COMPILED, "under_way", 2)
    for clock.now in (2.0, 12.0):
        shown.tick()
    assert said == ["Masking ...", "Masking ... 12 s so far, compiling loops"]
