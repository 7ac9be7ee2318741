"""The studio on a table in a database: counted there, masked, released; a password is shown and kept nowhere."""

from __future__ import annotations

import io
import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.csv as pv
import pytest

import sfumato as sf
from sfumato.studio.jobs import Job
from sfumato.studio.serve import begin
from sfumato.studio.workspace import Work
from tests.studio_visitor import Visitor

ADULT = sf.datasets.load("adult").table.select(["age", "education_num", "sex", "income"]).slice(0, 400)
SECRET = "hunter2-in-the-address"


def in_sqlite(path: Path, people: pa.Table) -> None:
    with closing(sqlite3.connect(path)) as database:
        database.execute("CREATE TABLE people (age INTEGER, education_num INTEGER, sex TEXT, income TEXT)")
        database.executemany(
            "INSERT INTO people VALUES (?, ?, ?, ?)", [tuple(row.values()) for row in people.to_pylist()]
        )
        database.commit()


def in_duckdb(path: Path, people: pa.Table) -> None:
    text = path.with_suffix(".csv")
    pv.write_csv(people, text)
    with closing(duckdb.connect(str(path))) as database:
        database.execute(f"CREATE TABLE people AS SELECT * FROM read_csv('{text}')")


@pytest.fixture
def visitor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Visitor:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (tmp_path / "beside").mkdir()
    return Visitor.of(tmp_path / "studio", beside=tmp_path / "beside", most_upload=1 << 28).enter()


def everything(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


def released(visitor: Visitor, work: Work) -> Path:
    visitor.post(f"/w/{work.id}/run/start")
    visitor.done(Job(work.trials[-1]))
    visitor.post(f"/w/{work.id}/release/ask")
    visitor.done(Job(work.job("ledger")))
    visitor.post(f"/w/{work.id}/release/release", {"name": "people", "understood": "yes"})
    visitor.done(Job(work.job("release")))
    return work.folder / "releases" / "people"


@pytest.mark.slow
@pytest.mark.parametrize(("scheme", "make"), [("sqlite", in_sqlite), ("duckdb", in_duckdb)])
def test_from_a_database_to_a_release(visitor: Visitor, scheme: str, make: Callable[[Path, pa.Table], None]) -> None:
    make(visitor.studio.space.beside / "people.db", ADULT)
    work = visitor.new()
    visitor.post(f"/w/{work.id}/table/address", {"address": f"{scheme}:///people.db?table=people"})
    visitor.done(Job(work.job("look")))
    page = visitor.get(f"/w/{work.id}/table?rows=20").text
    assert "400" in page
    assert "no row is kept here" in page
    look = json.loads((work.job("look") / "result.json").read_text())
    assert look["first"] == []
    release = released(visitor, work)
    assert sf.verify(release).holds
    out = io.BytesIO()
    pv.write_csv(ADULT, out)
    uploaded = visitor.uploaded("people.csv", out.getvalue())
    texts = [(one.recipe_text() or "").splitlines() for one in (work, uploaded)]
    database, file = ([line for line in text if not line.startswith("table:")] for text in texts)
    assert database == file


def test_the_studio_begins_with_an_address(visitor: Visitor) -> None:
    in_sqlite(visitor.studio.space.beside / "people.db", ADULT)
    begin(visitor.studio, "sqlite:///people.db?table=people")
    (work,) = visitor.studio.space.works()
    visitor.done(Job(work.job("look")))
    assert "age: {kind: number, role: quasi" in (work.recipe_text() or "")


@pytest.mark.parametrize(
    "address",
    [
        f"postgresql://holder:{SECRET}@db.example.org/census?table=people",
        f"postgresql://holder@db.example.org/census?table=people&password={SECRET}",
        f"postgresql://db.example.org/census?table=people&sslpassword={SECRET}",
    ],
)
def test_a_password_in_an_address_is_shown_and_kept_nowhere(visitor: Visitor, address: str) -> None:
    work = visitor.new()
    told = visitor.post(f"/w/{work.id}/table/address", {"address": address}).text
    assert "an address with a password in it" in told
    text = f"sfumato: 1\ntable: {address}\nattributes: {{age: {{kind: number, role: quasi}}}}\n"
    told += visitor.post(f"/w/{work.id}/recipe", {"text": text}).text.partition("<textarea")[0]
    assert told.count("an address with a password in it") == 2
    assert SECRET not in told
    assert SECRET.encode() not in everything(visitor.studio.space.root)


@pytest.mark.parametrize(
    "address",
    [
        "",
        "people.db",
        "http://db.example.org/people?table=people",
        "spark://x?table=people",
        "sqlite:///people.db",
        "sqlite:///../studio/x.db?table=people",
        "sqlite:////etc/passwd?table=people",
        "duckdb:///nobody.db?table=people",
        "postgresql://db/x?table=people&password_file=/etc/passwd",
    ],
)
def test_an_address_that_leads_elsewhere_begins_nothing(visitor: Visitor, address: str) -> None:
    work = visitor.new()
    assert "That was not possible" in visitor.post(f"/w/{work.id}/table/address", {"address": address}).text
    assert Job(work.job("look")).state == "none"
