"""Mistakes of recipes, tables and arguments, each told with what is meant."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from typer.testing import CliRunner

import sfumato as sf
from sfumato.cli.main import app
from sfumato.data.yaml_files import load_yaml

DAY = {"role": "quasi", "calendar": "day"}


def test_a_name_like_that_of_a_column_is_the_one_that_is_wrong() -> None:
    schema = sf.Schema(saldo_media=sf.Number(role="quasi"), sexx=sf.Category(role="quasi"))
    with pytest.raises(sf.SchemaError) as caught:
        sf.read(pa.table({"saldo_medio": [1.5], "sex": ["m"]}), schema)
    assert caught.value.thing == "saldo_media, sexx"
    assert "the schema has saldo_media, the table has saldo_medio" in caught.value.given
    assert "did you mean 'saldo_medio' and 'sex'?" in caught.value.remedy


@pytest.mark.parametrize(("order", "given"), [("mdy", "dates: mdy"), (None, "no order, which is ISO 8601")])
def test_the_order_of_dates_that_fits_is_named(order: str | None, given: str) -> None:
    schema = sf.Schema(d=sf.Number(**DAY, dates=order))  # type: ignore[arg-type]
    with pytest.raises(sf.TableError) as caught:
        sf.read(pa.table({"d": ["31.12.1990", "05.06.1991"]}), schema)
    assert (caught.value.given, "dates: dmy" in caught.value.remedy) == (given, True)
    assert "1990" not in str(caught.value)


def test_a_tab_is_named_with_its_line() -> None:
    with pytest.raises(sf.RecipeError, match=r"line 2: .*a tab in that line"):
        load_yaml("attributes:\n\tage: {kind: number}\n", what="recipe")


def test_a_table_and_a_release_the_wrong_way_round(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "certificate.json").write_text("{}")
    (tmp_path / "people.csv").write_text("age\n1\n")
    with pytest.raises(sf.ReleaseError, match="the other way round"):
        sf.attack(str(tmp_path / "out"), tmp_path / "people.csv")
    with pytest.raises(sf.ReleaseError, match="a release is a folder"):
        sf.explain(tmp_path / "people.csv", "age")
    address = "postgresql://anna:hunter2@127.0.0.1:1/x?table=people"
    with pytest.raises(sf.ReleaseError, match=r"the other way round: the address") as caught:
        sf.attack(str(tmp_path / "out"), address)
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    "call", ["attack OUT ADDRESS", "apply ADDRESS OUT -o x.csv", "verify ADDRESS", "publish ADDRESS"]
)
def test_an_address_where_a_path_belongs_is_told_and_not_shown(call: str, tmp_path: Path) -> None:
    named = {"OUT": str(tmp_path), "ADDRESS": "postgresql://anna:hunter2@127.0.0.1:1/x?table=people"}
    told = CliRunner().invoke(app, [named.get(word, word) for word in call.split()]).exception
    assert isinstance(told, sf.SfumatoError)
    assert told.given == "the address of a database"
    assert ("other way round" in told.remedy) == ("OUT" in call)
    assert "hunter2" not in str(told)


def test_bytes_of_another_encoding_name_the_line_of_a_recipe(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_bytes("town\nKöln\n".encode("cp1252"))
    with pytest.raises(sf.TableError) as caught:
        sf.read(tmp_path / "people.csv", sf.Schema(town=sf.Category(role="quasi")))
    assert "`encoding: cp1252` in the recipe" in caught.value.remedy


def test_commands_of_groups_are_quiet_too(tmp_path: Path) -> None:
    made = CliRunner().invoke(app, ["key", "make", str(tmp_path / "a.key"), "-q"])
    assert (made.exit_code, made.stderr) == (0, "")
    assert CliRunner().invoke(app, ["taxonomy", "show", "--help"]).stdout.count("--quiet") == 1


def test_a_sweep_that_is_there_is_told_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sweep").mkdir()
    (tmp_path / "sweep" / "sweep.html").write_text("")
    (tmp_path / "recipe.yaml").write_text(
        "sfumato: 1\ntable: people.csv\nattributes: {age: {kind: number, role: quasi}}\n"
        "privacy: [{k_anonymity: {on: [age], k: 2}}]\n"
    )
    monkeypatch.chdir(tmp_path)
    told = CliRunner().invoke(app, ["sweep", "recipe.yaml", "--over", "nothing"])
    assert "sweep holds an earlier sweep: its sweep.html and sweep.csv are replaced" in told.stderr
