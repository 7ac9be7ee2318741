"""A drafted recipe as a value: a proposal with the reason of each guess, to be read and changed before it is used."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from sfumato.calls import called
from sfumato.data.reading import index_left_out, placed
from sfumato.data.reading import look as look_at
from sfumato.recipe.recipe import Recipe
from sfumato.recipe.settings import EVERYWHERE


@called
def draft(table: object, *, encoding: str | None = None, query: str | None = None) -> Recipe:
    """Propose a recipe for a table, with `.reasons` (why each attribute is what it is) and `.questions` to you.

    `table` is a path, a data frame of pandas, polars or pyarrow, or the address of a database, which counts.
    `encoding` is that of a CSV which is not UTF-8; `query` what to read from a database whose address names no table.
    It is a guess, and never run by itself: only you know what the columns mean, and what others know.

    >>> import pyarrow as pa
    >>> recipe = draft(pa.table({"age": [30, 40, 50] * 9, "disease": ["flu", "gout", "flu"] * 9}))
    >>> recipe.schema.quasi, recipe.reasons["age"].split(";")[0]
    (('age',), 'age or birth: many know it')
    """
    from sfumato.data.drafting.draft import draft as look
    from sfumato.data.drafting.questions import questions
    from sfumato.data.drafting.text import recipe_text, told

    index_left_out(table)
    path = str(table) if isinstance(table, str | Path) else None
    place = placed(table, encoding=encoding)
    rows = look_at(table, encoding=encoding, query=query)
    found = look(rows, called="table" if path is None else Path(path).name, place=place)
    text = recipe_text(found, path or "table", encoding=encoding, query=query)
    reasons = {column.name: told(column) for column in found.columns}
    asked = tuple(questions(found))
    return replace(Recipe.from_yaml(text, allow=EVERYWHERE), table=path, reasons=reasons, questions=asked)
