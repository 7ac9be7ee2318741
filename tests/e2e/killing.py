"""Runs that are about to be killed: a process that has imported everything forks a child for each job it is given.

A job is killed after some seconds, or by itself before the n-th step in which it touches the disk; a write to the
ledger is cut in the middle. Steps are counted where both processes see them, so that the number survives the kill.
Instead of killing the job, the disk can be full from the n-th step on: then it ends by itself, and tells how.
"""

from __future__ import annotations

import errno
import json
import mmap
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from tests.e2e.forking import import_everything, run_main

ROOT = Path(__file__).parents[2]
TOUCHING = ("open", "os.mkdir", "os.rename", "os.symlink", "os.remove", "os.rmdir")
FREEING = ("os.remove", "os.rmdir")
NEVER = 10**9
REFUSED, BROKEN = 3, 4
"""Exit codes: an error of ours, which is told in words; any other, which a user would meet as a traceback."""
SECONDS = 120
"""A job that takes longer hangs, and is ended by another signal."""


@dataclass(frozen=True)
class Ended:
    """How a job ended: the signal, or 0; its exit code; and the steps it took."""

    signal: int
    code: int
    steps: int


class Nursery:
    """Owns the process that forks. Everything it does happens under one folder, with a ledger of its own.

    The folder holds recipe.yaml. `releases`: two releases are ready to be written before the first job.
    """

    def __init__(self, folder: Path, *, releases: bool = False) -> None:
        self.folder = folder
        environment = {**os.environ, "XDG_STATE_HOME": str(folder / "state"), "OMP_NUM_THREADS": "1"}
        arguments = [str(folder), *(["releases"] if releases else [])]
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.e2e.killing", *arguments],
            cwd=ROOT,
            env=environment,
            text=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )

    @property
    def ledger(self) -> Path:
        """Where its jobs enter what they release."""
        return self.folder / "state" / "sfumato" / "ledger.jsonl"

    def run(
        self, job: str, *arguments: str, step: int = NEVER, seconds: float | None = None, full: bool = False
    ) -> Ended:
        """Run a job and wait for its end. With `full` the disk is full from that step on, and nothing is killed."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps([job, arguments, step, seconds, full]) + "\n")
        self._process.stdin.flush()
        return Ended(*json.loads(self._process.stdout.readline()))

    def close(self) -> None:
        """End it."""
        self._process.communicate("")


def serve(root: str, *, releases: bool) -> None:
    """Fork a child for each line of standard input; tell how it ended."""
    import_module("sfumato.maskers.topdown.groups")  # compiled kernels are loaded once, not in every child
    jobs: dict[str, Callable[..., int]] = {
        "publish": partial(run_main, "publish"),
        "sign": partial(run_main, "sign"),
        "enter": _enter,
    }
    if releases:
        jobs["write"] = _writing(Path(root))
    steps = mmap.mmap(-1, 8)
    for line in sys.stdin:
        job, arguments, step, seconds, full = json.loads(line)
        steps[:] = bytes(8)
        child = os.fork()
        if child == 0:
            signal.alarm(SECONDS)
            _silence()
            (_fill_before if full else _kill_before)(step, root, steps)
            os._exit(_ended(jobs[job], arguments))
        status = _waited(child, seconds)
        number, code = (os.WTERMSIG(status), 0) if os.WIFSIGNALED(status) else (0, os.WEXITSTATUS(status))
        sys.stdout.write(json.dumps([number, code, int.from_bytes(steps[:], "little")]) + "\n")
        sys.stdout.flush()


def _ended(job: Callable[..., int], arguments: list[str]) -> int:
    from sfumato.errors import SfumatoError

    try:
        return job(*arguments)
    except SfumatoError:
        return REFUSED
    except BaseException:
        return BROKEN


def _waited(child: int, seconds: float | None) -> int:
    """How the child ended; by us, if it lives that long."""
    if seconds is not None:
        ends = time.monotonic() + seconds
        while time.monotonic() < ends:
            ended, status = os.waitpid(child, os.WNOHANG)
            if ended:
                return status
            time.sleep(0.002)
        os.kill(child, signal.SIGKILL)
    return os.waitpid(child, 0)[1]


def _silence() -> None:
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(nowhere, stream)


def _kill_before(step: int, root: str, steps: mmap.mmap) -> None:
    """From now on, count what touches the disk under `root`, and die before the given step."""

    def count() -> bool:
        number = int.from_bytes(steps[:], "little") + 1
        steps[:] = number.to_bytes(8, "little")
        return number == step

    def die(_: object = None) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    def watch(event: str, arguments: tuple[Any, ...]) -> None:
        if event in TOUCHING and _under(root, arguments) and count():
            die()

    def counted(real: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *given: die() if count() else real(*given)

    real_write = os.write

    def cut(file: int, content: bytes) -> int:
        if count():
            real_write(file, content[: len(content) // 2])
            die()
        return real_write(file, content)

    sys.addaudithook(watch)
    for name, instead in {"fsync": counted(os.fsync), "ftruncate": counted(os.ftruncate), "write": cut}.items():
        setattr(os, name, instead)


def _fill_before(step: int, root: str, steps: mmap.mmap) -> None:
    """From now on, count what needs room on the disk under `root`, and refuse it from the given step on."""

    def check() -> None:
        number = int.from_bytes(steps[:], "little") + 1
        steps[:] = number.to_bytes(8, "little")
        if number >= step:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def watch(event: str, arguments: tuple[Any, ...]) -> None:
        writes = event != "open" or bool(arguments[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT))
        at = arguments[1:] if event == "os.symlink" else arguments
        if event in TOUCHING and event not in FREEING and writes and _under(root, at):
            check()

    def checked(real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*given: Any) -> Any:
            check()
            return real(*given)

        return call

    real_write = os.write

    def cut(file: int, content: bytes) -> int:
        try:
            check()
        except OSError:
            real_write(file, content[: len(content) // 2])
            raise
        return real_write(file, content)

    sys.addaudithook(watch)
    for name, instead in {"fsync": checked(os.fsync), "ftruncate": checked(os.ftruncate), "write": cut}.items():
        setattr(os, name, instead)


def _under(root: str, arguments: tuple[Any, ...]) -> bool:
    """Whether a path is meant that lies there; a name relative to an open folder is one in a folder being removed."""
    path = str(arguments[0])
    return path.startswith(root) or (
        not path.startswith("/") and arguments[-1] != -1 and isinstance(arguments[-1], int)
    )


def _writing(root: Path) -> Callable[..., int]:
    """Two releases that differ in k, to be written where the job says."""
    import sfumato as sf
    from sfumato.engines import ReferenceEngine

    recipe = sf.Recipe.from_yaml(root / "recipe.yaml")
    run = sf.Run(engine=ReferenceEngine(), report=False)
    releases = {
        str(k): sf.publish(recipe.table, replace(recipe, privacy=[sf.KAnonymity(["age", "town"], k)]), run=run)
        for k in (4, 6)
    }

    def write(k: str, output: str) -> int:
        releases[k].write(output)
        return 0

    return write


def _enter(ledger: str, told: str) -> int:
    """Enter one spending after the other, and tell of each once it is entered."""
    from sfumato.privacy.budget import Budget
    from sfumato.privacy.ledger import Ledger, People

    with Path(told).open("a", buffering=1) as file:
        while True:
            file.write(Ledger(ledger).reserve(People.named("us"), Budget(1), mask="m").id + "\n")


if __name__ == "__main__":
    import_everything()
    serve(sys.argv[1], releases="releases" in sys.argv)
