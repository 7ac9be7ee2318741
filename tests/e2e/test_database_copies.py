"""Copies in databases: every type of a column, what a server refuses, and a copy that is there."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import sfumato as sf
from sfumato.cli.main import app
from sfumato.data.safe_files import Progress
from sfumato.data.sources.openers import Opening, open_source
from sfumato.data.sources.sql.copies import address_of, is_copy, write_copy
from sfumato.privacy.ledger import Ledger
from tests import engines
from tests.e2e.test_databases import PLACES, RECIPE, people, run_sql


@pytest.fixture(params=PLACES)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


KINDS: dict[str, Any] = {
    "small": pa.array([1, None], pa.int16()),
    "int": pa.array([7, 8], pa.int32()),
    "coded": pa.array([7, 8], pa.int32()).dictionary_encode(),
    "big": pa.array([2**40, None]),
    "real": pa.array([1.5, None], pa.float32()),
    "exact": pa.array([Decimal("12.25"), None]),
    "truth": pa.array([True, None]),
    "day": pa.array([date(2024, 2, 29), None]),
    "moment": pa.array([datetime(2024, 2, 29, 12, 30), None]),
    "text": pa.array(["a", None], pa.large_string()),
}
"""Of every type that a column may go out with, one that is there and one that is missing."""


@pytest.mark.parametrize("address", ["people.csv", "nope://x?table=t", "mysql://host/db?table=t"])
def test_what_is_no_address_of_a_database_is_told_as_such(address: str) -> None:
    with pytest.raises(sf.TableError, match="begin it with postgresql://, duckdb://, sqlite://"):
        address_of(address, None)


def test_every_type_of_a_column_is_copied(kind: str, tmp_path: Path) -> None:
    address = PLACES[kind](people(20), tmp_path).partition("?")[0]
    name = f"kinds_{uuid4().hex}"
    write_copy(address_of(address, name), pa.table(KINDS))
    assert is_copy(address_of(address, name), pa.table(KINDS))
    assert not is_copy(address_of(address, name), pa.table(KINDS)[:1])
    for column, given in KINDS.items():
        query = f'SELECT "{column}" AS "v" FROM {name}'
        found: Any = open_source(address, Opening(query=query)).raw(["v"], progress=Progress()).columns["v"]
        assert found.values[0].as_py() is not None
        if kind == "postgresql":
            values = given.dictionary_decode() if column == "coded" else given
            assert found.values[0].as_py() == values[0].as_py(), column


def test_a_copy_that_the_server_refuses_names_state_and_column(monkeypatch: pytest.MonkeyPatch) -> None:
    address = engines.in_postgres(people(20)).partition("?")[0]
    monkeypatch.setattr("sfumato.data.sources.sql.copies.SENT", {})
    with pytest.raises(sf.TableError) as caught:
        write_copy(address_of(address, f"narrow_{uuid4().hex}"), pa.table({"a": [1], "b": KINDS["int"][:1]}))
    assert caught.value.given == 'SQLSTATE 08P01, column "b"'


def test_the_same_again_with_a_copy_is_done_already(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The release is not published again: its copy is recognised, or made if missing; another table is left."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    where, name = PLACES[kind](people(), tmp_path).partition("?")[0], f"masked_{uuid4().hex}"
    (tmp_path / "recipe.yaml").write_text(replace(RECIPE, people="census").to_yaml())
    pq.write_table(people(), tmp_path / "people.parquet")
    out, address = tmp_path / "out", f"{where}?table={name}"
    given = ["--table", str(tmp_path / "people.parquet"), "--output", str(out), "--copy", address]
    run = ["publish", str(tmp_path / "recipe.yaml"), *given, "--no-suggest", "--no-report", "--json"]

    def told(ends: int = 0) -> tuple[Any, str]:
        made = CliRunner().invoke(app, run)
        assert made.exit_code == ends, made.output
        return json.loads(made.stdout), " ".join(made.stderr.split())

    assert told()[0]["copy"] == {"written": True, "why": ""}
    again, _ = told()
    assert (again["already"], again["copy"]) == (True, {"written": True, "why": "", "already": True})
    run_sql(address, f"DROP TABLE {name}")
    assert told()[0]["copy"] == {"written": True, "why": ""}, "missing there, and written now"
    assert all(claim.holds for claim in sf.recount(address, out))
    run_sql(address, f"UPDATE {name} SET disease = 'other' WHERE disease = (SELECT MIN(disease) FROM {name})")
    another, said = told(ends=3)
    assert "there already" in another["copy"]["why"]
    assert "it was compared, and is no copy of this release" in another["copy"]["why"]
    assert f"then say sfumato copy {out} ADDRESS, and do not publish again" in said
    assert "try again" not in said
    assert len(Ledger().releases()) == 1
