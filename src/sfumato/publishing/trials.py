"""Trials that are kept and looked at, and the release that is made of one: what was looked at goes out, byte for byte.

A trial is a verified release that no ledger knows of. `release_trial` looks into the ledger as `publish` does, makes
sure that the table is still the one that was masked, verifies the kept folder again, and enters it.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from sfumato.data.safe_files import write_private_json
from sfumato.errors import ReleaseError
from sfumato.events import running, step
from sfumato.privacy.ledger import Account
from sfumato.publishing import handover, steps
from sfumato.publishing.case import Case, Run, Step
from sfumato.publishing.orders import walk
from sfumato.recipe import Recipe
from sfumato.release.output import holder_of
from sfumato.release.reading import read_recipe_of
from sfumato.release.release import Ready, Release

SEEN = "seen.json"
"""Beside a kept trial: what its table is known by."""
LOOK = (Step("Looking into the ledger", steps.open_account), Step("Reading the table", steps.read_seen))


@dataclass(frozen=True)
class Kept:
    """A trial's folder; its holder's folder stands beside it."""

    folder: Path

    @property
    def recipe(self) -> Recipe:
        """What it was made by."""
        return read_recipe_of(self.folder)

    @property
    def seen(self) -> Path:
        """Where it is told what its table is known by."""
        return self.folder.with_name(SEEN)


def keep_trial(table: object, release: Release, folder: Path) -> Kept:
    """Write what a trial made to a folder of its own, with the holder's folder and what its table is known by."""
    kept = Kept(release.keep(folder))
    write_private_json(kept.seen, _known_by(table, release.account))
    return kept


def look_up(table: object, kept: Kept, *, run: Run) -> Case:
    """What the ledger says to a release of this trial: it refuses, or warns of what can be joined with it."""
    case = walk(LOOK, Case(source=table, recipe=kept.recipe, run=replace(run, trial=False)))
    if json.loads(kept.seen.read_text(encoding="utf-8")) != _known_by(table, case.account):
        raise ReleaseError(
            "table",
            "what is released was made from the table as it is",
            given="a table that has changed since the trial",
            remedy="run the trial again",
        )
    return case


def release_trial(
    table: object, kept: Kept, output: Path, *, run: Run, finish: Callable[[Path], object] = lambda folder: None
) -> Path:
    """Write a trial as a release: entered in the ledger, and the same as what was looked at.

    `finish` is given the folder before it gets its name, to sign it.
    """
    case = look_up(table, kept, run=run)
    with running(run.listener, run.stop), TemporaryDirectory(prefix="sfumato-") as scratch:
        folder = Path(scratch) / "release"
        shutil.copytree(kept.folder, folder)
        with step("Verifying the written file"):
            checked = handover.check(replace(case, folder=folder))
            finish(folder)
        with step("Writing"):
            ready = Ready(folder, case.recipe, checked.certificate, case.account, _copied(kept))
            return ready.write(output)


def _copied(kept: Kept) -> Callable[[Path], None]:
    def copy(folder: Path) -> None:
        shutil.copytree(holder_of(kept.folder), folder)

    return copy


def _known_by(table: object, account: Account | None) -> dict[str, str | None]:
    """What a table is known by: to the ledger, and as a file."""
    likeness = None if account is None or account.people.likeness is None else account.people.likeness.digest()
    if not isinstance(table, str | Path) or "://" in str(table):
        return {"table": likeness, "file": None}
    with Path(table).open("rb") as file:
        return {"table": likeness, "file": hashlib.file_digest(file, "sha256").hexdigest()}
