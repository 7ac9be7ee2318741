"""Running the points of a sweep side by side, each in a process of its own; what is finished stays finished."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from multiprocessing import get_context, parent_process
from pathlib import Path
from typing import Any

from sfumato.data.private_files import opener
from sfumato.errors import SfumatoError
from sfumato.sweeping.grid import Point

POINTS = "points"
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
Result = Mapping[str, Any]
Finished = Callable[[], None]


def cores() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def run_points(
    found: Sequence[Point], table: str, folder: Path, *, fingerprint: str, workers: int, finished: Finished
) -> list[Result]:
    """Results in the order of the points. Those that lie in the folder from an earlier run are not made again."""
    files = {point: folder / POINTS / f"{point.key(fingerprint)}.json" for point in found}
    ready = {point: result for point, path in files.items() if (result := _read(path)) is not None}
    for point in found:
        if point.refused is not None and point not in ready:
            ready[point] = _keep(files[point], refusal(point, point.refused))
    for _ in ready:
        finished()
    for point, result in _side_by_side([p for p in found if p not in ready], table, workers):
        ready[point] = _keep(files[point], result)
        finished()
    return [ready[point] for point in found]


def _side_by_side(waiting: Sequence[Point], table: str, workers: int) -> Iterator[tuple[Point, Result]]:
    if not waiting:
        return
    pool = ProcessPoolExecutor(min(workers, len(waiting)), mp_context=get_context("spawn"), initializer=_alone)
    try:
        running: dict[Future[Result], Point] = {pool.submit(run_point, point, table): point for point in waiting}
        for done in as_completed(running):
            yield running[done], done.result()
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _alone() -> None:
    """One thread for each process, and an end when the process that started it is gone, however it ended."""
    for name in THREADS:
        os.environ.setdefault(name, "1")
    parent = parent_process()

    def follow() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=follow, daemon=True).start()


def run_point(point: Point, table: str) -> Result:
    """Publish with a point's recipe, write nothing, and tell what was kept and what is risked."""
    from sfumato.publishing import Run, publish
    from sfumato.recipe import Recipe
    from sfumato.recipe.paths import EVERYWHERE
    from sfumato.sweeping.measuring import load, measured

    recipe = Recipe.from_yaml(point.recipe, allow=EVERYWHERE)
    try:
        release = publish(load(table), recipe, run=Run(report=False, progress=False, trial=True))
    except SfumatoError as error:
        return refusal(point, str(error))
    return {"settings": dict(point.settings), "refused": None, **measured(release)}


def refusal(point: Point, why: str) -> Result:
    """A point that cannot be published, with the reason."""
    return {"settings": dict(point.settings), "refused": why}


def _keep(path: Path, result: Result) -> Result:
    """Write a result so that it is there whole or not at all."""
    fresh = path.with_suffix(f".{os.getpid()}.tmp")
    with open(fresh, "w", encoding="utf-8", opener=opener) as file:
        json.dump(result, file, indent=1)
        file.flush()
        os.fsync(file.fileno())
    fresh.replace(path)
    return result


def _read(path: Path) -> Result | None:
    try:
        found: Result = json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, json.JSONDecodeError, UnicodeDecodeError):
        return None
    return found if "settings" in found else None
