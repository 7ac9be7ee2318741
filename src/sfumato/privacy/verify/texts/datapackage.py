"""datapackage.json: the table for whoever reads Data Packages, made from the released table and its certificate alone.

Whoever publishes writes what `described` gives, and verify demands the same bytes. It is a Data Package, version 2: the
file with its SHA-256, and of each column its name, its type, what is shown of it and which labels there are.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from sfumato.privacy.verify.fields import Form, field, forms, mapping
from sfumato.privacy.verify.files.csv_file import harmless
from sfumato.privacy.verify.tallies import text_counts
from sfumato.privacy.verify.texts.readme import explained_column, title
from sfumato.privacy.verify.texts.wording import GUARANTEE

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl

    Columns = pl.DataFrame | Mapping[str, pl.Series]

PACKAGE = "datapackage.json"
PROFILE = "https://datapackage.org/profiles/2.0/"
MOST_CATEGORIES = 1000
"""Labels of a column: one that has more is text."""
MEDIA = {
    "table.csv": {"format": "csv", "mediatype": "text/csv", "encoding": "utf-8"},
    "table.parquet": {"format": "parquet", "mediatype": "application/vnd.apache.parquet"},
}
SPELLED = {
    "integer": re.compile(r"-?[0-9]+"),
    "number": re.compile(r"-?[0-9]+(\.[0-9]+)?(e[+-]?[0-9]+)?"),
    "date": re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}"),
}
"""How a text file spells what is no text."""


def described(form: Form, table: Columns, size: int) -> dict[str, object]:
    """The content of the file, by the certificate, the table as it is read, and how many bytes its file has.

    Of a column's values each is needed once.
    """
    described_table = field(form, "table", dict)
    file = field(described_table, "file", str)
    generated = form.get("guarantee") == GUARANTEE
    private = not generated or bool(mapping(form.get(GUARANTEE), GUARANTEE).get("private"))
    sha256 = field(mapping(field(form, "files", dict)[file], file), "sha256", str)
    schema = {
        "$schema": f"{PROFILE}tableschema.json",
        "fields": list(_fields(form, table, text=file.endswith(".csv"))),
        "missingValues": [""],
    }
    return {
        "$schema": f"{PROFILE}datapackage.json",
        "name": "generated-table" if generated else "masked-table",
        "title": title(generated=generated, private=private),
        "description": field(form, "statement", str),
        "created": field(form, "created", str),
        "resources": [
            {
                "name": "table",
                "type": "table",
                "path": file,
                **MEDIA[file],
                "bytes": size,
                "hash": f"sha256:{sha256}",
                "schema": schema,
            }
        ],
    }


def _fields(form: Form, table: Columns, *, text: bool) -> Iterator[dict[str, object]]:
    """One entry a column; in a file that is safe for spreadsheets, with names and labels as they stand there."""
    described_table = field(form, "table", dict)
    for column in forms(described_table, "columns"):
        name = field(column, "name", str)
        safe = harmless if described_table.get("spreadsheet_safe") else str
        labels = _labels(table[name])
        kind = _type(table[name], labels, spelled=text and column.get("kind") == "number")
        says = explained_column(form, column, dotted=True)
        yield {
            "name": safe(name),
            "type": kind,
            "description": says.replace("`", ""),
            **({"categories": [safe(label) for label in labels]} if labels and kind == "string" else {}),
        }


def _labels(column: pl.Series) -> list[str] | None:
    """The labels of a column of text, in the order of their letters; None if it is no text, or has too many."""
    import polars as pl

    if column.dtype not in (pl.Categorical, pl.Enum, pl.String):
        return None
    found = [text for text in text_counts(column) if text is not None]
    return sorted(found) if len(found) <= MOST_CATEGORIES or _are_numbers(found) else None


def _are_numbers(texts: Collection[str]) -> bool:
    return any(all(map(spelling.fullmatch, texts)) for spelling in SPELLED.values())


def _type(column: pl.Series, labels: list[str] | None, *, spelled: bool) -> str:
    """By the column's type; of a text file, by how its numbers are spelled."""
    import polars as pl

    if labels and spelled:
        return next((kind for kind, spelling in SPELLED.items() if all(map(spelling.fullmatch, labels))), "string")
    kind = column.dtype
    if kind.is_integer() or kind.is_float():
        return "integer" if kind.is_integer() else "number"
    known = {pl.Boolean: "boolean", pl.Date: "date", pl.Time: "time", pl.List: "array", pl.Datetime: "datetime"}
    return known.get(kind.base_type(), "string")
