"""A run that is asked to end while a database is at work ends soon, whatever the database does, and leaves nothing."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from threading import Event, Thread
from time import monotonic, sleep
from typing import Any
from uuid import uuid4

import pyarrow as pa
import pytest

from sfumato.cli.copy import copied
from sfumato.data.safe_files import Progress
from sfumato.data.sources.openers import Opening, open_source
from sfumato.data.sources.sql import line
from sfumato.data.sources.sql.copies import address_of, write_copy
from sfumato.errors import Stopped
from sfumato.events import Stop, running, step
from tests import engines
from tests.e2e.test_databases import PLACES, people, quiet

SLOW = {
    "postgresql": "SELECT pg_sleep(60)::text AS a",
    "duckdb": "SELECT SUM(a.range * b.range) AS a FROM range(10000000) AS a, range(10000000) AS b",
    "sqlite": "WITH RECURSIVE n(a) AS (SELECT 1 UNION ALL SELECT a + 1 FROM n WHERE a < 2e6) SELECT SUM(a) AS a FROM n",
}
DEAF = """CREATE OR REPLACE FUNCTION deaf() RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN
    IF current_query() NOT LIKE '%"d0"%' THEN RETURN true; END IF;
    PERFORM pg_sleep(60);
    RETURN true;
EXCEPTION WHEN query_canceled THEN PERFORM pg_sleep(3); RAISE; END $$"""
"""Where all columns are counted together, a server that answers three seconds after it was called off, as one does that
is compiling a statement."""
QUERY = "SELECT age, town, disease FROM people WHERE (SELECT deaf())"
RECIPE = """sfumato: 1
table: {table}
query: {query}
attributes:
  age: {{kind: number, role: quasi, range: [17, 90]}}
  town: {{kind: category, role: quasi}}
  disease: {{kind: category, role: quasi}}
privacy: [{{k_anonymity: 5, 'on': [age, town, disease]}}]
"""
PROGRAM = """import sys
from sfumato.data.sources.sql import line
from sfumato.cli.main import program
line.GRACE = float(sys.argv.pop(1))
program()
"""
SOON = 50.0


def seen(name: str) -> list[str]:
    """What the server waits for in the sessions of a program of this name."""
    with engines.connected(engines.postgres()) as cursor:
        cursor.execute("SELECT wait_event FROM pg_stat_activity WHERE application_name = $1", (name,))
        return [str(found) for found in cursor.fetch_arrow_table().column(0).to_pylist()]


def asleep(name: str) -> bool:
    return "PgSleep" in seen(name)


def until(found: Any) -> None:
    """Wait for it, but not for ever."""
    ends = monotonic() + SOON
    while not found():
        assert monotonic() < ends
        sleep(0.05)


@pytest.fixture(params=PLACES)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@contextmanager
def ended(ask: Callable[[Stop], None]) -> Iterator[None]:
    """Within this, a run that somebody asks to end, and that does."""
    stop = Stop()
    thread = Thread(target=ask, args=(stop,))
    with running(stop=stop):
        thread.start()
        with pytest.raises(Stopped), step("Reading"):
            yield
    thread.join()


def soon(stop: Stop) -> None:
    sleep(0.3)
    stop.ask()


@pytest.fixture
def deaf() -> Iterator[str]:
    address = engines.in_postgres(people()).partition("?")[0]
    with engines.connected(address) as cursor:
        cursor.execute(DEAF)
    yield address
    with engines.connected(address) as cursor:
        cursor.execute("DROP FUNCTION deaf")


def test_a_run_ends_while_the_database_works(kind: str, tmp_path: Path) -> None:
    address = PLACES[kind](people(20), tmp_path).partition("?")[0]
    table = open_source(address, Opening(query=SLOW[kind]))
    with ended(soon):
        began = monotonic()
        table.raw(["a"], progress=Progress())
    assert monotonic() - began < 5


@pytest.mark.slow
@pytest.mark.parametrize(("delay", "grace", "signals"), [(0, 0.5, 1), (0.3, 0.5, 1), (0.3, 2 * SOON, 2)])
def test_a_signal_ends_a_program_whose_database_does_not_hear(
    delay: float, grace: float, signals: int, deaf: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    name = f"s{uuid4().hex}"
    (tmp_path / "recipe.yaml").write_text(RECIPE.format(table=f"{deaf}?application_name={name}", query=QUERY))
    run = [sys.executable, "-c", PROGRAM, str(grace), "publish", "recipe.yaml", "--output", "out", "--no-report"]
    program = subprocess.Popen(run, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        until(lambda: asleep(name) or program.poll() is not None)
        for _ in range(signals):
            sleep(delay)
            program.send_signal(signal.SIGTERM)
        said, _ = program.communicate(timeout=SOON)
    finally:
        program.kill()
        program.wait()
    assert program.returncode == 143, said
    assert {path.name for path in tmp_path.iterdir()} <= {"recipe.yaml", "state"}
    until(lambda: not seen(name))


def test_a_connection_is_left_alone_as_long_as_its_database_does_not_hear(
    deaf: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is closed in another thread meanwhile would wait for an answer that the first one takes."""
    monkeypatch.setattr(line, "GRACE", 0.2)
    name, began = f"s{uuid4().hex}", Event()
    table = open_source(f"{deaf}?application_name={name}", Opening(query=QUERY))

    def ask(stop: Stop) -> None:
        until(lambda: asleep(name))
        began.set()
        stop.ask()

    with ended(ask):
        table.raw(["age", "town", "disease"], progress=Progress())
    assert began.is_set()
    assert seen(name), "it is not over there"
    until(lambda: not seen(name))


def test_a_copy_that_waits_for_a_lock_is_called_off(deaf: str) -> None:
    from adbc_driver_postgresql import dbapi

    name = f"s{uuid4().hex}"
    with closing(dbapi.connect(deaf)) as other, closing(other.cursor()) as cursor:
        cursor.execute(f"CREATE TABLE {name} (a INTEGER)")  # not committed: whoever makes one of that name waits
        with ended(soon):
            write_copy(address_of(f"{deaf}?application_name={name}", name), pa.table({"a": [1]}))
        until(lambda: not seen(name))
        other.rollback()


def test_a_signal_within_a_copy_leaves_the_release_and_says_so(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def signalled(*_: object) -> None:
        raise SystemExit(143)

    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    release = quiet(people())
    written = release.write(tmp_path / "out")
    monkeypatch.setattr("sfumato.release.copies.write_copy", signalled)
    with pytest.raises(SystemExit):
        copied(release, f"sqlite:///{tmp_path}/copies.db?table=masked", written)
    assert f"is released and entered, and not copied: say sfumato copy {written} ADDRESS" in capsys.readouterr().err
