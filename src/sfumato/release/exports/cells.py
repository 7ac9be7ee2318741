"""What is written into a file of another program: each column as labels or as numbers, under a name it can bear."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from sfumato.data.codes import is_list, is_text
from sfumato.errors import TableError
from sfumato.privacy.verify.texts.readme import explained, moved

# Words that Stata or SPSS keep for themselves.
RESERVED = {
    *("all", "and", "by", "eq", "ge", "gt", "le", "lt", "ne", "not", "or", "to", "with"),
    *("byte", "double", "float", "if", "in", "int", "long", "using", "strl"),
}
LONGEST_NAME = 32


@dataclass(frozen=True, eq=False)
class Cells:
    """One column: `labels` with the place of each row's label, -1 where it is missing; or `numbers`, NaN there.

    `name` is what the file calls it, `title` what the release does, `says` what is shown in it.
    """

    name: str
    title: str
    says: str
    labels: tuple[str, ...] = ()
    codes: Any = None
    numbers: Any = None


def cells_of(table: pa.Table, certificate: Mapping[str, Any]) -> list[Cells]:
    """Every column of a released table, in order."""
    described = certificate["table"]["columns"]
    names = dict(zip((c["name"] for c in described), _names([c["name"] for c in described]), strict=True))
    return [_column(names[c["name"]], c, table.column(c["name"]).combine_chunks()) for c in described]


def _column(name: str, described: Mapping[str, Any], array: Any) -> Cells:
    shown = explained(described["masked"], described.get("calendar"), dotted=True)
    said = Cells(name, described["name"], moved(shown, described))
    if pt.is_dictionary(array.type):
        array = array.dictionary_decode()
    if pt.is_integer(array.type) or pt.is_floating(array.type):
        return _with_numbers(said, array)
    if is_list(array.type):
        array = pc.binary_join(array.cast(pa.list_(pa.string())), ";")
    texts = array if is_text(array.type) else array.cast(pa.string())
    coded = texts.dictionary_encode()
    labels = coded.dictionary.to_pylist()
    if "" in labels and coded.null_count:
        raise TableError(
            described["name"],
            "these programs take an empty text for a missing value",
            given="a column that has both",
            remedy="hand over Parquet or CSV",
        )
    order = sorted(range(len(labels)), key=lambda at: str(labels[at]))
    rank = np.append(np.argsort(order), -1)  # missing stays behind all labels
    codes = rank[coded.indices.fill_null(len(labels)).to_numpy(zero_copy_only=False)]
    return Cells(said.name, said.title, said.says, labels=tuple(labels[at] for at in order), codes=codes)


def _with_numbers(said: Cells, array: Any) -> Cells:
    numbers = array.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    if pt.is_integer(array.type) and not pc.all(pc.equal(pa.array(numbers).cast(array.type), array)).as_py():
        raise TableError(
            said.title,
            "these programs hold whole numbers up to 9 007 199 254 740 992",
            given="larger ones",
            remedy="hand over Parquet or CSV",
        )
    return Cells(said.name, said.title, said.says, numbers=numbers)


def _names(titles: Collection[str]) -> Iterator[str]:
    """Names of letters, digits and underscores, each once.

    >>> list(_names(["age", "hours per week", "by", "1st", "hours-per-week"]))
    ['age', 'hours_per_week', 'by_', 'v1st', 'hours_per_week_2']
    """
    taken: set[str] = set()
    for title in titles:
        plain = re.sub(r"[^A-Za-z0-9_]", "_", title)[:LONGEST_NAME]
        plain = plain if plain[:1].isalpha() else f"v{plain}"[:LONGEST_NAME]
        plain = f"{plain}_"[:LONGEST_NAME] if plain.lower() in RESERVED else plain
        found, number = plain, 2
        while found.lower() in taken:
            found, number = f"{plain[: LONGEST_NAME - 8]}_{number}", number + 1
        taken.add(found.lower())
        yield found
