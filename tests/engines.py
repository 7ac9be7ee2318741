"""The same table in a database or in Spark, for tests and benchmarks that compare sources.

`.ci/run` starts a PostgreSQL and a Spark cluster and names their folders in SFUMATO_POSTGRES and SFUMATO_SPARK. Without
them the tests that need one are skipped, unless SFUMATO_ENGINES says `required`.
"""

from __future__ import annotations

import os
import sqlite3
import sys
import warnings
from collections.abc import Iterable, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

TYPES = {"int64": "BIGINT", "double": "DOUBLE PRECISION", "string": "TEXT", "bool": "BOOLEAN", "date32[day]": "DATE"}
NAME = "people"


def started(kind: str) -> Path:
    """The folder of a server that runs; skips the test where there is none."""
    folder = os.environ.get(f"SFUMATO_{kind.upper()}")
    if folder is None:
        words = f"no {kind} runs here: start one with tools/{kind}.sh and name its folder in SFUMATO_{kind.upper()}"
        if os.environ.get("SFUMATO_ENGINES") == "required":
            pytest.fail(words)
        pytest.skip(words)
    return Path(folder)


def postgres() -> str:
    """The address of the database, whose password is in PGPASSWORD from now on."""
    folder = started("postgres")
    os.environ["PGPASSWORD"] = (folder / "password").read_text().strip()
    return (folder / "address").read_text().strip()


def postgres_log() -> str:
    """Every statement that the server was sent so far."""
    return (started("postgres") / "log").read_text(encoding="utf-8", errors="replace")


@contextmanager
def connected(address: str) -> Any:
    """A connection that commits each statement."""
    from adbc_driver_postgresql import dbapi

    with closing(dbapi.connect(address, autocommit=True)) as connection, closing(connection.cursor()) as cursor:
        yield cursor


def sql_type(kind: pa.DataType) -> str:
    return f"NUMERIC({kind.precision}, {kind.scale})" if pa.types.is_decimal(kind) else TYPES[str(kind)]


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _columns(table: pa.Table) -> str:
    return ", ".join(f"{_quoted(field.name)} {sql_type(field.type)}" for field in table.schema)


def in_postgres(table: pa.Table, name: str = NAME) -> str:
    """The table in PostgreSQL; its address."""
    address = postgres()
    plain = pa.table([_as_text(column) for column in table.columns], names=[f"c{i}" for i in range(table.num_columns)])
    casts = ", ".join(f"CAST(c{at} AS {sql_type(field.type)})" for at, field in enumerate(table.schema))
    with connected(address) as cursor:
        cursor.execute(f"DROP TABLE IF EXISTS {_quoted(name)}")
        cursor.execute(f"CREATE TABLE {_quoted(name)} ({_columns(table)})")
        cursor.adbc_ingest("staged", plain, mode="replace")
        cursor.execute(f"INSERT INTO {_quoted(name)} SELECT {casts} FROM staged")
        cursor.execute("DROP TABLE staged")
    return f"{address}?table={name}"


def _as_text(column: pa.ChunkedArray[Any]) -> pa.ChunkedArray[Any]:
    return column.cast(pa.string()) if pa.types.is_decimal(column.type) else column


def in_duckdb(table: pa.Table, folder: Path) -> str:
    """The table in a file of DuckDB; its address."""
    import duckdb

    path = folder / "people.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.register("given", table)
        connection.execute(f"CREATE TABLE {NAME} AS SELECT * FROM given")
    return f"duckdb:///{path}?table={NAME}"


def in_sqlite(table: pa.Table, folder: Path) -> str:
    """The table in a file of SQLite; its address."""
    path = folder / "people.db"
    cells = [_for_sqlite(column) for column in table.columns]
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(f"CREATE TABLE {NAME} ({_columns(table)})")
        marks = ", ".join("?" * table.num_columns)
        connection.executemany(f"INSERT INTO {NAME} VALUES ({marks})", zip(*cells, strict=True))
    return f"sqlite:///{path}?table={NAME}"


def _for_sqlite(column: pa.ChunkedArray[Any]) -> list[Any]:
    if pa.types.is_decimal(column.type):
        return column.cast(pa.float64()).to_pylist()
    return (column.cast(pa.string()) if pa.types.is_date(column.type) else column).to_pylist()


def in_parquet(table: pa.Table, folder: Path, files: int = 1) -> Path:
    """The table in a folder of Parquet files that everybody may read."""
    place = folder / "people"
    place.mkdir(exist_ok=True)
    each = -(-table.num_rows // files)
    for at in range(files):
        pq.write_table(table.slice(at * each, each), place / f"part{at}.parquet")
    return place


def in_spark(table: pa.Table, folder: Path, **settings: str) -> Any:
    """The table as a data frame of the cluster, in four files."""
    return session(**settings).read.parquet(str(in_parquet(table, folder, files=4)))


def session(**settings: str) -> Any:
    """A session with the cluster that runs; the one that is there already, if there is one."""
    address = (started("spark") / "address").read_text().strip()
    os.environ["PYSPARK_PYTHON"] = sys.executable
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pyspark.sql import SparkSession

        builder = SparkSession.builder.master(address).appName("tests")
        usual = {
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
            "spark.log.level": "ERROR",
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.driver.memory": "512m",
            "spark.executor.memory": "512m",
            "spark.executor.cores": "1",
            "spark.sql.shuffle.partitions": "4",
            "spark.sql.adaptive.enabled": "true",
        }
        for name, value in {**usual, **settings}.items():
            builder = builder.config(name, value)
        return builder.getOrCreate()


def rows_of(table: pa.Table | Iterable[Mapping[str, Any]]) -> list[str]:
    """The rows of a table, in one order."""
    rows = table.to_pylist() if isinstance(table, pa.Table) else list(table)
    return sorted(repr(row) for row in rows)
