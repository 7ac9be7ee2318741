"""certificate.sig: who vouches for a release. Ed25519 (RFC 8032), checked by the package `cryptography`.

What is signed are the bytes of certificate.json after a prefix that no other program signs. The certificate holds the
SHA-256 of every other file, so the signature covers them all.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from sfumato.errors import ReleaseError
from sfumato.privacy.verify.canonical import written
from sfumato.privacy.verify.fields import Form, field, only_keys, read_json
from sfumato.privacy.verify.files.regular_files import MOST_OF_A_KEY, SIGNATURE, read_regular
from sfumato.privacy.verify.verdict import CheckError, Idle

if TYPE_CHECKING:
    from sfumato.privacy.verify.folder import Folder

FIELDS = ("algorithm", "public_key", "fingerprint", "signature")
ALGORITHM = "Ed25519"
PREFIX = b"sfumato certificate 1\0"
HOW_TO_GET = "pip install 'sfumato[sign]'"
NOT_SIGNED = "not signed: anyone could have made this folder"
_SPKI = bytes.fromhex("302a300506032b6570032100")  # how a public key of this algorithm begins (RFC 8410)


def signed_bytes(certificate: bytes) -> bytes:
    """What a signature is over."""
    return PREFIX + certificate


def fingerprint(public_key: bytes) -> str:
    """The SHA-256 of a public key: short enough to be read over the telephone in groups of four."""
    return hashlib.sha256(public_key).hexdigest()


def read_public_key(path: str | Path) -> bytes:
    """The 32 bytes of a public key from its PEM file."""
    try:
        lines = read_regular(path, most=MOST_OF_A_KEY, follow=True).decode("ascii").split("-----")
        body = base64.b64decode("".join(lines[2].split()), validate=True) if lines[1] == "BEGIN PUBLIC KEY" else b""
    except (CheckError, OSError, ValueError, IndexError):
        body = b""
    if not body.startswith(_SPKI) or len(body) != len(_SPKI) + 32:
        raise ReleaseError(
            str(path),
            f"a signer is named by an {ALGORITHM} public key in a PEM file",
            given="something else, or no file",
            remedy="give the file that ends in .pub",
        )
    return body[len(_SPKI) :]


def check_signature(release: Folder, signer: bytes | None, *, strict: bool = False) -> str:
    """The signature is right; where a signer is named, it is theirs.

    Without the library it is not checked, which is told: whoever asks for no signer trusts such a folder as one that is
    not signed. Whoever names one, or is `strict`, is refused.
    """
    if SIGNATURE not in {*release.files, *release.contents.others}:
        if signer is not None:
            raise CheckError("not signed, and a signer was asked for")
        return NOT_SIGNED
    form = read_json(release.file(SIGNATURE))
    only_keys(form, set(FIELDS), SIGNATURE)
    public_key, signature = _bytes(form, "public_key"), _bytes(form, "signature")
    if release.content(SIGNATURE) != written({key: form.get(key) for key in FIELDS}):
        raise CheckError(f"{SIGNATURE} is written otherwise than it is written here")
    if form.get("algorithm") != ALGORITHM or form.get("fingerprint") != fingerprint(public_key):
        raise CheckError(f"{SIGNATURE} is of another algorithm than {ALGORITHM}, or of another key than it says")
    if find_spec("cryptography") is None:
        if strict or signer is not None:
            raise CheckError(f"signed, and that cannot be checked without a library: {HOW_TO_GET}")
        return Idle(f"signed, and not checked: that takes a library, {HOW_TO_GET}; anyone could have made this folder")
    _check_bytes(public_key, signature, signed_bytes(release.content("certificate.json")))
    if signer is not None and signer != public_key:
        raise CheckError(f"signed with another key than the given one: {fingerprint(public_key)}")
    known = "the given one" if signer is not None else "whose it is, only its owner can tell: give theirs with --key"
    return f"signed with the key {fingerprint(public_key)} ({known})"


def _check_bytes(public_key: bytes, signature: bytes, message: bytes) -> None:
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        Ed25519PublicKey.from_public_bytes(public_key).verify(signature, message)
    except (InvalidSignature, ValueError):
        raise CheckError("the signature is not that of this certificate") from None


def _bytes(form: Form, key: str) -> bytes:
    """The bytes, in the one way to write them: base64 can leave bits over, which say nothing."""
    text = field(form, key, str)
    try:
        found = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise CheckError(f"{key!r} in {SIGNATURE} is no base64") from None
    if base64.b64encode(found).decode() != text:
        raise CheckError(f"{key!r} in {SIGNATURE} is not written as base64 is")
    return found
