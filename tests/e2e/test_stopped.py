"""A run that is asked to end, at any moment, ends soon, leaves no file, and changes no figure of a later run."""

from __future__ import annotations

import random
import tempfile
from pathlib import Path

import pytest

import sfumato as sf
from sfumato.errors import Stopped
from sfumato.events import Stop
from sfumato.maskers.registry import MASKERS
from sfumato.randomness import Seeded
from sfumato.release.release import Release
from tests.e2e.stopping import After, Probe, adult, recipe_for

ROWS, FEW, MOMENTS = 1_500, 200, 50
"""How long nobody asks is measured on many rows; runs of few rows ask at the same places, and are stopped there.

Their work is cut into as many pieces as there are moments, and each is stopped somewhere in one of them.
"""
SOON = 1.0
"""Seconds of work in which a run ends that was asked to."""
DRAWN = ("top_down", "microaggregate")
"""Maskers of which the reports are drawn too: they are drawn by the same code for all."""


def publish(masker: str, stop: Stop | None = None, rows: int = FEW) -> Release:
    run = sf.Run(chance=Seeded(3), report=masker in DRAWN, stop=stop)
    return sf.publish(adult(rows), recipe_for(masker, n_init=2), run=run)


def figures(release: Release) -> tuple[object, ...]:
    return release.scores, release.certificate["claims"], release.shown.to_pylist()


def files(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of its own for temporary files, for the ledger, and to be in."""
    for name in ("temporary", "state", "here"):
        (tmp_path / name).mkdir()
    monkeypatch.setattr("sfumato.evaluation.generated.STARTS", 2)  # thirty take long, and ask as often
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path / "here")
    return tmp_path


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("masker", MASKERS)
def test_asked_at_any_moment_a_run_ends_and_leaves_nothing(masker: str, room: Path) -> None:
    publish(masker, rows=ROWS)  # compiled loops are compiled, libraries loaded
    long, probe = Probe(), Probe()
    publish(masker, long, rows=ROWS)
    assert all(gap.seconds < SOON for gap in long.gaps), long.worst(3)
    first = figures(publish(masker, probe))
    before, stopped, chance = files(room), 0, random.Random(masker)
    for at in range(MOMENTS):
        try:
            publish(masker, After(probe.times(0.95 * (at + chance.random()) / MOMENTS)))
        except Stopped:
            stopped += 1
        assert files(room) == before
    assert stopped >= MOMENTS * 0.9  # how often a long call is looked after is a matter of time
    assert figures(publish(masker)) == first


def test_a_run_that_was_asked_before_it_began_does_nothing(room: Path) -> None:
    stop = Stop()
    stop.ask()
    with pytest.raises(Stopped):
        publish("top_down", stop)
    assert files(room) == {}
