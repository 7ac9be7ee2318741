"""verify on folders made to hang, exhaust or mislead it: each ends soon, in little memory, in words."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import sfumato as sf
from sfumato.errors import ReleaseError
from tests.e2e.forking import Program
from tests.hostile_folders import HOSTILE
from tests.releases import release_of

CPU, MEMORY = 10.0, 600 << 20
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="memory is measured as Linux does")


@pytest.fixture(scope="module")
def program() -> Iterator[Program]:
    """The program itself, in a process of its own for each folder."""
    made = Program()
    yield made
    made.close()


def test_there_are_at_least_thirty_kinds() -> None:
    assert len(HOSTILE) >= 30


@pytest.mark.parametrize("name", sorted(name for name, one in HOSTILE.items() if one.cheap))
def test_a_hostile_folder_does_not_hold(name: str, tmp_path: Path) -> None:
    one = HOSTILE[name]
    folder = release_of(one.of, tmp_path / "out")
    one.make(folder)
    began = time.process_time()
    try:
        verdict = sf.verify(folder)
    except ReleaseError as error:
        told = str(error)
    else:
        told = str(verdict)
        assert told.startswith("DOES NOT HOLD")
    assert one.says in told
    assert "\x1b" not in told
    assert time.process_time() - began < CPU


@LINUX
@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(HOSTILE))
def test_the_program_ends_soon_and_in_little_memory(name: str, program: Program, tmp_path: Path) -> None:
    one = HOSTILE[name]
    folder = release_of(one.of, tmp_path / "out")
    one.make(folder)
    ran = program.run(tmp_path, "verify", str(folder))
    assert "Traceback" not in ran.stderr
    assert ran.code in (1, 2), ran
    assert "DOES NOT HOLD" in ran.stdout or ran.stderr.startswith("error: ")
    assert one.says in ran.stdout + ran.stderr
    assert "\x1b" not in ran.stdout
    if path := os.environ.get("SFUMATO_FIGURES"):
        with Path(path).open("a", encoding="utf-8") as file:
            file.write(f"{ran.seconds:6.2f} s {ran.peak >> 20:6} MB  {name}\n")
    assert ran.seconds < CPU, ran
    assert ran.peak < MEMORY, ran


@LINUX
@pytest.mark.slow
def test_files_that_change_while_they_are_read_do_not_hang_it(program: Program, tmp_path: Path) -> None:
    folder = release_of("k_anonymity", tmp_path / "out")
    swap = """
import os, sys, time
os.chdir(sys.argv[1])
kept = {name: open(name, "rb").read() for name in ("README.md", "table.parquet", "certificate.json", "recoding.json")}
end = time.monotonic() + 60
while time.monotonic() < end:
    for name, content in kept.items():
        os.mkfifo("p"); os.replace("p", name)
        os.symlink("/dev/zero", "l"); os.replace("l", name)
        open("f", "wb").write(content); os.replace("f", name)
"""
    with subprocess.Popen([sys.executable, "-c", swap, folder]) as other:
        try:
            for _ in range(6):
                ran = program.run(tmp_path, "verify", str(folder))
                assert ran.code in (0, 1, 2)
                assert "Traceback" not in ran.stderr
        finally:
            other.kill()
