"""The ledger under attack: a clock that goes back, file systems without locks, a full disk, edits by hand."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from typer.testing import CliRunner

import sfumato as sf
from sfumato.cli.main import app
from sfumato.data.encoding import encode
from sfumato.privacy.budget import Budget, Spending
from sfumato.privacy.ledger import Ledger, LedgerError, People, chain, entries
from sfumato.privacy.ledger.entries import former_fingerprint
from sfumato.privacy.ledger.keyed_rows import read_secret
from sfumato.privacy.mechanisms import Mechanisms, OpenDPNoise

US = People.named("us")
TABLE = pa.table({"age": list(range(40)), "town": ["a", "b"] * 20})
SCHEMA = sf.Schema(age=sf.Number(), town=sf.Category())


def test_a_clock_that_goes_back_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger, clock = Ledger(tmp_path / "ledger.jsonl"), [datetime(2026, 3, 1, tzinfo=UTC)]

    def back() -> str:
        clock[0] -= timedelta(days=400)
        return clock[0].isoformat(timespec="seconds")

    for module in ("ledger", "entries"):
        monkeypatch.setattr(f"sfumato.privacy.ledger.{module}.now", back)
    made = [ledger.reserve(US, Budget(1, total=5), mask="m").id for _ in range(5)]
    with pytest.raises(sf.BudgetError, match="5 spent before"):
        ledger.reserve(US, Budget(1, total=5), mask="m")
    assert [entry.id for entry in ledger.entries()] == made, "in the order in which they were entered"
    ledger.give_back(ledger.entries()[0])
    assert ledger.spent(US) == 4
    command = ["ledger", "--path", str(ledger.path)]
    assert CliRunner().invoke(app, [*command, "--check"]).exit_code == 0
    assert CliRunner().invoke(app, command).exit_code == 0


RACE = """
import errno, fcntl, os, sys
from sfumato.privacy.budget import Budget, BudgetError
from sfumato.privacy.ledger import Ledger, People, chain

def unknown(*_):
    raise OSError(errno.ENOLCK, "No locks available")

how, name, path = sys.argv[1:]
if how == "unknown":
    fcntl.flock = unknown
if how == "each for itself":  # holds on one machine only, and says nothing
    fcntl.flock = lambda *_: None
    chain.machine = lambda: name
print("ready", flush=True)
sys.stdin.readline()  # all begin at once
won = 0
for _ in range(30):
    try:
        Ledger(path).reserve(People.named("us"), Budget(1, total=40), mask="m")
        won += 1
    except BudgetError:
        pass
print(won)
"""


@pytest.mark.slow
@pytest.mark.parametrize("how", ["known", "unknown", "each for itself"])
def test_machines_that_do_not_see_each_others_locks_take_turns(how: str, tmp_path: Path) -> None:
    path = tmp_path / "ledger.jsonl"
    ends: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    commands = [[sys.executable, "-c", RACE, how, name, str(path)] for name in ("one", "two", "three")]
    runs: list[Any] = [subprocess.Popen(command, **ends) for command in commands]
    assert [run.stdout.readline() for run in runs] == ["ready\n"] * 3
    for run in runs:
        run.stdin.write("\n")
        run.stdin.flush()
    won = [int(run.communicate()[0]) for run in runs]
    assert sum(won) == 40
    assert Ledger(path).spent(US) == 40
    assert not os.path.lexists(tmp_path / "ledger.lock")


def test_what_a_killed_run_here_left_is_taken_over(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger.jsonl")
    (tmp_path / "ledger.lock").symlink_to(f"{chain.machine()} locked 1")
    ledger.reserve(US, Budget(1), mask="m")
    assert not os.path.lexists(tmp_path / "ledger.lock")


@pytest.mark.parametrize("who", ["another machine locked 1", f"{chain.machine()} unlocked 1"])
def test_what_another_machine_left_is_told(who: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chain, "WAIT", 0.1)
    ledger = Ledger(tmp_path / "ledger.jsonl")
    (tmp_path / "ledger.lock").symlink_to(who)
    with pytest.raises(LedgerError, match="another run holds") as told:
        ledger.reserve(US, Budget(1), mask="m")
    assert "delete the lock" in told.value.remedy
    (tmp_path / "ledger.lock").unlink()
    ledger.reserve(US, Budget(1), mask="m")


def test_a_file_system_without_links_goes_by_the_systems_lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import fcntl

    def refuse(*_: object) -> None:
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "symlink", refuse)
    ledger = Ledger(tmp_path / "ledger.jsonl")
    ledger.reserve(US, Budget(1), mask="m")
    monkeypatch.setattr(fcntl, "flock", refuse)
    with pytest.raises(LedgerError, match="must be writable"):
        ledger.reserve(US, Budget(1), mask="m")
    assert ledger.spent(US) == 1


def test_whatever_else_writes_there_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger, real = Ledger(tmp_path / "ledger.jsonl"), os.fsync

    def meanwhile(file: int) -> None:
        with ledger.path.open("ab") as other:
            other.write(b"{}\n")
        real(file)

    monkeypatch.setattr(os, "fsync", meanwhile)
    with pytest.raises(LedgerError, match="grew by more"):
        ledger.reserve(US, Budget(1), mask="m")


class Full:
    """Owns a disk that is full from the n-th thing on that a run asks of it; half of a write still fits."""

    CALLS = ("open", "write", "fsync", "ftruncate", "symlink", "replace", "rename", "mkdir")

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.monkeypatch, self.asked, self.last = monkeypatch, 0, 0

    @contextmanager
    def after(self, n: int) -> Iterator[None]:
        """From now on, until the end."""
        self.asked, self.last = 0, n
        with self.monkeypatch.context() as patch:
            for name in self.CALLS:
                patch.setattr(os, name, self._failing(name, getattr(os, name)))
            yield

    def _failing(self, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*given: Any, **more: Any) -> Any:
            reads = name == "open" and not given[1] & (os.O_CREAT | os.O_RDWR | os.O_WRONLY)
            self.asked += not reads
            if self.asked <= self.last or reads:
                return real(*given, **more)
            if name == "write" and len(given[1]) > 1:
                with suppress(OSError):
                    real(given[0], given[1][: len(given[1]) // 2])
            raise OSError(errno.ENOSPC, "No space left on device")

        return call


def test_a_full_disk_at_every_step_of_entering(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Told in words; nothing entered is lost, nothing is half entered, and with room again everything goes on."""
    ledger, full, refused = Ledger(tmp_path / "ledger.jsonl"), Full(monkeypatch), 0
    ledger.reserve(US, Budget(1), mask="m")
    for n in range(30):
        before = [entry.id for entry in ledger.entries()]
        with full.after(n):
            try:
                ledger.reserve(US, Budget(1), mask="m")
            except LedgerError as error:
                refused += "No space left" in error.given
        after = [entry.id for entry in ledger.entries()]
        assert after[: len(before)] == before
        assert len(after) <= len(before) + 1
        assert ledger.spent(US) == len(after)
    assert refused == 7, "making the file and the lock, opening, cutting, writing, and twice putting on the disk"


def test_a_full_disk_at_every_step_of_making_the_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    full, refused = Full(monkeypatch), 0
    for n in range(30):
        ledger = Ledger(tmp_path / f"{n}" / "ledger.jsonl")
        with full.after(n):
            try:
                ledger.look(TABLE)
            except LedgerError as error:
                refused += "No space left" in error.given
        key = ledger.path.with_suffix(".key")
        assert not key.exists() or len(key.read_bytes()) == 32
        first = ledger.look(TABLE)
        assert ledger.look(TABLE).to_json() == first.to_json()
        assert oct(key.stat().st_mode & 0o777) == "0o600"
    assert refused >= 6


def test_why_a_run_stopped_is_told_even_if_nothing_can_be_given_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger, mechanisms = Ledger(tmp_path / "ledger.jsonl"), Mechanisms(Spending(Budget(1)), OpenDPNoise())

    def run() -> None:
        with ledger.reserved(US, mechanisms, mask="m"):
            ledger.path.rename(tmp_path / "moved")
            ledger.path.mkdir()  # in the way of every later write
            raise KeyError

    with pytest.warns(UserWarning, match="stays entered as spent"), pytest.raises(KeyError):
        run()
    assert Ledger(tmp_path / "moved").spent(US) == 1


BY_HAND: dict[str, dict[str, Any]] = {
    "an epsilon below nothing": {"epsilon": "-5"},
    "an epsilon of nothing": {"epsilon": "0"},
    "no number": {"epsilon": 1},
    "no time": {"when": "yesterday"},
    "no name": {"people": ["us"]},
    "no likeness": {"likeness": {"rows": 1}},
    "a sketch of another length": {
        "likeness": {
            "rows": 1,
            "columns": {},
            "sketches": {
                "all": {"rows": 1, "halves": 0, "seen": 0, "kinds": 1, "hashes": "AAAAAAAAAAA=", "levels": ""}
            },
        }
    },
    "a field that nobody knows": {"forgiven": "all"},
}


@pytest.mark.parametrize("what", BY_HAND)
def test_a_line_put_in_by_hand_that_is_no_entry_is_refused(what: str, tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger.jsonl")
    ledger.reserve(US, Budget(1), mask="m")
    fair = {"line": "reserved", "id": "1", "people": "named us", "mask": "m", "when": entries.now(), "epsilon": "1"}
    content = ledger.path.read_text()
    for form, fine in ((fair, True), ({**fair, **BY_HAND[what]}, False)):
        ledger.path.write_text(content + json.dumps({"previous": ledger.chain().head, **form}) + "\n")
        if fine:
            assert ledger.spent(US) == 2
            ledger.path.write_text(content)
        else:
            with pytest.raises(LedgerError, match="line 2"):
                ledger.entries()
            done = CliRunner().invoke(app, ["ledger", "--path", str(ledger.path), "--check"])
            assert done.exit_code == 1


def test_what_earlier_versions_entered_is_not_forgotten(tmp_path: Path) -> None:
    """A ledger from before tables were looked at as they are read: its spendings count, its names go on."""
    import hashlib
    import hmac

    ledger = Ledger(tmp_path / "ledger.jsonl")
    table = encode(TABLE, SCHEMA)
    ledger.look(TABLE)  # makes the key
    secret = read_secret(tmp_path / "ledger.key")
    assert secret is not None
    former = hmac.new(secret.key, former_fingerprint(table), hashlib.sha256).hexdigest()[:32]
    ledger.reserve(People(f"table {former}"), Budget(1), mask="m")
    ledger.reserve(US, Budget(2), mask="m")
    people = ledger.people_of(ledger.look(TABLE), table)
    assert ledger.spent(people) == 1
    assert ledger.spent(ledger.people_of(ledger.look(TABLE), table, name="us")) == 3
    with pytest.raises(sf.BudgetError, match="1 spent before"):
        ledger.reserve(people, Budget(1, total=1), mask="m")
    others = TABLE.slice(1)
    assert ledger.spent(ledger.people_of(ledger.look(others), encode(others, SCHEMA))) == 0


def test_without_the_key_the_lines_answer_no_guess(tmp_path: Path) -> None:
    """Whoever has the entries and the whole table, and not the key, finds nothing of it in them."""
    one, other = (Ledger(tmp_path / name / "ledger.jsonl") for name in ("one", "other"))
    found = [ledger.look(TABLE).to_json() for ledger in (one, other)]
    assert found[0]["columns"].keys().isdisjoint(found[1]["columns"])
    assert found[0]["sketches"]["all"]["hashes"] != found[1]["sketches"]["all"]["hashes"]
