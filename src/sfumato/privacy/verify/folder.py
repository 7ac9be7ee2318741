"""The files of a release: those that the certificate lists, unchanged, and not one more."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from sfumato.errors import ReleaseError
from sfumato.privacy.verify.canonical import ALONG, DESCRIBED, written
from sfumato.privacy.verify.certificate import Certificate
from sfumato.privacy.verify.explained.recoding import Recoding, part_of, read_recoding
from sfumato.privacy.verify.explained.trees import tree_columns, tree_file
from sfumato.privacy.verify.fields import Form, field, mapping, read_json
from sfumato.privacy.verify.files.regular_files import (
    CERTIFICATE,
    JSON_OF_A_ROW,
    SIGNATURE,
    SMALL_JSON,
    TABLES,
    Contents,
    contents,
    kind_of,
    most_of,
    read_regular,
    sha256_of,
)
from sfumato.privacy.verify.maskers import EXTENTS, LOOKED_INTO, MASKERS, RECODING
from sfumato.privacy.verify.table import Written, one_form, read_table
from sfumato.privacy.verify.texts.datapackage import PACKAGE, described
from sfumato.privacy.verify.texts.pages import NAMES, REPORT, html, markdown
from sfumato.privacy.verify.texts.readme import README, readme
from sfumato.privacy.verify.verdict import CheckError, Idle, Looked

if TYPE_CHECKING:
    import polars as pl

T = TypeVar("T")


class once(Generic[T]):  # noqa: N801 - it stands where `property` does
    """Owns the finding of one property; what it found lies in the object, under the property's own name."""

    def __init__(self, find: Callable[[Any], T]) -> None:
        self.find, self.__doc__ = find, find.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, asked: object, owner: type) -> T:
        """Only for the first time, and after a failure: later on the object's own entry is found before this."""
        from polars.exceptions import PanicException

        failed = f"why {self.name} is not there"
        if failed in vars(asked):
            raise CheckError(vars(asked)[failed])
        try:
            found = self.find(asked)
        except (Exception, PanicException) as error:
            known = isinstance(error, CheckError)
            words = str(error) if known else f"cannot be checked: {type(error).__name__}"
            vars(asked)[failed] = words  # the words alone: the error holds on to all that was read
            raise CheckError(words) from None
        vars(asked)[self.name] = found
        return found


# Made from the certificate, so it cannot hold their hashes; each has a check of its own.
BESIDE = {*NAMES, SIGNATURE}


class Folder:
    """Owns the path of one release, and reads each part of it once, when it is first asked for."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._forms: dict[str, Form] = {}
        self._made: dict[Hashable, Any] = {}
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

    def made(self, key: Hashable, make: Callable[[], T]) -> T:
        """What several checks make of this release, made by the first of them."""
        if key not in self._made:
            self._made[key] = make()
        found: T = self._made[key]
        return found

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
        labelled = tree_columns(self.json(EXTENTS)) if own == EXTENTS else []
        trees = {tree_file(name) for name in (*self.recoding.trees, *self.recoding.nested, *labelled)}
        along = set() if self.certificate.claims_nothing else {f"{name}.json" for name in ALONG}
        package = {PACKAGE} if self.certificate.format >= DESCRIBED else set()
        return {*trees, *package, *(name for name in (*along, own) if name in LOOKED_INTO)}

    @once
    def recoding(self) -> Recoding:
        """What may be shown, of every masked column."""
        if MASKERS[self.certificate.mask].file != RECODING:
            return Recoding({}, False)
        spelling = self.certificate.spelling
        return read_recoding(self.json(RECODING), lambda name: self.json(tree_file(name)), spelling=spelling)

    @once
    def whole_recoding(self) -> Recoding:
        """The recoding of which the released one is a part, from the holder's folder; where none is, the released one.

        Asked for where the raw table is at hand, and by nobody else: that is for the holder alone.
        """
        kept = self.path.resolve()
        kept = kept.with_name(f"{kept.name}.holder") / "whole"
        if not self.recoding.rules or not (kept / RECODING).is_file():
            return self.recoding
        whole = read_recoding(
            read_json(kept / RECODING),
            lambda name: read_json(kept / tree_file(name)),
            spelling=self.certificate.spelling,
        )
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


def package(folder: Folder) -> str:
    """The descriptor of the table is what the table and the certificate make of it, to the byte."""
    if folder.certificate.format < DESCRIBED and PACKAGE not in folder.files:
        return f"a release of format {folder.certificate.format} has none"
    size = folder.contents.sizes[folder.certificate.file]
    if folder.content(PACKAGE) != written(described(folder.certificate.form, folder.table, size)):
        raise CheckError(f"{PACKAGE} is not what is made from the table and the certificate")
    return f"{PACKAGE}: made from the table and the certificate, to the byte"


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
    return f"{dates} columns of dates, in the same units" if dates else Idle("this release has no recoding of dates")


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


RECOUNTED = "recounted, and every byte of it accounted for"
MADE_AGAIN = "made again from the certificate and compared to the byte"
DESCRIBES = "made again from the table and the certificate and compared to the byte"
REBUILT = "made again from its own settings and compared to the byte"
HELD = "read, and held against the table"
SIGNED = "checked as a signature"
NOT_CHECKED = "NOT CHECKED beyond its SHA-256"
STRANGE = "NOT CHECKED: no part of a release"
HOW = {
    "certificate.json": REBUILT,
    README: MADE_AGAIN,
    **dict.fromkeys(NAMES, MADE_AGAIN),
    **dict.fromkeys(TABLES, RECOUNTED),
    SIGNATURE: SIGNED,
    PACKAGE: DESCRIBES,
    REPORT: NOT_CHECKED,
}
# How a report begins: with the policy that forbids a browser to load or to run anything.
BEGINS = (
    '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
    '<meta name="viewport" content="width=device-width, initial-scale=1">'
    '<meta http-equiv="Content-Security-Policy" '
    "content=\"default-src 'none'; style-src 'unsafe-inline'; img-src data:\">"
)
TAGS = {
    *("html", "head", "title", "style", "body", "section", "nav", "div", "span", "p", "pre", "code", "a", "br"),
    *("h1", "h2", "h3", "h4", "ul", "ol", "li", "table", "thead", "tbody", "tr", "th", "td", "details", "summary"),
    *("figure", "figcaption", "img", "em", "strong", "b", "i", "small"),
    *("svg", "g", "path", "rect", "circle", "line", "polyline", "polygon", "text", "tspan", "defs", "clippath", "use"),
    *("image", "lineargradient", "pattern", "stop", "desc"),
}
# Quantifiers that give nothing back: a page made of spaces would be searched for ever.
_TAG = re.compile(r"<\s*+/?\s*+(!--|[!?a-z][^\s>/]{0,20})", re.IGNORECASE)
_POINTS = re.compile(r"""<[^<>]*[\s:](?:href|src|action)\s*+=\s*+["']?\s*+(?!#|data:image/)[^\s"'>]""", re.IGNORECASE)


def coverage(release: Folder) -> tuple[Looked, ...]:
    """Of every file that is there, how it was checked."""
    known = release.explaining
    return tuple(Looked(name, HOW.get(name, HELD if name in known else STRANGE)) for name in release.files)


def unchecked(release: Folder) -> tuple[str, ...]:
    """The files that nobody could look into."""
    return tuple(one.name for one in coverage(release) if one.how in (NOT_CHECKED, STRANGE))


def all_checked(release: Folder) -> str:
    """For whoever asks for a strict verdict: there is no file that cannot be checked."""
    found = unchecked(release)
    if found:
        raise CheckError(f"{found[0]} cannot be checked beyond its SHA-256: it might say or hold anything")
    return "every file was checked"


def harmless(release: Folder) -> str:
    """What can be seen of a report: a browser loads nothing for it and runs nothing. What it says is not checked."""
    if REPORT not in release.files:
        return Idle("this release has none")
    page = release.content(REPORT).decode("utf-8")
    if not page.startswith(BEGINS):
        raise CheckError(f"{REPORT} does not begin by forbidding a browser to load or to run anything")
    tags = (found[1].lower() for found in _TAG.finditer(page, len(BEGINS)))
    if any(tag not in TAGS for tag in tags) or _POINTS.search(page, len(BEGINS)):
        raise CheckError(f"{REPORT} holds a script, a form, or an address outside itself")
    return f"{REPORT} runs nothing and loads nothing; what it says was NOT CHECKED"
