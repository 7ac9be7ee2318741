"""The files of a release: those that the certificate lists, unchanged, and not one more."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from sfumato.errors import ReleaseError
from sfumato.privacy.verify.canonical import ALONG, TABLES
from sfumato.privacy.verify.certificate import Certificate
from sfumato.privacy.verify.fields import Form, field, mapping, read_json
from sfumato.privacy.verify.maskers import MASKERS, RECODING
from sfumato.privacy.verify.once import once
from sfumato.privacy.verify.readme import README, readme
from sfumato.privacy.verify.recoding import Recoding, part_of, read_recoding
from sfumato.privacy.verify.regular_files import (
    JSON_OF_A_ROW,
    SMALL_JSON,
    Contents,
    contents,
    kind_of,
    most_of,
    read_regular,
    sha256_of,
)
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
        given = _instead_of_certificate(self.path)
        if given:
            raise ReleaseError(
                str(path),
                f"a release is a folder with a {CERTIFICATE}",
                given=given,
                remedy="name the folder that was written by publish",
            )

    @once
    def contents(self) -> Contents:
        """Everything in the folder, as it was when it was first looked at."""
        return contents(self.path)

    @property
    def files(self) -> dict[str, Path]:
        """The plain files in the folder, by their names seen from there."""
        return self.contents.files

    def file(self, name: str) -> Path:
        """One of the files: a plain one, and no larger than such a file can be."""
        if name in self.contents.others:
            raise CheckError(f"{name} is {self.contents.others[name]}, not a file")
        if name not in self.files:
            raise CheckError(f"{name} is missing")
        most = most_of(name)
        if most is not None and self.contents.sizes[name] > most:
            raise CheckError(f"{name} has more than {most} bytes")
        if name.endswith(".json") and self.contents.sizes[name] > SMALL_JSON:
            self._refuse_idle(name)
        return self.files[name]

    def _refuse_idle(self, name: str) -> None:
        """Reading JSON takes ten times its size: a large one belongs to a large table that could be read."""
        if self.contents.sizes[name] > SMALL_JSON + JSON_OF_A_ROW * self.table.height:
            raise CheckError(f"{name} has more bytes than a table of so many rows needs to be explained")

    def content(self, name: str) -> bytes:
        """The bytes of one of the files that are read whole: not of the table."""
        return read_regular(self.file(name), most=most_of(name) or 0)

    def json(self, name: str) -> Form:
        """One of the JSON files."""
        if name not in self._forms:
            self._forms[name] = read_json(self.file(name))
        return self._forms[name]

    @once
    def certificate(self) -> Certificate:
        """The certificate."""
        return Certificate(self.json(CERTIFICATE))

    @once
    def explaining(self) -> set[str]:
        """The files that may explain the table: that of its masker, the trees that it cuts, aggregates beside it.

        A file of another name is refused even if the certificate lists it: nobody would have looked into it.
        """
        own = MASKERS[self.certificate.mask].file
        trees = {tree_file(name) for name in self.recoding.trees}
        along = set() if self.certificate.claims_nothing else {f"{name}.json" for name in ALONG}
        return {*trees, *along, *([own] if own is not None else [])}

    @once
    def recoding(self) -> Recoding:
        """What may be shown, of every masked column."""
        if MASKERS[self.certificate.mask].file != RECODING:
            return Recoding({}, False)
        return read_recoding(self.json(RECODING), lambda name: self.json(tree_file(name)))

    @once
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

    @once
    def written(self) -> Written:
        """The released table, and what was found about the form of its file."""
        return read_table(self.file(self.certificate.file), self.certificate)

    @property
    def table(self) -> pl.DataFrame:
        """The released table, read by a library that did not write it."""
        return self.written.table

    @once
    def counted(self) -> pl.DataFrame:
        """The released table with each unmasked number in one form, for claims about different values."""
        return one_form(self.table, self.certificate)


def listed(folder: Folder) -> str:
    """The folder holds the files that the certificate lists, and nothing else."""
    for name, kind in sorted(folder.contents.others.items()):
        raise CheckError(f"{name} is {kind}, not a file")
    expected = {*folder.certificate.hashes, CERTIFICATE, *(BESIDE & set(folder.files))}
    _refuse("is made from the certificate and cannot be listed in it", BESIDE & set(folder.certificate.hashes))
    _refuse("is not listed in the certificate", set(folder.files) - expected)
    _refuse("is missing", expected - set(folder.files))
    _refuse("is an empty folder", set(folder.contents.empty))
    known = {CERTIFICATE, README, REPORT, folder.certificate.file, *BESIDE, *folder.explaining}
    _refuse("is a second table", set(TABLES) & set(folder.files) - {folder.certificate.file})
    _refuse("is no part of a release", set(folder.files) - known)
    return f"{len(folder.files)} files, each of them listed or made from the certificate"


def hashes(folder: Folder) -> str:
    """Every file is the one that was written. A table that cannot be read, however large, is not even added up."""
    expected = folder.certificate.hashes
    _ = folder.table
    _refuse(
        "is not the file that was written: its SHA-256 differs",
        {name for name, sha256 in expected.items() if sha256_of(folder.file(name), most=most_of(name)) != sha256},
    )
    return f"SHA-256 of {len(expected)} files"


def pages(folder: Folder) -> str:
    """The pages for people say what the certificate says, to the letter."""
    made = {README: readme, "certificate.md": markdown, "certificate.html": html}
    found = [name for name in made if name == README or name in folder.files]
    for name in found:
        if folder.content(name) != made[name](folder.certificate.form).encode():
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


def _instead_of_certificate(folder: Path) -> str:
    """What stands where a certificate should be; nothing where one does."""
    try:
        kind = kind_of((folder / CERTIFICATE).lstat())
    except (OSError, ValueError):
        return "a folder without it" if folder.is_dir() else "no folder"
    return f"{CERTIFICATE} is {kind}, not a file" if kind else ""


def _refuse(what: str, found: set[str]) -> None:
    if found:
        more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
        raise CheckError(f"{min(found)} {what}{more}")
