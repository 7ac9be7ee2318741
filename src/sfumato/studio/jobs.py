"""Jobs: each in a process of its own, as many at once as there are cores, the others in line.

A job is a folder with `job.json` (what, and how it stands), `events.jsonl` (what it told) and `result.json` (what it
found). So any tab can follow it, and a server that is started again finds it. A job that is ended leaves nothing.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sfumato.data.safe_files import private_folder
from sfumato.studio.workspace import Work, read_json, write_json

JOB, EVENTS, SCRATCH = "job.json", "events.jsonl", "scratch"
GRACE = 1.0
"""Seconds that a process has to end by itself."""
UNDER_WAY = ("waiting", "running")
MASKING = "Masking"
"""The step that searches."""


@dataclass(frozen=True)
class Job:
    """A job's folder, and how it stands: waiting, running, done, failed, cancelled or interrupted.

    `secret`: a passphrase, which goes to its process and into no file.
    """

    folder: Path
    secret: str = field(default="", repr=False)

    @property
    def form(self) -> dict[str, Any]:
        """What it is, and how it stands."""
        return read_json(self.folder / JOB) or {}

    @property
    def state(self) -> str:
        """How it stands; "none" where there was never one."""
        return str(self.form.get("state", "none"))

    @property
    def under_way(self) -> bool:
        """Whether it goes on."""
        return self.state in UNDER_WAY

    @property
    def masking(self) -> bool:
        """Whether its search goes on, which can be ended early."""
        return any(one["name"] == MASKING and one["seconds"] is None for one in self.steps())

    @property
    def error(self) -> dict[str, str] | None:
        """What went wrong: thing, rule, given, remedy."""
        found = self.form.get("error")
        return found if isinstance(found, dict) else None

    def set(self, **facts: Any) -> None:
        """Note how it stands."""
        write_json(self.folder / JOB, {**self.form, **facts})

    def events(self, since: int = 0) -> list[dict[str, Any]]:
        """What it told, from one line on; a line that is still being written is left for later."""
        try:
            lines = (self.folder / EVENTS).read_text(encoding="utf-8").splitlines(keepends=True)
        except OSError:
            return []
        return [json.loads(line) for line in lines[since:] if line.endswith("\n")]

    def steps(self) -> list[dict[str, Any]]:
        """The steps so far: name, share done, seconds if it ended."""
        found: dict[str, dict[str, Any]] = {}
        for event in self.events():
            one = found.setdefault(event["step"], {"name": event["step"], "done": 0.0, "seconds": None})
            one["done"] = 1.0 if "seconds" in event else event.get("done", one["done"])
            one["seconds"] = event.get("seconds", one["seconds"])
        return list(found.values())


@dataclass
class Jobs:
    """Owns the processes under way and the line of those that wait."""

    at_once: int = field(default_factory=lambda: max(1, os.cpu_count() or 1))
    running: dict[Path, subprocess.Popen[bytes]] = field(default_factory=dict)
    waiting: dict[Path, str] = field(default_factory=dict, repr=False)
    lock: threading.RLock = field(default_factory=threading.RLock)

    def start(self, folder: Path, kind: str, arguments: Mapping[str, Any], *, secret: str = "") -> Job:
        """Begin a job in this folder, or put it in line. One that goes on there is ended first."""
        self.cancel(folder)
        shutil.rmtree(folder, ignore_errors=True)
        if not folder.parent.is_dir():
            private_folder(folder.parent)
        private_folder(folder)
        job = Job(folder)
        job.set(kind=kind, state="waiting", **arguments)
        with self.lock:
            self.waiting[folder] = secret
        self._advance()
        return job

    def cancel(self, folder: Path) -> None:
        """End a job: its process is gone when this returns, and so is what it had written."""
        with self.lock:
            self.waiting.pop(folder, None)
            process = self.running.pop(folder, None)
        if process is not None:
            end(process)
        job = Job(folder)
        if job.under_way:
            _clear(folder)
            job.set(state="cancelled")
        self._advance()

    def ahead(self, folder: Path) -> int:
        """How many wait in line before a job."""
        with self.lock:
            line = list(self.waiting)
        return line.index(folder) if folder in line else 0

    def settle(self, folder: Path) -> None:
        """Ask a job that is masking to go on with what it has found so far."""
        with self.lock:
            process = self.running.get(folder)
        if process is not None and Job(folder).masking:
            process.send_signal(signal.SIGUSR1)

    def cancel_all(self, work: Work | None = None) -> None:
        """End every job; of one piece of work if it is named."""
        with self.lock:
            folders = [*self.waiting, *self.running]
        for folder in folders:
            if work is None or work.folder in folder.parents:
                self.cancel(folder)

    def mend(self, works: list[Work]) -> None:
        """After a start: jobs that went on when the server ended were interrupted, and leave nothing."""
        for work in works:
            for path in [*work.folder.glob(f"jobs/*/{JOB}"), *work.folder.glob(f"trials/*/{JOB}")]:
                job = Job(path.parent)
                if job.under_way and path.parent not in self.running:
                    _clear(path.parent)
                    job.set(state="interrupted")

    def _advance(self) -> None:
        """Begin those whose turn it is."""
        with self.lock:
            while self.waiting and len(self.running) < self.at_once:
                folder = next(iter(self.waiting))
                secret = self.waiting.pop(folder)
                Job(folder).set(state="running")
                process = _spawn(folder, secret)
                self.running[folder] = process
                threading.Thread(target=self._await, args=(folder, process), daemon=True).start()

    def _await(self, folder: Path, process: subprocess.Popen[bytes]) -> None:
        process.wait()
        with self.lock:
            mine = self.running.get(folder) is process
            if mine:
                del self.running[folder]
        if mine:
            job = Job(folder)
            shutil.rmtree(folder / SCRATCH, ignore_errors=True)
            if job.under_way:  # it ended without a word: killed, or out of memory
                _clear(folder)
                job.set(state="failed", error=GONE)
        self._advance()


GONE = {
    "thing": "the run",
    "rule": "a run ends by itself",
    "given": "its process is gone, perhaps for want of memory",
    "remedy": "free memory, or take a sample of the table",
}


def _spawn(folder: Path, secret: str) -> subprocess.Popen[bytes]:
    """A process in a group of its own. It ends when its input does, which is when the server is gone."""
    scratch = folder / SCRATCH
    private_folder(scratch)
    process = subprocess.Popen(
        [sys.executable, "-m", "sfumato.studio.child", str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "TMPDIR": str(scratch), "PYTHONWARNINGS": "default"},
        start_new_session=True,
    )
    if process.stdin is not None:
        process.stdin.write(json.dumps(secret).encode() + b"\n")
        process.stdin.flush()
    return process


def end(process: subprocess.Popen[bytes]) -> None:
    """The process and those that it started, gone; it leaves no locks behind that the system would not lift."""
    for sent in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, sent)
        except ProcessLookupError:
            break
        try:
            process.wait(GRACE)
        except subprocess.TimeoutExpired:
            continue
        break
    if process.stdin is not None:
        process.stdin.close()


def _clear(folder: Path) -> None:
    """Everything that a job wrote, but for what it was and what it told."""
    for path in folder.iterdir():
        if path.name not in (JOB, EVENTS):
            shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink(missing_ok=True)
