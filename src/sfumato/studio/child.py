"""What runs in a job's process: the task that `job.json` names, told step by step, ended by a signal.

Another signal asks its search to settle for what it has found.

When its input ends, the server is gone, and so is it. No message of an unforeseen error goes on: it may quote a cell.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
import threading
import time
import traceback
import warnings
from pathlib import Path
from typing import Any

from sfumato.errors import SfumatoError, Stopped
from sfumato.events import Began, Ended, Event, Listener, Stop, running
from sfumato.studio.jobs import EVENTS, SCRATCH, Job
from sfumato.studio.workspace import write_json

GRACE = 1.0
NICE = 10
"""Pages come first where cores are few."""


def main(folder: Path) -> None:
    """Run the job in this folder."""
    os.umask(0o077)
    os.nice(NICE)
    job, stop = Job(folder, str(json.loads(sys.stdin.buffer.readline() or b'""'))), Stop()
    signal.signal(signal.SIGTERM, lambda number, frame: stop.ask())
    signal.signal(signal.SIGUSR1, lambda number, frame: stop.settle())
    threading.Thread(target=_end_with_input, args=(stop,), daemon=True).start()
    with (folder / EVENTS).open("a", encoding="utf-8") as file:
        try:
            result, told = _run(job, _teller(file), stop)
        except Stopped:
            job.set(state="cancelled")
        except SfumatoError as error:
            job.set(state="failed", error=_form(error))
        except Exception as error:
            job.set(state="failed", error=_unforeseen(error))
        else:
            write_json(folder / "result.json", {**result, "warnings": told})
            job.set(state="done")
    shutil.rmtree(folder / SCRATCH, ignore_errors=True)
    os._exit(0)  # threads that were left alone end here


def _run(job: Job, listener: Listener, stop: Stop) -> tuple[dict[str, Any], list[str]]:
    """What the task found, and what it warned of."""
    from sfumato.studio.tasks import TASKS

    with warnings.catch_warnings(record=True) as told, running(listener, stop):
        warnings.simplefilter("default")
        found = TASKS[job.form["kind"]](job)
    return found, list(dict.fromkeys(str(one.message) for one in told if issubclass(one.category, UserWarning)))


def _teller(file: Any) -> Listener:
    """Events as lines of a file."""

    def tell(event: Event) -> None:
        if isinstance(event, Began):
            line: dict[str, Any] = {"step": event.step}
        elif isinstance(event, Ended):
            line = {"step": event.step, "seconds": event.seconds}
        else:
            line = {"step": event.step, "done": round(event.done, 3)}
        file.write(json.dumps(line) + "\n")
        file.flush()

    return tell


def _form(error: SfumatoError) -> dict[str, str]:
    return {"thing": error.thing, "rule": error.rule, "given": error.given, "remedy": error.remedy}


def _unforeseen(error: Exception) -> dict[str, str]:
    """Where it happened and what kind it is; its message may quote a cell."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "sfumato" in frame.filename]
    place = f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else "outside"
    return {
        "thing": "the studio",
        "rule": "this should not happen",
        "given": f"{type(error).__name__} at {place}",
        "remedy": "report it with these words; they hold nothing of your table",
    }


def _end_with_input(stop: Stop) -> None:
    sys.stdin.buffer.read()
    stop.ask()
    time.sleep(GRACE)
    os._exit(1)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
