"""The program in processes of its own: one process imports everything once, and forks a child for each run.

A child shares nothing with the tests, has its own time and memory, and begins where a new one would be after its
imports; starting Python anew for each of hundreds of runs would take most of their time.
"""

from __future__ import annotations

import gc
import json
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from io import StringIO
from pathlib import Path
from pkgutil import walk_packages
from tempfile import TemporaryDirectory
from unittest.mock import patch

ROOT = Path(__file__).parents[2]
SECONDS = 300
"""Who takes longer waits for ever: that takes no time of the processor, and is ended by an alarm."""


@dataclass(frozen=True)
class Ran:
    """How the program ended, what it said, and the processor's seconds and the memory that it took at most."""

    code: int
    stdout: str
    stderr: str
    seconds: float
    peak: int


class Program:
    """Owns the process that forks."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.e2e.forking"],
            cwd=ROOT,
            text=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )

    def run(self, folder: Path, *arguments: str, environment: dict[str, str] | None = None) -> Ran:
        """The program in this folder, until it ends."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with TemporaryDirectory() as place:
            asked = {"folder": str(folder), "said": place, "arguments": arguments, "environment": environment or {}}
            self._process.stdin.write(json.dumps(asked) + "\n")
            self._process.stdin.flush()
            code, seconds, peak = json.loads(self._process.stdout.readline())
            said = [(Path(place) / name).read_text(encoding="utf-8", errors="replace") for name in ("out", "err")]
        return Ran(code, said[0], said[1], seconds, peak)

    def close(self) -> None:
        """End it."""
        self._process.communicate("")


def run_main(*arguments: str) -> int:
    """The program in this process: its exit code."""
    from sfumato.cli.main import main

    try:
        with patch.object(sys, "argv", ["sfumato", *arguments]):
            main()
    except SystemExit as end:
        return int(end.code or 0)
    return 0


def import_everything() -> None:
    """All that a run would import. Nothing here is computed: a pool of threads at work would be lost in a fork."""
    from numba.core.registry import cpu_target

    import sfumato

    for name in ("polars", "sklearn.cluster", *(part.name for part in walk_packages(sfumato.__path__, "sfumato."))):
        import_module(name)
    for context in (cpu_target.typing_context, cpu_target.target_context):
        context.refresh()  # what a compiled loop needs to be loaded, whichever it is
    with redirect_stdout(StringIO()), redirect_stderr(StringIO()):
        run_main("publish", "no such recipe.yaml")  # as far as the command line goes
    gc.collect()
    gc.freeze()  # or every child would copy all of it


def _as_asked(folder: str, said: str, arguments: list[str], environment: dict[str, str]) -> int:
    """In the child: the program, in its folder, speaking into two files."""
    signal.alarm(SECONDS)
    os.chdir(folder)
    os.environ.update(environment)
    sys.path.insert(0, folder)  # as for a program that is started there
    for stream, name in ((1, "out"), (2, "err")):
        os.dup2(os.open(Path(said) / name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), stream)
    resource.setrlimit(resource.RLIMIT_CPU, (40, 40))
    resource.setrlimit(resource.RLIMIT_AS, (24 << 30, 24 << 30))
    code = run_main(*arguments)
    sys.stdout.flush()
    sys.stderr.flush()
    return code


def forked(job: Callable[[], int]) -> tuple[int, float, int]:
    """The exit code of a job in a child, its seconds and its peak; an error that nobody caught ends it with 99."""
    child = os.fork()
    if child == 0:
        code = 99
        try:
            code = job()
        except BaseException:
            sys.excepthook(*sys.exc_info())
            sys.stderr.flush()
        os._exit(code)
    _, status, used = os.wait4(child, 0)
    return os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime, used.ru_maxrss * 1024


def serve() -> None:
    """Fork a child for each line of standard input; tell how it ended and what it took."""
    for line in sys.stdin:
        asked = json.loads(line)
        sys.stdout.write(json.dumps(forked(partial(_as_asked, **asked))) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    import_everything()
    serve()
