"""What a written release tells when it is read back: its recoding, and the holder's recipe beside it.

Texts that a spreadsheet would take for formulas are told to the holder, and read back where they are marked.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sfumato.data.canonical.csv import restored, would_run
from sfumato.data.codes import is_text
from sfumato.data.masked import Masked
from sfumato.data.reading import read_arrow
from sfumato.data.schema import Attribute, ItemSet, Schema
from sfumato.data.table import AnyColumn, ItemColumn
from sfumato.errors import ReleaseError, warn
from sfumato.maskers.masker import WHOLE, Guarantee, Mask
from sfumato.maskers.recoding.recoding import cuts_in
from sfumato.maskers.registry import masker_named
from sfumato.privacy.verify.files.regular_files import (
    MOST_OF_JSON,
    TABLES,
    contents,
    most_of,
    open_regular,
    read_regular,
)
from sfumato.privacy.verify.verdict import CheckError
from sfumato.recipe import Recipe
from sfumato.recipe.settings import EVERYWHERE
from sfumato.release.output import holder_of

CERTIFICATE = "certificate.json"
DAMAGE = (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError, RecursionError)
"""What reading a changed file may end in."""
LIFTED = "lifted.json"


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
        raise ReleaseError(
            str(folder),
            "this must be a release folder",
            given=f"no {path.name} in it",
            remedy="name a folder that publish wrote",
        )
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
    if rows != released and _guarantee(certificate).row_by_row:
        raise another_table(release, f"{rows:,} rows for a release of {released:,}")


def another_table(release: str | Path, given: str) -> ReleaseError:
    """What is said of a raw table that is not the release's own."""
    return ReleaseError(
        str(release),
        "it must be compared with the raw table that it was made from",
        given=given,
        remedy="name that table",
    )


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
        raise ReleaseError(
            str(release),
            f"a release masked by {certificate.get('mask')} comes with {missing.args[0]}",
            given="none there",
            remedy="run it where publish wrote both folders",
        ) from None
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


def typed_rows(release: str | Path) -> pa.Table:
    """The table of a release with labels as categories; numbers and dates that a text file spells are such."""
    table, columns = read_rows(release, guess=False), {}
    for described in read_certificate(release)["table"]["columns"]:
        column = table.column(described["name"])
        if isinstance(column.type, pa.DictionaryType):
            column = column.cast(column.type.value_type)
        if described["kind"] == "number" and is_text(column.type):
            column = _spelled(column)
        columns[described["name"]] = column.dictionary_encode() if is_text(column.type) else column
    return pa.table(columns)


def _spelled(column: Any) -> Any:
    for kind in (pa.int64(), pa.float64(), pa.date32(), pa.timestamp("us"), pa.timestamp("us", tz="UTC")):
        try:
            return pc.cast(column, kind)
        except pa.ArrowInvalid:
            continue
    return column


def read_masked(release: str | Path, schema: Schema | None = None) -> Masked:
    """The written rows of a release; with a schema, sets are sets in CSV, too."""
    table, certificate = read_rows(release), read_certificate(release)
    of: Mapping[str, Attribute] = schema or {}
    arrays = {n: _lists(table.column(n), of[n]) if n in of else table.column(n) for n in table.column_names}
    return Masked.of(arrays, came=_guarantee(certificate).came)


def _guarantee(certificate: Mapping[str, Any]) -> Guarantee:
    found: Guarantee = masker_named(str(certificate.get("mask"))).guarantee
    return found


def _lists(column: pa.ChunkedArray[Any], attribute: Attribute) -> Any:
    """A set-valued column as lists: CSV joins them."""
    if isinstance(attribute, ItemSet) and not pa.types.is_nested(column.type):
        return pc.split_pattern(column.cast(pa.string()), attribute.separator)
    return column


def read_recoding(release: str | Path) -> Mask:
    """The mask of a release that has one rule for everybody in each column, with its taxonomies."""
    found = read_mask(release)
    if not found.rules:
        raise ReleaseError(
            str(release),
            "this must be a release by top_down, which has one rule for everybody in each column",
            given=f"one by {read_certificate(release)['mask']}",
            remedy="publish the first of several releases with mask: top_down; beside this one another is safe "
            "under a budget of differential privacy alone",
        )
    return found


def read_cuts(release: str | Path) -> dict[str, set[str]]:
    """Of each column with a taxonomy the labels that a release shows, by its recoding.json."""
    return cuts_in(read_json(release, "recoding.json"))


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
    if Path(release).is_file():
        raise ReleaseError(
            str(release),
            "a release is a folder that publish wrote",
            given="a file",
            remedy="name the folder here; a table goes where TABLE or RAW stands in the command's --help",
        )
    if not holder.is_dir():
        raise ReleaseError(
            str(release),
            "the holder's folder must stand beside the release",
            given=f"no {holder.name}/",
            remedy="run this where publish wrote both folders",
        )
    return holder


REMEDY = "say release: {spreadsheet_safe: true} in the recipe, which puts an apostrophe before each of them"


def warn_of_formulas(shown: Masked, *, csv: bool, safe: bool) -> None:
    """Say which columns of a CSV table a spreadsheet would run, and how many different labels; no label is told."""
    if safe and not csv:
        warn("release.spreadsheet_safe concerns CSV, and the table is written as Parquet")
    if safe or not csv:
        return
    counts = {name: _formulas(shown.shown(name)) for name in shown.names}
    told = [f"{name!r} ({count} different)" for name, count in counts.items() if count]
    named = [repr(name) for name in shown.names if would_run(name)]
    parts = [f"cells of {', '.join(told)}"] if told else []
    parts += [f"the column names {', '.join(named)}"] if named else []
    if parts:
        warn(f"a spreadsheet would run {' and '.join(parts)}: they begin with =, +, -, @ or a tab; {REMEDY}")


def _formulas(column: AnyColumn) -> int:
    """How many different texts of a column a spreadsheet would run."""
    if isinstance(column, ItemColumn):  # CSV joins the items of a list, the first one first
        codes = column.codes[column.offsets[:-1][np.diff(column.offsets) > 0]]
    else:
        codes = column.codes[column.codes != column.missing_code] if column.missing else column.codes
    if not is_text(column.values.type):
        return 0
    used = np.flatnonzero(np.bincount(codes, minlength=len(column.values)))
    return sum(would_run(str(text)) for text in column.values.take(used).to_pylist())


def undone(table: pa.Table) -> pa.Table:
    """A table as it was before its texts and its names were made harmless for spreadsheets."""
    columns = {restored(name): _undone(table.column(name)) for name in table.column_names}
    return pa.table(columns)


def _undone(column: pa.ChunkedArray[Any]) -> pa.ChunkedArray[Any]:
    kind = column.type.value_type if isinstance(column.type, pa.DictionaryType) else column.type
    if not is_text(kind):
        return column
    coded = column.combine_chunks()
    if not isinstance(coded, pa.DictionaryArray):
        coded = coded.dictionary_encode()
    texts = pa.array([None if text is None else restored(text) for text in coded.dictionary.to_pylist()], kind)
    found = pa.DictionaryArray.from_arrays(coded.indices, texts)
    return pa.chunked_array([found if isinstance(column.type, pa.DictionaryType) else found.dictionary_decode()])
