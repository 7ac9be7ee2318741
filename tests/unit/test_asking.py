"""Work that takes long for a large table asks whether it should end."""

from __future__ import annotations

import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from sfumato.data.safe_files import written
from sfumato.errors import Stopped
from sfumato.events import Stop, running
from sfumato.privacy import mechanisms
from sfumato.privacy.verify.fields import read_json

MANY = 3_000


class Counting(Stop):
    """Owns how often it was asked."""

    def __init__(self) -> None:
        super().__init__()
        self.times = 0

    @property
    def asked(self) -> bool:
        """Nobody asked; it is counted."""
        self.times += 1
        return False


def test_a_file_of_many_entries_is_made_and_read_again_some_at_a_time(tmp_path: Path) -> None:
    content = {"groups": [{"shown": {"age": at}} for at in range(MANY)]}
    making, reading = Counting(), Counting()
    with running(stop=making):
        text = written(content)
    (tmp_path / "regions.json").write_text(text + "\n")
    with running(stop=reading):
        assert read_json(tmp_path / "regions.json") == content
    assert making.times >= MANY
    assert reading.times >= MANY


def test_a_run_ends_while_the_library_of_the_noise_is_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    library = SimpleNamespace(enable_features=lambda name: None)

    def loaded(name: str) -> SimpleNamespace:
        time.sleep(0.2)
        return library

    monkeypatch.setattr(mechanisms, "import_module", loaded)
    stop = Stop()
    stop.ask()
    with running(stop=stop), pytest.raises(Stopped):
        mechanisms._opendp.__wrapped__()
    assert mechanisms._opendp.__wrapped__() is library
