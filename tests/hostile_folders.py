"""Folders that were made to hang, to exhaust or to mislead whoever verifies them: one function a kind.

Each changes a copy of an honest release in place. They share no code with verify.
"""

from __future__ import annotations

import hashlib
import json
import os
import socket
import stat
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests import parquet_bombs as bombs

Make = Callable[[Path], object]
HOSTILE: dict[str, Hostile] = {}
TEN_GB = 10 << 30
CERTIFICATE = "certificate.json"
FAKE = "age\x1b[2J\x1b[HHOLDS: all 19 checks\n  ok    columns"


@dataclass(frozen=True)
class Hostile:
    """One kind of folder. `cheap`: it is made and verified in a moment. `says`: words that the verdict has."""

    name: str
    of: str
    make: Make
    cheap: bool
    says: str


def hostile(name: str, *, of: str = "k_anonymity", cheap: bool = True, says: str = "") -> Callable[[Make], Make]:
    """Enter a function that makes such a folder out of a release of this kind."""

    def enter(make: Make) -> Make:
        if name in HOSTILE:
            raise ValueError(f"two hostile folders are called {name!r}")
        HOSTILE[name] = Hostile(name, of, make, cheap, says)
        return make

    return enter


def replaced(folder: Path, name: str) -> Path:
    """Where a file was."""
    path = folder / name
    path.unlink(missing_ok=True)
    return path


def sparse(path: Path, size: int = TEN_GB, start: bytes = b"", end: bytes = b"") -> None:
    """A file of zeros that takes no room."""
    with path.open("wb") as file:
        file.write(start)
        file.seek(size - len(end))
        file.write(end)
        file.truncate(size)


def form_of(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / CERTIFICATE).read_text(encoding="utf-8"))
    return found


def write_form(folder: Path, form: Any) -> None:
    (folder / CERTIFICATE).write_bytes(tidy(form))


def tidy(form: Any) -> bytes:
    """JSON as a release has it."""
    return (json.dumps(form, indent=1, ensure_ascii=False) + "\n").encode("utf-8", "surrogatepass")


def fit(folder: Path) -> None:
    """The certificate lists every file, with its hash."""
    form = form_of(folder)
    names = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
    form["files"] = {
        name: {"sha256": _hash(path)}
        for name, path in names.items()
        if name not in (CERTIFICATE, "certificate.md", "certificate.html", "certificate.sig")
    }
    write_form(folder, form)


def _hash(path: Path) -> str:
    small = path.stat().st_size < 100 << 20  # a hostile certificate need not be right about a file of 10 GB
    return hashlib.sha256(path.read_bytes()).hexdigest() if small else "0" * 64


def put(folder: Path, name: str, content: bytes) -> None:
    """A file that the certificate lists."""
    (folder / name).write_bytes(content)
    fit(folder)


def columns_of(folder: Path) -> list[str]:
    return [column["name"] for column in form_of(folder)["table"]["columns"]]


# What is no file


def _enter_pipes() -> None:
    said = {
        CERTIFICATE: "is a pipe",
        "table.parquet": "is a pipe",
        "README.md": "",
        "recoding.json": "",
        "certificate.html": "",
        "certificate.sig": "",
        "taxonomies/education.json": "",
        "raw.csv": "",
    }
    for name in said:

        @hostile(f"a pipe called {name}", says="is a pipe, not a file")
        def pipe(folder: Path, name: str = name) -> None:
            os.mkfifo(replaced(folder, name))

    for name in (CERTIFICATE, "table.parquet", "README.md", "centres.json"):

        @hostile(f"a link to an endless device called {name}", says="is a link, not a file")
        def device(folder: Path, name: str = name) -> None:
            replaced(folder, name).symlink_to("/dev/zero")


_enter_pipes()


@hostile("a link to itself", says="is a link, not a file")
def circle(folder: Path) -> None:
    replaced(folder, "table.parquet").symlink_to("table.parquet")


@hostile("a link to a terminal", says="is a link, not a file")
def terminal(folder: Path) -> None:
    replaced(folder, "README.md").symlink_to("/dev/stdin")


@hostile("a folder that is a link to the root of all files", says="is a link, not a file")
def root(folder: Path) -> None:
    (folder / "taxonomies" / "education.json").unlink()
    (folder / "taxonomies").rmdir()
    (folder / "taxonomies").symlink_to("/")


@hostile("a folder that is a link to the folder above", says="is a link, not a file")
def above(folder: Path) -> None:
    (folder / "again").symlink_to("..")


@hostile("a socket", says="is a socket, not a file")
def socket_(folder: Path) -> None:
    path = replaced(folder, "README.md")
    here = Path.cwd()
    os.chdir(folder)  # the name of a socket is short
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(path.name)
    os.chdir(here)


@hostile("a device", says="not a file")
def node(folder: Path) -> None:
    path = replaced(folder, "table.parquet")
    try:
        os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, 5))
    except PermissionError:  # root alone makes devices; a link to one is as good
        path.symlink_to("/dev/zero")


@hostile("a folder instead of the table", says="table.parquet is missing")
def folder_table(folder: Path) -> None:
    replaced(folder, "table.parquet").mkdir()


@hostile("a folder instead of the certificate", says="certificate.json is a folder, not a file")
def folder_certificate(folder: Path) -> None:
    replaced(folder, CERTIFICATE).mkdir()


# Too many, too deep, too large


@hostile("many thousands of files", cheap=False, says="more than 10000 files")
def files(folder: Path) -> None:
    for at in range(12_000):
        (folder / f"{at}").touch()


@hostile("many thousands of folders", cheap=False, says="more than 10000 files")
def folders(folder: Path) -> None:
    for at in range(12_000):
        (folder / f"{at}").mkdir()


@hostile("folders hundreds deep", says="deep")
def deep(folder: Path) -> None:
    for _ in range(300):
        folder = folder / "a"
        folder.mkdir()


@hostile("file names that speak", says="\\x1b[2J")
def names(folder: Path) -> None:
    (folder / FAKE.replace("/", "")).touch()


@hostile("a file name that is no text", says="\\udcff")
def no_text(folder: Path) -> None:
    (Path(os.fsdecode(os.fsencode(folder) + b"/\xff\xfe"))).touch()


def _enter_large() -> None:
    large = (
        CERTIFICATE,
        "README.md",
        "recoding.json",
        "report.html",
        "certificate.sig",
        "certificate.md",
        "taxonomies/education.json",
        "centres.json",
    )
    for name in large:

        @hostile(f"10 GB called {name}", says="bytes")
        def sized(folder: Path, name: str = name) -> None:
            sparse(replaced(folder, name))
            if name != CERTIFICATE:
                fit(folder)


_enter_large()


@hostile("10 GB of nothing as Parquet", says="table.parquet")
def sparse_table(folder: Path) -> None:
    sparse(replaced(folder, "table.parquet"))
    fit(folder)


@hostile("10 GB of nothing between the marks of Parquet")
def marked_table(folder: Path) -> None:
    footer = bombs.listing(1)[4:]
    sparse(replaced(folder, "table.parquet"), start=b"PAR1", end=footer)
    fit(folder)


@hostile("10 GB of nothing as CSV", of="csv")
def sparse_csv(folder: Path) -> None:
    head = ",".join(columns_of(folder)).encode() + b"\n"
    sparse(replaced(folder, "table.csv"), start=head)
    fit(folder)


@hostile("pages of half a gigabyte together", says="MiB together")
def pages(folder: Path) -> None:
    for at in range(40):
        sparse(folder / f"page{at}.html", 15 << 20)
    form = form_of(folder)
    form["files"] |= {f"page{at}.html": {"sha256": "0" * 64} for at in range(40)}
    write_form(folder, form)


# Certificates


def _text(name: str, change: Callable[[str], str], **more: Any) -> None:
    @hostile(name, **more)
    def certificate(folder: Path) -> None:
        path = folder / CERTIFICATE
        path.write_text(change(path.read_text(encoding="utf-8")), encoding="utf-8")


_text("a number of 5,000 digits", lambda text: text.replace('"rows": 200', f'"rows": {10**4000}{10**1000}'))
_text("a number of a million digits", lambda text: text.replace('"rows": 200', f'"rows": {"9" * 10**6}'))
_text("a number beyond all numbers", lambda text: text.replace('"rows": 200', '"rows": 1e999'))
_text("not a number", lambda text: text.replace('"lifted": 0', '"lifted": NaN'))
_text("lists 100,000 deep", lambda text: text.replace('"rows": 200', f'"rows": {"[" * 10**5 + "]" * 10**5}'))
_text("mappings 100,000 deep", lambda text: '{"a":' * 10**5 + text + "}" * 10**5)
_text("a certificate of zeros", lambda text: "\0" * 10**6)
_text("one key 300,000 times", lambda text: "{" + ",".join(['"format": 1'] * 3 * 10**5) + "}", cheap=False)
_text("a million empty lists", lambda text: text[:-2] + ', "x": [' + ",".join(["[]"] * 10**6) + "]}", cheap=False)
_text("two million ones", lambda text: text[:-2] + ', "x": [' + ",".join("1" * 2 * 10**6) + "]}", cheap=False)


def _form(name: str, change: Callable[[dict[str, Any]], object], **more: Any) -> None:
    @hostile(name, **more)
    def certificate(folder: Path) -> None:
        form = form_of(folder)
        change(form)
        write_form(folder, form)


COLUMN = {"kind": "category", "role": "quasi", "masked": "suppress"}
_form("a thousand million rows", lambda form: form["table"].update(rows=10**9), says="does not have 1000000000 rows")
_form("as many rows as a number can say", lambda form: form["table"].update(rows=2**63 - 1))
_form("a column that speaks", lambda form: form["table"]["columns"][0].update(name=FAKE), says="hidden characters")
_form("a column of a million letters", lambda form: form["table"]["columns"][0].update(name="a" * 10**6))
_form("a column that turns the line round", lambda form: form["table"]["columns"][0].update(name="\u202eega"))
_form("a column that is half a character", lambda form: form["table"]["columns"][0].update(name="\ud800"))
_form("a claim that speaks", lambda form: form["claims"][0].update(on=[FAKE]), says="\\x1b[2J")
_form("a claim called a list", lambda form: form["claims"][0].update(claim=[FAKE]))
_form("a statement of three million letters", lambda form: form.update(statement="age " * 750_000), cheap=False)
_form(
    "a file listed by a path out of the folder",
    lambda form: form["files"].update({"../../../../etc/passwd": {"sha256": "0" * 64}}),
)
_form("a table outside the folder", lambda form: form["table"].update(file="/etc/passwd"))
_form("a mask that is a path", lambda form: form.update(mask="../../../etc/passwd"))


@hostile("thirty thousand columns", cheap=False, says="at most 10000 columns")
def many_columns(folder: Path) -> None:
    form = form_of(folder)
    form["table"]["columns"] += [{"name": f"c{at}", **COLUMN} for at in range(30_000)]
    write_form(folder, form)


@hostile("a claim on a hundred thousand columns", cheap=False)
def wide_claim(folder: Path) -> None:
    form = form_of(folder)
    form["claims"][0]["on"] = [f"c{at}" for at in range(100_000)]
    form["statement"] = "In this table " + ", ".join(form["claims"][0]["on"])
    write_form(folder, form)


@hostile("three thousand claims", cheap=False, says="there are more than 500")
def many_claims(folder: Path) -> None:
    form = form_of(folder)
    form["claims"] *= 1500
    write_form(folder, form)


@hostile("three thousand claims that follow from others", cheap=False, says="there are more than 500")
def many_covered(folder: Path) -> None:
    form = form_of(folder)
    form["covered"] *= 3000
    write_form(folder, form)


@hostile("whoever knows any 12 of 24 columns", cheap=False)
def any_of(folder: Path) -> None:
    form = form_of(folder)
    on = [f"c{at}" for at in range(24)]
    form["claims"] = [{"claim": "lkc", "on": on, "sensitive": "disease", "l": 12, "k": 2, "c": 0.9}]
    write_form(folder, form)


@hostile("uses of a budget with prices of thousands of digits", of="private_tree", cheap=False)
def long_prices(folder: Path) -> None:
    form = form_of(folder)
    part = form["differential_privacy"]
    event = part["events"][0]
    part["events"] = [{**event, "epsilon": f"1/{10**4000 + at}"} for at in range(3000)]
    write_form(folder, form)


# What explains the table


@hostile("a taxonomy 100,000 deep")
def deep_tree(folder: Path) -> None:
    put(folder, "taxonomies/education.json", b'{"label": null, "below": [' * 10**5 + b"]}" * 10**5)


@hostile("a taxonomy a thousand deep and a thousand wide", cheap=False)
def chain(folder: Path) -> None:
    tree = ",".join(f'"{at}"' for at in range(100_000))
    for at in range(900):
        tree = f'{{"label": "n{at}", "below": [{tree}]}}'
    put(folder, "taxonomies/education.json", tree.encode())


@hostile("a taxonomy of 300,000 labels", cheap=False)
def wide_tree(folder: Path) -> None:
    put(folder, "taxonomies/education.json", tidy({"label": None, "below": [f"{at:07}" for at in range(3 * 10**5)]}))


@hostile("a recoding of 300,000 breaks", cheap=False)
def breaks(folder: Path) -> None:
    form = json.loads((folder / "recoding.json").read_text(encoding="utf-8"))
    form["attributes"]["age"]["breaks"] = [17 + at / 10**4 for at in range(1, 3 * 10**5)]
    put(folder, "recoding.json", tidy(form))


@hostile("a million empty mappings in the codebook", cheap=False)
def codebook(folder: Path) -> None:
    put(folder, "codebook.json", b'{"x": [' + b",".join([b"{}"] * 10**6) + b"]}")


@hostile("700,000 empty mappings in the codebook, a line each", cheap=False)
def tidy_codebook(folder: Path) -> None:
    put(folder, "codebook.json", tidy({"x": [{}] * 7 * 10**5}))


@hostile("10 MB of JSON beside 200 rows", says="more bytes than a table of so many rows needs")
def idle(folder: Path) -> None:
    put(folder, "codebook.json", tidy({"x": "a" * (10 << 20)}))


@hostile("a signature nested 100,000 deep")
def signature(folder: Path) -> None:
    (folder / "certificate.sig").write_bytes(b'{"a":' * 10**4 + b"{}" + b"}" * 10**4)


REPORT_BEGINS = (
    '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, '
    'initial-scale=1"><meta http-equiv="Content-Security-Policy" content="'
)


def _report(name: str, body: str) -> None:
    @hostile(name, cheap=False)
    def report(folder: Path) -> None:
        policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
        put(folder, "report.html", f'{REPORT_BEGINS}{policy}">{body}'.encode())


_report("a report of spaces before a mark", ("<" + " " * 200_000 + "\0") * 20)
_report("a report of spaces after an address", ("<a href=" + " " * 200_000 + ">") * 20)
_report("a report of five million marks", "<a>" * 5 * 10**6)
_report("a report of colons and spaces", "<a" + " :" * 10**6 + ("<a" + " href" * 10**5) * 20)


# Tables


@hostile("30 million rows in 221 bytes", cheap=False)
def few_bytes(folder: Path) -> None:
    put(folder, "table.parquet", bombs.claims_rows(["age"], 30_000_000))


@hostile("a thousand million rows in all columns at once", cheap=False)
def many_rows(folder: Path) -> None:
    put(folder, "table.parquet", bombs.claims_rows(columns_of(folder), 1_000_000_000))


@hostile("2 GB packed by gzip", cheap=False)
def gzip_page(folder: Path) -> None:
    put(folder, "table.parquet", bombs.unpacks(["age"], codec=bombs.GZIP, size=(1 << 31) - (1 << 20)))


@hostile("2 GB packed by zstd", cheap=False)
def zstd_page(folder: Path) -> None:
    put(folder, "table.parquet", bombs.unpacks(["age"], codec=bombs.ZSTD, size=(1 << 31) - (1 << 20)))


@hostile("a page that claims less than it unpacks to", cheap=False)
def lying_page(folder: Path) -> None:
    put(folder, "table.parquet", bombs.unpacks(["age"], codec=bombs.GZIP, size=1 << 30, lie=800))


@hostile("a page that claims more than it unpacks to")
def boasting_page(folder: Path) -> None:
    put(folder, "table.parquet", bombs.unpacks(["age"], codec=bombs.ZSTD, size=1 << 20, lie=(1 << 31) - 1))


@hostile("a dictionary that claims two thousand million entries")
def dictionary(folder: Path) -> None:
    pages = [bombs.dictionary([b"*"], claimed=2**31 - 1), bombs.run_of(200)]
    put(folder, "table.parquet", bombs.column(["age"], rows=200, pages=pages))


@hostile("a column that claims more values than it has")
def values(folder: Path) -> None:
    pages = [bombs.dictionary([b"*"]), bombs.run_of(200)]
    put(folder, "table.parquet", bombs.column(["age"], rows=200, pages=pages, values=2**62))


@hostile("a negative number of rows")
def negative(folder: Path) -> None:
    pages = [bombs.dictionary([b"*"]), bombs.run_of(200)]
    put(folder, "table.parquet", bombs.column(["age"], rows=-5, pages=pages))


@hostile("Thrift structures 10,000 deep")
def thrift_structs(folder: Path) -> None:
    put(folder, "table.parquet", bombs.nested(10_000, lists=False))


@hostile("Thrift lists 10,000 deep")
def thrift_lists(folder: Path) -> None:
    put(folder, "table.parquet", bombs.nested(10_000, lists=True))


@hostile("a Thrift list that claims two thousand million entries")
def thrift_size(folder: Path) -> None:
    put(folder, "table.parquet", bombs.listing(2**31 - 1))


@hostile("a Parquet file of 20,000 columns", cheap=False)
def parquet_columns(folder: Path) -> None:
    put(folder, "table.parquet", bombs.claims_rows([f"c{at}" for at in range(20_000)], 200))


@hostile("a CSV file of a million columns", of="csv", cheap=False)
def csv_columns(folder: Path) -> None:
    put(folder, "table.csv", ",".join(f"c{at}" for at in range(10**6)).encode() + b"\n" + b"," * (10**6 - 1) + b"\n")


@hostile("one line of 300 MB", of="csv", cheap=False)
def csv_line(folder: Path) -> None:
    head = ",".join(columns_of(folder)).encode() + b"\n"
    with (folder / "table.csv").open("wb") as file:
        file.write(head)
        for _ in range(300):
            file.write(b"a" * (1 << 20))
    fit(folder)


@hostile("a quote of 100 MB that never ends", of="csv", cheap=False)
def csv_quote(folder: Path) -> None:
    head = ",".join(columns_of(folder)).encode() + b'\n"'
    (folder / "table.csv").write_bytes(head + (b"a" * 99 + b"\n") * 10**6)
    fit(folder)


@hostile("40 million empty lines", of="csv", cheap=False)
def csv_empty(folder: Path) -> None:
    (folder / "table.csv").write_bytes(",".join(columns_of(folder)).encode() + b"\n" * 40 * 10**6)
    fit(folder)


@hostile("a file that nobody may read")
def unreadable(folder: Path) -> None:
    (folder / "table.parquet").chmod(0)  # root reads it all the same: the folder has a stray file too
    (folder / "stray.bin").write_bytes(b"\0")
