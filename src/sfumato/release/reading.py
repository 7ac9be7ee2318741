"""What a written release tells when it is read back: its recoding, and the holder's recipe beside it."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sfumato.data.reading import read_arrow
from sfumato.data.schema import Attribute, ItemSet
from sfumato.errors import ReleaseError
from sfumato.maskers.masker import Mask
from sfumato.maskers.registry import masker_named
from sfumato.maskers.topdown.recoding import Recoding
from sfumato.privacy.verify.regular_files import MOST_OF_JSON, TABLES, contents, most_of, open_regular, read_regular
from sfumato.privacy.verify.verdict import CheckError
from sfumato.recipe import Recipe
from sfumato.recipe.paths import EVERYWHERE
from sfumato.release.output import holder_of
from sfumato.release.spreadsheets import undone

CERTIFICATE = "certificate.json"
DAMAGE = (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError, RecursionError)
"""What reading a changed file may end in."""
LIFTED = "lifted.json"
WHOLE = "whole"
"""The holder's folder of what a release tells in part only: the whole recoding and its trees."""
ROW_BY_ROW = ("k_anonymity", "none")
"""Guarantees of releases that show every raw record; others draw their rows from noisy counts."""


def read_certificate(release: str | Path) -> dict[str, Any]:
    """The content of certificate.json, as far as others here rely on it. Whether it is true, verify tells."""
    found: dict[str, Any] = read_json(release, CERTIFICATE)
    table = found.get("table")
    texts = all(isinstance(found.get(key), str) for key in ("guarantee", "created"))
    if not (texts and isinstance(table, dict) and table.get("file") in TABLES and isinstance(table.get("rows"), int)):
        raise damaged(Path(release) / CERTIFICATE, "a certificate names its guarantee, its time and its table")
    return found


def released_file(release: str | Path) -> Path:
    """The file of a release's table."""
    return plain_file(release, read_certificate(release)["table"]["file"])


def plain_file(folder: str | Path, name: str) -> Path:
    """A plain file of a folder that a stranger may have made; links, pipes and devices are not followed or opened."""
    path = Path(folder) / name
    if not os.path.lexists(path):
        raise ReleaseError(str(folder), "this must be a release folder", given=f"no {path.name} in it",
                           remedy="name a folder that publish wrote")  # fmt: skip
    try:
        open_regular(path, most=most_of(name)).close()
    except CheckError as error:
        raise damaged(path, "a release folder holds plain files, no larger than they can be", str(error)) from None
    return path


def read_json(folder: str | Path, name: str) -> dict[str, Any]:
    """A JSON file of such a folder, which holds a mapping."""
    path = plain_file(folder, name)
    try:
        found = json.loads(read_regular(path, most=MOST_OF_JSON))
    except (CheckError, ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise damaged(path, "this file must be JSON")
    return found


def damaged(path: str | Path, rule: str, given: str = "something else") -> ReleaseError:
    """What to say of a release that is not as publish wrote it."""
    return ReleaseError(str(path), rule, given=given, remedy="restore the release from a good copy")


def refuse_other_table(release: str | Path, rows: int) -> None:
    """A release is compared with the table that it was made from: at least, they have as many rows."""
    certificate = read_certificate(release)
    released = certificate["table"]["rows"]
    if rows != released and certificate["guarantee"] in ROW_BY_ROW:
        raise ReleaseError(str(release), "it must be compared with the raw table that it was made from",
                           given=f"{rows:,} rows for a release of {released:,}", remedy="name that table")  # fmt: skip


def read_mask(release: str | Path) -> Mask:
    """What the masker of a release learned: from the release, and where it needs a key from the holder's folder.

    Of a recoding the release tells what its table shows; the whole of it is in the holder's folder.
    """
    folder = Path(release)
    certificate = read_certificate(folder)
    holder = _holder_of(folder)
    kept = _jsons(holder) if holder.is_dir() else {}
    whole = {name.removeprefix(f"{WHOLE}/"): form for name, form in kept.items() if name.startswith(f"{WHOLE}/")}
    files = {**kept, **_jsons(folder), **whole}
    try:
        found: Mask = masker_named(str(certificate.get("mask"))).read_mask(files)
    except KeyError as missing:
        raise ReleaseError(str(release), f"a release masked by {certificate.get('mask')} comes with {missing.args[0]}",
                           given="none there", remedy="run it where publish wrote both folders") from None  # fmt: skip
    except DAMAGE:
        raise damaged(folder, "the files beside the table say what was masked how", "something else") from None
    return found


def read_rows(release: str | Path, *, guess: bool = True) -> pa.Table:
    """The table of a release; texts that were made harmless for spreadsheets are again what they were.

    Where a CSV is read, types are guessed unless told otherwise.
    """
    described = read_certificate(release)["table"]
    table = read_arrow(released_file(release), guess=guess)
    return undone(table) if described.get("spreadsheet_safe") else table


def read_columns(release: str | Path) -> dict[str, Any]:
    """The columns of a release as they were written; sets as lists."""
    table = read_rows(release)
    schema = read_recipe_of(release).schema
    return {name: _lists(table.column(name), schema[name]) for name in table.column_names}


def _lists(column: pa.ChunkedArray[Any], attribute: Attribute) -> Any:
    """A set-valued column as lists: CSV joins them."""
    if isinstance(attribute, ItemSet) and not pa.types.is_nested(column.type):
        return pc.split_pattern(column.cast(pa.string()), attribute.separator)
    return column


def read_recoding(release: str | Path) -> Recoding:
    """The recoding of a release, with its taxonomies."""
    found = read_mask(release)
    if not isinstance(found, Recoding):
        raise ReleaseError(str(release), "this must be a release with a recoding", given=f"a {type(found).__name__}",
                           remedy="its README.md says what was done")  # fmt: skip
    return found


def read_cuts(release: str | Path) -> dict[str, set[str]]:
    """Of each column with a taxonomy the labels that a release shows, by its recoding.json."""
    form = read_json(release, "recoding.json")
    rules = {name: rule for name, rule in form["attributes"].items() if rule["kind"] == "generalize"}
    return {name: {label for label in rule["cut"] if label is not None} for name, rule in rules.items()}


def has_whole(release: str | Path) -> bool:
    """Whether the whole recoding stands in the holder's folder beside a release."""
    return (_holder_of(release) / WHOLE / "recoding.json").is_file()


def read_lifted(release: str | Path, rows: int) -> NDArray[np.bool_] | None:
    """(rows,): which rows of the raw table were lifted to the top, from the holder's folder; None if none were."""
    holder = _holder_of(release)
    if not os.path.lexists(holder / LIFTED):
        return None
    found = np.zeros(rows, dtype=bool)
    try:
        found[read_json(holder, LIFTED)["rows"]] = True
    except DAMAGE:
        raise damaged(holder / LIFTED, "this file lists rows of the raw table") from None
    return found


def _jsons(folder: Path) -> dict[str, Any]:
    try:
        names = contents(folder).files
    except CheckError as error:
        raise damaged(folder, "a release folder holds a few plain files", str(error)) from None
    return {name: read_json(folder, name) for name in names if name.endswith(".json")}


def read_history(release: str | Path) -> dict[str, Any]:
    """The history of the search, from the holder's folder."""
    return read_json(_holder(release), "history.json")


def read_recipe_of(release: str | Path) -> Recipe:
    """The recipe that made a release, from the holder's folder."""
    return Recipe.from_yaml(plain_file(_holder(release), "recipe.yaml"), allow=EVERYWHERE)


def _holder_of(release: str | Path) -> Path:
    return holder_of(Path(release).resolve())


def _holder(release: str | Path) -> Path:
    holder = _holder_of(release)
    if not holder.is_dir():
        raise ReleaseError(str(release), "the holder's folder must stand beside the release",
                           given=f"no {holder.name}/", remedy="run this where publish wrote both folders")  # fmt: skip
    return holder
