"""Classes under a budget: a tree that learned from generated rows is asked about raw ones, for the holder's eyes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.data.encoding import encode
from sfumato.data.masked import Masked
from sfumato.evaluation.generated_classes import generated_class_scores
from sfumato.randomness import Seeded

SCHEMA = sf.Schema(
    age=sf.Number(role="quasi", range=(0, 100)),
    town=sf.Category(role="quasi", values=("a", "b")),
    rich=sf.Category(values=("no", "yes")),
)


def rows(count: int, *, told: bool = True, seed: int = 0) -> pa.Table:
    chance = np.random.default_rng(seed)
    age = chance.integers(0, 100, count)
    rich = (age > 50) if told else chance.random(count) < 0.5
    towns = chance.choice(["a", "b"], count)
    return pa.table({"age": age, "town": towns, "rich": np.where(rich, "yes", "no")})


def errors(made: pa.Table) -> dict[str, float]:
    shown = Masked.of({name: made.column(name) for name in made.column_names})
    found = generated_class_scores(encode(rows(300), SCHEMA), shown, "rich")
    assert not any(score.publishable for score in found), "all of them were measured on raw rows"
    return {score.name: score.value for score in found}


def test_what_generated_rows_teach_is_asked_of_raw_rows() -> None:
    good, poor = errors(rows(400, seed=1)), errors(rows(400, told=False, seed=1))
    assert good["baseline_error"] == poor["baseline_error"] < 0.03
    assert good["masked_error"] < 0.05
    assert poor["masked_error"] > 0.3
    assert good["commonest_error"] > 0.4
    assert poor["masked_error.alike"] > 0.3


def test_nothing_is_refused_for_what_the_records_are() -> None:
    assert errors(rows(20)) == {}
    one = rows(200).set_column(2, "rich", pa.array(["no"] * 200))
    shown = Masked.of({name: one.column(name) for name in one.column_names})
    assert generated_class_scores(encode(one, SCHEMA), shown, "rich") == []


@pytest.mark.filterwarnings("error:the classes in")
def test_what_guides_nothing_is_said_before_anything_is_spent(tmp_path: Path) -> None:
    recipe = sf.Recipe(schema=SCHEMA, structure=sf.Classes("rich"), mask=sf.PrivateTree(), budget=sf.Budget(8, total=8))
    ledger = sf.Ledger(tmp_path / "ledger")
    with pytest.raises(UserWarning, match="do not guide private_tree"):
        sf.publish(rows(500), recipe, run=sf.Run(report=False, ledger=ledger))
    sf.publish(rows(500), recipe.replace(structure=None), run=sf.Run(report=False, ledger=ledger))


def test_publish_says_that_classes_do_not_guide_generated_rows() -> None:
    recipe = sf.Recipe(schema=SCHEMA, structure=sf.Classes("rich"), mask=sf.PrivateTree(), budget=sf.Budget(8))
    with pytest.warns(UserWarning, match='the classes in "rich" do not guide private_tree'):
        release = sf.publish(rows(500), recipe, run=sf.Run(report=False, chance=Seeded(1)))
    assert 'the classes in "rich" do not guide private_tree' in repr(recipe.plan)
    assert sum(share.epsilon for share in recipe.plan) == 8
    assert not recipe.replace(structure=None).plan.note
    said = [line["name"] for line in release.scores["headline"]]
    assert {"masked_error", "baseline_error", "commonest_error", "masked_error.alike"} <= {*said}
