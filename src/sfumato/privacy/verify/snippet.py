"""The lines of README.md that turn a released table into points with pandas alone."""

from __future__ import annotations

from sfumato.privacy.verify.fields import Form, field, forms
from sfumato.privacy.verify.letters import quoted

READERS = {"table.csv": 'pd.read_csv("table.csv", dtype=str)', "table.parquet": 'pd.read_parquet("table.parquet")'}
ENDS = r"^\[?(.*?)(?:(?:\.\.|-(?!.*\.\.))(.*)[])].*)?$"
"""Both ends of an interval, parted by dots, or by a minus sign where no dots follow; of a number, the number alone."""
MOST = 40
"""Columns that are named; a table that has more is read by its recipient's own list."""


def snippet(table: Form) -> str:
    """The section: intervals at their middles, labels as shares of what is shown; nothing but pandas is needed.

    >>> column = {"name": "age", "kind": "number", "masked": "extent", "role": "quasi"}
    >>> print(snippet({"file": "table.csv", "columns": [column]}).splitlines()[4])
        import pandas as pd
    """
    columns = [c for c in forms(table, "columns") if c.get("role") != "sensitive" and c.get("kind") != "item_set"]
    numbers = [field(c, "name", str) for c in columns if c.get("kind") == "number"]
    labels = [field(c, "name", str) for c in columns if c.get("kind") != "number"]
    if not columns or len(columns) > MOST:
        return ""
    return f"""## Work with it in pandas alone

    import pandas as pd
    table = {READERS[field(table, "file", str)]}.astype("string")
    ends = {{c: table[c].str.extract(r"{ENDS}") for c in {_listed(numbers)}}}
    middles = pd.DataFrame({{c: ends[c].apply(pd.to_numeric, errors="coerce").mean(axis=1) for c in ends}}, table.index)
    scaled = ((middles - middles.min()) / (middles.max() - middles.min())).fillna(0.5)
    shares = [table[c].fillna("").str.strip("{{}}").str.get_dummies(", ") for c in {_listed(labels)}]
    points = pd.concat([scaled, *(part.div(part.sum(axis=1).clip(1), axis=0) * 0.5**0.5 for part in shares)], axis=1)

`points` has a row for each row of the table, numbers from 0 to 1, and two different labels are as far apart as the ends
of a number: what k-means and most models want. For dates take `pd.to_datetime` in the place of `pd.to_numeric`. With
Sfumato, `sfumato.load(".").points()` places rows by the codebook as well, which is closer.

"""


def _listed(names: list[str]) -> str:
    return "[" + ", ".join(quoted(name) for name in names) + "]"
