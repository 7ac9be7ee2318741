"""`sfumato key make` and `sfumato sign`: who vouches for a release."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sfumato.cli.options import quietly
from sfumato.cli.output import note, show
from sfumato.cli.verify import Others, Population, verified
from sfumato.errors import ReleaseError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

EXAMPLE = "sfumato sign out/ holder.key"
app = typer.Typer(
    no_args_is_help=True,
    help="Make a key that releases are signed with.",
    epilog="[bold]Example[/bold]\n\nsfumato key make holder.key --passphrase",
)

_PassphraseFile = Annotated[
    Path | None,
    typer.Option("--passphrase-file", metavar="FILE", help="The passphrase is the first line of FILE."),
]


@app.callback()
def key() -> None:
    """Make a key that releases are signed with."""


@app.command(epilog="[bold]Example[/bold]\n\nsfumato key make holder.key --passphrase")
@quietly
def make(
    path: Annotated[Path, typer.Argument(metavar="PATH", help="Where to write the private key.")],
    passphrase: Annotated[bool, typer.Option("--passphrase", help="Ask for a passphrase to lock it with.")] = False,
    passphrase_file: _PassphraseFile = None,
) -> None:
    """Write a new private key to PATH, which only you may read, and the public key to PATH.pub.

    Keep PATH; hand PATH.pub, or the fingerprint that is shown, to whoever should recognise your releases.
    """
    from sfumato.release.signing import make_key

    words = _first_line(passphrase_file)
    if words is None and passphrase:
        words = str(typer.prompt("Passphrase", hide_input=True, confirmation_prompt=True, err=True)).encode()
    found = make_key(path, passphrase=words)
    note(f"wrote {path} (keep it) and {path}.pub (hand it out)")
    show(found)


def sign(
    release: Annotated[Path, typer.Argument(metavar="RELEASE", help="The folder to sign.")],
    key: Annotated[Path, typer.Argument(metavar="KEY", help="Your private key (see: sfumato key make).")],
    passphrase_file: _PassphraseFile = None,
    population: Population = None,
    others: Others = None,
    raw: Annotated[str | None, typer.Option("--raw", metavar="TABLE", help="The table that was published.")] = None,
) -> None:
    """Verify RELEASE and, if everything holds, write certificate.sig into it. An earlier signature is replaced.

    Exit code 0: signed. 1: some check fails, and nothing is signed.
    """
    from sfumato.release.signing import sign_release

    opened = open_key(key, passphrase_file)
    verdict = verified(release, raw=raw, population=population, others=others)
    if any(check.name != "signature" for check in verdict.failed):
        show(str(verdict))
        raise typer.Exit(1)
    show(f"signed with the key {sign_release(release, opened)}")


def open_key(path: Path, passphrase_file: Path | None = None) -> Ed25519PrivateKey:
    """The private key; its passphrase is asked for where it has one and no file gives it."""
    from sfumato.release.signing import is_locked, load_key

    words = _first_line(passphrase_file)
    if words is None and is_locked(path):
        words = str(typer.prompt(f"Passphrase of {path}", hide_input=True, err=True)).encode()
    return load_key(path, passphrase=words)


def _first_line(path: Path | None) -> bytes | None:
    if path is None:
        return None
    try:
        words = path.read_bytes().split(b"\n")[0].rstrip(b"\r")
    except OSError as error:
        raise ReleaseError(
            str(path), "a passphrase stands in a file", given=error.strerror or "none", remedy="name the file"
        ) from None
    if not words:
        raise ReleaseError(
            str(path),
            "a passphrase is the first line of its file",
            given="an empty one",
            remedy="write one, or leave the option out",
        )
    return words
