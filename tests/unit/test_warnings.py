"""A warning points at the line of the user, whoever in the program gave it."""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path

import pytest

import sfumato as sf
from sfumato.release.accounting import _told


def test_a_warning_of_a_publish_points_here(tmp_path: Path) -> None:
    iris = sf.datasets.load("iris")
    recipe = sf.Recipe(schema=iris.schema, privacy=(sf.KAnonymity(iris.schema.quasi, 5),))
    run = sf.Run(report=False, ledger=sf.Ledger(tmp_path / "ledger.jsonl"))
    sf.publish(iris.table, recipe, run=run).write(tmp_path / "out")
    with pytest.warns(UserWarning, match="the ledger knows") as found:
        sf.publish(iris.table, recipe, run=run)
    told = [one for one in found if one.category is UserWarning]
    assert {Path(one.filename) for one in told} == {Path(__file__)}
    assert any("sf.Run(trial=True)" in str(one.message) for one in told)


def test_a_trial_that_is_written_all_the_same_is_told_of_then(tmp_path: Path) -> None:
    iris = sf.datasets.load("iris")
    recipe = sf.Recipe(schema=iris.schema, privacy=(sf.KAnonymity(iris.schema.quasi, 5),))
    run = sf.Run(report=False, ledger=sf.Ledger(tmp_path / "ledger.jsonl"), trial=True)
    sf.publish(iris.table, recipe, run=run).write(tmp_path / "out")
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message="the ledger knows")
        again = sf.publish(iris.table, recipe, run=run)
    with pytest.warns(UserWarning, match="the ledger knows"):
        again.write(tmp_path / "again")
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message=".*was replaced")  # the same release again is no other one
        again.write(tmp_path / "again")
    with pytest.warns(UserWarning, match="the ledger knows an earlier release .* in .*out,"):
        again.write(tmp_path / "once more")
    with pytest.warns(UserWarning, match="the ledger knows 2 earlier releases"):
        sf.publish(iris.table, recipe, run=replace(run, trial=False))


def test_under_a_budget_nobody_is_told_to_publish_under_one() -> None:
    from sfumato.privacy.ledger import Entry, Known

    earlier = Known(Entry("0" * 32, "release", "named a", "top_down", "2026-01-01", folder="out"), 0.9)
    assert "publish under a budget" in _told([earlier], private=False)
    said = _told([earlier], private=True)
    assert "under a budget" not in said
    assert "without a budget, gives away of anybody stays given away" in said
    assert "--withdraw 00000000" in said


@pytest.mark.parametrize(("private", "told"), [(False, "epsilon = 2 in all"), (True, "so that their epsilons add up")])
def test_of_generated_rows_nobody_is_told_that_they_can_be_compared(private: bool, told: str) -> None:
    from fractions import Fraction

    from sfumato.privacy.ledger import Entry, Known

    masked = Known(Entry("0" * 32, "release", "named a", "top_down", "2026-01-01", folder="out"), 0.9)
    made = Known(replace(masked.entry, mask="private_tree", folder="made", epsilon=Fraction(1)), 1.0)
    said = _told([made, made], private=private)
    assert "made" in said
    assert told in said
    assert "can compare them" not in said
    both = _told([masked, made], private=private)
    assert "knows an earlier release of this table, or of nearly this table: the last of 2026-01-01 in out" in both
    assert ("can compare them" in both) is not private
    assert both.endswith("Besides, 1 generated under a budget: no row of such can be compared")
