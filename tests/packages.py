"""datapackage.json made to fit whatever table stands in a folder now: what a forger does before the hashes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl

from sfumato.privacy.verify.files.csv_file import read_rows
from sfumato.privacy.verify.texts.datapackage import PACKAGE, described


def repack(folder: Path, form: dict[str, Any]) -> None:
    """Write it anew, as well as that can be done; `form` is the certificate, with hashes that fit."""
    path = folder / form["table"]["file"]
    if path.suffix == ".csv":
        texts = read_rows(path, spreadsheet_safe=form["table"]["spreadsheet_safe"])
        held = {name: pl.Series(list(column.texts), dtype=pl.String) for name, column in texts.items()}
    else:
        try:
            table = pl.read_parquet(path, glob=False, hive_partitioning=False)
        except pl.exceptions.PanicException:  # a file that lies of its rows: no forger can describe it either
            return
        held = {name: table[name] for name in table.columns}
    made = described(form, held, path.stat().st_size)
    (folder / PACKAGE).write_text(json.dumps(made, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
