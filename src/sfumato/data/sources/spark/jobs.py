"""The two counting jobs on a Spark data frame.

Both only add up, so that a lost executor, a retried or a doubled task changes nothing. What tasks run is made here as
inner functions: they travel whole, and workers need pyarrow but not Sfumato.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import pyarrow as pa

from sfumato.data.sources.counted import Values
from sfumato.errors import TableError

Frame = Any
"""A data frame of PySpark, classic or by Spark Connect."""


def ticked(name: str) -> str:
    """A column's name that means itself whatever is in it.

    >>> ticked("a`b.c")
    '`a``b.c`'
    """
    return "`" + name.replace("`", "``") + "`"


def as_read(frame: Frame, columns: Sequence[str]) -> Frame:
    """These columns under numbers, so that equal values are equal byte by byte."""
    types = {field.name: field.dataType for field in frame.schema.fields}
    return frame.select(*(_expression(name, types[name]).alias(f"c{at}") for at, name in enumerate(columns)))


def _expression(name: str, kind: Any) -> Any:
    from pyspark.sql import functions

    column, told = functions.col(ticked(name)), kind.simpleString()
    if told in ("double", "float"):
        return (column + functions.lit(0.0)).cast(told)  # -0.0 is 0.0, as Spark groups them
    if told.startswith(("array", "map", "struct", "binary", "interval", "variant")):
        raise TableError(
            name,
            "a column of Spark holds text, numbers, dates, times or truth values",
            given=f"type {told.partition('<')[0]}",
            remedy="convert it before (lists to text with a separator: array_join), or declare it an identifier",
        )
    if told.startswith(("string collate", "varchar", "char")):
        return functions.collate(column.cast("string"), "UTF8_BINARY")
    return column


def value_counts(read: Frame, at: int) -> pa.Table:
    """Job 1: the values of one column, ascending, with how many rows have each."""
    name = f"c{at}"
    found: pa.Table = read.groupBy(name).count().toArrow()
    return found.sort_by(name)  # so that the same table gives the same rows again


def counted_tuples(read: Frame, values: Sequence[Values]) -> pa.Table:
    """Job 2: the different rows as places of their values, with how many rows are like it; in one order."""
    from pyspark.sql import functions

    names = [f"c{at}" for at in range(len(values))]
    schema = ", ".join(f"{name} int" for name in names) + ", n bigint"
    parts = read.mapInArrow(_coder([_packed(column.values) for column in values]), schema)
    summed = parts.groupBy(*names).agg(functions.sum("n").alias("n")).orderBy(*names)
    found: pa.Table = summed.toArrow()
    return found


def _packed(values: pa.Array[Any]) -> bytes:
    sink = pa.BufferOutputStream()
    batch = pa.record_batch({"v": values})
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    return sink.getvalue().to_pybytes()


Batches = Iterable[pa.RecordBatch]


def _coder(packed: Sequence[bytes]) -> Callable[[Batches], Iterator[pa.RecordBatch]]:
    """What a task does: batches of values to tuples of places with counts. A value that job 1 did not see is -1."""
    each_most = 200_000

    def coded(batches: Batches) -> Iterator[Any]:
        import pyarrow as arrow
        import pyarrow.compute as compute

        known = [arrow.ipc.open_stream(content).read_all().column(0).combine_chunks() for content in packed]
        names = [f"c{at}" for at in range(len(known))]
        one = arrow.scalar(1, arrow.int64())

        def place(column: Any, values: Any) -> Any:
            found = compute.index_in(column.cast(values.type), value_set=values).fill_null(-1)
            return compute.if_else(column.is_valid(), found, arrow.scalar(len(values), arrow.int32()))

        def merged(parts: list[Any]) -> Any:
            rows = arrow.concat_tables(parts)
            sums = rows.group_by(names, use_threads=False).aggregate([("n", "sum")])
            return sums.select([*names, "n_sum"]).rename_columns([*names, "n"])

        parts: list[Any] = []
        for batch in batches:
            if not batch.num_rows:
                continue
            columns = [place(column, values) for column, values in zip(batch.columns, known, strict=True)]
            weights = arrow.repeat(one, batch.num_rows)
            parts.append(merged([arrow.table([*columns, weights], names=[*names, "n"])]))
            if sum(part.num_rows for part in parts) > each_most:
                parts = [merged(parts)]
                if parts[0].num_rows > each_most:
                    yield from parts.pop().to_batches()
        if parts:
            yield from merged(parts).to_batches()

    return coded


def group_sizes(frame: Frame, names: Sequence[str]) -> pa.Table:
    """One row: rows in all, groups alike on some columns, and rows of the smallest of them, by Spark's own count."""
    from pyspark.sql import functions

    groups = frame.groupBy(*(functions.col(ticked(name)) for name in names)).count()
    found: pa.Table = groups.agg(
        functions.sum("count").alias("rows"),
        functions.count("count").alias("groups"),
        functions.min("count").alias("smallest"),
    ).toArrow()
    return found


def shared_rows(read: Frame) -> pa.Table:
    """One row: rows that miss none of some columns, and how many of these are like another in all of them."""
    from pyspark.sql import functions

    there = read
    for name in read.columns:
        there = there.where(functions.trim(functions.col(name).cast("string")) != "")
    groups = there.groupBy(*read.columns).count()
    several = functions.when(functions.col("count") > 1, functions.col("count")).otherwise(0)
    found: pa.Table = groups.agg(functions.sum("count").alias("rows"), functions.sum(several).alias("shared")).toArrow()
    return found
