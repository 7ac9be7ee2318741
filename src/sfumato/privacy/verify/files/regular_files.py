"""A stranger's folder: every name in it is looked at before it is opened, and only plain files are.

A link may lead to a device or out of the folder, a pipe waits for ever, a folder may hold millions of names. So nothing
is followed, names and sizes have limits, and a file that was exchanged after the look can neither hang nor mislead the
opening: it is opened without following and without waiting, and looked at again.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from io import BufferedReader
from pathlib import Path

from sfumato.privacy.verify.verdict import CheckError

MOST_FILES = 10_000
DEEPEST = 4  # folders within folders; a release has one
MiB = 1 << 20
CERTIFICATE = "certificate.json"
SIGNATURE = "certificate.sig"
TABLES = ("table.parquet", "table.csv")  # as large as the disk allows
MOST_OF_A_CERTIFICATE, MOST_OF_JSON, MOST_OF_A_PAGE, MOST_OF_A_KEY = 4 * MiB, 256 * MiB, 16 * MiB, MiB >> 4
MOST_OF_A_REPORT = 16 * MiB
SMALL_JSON, JSON_OF_A_ROW = 4 * MiB, 1 << 10  # what explains a table may grow with its rows
MOST_TOGETHER = 512 * MiB  # of all files but the table
FOLDER = "a folder"
_KINDS = (
    (stat.S_ISLNK, "a link"),
    (stat.S_ISDIR, FOLDER),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)
_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)


@dataclass(frozen=True)
class Contents:
    """What stands in a folder, by its name seen from there: plain files, other things and what they are, empty folders.

    `sizes` are those of the plain files, in bytes.
    """

    files: dict[str, Path] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)
    others: dict[str, str] = field(default_factory=dict)
    empty: list[str] = field(default_factory=list)


def contents(folder: Path) -> Contents:
    """Everything in a folder; nothing is opened, and links are not followed."""
    found, seen, waiting = Contents(), 0, [""]
    while waiting:
        above = waiting.pop()
        if above.count("/") > DEEPEST:
            raise CheckError(f"folders stand more than {DEEPEST} deep, and a release has one")
        before = seen
        for entry in _listed(folder / above):
            seen += 1
            if seen > MOST_FILES:
                raise CheckError(f"the folder holds more than {MOST_FILES} files, and a release a few")
            _enter(found, waiting, above + entry.name, entry)
        if above and seen == before:
            found.empty.append(above.rstrip("/"))
    opened = (size for name, size in found.sizes.items() if size <= (most_of(name) or 0))  # a larger one never is
    if sum(opened) > MOST_TOGETHER:
        raise CheckError(f"the files beside the table have more than {MOST_TOGETHER // MiB} MiB together")
    return Contents(dict(sorted(found.files.items())), found.sizes, dict(sorted(found.others.items())), found.empty)


def _listed(folder: Path) -> Iterator[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as listing:
            yield from listing
    except OSError as error:
        raise CheckError(f"the folder cannot be listed: {error.strerror}") from None


def _enter(found: Contents, waiting: list[str], name: str, entry: os.DirEntry[str]) -> None:
    looked = entry.stat(follow_symlinks=False)
    kind = kind_of(looked)
    if kind is None:
        found.files[name], found.sizes[name] = Path(entry.path), looked.st_size
    elif kind == FOLDER:
        waiting.append(f"{name}/")
    else:
        found.others[name] = kind


def kind_of(looked: os.stat_result) -> str | None:
    """What something is in words, if it is no plain file."""
    if stat.S_ISREG(looked.st_mode):
        return None
    return next((words for is_it, words in _KINDS if is_it(looked.st_mode)), "something else")


def most_of(name: str) -> int | None:
    """The most bytes that a file of a release may have, by its name; None for the table."""
    if name in TABLES:
        return None
    if name == "certificate.json":
        return MOST_OF_A_CERTIFICATE
    if name.endswith(".json"):
        return MOST_OF_JSON
    if name == "report.html":
        return MOST_OF_A_REPORT
    return MOST_OF_A_KEY if name.endswith(".sig") else MOST_OF_A_PAGE


def open_regular(path: str | Path, *, most: int | None, follow: bool = False) -> BufferedReader:
    """A plain file of at most so many bytes, opened; `follow` where the user named the path."""
    name = Path(path).name
    try:
        _refuse(name, Path(path).stat(follow_symlinks=follow), most)  # a device may not even be opened
        handle = os.open(path, _FLAGS | (0 if follow else _NO_LINK))
    except (OSError, ValueError) as error:
        raise CheckError(f"{name} cannot be opened: {getattr(error, 'strerror', None) or 'no path'}") from None
    try:
        _refuse(name, os.fstat(handle), most)
        return os.fdopen(handle, "rb")
    except CheckError:
        os.close(handle)
        raise


def _refuse(name: str, looked: os.stat_result, most: int | None) -> None:
    kind = kind_of(looked)
    if kind is not None:
        raise CheckError(f"{name} is {kind}, not a file")
    if most is not None and looked.st_size > most:
        raise CheckError(f"{name} has more than {most} bytes")


def read_regular(path: str | Path, *, most: int, follow: bool = False) -> bytes:
    """The bytes of a plain file; one that grows while it is read is refused."""
    with open_regular(path, most=most, follow=follow) as file:
        found = file.read(most + 1)
    if len(found) > most:
        raise CheckError(f"{Path(path).name} has more than {most} bytes")
    return found


def sha256_of(path: str | Path, *, most: int | None, follow: bool = False) -> str:
    """The SHA-256 of a plain file, read by pieces."""
    with open_regular(path, most=most, follow=follow) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
