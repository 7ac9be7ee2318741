"""Publishes again and again on a real disk that is too small, a little larger each time; tells what was left each time.

Run by test_disk_full.py in a mount namespace of its own: the disks are gone when it ends. Everything that a run writes
lies on the small disk: the temporary folder, the release, the holder's folder and the ledger.
"""

from __future__ import annotations

import atexit
import json
import os
import signal
import subprocess
import sys
import traceback
from collections.abc import Callable
from pathlib import Path

from tests.e2e.forking import import_everything, run_main

SECONDS = 120


def serve(root: Path, sizes: list[int]) -> None:
    """One line of JSON for each size of the disk, in KiB."""
    for size in sizes:
        disk = root / f"disk of {size}"
        disk.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}k", "tmpfs", str(disk)], check=True)
        sys.stdout.write(json.dumps({"size": size, **_published(root, disk)}) + "\n")
        sys.stdout.flush()


def _published(root: Path, disk: Path) -> dict[str, object]:
    """How one run of the command ended, and what it left on the disk."""
    said = root / "said"
    code = _in_a_child(said, lambda: _publish(root, disk))
    told = said.read_text(encoding="utf-8")
    left = sorted(path.relative_to(disk).as_posix() for path in disk.rglob("*") if not path.is_dir())
    holds = None if not (disk / "out").exists() else _in_a_child(said, lambda: _refused(disk)) == 0
    return {"code": code, "said": told, "left": left, "holds": holds}


def _in_a_child(said: Path, job: Callable[[], int]) -> int:
    """The exit code of a job in a forked process; this one never starts a thread, or a fork of it would hang."""
    child = os.fork()
    if child == 0:
        _redirect(said)
        signal.alarm(SECONDS)
        code = 99
        try:
            code = job()
        except Exception:
            traceback.print_exc()
        atexit._run_exitfuncs()  # temporary folders are removed, as when a program ends
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def _redirect(said: Path) -> None:
    handle = os.open(said, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    for stream in (1, 2):
        os.dup2(handle, stream)


def _publish(root: Path, disk: Path) -> int:
    import tempfile

    os.environ["XDG_STATE_HOME"] = str(disk / "state")
    tempfile.tempdir = str(disk / "tmp")
    (disk / "tmp").mkdir()
    words = ("publish", str(root / "recipe.yaml"), "--output", str(disk / "out"))
    return run_main(*words, "--no-report", "--no-suggest", "--engine", "reference")


def _refused(disk: Path) -> int:
    """0 if the release that stands there holds and is entered."""
    import sfumato as sf
    from sfumato.privacy.ledger import Ledger

    entered = [entry.written for entry in Ledger(disk / "state" / "sfumato" / "ledger.jsonl").entries()]
    return 0 if sf.verify(disk / "out").holds and entered == [True] else 1


if __name__ == "__main__":
    import_everything()
    serve(Path(sys.argv[1]), [int(size) for size in sys.argv[2:]])
