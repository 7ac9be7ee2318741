"""No file of a release is believed that no check looks into."""

from __future__ import annotations

import inspect
import json
from pathlib import Path

import pytest

import sfumato as sf
from sfumato.privacy.verify import gate, maskers
from tests.corruptions import forge


@pytest.mark.parametrize("name", maskers.MASKERS)
def test_the_file_of_every_masker_has_its_check(name: str) -> None:
    file = maskers.MASKERS[name].file
    if file is not None:
        assert maskers.LOOKED_INTO[file] in inspect.getsource(gate._checks)


def test_a_masker_that_is_entered_without_a_check_is_not_believed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    iris = sf.datasets.load("iris")
    recipe = sf.Recipe(schema=iris.schema, privacy=(sf.KAnonymity(iris.schema.quasi, 5),), mask=sf.MDAV())
    run = sf.Run(report=False, ledger=sf.Ledger(tmp_path / "ledger.jsonl"))
    folder = sf.publish(iris.table, recipe, run=run).write(tmp_path / "out")
    (folder / "strange.json").write_text(json.dumps({"leak": "Alice is 37"}, indent=1) + "\n", encoding="utf-8")
    forge(folder)
    monkeypatch.setitem(maskers.MASKERS, "mdav", maskers.Masker(("centroid",), "strange.json"))
    verdict = sf.verify(folder)
    assert not verdict.holds
    assert "files" in {check.name for check in verdict.failed}
