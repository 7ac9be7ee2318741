"""A sweep from the command line: side by side, killed in the middle, gone on with."""

from __future__ import annotations

import csv
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as pc
import pytest
from typer.testing import CliRunner

from sfumato.cli.main import app

RECIPE = """
sfumato: 1
table: people.csv
attributes:
  age:  {kind: number, role: quasi, range: [0, 99]}
  town: {kind: category, role: quasi}
  ill:  {kind: category, role: sensitive}
structure: {classes: ill}
mask: top_down
privacy:
  - {k_anonymity: 4, on: [age, town]}
"""
OVER = ("--over", "privacy.k=2,3,4,5,6,8,10,12", "--over", "mask.top_down.score=tradeoff,infogain,distortion")
SETTINGS = 24
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")


@pytest.fixture
def recipe(tmp_path: Path) -> Path:
    rows = 400
    table = pa.table(
        {
            "age": [(i * 37) % 90 for i in range(rows)],
            "town": [f"town-{i % 7}" for i in range(rows)],
            "ill": ["yes" if (i * 37) % 90 > 50 else "no" for i in range(rows)],
        }
    )
    pc.write_csv(table, tmp_path / "people.csv")
    path = tmp_path / "recipe.yaml"
    path.write_text(RECIPE)
    return path


def start(recipe: Path, output: Path) -> subprocess.Popen[str]:
    words = [sys.executable, "-m", "sfumato.cli.main", "sweep", str(recipe), *OVER, "--workers", "2", "-o", str(output)]
    return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def workers_of(pid: int) -> set[int]:
    """Processes that were started to run points, while they live."""
    found = set()
    for path in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((path / "stat").read_text().rpartition(")")[2].split()[1])
            if parent == pid and "spawn_main" in (path / "cmdline").read_text():
                found.add(int(path.name))
        except (OSError, ValueError, IndexError):
            continue
    return found


def alive(pid: int) -> bool:
    try:
        return (Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]) != "Z"
    except OSError:
        return False


def wait_until(holds: object, *, seconds: float = 120) -> None:
    assert callable(holds)
    ends = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < ends, "it took too long"
        time.sleep(0.02)


@pytest.mark.slow
def test_a_killed_sweep_goes_on_where_it_stopped(recipe: Path, tmp_path: Path) -> None:
    output = tmp_path / "sweep"
    first = start(recipe, output)
    seen: set[int] = set()

    def some_done() -> bool:
        seen.update(workers_of(first.pid))
        return len(list(output.glob("points/*.json"))) >= 3

    wait_until(some_done)
    os.kill(first.pid, signal.SIGKILL)
    first.wait()
    assert len(seen) == 2
    wait_until(lambda: not any(alive(pid) for pid in seen))
    before = {path: path.stat().st_mtime_ns for path in output.glob("points/*.json")}
    assert 3 <= len(before) < SETTINGS
    assert not (output / "sweep.html").exists()

    second = start(recipe, output)
    told, said = second.communicate(timeout=240)
    assert second.returncode == 0, said
    assert told.startswith("Take privacy.k=")
    after = {path: path.stat().st_mtime_ns for path in output.glob("points/*.json")}
    assert len(after) == SETTINGS
    assert {path: after[path] for path in before} == before
    assert len((output / "sweep.csv").read_text().splitlines()) == SETTINGS + 1
    assert "Take privacy.k=" in (output / "sweep.html").read_text()


@pytest.mark.slow
def test_ctrl_c_ends_a_sweep_with_all_its_processes_and_says_what_is_kept(recipe: Path, tmp_path: Path) -> None:
    output = tmp_path / "swept"
    first = start(recipe, output)
    wait_until(lambda: len(list(output.glob("points/*.json"))) >= 2)
    workers = workers_of(first.pid)
    first.send_signal(signal.SIGINT)
    told = first.communicate(timeout=60)[1]
    assert first.returncode == 130
    assert told.splitlines()[-1] == f"stopped while trying every setting: written before, and left as it is: {output}"
    assert "Traceback" not in told
    wait_until(lambda: not any(alive(pid) for pid in workers))
    assert len(list(output.glob("points/*.json"))) >= 2


@pytest.mark.slow
@pytest.mark.parametrize("over", ["privacy.0.k=3,6", "privacy.1.l=2,3", "privacy.2.t=0.5,0.9"])
def test_settings_of_every_requirement_are_swept(over: str, recipe: Path, tmp_path: Path) -> None:
    more = "  - {l_diversity: 2, on: [age], sensitive: ill}\n  - {t_closeness: 0.9, on: [town], sensitive: ill}\n"
    recipe.write_text(recipe.read_text() + more)
    rows = [f"{i * 37 % 90},town-{i % 7},{'abcd'[i % 4]}" for i in range(400)]
    (tmp_path / "people.csv").write_text("\n".join(["age,town,ill", *rows]))
    words = ["sweep", str(recipe), "--over", over, "--workers", "1", "-o", str(tmp_path / "sweep")]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    with (tmp_path / "sweep" / "sweep.csv").open() as file:
        lines = list(csv.DictReader(file))
    assert len(lines) == 2
    assert not any(line["refused"] for line in lines)
    assert min(int(line["smallest_group"]) for line in lines) >= 3


@pytest.mark.slow
def test_a_sweep_writes_into_no_strangers_folder(recipe: Path, tmp_path: Path) -> None:
    (tmp_path / "sweep").mkdir()
    (tmp_path / "sweep" / "thesis.txt").write_text("years of work")
    done = start(recipe, tmp_path / "sweep")
    _, said = done.communicate(timeout=60)
    assert done.returncode == 2
    assert "choose another name" in said
