"""The release folder as it is written: the table, what explains it, its certificate, a page for the recipient.

Labels that no row shows go along where whoever counts again needs their places.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.data.axis import MISSING
from sfumato.data.canonical.csv import spelled
from sfumato.data.canonical.sheet import Sheet
from sfumato.data.masked import Masked
from sfumato.data.safe_files import written
from sfumato.data.schema import Category, ItemSet, Schema
from sfumato.data.table import Column, code_type
from sfumato.data.writing import ordered, write_coded
from sfumato.maskers.recoding.recoding import tree_file
from sfumato.privacy.verify.texts.datapackage import PACKAGE, described
from sfumato.privacy.verify.texts.pages import html, markdown
from sfumato.privacy.verify.texts.readme import README, readme
from sfumato.randomness import Randomness
from sfumato.recipe import Recipe
from sfumato.release.certificate import Facts, certificate, hashes
from sfumato.release.reading import read_cuts
from sfumato.structure.released_groups import tells_groups

if TYPE_CHECKING:
    import polars as pl

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
    path = folder / facts.table_file
    sheet = write_coded(
        {name: masked.shown(name) for name in masked.names},
        path,
        pieces=None if order is None else _kept(chance.pieces(masked.rows), order),
        separators=_separators(facts.schema),
        spreadsheet_safe=facts.spreadsheet_safe,
    )
    for name, content in files.items():
        write_json(folder / name, content)
    for name, content in pages.items():
        (folder / name).write_text(content, encoding="utf-8")
    form = certificate(facts, folder)
    write_json(folder / PACKAGE, described(form, _distinct(sheet, csv=path.suffix == ".csv"), path.stat().st_size))
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


def _distinct(sheet: Sheet, *, csv: bool) -> dict[str, pl.Series]:
    """Every value that a recipient reads in each column, once; of CSV as it is spelled."""
    import polars as pl

    found = {}
    for name, column in sheet.columns.items():
        values: Any = column.values if isinstance(column, Column) else column.slice(0, 1)  # of lists the type will do
        found[name] = pl.Series(spelled(name, values), dtype=pl.String) if csv else pl.Series(values)
    return found


def _separators(schema: Schema) -> dict[str, str]:
    return {name: of.separator for name, of in schema.items() if isinstance(of, ItemSet)}


def write_json(path: Path, content: Any) -> None:
    """Plain JSON, readable, numbers exact."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(written(content) + "\n", encoding="utf-8")


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
