"""What can happen to a release folder, at random: damage, mistakes, and forgers who make the hashes fit again."""

from __future__ import annotations

import csv
import hashlib
import json
import random
from collections.abc import Callable, Sequence
from contextlib import suppress
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from sfumato.data.writing import write
from sfumato.errors import SfumatoError
from sfumato.privacy.requirements import REQUIREMENTS
from sfumato.privacy.verify.texts import pages
from sfumato.privacy.verify.texts.datapackage import PACKAGE
from sfumato.privacy.verify.texts.readme import readme
from tests.packages import repack
from tests.recount import true

Row = dict[str, Any]
Change = Callable[[random.Random, Path], object]
MADE = {"certificate.md", "certificate.html", "certificate.sig"}
NEEDED_TO_BUILD = {
    "k_anonymity": ("k",),
    "l_diversity": ("sensitive", "l", "kind", "c"),
    "confidence_bound": ("sensitive", "h", "value"),
    "alpha_k": ("sensitive", "alpha", "k", "value"),
    "t_closeness": ("sensitive", "t", "distance", "order"),
    "lkc": ("sensitive", "l", "k", "c", "value"),
    "k_map": ("k", "population"),
}


def files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def any_file(chance: random.Random, folder: Path) -> Path:
    return chance.choice(files(folder))


def flip(chance: random.Random, folder: Path) -> None:
    path = any_file(chance, folder)
    content = bytearray(path.read_bytes())
    for _ in range(chance.randint(1, 4)):
        content[chance.randrange(len(content))] ^= chance.randint(1, 255)
    path.write_bytes(content)


def insert(chance: random.Random, folder: Path) -> None:
    path = any_file(chance, folder)
    content, at = path.read_bytes(), chance.randrange(path.stat().st_size)
    path.write_bytes(content[:at] + chance.randbytes(chance.randint(1, 9)) + content[at:])


def delete(chance: random.Random, folder: Path) -> None:
    path = any_file(chance, folder)
    content, at = path.read_bytes(), chance.randrange(path.stat().st_size)
    path.write_bytes(content[:at] + content[at + chance.randint(1, 9) :])


def truncate(chance: random.Random, folder: Path) -> None:
    path = any_file(chance, folder)
    path.write_bytes(path.read_bytes()[: chance.randrange(path.stat().st_size)])


def swap(chance: random.Random, folder: Path) -> None:
    one, two = chance.sample(files(folder), 2)
    first, second = one.read_bytes(), two.read_bytes()
    one.write_bytes(second)
    two.write_bytes(first)


def rename(chance: random.Random, folder: Path) -> None:
    path = any_file(chance, folder)
    path.rename(path.with_name(chance.choice(["raw.parquet", "codebook.json", "notes.txt", f"{path.name}~"])))


def add(chance: random.Random, folder: Path) -> None:
    name = chance.choice(
        ["raw.csv", "centres.json", "table.csv", "table.parquet", "taxonomies/x.json", ".hidden", "a/b"]
    )
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).write_text("{}", encoding="utf-8")


def remove(chance: random.Random, folder: Path) -> None:
    any_file(chance, folder).unlink()


def read_rows(folder: Path) -> list[Row]:
    """The table as plain Python, without verify."""
    if (folder / "table.csv").is_file():
        with (folder / "table.csv").open(encoding="utf-8", newline="") as file:
            return [{name: cell or None for name, cell in row.items()} for row in csv.DictReader(file)]
    rows: list[Row] = pq.read_table(folder / "table.parquet").to_pylist()
    return rows


def write_rows(folder: Path, rows: Sequence[Row], names: Sequence[str]) -> None:
    """A clean file, as a forger who knows verify would write it."""
    if (folder / "table.csv").is_file():
        with (folder / "table.csv").open("w", encoding="utf-8", newline="") as file:
            lines = csv.writer(file, lineterminator="\n")
            lines.writerows([names, *([row[name] for name in names] for row in rows)])
        return
    types = pq.read_schema(folder / "table.parquet")
    kinds = {name: types.field(name).type if name in types.names else pa.string() for name in names}
    arrays = []
    for name, kind in kinds.items():
        array = pa.array([row[name] for row in rows], type=kind)
        arrays.append(array.dictionary_encode() if pa.types.is_string(kind) else array)
    write(pa.Table.from_arrays(arrays, names=list(kinds)), folder / "table.parquet", order=None)


def on_rows(change: Callable[[random.Random, list[Row], list[str]], object]) -> Change:
    def run(chance: random.Random, folder: Path) -> None:
        rows = read_rows(folder)
        names = list(rows[0])
        change(chance, rows, names)
        write_rows(folder, rows, names)

    run.__name__ = change.__name__
    return run


def drop_rows(chance: random.Random, rows: list[Row], names: list[str]) -> None:
    for _ in range(chance.randint(1, 3)):
        rows.pop(chance.randrange(len(rows)))


def repeat_rows(chance: random.Random, rows: list[Row], names: list[str]) -> None:
    rows.extend(dict(chance.choice(rows)) for _ in range(chance.randint(1, 3)))


def copy_cell(chance: random.Random, rows: list[Row], names: list[str]) -> None:
    name = chance.choice(names)
    for _ in range(chance.randint(1, 4)):
        chance.choice(rows)[name] = chance.choice(rows)[name]


def strange_cell(chance: random.Random, rows: list[Row], names: list[str]) -> None:
    name = chance.choice(names)
    cell = rows[0][name]
    strange = [None, f"{cell}?" if isinstance(cell, str) or cell is None else cell + 1]
    chance.choice(rows)[name] = chance.choice(strange)


def exchange_cells(chance: random.Random, rows: list[Row], names: list[str]) -> None:
    one, two, name = chance.choice(rows), chance.choice(rows), chance.choice(names)
    one[name], two[name] = two[name], one[name]


def alike(chance: random.Random, rows: list[Row], names: list[str]) -> list[Row]:
    """The rows that look like one of them on all columns but two."""
    model, on = chance.choice(rows), sorted(chance.sample(names, max(1, len(names) - 2)))
    return [row for row in rows if all(row[name] == model[name] for name in on)]


def thin_group(chance: random.Random, rows: list[Row], names: list[str]) -> None:
    """One record is left of a group."""
    for row in alike(chance, rows, names)[1:]:
        rows.remove(row)


def agreeing_group(chance: random.Random, rows: list[Row], names: list[str]) -> None:
    """A group has one value in some column."""
    group, name = alike(chance, rows, names), chance.choice(names)
    for row in group:
        row[name] = group[0][name]


def reorder_rows(chance: random.Random, rows: list[Row], names: list[str]) -> None:
    chance.shuffle(rows)


def drop_column(chance: random.Random, rows: list[Row], names: list[str]) -> None:
    names.remove(chance.choice(names))


def add_column(chance: random.Random, rows: list[Row], names: list[str]) -> None:
    names.append("name")
    for at, row in enumerate(rows):
        row["name"] = f"person {at}"


def exchange_columns(chance: random.Random, rows: list[Row], names: list[str]) -> None:
    one, two = chance.sample(range(len(names)), 2)
    names[one], names[two] = names[two], names[one]


def places(form: Any) -> list[tuple[Any, Any]]:
    """Every place in a JSON document: what holds it, and its key there."""
    keys = list(form) if isinstance(form, dict) else range(len(form)) if isinstance(form, list) else []
    return [place for key in keys for place in [(form, key), *places(form[key])]]


def other(chance: random.Random, value: Any) -> Any:
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return chance.choice([value + 1, value - 1, value * 2, str(value), -value, 0, None])
    if isinstance(value, str):
        return chance.choice([value + "x", value[:-1], "", value.upper(), "age", 1, None])
    return chance.choice([None, [], {}, "x", 3])


def change_json(chance: random.Random, path: Path) -> None:
    form = json.loads(path.read_text(encoding="utf-8"))
    for _ in range(chance.randint(1, 2)):
        owner, key = chance.choice(places(form))
        what = chance.choice(["change", "change", "change", "remove", "add", "copy"])
        if what == "change":
            owner[key] = other(chance, owner[key])
        elif what == "remove":
            del owner[key]
        elif isinstance(owner, dict):
            owner["extra"] = chance.choice([owner[key], "person 7", 1, None])
        else:
            owner.append(owner[key] if what == "copy" else "person 7")
    path.write_text(json.dumps(form, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def change_certificate(chance: random.Random, folder: Path) -> None:
    change_json(chance, folder / "certificate.json")


def change_claims(chance: random.Random, folder: Path) -> None:
    """The part of the certificate that counts."""
    path = folder / "certificate.json"
    form = json.loads(path.read_text(encoding="utf-8"))
    key = next(key for key in ("claims", "differential_privacy", "table") if form.get(key))
    owner, at = chance.choice(places(form[key]))
    owner[at] = other(chance, owner[at])
    path.write_text(json.dumps(form, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def change_description(chance: random.Random, folder: Path) -> None:
    """A JSON file beside the table: recoding, taxonomy, regions, centres, codebook."""
    found = [path for path in files(folder) if path.suffix == ".json" and path.name != "certificate.json"]
    change_json(chance, chance.choice(found) if found else folder / "certificate.json")


BYTES: tuple[Change, ...] = (flip, insert, delete, truncate)
FOLDER: tuple[Change, ...] = (swap, rename, add, remove)
TABLE: tuple[Change, ...] = tuple(
    on_rows(change)
    for change in (
        drop_rows,
        repeat_rows,
        copy_cell,
        strange_cell,
        exchange_cells,
        thin_group,
        agreeing_group,
        reorder_rows,
        drop_column,
        add_column,
        exchange_columns,
    )
)
FIELDS: tuple[Change, ...] = (change_certificate, change_claims, change_description)
FAMILIES = {"bytes": BYTES, "files": FOLDER, "rows and cells": TABLE, "fields": FIELDS}


def forge(folder: Path, *, page: bool = True) -> None:
    """Make everything fit that fits by itself: rows, README (`page`), hashes, the certificate's pages, its form."""
    path = folder / "certificate.json"
    try:
        form = json.loads(path.read_text(encoding="utf-8"))
        form["table"]["rows"] = len(read_rows(folder))
        form["files"] = hashes(folder)
        form["along"] = {name: True for name in ("codebook", "centres") if f"{name}.json" in form["files"]}
        if page and PACKAGE in form["files"]:
            with suppress(Exception):  # a table that nobody can read is described by nothing
                repack(folder, form)
                form["files"] = hashes(folder)
        if page:
            (folder / "README.md").write_text(readme(form), encoding="utf-8")
        form["files"] = hashes(folder)
        path.write_text(json.dumps(form, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        (folder / "certificate.md").write_text(pages.markdown(form), encoding="utf-8")
        (folder / "certificate.html").write_text(pages.html(form), encoding="utf-8")
    except Exception:
        pass


def hashes(folder: Path) -> dict[str, dict[str, str]]:
    """SHA-256 of every file that a certificate lists, by its name."""
    found = {path.relative_to(folder).as_posix(): path for path in files(folder)}
    return {
        name: {"sha256": hashlib.sha256(found[name].read_bytes()).hexdigest()}
        for name in sorted(found)
        if found[name].name not in {"certificate.json", *MADE}
    }


def recounted(folder: Path, before: dict[str, Any]) -> bool:
    """Whether it is still true; what cannot even be recounted is not."""
    try:
        return still_true(folder, before)
    except (SfumatoError, LookupError, TypeError, ValueError, AttributeError):
        return False


def still_true(folder: Path, before: dict[str, Any]) -> bool:
    """Whether the folder claims what was claimed before, in the same words, and all of it is true: recounted here."""
    form = json.loads((folder / "certificate.json").read_text(encoding="utf-8"))
    rows = read_rows(folder)
    claims, names = form["claims"], [column["name"] for column in form["table"]["columns"]]
    same = claims == before["claims"] and form["statement"] == before["statement"]
    bare = {column["name"] for column in form["table"]["columns"] if column["role"] == "quasi"}
    if claims:
        bare -= {name for claim in claims for name in claim["on"]}
    elif form["guarantee"] == "differential_privacy":
        same = same and _same_epsilon(form, before) and _in_domain(rows, before)
    words = "In this table " + "; and ".join(_sentence(claim) for claim in claims) + "."
    return (
        same
        and (not claims or form["statement"] == words)
        and (not claims or not bare)
        and all(true(claim, rows) for claim in (*claims, *form.get("covered", [])) if claim["claim"] != "k_map")
        and len(rows) == form["table"]["rows"]
        and all(list(row) == names for row in rows)
        and _hashes_fit(folder, form)
    )


def _sentence(claim: dict[str, Any]) -> str:
    if claim["claim"] == "joint_k_anonymity":  # no requirement of its own; that it is as before was seen already
        return str(claim["sentence"])
    settings = {key: claim[key] for key in NEEDED_TO_BUILD[claim["claim"]] if key in claim}
    return str(REQUIREMENTS[claim["claim"]](on=claim["on"], **settings).sentence())


def _hashes_fit(folder: Path, form: dict[str, Any]) -> bool:
    return bool(hashes(folder) == form["files"])


def _same_epsilon(form: dict[str, Any], before: dict[str, Any]) -> bool:
    now, then = form["differential_privacy"], before["differential_privacy"]
    return now["epsilon"] == then["epsilon"] and sum(Fraction(e["epsilon"]) for e in now["events"]) == Fraction(
        then["epsilon"]
    )


def _in_domain(rows: Sequence[Row], before: dict[str, Any]) -> bool:
    """The domains of the table that releases.py publishes under differential privacy."""
    del before
    ends = {"age": (17, 90), "wage": (0, 100)}
    numbers = all(low <= float(row[name]) <= high for row in rows for name, (low, high) in ends.items())
    return numbers and {row["disease"] for row in rows} <= {"flu", "cough", "rash", "fever"}
