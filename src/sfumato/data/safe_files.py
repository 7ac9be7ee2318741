"""Files read and written with care: those that strangers wrote, and those that are for the holder alone.

`Progress` and `Watched` tell how much of a file was read, as it goes on.
"""

from __future__ import annotations

import io
import json
import os
import shutil
import stat
from collections.abc import Callable, Iterable
from contextvars import copy_context
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sfumato.errors import RecipeError, SfumatoError
from sfumato.events import checkpoint, watched

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer


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
        raise kind(
            what,
            f"the file has at most {most // 2**20} MiB",
            given=f"{path}, which is larger",
            remedy="leave out what is not needed",
        )
    return content


def read_text(path: Path, *, what: str, most: int, kind: type[SfumatoError] = RecipeError) -> str:
    """The same as text."""
    try:
        return read_bytes(path, what=what, most=most, kind=kind).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise kind(
            what,
            "the file must be UTF-8 text",
            given=f"{path}, another encoding at byte {error.start}",
            remedy="save it as UTF-8",
        ) from None


# Files for the holder's eyes: from their first byte on nobody else may read them, whatever the umask says.
FOLDER, FILE = 0o700, 0o600


def private_folder(path: Path) -> None:
    """A new folder for its owner alone; those above it are made as usual."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.mkdir(mode=FOLDER)
    path.chmod(FOLDER)  # a umask can only have taken more away


def opener(path: str | os.PathLike[str], flags: int) -> int:
    """For `open(..., opener=opener)`: the file is its owner's alone, also where one of that name was there."""
    handle = os.open(path, flags | os.O_CLOEXEC, FILE)
    os.fchmod(handle, FILE)
    return handle


def write_private(path: Path, text: str) -> None:
    """A text, in UTF-8."""
    with open(path, "w", encoding="utf-8", opener=opener) as file:
        file.write(text)


AT_ONCE = 10_000
"""Entries of a list or mapping that are written at once."""


def written(content: Any) -> str:
    """What `json.dumps` makes of it with an indent of one, in a fifth of the time: lists and mappings of plain values,
    which most of it is, are written by the compiled encoder.

    >>> written({"a": [1, {}], "b": {"c": None}}) == json.dumps({"a": [1, {}], "b": {"c": None}}, indent=1)
    True
    """
    return _text(content, "\n", {})


def _text(content: Any, line: str, known: dict[tuple[int, str], str]) -> str:
    """`line`: a line end, and the spaces with which the lines of this content begin. `known`: the texts of plain lists,
    of which some may stand in many places."""
    key = (id(content), line)
    if key in known:
        return known[key]
    inner = line + " "
    encode = _encoder(inner)
    if not isinstance(content, dict | list | tuple) or not content:
        return encode(content)
    if len(content) <= AT_ONCE and not any(isinstance(one, dict | list | tuple) for one in _values(content)):
        text = encode(content)
        known[key] = f"{text[0]}{inner}{text[1:-1]}{line}{text[-1]}"
        return known[key]
    checkpoint()
    if isinstance(content, dict):
        parts = [f"{encode(str(key))}: {_text(value, inner, known)}" for key, value in content.items()]
        return f"{{{inner}{f',{inner}'.join(parts)}{line}}}"
    some = (content[at : at + AT_ONCE] for at in range(0, len(content), AT_ONCE))
    parts = [_text(value, inner, known) for values in watched(some) for value in values]
    return f"[{inner}{f',{inner}'.join(parts)}{line}]"


DEEP = 4
"""Lists and mappings in each other whose entries have lines of their own in a file for the holder."""


def lined(content: Any, *, deep: int = DEEP) -> str:
    """JSON for the holder's folder, where a tree has tens of thousands of nodes: down to some depth an entry has a line
    of its own, and what is below it stands in that line. A tenth of the time of `written`, and half as long.

    >>> print(lined({"a": [1, {}], "b": {"c": None}}, deep=1))
    {
    "a": [1, {}],
    "b": {"c": null}
    }
    """
    encode = _encoder(" ")
    if deep == 0 or not content or not isinstance(content, dict | list | tuple):
        return encode(content)
    checkpoint()
    if isinstance(content, dict):
        parts = [f"{encode(str(key))}: {lined(value, deep=deep - 1)}" for key, value in content.items()]
        return "{\n" + ",\n".join(parts) + "\n}"
    if len(content) > AT_ONCE or any(isinstance(one, dict | list | tuple) for one in content):
        some = (content[at : at + AT_ONCE] for at in range(0, len(content), AT_ONCE))
        parts = [lined(value, deep=deep - 1) for values in watched(some) for value in values]
        return "[\n" + ",\n".join(parts) + "\n]"
    return encode(content)


def _values(content: Any) -> Iterable[Any]:
    return content.values() if isinstance(content, dict) else content


@cache
def _encoder(inner: str) -> Callable[[Any], str]:
    return json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=("," + inner, ": ")).encode


def write_private_json(path: Path, content: Any) -> None:
    """Plain JSON, readable, numbers exact; a folder in its name is made as private."""
    if not path.parent.is_dir():
        private_folder(path.parent)
    write_private(path, written(content) + "\n")


class InLines(dict[str, Any]):
    """A mapping so large that it is written in lines, one for each entry; whoever reads it looks at no form."""


def write_kept(path: Path, content: Any) -> None:
    """What the holder keeps of a mask, as JSON; a folder in its name is made as private."""
    if not path.parent.is_dir():
        private_folder(path.parent)
    write_private(path, (lined(content) if isinstance(content, InLines) else written(content)) + "\n")


def copy_private(written: Path, path: Path) -> None:
    """A file as it is; a folder in its name is made as private."""
    if not path.parent.is_dir():
        private_folder(path.parent)
    with written.open("rb") as source, open(path, "wb", opener=opener) as file:
        shutil.copyfileobj(source, file)


class Progress:
    """Owns how much of a source was read, in rows or bytes; `total` is 0 where that is not known.

    `rows`: how many rows that were, for sources that tell how fast they are read.
    """

    def __init__(self, total: int = 0) -> None:
        self.total, self.rows, self._done = total, 0, 0

    def advance(self, steps: int) -> None:
        """So much more is read."""
        self._done += steps
        checkpoint(self._done / self.total if self.total else None, rows=self.rows)


class Watched(io.RawIOBase):
    """A file that tells how much of it was read, from whatever thread it is read in."""

    def __init__(self, file: io.BufferedReader, progress: Progress) -> None:
        self._file, self._progress, self._context = file, progress, copy_context()

    def readable(self) -> bool:
        """Always."""
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        """Fill the buffer from the file."""
        count = self._file.readinto(buffer)
        self._context.run(self._progress.advance, count)
        return count
