"""Signing a release with the holder's key: Ed25519 by the package `cryptography`, an extra."""

from __future__ import annotations

import base64
import os
import secrets
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from sfumato.errors import ReleaseError
from sfumato.privacy.verify.files.regular_files import CERTIFICATE, SIGNATURE
from sfumato.privacy.verify.folder import Folder
from sfumato.privacy.verify.signature import ALGORITHM, HOW_TO_GET, fingerprint, signed_bytes
from sfumato.release.bundle import write_json

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

PUBLIC = ".pub"


def make_key(path: str | Path, *, passphrase: bytes | None = None) -> str:
    """Write a new private key, for the owner alone to read, and PATH.pub beside it; give its fingerprint.

    The private key is PEM in PKCS #8, encrypted where there is a passphrase. Files that are there stay as they are.
    """
    _require()
    from cryptography.hazmat.primitives import serialization as form
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    key, pem = Ed25519PrivateKey.generate(), form.Encoding.PEM
    locked = form.BestAvailableEncryption(passphrase) if passphrase else form.NoEncryption()
    private, public = Path(path), Path(f"{path}{PUBLIC}")
    _create(private, key.private_bytes(pem, form.PrivateFormat.PKCS8, locked), mode=0o600)
    try:
        shown = key.public_key().public_bytes(pem, form.PublicFormat.SubjectPublicKeyInfo)
        _create(public, shown, mode=0o644)
    except ReleaseError:
        private.unlink()
        raise
    return fingerprint(_public_bytes(key))


def is_locked(path: str | Path) -> bool:
    """Whether a private key needs a passphrase."""
    with suppress(OSError):
        return b"BEGIN ENCRYPTED PRIVATE KEY" in Path(path).read_bytes()
    return False


def load_key(path: str | Path, *, passphrase: bytes | None = None) -> Ed25519PrivateKey:
    """A private key that `make_key` wrote, or another of the same algorithm in PEM."""
    _require()
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    try:
        key = load_pem_private_key(Path(path).read_bytes(), passphrase if is_locked(path) else None)
    except OSError as error:
        raise _no_key(path, error.strerror or "no file", "make one with: sfumato key make PATH") from None
    except (ValueError, TypeError, UnsupportedAlgorithm):
        given = "another passphrase, or none" if is_locked(path) else "something else"
        raise _no_key(path, given, "give the private key, not the .pub, and its passphrase") from None
    if not isinstance(key, Ed25519PrivateKey):
        raise _no_key(path, "a key of another algorithm", "make one with: sfumato key make PATH")
    return key


def sign_release(folder: str | Path, key: Ed25519PrivateKey) -> str:
    """Write certificate.sig into a release folder, whole or not at all; give the key's fingerprint."""
    folder = Path(folder)
    public = _public_bytes(key)
    content = {
        "algorithm": ALGORITHM,
        "public_key": base64.b64encode(public).decode(),
        "fingerprint": fingerprint(public),
        "signature": base64.b64encode(key.sign(signed_bytes(Folder(folder).content(CERTIFICATE)))).decode(),
    }
    fresh = folder.with_name(f".{folder.name}.{secrets.token_hex(6)}.sig")  # beside it: a release holds nothing else
    try:
        write_json(fresh, content)
        fresh.chmod(
            (folder / CERTIFICATE).stat().st_mode & 0o777
        )  # whoever may read the release may read who signed it
        fresh.replace(folder / SIGNATURE)
    except OSError as error:
        raise ReleaseError(
            str(folder),
            "the signature is written into the release's folder",
            given=error.strerror or "no way to",
            remedy="make it writable",
        ) from None
    finally:
        fresh.unlink(missing_ok=True)
    return fingerprint(public)


def _public_bytes(key: Ed25519PrivateKey) -> bytes:
    return key.public_key().public_bytes_raw()


def _create(path: Path, content: bytes, *, mode: int) -> None:
    """A new file, readable for whom its mode says from the first byte on."""
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    except OSError as error:
        raise ReleaseError(
            str(path),
            "a key is written to a new file",
            given=error.strerror or "none can be made",
            remedy="name a file that is not there, in a folder that is yours",
        ) from None
    with os.fdopen(handle, "wb") as file:
        file.write(content)


def _require() -> None:
    try:
        import cryptography  # noqa: F401 - whether it is there
    except ImportError:
        raise ReleaseError(
            "signing",
            "keys and signatures are the work of the package cryptography",
            given="it is not installed",
            remedy=HOW_TO_GET,
        ) from None


def _no_key(path: str | Path, given: str, remedy: str) -> ReleaseError:
    return ReleaseError(
        str(path), f"a release is signed with an {ALGORITHM} private key in a PEM file", given=given, remedy=remedy
    )
