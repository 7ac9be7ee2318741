"""The release folder as it is written: the table, what explains it, its certificate, a page for the recipient.

Labels that no row shows go along where whoever counts again needs their places.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.types as pt
from numpy.typing import NDArray

from sfumato.data.axis import MISSING
from sfumato.data.canonical import canonical
from sfumato.data.masked import Masked
from sfumato.data.schema import Category, ItemSet, Schema
from sfumato.data.table import AnyColumn, ItemColumn, code_type
from sfumato.data.writing import ordered, write_coded
from sfumato.maskers.recoding.recoding import tree_file
from sfumato.privacy.verify.datapackage import PACKAGE, Held, described
from sfumato.privacy.verify.files.csv_file import read_rows
from sfumato.privacy.verify.pages import html, markdown
from sfumato.privacy.verify.readme import README, readme
from sfumato.randomness import Randomness
from sfumato.recipe import Recipe
from sfumato.release.certificate import Facts, certificate, hashes
from sfumato.release.reading import read_cuts
from sfumato.structure.released_groups import tells_groups

Format = Literal["parquet", "csv"]


@dataclass(frozen=True, eq=False)
class Shown:
    """What is shown, and in which order it was written: `order` (rows,) if that is another than the table's."""

    masked: Masked
    order: NDArray[np.unsignedinteger[Any]] | None

    def to_arrow(self) -> pa.Table:
        """The table as it was written, in memory."""
        return ordered(self.masked.to_arrow(), None if self.order is None else self.order.astype(np.int64))


def write_bundle(
    folder: Path,
    masked: Masked,
    files: Mapping[str, Any],
    facts: Facts,
    *,
    chance: Randomness,
    pages: Mapping[str, str],
) -> Shown:
    """Write everything into an empty folder; the certificate last, over the bytes of all others, then its pages.

    Gives the table back in the order of its written rows.
    """
    order = None if facts.keep_order else np.empty(masked.rows, dtype=code_type(masked.rows))
    write_coded(
        {name: masked.shown(name) for name in masked.names},
        folder / facts.table_file,
        pieces=None if order is None else _kept(chance.pieces(masked.rows), order),
        separators=_separators(facts.schema),
        spreadsheet_safe=facts.spreadsheet_safe,
    )
    for name, content in files.items():
        write_json(folder / name, content)
    for name, content in pages.items():
        (folder / name).write_text(content, encoding="utf-8")
    form = certificate(facts, folder)
    table = folder / facts.table_file
    write_json(folder / PACKAGE, described(form, _held(table, masked, facts), table.stat().st_size))
    form["files"] = hashes(folder)
    (folder / README).write_text(readme(form), encoding="utf-8")
    form["files"] = hashes(folder)
    write_json(folder / "certificate.json", form)
    (folder / "certificate.md").write_text(markdown(form), encoding="utf-8")
    (folder / "certificate.html").write_text(html(form), encoding="utf-8")
    return Shown(masked, order)


def _kept(pieces: Iterator[NDArray[np.int64]], order: NDArray[Any]) -> Iterator[NDArray[np.int64]]:
    """The pieces of an order as they come, each entered where it belongs."""
    at = 0
    for piece in pieces:
        order[at : at + len(piece)] = piece
        at += len(piece)
        yield piece


def _held(path: Path, masked: Masked, facts: Facts) -> dict[str, Held]:
    """What each column of the written file holds: of a text file as it is read, else by the different values shown."""
    if path.suffix == ".csv":
        texts = read_rows(path, spreadsheet_safe=facts.spreadsheet_safe)
        return {name: Held("string", column.texts) for name, column in texts.items()}
    return {name: _held_by(name, masked.shown(name)) for name in masked.names}


def _held_by(name: str, column: AnyColumn) -> Held:
    if isinstance(column, ItemColumn):
        return Held("array")
    used: NDArray[np.int64] = np.unique(column.codes.astype(np.int64))
    values = canonical(name, column.values.take(used[used < len(column.values)]))
    if isinstance(values, pa.DictionaryArray):
        return Held("string", [str(text) for text in values.dictionary_decode().unique().to_pylist()])
    return Held(next((word for word, asks in TYPES.items() if asks(values.type)), "string"))


TYPES: Mapping[str, Callable[[pa.DataType], bool]] = {
    "integer": pt.is_integer,
    "number": pt.is_floating,
    "boolean": pt.is_boolean,
    "date": pt.is_date,
    "time": pt.is_time,
    "datetime": pt.is_timestamp,
}
"""The words of Data Packages for the types that are written."""


def _separators(schema: Schema) -> dict[str, str]:
    return {name: of.separator for name, of in schema.items() if isinstance(of, ItemSet)}


def write_json(path: Path, content: Any) -> None:
    """Plain JSON, readable, numbers exact."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n", encoding="utf-8")


Told = Mapping[str, Any]
"""The content of codebook.json: what is told of each shown value, or of each group."""


def labels_in(told: Told) -> dict[str, set[str]]:
    """By column, every label that a codebook tells of."""
    entries = told["columns"] if tells_groups(told) else {name: part.values() for name, part in told.items()}
    return {
        name: {label for shares in part if isinstance(shares, Mapping) for label in shares}
        for name, part in entries.items()
    }


def needed_labels(told: Told, recipe: Recipe) -> dict[str, set[str]]:
    """By column: those that the codebook tells of, if one goes along, that people of a population have, and that an
    earlier release of a growing table shows."""
    found = labels_in(told)
    for requirement in recipe.privacy:
        others = requirement.others(recipe.schema)
        for name, column in () if others is None else others.columns.items():
            found.setdefault(name, set()).update(str(value) for value in column.values.to_pylist())
    for folder in recipe.before.growing:
        for name, labels in read_cuts(folder).items():
            found.setdefault(name, set()).update(labels)
    return found


def told_labels(told: Told, shown: Masked, schema: Schema, files: Collection[str]) -> dict[str, tuple[str, ...]]:
    """Of columns without a tree among the files of a release, the labels that the codebook tells and no row shows.

    They stand in the certificate as well: nothing else in the release would bear them out.
    """
    found = {}
    for name, labels in labels_in(told).items():
        if isinstance(schema[name], Category) and tree_file(name) not in files:
            found[name] = tuple(sorted(labels - {MISSING} - shown.labels(name)))
    return {name: labels for name, labels in found.items() if labels}
