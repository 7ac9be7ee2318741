"""Processes in which nothing should begin: forked from one whose threads were at work, or still reading their script.

Of the threads of a process a fork keeps one alone. polars starts its own when it first computes, as every release makes
it do, and a child waits for threads that it does not have. Nothing can bring them back: so that is told at once.

A process that is started anew reads the script of the one that started it: what stands there outside of
`if __name__ == "__main__":` would be done again, and a release published, and epsilon spent, a second time.
"""

from __future__ import annotations

import os
import re
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from sfumato.errors import SfumatoError

_THREAD = re.compile(r"polars-\d+\s*")
_TASKS = Path("/proc/self/task")


@dataclass
class _Threads:
    """Owns what is known of polars' threads: whether they were at work when a fork began, and were lost in one."""

    at_work: bool = False
    lost: bool = False

    def look(self) -> None:
        """Before a fork, in the parent."""
        self.at_work = self.lost or ("polars" in sys.modules and any(map(_is_polars, _tasks())))

    def forked(self) -> None:
        """After it, in the child."""
        self.lost = self.at_work


_THREADS = _Threads()


def refuse_lost_threads() -> None:
    """Refuse to begin what would never end. From the first call on forks of this process are noticed."""
    _watch()
    if _THREADS.lost:
        raise SfumatoError(
            "process",
            "polars, which counts here, does not survive a fork once it has computed, and would wait for ever",
            given="a process forked after polars had computed, as for a release",
            remedy='start processes with multiprocessing.get_context("spawn") '
            "(ProcessPoolExecutor(mp_context=...)), or use threads",
        )


def refuse_second_reading() -> None:
    """Refuse to publish while a process that was started anew reads its script."""
    processes = sys.modules.get("multiprocessing.process")  # such a process has it
    if processes is not None and getattr(processes.current_process(), "_inheriting", False):
        raise SfumatoError(
            "process",
            "each process that is started anew reads the script of the one that started it, and does what it says",
            given='a script that publishes outside of `if __name__ == "__main__":`',
            remedy='put what the script does under `if __name__ == "__main__":`; recipes may stay',
        )


@cache
def _watch() -> None:
    os.register_at_fork(before=_THREADS.look, after_in_child=_THREADS.forked)


def _tasks() -> list[Path]:
    """The threads of this process; none are known where the system does not tell."""
    return list(_TASKS.iterdir()) if _TASKS.is_dir() else []


def _is_polars(task: Path) -> bool:
    try:
        return _THREAD.fullmatch((task / "comm").read_text()) is not None
    except OSError:  # it has just ended
        return False
