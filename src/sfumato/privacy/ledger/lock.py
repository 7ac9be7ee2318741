"""One writer at a time, on this machine and on others that see the same folder.

Two locks are taken. The system's own (flock) is given back when its process dies; but over a network it may be
unknown, or hold on one machine only and not say so. So a second one lies beside the ledger: a symbolic link, which a
file system makes at once and for one of several askers, and which says in its target who made it. A run that is killed
leaves that one behind. Whoever has the system's lock takes it over if it was made on this machine under the system's
lock: its maker would still hold that if it lived. What another machine left stays until somebody deletes it.
"""

from __future__ import annotations

import errno
import os
import platform
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from sfumato.privacy.ledger.trouble import held_elsewhere, unwritable

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
