"""A first look at a table: what its columns may be, how their values spread, and numbers to recount people by.

The recount needs no values: each column is kept as whole numbers, equal where its cells are, in one file that is mapped
into memory.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from sfumato.data.alone import share_alone_coded
from sfumato.data.csv_files import likely_encoding
from sfumato.data.drafting.draft import draft
from sfumato.data.drafting.plan import k_for
from sfumato.data.drafting.profile import profile
from sfumato.data.drafting.questions import one_row_one_person, questions
from sfumato.data.drafting.text import recipe_text, told
from sfumato.data.reading import look as look_at
from sfumato.data.reading import placed, read_arrow
from sfumato.data.safe_files import FILE
from sfumato.data.sources.openers import CSV
from sfumato.data.yaml_files import load_yaml
from sfumato.errors import SfumatoError, TableError
from sfumato.events import step, watched
from sfumato.recipe.yaml_form import BUNDLED
from sfumato.studio.workspace import Work

CODES = "codes.arrow"
TOP = 12
"""Values of a column that its picture shows."""
ROWS = 20
"""Rows that can be asked for."""
MOST_LABELS = 2000
"""Labels of a column that can be declared on the screen."""


def in_database(table: str) -> bool:
    """Whether a table is named by the address of a database."""
    return "://" in table


def look(folder: Path, table: str, *, encoding: str | None) -> dict[str, Any]:
    """Read a table, note what is in it, and draft a recipe where there is none yet.

    A table of a database is known by its counts; none of its rows is kept.
    """
    work, counted = Work(folder), in_database(table)
    with step("Counting in the database" if counted else "Reading the table"):
        source = _source(table)
        arrow, encoding = (look_at(table), None) if counted else _read(source, encoding)
    with step("Drafting a recipe"):
        place = placed(source, encoding=encoding)
        found = draft(arrow, called=Path(table).name, place=place)
        text = recipe_text(found, table, encoding=encoding)
        if work.recipe_text() is None:
            work.save_recipe(_bundled(table, arrow.num_rows) or text)
    with step("Looking at the columns"):
        drafted = load_yaml(text, what="recipe")["attributes"]
        columns = [
            {"reason": told(found[name]), "asked": found[name].asked, "drafted": drafted[name], **_column(arrow, name)}
            for name in watched(arrow.column_names)
        ]
        _write_codes(arrow, folder / CODES)
        counted_alone = _first_counts(work, arrow.column_names)
    return {
        "rows": arrow.num_rows,
        "encoding": encoding or "UTF-8",
        "database": counted,
        "alone": counted_alone,
        "bytes": None if counted else _size(source),
        "columns": columns,
        "several": one_row_one_person(found),
        "questions": [*questions(found)],
        "first": [[_text(cell) for cell in row.values()] for row in arrow.slice(0, 0 if counted else ROWS).to_pylist()],
    }


def _bundled(table: str, rows: int) -> str | None:
    """The recipe of a bundled table: its own description, with its trees. None for other tables."""
    if not table.startswith(BUNDLED):
        return None
    from sfumato.data.datasets import load
    from sfumato.privacy.requirements import KAnonymity
    from sfumato.recipe import Recipe
    from sfumato.structure.structures import Clusters

    schema = load(table.removeprefix(BUNDLED)).schema
    try:
        asked = [KAnonymity(schema.quasi, k_for(rows))]
        return Recipe(schema=schema, structure=Clusters(), privacy=asked, table=table).to_yaml()
    except SfumatoError:  # a description without a quasi-identifier: the draft will do
        return None


def _source(table: str) -> object:
    from sfumato.sweeping.points import load

    return load(table)


def _read(source: object, encoding: str | None) -> tuple[pa.Table, str | None]:
    """The table; a CSV that is not UTF-8 is read as what it seems to be."""
    try:
        return read_arrow(source, encoding=encoding), encoding
    except TableError:
        path = Path(source) if isinstance(source, str) else None
        likely = likely_encoding(path) if path is not None and path.suffix.lower() in CSV and not encoding else None
        if likely is None:
            raise
    return read_arrow(source, encoding=likely), likely


def _size(source: object) -> int | None:
    return Path(source).stat().st_size if isinstance(source, str) else None


def _column(table: pa.Table, name: str) -> dict[str, Any]:
    """What is shown of a column first. Labels count as publish takes them: with the blanks around them."""
    seen = profile(name, table.column(name))
    if seen.family == "text":
        seen = profile(name, table.column(name), read=False)
    counted = sorted(zip(seen.counts, map(_text, seen.values.to_pylist()), strict=True), reverse=True)[:MOST_LABELS]
    return {
        "name": name,
        "distinct": seen.distinct,
        "missing": seen.missing,
        "alone": seen.unique_share,
        "bins": _bins(seen),
        "top": [[label, count] for count, label in counted[:TOP]],
        "labels": sorted(label for _, label in counted) if seen.distinct <= MOST_LABELS else None,
    }


def _bins(seen: Any) -> list[int] | None:
    """How many rows fall in each twelfth of a number's range; None for labels."""
    if seen.family not in ("number", "moment") or seen.distinct <= TOP:
        return None
    import numpy as np

    values = (
        seen.values if seen.family == "number" else pc.cast(seen.values, pa.timestamp("s"), safe=False).cast("int64")
    )
    numbers = values.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    finite = np.isfinite(numbers)
    counts, _ = np.histogram(numbers[finite], bins=TOP, weights=np.asarray(seen.counts)[finite])
    return [int(count) for count in counts]


def _text(cell: object) -> str:
    if cell is None:
        return ""
    words = ", ".join(map(str, cell)) if isinstance(cell, list) else str(cell)
    return words if len(words) <= 120 else words[:119] + "…"


def _write_codes(table: pa.Table, path: Path) -> None:
    codes = {f"c{at}": _codes(column) for at, column in enumerate(watched(table.columns))}
    whole = pa.table(codes)
    fresh = path.with_name(f".{path.name}")
    handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, FILE)
    with os.fdopen(handle, "wb") as file, pa.ipc.new_file(file, whole.schema) as writer:
        writer.write_table(whole)
    fresh.replace(path)


def _codes(column: Any) -> Any:
    """Whole numbers, equal where cells are; those that are missing have one of their own."""
    array = column.combine_chunks()
    if pa.types.is_nested(array.type):
        array = pa.array([None if cell is None else repr(cell) for cell in array.to_pylist()], pa.string())
    coded = array if isinstance(array, pa.DictionaryArray) else array.dictionary_encode()
    return coded.indices.cast(pa.int32()).fill_null(-1)


def _first_counts(work: Work, names: list[str]) -> list[list[Any]]:
    """What the screen Attributes asks first, counted where nobody waits: sets of columns, who is alone with them."""
    form = load_yaml(work.recipe_text() or "", what="recipe")["attributes"]
    roles = {name: (form.get(name) or {}).get("role", "plain") for name in names}
    quasi = [name for name in names if roles[name] == "quasi"]
    bare = [name for name in names if roles[name] in ("sensitive", "plain")]
    return [[some, alone(work, names, some)] for some in (quasi, bare)]


def alone(work: Work, names: list[str], quasi: Iterable[str]) -> float:
    """The share of people who are alone with what these columns say of them together; the same is not counted twice."""
    path = work.folder / CODES
    wanted = {name: at for at, name in enumerate(names)}
    columns = tuple(sorted(wanted[name] for name in quasi if name in wanted))
    return _alone(path, path.stat().st_mtime_ns, columns) if columns else 0.0


@lru_cache(maxsize=512)
def _alone(path: Path, written: int, columns: tuple[int, ...]) -> float:
    with pa.memory_map(str(path)) as mapped:
        table = pa.ipc.open_file(mapped).read_all()
        codes = [table.column(f"c{at}").to_numpy() for at in columns]
        return share_alone_coded([one + 1 for one in codes])  # those that are missing have -1
