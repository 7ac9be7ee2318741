"""A partitioned table that shows labels of taxonomies, from the recipe to the recipient and back to its holder."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc
import pytest
from typer.testing import CliRunner

import sfumato as sf
from sfumato.cli.main import app
from sfumato.data.encoding import encode
from sfumato.evaluation.loss import column_penalty
from sfumato.publishing import Run
from sfumato.release.reading import read_mask
from tests.corruptions import forge, read_rows, write_rows
from tests.forgeries.explanations import change

WORLD: dict[str, Any] = {
    "World": {"South": {"Andes": ["Chile", "Peru"], "Brazil": None}, "North": ["Canada", "Mexico"]}
}
LEAVES = ("Chile", "Peru", "Brazil", "Canada", "Mexico")
SCHEMA = sf.Schema(
    home=sf.Category(role="quasi", taxonomy=sf.Taxonomy.from_tree(WORLD)),
    age=sf.Number(role="quasi", range=(17, 90)),
    trip=sf.Category(role="quasi"),
    paid=sf.Category(role="sensitive"),
)


def travellers(rows: int = 600) -> pa.Table:
    rng = np.random.default_rng(25)  # some parts show South, some North
    home = rng.choice(LEAVES, rows, p=[0.3, 0.2, 0.1, 0.1, 0.3])
    age = rng.integers(17, 90, rows)
    often = 0.2 + 0.5 * (age > 50) + 0.2 * np.isin(home, ["Chile", "Peru"])
    return pa.table(
        {
            "home": pa.array(home, mask=rng.random(rows) < 0.05),
            "age": pa.array(age),
            "trip": pa.array(rng.choice(["sea", "hills", "town"], rows)),
            "paid": pa.array(np.where(rng.random(rows) < often, "more", "less")),
        }
    )


def recipe(show: Any = "labels", *, structure: Any = None) -> sf.Recipe:
    return sf.Recipe(
        schema=SCHEMA,
        structure=structure or sf.Classes("paid"),
        privacy=[sf.KAnonymity(["home", "age", "trip"], 8)],
        mask=sf.Partition(show=show),
    )


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("released") / "out"
    return sf.publish(travellers(), recipe()).write(folder)


@pytest.fixture
def copied(released: Path, tmp_path: Path) -> Path:
    for folder in (released, released.with_name("out.holder")):
        shutil.copytree(folder, tmp_path / folder.name)
    return tmp_path / "out"


def told(folder: Path, raw: pa.Table) -> dict[str, str]:
    return {check.name: check.detail for check in sf.verify(folder, raw=raw).failed}


def test_it_shows_labels_of_the_tree_and_says_so(released: Path) -> None:
    rows = read_rows(released)
    assert {row["home"] for row in rows} & {"Andes", "South", "North"}
    assert {row["home"] for row in rows} <= {*LEAVES, "Andes", "South", "North", "*", None}
    assert {row["trip"] for row in rows} <= {"sea", "hills", "town", "*"}
    history = json.loads((released.with_name("out.holder") / "history.json").read_text(encoding="utf-8"))
    assert history["show"] == {"chosen": "labels"}
    assert "taxonomies/" in (released / "README.md").read_text(encoding="utf-8")


def test_a_class_may_choose(tmp_path: Path) -> None:
    run = Run(report=False, trial=True)
    made = sf.publish(travellers(), recipe("auto"), run=run)
    assert set(made.history["show"]["told_right"]) == {"sets", "labels"}
    assert made.history == sf.publish(travellers(), recipe("auto"), run=run).history
    clusters = sf.publish(travellers(), recipe("auto", structure=sf.Clusters("kmeans", k=2, n_init=1)), run=run)
    assert clusters.history["show"] == {"chosen": "sets"}


def test_recipes_say_it_in_yaml() -> None:
    assert "partition: {show: labels}" in recipe().to_yaml()
    assert sf.Recipe.from_yaml(recipe().to_yaml()).mask == sf.Partition(show="labels")
    assert "show" not in recipe("sets").to_yaml()


def test_the_holder_verifies_every_row(released: Path, tmp_path: Path) -> None:
    verdict = sf.verify(released, raw=travellers())
    assert verdict.holds, str(verdict)
    assert "NOT compared" not in str(verdict)
    shutil.copytree(released, tmp_path / "alone")
    alone = sf.verify(tmp_path / "alone", raw=travellers())
    assert alone.holds, str(alone)
    assert "NOT compared: home, age, trip" in str(alone), "without the holder's folder groups cannot be told apart"


def test_the_raw_table_may_be_text(released: Path, tmp_path: Path) -> None:
    pc.write_csv(travellers(), tmp_path / "raw.csv")
    assert sf.verify(released, raw=tmp_path / "raw.csv").holds


def test_rows_that_lie_elsewhere_are_noticed(copied: Path) -> None:
    raw = travellers().to_pylist()
    other = [{**row, "home": "Canada" if row["home"] == "Chile" else row["home"]} for row in raw]
    assert "raw rows" in told(copied, pa.Table.from_pylist(other))
    rows = read_rows(copied)
    both = product((row for row in rows if row["home"] == "South"), (row for row in rows if row["home"] == "North"))
    one, two = next((one, two) for one, two in both if one["paid"] != two["paid"])
    one["paid"], two["paid"] = two["paid"], one["paid"]
    write_rows(copied, rows, list(one))
    forge(copied)
    assert set(told(copied, travellers())) == {"raw rows"}


def test_a_tree_that_says_otherwise_is_noticed_by_the_holder(copied: Path) -> None:
    def moved(tree: dict[str, Any]) -> None:
        north = next(part for part in tree["below"] if isinstance(part, dict) and part["label"] == "North")
        south = next(part for part in tree["below"] if isinstance(part, dict) and part["label"] == "South")
        label = next(one for one in north["below"] if isinstance(one, str))
        north["below"].remove(label)
        south["below"] = sorted([*south["below"], label], key=lambda part: part if isinstance(part, str) else "Andes")

    change(copied, "taxonomies/home.json", moved)
    forge(copied)
    assert "another taxonomy of home" in told(copied, travellers())["raw rows"]


def kept(change_of: Callable[[dict[str, Any]], object]) -> Callable[[Path], None]:
    def do(folder: Path) -> None:
        change(folder.with_name("out.holder"), "whole/partition.json", change_of)

    return do


def first_cut(form: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = form["trees"][0]["nodes"][0]
    return found


@pytest.mark.parametrize(
    ("harm", "says"),
    [
        (kept(lambda form: form["trees"][0].update(on=["home", "age"])), "trees of another release"),
        (kept(lambda form: first_cut(form)["below"].reverse()), "raw row lies"),
        (kept(lambda form: first_cut(form).update(below=[0, 1])), "stands before those below it"),
    ],
)
def test_trees_of_the_holder_that_lead_elsewhere_are_noticed(
    harm: Callable[[Path], None], says: str, copied: Path
) -> None:
    harm(copied)
    assert says in told(copied, travellers())["raw rows"]
    assert sf.verify(copied).holds, "nobody else looks into the holder's folder"


def test_a_codebook_tells_behind_a_star_what_the_tree_has(tmp_path: Path) -> None:
    along = sf.Along(codebook="values")
    folder = sf.publish(travellers(), replace(recipe(), release=along), run=Run(report=False)).write(tmp_path / "out")
    assert sf.verify(folder).holds

    def other(form: dict[str, Any]) -> None:
        shares = form["home"]["*"]
        form["home"]["*"] = dict(sorted((("Zoe, 36, PhD" if key == "Chile" else key), n) for key, n in shares.items()))

    change(folder, "codebook.json", other)
    forge(folder)
    assert "codebook" in {check.name for check in sf.verify(folder).failed}


def test_a_label_costs_its_leaves_and_one_alone_nothing(released: Path) -> None:
    table = encode(travellers(), SCHEMA)
    shown = read_mask(released).apply(table)["home"]
    leaves = {"Andes": 2, "South": 3, "North": 2, "*": 5}
    costs = [leaves.get(str(text), 0) / 5 for text in shown.to_pylist()]
    assert column_penalty(table, "home", shown) == pytest.approx(float(np.mean(costs)))
    assert min(costs) == 0 < max(costs)


def test_every_command_knows_it(copied: Path, tmp_path: Path) -> None:
    pc.write_csv(travellers(), tmp_path / "raw.csv")
    raw, new = str(tmp_path / "raw.csv"), str(tmp_path / "new.csv")
    run = CliRunner()
    assert run.invoke(app, ["apply", str(copied), raw, "-o", new, "--keep-order"]).exit_code == 0
    again = pc.read_csv(new)["home"].to_pylist()
    assert again == [text or "" for text in read_mask(copied).apply(encode(travellers(), SCHEMA))["home"].to_pylist()]
    assert "masked_error" in sf.evaluate(raw, copied)["scores"]
    assert run.invoke(app, ["attack", raw, str(copied)]).exit_code == 0
    assert run.invoke(app, ["explain", str(copied)]).exit_code != 0, "there is no search to tell of"


def test_clusters_are_found_again_in_labels(tmp_path: Path) -> None:
    structure = sf.Clusters("kmeans", k=2, n_init=1)
    release = sf.publish(travellers(), recipe(structure=structure), run=Run(report=True))
    assert release.verdict.holds
    folder = release.write(tmp_path / "out")
    assert len(sf.find_clusters(folder)) == travellers().num_rows
