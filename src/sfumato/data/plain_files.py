"""Small files that somebody else may have written: regular files only, no larger than a limit, in UTF-8."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from sfumato.errors import RecipeError, SfumatoError


def is_regular(path: Path) -> bool:
    """Whether a path leads to a file that can be read to its end: no folder, device, pipe or socket."""
    try:
        return stat.S_ISREG(path.stat().st_mode)
    except (OSError, ValueError):
        return False


def read_bytes(path: Path, *, what: str, most: int, kind: type[SfumatoError] = RecipeError) -> bytes:
    """The content of a file, refused before it is read if it is no regular file or a larger one.

    It is opened without waiting: a pipe that nobody writes to would hang us before we could look at it.
    """
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
    except FileNotFoundError:
        raise kind(what, "the file must exist", given=str(path), remedy="check the path") from None
    except (OSError, ValueError) as error:
        given = getattr(error, "strerror", None) or "a path that names nothing"
        raise kind(what, "the file must be readable", given=f"{path}: {given}", remedy="check the path") from None
    with os.fdopen(handle, "rb") as file:
        mode = os.fstat(handle).st_mode
        if stat.S_ISDIR(mode):
            raise kind(what, "it must be a file", given=f"the folder {path}", remedy="name a file in it")
        if not stat.S_ISREG(mode):
            raise kind(what, "it must be a regular file", given=f"{path}, a device or a pipe", remedy="name a file")
        content = file.read(most + 1)
    if len(content) > most:
        raise kind(what, f"the file has at most {most // 2**20} MiB", given=f"{path}, which is larger",
                   remedy="leave out what is not needed")  # fmt: skip
    return content


def read_text(path: Path, *, what: str, most: int, kind: type[SfumatoError] = RecipeError) -> str:
    """The same as text."""
    try:
        return read_bytes(path, what=what, most=most, kind=kind).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise kind(what, "the file must be UTF-8 text", given=f"{path}, another encoding at byte {error.start}",
                   remedy="save it as UTF-8") from None  # fmt: skip
