"""A recipe that names what it does not declare: the header of its table says which of the two is misspelt."""

from __future__ import annotations

from pathlib import Path

from sfumato.data.domain import misspelt
from sfumato.data.reading import headers
from sfumato.errors import SchemaError, SfumatoError
from sfumato.recipe.parts import Settings


def by_header(settings: Settings, error: SchemaError) -> SchemaError:
    """Attributes whose names are nearly those of columns, if the recipe's table lies there; else the error itself."""
    table, schema = settings["table"], settings["schema"]
    if table is None or "://" in table or not Path(table).is_file():
        return error
    try:
        names = headers(table, encoding=settings["encoding"])
    except SfumatoError:  # it is told when the table is read
        return error
    undeclared, unused = [name for name in names if name not in schema], [name for name in schema if name not in names]
    return misspelt(undeclared, unused) or error
