"""The ledger as a file: a chain that grows, torn ends that are overwritten, and damage that is refused."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest
from typer.testing import CliRunner

import sfumato as sf
from sfumato.cli.main import app
from sfumato.data.encoding import encode
from sfumato.privacy.budget import Budget
from sfumato.privacy.ledger import GENESIS, Ledger, LedgerError, People

TABLE = pa.table({"age": [1, 2]})


def known(ledger: Ledger) -> People:
    return ledger.people_of(ledger.look(TABLE), encode(TABLE, sf.Schema(age=sf.Number())))


def filled(path: Path, entries: int = 4) -> Ledger:
    ledger = Ledger(path)
    for _ in range(entries):
        ledger.reserve(People.named("us"), Budget(1), mask="m")
    return ledger


def test_every_line_holds_the_hash_of_the_one_before(tmp_path: Path) -> None:
    ledger = filled(tmp_path / "ledger.jsonl")
    chain = ledger.chain()
    lines = [json.loads(line) for line in ledger.path.read_text().splitlines()]
    assert [line["previous"] for line in lines] == [GENESIS, *chain.hashes[:-1]]
    assert chain.head == chain.hashes[-1]
    assert len(set(chain.hashes)) == 4


def test_a_write_that_was_cut_at_any_byte_was_never_made(tmp_path: Path) -> None:
    ledger = filled(tmp_path / "ledger.jsonl")
    content = ledger.path.read_bytes()
    known = [entry.id for entry in ledger.entries()]
    last = content.rindex(b"\n", 0, -1) + 1
    for cut in range(last, len(content)):
        ledger.path.write_bytes(content[:cut])
        assert [entry.id for entry in ledger.entries()] == known[:-1]
        assert ledger.chain().torn == cut - last
        again = ledger.reserve(People.named("us"), Budget(1), mask="m")
        assert [entry.id for entry in ledger.entries()] == [*known[:-1], again.id]
        assert ledger.chain().torn == 0
    ledger.path.write_bytes(content)
    assert [entry.id for entry in ledger.entries()] == known


def change(lines: list[str]) -> list[str]:
    return [lines[0], lines[1].replace('"1"', '"0"'), *lines[2:]]


DAMAGE: dict[str, tuple[Callable[[list[str]], list[str]], int]] = {
    "a line changed": (change, 3),
    "a line taken out": (lambda lines: [lines[0], *lines[2:]], 2),
    "the first taken out": (lambda lines: lines[1:], 1),
    "a line put in": (lambda lines: [*lines[:2], lines[0], *lines[2:]], 3),
    "two changed places": (lambda lines: [lines[0], lines[2], lines[1], lines[3]], 2),
    "an empty line": (lambda lines: [*lines[:2], "", *lines[2:]], 3),
    "a line that is no entry": (lambda lines: [*lines, "broken"], 5),
    "a line that is no mapping": (lambda lines: [*lines, "[]"], 5),
    "a line cut in the middle": (lambda lines: [lines[0], lines[1][:40], *lines[2:]], 2),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_damage_is_refused_and_told_where(damage: str, tmp_path: Path) -> None:
    ledger = filled(tmp_path / "ledger.jsonl")
    do, line = DAMAGE[damage]
    content = "\n".join(do(ledger.path.read_text().splitlines())) + "\n"
    ledger.path.write_text(content)
    for use in (ledger.entries, lambda: ledger.reserve(People.named("us"), Budget(1), mask="m")):
        with pytest.raises(LedgerError, match=f"line {line}:") as told:
            use()
        assert "good copy" in told.value.remedy
    assert ledger.path.read_text() == content
    done = CliRunner().invoke(app, ["ledger", "--path", str(ledger.path), "--check"])
    assert done.exit_code == 1
    assert f"line {line}:" in done.output


def test_an_unknown_line_in_an_intact_chain_is_refused(tmp_path: Path) -> None:
    ledger = filled(tmp_path / "ledger.jsonl")
    line = json.dumps({"previous": ledger.chain().head, "line": "forgiven", "id": "1"})
    ledger.path.write_text(ledger.path.read_text() + line + "\n")
    with pytest.raises(LedgerError, match="does not know"):
        ledger.spent(People.named("us"))


def test_a_witness_sees_that_the_end_is_gone(tmp_path: Path) -> None:
    ledger = filled(tmp_path / "ledger.jsonl")
    head = ledger.chain().head
    command = ["ledger", "--path", str(ledger.path), "--check"]
    assert head in CliRunner().invoke(app, command).output
    ledger.reserve(People.named("us"), Budget(1), mask="m")
    assert CliRunner().invoke(app, [*command, "--expect", head]).exit_code == 0
    content = ledger.path.read_text().splitlines(keepends=True)
    ledger.path.write_text("".join(content[:3]))
    assert CliRunner().invoke(app, command).exit_code == 0
    assert CliRunner().invoke(app, [*command, "--expect", head]).exit_code == 1


def test_a_torn_end_is_no_damage(tmp_path: Path) -> None:
    ledger = filled(tmp_path / "ledger.jsonl")
    with ledger.path.open("a") as file:
        file.write('{"previous": ')
    done = CliRunner().invoke(app, ["ledger", "--path", str(ledger.path), "--check"])
    assert done.exit_code == 0
    assert "interrupted" in done.output


def test_without_its_key_a_ledger_knows_nobody_and_says_so(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger.jsonl")
    people = known(ledger)
    key = tmp_path / "ledger.key"
    assert oct(key.stat().st_mode & 0o777) == "0o600"
    content = key.read_bytes()
    ledger.reserve(people, Budget(1), mask="m")
    key.write_bytes(content[:7])
    with pytest.raises(LedgerError, match="another length"):
        known(ledger)
    key.unlink()
    with pytest.raises(LedgerError, match="made with it"):
        known(ledger)
    key.write_bytes(content)
    assert known(ledger).called == people.called


def test_a_ledger_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(LedgerError, match="must be writable"):
        Ledger(tmp_path / "file" / "ledger.jsonl").reserve(People.named("us"), Budget(1), mask="m")


ENTER = """
import sys
from sfumato.privacy.budget import Budget
from sfumato.privacy.ledger import Ledger, People
for _ in range(25):
    Ledger(sys.argv[1]).reserve(People.named("us"), Budget(1), mask="m")
"""


def test_writers_take_turns(tmp_path: Path) -> None:
    path = tmp_path / "ledger.jsonl"
    runs = [subprocess.Popen([sys.executable, "-c", ENTER, str(path)]) for _ in range(3)]
    assert [run.wait() for run in runs] == [0, 0, 0]
    assert Ledger(path).spent(People.named("us")) == 75
