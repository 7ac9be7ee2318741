"""The files of a release: those that the certificate lists, unchanged, and not one more."""

from __future__ import annotations

import hashlib
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from sfumato.errors import ReleaseError
from sfumato.privacy.verify.canonical import ALONG, TABLES
from sfumato.privacy.verify.certificate import Certificate
from sfumato.privacy.verify.fields import Form, field, mapping, read_json
from sfumato.privacy.verify.maskers import MASKERS, RECODING
from sfumato.privacy.verify.readme import README, readme
from sfumato.privacy.verify.recoding import Recoding, part_of, read_recoding
from sfumato.privacy.verify.rule import tree_file
from sfumato.privacy.verify.signature import SIGNATURE
from sfumato.privacy.verify.table import Written, one_form, read_table
from sfumato.privacy.verify.twins import NAMES, REPORT, html, markdown
from sfumato.privacy.verify.verdict import CheckError

if TYPE_CHECKING:
    import polars as pl

CERTIFICATE = "certificate.json"
# Made from the certificate, so it cannot hold their hashes; each has a check of its own.
BESIDE = {*NAMES, SIGNATURE}


class Folder:
    """Owns the path of one release, and reads each part of it once, when it is first asked for."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._forms: dict[str, Form] = {}
        if not (self.path / CERTIFICATE).is_file():
            raise ReleaseError(
                str(path),
                f"a release is a folder with a {CERTIFICATE}",
                given="a folder without it" if self.path.is_dir() else "no folder",
                remedy="name the folder that was written by publish",
            )

    @cached_property
    def files(self) -> dict[str, Path]:
        """Everything in the folder that is no folder, by its name seen from the folder."""
        found = sorted(path for path in self.path.rglob("*") if path.is_symlink() or not path.is_dir())
        return {path.relative_to(self.path).as_posix(): path for path in found}

    def file(self, name: str) -> Path:
        """One of the files."""
        if name not in self.files:
            raise CheckError(f"{name} is missing")
        return self.files[name]

    def json(self, name: str) -> Form:
        """One of the JSON files."""
        if name not in self._forms:
            self._forms[name] = read_json(self.file(name))
        return self._forms[name]

    @cached_property
    def certificate(self) -> Certificate:
        """The certificate."""
        return Certificate(self.json(CERTIFICATE))

    @cached_property
    def explaining(self) -> set[str]:
        """The files that may explain the table: that of its masker, the trees that it cuts, aggregates beside it.

        A file of another name is refused even if the certificate lists it: nobody would have looked into it.
        """
        own = MASKERS[self.certificate.mask].file
        trees = {tree_file(name) for name in self.recoding.trees}
        along = set() if self.certificate.claims_nothing else {f"{name}.json" for name in ALONG}
        return {*trees, *along, *([own] if own is not None else [])}

    @cached_property
    def recoding(self) -> Recoding:
        """What may be shown, of every masked column."""
        if MASKERS[self.certificate.mask].file != RECODING:
            return Recoding({}, False)
        return read_recoding(self.json(RECODING), lambda name: self.json(tree_file(name)))

    @cached_property
    def whole_recoding(self) -> Recoding:
        """The recoding of which the released one is a part, from the holder's folder; where none is, the released one.

        Asked for where the raw table is at hand, and by nobody else: that is for the holder alone.
        """
        kept = self.path.resolve()
        kept = kept.with_name(f"{kept.name}.holder") / "whole"
        if not self.recoding.rules or not (kept / RECODING).is_file():
            return self.recoding
        whole = read_recoding(read_json(kept / RECODING), lambda name: read_json(kept / tree_file(name)))
        return part_of(self.recoding, whole)

    @cached_property
    def _written(self) -> Written | CheckError:
        """The table's file, looked at once, also where it is refused."""
        try:
            return read_table(self.file(self.certificate.file), self.certificate)
        except CheckError as error:
            return error

    @property
    def written(self) -> Written:
        """The released table, and what was found about the form of its file."""
        if isinstance(self._written, CheckError):
            raise CheckError(str(self._written))
        return self._written

    @property
    def table(self) -> pl.DataFrame:
        """The released table, read by a library that did not write it."""
        return self.written.table

    @cached_property
    def counted(self) -> pl.DataFrame:
        """The released table with each unmasked number in one form, for claims about different values."""
        return one_form(self.table, self.certificate)


def listed(folder: Folder) -> str:
    """The folder holds the files that the certificate lists, and nothing else."""
    expected = {*folder.certificate.hashes, CERTIFICATE, *(BESIDE & set(folder.files))}
    _refuse("is made from the certificate and cannot be listed in it", BESIDE & set(folder.certificate.hashes))
    _refuse("is not listed in the certificate", set(folder.files) - expected)
    _refuse("is missing", expected - set(folder.files))
    _refuse("is a link, not a file", {name for name, path in folder.files.items() if path.is_symlink()})
    parents = {parent for path in folder.files.values() for parent in path.parents}
    empty = {p.name for p in folder.path.rglob("*") if p.is_dir() and not p.is_symlink() and p not in parents}
    _refuse("is an empty folder", empty)
    known = {CERTIFICATE, README, REPORT, folder.certificate.file, *BESIDE, *folder.explaining}
    _refuse("is a second table", set(TABLES) & set(folder.files) - {folder.certificate.file})
    _refuse("is no part of a release", set(folder.files) - known)
    return f"{len(folder.files)} files, each of them listed or made from the certificate"


def hashes(folder: Folder) -> str:
    """Every file is the one that was written."""
    expected = folder.certificate.hashes
    _refuse(
        "is not the file that was written: its SHA-256 differs",
        {name for name, sha256 in expected.items() if _sha256(folder.file(name)) != sha256},
    )
    return f"SHA-256 of {len(expected)} files"


def pages(folder: Folder) -> str:
    """The pages for people say what the certificate says, to the letter."""
    made = {README: readme, "certificate.md": markdown, "certificate.html": html}
    found = [name for name in made if name == README or name in folder.files]
    for name in found:
        if folder.file(name).read_bytes() != made[name](folder.certificate.form).encode():
            raise CheckError(f"{name} is not what is made from the certificate")
    return f"{', '.join(found)}: made from the certificate, to the byte"


def units(folder: Folder) -> str:
    """The certificate tells the calendar units of intervals as the recoding does."""
    told = {column.name: column.calendar for column in folder.certificate.columns if column.masked == "discretize"}
    if told:
        rules = field(folder.json(RECODING), "attributes", dict)
        _refuse(
            "has another calendar in recoding.json than in the certificate",
            {name for name, unit in told.items() if mapping(rules.get(name), name).get("calendar") != unit},
        )
    dates = sum(unit is not None for unit in told.values())
    return f"{dates} columns of dates, in the same units" if dates else "no column of dates"


def readable(folder: Folder) -> str:
    """Every JSON file can be read."""
    found = [name for name in folder.files if name.endswith(".json")]
    for name in found:
        folder.json(name)
    return f"{len(found)} files"


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _refuse(what: str, found: set[str]) -> None:
    if found:
        more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
        raise CheckError(f"{min(found)} {what}{more}")
