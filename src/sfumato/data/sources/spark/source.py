"""A Spark data frame as a source, or a table or a path on the cluster that `spark://host:port` names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pyarrow as pa

from sfumato.data.safe_files import Progress
from sfumato.data.sources.counted import Recount, Values, checked, places, receive, repeats
from sfumato.data.sources.openers import Opening
from sfumato.data.sources.scratch import expanded
from sfumato.data.sources.source import RawTable, Repeats
from sfumato.data.sources.spark.jobs import Frame, as_read, counted_tuples, group_sizes, shared_rows, value_counts
from sfumato.data.table import Origin
from sfumato.errors import SfumatoError, TableError
from sfumato.events import awaited, part


@dataclass(frozen=True, eq=False)
class SparkFrame:
    """A data frame of PySpark; nothing of it is kept between calls."""

    frame: Frame
    origin: Origin = "pyarrow"
    called: str = "Spark table"

    def names(self) -> list[str]:
        """The names of its columns, in order."""
        with in_words(self.called):
            return list(self.frame.columns)

    def raw(self, columns: Sequence[str], *, progress: Progress) -> RawTable:
        """The columns in codes. Columns that are not wanted are never asked for."""
        del progress  # Spark shows its own
        with in_words(self.called):
            read, values = as_read(self.frame, columns), {}
            for at, name in enumerate(columns):
                with part(0.6 * at / len(columns), 0.6 * (at + 1) / len(columns)):
                    values[name] = self._values(read, at)
            with part(0.6, 1.0):
                table = awaited(lambda: counted_tuples(read, list(values.values())))
                tuples = (places(batch, values) for batch in receive("tuples", table.to_batches()))
                return expanded(
                    {name: column.values for name, column in values.items()}, checked(values, tuples, self.called)
                )

    def repeats(self, columns: Sequence[str]) -> Repeats:
        """How many rows share what they have in all of these columns, counted there: two numbers come up."""
        if not {*columns} <= {*self.frame.columns}:  # what is left out need not be there
            return Repeats(0, 0)
        with in_words(self.called):
            read = as_read(self.frame, columns)
            return repeats(receive("repeats", awaited(lambda: shared_rows(read)).to_batches()))

    def _values(self, read: Frame, at: int) -> Values:
        table = awaited(lambda: value_counts(read, at))
        return Values.of(receive("values", table.to_batches()))

    def arrow(self, columns: Sequence[str], *, guess: bool, progress: Progress) -> pa.Table:
        """Refused: whoever looks at rows without a schema would bring them up."""
        del columns, guess, progress
        raise TableError(
            self.called,
            "identifiers of a Spark table stay there: it is only asked for counts, by a recipe",
            given="a table without a recipe",
            remedy="draft a recipe first: sf.draft(frame), or sfumato draft ADDRESS --output recipe.yaml",
        )

    def place(self, row: int) -> str:
        """Counted rows have no place."""
        del row
        return "a row"


def open_frame(frame: Frame, how: Opening) -> SparkFrame:
    """A data frame of PySpark."""
    _refuse_query(how)
    if not hasattr(frame, "mapInArrow") or not hasattr(frame, "toArrow"):
        raise TableError(
            "table",
            "of Spark a data frame of version 4 or newer is taken",
            given=type(frame).__name__,
            remedy="pass a pyspark.sql.DataFrame",
        )
    return SparkFrame(frame)


def open_address(address: str, how: Opening) -> SparkFrame:
    """`spark://host:port?table=NAME`, or `?path=` of Parquet files that the workers can reach."""
    _refuse_query(how)
    found = urlsplit(address)
    options = dict(parse_qsl(found.query, keep_blank_values=True))
    if found.username or found.password or found.path or len(options) != 1 or set(options) - {"table", "path"}:
        raise TableError(
            "address",
            "a table in Spark is at spark://host:port?table=NAME or spark://host:port?path=PATH",
            given="something else",
            remedy="write it as docs/spark.md shows",
        )
    with in_words("Spark"):
        session = _session(f"spark://{found.netloc}", found.hostname)
        frame = session.table(options["table"]) if "table" in options else session.read.parquet(options["path"])
    return SparkFrame(frame, called=f"Spark, {next(iter(options))} {next(iter(options.values()))}")


def recount_frame(frame: Frame, names: Sequence[str]) -> Recount:
    """How many rows a data frame has, and its smallest group of rows alike on some columns."""
    with in_words("Spark table"):
        found = pa.Table.from_batches(receive("recount", group_sizes(frame, names).to_batches()))
    (row,) = found.to_pylist()
    return Recount(tuple(names), int(row["rows"] or 0), int(row["groups"]), int(row["smallest"] or 0))


def _refuse_query(how: Opening) -> None:
    if how.query is not None:
        raise TableError(
            "query", "a query is for a database", given="a table in Spark", remedy="make it a view, and name that"
        )


def _session(master: str, host: str | None) -> Any:
    """The session that is there, if it is this cluster's; else a new one, which ends with the process."""
    from pyspark.sql import SparkSession

    active = SparkSession.getActiveSession()
    if active is not None:
        if active.sparkContext.master == master:
            return active
        raise TableError(
            "Spark",
            "a process talks to one cluster",
            given="a session with another one",
            remedy="pass a data frame of that session, or stop it first",
        )
    builder = SparkSession.builder.master(master).appName("sfumato").config("spark.ui.enabled", "false")
    if host in ("127.0.0.1", "localhost"):
        builder = builder.config("spark.driver.host", "127.0.0.1").config("spark.driver.bindAddress", "127.0.0.1")
    return builder.getOrCreate()


@contextmanager
def in_words(called: str) -> Iterator[None]:
    """Whatever goes wrong in Spark, as an error of ours: its messages quote cells and plans."""
    try:
        yield
    except (SfumatoError, MemoryError):
        raise
    except ImportError:
        raise TableError(
            called, "Spark is read with PySpark", given="none", remedy="install it: pip install 'sfumato[spark]'"
        ) from None
    except Exception as error:
        if not type(error).__module__.startswith(("pyspark", "py4j")):
            raise
        if "Not found" in str(error) or "TABLE_OR_VIEW_NOT_FOUND" in str(error) or "PATH_NOT_FOUND" in str(error):
            given = "no such table or path"
        else:
            given = f"a job that Spark could not finish ({type(error).__name__}); its log tells more"
        raise TableError(
            called, "the table is counted by Spark", given=given, remedy="mend it and try again; nothing was written"
        ) from None
