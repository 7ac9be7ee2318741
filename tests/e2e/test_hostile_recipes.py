"""A stranger's recipe is data: none runs code, reads outside its folder, works without end or ends in a traceback."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import sfumato as sf
from tests.e2e.forking import Program, Ran
from tests.e2e.test_publish import Done, sfumato
from tests.hostile_recipes import BASE, HOSTILE, RAN, SECRET, lay_out

CPU, MEMORY = 2.0, 500 * 2**20
"""Seconds of the processor and bytes that a recipe may take beyond what an honest, refused one takes."""
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="measures memory as Linux does, and has its devices")


@pytest.fixture(scope="module", autouse=True)
def _warm(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Everything that is loaded once is loaded."""
    folder = lay_out(tmp_path_factory.mktemp("warm"))
    (folder / "recipe.yaml").write_text(BASE.replace("{classes: ill}", "{clusters: kmeans, k: 2}"))
    assert (
        sfumato("publish", folder / "recipe.yaml", "--output", folder / "out", "--no-report", "--no-suggest").returncode
        == 0
    )


@contextmanager
def _not_for_ever(seconds: int) -> Iterator[None]:
    """Who waits at a pipe takes no time of the processor: a guard that is never reached otherwise."""

    def end(number: int, frame: object) -> None:
        raise TimeoutError("it waits for ever")

    before = signal.signal(signal.SIGALRM, end)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def _harmless(done: Done, folder: Path) -> None:
    said = done.stdout + done.stderr
    assert "Traceback" not in said
    assert SECRET not in said
    assert not (folder / RAN).exists(), "code of the recipe ran"
    assert not (folder / "cache").exists()
    written = [path for path in folder.rglob("*") if path.is_file() and not path.is_symlink()]
    assert not any(SECRET.encode() in path.read_bytes() for path in written)


def test_there_are_many_kinds() -> None:
    assert sum(not hostile.harmless for hostile in HOSTILE.values()) >= 100


SOME = [name if at % 4 == 0 else pytest.param(name, marks=pytest.mark.slow) for at, name in enumerate(HOSTILE)]


@pytest.mark.parametrize("name", SOME)
def test_a_strangers_recipe_is_data(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = lay_out(tmp_path)
    HOSTILE[name].make(folder)
    monkeypatch.chdir(folder)
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.setenv("OUTSIDE", str(tmp_path / "outside"))
    monkeypatch.setenv("HOME", str(tmp_path / "outside"))
    before, began = _peak(), time.process_time()
    with _not_for_ever(300):
        done = sfumato("publish", "recipe.yaml", "--output", "out", "--no-report")
    assert time.process_time() - began <= CPU
    assert _peak() - before <= MEMORY
    assert done.returncode == (0 if HOSTILE[name].harmless else 2), done.stderr
    assert done.stdout or "error: " in done.stderr
    assert len(done.stderr) < 20_000
    _harmless(done, folder)


SET = {
    "a k of 5,001 digits": f"privacy.0.k={'9' * 5001}",
    "brackets": "privacy.0.k=" + "[" * 10_000,
    "a tag": "encoding=!!python/object/apply:os.system [ls]",
    "a table elsewhere": "table=/etc/passwd",
    "an option that is not listed": "structure={clusters: ward, k: 2, options: {memory: cache}}",
    "a long path of settings": "a." * 50_000 + "b=1",
    "a place far away": f"privacy.{'9' * 5000}.k=3",
    "a place from behind": "privacy.-1.k=1",
}


@pytest.mark.parametrize("name", SET)
def test_what_is_set_goes_through_the_same_checks(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = lay_out(tmp_path)
    (folder / "recipe.yaml").write_text(BASE)
    monkeypatch.chdir(folder)
    began = time.process_time()
    done = sfumato("publish", "recipe.yaml", "--output", "out", "--no-report", "--set", SET[name])
    assert time.process_time() - began <= CPU
    assert done.returncode == 2
    _harmless(done, folder)


def test_a_user_can_allow_what_a_recipe_names(tmp_path: Path) -> None:
    folder = lay_out(tmp_path)
    (folder / "recipe.yaml").write_text(BASE.replace("people.csv", "../outside/secret.csv"))
    words = ("publish", folder / "recipe.yaml", "--output", folder / "out", "--no-report", "--no-suggest")
    refused = sfumato(*words)
    assert "--table FILE" in refused.stderr
    assert "--allow FOLDER" in refused.stderr
    assert sfumato(*words, "--allow", tmp_path / "outside").returncode == 0
    (folder / "recipe.yaml").write_text(BASE)
    assert sfumato(*words, "--table", tmp_path / "outside" / "secret.csv").returncode == 0


PUBLISH = ("publish", "recipe.yaml", "--output", "out", "--no-report")


@pytest.fixture(scope="module")
def program() -> Iterator[Program]:
    made = Program()
    yield made
    made.close()


def _started(folder: Path) -> Ran:
    """The program as a shell starts it."""
    program = [sys.executable, "-m", "sfumato.cli.main", *PUBLISH]
    ours = {**os.environ, "PYTHONPATH": str(Path(sf.__file__).parents[1])}
    with (folder / "said").open("wb") as said:
        child = subprocess.Popen(program, cwd=folder, stdout=said, stderr=said, stdin=subprocess.DEVNULL, env=ours)
        with _not_for_ever(300):
            _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    text = (folder / "said").read_text(errors="replace")
    (folder / "said").unlink()
    return Ran(child.returncode, text, text, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024)


REFUSED = [name for name, hostile in HOSTILE.items() if not hostile.harmless]


def _takes_little(name: str, root: Path, run: Callable[[Path], Ran], plain: Ran) -> None:
    root.mkdir()
    folder = lay_out(root)
    HOSTILE[name].make(folder)
    ran = run(folder)
    if path := os.environ.get("SFUMATO_FIGURES"):
        with Path(path).open("a", encoding="utf-8") as file:
            file.write(f"{ran.seconds - plain.seconds:6.2f} s {(ran.peak - plain.peak) >> 20:6} MB  {name}\n")
    assert ran.code == 2, (name, ran)
    assert ran.seconds - plain.seconds <= CPU, (name, ran)
    assert ran.peak - plain.peak <= MEMORY, (name, ran)
    _harmless(Done(ran.code, ran.stdout, ran.stderr), folder)


@pytest.mark.slow
@pytest.mark.parametrize("start", ["forked", "started"])
def test_the_program_itself_takes_little_of_the_machine(
    start: str, program: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each in a process of its own, beside a plain mistake; some of every sort as a shell starts them."""
    outside = {"OUTSIDE": str(tmp_path / "outside")}
    monkeypatch.setenv("OUTSIDE", outside["OUTSIDE"])
    HOSTILE["a k of 1"].make(folder := lay_out(tmp_path))

    def run(place: Path) -> Ran:
        return program.run(place, *PUBLISH, environment=outside) if start == "forked" else _started(place)

    plain, names = run(folder), REFUSED if start == "forked" else REFUSED[::9]
    for at, name in enumerate(names):
        _takes_little(name, tmp_path / str(at), run, plain)
    assert len(names) >= (100 if start == "forked" else 10)
