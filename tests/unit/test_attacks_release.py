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
from sfumato.data.schema import Category, ItemSet, Number, Schema
from sfumato.errors import ReleaseError, TableError
from sfumato.evaluation.attacks.settings import Effort, Others
from sfumato.maskers.centroids.fit import Microaggregate
from sfumato.maskers.geometric.mask import Transformation
from sfumato.maskers.geometric.masker import Rotate, Translate
from sfumato.maskers.histogram.fit import PrivateTree
from sfumato.maskers.mondrian.fit import Mondrian
from sfumato.maskers.partition.fit import Partition
from sfumato.maskers.topdown.masker import TopDown
from sfumato.privacy.budget import Budget
from sfumato.privacy.ledger import Ledger
from sfumato.privacy.requirements import KAnonymity
from sfumato.publishing import Run, attack, publish
from sfumato.recipe import Recipe
from sfumato.release.reading import read_mask
from sfumato.release.release import Release
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


MADE: dict[str, Release] = {}
"""One release of each kind, for all that is asked of it."""


def released(tmp_path: Path, mask: Any, *, format: Any = "parquet", report: bool = False) -> Path:
    kind = f"{mask} {format} {report}"
    if kind not in MADE:
        claims = mask.guarantee.claims
        recipe = Recipe(
            schema=SCHEMA,
            structure=Clusters("kmeans", k=2, attributes=("age", "salary")),
            privacy=(KAnonymity(["age", "salary"], 10),) if claims else (),
            mask=mask,
            i_understand=None if claims else "no_guarantee",
        )
        MADE[kind] = publish(raw_table(), recipe, run=Run(format=format, report=report))
    return MADE[kind].write(tmp_path / "out")


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


def test_a_sensitive_set_is_one_value_where_groups_of_one_value_are_looked_for(tmp_path: Path) -> None:
    sets = [["card", "loan", "fund"][: 1 + at % 3] for at in range(600)]
    table = raw_table().append_column("products", pa.array(sets))
    schema = Schema({**SCHEMA, "products": ItemSet(role="sensitive")})
    recipe = Recipe(schema=schema, privacy=(KAnonymity(["age", "salary"], 10),), mask=Partition())
    folder = publish(table, recipe, run=Run(report=False)).write(tmp_path / "out")
    report = attack(table, folder, effort=QUICK)
    assert report["homogeneity of illness"].success.value < 1
    assert report["homogeneity of products"].success.value < 1


@pytest.mark.parametrize("kind", [Mondrian, Partition, Microaggregate])
def test_other_recodings_are_attacked_too(tmp_path: Path, kind: Any) -> None:
    report = attack(raw_table(), released(tmp_path, kind()), effort=QUICK)
    assert 0 < report["record linkage"].success.value <= 0.11


def test_risk_and_the_three_criteria_are_told(tmp_path: Path) -> None:
    report = attack(raw_table(), released(tmp_path, TopDown()), effort=QUICK)
    (risk,) = report.risk
    assert (risk.on, risk.claimed, risk.bound) == (("age", "salary"), True, True)
    assert risk.prosecutor.highest == 1 / risk.smallest <= 1 / 10
    assert risk.marketer == risk.groups / 600
    measured = [result for result in report.results if result.criterion]
    assert [result.criterion for result in measured] == ["singling out"] * 2 + ["linkability", "inference"]
    for result in measured:
        assert result.baseline is not None
        assert result.baseline.excess.low <= result.baseline.excess.value <= result.baseline.excess.high
        assert result.baseline.excess.value == pytest.approx(result.success.value - result.baseline.success.value)


@pytest.mark.parametrize("mask", [TopDown(), TopDown(suppress=0.05), Mondrian()], ids=["all", "lifted", "regions"])
def test_a_population_makes_the_journalist_less_sure(tmp_path: Path, mask: Any) -> None:
    everybody = pa.concat_tables([raw_table(), raw_table(seed=7), raw_table(seed=8)]).drop_columns(["illness"])
    report = attack(raw_table(), released(tmp_path, mask), effort=QUICK, others=Others(population=everybody))
    assert not report.risk[0].bound
    assert report.risk[0].journalist.average < report.risk[0].prosecutor.average
    with pytest.raises(TableError, match="population"):
        attack(raw_table(), tmp_path / "out", effort=QUICK, others=Others(population=raw_table(seed=7)))


def test_a_control_group_has_the_columns_that_are_guessed(tmp_path: Path) -> None:
    folder, others = released(tmp_path, TopDown()), raw_table(seed=5).drop_columns(["illness"])
    with pytest.raises(TableError, match="illness"):
        attack(raw_table(), folder, effort=QUICK, others=Others(control=others))


def test_centres_have_no_population(tmp_path: Path) -> None:
    folder = released(tmp_path, Microaggregate())
    report = attack(raw_table(), folder, effort=QUICK, others=Others(population=raw_table()))
    assert report.risk[0].bound
    assert "journalist in the population" in report.left_out


def test_others_are_guessed_as_well_where_nothing_is_given_away(tmp_path: Path) -> None:
    folder = released(tmp_path, TopDown())
    plain = attack(raw_table(), folder, effort=QUICK)["inference of illness"].baseline
    found = attack(raw_table(), folder, effort=QUICK, others=Others(control=raw_table(seed=5)))
    beside = found["inference of illness"].baseline
    assert plain is not None
    assert beside is not None
    assert "commonest" in plain.how
    assert "not in the table" in beside.how
    assert beside.excess.value < 0.2


def test_generated_rows_are_attacked_as_far_as_that_means_anything(tmp_path: Path) -> None:
    schema = Schema(
        {
            **SCHEMA,
            "salary": Number(role="quasi", range=(0, 200_000), integer=False),
            "illness": Category(role="sensitive", values=("flu", "cold", "none")),
        }
    )
    recipe = Recipe(
        schema=schema,
        structure=Clusters("kmeans", k=2, attributes=("age", "salary")),
        mask=PrivateTree(),
        budget=Budget(epsilon=1),
    )
    run = Run(ledger=Ledger(tmp_path / "ledger.jsonl"))
    folder = publish(raw_table(), recipe, run=run).write(tmp_path / "dp")
    report = attack(raw_table(), folder, effort=QUICK, others=Others(control=raw_table(seed=5)))
    assert report.risk == ()
    assert "nobody's" in report.left_out["prosecutor, journalist, marketer"]
    assert [result.criterion for result in report.results] == ["singling out"] * 2 + ["linkability", "inference"]
    inference = report["inference of illness"].baseline
    assert inference is not None
    assert inference.excess.low < 0.1
    page = (tmp_path / "dp.holder" / "report.html").read_text(encoding="utf-8")
    assert "What an attacker could do" in page


def test_the_panel_is_in_the_holders_report_and_nowhere_else(tmp_path: Path) -> None:
    folder = released(tmp_path, TopDown(), report=True)
    assert "What an attacker could do" in (tmp_path / "out.holder" / "report.html").read_text(encoding="utf-8")
    for path in folder.rglob("*"):
        if path.suffix in (".html", ".md", ".json"):
            assert "attacker could do" not in path.read_text(encoding="utf-8")
            assert "singling out" not in path.read_text(encoding="utf-8").lower()


def test_another_raw_table_is_refused(tmp_path: Path) -> None:
    folder = released(tmp_path, Translate(by={"age": 3, "salary": 5.5}))
    with pytest.raises(ReleaseError, match="the raw table that it was made from"):
        attack(raw_table(rows=599), folder, effort=QUICK)
    with pytest.raises(TableError, match="the table it was made from"):
        attack(raw_table(seed=1), folder, effort=QUICK)


def test_without_the_holders_folder_nothing_is_attacked(tmp_path: Path) -> None:
    folder = released(tmp_path, Translate())
    (tmp_path / "out.holder").rename(tmp_path / "elsewhere")
    with pytest.raises(ReleaseError, match="holder"):
        attack(raw_table(), folder, effort=QUICK)


def test_the_command_prints_sentences_and_writes_json(tmp_path: Path) -> None:
    folder = released(tmp_path, Translate(by={"age": 3, "salary": 5.5}))
    pq.write_table(raw_table(), tmp_path / "raw.parquet")
    arguments = ["attack", str(tmp_path / "raw.parquet"), str(folder), "--known", "4"]
    told = CliRunner().invoke(app, [*arguments, "--output", str(tmp_path / "found.json")])
    assert told.exit_code == 0
    assert "Anyone who knows one of these people can recover age and salary of everybody." in told.stdout
    assert "not tried: singling out, linkability, inference" in told.stdout
    form = json.loads((tmp_path / "found.json").read_text(encoding="utf-8"))
    assert form["results"][0]["details"]["needed"] == 1
    assert not any("attack" in path.name for path in folder.iterdir())


def test_the_command_shows_risk_and_criteria(tmp_path: Path) -> None:
    folder = released(tmp_path, TopDown())
    pq.write_table(raw_table(), tmp_path / "raw.parquet")
    pq.write_table(raw_table(seed=5), tmp_path / "others.parquet")
    arguments = ["attack", str(tmp_path / "raw.parquet"), str(folder), "--control", str(tmp_path / "others.parquet")]
    told = CliRunner().invoke(app, [*arguments, "--output", str(tmp_path / "found.json")])
    assert told.exit_code == 0
    for word in ("prosecutor", "journalist", "marketer", "singling out", "linkability", "inference", "excess"):
        assert word in told.stdout
    assert "no population was given" in told.stdout
    form = json.loads((tmp_path / "found.json").read_text(encoding="utf-8"))
    assert form["risk"][0]["prosecutor"]["highest"] <= 0.1
    assert form["risk"][0]["journalist"]["upper_bound"] is True
    criteria = [result for result in form["results"] if "criterion" in result]
    assert all({"how", "success", "excess"} == set(result["baseline"]) for result in criteria)
