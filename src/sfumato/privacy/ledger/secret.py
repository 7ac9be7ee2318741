"""The ledger's secret: random bytes in a file beside it, made once, and whatever is drawn from them."""

from __future__ import annotations

import hashlib
import os
import secrets
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sfumato.privacy.ledger.chain import sync
from sfumato.privacy.ledger.trouble import lost_key, unwritable

KEY_BYTES = 32


@dataclass(frozen=True)
class Secret:
    """Key material by purpose: whoever lacks the bytes can compute none of it, and so test no guess."""

    key: bytes

    def digest(self, purpose: str, content: bytes) -> str:
        """A keyed hash in 32 hexadecimal digits."""
        return hashlib.blake2b(content, key=self._of(purpose), digest_size=16).hexdigest()

    def words(self, purpose: str, n: int) -> NDArray[np.uint64]:
        """(n,): numbers that look random, always the same for a purpose; more of them begin with the fewer."""
        seed = int.from_bytes(self._of(purpose)[:16], "little")
        return np.random.Generator(np.random.Philox(key=seed)).integers(0, 2**64, size=n, dtype=np.uint64)

    def pair(self, purpose: str) -> tuple[int, int]:
        """The two halves of a 128-bit key."""
        content = self._of(purpose)
        return int.from_bytes(content[:8], "little"), int.from_bytes(content[8:16], "little")

    def _of(self, purpose: str) -> bytes:
        return hashlib.blake2b(purpose.encode(), key=self.key, digest_size=32).digest()


def read_secret(path: Path) -> Secret | None:
    """The secret in a file; None where there is no file."""
    try:
        key = path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise lost_key(path, error.strerror or type(error).__name__) from None
    if len(key) != KEY_BYTES:
        raise lost_key(path, "one of another length")
    return Secret(key)


def make_secret(path: Path) -> Secret:
    """A new one, for its owner's eyes. A kill or a full disk leaves a whole key or none."""
    key, fresh = secrets.token_bytes(KEY_BYTES), path.with_suffix(".fresh")
    try:
        with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.write(key)
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(path)
        sync(path.parent)
    except OSError as error:
        raise unwritable(path, error) from None
    return Secret(key)
