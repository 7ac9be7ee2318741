"""The points of a sweep: every combination of settings, each as a recipe of its own, how they are run, what came out.

Kept of each release are how much of the structure survived, and what is risked.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import signal
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import asdict, dataclass, field, fields
from importlib.metadata import version
from itertools import product
from multiprocessing import get_context, parent_process
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import Any

from sfumato.data.safe_files import opener
from sfumato.errors import RecipeError, SfumatoError, TableError
from sfumato.events import checkpoint
from sfumato.maskers.masker import Masker
from sfumato.maskers.registry import name_of
from sfumato.recipe import Recipe
from sfumato.recipe.settings import EVERYWHERE
from sfumato.recipe.yaml_form import settings_of
from sfumato.release.release import Release

BUNDLED = "bundled:"
FLOORS = {
    "f_measure.start": ("f_measure.floor.top", "with every masked column at its top"),
    "f_measure.cold.mean": ("f_measure.floor.top", "with every masked column at its top"),
    "f_measure.nearest": ("f_measure.no_data", "from the declared domains alone"),
    "masked_error": ("commonest_error", "by always naming the most frequent class"),
}
"""What each measure of structure reaches without the masked columns: the score, and how, in words."""
RISK = "prosecutor.highest"
"""The highest chance to pick out a record: 1 over the smallest group on any of the quasi-identifiers."""
WORDS = {
    "f_measure.start": "F-measure of the clusters, found from the centres",
    "f_measure.cold.mean": "F-measure of the clusters, found without the centres",
    "f_measure.nearest": "F-measure of the clusters, each raw record at its nearest centre",
    "masked_error": "accuracy of a tree that learned from the masked table, on rows held out",
}


def load(table: str) -> object:
    """A path, or a bundled table by its name."""
    if table.startswith(BUNDLED):
        from sfumato.data.datasets import load as bundled

        return bundled(table.removeprefix(BUNDLED)).table
    return table


def fingerprint(table: str) -> str:
    """What a table is known by: of a file its content, of a bundled one its name and the version."""
    if table.startswith(BUNDLED):
        return f"{table} {version('sfumato')}"
    try:
        with Path(table).open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise TableError(
            table,
            "the table can be read",
            given=error.strerror or "nothing there",
            remedy="name the file that the recipe is for",
        ) from None


@dataclass(frozen=True, kw_only=True)
class Result:
    """What came of one setting: its figures, or why it cannot be published.

    `scores`: by their names in the release. `smallest_group`, `lifted`, `seconds`: of the release that was made.
    `guaranteed`: something may be claimed of it, so that group sizes tell its risk.
    """

    settings: Mapping[str, str]
    refused: str | None = None
    scores: Mapping[str, float] = field(default_factory=dict)
    smallest_group: int | None = None
    lifted: int | None = None
    seconds: float | None = None
    guaranteed: bool = True

    @property
    def name(self) -> str:
        """The settings in one line."""
        return ", ".join(f"{path}={value}" for path, value in self.settings.items())

    def to_json(self) -> dict[str, Any]:
        """The content of a point's file."""
        return asdict(self)

    @classmethod
    def from_json(cls, form: object) -> Result | None:
        """What a point's file says; None if it is not one of ours."""
        names = [one.name for one in fields(cls)]
        return cls(**form) if isinstance(form, dict) and sorted(form) == sorted(names) else None


def measured(release: Release, settings: Mapping[str, str]) -> Result:
    """The figures of one release."""
    scores = {name: float(score["value"]) for name, score in release.scores["scores"].items()}
    return Result(
        settings=settings,
        scores=scores,
        smallest_group=round(1 / scores[RISK]) if scores.get(RISK) else None,
        lifted=release.certificate["lifted"],
        seconds=round(sum(release.timings.values()), 3),
        guaranteed=release.recipe.mask.guarantee.claims,
    )


EVERYWHERE_SET = re.compile(r"privacy\.([a-z_]+)")
"""A setting of every requirement that has it: privacy.k, privacy.l, privacy.t, privacy.alpha."""
Over = Mapping[str, Sequence[object]]
"""Values by the path of their setting, texts, numbers or maskers: {"privacy.k": [5, 10], "mask": [sf.Partition()]}."""


@dataclass(frozen=True)
class Point:
    """One combination: the settings that were swept, the recipe as YAML, or why there is none."""

    settings: tuple[tuple[str, str], ...]
    recipe: str
    refused: str | None = None

    @property
    def name(self) -> str:
        """The settings in one line."""
        return ", ".join(f"{path}={value}" for path, value in self.settings)

    def key(self, table: str) -> str:
        """What it is known by when a sweep goes on: its recipe, the table's fingerprint, and the version."""
        whole = "\n".join([version("sfumato"), table, self.name, self.recipe])
        return hashlib.sha256(whole.encode()).hexdigest()[:20]


def parse_over(texts: Iterable[str]) -> dict[str, list[str]]:
    """Settings as they are typed.

    >>> parse_over(["privacy.k=5,10", "mask.top_down.score=tradeoff"])
    {'privacy.k': ['5', '10'], 'mask.top_down.score': ['tradeoff']}
    """
    found: dict[str, list[str]] = {}
    for text in texts:
        path, _, values = text.partition("=")
        given = [value.strip() for value in values.split(",") if value.strip()]
        if not path or not given or path in found:
            raise RecipeError(
                "--over",
                "it names a setting once, with its values",
                given=repr(text),
                remedy="write --over privacy.k=5,10,20,50",
            )
        found[path] = given
    return found


def points(recipe: Recipe, over: Over) -> list[Point]:
    """Every combination once, in the order of the values. A setting of another masker than the point's is left out."""
    if not over:
        raise RecipeError(
            "sweep",
            "a sweep goes over at least one setting",
            given="none",
            remedy="add for example --over privacy.k=5,10,20,50",
        )
    text = recipe.to_yaml()
    found: dict[tuple[tuple[str, str], ...], Point] = {}
    for values in product(*over.values()):
        settings = _fitting(recipe, dict(zip(over, map(_text, values), strict=True)))
        if settings not in found:
            found[settings] = _point(recipe, text, settings)
    _refuse_unused(recipe, over, found)
    return list(found.values())


def _refuse_unused(recipe: Recipe, over: Over, found: Iterable[tuple[tuple[str, str], ...]]) -> None:
    """A setting of a masker that no point has would change nothing."""
    used = {path for settings in found for path, _ in settings}
    for path in over:
        if path not in used:
            masker = path.split(".")[1]
            raise RecipeError(
                path,
                "it sets a masker that is used",
                given=f"a sweep in which nothing is masked by {masker} (the recipe says {name_of(recipe.mask)})",
                remedy=f"say mask: {masker} in the recipe, or add --over mask={masker}",
            )


def _text(value: object) -> str:
    """A value as it is typed: of a masker its name, and the settings that are not its usual ones.

    >>> from sfumato.maskers.partition.fit import Partition
    >>> _text(5), _text(True), _text(Partition()), _text(Partition(extent="cuts"))
    ('5', 'true', 'partition', '{partition: {"extent": "cuts"}}')
    """
    if isinstance(value, Masker):
        settings = settings_of(value)
        return f"{{{name_of(value)}: {json.dumps(settings)}}}" if settings else name_of(value)
    return value if isinstance(value, str) else json.dumps(value)


def _fitting(recipe: Recipe, settings: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    mask = settings.get("mask", name_of(recipe.mask)).strip("{ ").partition(":")[0]
    return tuple(
        (path, value) for path, value in settings.items() if not path.startswith("mask.") or path.split(".")[1] == mask
    )


def _point(recipe: Recipe, text: str, settings: tuple[tuple[str, str], ...]) -> Point:
    changes = [change for path, value in settings for change in _changes(recipe, path, value)]
    try:
        changed = Recipe.from_yaml(text, changes=changes, allow=EVERYWHERE)
    except SfumatoError as error:
        return Point(settings, "", str(error))
    return Point(settings, changed.to_yaml())


def _changes(recipe: Recipe, path: str, value: str) -> list[str]:
    """The changes of a recipe's YAML that one setting stands for."""
    if (every := EVERYWHERE_SET.fullmatch(path)) is not None:
        return [f"privacy.{at}.{every[1]}={value}" for at in _having(recipe, every[1])]
    if path == "mask":
        whole = value if value.startswith("{") else f"{{{value}: {{}}}}"
        return [] if value == name_of(recipe.mask) else [f"mask={whole}"]
    return [f"{path}={value}"]


def _having(recipe: Recipe, setting: str) -> list[int]:
    """The places of the requirements that have a setting."""
    found = [at for at, need in enumerate(recipe.privacy) if setting in need.claim()]
    if not found:
        numbers = (
            name for need in recipe.privacy for name, given in need.claim().items() if isinstance(given, int | float)
        )
        known = ", ".join(f"privacy.{name}" for name in dict.fromkeys(numbers))
        raise RecipeError(
            f"privacy.{setting}",
            f"it sets {setting} of all requirements that have one",
            given="a recipe where none has",
            remedy=f"sweep one of: {known}" if known else "add a requirement to the recipe",
        )
    return found


def refuse_budget(recipe: Recipe, found: Iterable[Point], *, public: bool) -> None:
    """Differential privacy: every point would spend budget, and choosing by what was kept would look at the data."""
    swept = (Recipe.from_yaml(point.recipe, allow=EVERYWHERE) for point in found if not point.refused)
    private = any(one.mask.guarantee.spends for one in (recipe, *swept))
    if private and not public:
        raise RecipeError(
            "sweep",
            "a budget of differential privacy is not swept on private data: every point would spend it, and "
            "to choose among them by what they keep would tell of the data beyond it",
            given="a recipe with a budget",
            remedy="sweep a public or generated table of the same kind with --public, then publish yours once",
        )


# Running the points of a sweep side by side, each in a process of its own; what is finished stays finished.
POINTS = "points"
POLL = 0.2
"""Seconds between two times that it is asked whether to go on."""
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
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
    spawned, count = get_context("spawn"), min(workers, len(waiting))
    over = spawned.Event()
    pool = ProcessPoolExecutor(count, mp_context=spawned, initializer=_alone, initargs=(over,))
    try:
        running: dict[Future[Result], Point] = {pool.submit(run_point, point, table): point for point in waiting}
        left = set(running)
        while left:
            checkpoint()
            done, left = wait(left, timeout=POLL, return_when=FIRST_COMPLETED)
            for one in done:
                yield running[one], one.result()
    except BrokenProcessPool:
        over.set()
        raise SfumatoError(
            "sweep",
            "settings are tried in processes that are started anew, and read the script that calls it",
            given="one that ended without an answer",
            remedy='in a script, put what it does under `if __name__ == "__main__":`; else see whether memory ran out',
        ) from None
    except BaseException:
        over.set()
        raise
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _alone(over: Event) -> None:
    """One thread for each process; an end when the process that started it says so, or is gone however it ended.

    Ctrl-C reaches every process of a terminal, as a signal to end may, and is for the one that started the others.
    """
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_IGN)
    for name in THREADS:
        os.environ.setdefault(name, "1")
    parent = parent_process()

    def follow() -> None:
        while parent is not None and parent.is_alive() and not over.wait(POLL):
            pass
        if parent is not None:
            os._exit(1)

    threading.Thread(target=follow, daemon=True).start()


def run_point(point: Point, table: str) -> Result:
    """Publish with a point's recipe, write nothing, and tell what was kept and what is risked."""
    from sfumato.publishing import Run, publish
    from sfumato.recipe import Recipe
    from sfumato.recipe.settings import EVERYWHERE

    recipe = Recipe.from_yaml(point.recipe, allow=EVERYWHERE)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what is said of one point is no news of the others
        try:
            release = publish(load(table), recipe, run=Run(report=False, trial=True))
        except SfumatoError as error:
            return refusal(point, str(error))
    return measured(release, dict(point.settings))


def refusal(point: Point, why: str) -> Result:
    """A point that cannot be published, with the reason."""
    return Result(settings=dict(point.settings), refused=why)


def _keep(path: Path, result: Result) -> Result:
    """Write a result so that it is there whole or not at all."""
    fresh = path.with_suffix(f".{os.getpid()}.tmp")
    with open(fresh, "w", encoding="utf-8", opener=opener) as file:
        json.dump(result.to_json(), file, indent=1)
        file.flush()
        os.fsync(file.fileno())
    fresh.replace(path)
    return result


def _read(path: Path) -> Result | None:
    try:
        return Result.from_json(json.loads(path.read_text(encoding="utf-8")))
    except (FileNotFoundError, json.JSONDecodeError, UnicodeDecodeError):
        return None
