"""Which files a recipe may name: those in its own folder, and where its user says so.

A recipe may come from a stranger. What it names is read on the user's machine, so a path inside it leads, links
followed, into the recipe's folder or into one that the user allows, and to a regular file.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from sfumato.data.plain_files import is_regular
from sfumato.errors import RecipeError

EVERYWHERE = (Path("/"),)
"""For recipes that are our own: those in a holder's folder, and those that were read before."""
MOST_LONG = 4_000


@dataclass(frozen=True)
class Within:
    """Where a recipe's relative paths begin, and where else they may lead."""

    folder: Path
    allowed: tuple[Path, ...] = ()

    @classmethod
    def of(cls, folder: Path, allow: Iterable[str | Path] = ()) -> Within:
        """The folder of a recipe, with what its user allows besides."""
        return cls(folder, tuple(Path(path) for path in allow))

    def path(self, what: str, given: str) -> Path:
        """A path that the recipe names; refused where it leads elsewhere."""
        if not given or len(given) > MOST_LONG or any(ord(mark) < 32 for mark in given):
            raise RecipeError(what, "a path is a text in one line", given=f"one of {len(given)} characters",
                              remedy="name a file in the recipe's folder")  # fmt: skip
        named = self.folder / given
        try:
            target = named.resolve()
            inside = any(target.is_relative_to(root.resolve()) for root in (self.folder, *self.allowed))
        except (OSError, RuntimeError):  # links that lead to each other, names that are too long
            inside = False
        if not inside:
            raise RecipeError(what, "a recipe names files of its own folder, links followed", given=str(named),
                              remedy=f"move it there; or, if you trust the recipe, {_remedy(what)}")  # fmt: skip
        return named

    def file(self, what: str, given: str) -> Path:
        """A path of a file that is there: no folder, device or pipe."""
        found = self.path(what, given)
        if not is_regular(found):
            given = "something that is no regular file" if found.exists() else "no such file"
            raise RecipeError(what, "the file must exist", given=f"{found}: {given}",
                              remedy="check the name; a relative one starts at the recipe's folder")  # fmt: skip
        return found


def _remedy(what: str) -> str:
    table = "name the table yourself with --table FILE, or " if what == "table" else ""
    return f"{table}allow the folder with --allow FOLDER (in Python from_yaml(..., allow=[FOLDER]))"
