"""Steps are told at both ends, and one token ends a run wherever it is."""

from __future__ import annotations

import threading
import time

import pytest

from sfumato.errors import Stopped
from sfumato.events import (
    Began,
    Ended,
    Event,
    OutOfTime,
    Share,
    Stop,
    awaited,
    checkpoint,
    part,
    running,
    step,
    watched,
    within_time,
)


def test_a_step_is_told_at_both_ends_with_its_seconds() -> None:
    told: list[Event] = []
    seconds: dict[str, float] = {}
    with running(told.append), step("Masking", seconds):
        checkpoint(0.5)
    assert told[0] == Began("Masking")
    assert Share("Masking", 0.5) in told
    assert isinstance(told[-1], Ended)
    assert seconds == {"Masking": told[-1].seconds}


def test_a_stop_ends_the_run_at_the_next_checkpoint() -> None:
    stop = Stop()
    done: list[int] = []

    def work() -> None:
        for at in watched(range(5)):
            done.append(at)
            if at == 2:
                stop.ask()

    with pytest.raises(Stopped, match="stopped while masking"), running(stop=stop), step("Masking"):
        work()
    assert done == [0, 1, 2]


def test_a_stop_ends_a_run_inside_a_run() -> None:
    stop, told = Stop(), list[Event]()
    stop.ask()
    with running(told.append, stop), running(), pytest.raises(Stopped):
        checkpoint()


def test_a_part_of_a_run_ends_when_its_time_is_over_and_the_run_goes_on() -> None:
    told: list[Event] = []
    with running(told.append), step("Trying"):
        with pytest.raises(OutOfTime), within_time(0.0):
            checkpoint()
        with within_time(60.0):
            checkpoint(0.5)
        checkpoint()
    assert isinstance(told[-1], Ended)


def test_a_stop_in_limited_time_is_a_stop() -> None:
    stop = Stop()
    stop.ask()
    with pytest.raises(Stopped), running(stop=stop), within_time(0.0):
        checkpoint()


def test_outside_a_run_nothing_stops_and_nobody_is_told() -> None:
    checkpoint(0.5)
    assert list(watched([1, 2, 3])) == [1, 2, 3]


def test_shares_of_loops_inside_loops_are_parts_of_one_step(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sfumato.events.EVERY", 0.0)
    told: list[Event] = []
    with running(told.append), step("Masking"):
        with part(0.0, 0.5):
            list(watched([1, 2]))
        with part(0.5, 1.0):
            for _ in watched([1, 2]):
                checkpoint(0.5)
    shares = [event.done for event in told if isinstance(event, Share)]
    assert shares == [0.0, 0.25, 0.5, 0.625, 0.75, 0.875]


def test_a_loop_that_is_left_early_leaves_the_shares_as_they_were(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sfumato.events.EVERY", 0.0)
    told: list[Event] = []
    with running(told.append), step("Masking"):
        for _ in watched([1, 2, 3, 4]):
            break
        checkpoint(0.5)
    assert [event.done for event in told if isinstance(event, Share)] == [0.0, 0.5]


def test_a_call_that_asks_nobody_is_left_alone_when_the_run_ends() -> None:
    stop, go_on = Stop(), threading.Event()
    threading.Timer(0.1, stop.ask).start()
    began = time.monotonic()
    with running(stop=stop), pytest.raises(Stopped):
        awaited(lambda: go_on.wait(20))
    assert time.monotonic() - began < 5
    go_on.set()


def test_what_is_awaited_gives_back_what_it_gave_and_raised() -> None:
    with running():
        assert awaited(lambda: 2) == 2
        with pytest.raises(ZeroDivisionError):
            awaited(lambda: 1 // 0)


def test_a_run_begins_when_what_an_earlier_one_left_alone_is_over() -> None:
    stop, go_on, over = Stop(), threading.Event(), list[str]()

    def long_call() -> None:
        go_on.wait(20)
        over.append("the call")

    threading.Timer(0.1, stop.ask).start()
    with running(stop=stop), pytest.raises(Stopped):
        awaited(long_call)
    threading.Timer(0.2, go_on.set).start()
    with running():
        over.append("the next run")
    assert over == ["the call", "the next run"]
