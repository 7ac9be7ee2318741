"""Raw rows that a recipient has, beside a release."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from sfumato.data.reading import read_arrow
from sfumato.errors import TableError


def raw_columns(rows: object, names: Sequence[str], *, or_else: str = "") -> dict[str, Any]:
    """The named columns of a raw table of any kind."""
    table = rows if isinstance(rows, pa.Table) else read_arrow(rows)
    for name in names:
        if name not in table.column_names:
            raise TableError(
                name,
                "raw rows must have the columns that the release places people by",
                given="no such column",
                remedy=f"add it to the rows{or_else.replace('NAME', repr(name))}",
            )
    return {name: table.column(name).combine_chunks() for name in names}
