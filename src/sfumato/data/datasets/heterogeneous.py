"""Adult with a set-valued attribute, after section 5.1 of the paper on DPHeter (003)."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

DROPPED = ("fnlwgt", "capital_gain", "capital_loss", "income", "split")


def merge(table: pa.Table, *, items: str = "occupation", dropped: Sequence[str] = DROPPED) -> pa.Table:
    """Records equal in everything but `items` become one, whose `items` is the set of theirs.

    `dropped` columns go first. Rows stand where their first record stood, items in alphabetical order.
    Missing values equal each other; a missing item joins no set, and a set of missing items only is itself
    missing.

    >>> jobs = pa.table({"age": [30, 40, 30], "occupation": ["Sales", "Sales", "Craft-repair"]})
    >>> merge(jobs, dropped=[]).to_pylist()
    [{'age': 30, 'occupation': ['Craft-repair', 'Sales']}, {'age': 40, 'occupation': ['Sales']}]
    """
    import polars as pl

    kept = table.drop_columns([name for name in dropped if name in table.column_names])
    keys = [name for name in kept.column_names if name != items]
    frame = pl.DataFrame(kept).group_by(keys, maintain_order=True)
    merged = frame.agg(pl.col(items).drop_nulls().unique().sort())
    known = pl.when(pl.col(items).list.len() > 0).then(pl.col(items))
    arrow = merged.with_columns(known.alias(items)).select(kept.column_names).to_arrow()
    listed = pa.field(items, pa.list_(kept.schema.field(items).type))
    return arrow.cast(kept.schema.set(kept.schema.get_field_index(items), listed))
