"""A release: a verified folder, and what only the holder may see."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

import pyarrow as pa

from sfumato.data.safe_files import copy_private, private_folder, write_kept, write_private, write_private_json
from sfumato.data.table import Origin
from sfumato.data.writing import give_back
from sfumato.display import Card, Grid
from sfumato.errors import ReleaseError, visible, warn
from sfumato.evaluation.worth import Worth
from sfumato.maskers.masker import Mask
from sfumato.privacy.ledger import Account, LedgerError
from sfumato.privacy.verify import Verdict
from sfumato.privacy.verify.files.regular_files import MOST_OF_JSON, read_regular
from sfumato.privacy.verify.verdict import CheckError
from sfumato.recipe import Recipe
from sfumato.release.accounting import recipe_hash, tell_known
from sfumato.release.bundle import Shown
from sfumato.release.copies import copy_release, remember_written
from sfumato.release.exports.export import export, suffixes_of
from sfumato.release.new_rows import shown_rows
from sfumato.release.output import CERTIFICATE, HISTORY, TABLE_WAS, holder_of, placed, refuse_inside, refuse_strangers
from sfumato.release.reading import typed_rows

NOT_PRIVATE = "NOT-PRIVATE"
REPORT = "report.html"
FIRST = 5
"""Rows that a notebook shows."""


@dataclass(frozen=True, eq=False)
class Release:
    """What comes out of `publish`: verified, ready to be written where the recipient gets it.

    `scores` and `history` are for the holder's eyes; they are written to the holder's folder only.
    `report` is the holder's edition of the report, a page of HTML; None where none was drawn, and `papers` its other
    pages by their files' names. `account` is where it is
    entered when it is written; None for noise from a seed, which is not private and never entered. `left_out`: so many
    rows of the table are not in it, because the recipe leaves out rows that miss a value.
    """

    recipe: Recipe
    mask: Mask
    certificate: Mapping[str, Any]
    verdict: Verdict
    scores: Mapping[str, Any]
    history: Mapping[str, Any]
    holder: Mapping[str, Any]
    timings: Mapping[str, float]
    written: Shown
    origin: Origin
    scratch: TemporaryDirectory[str]
    report: str | None = None
    papers: Mapping[str, str] = field(default_factory=dict)
    account: Account | None = None
    left_out: int = 0
    source: Path | None = None

    @cached_property
    def shown(self) -> pa.Table:
        """The masked table, rows in the released order, in memory from when it is first asked for."""
        return self.written.to_arrow()

    @property
    def table(self) -> Any:
        """The masked table, as the kind of table that came in, rows in the released order."""
        return give_back(self.shown, self.origin)

    @property
    def tells_centres(self) -> bool:
        """Whether the centres of the clusters go along."""
        return bool(self.certificate["along"].get("centres"))

    @property
    def worth(self) -> Worth:
        """What it still tells, and what must be known before it is handed over. For the holder's eyes."""
        return Worth.of(self.scores, centres=self.tells_centres)

    @property
    def guarantee(self) -> str:
        """What may be claimed."""
        return str(self.certificate["statement"])

    def __repr__(self) -> str:
        return self._card().text()

    def _repr_html_(self) -> str:
        return self._card(rows=FIRST).html()

    def _card(self, rows: int = 0) -> Card:
        """The verdict and the promise, what each claim reached, and in a page the first rows as they are released."""
        size = f"{self.written.masked.rows:,} rows, {len(self.written.masked.names)} columns"
        holds = "verified" if self.verdict.holds else "NOT VERIFIED"
        but = self.worth.but
        holds = f"{holds}, but" if but else holds
        more = "write(folder) writes it; table, guarantee, verdict, scores, mask and certificate tell more."
        claims = self.certificate["claims"]
        lines = [*but, *_promised(claims, self.guarantee), more]
        reached = [[_claimed(one), _reached(one["achieved"]), ", ".join(one["on"])] for one in claims]
        told = 3 if len({tuple(one["on"]) for one in claims}) > 1 else 2  # what all are on is said once, above
        heads = ("claim", "reached", "on")
        grids = [Grid(heads[:told], [one[:told] for one in reached], "In the written file")] if claims else []
        if rows:
            first = self.shown.slice(0, rows).to_pylist()
            cells = [["" if cell is None else str(cell) for cell in row.values()] for row in first]
            grids.append(Grid(self.shown.column_names, cells, title=f"The first of {self.written.masked.rows:,} rows"))
        good = self.verdict.holds and not but
        return Card(f"Release: {size}, {holds}", lines, grids, state="good" if good else "poor")

    def apply(self, rows: object, *, unseen: Literal["refuse", "suppress"] = "refuse") -> Any:
        """New rows as this release shows the old ones, in their order, as the kind of table that comes in.

        `unseen`: values that nobody had are refused ("refuse"), or shown as nothing ("suppress"). Columns that are not
        masked may be lacking. The index of a pandas frame stays. Nothing is verified, and k is not promised: few new
        rows make small groups. Publish all rows together if they leave the house.
        """
        shown = shown_rows(self.mask, self.recipe, rows, unseen=unseen)
        found = give_back(*shown)
        return found.set_axis(getattr(rows, "index", found.index), axis=0) if shown.origin == "pandas" else found

    def write(self, path: str | Path, *, also: str | Sequence[str] = (), table: str | None = None) -> Path:
        """Write the release folder, and the holder's folder beside it (NAME.holder).

        `also`: copies of its table for other programs, beside the folder: "excel" (NAME.xlsx), "stata" (NAME.dta),
        "spss" (NAME.sav), "csv", "parquet". Each is read back and counted again before anything is written.

        With the address of a database, once the folder is written: a copy of the table, in one transaction, to a new
        `table` (or ?table= in the address). The folder stays the release, and is given back.

        An earlier release there is replaced, with a warning; anything else is refused. Both folders appear whole or not
        at all. The release is entered in the ledger before it gets its final name, and confirmed there after.
        A release whose noise came from a seed is not private, and its folder's name says so.
        """
        if "://" in str(path):
            if also:
                raise ReleaseError(
                    "also", "copies for other programs lie beside a folder", given="a database", remedy="leave it out"
                )
            return copy_release(Path(self.scratch.name), self.shown, str(path), table)
        if table is not None:
            raise ReleaseError("table", "only a database has tables", given="a folder", remedy="leave it out")
        if self.account is not None and self.account.untold:
            tell_known(self.account, self.recipe, certificate=_digest(self._folder))
        ready, suffixes = self._ready(self.account), suffixes_of(also)
        copies = self._copied(suffixes)
        _refuse_taken(ready.named(Path(path)), suffixes)
        target = ready.write(path)
        remember_written(Path(self.scratch.name), target)
        for copy in copies:
            shutil.copyfile(copy, target.with_name(target.name + copy.suffix))
        return target

    def keep(self, path: str | Path) -> Path:
        """Write both folders for the holder to look at: no ledger knows of them, so they must not leave the house.

        `publishing.trials` makes a release of them.
        """
        return self._ready(None).write(path)

    def _ready(self, account: Account | None) -> Ready:
        return Ready(self._folder, self.recipe, self.certificate, account, self._write_holder)

    def _copied(self, suffixes: Sequence[str]) -> list[Path]:
        """Copies of the verified table among the temporary files."""
        found = [Path(self.scratch.name) / f"copy{suffix}" for suffix in suffixes]
        if found:
            table = typed_rows(self._folder)
            for path in found:
                export(table, self.certificate, path)
        return found

    @property
    def _folder(self) -> Path:
        """The verified folder, still in a temporary place."""
        return Path(self.scratch.name) / "release"

    def _write_holder(self, folder: Path) -> None:
        private_folder(folder)
        write_private(folder / "recipe.yaml", self.recipe.to_yaml())
        if self.source is not None:
            write_private(folder / TABLE_WAS, f"{self.source.absolute()}\n")
        write_private_json(folder / HISTORY, self.history)
        write_private_json(folder / "evaluation.json", self.scores)
        write_private_json(folder / "timings.json", self.timings)
        for name, content in self.holder.items():
            already = holder_of(self._folder) / name  # as verify has seen it
            if already.is_file():
                copy_private(already, folder / name)
            else:
                write_kept(folder / name, content)
        if self.report is not None:
            write_private(folder / REPORT, self.report)
        for name, page in self.papers.items():
            write_private(folder / name, page)
        write_private(folder / "README.md", HOLDER_PAGE)


@dataclass(frozen=True, eq=False)
class Ready:
    """A verified folder that is ready to be written elsewhere, and how the holder's folder beside it is made.

    `account`: where it is entered; None where it is not.
    """

    folder: Path
    recipe: Recipe
    certificate: Mapping[str, Any]
    account: Account | None
    make_holder: Callable[[Path], None]

    def write(self, path: str | Path) -> Path:
        """Both folders under their final names, entered before they get them."""
        target = self.named(Path(path))
        holder = holder_of(target)
        try:
            refuse_inside(target)
            with placed(target, holder, make_release=self._copy, make_holder=self.make_holder) as name_them:
                for folder in (target, holder):
                    refuse_strangers(folder)
                before = None if _digest(target) == _digest(self.folder) else _created(target)
                self._entered(target, name_them)
        except OSError as error:
            raise ReleaseError(
                str(target),
                "the folder must be writable",
                given=_why(error),
                remedy="make room or choose another place; nothing is left",
            ) from error
        if before is not None and self.account is not None:
            warn(visible(f"{target}: the release of {before} was replaced; whoever has that one has both"))
        return target

    def _entered(self, target: Path, name_them: Callable[[], None]) -> None:
        """Entered, then named, then confirmed: a release under its final name is never without an entry."""
        if self.account is None:
            name_them()
            return
        ledger, rules = self.account.ledger, self.account.rules
        certificate = (self.folder / CERTIFICATE).read_bytes()
        digest = hashlib.sha256(certificate).hexdigest()
        entry = ledger.intend(
            self.account.people,
            recipe=recipe_hash(self.recipe),
            certificate=certificate,
            form=self.certificate,
            folder=str(target.absolute()),
            check=lambda entries: rules.refuse(entries, certificate=digest),
        )
        name_them()
        try:
            ledger.written(entry)
        except LedgerError as error:  # it stands, and is entered as intended: that is told, and nothing else is wrong
            warn(f"{target} stands, and the ledger could not confirm it: {error}")

    def _copy(self, folder: Path) -> None:
        shutil.copytree(self.folder, folder)
        _plain_to_all(folder, datetime.fromisoformat(str(self.certificate["created"])).timestamp())

    def named(self, path: Path) -> Path:
        """The folder that is written: what is not private says so in its name."""
        private = self.certificate.get("differential_privacy", {}).get("private", True)
        return path if private or path.name.endswith(NOT_PRIVATE) else path.with_name(f"{path.name}.{NOT_PRIVATE}")


def _refuse_taken(target: Path, suffixes: Sequence[str]) -> None:
    """A copy takes the place of an earlier release's copy, and of no other file."""
    for suffix in suffixes:
        path = target.with_name(target.name + suffix)
        if path.exists() and not (target / CERTIFICATE).is_file():
            raise ReleaseError(
                str(path), "a copy has a new name", given="a file that is there already", remedy="choose another name"
            )


def _plain_to_all(folder: Path, created: float) -> None:
    """What goes out is readable for everybody and of one time, the certificate's: it tells not how long what took."""
    for path in (*folder.rglob("*"), folder):
        path.chmod(0o755 if path.is_dir() else 0o644)
        os.utime(path, (created, created))


def _promised(claims: Sequence[Mapping[str, Any]], guarantee: str) -> list[str]:
    """The promise in its own words, or, where several are made on the same columns, these once: a table tells more.

    >>> k = {"claim": "k_anonymity", "on": ["age", "sex"], "k": 5}
    >>> _promised([k, {**k, "claim": "l_diversity"}], "..."), _promised([k], "At least 5 records ...")
    (['On age, sex; guarantee says it in whole sentences.'], ['At least 5 records ...'])
    """
    if len(claims) < 2:
        return [guarantee]
    on = {tuple(one["on"]) for one in claims}
    return [f"{'On ' + ', '.join(next(iter(on))) + '; ' if len(on) == 1 else ''}guarantee says it in whole sentences."]


def _claimed(claim: Mapping[str, Any]) -> str:
    """A claim's name, with what it is about, its kind and what was asked, where it says so.

    >>> _claimed({"claim": "l_diversity", "sensitive": "ill", "l": 3, "kind": "entropy", "achieved": 4})
    'l_diversity of ill, entropy, l = 3'
    """
    of = f" of {claim['sensitive']}" if "sensitive" in claim else ""
    kind = [claim["kind"]] if "kind" in claim else []
    asked = [f"{name} = {one}" for name, one in claim.items() if name != "achieved" and isinstance(one, int | float)]
    return ", ".join([f"{claim['claim']}{of}", *kind, *asked])


def _reached(achieved: Any) -> str:
    if isinstance(achieved, Mapping):
        return ", ".join(f"{name} = {figure:g}" for name, figure in achieved.items())
    return str(achieved)


HOLDER_PAGE = """# For the holder's eyes only

These files compare the masked table with the raw one. Never hand them over with the release.
"""


def _why(error: OSError) -> str:
    """The system's reason. Copying a folder gives a list of all files with their reasons in it: the first will do."""
    found = re.search(r"\[Errno (\d+)\]", str(error))
    return error.strerror or (os.strerror(int(found[1])) if found else "files that could not be copied there")


def _digest(folder: Path) -> str:
    """The SHA-256 of a release's certificate, by which it is known; nothing where there is none."""
    try:
        return hashlib.sha256(read_regular(folder / CERTIFICATE, most=MOST_OF_JSON)).hexdigest()
    except (CheckError, OSError):
        return ""


def _created(folder: Path) -> str | None:
    """When the release that stands in a folder was made, as its certificate says; None where there is none."""
    try:
        found = json.loads(read_regular(folder / CERTIFICATE, most=MOST_OF_JSON))
        return str(found["created"])
    except (CheckError, OSError, ValueError, KeyError, TypeError, RecursionError):
        return None
