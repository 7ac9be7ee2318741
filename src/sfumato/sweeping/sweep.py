"""Sweep: publish one table under many settings, side by side, and say which one to take."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from sfumato.data.private_files import private_folder, write_private
from sfumato.errors import ReleaseError
from sfumato.recipe import Recipe
from sfumato.sweeping.frontier import Frontier, advice, frontier
from sfumato.sweeping.grid import Over, points, refuse_budget
from sfumato.sweeping.measuring import fingerprint
from sfumato.sweeping.page import csv_text, html
from sfumato.sweeping.running import POINTS, cores, run_points

Tell = Callable[[int, int], None]
PAGE, TABLE = "sweep.html", "sweep.csv"


@dataclass(frozen=True)
class Sweep:
    """What came out: the result of every setting, the frontier, one sentence of advice, and where it was written.

    All of it was measured against the raw table: for the holder's eyes.
    """

    results: Sequence[Mapping[str, Any]]
    frontier: Frontier
    folder: Path

    @property
    def advice(self) -> str:
        """One sentence that names a setting."""
        return advice(self.frontier)


def sweep(
    table: object,
    recipe: Recipe,
    over: Over,
    output: str | Path,
    *,
    kept: str | None = None,
    workers: int | None = None,
    public: bool = False,
    tell: Tell = lambda done, total: None,
) -> Sweep:
    """Run every combination of `over` on the cores, and write sweep.html and sweep.csv.

    `table`: a path, "bundled:NAME", or a data frame. `over`: values by the path of their setting; "privacy.k" sets k of
    all requirements. `kept`: the score to go by. `public`: the table is nobody's secret, so that a budget of
    differential privacy may be swept. A sweep that was interrupted goes on where it stopped.

    Processes are started anew, so a script that calls this does so under `if __name__ == "__main__":`.
    """
    found = points(recipe, over)
    refuse_budget(recipe, found, public=public)
    folder = _folder(Path(output))
    done = [0]

    def finished() -> None:
        done[0] += 1
        tell(done[0], len(found))

    with ExitStack() as stack:
        path = table if isinstance(table, str) else _written(table, stack)
        tell(0, len(found))
        results = run_points(found, path, folder, fingerprint=fingerprint(path), workers=workers or cores(),
                             finished=finished)  # fmt: skip
    best = frontier(results, kept=kept)
    write_private(folder / TABLE, csv_text(results, best))
    write_private(folder / PAGE, html(results, best))
    return Sweep(results, best, folder)


def _folder(output: Path) -> Path:
    """A new folder, or that of an earlier sweep, that can be written; others may not look into it."""
    try:
        if output.exists() and (not output.is_dir() or (any(output.iterdir()) and not (output / POINTS).is_dir())):
            raise ReleaseError(str(output), "an output folder is new, empty, or that of an earlier sweep",
                               given="something else is there", remedy="choose another name")  # fmt: skip
        for folder in (output, output / POINTS):
            if not folder.is_dir():
                private_folder(folder)
        write_private(output / POINTS / ".trial", "")
        (output / POINTS / ".trial").unlink()
    except OSError as error:
        raise ReleaseError(str(output), "the output folder must be writable", given=error.strerror or str(error),
                           remedy="make room or choose another place; nothing was read yet") from None  # fmt: skip
    return output


def _written(table: object, stack: ExitStack) -> str:
    """A path as it is; a table in memory in a file that the other processes can read, gone at the end."""
    if isinstance(table, Path):
        return str(table)
    import pyarrow.parquet as pq

    from sfumato.data.reading import read_arrow

    folder = stack.enter_context(TemporaryDirectory(prefix="sfumato-"))
    path = Path(folder) / "table.parquet"
    pq.write_table(read_arrow(table), path)
    return str(path)
