"""Attacks on written releases, from Python and from the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from sfumato.cli.main import app
from sfumato.data.schema import Category, Number, Schema
from sfumato.errors import ReleaseError, TableError
from sfumato.evaluation.attacks.attacking import Effort
from sfumato.maskers.centroids.fit import Microaggregate
from sfumato.maskers.geometric.mask import Transformation
from sfumato.maskers.geometric.moving import Translate
from sfumato.maskers.geometric.rotating import Rotate
from sfumato.maskers.mondrian.fit import Mondrian
from sfumato.maskers.topdown.fit import TopDown
from sfumato.privacy.requirements import KAnonymity
from sfumato.publishing import Run, publish
from sfumato.recipe import Recipe
from sfumato.release.attacking import attack
from sfumato.release.reading import read_mask
from sfumato.structure.structures import Clusters

SCHEMA = Schema(
    age=Number(role="quasi", range=(18, 90)), salary=Number(role="quasi"), illness=Category(role="sensitive")
)
QUICK = Effort(known=5, trials=6)


def raw_table(seed: int = 0, rows: int = 600) -> pa.Table:
    rng = np.random.default_rng(seed)
    rich = rng.integers(0, 2, rows)
    return pa.table(
        {
            "age": rng.integers(18, 60, rows) + 30 * rich,
            "salary": np.round(rng.lognormal(3.0, 0.3, rows) * 1000 * (1 + rich), 2),
            "illness": rng.choice(["flu", "cold", "none"], rows),
        }
    )


def released(tmp_path: Path, mask: Any, *, format: Any = "parquet", table: pa.Table | None = None) -> Path:
    claims = getattr(mask, "guarantee", "") != "none"
    recipe = Recipe(
        schema=SCHEMA,
        structure=Clusters("kmeans", k=2, attributes=("age", "salary")),
        privacy=(KAnonymity(["age", "salary"], 10),) if claims else (),
        mask=mask,
        i_understand=None if claims else "no_guarantee",
    )
    return publish(table or raw_table(), recipe, run=Run(format=format)).write(tmp_path / "out")


@pytest.mark.parametrize("format", ["parquet", "csv"])
def test_a_transformation_is_attacked_with_the_holders_key(tmp_path: Path, format: str) -> None:
    folder = released(tmp_path, Rotate(enhance=0.05), format=format)
    assert isinstance(read_mask(folder), Transformation)
    report = attack(raw_table(), folder, effort=QUICK)
    assert report.mask == "rotate"
    assert report["known records, robust, rotation"].details["needed"] in (1, 2, 3)


def test_a_recoding_is_attacked_through_its_groups(tmp_path: Path) -> None:
    report = attack(raw_table(), released(tmp_path, TopDown()), effort=QUICK)
    assert report.mask == "top_down"
    assert 0 < report["record linkage"].success.value <= 0.1  # no group has fewer than 10 records
    assert report["homogeneity of illness"].success.value < 0.5


def test_lifted_records_are_attacked_as_they_were_shown(tmp_path: Path) -> None:
    report = attack(raw_table(), released(tmp_path, TopDown(suppress=0.1)), effort=QUICK)
    assert 0 < report["record linkage"].success.value <= 0.11


@pytest.mark.parametrize("kind", [Mondrian, Microaggregate])
def test_other_recodings_are_attacked_too(tmp_path: Path, kind: Any) -> None:
    report = attack(raw_table(), released(tmp_path, kind()), effort=QUICK)
    assert 0 < report["record linkage"].success.value <= 0.11


def test_another_raw_table_is_refused(tmp_path: Path) -> None:
    folder = released(tmp_path, Translate(by={"age": 3, "salary": 5.5}))
    for stranger in (raw_table(rows=599), raw_table(seed=1)):
        with pytest.raises(TableError, match="the table it was made from"):
            attack(stranger, folder, effort=QUICK)


def test_without_the_holders_folder_nothing_is_attacked(tmp_path: Path) -> None:
    folder = released(tmp_path, Translate())
    (tmp_path / "out.holder").rename(tmp_path / "elsewhere")
    with pytest.raises(ReleaseError, match="holder"):
        attack(raw_table(), folder, effort=QUICK)


def test_the_command_prints_sentences_and_writes_json(tmp_path: Path) -> None:
    folder = released(tmp_path, Translate(by={"age": 3, "salary": 5.5}))
    pq.write_table(raw_table(), tmp_path / "raw.parquet")
    arguments = ["attack", str(tmp_path / "raw.parquet"), str(folder), "--known", "4", "--trials", "5"]
    told = CliRunner().invoke(app, [*arguments, "--json", str(tmp_path / "found.json")])
    assert told.exit_code == 0
    assert "Anyone who knows one of these people can recover age and salary of everybody." in told.stdout
    form = json.loads((tmp_path / "found.json").read_text(encoding="utf-8"))
    assert form["results"][0]["details"]["needed"] == 1
    assert not any("attack" in path.name for path in folder.iterdir())
