"""The release folder as it is written: the table, what explains it, its certificate, a page for the recipient."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa

from sfumato.data.schema import ItemSet, Schema
from sfumato.data.table import Column, Table
from sfumato.data.writing import ordered, write
from sfumato.errors import ReleaseError
from sfumato.maskers.masker import Outcome
from sfumato.privacy.verify import twins
from sfumato.privacy.verify.readme import README, readme
from sfumato.randomness import Randomness
from sfumato.release.certificate import Facts, certificate, hashes

Format = Literal["parquet", "csv"]


def released_table(table: Table, masked: Mapping[str, pa.Array[Any]]) -> pa.Table:
    """What is shown: masked columns masked, the others as they are."""
    return pa.table(
        {name: masked[name] if name in masked else _as_is(table.columns[name]) for name in table.schema.kept}
    )


def generated_table(schema: Schema, outcome: Outcome) -> pa.Table:
    """What is shown when rows are generated: those columns and nothing else."""
    if set(outcome.columns) != set(schema.kept):
        raise ReleaseError("release", "a generated table has every released column, and no other",
                           given="other columns", remedy="report this: the masker left some out")  # fmt: skip
    return pa.table({name: outcome.columns[name] for name in schema.kept})


def _as_is(column: Any) -> pa.Array[Any]:
    if isinstance(column, Column) and pa.types.is_string(column.values.type):
        codes: Any = pa.array(column.codes.astype(np.int32), mask=column.codes == column.missing_code)
        return pa.DictionaryArray.from_arrays(codes, column.values)
    found: pa.Array[Any] = column.decode()
    return found


def write_bundle(
    folder: Path,
    shown: pa.Table,
    files: Mapping[str, Any],
    facts: Facts,
    *,
    chance: Randomness,
    pages: Mapping[str, str],
) -> pa.Table:
    """Write everything into an empty folder; the certificate last, over the bytes of all others, then its pages.

    Gives the table back in the order of its written rows.
    """
    order = None if facts.keep_order else chance.permutation(shown.num_rows)
    shuffled = ordered(shown, order)
    write(
        shuffled,
        folder / facts.table_file,
        order=None,
        separators=_separators(facts.schema),
        spreadsheet_safe=facts.spreadsheet_safe,
    )
    for name, content in files.items():
        write_json(folder / name, content)
    for name, content in pages.items():
        (folder / name).write_text(content, encoding="utf-8")
    form = certificate(facts, folder)
    (folder / README).write_text(readme(form), encoding="utf-8")
    form["files"] = hashes(folder)
    write_json(folder / "certificate.json", form)
    (folder / "certificate.md").write_text(twins.markdown(form), encoding="utf-8")
    (folder / "certificate.html").write_text(twins.html(form), encoding="utf-8")
    return shuffled


def _separators(schema: Schema) -> dict[str, str]:
    return {name: of.separator for name, of in schema.items() if isinstance(of, ItemSet)}


def write_json(path: Path, content: Any) -> None:
    """Plain JSON, readable, numbers exact."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n", encoding="utf-8")
