"""verify on folders made to hang, exhaust or mislead it: each ends soon, in little memory, in words."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

import sfumato as sf
from sfumato.errors import ReleaseError
from tests.hostile_folders import HOSTILE
from tests.releases import release_of

CPU, MEMORY = 10.0, 600 << 20  # 5 s are told; a busy machine counts its seconds longer
# The program itself, and what it took: the peak since it began is its own, whatever called it.
PROGRAM = """
import json, resource, sys
resource.setrlimit(resource.RLIMIT_CPU, (40, 40))
resource.setrlimit(resource.RLIMIT_AS, (24 << 30, 24 << 30))
from sfumato.cli.main import main
sys.argv = ["sfumato", "verify", sys.argv[1]]
code = 0
try:
    main()
except SystemExit as end:
    code = end.code
sys.stdout.flush()
used = resource.getrusage(resource.RUSAGE_SELF)
with open("/proc/self/status") as status:
    peak = next(int(line.split()[1]) << 10 for line in status if line.startswith("VmHWM"))
print("\\n" + json.dumps({"code": code, "cpu": used.ru_utime + used.ru_stime, "peak": peak}))
"""
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="peaks are read from /proc")


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
def test_the_program_ends_soon_and_in_little_memory(name: str, tmp_path: Path) -> None:
    one = HOSTILE[name]
    folder = release_of(one.of, tmp_path / "out")
    one.make(folder)
    done = subprocess.run([sys.executable, "-c", PROGRAM, folder], capture_output=True, timeout=120, check=False)
    told, _, used = done.stdout.decode().rstrip("\n").rpartition("\n")
    took = json.loads(used)
    assert "Traceback" not in done.stderr.decode()
    assert took["code"] in (1, 2), told
    assert "DOES NOT HOLD" in told or done.stderr.decode().startswith("error: ")
    assert one.says in told + done.stderr.decode()
    assert "\x1b" not in told
    if path := os.environ.get("SFUMATO_FIGURES"):
        with Path(path).open("a", encoding="utf-8") as file:
            file.write(f"{took['cpu']:6.2f} s {took['peak'] >> 20:6} MB  {name}\n")
    assert took["cpu"] < CPU, took
    assert took["peak"] < MEMORY, took


@LINUX
@pytest.mark.slow
def test_files_that_change_while_they_are_read_do_not_hang_it(tmp_path: Path) -> None:
    folder = release_of("k_anonymity", tmp_path / "out")
    swap = """
import os, sys, time
os.chdir(sys.argv[1])
kept = {name: open(name, "rb").read() for name in ("README.md", "table.parquet", "certificate.json", "recoding.json")}
end = time.monotonic() + 8
while time.monotonic() < end:
    for name, content in kept.items():
        os.mkfifo("p"); os.replace("p", name)
        os.symlink("/dev/zero", "l"); os.replace("l", name)
        open("f", "wb").write(content); os.replace("f", name)
"""
    with subprocess.Popen([sys.executable, "-c", swap, folder]) as other:
        try:
            for _ in range(4):
                done = subprocess.run([sys.executable, "-c", PROGRAM, folder], capture_output=True, timeout=60)
                assert "Traceback" not in done.stderr.decode()
        finally:
            other.kill()
