"""The ledger as a file: lines that only grow, each with the hash of the one before it.

A line is one JSON object and ends in a newline; its "previous" is the SHA-256 of the line before it, without the
newline. It counts once its newline is there: a last line without one is a write that was interrupted before anybody
was told that it succeeded, and the next write takes its place. Anything else that is broken is refused.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import platform
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sfumato.errors import ReleaseError

RESTORE = "restore the ledger from a good copy; what it held stays spent and released"


class LedgerError(ReleaseError):
    """The ledger cannot be written, or is not what was written."""


def unwritable(path: Path, error: OSError) -> LedgerError:
    """The ledger, its key or its lock cannot be written; a full disk among the reasons."""
    return LedgerError(
        str(path),
        "the ledger must be writable: nothing is spent or released that is not entered",
        given=error.strerror or type(error).__name__,
        remedy="make room there, or set XDG_STATE_HOME to a folder of yours",
    )


def lost_key(path: Path, given: str) -> LedgerError:
    """The ledger cannot go on: it would know none of its tables again."""
    return LedgerError(
        str(path),
        "the ledger knows tables by the key that it was begun with",
        given=given,
        remedy="restore the key from a good copy; to begin anew, move the ledger away as well and count what it held "
        "as spent and released",
    )


def held_elsewhere(path: Path, seconds: float) -> LedgerError:
    """Another run has the ledger's lock and does not give it back."""
    return LedgerError(
        str(path),
        "one run at a time writes into the ledger",
        given=f"a lock that another run holds for more than {seconds:g} seconds",
        remedy="wait for that run; if it is over, on this machine or another one, delete the lock",
    )


# One writer at a time, on this machine and on others that see the same folder.
# Two locks are taken. The system's own (flock) is given back when its process dies; but over a network it may be
# unknown, or hold on one machine only and not say so. So a second one lies beside the ledger: a symbolic link, which a
# file system makes at once and for one of several askers, and which says in its target who made it. A run that is
# killed leaves that one behind. Whoever has the system's lock takes it over if it was made on this machine under the
# system's lock: its maker would still hold that if it lived. What another machine left stays until somebody deletes it.
WAIT = 30.0
"""Seconds to wait for a lock that is in the way; a writer needs some thousandths of one."""
PAUSE = 0.02
NO_LINKS = (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS)


@contextmanager
def alone(path: Path) -> Iterator[None]:
    """Hold both locks of the ledger at `path`, which is made if there is none."""
    import fcntl

    try:
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise unwritable(path, error) from None
    try:
        try:
            fcntl.flock(file, fcntl.LOCK_EX)
            locked = True
        except OSError:  # a file system without such locks
            locked = False
        mark = path.with_suffix(".lock")
        marked = _take(mark, locked=locked)
        try:
            yield
        finally:
            if marked:
                with suppress(OSError):  # the next run here takes it over
                    mark.unlink()
    finally:
        os.close(file)


def _take(mark: Path, *, locked: bool) -> bool:
    """Make the mark as soon as nobody else has it. False where the file system knows no links and flock must do."""
    ends = time.monotonic() + WAIT
    while True:
        try:
            mark.symlink_to(f"{machine()} {'locked' if locked else 'unlocked'} {os.getpid()}")
        except FileExistsError:
            if locked and _made_here(mark):
                with suppress(FileNotFoundError):
                    mark.unlink()
            elif time.monotonic() > ends:
                raise held_elsewhere(mark, WAIT) from None
            else:
                time.sleep(PAUSE)
        except OSError as error:
            if locked and error.errno in NO_LINKS:
                return False
            raise unwritable(mark, error) from None
        else:
            return True


def _made_here(mark: Path) -> bool:
    """Whether a process of this machine made the mark, which had the system's lock then and cannot have it now."""
    try:
        return str(mark.readlink()).startswith(f"{machine()} locked ")
    except OSError:
        return False


def machine() -> str:
    """What tells this machine, since it was started, from every other."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return platform.node() or "nameless"


GENESIS = hashlib.sha256(b"sfumato ledger 1").hexdigest()
"""What stands for the line before the first."""


@dataclass(frozen=True)
class Chain:
    """The lines of a ledger, oldest first: what each says, its hash. `whole` bytes hold them, `torn` ones follow."""

    forms: Sequence[Mapping[str, Any]]
    hashes: Sequence[str]
    whole: int
    torn: int

    @property
    def head(self) -> str:
        """The hash of the last line, which no change before it leaves as it is."""
        return self.hashes[-1] if self.hashes else GENESIS


def read_chain(path: Path) -> Chain:
    """Every line of the file, checked; an empty chain where there is no file."""
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        content = b""
    except OSError as error:
        raise LedgerError(
            str(path),
            "the ledger must be readable",
            given=error.strerror or type(error).__name__,
            remedy="set XDG_STATE_HOME to a folder of yours",
        ) from None
    *lines, torn = content.split(b"\n")
    hashes = [hashlib.sha256(line).hexdigest() for line in lines]
    forms = [
        _form(line, f"{path}, line {at}", previous=previous)
        for at, (line, previous) in enumerate(zip(lines, [GENESIS, *hashes], strict=False), start=1)
    ]
    return Chain(forms, hashes, len(content) - len(torn), len(torn))


def _form(line: bytes, place: str, *, previous: str) -> dict[str, Any]:
    try:
        form = json.loads(line)
    except ValueError:
        form = None
    if not isinstance(form, dict):
        raise LedgerError(place, "every line of the ledger is an entry", given="a line that is none", remedy=RESTORE)
    if form.pop("previous", None) != previous:
        raise LedgerError(
            place,
            "every line of the ledger holds the hash of the line before it",
            given="another hash: a line was changed, taken out or put in",
            remedy=RESTORE,
        )
    return form


@contextmanager
def appending(path: Path) -> Iterator[Appender]:
    """The ledger for one writer alone, with what it says now."""
    try:
        make_folder(path.parent)
    except OSError as error:
        raise unwritable(path, error) from None
    with alone(path):
        try:  # opened only now: a network's file system shows what others wrote to whoever opens a file after them
            file = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CLOEXEC)
        except OSError as error:
            raise unwritable(path, error) from None
        try:
            yield Appender(path, file, read_chain(path))
        finally:
            os.close(file)


class Appender:
    """Owns the open, locked file of a ledger and its chain."""

    def __init__(self, path: Path, file: int, chain: Chain) -> None:
        self.path, self.chain, self._file = path, chain, file

    def append(self, form: Mapping[str, Any]) -> None:
        """Add a line. When this returns it is on the disk; when it does not, it may or may not be."""
        line = json.dumps({"previous": self.chain.head, **form}).encode()
        try:
            os.ftruncate(self._file, self.chain.whole)
            _write(self._file, line + b"\n")
            os.fsync(self._file)
            sync(self.path.parent)
            size = os.fstat(self._file).st_size
        except OSError as error:
            raise unwritable(self.path, error) from None
        if size != self.chain.whole + len(line) + 1:
            raise LedgerError(
                str(self.path),
                "one run at a time writes into the ledger",
                given="a file that grew by more than what was written",
                remedy="look at it with `sfumato ledger --check`: something else writes there",
            )
        forms = [*self.chain.forms, form]
        hashes = [*self.chain.hashes, hashlib.sha256(line).hexdigest()]
        self.chain = Chain(forms, hashes, self.chain.whole + len(line) + 1, 0)


def _write(file: int, content: bytes) -> None:
    while content:
        content = content[os.write(file, content) :]


def make_folder(folder: Path) -> None:
    """A folder for one pair of eyes, on the disk with its name."""
    if not folder.is_dir():
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        sync(folder.parent)


def sync(path: Path) -> None:
    """Put a file, or a folder's list of names, on the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
