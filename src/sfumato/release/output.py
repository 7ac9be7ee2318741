"""Where a release is written: found out before any work whether it can be, and what must stay as it is.

Giving a release and its holder's folder their final names, so that a kill at any moment leaves nothing by halves.

Both folders are made under temporary names first. Then, with T the release and H the holder's folder:

    an earlier T steps aside, an earlier H steps aside, the new H gets its name, the new T gets its name.

So a release under its final name is always whole and always stands beside its own holder's folder. A run that is
killed between the first and the last step leaves no T, and the earlier one whole in `.T.ID.sfumato-old`; the next run
that writes T first takes these steps back. Runs that write beside each other take turns: they lock the folder above.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from errno import ELOOP
from pathlib import Path

from sfumato.errors import ReleaseError
from sfumato.privacy.ledger.chain import sync

NEW, OLD = "sfumato-new", "sfumato-old"
Make = Callable[[Path], None]


@dataclass(frozen=True)
class Place:
    """A final name, and the two names beside it that one run uses."""

    final: Path
    run: str

    @property
    def new(self) -> Path:
        """Where the folder is made."""
        return self.final.with_name(f".{self.final.name}.{self.run}.{NEW}")

    @property
    def old(self) -> Path:
        """Where an earlier one steps aside."""
        return self.final.with_name(f".{self.final.name}.{self.run}.{OLD}")


@contextmanager
def placed(release: Path, holder: Path, *, make_release: Make, make_holder: Make) -> Iterator[Callable[[], None]]:
    """Make both folders; the body calls what it gets to give them their names. Without that call nothing remains."""
    release.parent.mkdir(parents=True, exist_ok=True)
    with _in_turn(release.parent) as alone:
        if alone:
            mend(release, holder)
        run = secrets.token_hex(8)
        new, beside = Place(release, run), Place(holder, run)
        try:
            make_holder(beside.new)
            make_release(new.new)
            for folder in (beside.new, new.new):
                for path in (*folder.rglob("*"), folder):
                    sync(path)
            yield lambda: _swap(new, beside)
        finally:
            _settle(new, beside)


def _swap(release: Place, holder: Place) -> None:
    for place in (release, holder):
        if place.final.exists():
            place.final.replace(place.old)
    for place in (holder, release):
        place.new.replace(place.final)
    sync(release.final.parent)


def _settle(release: Place, holder: Place) -> None:
    """After a run, whole or killed: the release has its name, or everything is as it was before.

    What is made first is removed last, and taken back in the reverse order of `_swap`; so it can itself be killed and
    begun again.
    """
    named = not release.new.exists()
    if not named and not holder.new.exists() and holder.final.exists():
        holder.final.replace(holder.new)
    for place in (holder, release):
        if place.old.exists() and not place.final.exists():
            place.old.replace(place.final)
    for left in (release.new, release.old, holder.new, holder.old):
        if left.is_symlink():
            left.unlink()
        elif left.exists():
            shutil.rmtree(left, ignore_errors=True)
        if left.exists():
            return  # what cannot be removed now, the next run tries again


def mend(release: Path, holder: Path) -> None:
    """Settle what killed runs left beside a release. Only with the folder locked: a run under way looks the same."""
    names = re.compile(rf"\.(?:{re.escape(release.name)}|{re.escape(holder.name)})\.([0-9a-f]{{16}})\.(?:{NEW}|{OLD})")
    for run in {found[1] for path in release.parent.iterdir() if (found := names.fullmatch(path.name))}:
        _settle(Place(release, run), Place(holder, run))


@contextmanager
def _in_turn(folder: Path) -> Iterator[bool]:
    """Wait for other runs that write into this folder. False where its file system knows no such locks."""
    import fcntl

    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
        except OSError:
            yield False
        else:
            yield True
    finally:
        os.close(handle)


HOLDER = ".holder"
CERTIFICATE = "certificate.json"
HISTORY = "history.json"
TABLE_WAS = "table.txt"
"""In the holder's folder: where the table lay that the release was made from."""


def holder_of(target: Path) -> Path:
    """The holder's folder beside a release."""
    return target.with_name(target.name + HOLDER)


def check_output(target: Path) -> None:
    """Refuse a place where no release can be written: of somebody else, inside another one, or not writable.

    It tries to make a folder there under the longest name that writing will need, and takes it away again.
    """
    if not target.name:
        raise ReleaseError(
            str(target), "a release has a name", given="a folder without one", remedy="name a new folder: --output out"
        )
    try:
        refuse_inside(target)
        for folder in (target, holder_of(target)):
            refuse_strangers(folder)
        _try(target)
    except OSError as error:
        raise ReleaseError(
            str(target),
            "the output folder must be writable",
            given=error.strerror or str(error),
            remedy="make room or choose another place; nothing was read yet",
        ) from None


def refuse_strangers(folder: Path) -> None:
    """An output folder is new, or an earlier one of ours."""
    if not folder.exists() and not folder.is_symlink():
        return
    ours = CERTIFICATE if not folder.name.endswith(HOLDER) else HISTORY
    if not folder.is_dir() or (any(folder.iterdir()) and not (folder / ours).is_file()):
        raise ReleaseError(
            str(folder),
            "an output folder must be new, empty, or an earlier release",
            given="something else is there",
            remedy="choose another name",
        )


def refuse_inside(target: Path) -> None:
    """A release holds its own files alone, and so does a holder's folder: nothing is written into either.

    A holder's folder is no earlier release that could be replaced, and its name is never that of a release.
    """
    if target.name.endswith(HOLDER) or (target / HISTORY).is_file():
        raise ReleaseError(
            str(target),
            f"what ends in {HOLDER} is the private folder beside a release, and never a release itself",
            given="a name that ends so" if target.name.endswith(HOLDER) else "a holder's folder",
            remedy="choose another name",
        )
    for above in target.absolute().parents:
        holder = above.name.endswith(HOLDER) and (above / HISTORY).is_file()
        if holder or ((above / CERTIFICATE).is_file() and (above / "certificate.md").is_file()):
            raise ReleaseError(
                str(target),
                "a release is not written into another one's folder",
                given=str(above),
                remedy="choose a folder beside it",
            )


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
