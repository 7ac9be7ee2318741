"""Where a release is written: found out before any work whether it can be, and what must stay as it is."""

from __future__ import annotations

import secrets
import shutil
from errno import ELOOP
from pathlib import Path

from sfumato.errors import ReleaseError
from sfumato.release.placing import Place

HOLDER = ".holder"
CERTIFICATE = "certificate.json"
HISTORY = "history.json"


def holder_of(target: Path) -> Path:
    """The holder's folder beside a release."""
    return target.with_name(target.name + HOLDER)


def check_output(target: Path) -> None:
    """Refuse a place where no release can be written: of somebody else, inside another one, or not writable.

    It tries to make a folder there under the longest name that writing will need, and takes it away again.
    """
    if not target.name:
        raise ReleaseError(str(target), "a release has a name", given="a folder without one",
                           remedy="name a new folder: --output out")  # fmt: skip
    try:
        for folder in (target, holder_of(target)):
            refuse_strangers(folder)
        refuse_inside(target)
        _try(target)
    except OSError as error:
        raise ReleaseError(str(target), "the output folder must be writable", given=error.strerror or str(error),
                           remedy="make room or choose another place; nothing was read yet") from None  # fmt: skip


def refuse_strangers(folder: Path) -> None:
    """An output folder is new, or an earlier one of ours."""
    if not folder.exists() and not folder.is_symlink():
        return
    ours = CERTIFICATE if not folder.name.endswith(HOLDER) else HISTORY
    if not folder.is_dir() or (any(folder.iterdir()) and not (folder / ours).is_file()):
        raise ReleaseError(str(folder), "an output folder must be new, empty, or an earlier release",
                           given="something else is there", remedy="choose another name")  # fmt: skip


def refuse_inside(target: Path) -> None:
    """A release holds its own files alone, and so does a holder's folder: nothing is written into either."""
    for above in target.absolute().parents:
        holder = above.name.endswith(HOLDER) and (above / HISTORY).is_file()
        if holder or ((above / CERTIFICATE).is_file() and (above / "certificate.md").is_file()):
            raise ReleaseError(str(target), "a release is not written into another one's folder", given=str(above),
                               remedy="choose a folder beside it")  # fmt: skip


def _try(target: Path) -> None:
    """Make a folder with a file in it where the first missing folder of the path will stand; remove both."""
    above = target.absolute().parent
    while not above.exists() and above != above.parent:
        if above.is_symlink():
            raise OSError(ELOOP, "a link that leads nowhere")
        above = above.parent
    names = [target.name + HOLDER, *(part for part in target.absolute().parent.parts if part != above.anchor)]
    trial = Place(above / max(names, key=len), secrets.token_hex(8)).new
    trial.mkdir()
    try:
        (trial / "trial").write_bytes(bytes(4096))
    finally:
        shutil.rmtree(trial, ignore_errors=True)
