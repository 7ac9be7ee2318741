"""A warning points at the line of the user, whoever in the program gave it."""

from __future__ import annotations

from pathlib import Path

import pytest

import sfumato as sf


def test_a_warning_of_a_publish_points_here(tmp_path: Path) -> None:
    iris = sf.datasets.load("iris")
    recipe = sf.Recipe(schema=iris.schema, privacy=(sf.KAnonymity(iris.schema.quasi, 5),))
    run = sf.Run(report=False, ledger=sf.Ledger(tmp_path / "ledger.jsonl"))
    sf.publish(iris.table, recipe, run=run).write(tmp_path / "out")
    with pytest.warns(UserWarning, match="the ledger knows") as found:
        sf.publish(iris.table, recipe, run=run)
    told = [one for one in found if one.category is UserWarning]
    assert {Path(one.filename) for one in told} == {Path(__file__)}
