"""A release: a verified folder, and what only the holder may see."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa

from sfumato.data.table import Origin
from sfumato.data.writing import give_back
from sfumato.errors import ReleaseError
from sfumato.maskers.masker import Mask
from sfumato.privacy.verify import Verdict
from sfumato.recipe import Recipe
from sfumato.release.bundle import write_json

HOLDER = ".holder"
NOT_PRIVATE = "NOT-PRIVATE"
REPORT = "report.html"


@dataclass(frozen=True, eq=False)
class Release:
    """What comes out of `publish`: verified, ready to be written where the recipient gets it.

    `scores` and `history` are for the holder's eyes; they are written to the holder's folder only.
    `report` is the holder's edition of the report, a page of HTML; None where none was drawn.
    """

    recipe: Recipe
    mask: Mask
    certificate: Mapping[str, Any]
    verdict: Verdict
    scores: Mapping[str, Any]
    history: Mapping[str, Any]
    holder: Mapping[str, Any]
    timings: Mapping[str, float]
    shown: pa.Table
    origin: Origin
    scratch: TemporaryDirectory[str]
    report: str | None = None

    @property
    def table(self) -> Any:
        """The masked table, as the kind of table that came in, rows in the released order."""
        return give_back(self.shown, self.origin)

    @property
    def guarantee(self) -> str:
        """What may be claimed."""
        return str(self.certificate["statement"])

    def __repr__(self) -> str:
        size = f"rows={self.shown.num_rows}, columns={self.shown.num_columns}"
        return f"Release({size}, guarantee={self.guarantee!r}, holds={self.verdict.holds})"

    def write(self, path: str | Path) -> Path:
        """Write the release folder, and the holder's folder beside it (NAME.holder).

        An earlier release there is replaced; anything else is refused. Both folders appear whole or not at all.
        A release whose noise came from a seed is not private, and its folder's name says so.
        """
        target = self._named(Path(path))
        holder = target.with_name(target.name + HOLDER)
        for folder in (target, holder):
            refuse_strangers(folder)
        try:
            _put(holder, lambda folder: self._write_holder(folder))
            _put(target, lambda folder: _copy(Path(self.scratch.name) / "release", folder))
        except OSError as error:
            raise ReleaseError(str(target), "the folder must be writable", given=error.strerror or str(error),
                               remedy="make room or choose another place; nothing is left") from error  # fmt: skip
        return target

    def _named(self, path: Path) -> Path:
        private = self.certificate.get("differential_privacy", {}).get("private", True)
        return path if private or path.name.endswith(NOT_PRIVATE) else path.with_name(f"{path.name}.{NOT_PRIVATE}")

    def _write_holder(self, folder: Path) -> None:
        folder.mkdir()
        (folder / "recipe.yaml").write_text(self.recipe.to_yaml(), encoding="utf-8")
        write_json(folder / "history.json", self.history)
        write_json(folder / "evaluation.json", self.scores)
        write_json(folder / "timings.json", self.timings)
        for name, content in self.holder.items():
            write_json(folder / name, content)
        if self.report is not None:
            (folder / REPORT).write_text(self.report, encoding="utf-8")
        (folder / "README.md").write_text(HOLDER_PAGE, encoding="utf-8")


HOLDER_PAGE = """# For the holder's eyes only

These files compare the masked table with the raw one. Never hand them over with the release.
"""


def refuse_strangers(folder: Path) -> None:
    """An output folder is new, or an earlier one of ours."""
    if not folder.exists():
        return
    ours = "certificate.json" if not folder.name.endswith(HOLDER) else "history.json"
    if not folder.is_dir() or (any(folder.iterdir()) and not (folder / ours).is_file()):
        raise ReleaseError(str(folder), "an output folder must be new, empty, or an earlier release",
                           given="something else is there", remedy="choose another name")  # fmt: skip


def _put(target: Path, make: Any) -> None:
    """Make a folder under a temporary name, then swap it in."""
    target.parent.mkdir(parents=True, exist_ok=True)
    fresh = target.with_name(f".{target.name}.{secrets.token_hex(6)}")
    try:
        make(fresh)
        if target.exists():
            old = target.with_name(f".{target.name}.{secrets.token_hex(6)}.old")
            target.replace(old)
            fresh.replace(target)
            shutil.rmtree(old)
        else:
            fresh.replace(target)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def _copy(source: Path, target: Path) -> None:
    shutil.copytree(source, target)
    for path in target.rglob("*"):
        if path.is_file():
            with path.open("rb") as file:
                os.fsync(file.fileno())
