"""The folder that the studio works in, and one piece of work in it. All state is in plain files.

    WORK/work.json             what it is called, which table it is about, what was decided
    WORK/place.json            the screen that was looked at last
    WORK/table/people.csv      an uploaded table
    WORK/recipe.yaml           the recipe, which every screen edits
    WORK/jobs/look/            what was found out, each by a process of its own: look, clusters, feasible, ...
    WORK/trials/01/            what a run made: release/, release.holder/, recipe.yaml
    WORK/releases/NAME/        what was released, with NAME.holder beside it

Only its owner may look in. A folder can be opened again at any time.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

from sfumato.data.safe_files import FOLDER, private_folder, write_private
from sfumato.errors import SfumatoError

ID = re.compile(r"[0-9a-f]{16}")
NUMBER = re.compile(r"[0-9]{2,4}")
LONGEST_NAME = 80
MINUTE = len("2026-01-01T00:00")
RECIPE, WORK, PLACE = "recipe.yaml", "work.json", "place.json"


def usual_folder() -> Path:
    """Where the studio works unless it is told: beside the ledger."""
    state = os.environ.get("XDG_STATE_HOME")
    return (Path(state) if state else Path.home() / ".local" / "state") / "sfumato" / "studio"


@dataclass(frozen=True)
class Work:
    """One piece of work: its folder, by whose name its pages are known."""

    folder: Path

    @property
    def id(self) -> str:
        """Its name in addresses."""
        return self.folder.name

    @property
    def recipe_path(self) -> Path:
        """The recipe that every screen edits."""
        return self.folder / RECIPE

    @property
    def facts(self) -> dict[str, Any]:
        """What it is called, its table, and what was decided."""
        return read_json(self.folder / WORK) or {}

    def note(self, **facts: Any) -> None:
        """Remember these facts as well."""
        write_whole(self.folder / WORK, json.dumps({**self.facts, **facts}, indent=1, ensure_ascii=False))

    @property
    def place(self) -> str:
        """The screen that was looked at last; empty before there was any."""
        return str((read_json(self.folder / PLACE) or {}).get("screen", ""))

    @property
    def looked_at(self) -> str:
        """When it was looked at last, or begun."""
        return str((read_json(self.folder / PLACE) or {}).get("at") or self.facts.get("created"))

    def look_at(self, screen: str) -> None:
        """Remember where somebody is, to the minute; in a file of its own, so that nothing else is written over."""
        now = _now()
        if self.place != screen or self.looked_at[:MINUTE] != now[:MINUTE]:
            write_json(self.folder / PLACE, {"screen": screen, "at": now})

    @property
    def name(self) -> str:
        """What it is called."""
        return str(self.facts.get("name", "Untitled"))

    def recipe_text(self) -> str | None:
        """The recipe as it stands; None before there is one."""
        return self.recipe_path.read_text(encoding="utf-8") if self.recipe_path.is_file() else None

    def save_recipe(self, text: str) -> None:
        """Put another recipe in its place, whole."""
        write_whole(self.recipe_path, text)

    def job(self, kind: str) -> Path:
        """The folder of a job that there is one of."""
        return self.folder / "jobs" / kind

    def found(self, kind: str) -> dict[str, Any] | None:
        """What a job found out; None before it ended well."""
        path = self.job(kind) / "result.json"
        try:
            written = path.stat()
        except OSError:
            return None
        return _read_once(path, written.st_mtime_ns, written.st_size)

    @property
    def trials(self) -> list[Path]:
        """The folders of all runs, the first one first."""
        return sorted(path for path in self._folders("trials") if NUMBER.fullmatch(path.name))

    def trial(self, number: str) -> Path | None:
        """The folder of one run."""
        path = self.folder / "trials" / number
        return path if NUMBER.fullmatch(number) and path.is_dir() else None

    def next_trial(self) -> Path:
        """The folder of the run to come; numbers are never used again."""
        last = max([int(path.name) for path in self.trials], default=0)
        number = max(last, int(self.facts.get("runs", 0))) + 1
        self.note(runs=number)
        return self.folder / "trials" / f"{number:02}"

    def releases(self) -> list[Path]:
        """What was released."""
        return sorted(path for path in self._folders("releases") if (path / "certificate.json").is_file())

    def _folders(self, name: str) -> Iterator[Path]:
        above = self.folder / name
        return (path for path in above.iterdir() if path.is_dir()) if above.is_dir() else iter(())


@dataclass(frozen=True)
class Workspace:
    """The studio's folder; `beside`: the folder in which it was started, whose files may be named as tables."""

    root: Path
    beside: Path

    @classmethod
    def opened(cls, root: Path, beside: Path) -> Workspace:
        """The folder, made if it is not there, for its owner alone."""
        if root.is_symlink() or (root.exists() and not root.is_dir()):
            raise SfumatoError(
                str(root), "the studio works in a folder", given="something else", remedy="name another: --folder"
            )
        root.mkdir(parents=True, exist_ok=True, mode=FOLDER)
        root.chmod(FOLDER)
        return cls(root.resolve(), beside.resolve())

    def works(self) -> list[Work]:
        """All pieces of work, the newest first."""
        found = [Work(path) for path in self.root.iterdir() if ID.fullmatch(path.name) and (path / WORK).is_file()]
        return sorted(found, key=lambda work: str(work.facts.get("created")), reverse=True)

    def work(self, id: str) -> Work | None:
        """A piece of work by its name in addresses."""
        path = self.root / id
        return Work(path) if ID.fullmatch(id) and (path / WORK).is_file() and not path.is_symlink() else None

    def new(self, name: str) -> Work:
        """A new piece of work."""
        work = Work(self.root / secrets.token_hex(8))
        private_folder(work.folder)
        work.note(name=name[:LONGEST_NAME], created=_now())
        return work

    def last(self) -> Work | None:
        """The piece of work that was looked at last; None where there is none."""
        return max(self.works(), key=lambda work: work.looked_at, default=None)

    def remove(self, work: Work) -> None:
        """Delete a piece of work with all that is in it."""
        shutil.rmtree(work.folder)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def read_json(path: Path) -> dict[str, Any] | None:
    """A file of ours; None where there is none, or where it was cut off."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None


@lru_cache(maxsize=64)
def _read_once(path: Path, written: int, size: int) -> dict[str, Any] | None:
    """A file of ours that is never changed, only replaced. Whoever gets it changes nothing in it."""
    return read_json(path)


def write_whole(path: Path, text: str) -> None:
    """A private file that is there whole, or as it was before."""
    fresh = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    write_private(fresh, text)
    fresh.replace(path)


def write_json(path: Path, content: Mapping[str, Any]) -> None:
    """The same as JSON."""
    write_whole(path, json.dumps(content, ensure_ascii=False))
