"""What goes wrong with a ledger, in words."""

from __future__ import annotations

from pathlib import Path

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
