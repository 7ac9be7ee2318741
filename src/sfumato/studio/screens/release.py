"""Screen 9, release: the ledger is asked, the trial is signed, written, entered and verified again."""

from __future__ import annotations

import re
from pathlib import Path
from shlex import quote

from sfumato.data.safe_files import is_regular
from sfumato.errors import ReleaseError
from sfumato.release.output import check_output
from sfumato.studio.desk import Context, Desk, Fields, Screen
from sfumato.studio.screens.compare import chosen
from sfumato.studio.trials import Trial, told_of, trials_of

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,60}")


def context(desk: Desk) -> Context:
    """The chosen trial, what the ledger says of it, and what was released."""
    trials = trials_of(desk.work)
    trial = chosen(desk, trials)
    ledger, release = desk.job("ledger"), desk.job("release")
    mine = trial is not None and ledger.form.get("trial") == str(trial.folder)
    return {
        "trials": trials,
        "trial": trial,
        "ledger": ledger,
        "mine": mine,
        "asked": desk.work.found("ledger") if mine else None,
        "release": release,
        "released": desk.work.found("release"),
        "releases": [(path.name, quote(str(path)), _table_of(path), told_of(path)) for path in desk.work.releases()],
        "done": trial is not None and release.state == "done" and release.form.get("trial") == str(trial.folder),
        "suggested": _suggested(desk),
        "spends": trial is not None and trial.recipe.mask.guarantee.spends,
    }


def _table_of(release: Path) -> str:
    """The file that holds the table."""
    return next((path.name for path in sorted(release.glob("table.*"))), "table.parquet")


def _suggested(desk: Desk) -> str:
    plain = re.sub(r"[^A-Za-z0-9_-]+", "-", Path(desk.work.name).stem).strip("-_") or "release"
    taken = {path.name for path in desk.work.releases()}
    first = f"{plain}-release"[:50]
    return next(name for at in range(1, 1000) if (name := first if at == 1 else f"{first}-{at}") not in taken)


def _chosen(desk: Desk) -> Trial:
    found = chosen(desk, trials_of(desk.work))
    if found is None:
        raise ReleaseError("release", "a trial that ended well is released", given="none", remedy="run one first")
    return found


def ask(desk: Desk, fields: Fields) -> None:
    """Ask the ledger what it knows of these people."""
    desk.start("ledger", trial=str(_chosen(desk).folder))


def release(desk: Desk, fields: Fields) -> None:
    """Write it, and enter it in the ledger."""
    trial, name = _chosen(desk), fields["name"]
    ledger = desk.job("ledger")
    if ledger.state != "done" or ledger.form.get("trial") != str(trial.folder):
        raise ReleaseError(
            "release", "the ledger is asked first", given="no answer yet", remedy="ask it, and read what it says"
        )
    if not NAME.fullmatch(name) or name.endswith(".holder"):
        raise ReleaseError(
            "name", "it is made of letters, digits, - and _", given="another", remedy="write for example patients-2026"
        )
    if fields["understood"] != "yes":
        raise ReleaseError(
            "release",
            "whoever releases says so: it cannot be taken back",
            given="no word",
            remedy="tick the box",
        )
    folder = desk.work.folder / "releases"
    folder.mkdir(mode=0o700, exist_ok=True)
    check_output(folder / name)
    key = fields["key"].strip()
    if key and not is_regular(Path(key).expanduser()):
        raise ReleaseError("key", "it is a file", given="none of that name", remedy="make one: sfumato key make PATH")
    key = str(Path(key).expanduser()) if key else ""
    desk.start("release", secret=fields["passphrase"], trial=str(trial.folder), output=str(folder / name), key=key)


SCREEN = Screen(
    "release",
    "Release",
    "Hand over what was looked at: entered in the ledger, written, verified.",
    context,
    {"ask": ask, "release": release},
)
