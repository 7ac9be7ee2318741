"""The writers: Excel by xlsxwriter, Stata by pandas, SPSS by pyreadstat. No time, author or place goes along."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from sfumato.errors import TableError
from sfumato.release.exports.cells import Cells

EPOCH = datetime(2000, 1, 1)
"""What these files say of when they were made: the same in all of them."""
TITLE = "A masked table"
LONGEST_LABEL = 120
"""Bytes of a value label of SPSS; a column that has longer ones is written as text."""
MOST_ROWS = 1_048_575
"""Of a sheet of Excel, below the names."""
LONGEST_SAYING = 80
"""Characters of what Stata says of a variable."""
HEADER = slice(92, 109)
"""Where a file of SPSS tells its day and its time."""


def write_excel(path: Path, columns: Sequence[Cells], rows: int) -> None:
    """Two sheets: the table, text as text and never as a formula; and what is shown in each column."""
    if rows > MOST_ROWS:
        raise TableError(
            path.name, f"a sheet holds {MOST_ROWS:,} rows", given=f"{rows:,}", remedy="hand over Parquet or CSV"
        )
    book = _library("xlsxwriter", "excel").Workbook(str(path))
    book.set_properties({"created": EPOCH, "title": TITLE})
    sheet, about = book.add_worksheet("table"), book.add_worksheet("columns")
    for at, column in enumerate(columns):
        sheet.write_string(0, at, column.title)
        about.write_string(at, 0, column.title)
        about.write_string(at, 1, column.says.replace("`", ""))
        for row, cell in enumerate(_cells(column), start=1):
            if isinstance(cell, str):
                sheet.write_string(row, at, cell)
            elif cell is not None:
                sheet.write_number(row, at, cell)
    book.close()


def write_stata(path: Path, columns: Sequence[Cells], rows: int) -> None:
    """Labels as value labels, the name in the release as the variable's label."""
    pandas = _library("pandas", "statistics")
    series = {}
    for column in columns:
        if column.numbers is None:
            series[column.name] = pandas.Categorical.from_codes(column.codes, categories=list(column.labels))
        else:
            series[column.name] = _narrowed(column.numbers)
    frame = pandas.DataFrame(series, index=range(rows))
    frame.to_stata(
        path,
        write_index=False,
        version=118,
        time_stamp=EPOCH,
        data_label=TITLE,
        variable_labels={column.name: column.title[:LONGEST_SAYING] for column in columns},
    )


def write_spss(path: Path, columns: Sequence[Cells], rows: int) -> None:
    """Labels as value labels, or as text where they are longer than a value label may be."""
    pandas, library = _library("pandas", "statistics"), _library("pyreadstat", "statistics")
    series, labelled = {}, {}
    for column in columns:
        if column.numbers is not None:
            series[column.name] = column.numbers
        elif any(len(label.encode()) > LONGEST_LABEL for label in column.labels):
            texts = np.array([*column.labels, ""], dtype=object)
            series[column.name] = texts[column.codes]
        else:
            series[column.name] = np.where(column.codes < 0, math.nan, column.codes + 1.0)
            labelled[column.name] = {float(at): label for at, label in enumerate(column.labels, start=1)}
    library.write_sav(
        pandas.DataFrame(series, index=range(rows)),
        str(path),
        file_label=TITLE,
        column_labels={column.name: column.title for column in columns},
        variable_value_labels=labelled,
        variable_measure={c.name: "scale" if c.numbers is not None else "nominal" for c in columns},
    )
    content = bytearray(path.read_bytes())
    content[HEADER] = b"01 Jan 0000:00:00"
    path.write_bytes(content)


WRITERS: Mapping[str, Callable[[Path, Sequence[Cells], int], None]] = {
    ".xlsx": write_excel,
    ".dta": write_stata,
    ".sav": write_spss,
}


def _cells(column: Cells) -> list[Any]:
    if column.numbers is not None:
        return [None if math.isnan(number) else number for number in column.numbers.tolist()]
    labels = (*column.labels, None)  # -1: missing
    return [labels[code] for code in column.codes.tolist()]


def _narrowed(numbers: Any) -> Any:
    """Whole numbers that none is missing of as such, if Stata has a type for them."""
    whole = bool(np.isfinite(numbers).all()) and bool((numbers == np.floor(numbers)).all())
    return numbers.astype(np.int32) if whole and bool((np.abs(numbers) < 2**30).all()) else numbers


def _library(name: str, extra: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        raise TableError(
            name,
            "this form of table is written by a library of its own",
            given="it is not installed",
            remedy=f"run: pip install 'sfumato[{extra}]'",
        ) from None
