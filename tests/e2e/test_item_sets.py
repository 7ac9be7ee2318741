"""Item sets as quasi-identifiers: published, verified against the raw table, applied, damaged and refused."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.data.encoding import encode
from sfumato.release.reading import read_recoding
from tests.properties.test_item_sets import TREE, drawn


def recipe(**more: Any) -> sf.Recipe:
    schema = sf.Schema(had=sf.ItemSet(role="quasi", taxonomy=TREE), sex=sf.Category(role="quasi"))
    needs = [sf.KAnonymity(on=["had", "sex"], k=3)]
    return sf.Recipe(**{"schema": schema, "privacy": needs, "mask": sf.TopDown(), **more})


@pytest.mark.parametrize("form", ["parquet", "csv"])
@pytest.mark.parametrize("seed", [3, 4])
def test_a_release_with_sets_holds(form: Any, seed: int, tmp_path: Path) -> None:
    table = drawn(seed)
    structure = sf.Clusters("kmeans", k=2) if seed == 4 else None
    release = sf.publish(table, recipe(structure=structure), run=sf.Run(format=form, report=form == "csv"))
    release.write(tmp_path / "out")
    verdict = sf.verify(tmp_path / "out", raw=table)
    assert verdict.holds, list(verdict.failed)
    shown = [(str(row["had"]), row["sex"]) for row in pa.table(release.table).to_pylist()]
    assert min(Counter(shown).values()) >= 3
    again = read_recoding(tmp_path / "out").apply(encode(table, recipe().schema))
    texts = Counter(str(sorted(one)) if one is not None else "None" for one in again["had"].decode().to_pylist())
    assert sum(texts.values()) == table.num_rows


def test_a_set_that_shows_more_than_its_cut_is_refused(tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    release = sf.publish(drawn(4), recipe(), run=sf.Run(report=False))
    release.write(tmp_path / "out")
    rule = json.loads((tmp_path / "out/recoding.json").read_text())["attributes"]["had"]
    assert rule["kind"] == "generalize_sets"
    path = tmp_path / "out/table.parquet"
    rows = pq.read_table(path).to_pylist()
    rows[0]["had"] = [*(rows[0]["had"] or []), "111"]
    pq.write_table(pa.Table.from_pylist(rows), path)
    failed = {check.name for check in sf.verify(tmp_path / "out").failed}
    assert "hashes" in failed or "nothing else" in failed


def test_verify_reads_sets_by_itself() -> None:
    import polars as pl

    from sfumato.privacy.verify.explained.recoding import Recoding, generalize_sets
    from sfumato.privacy.verify.table import shown
    from sfumato.privacy.verify.verdict import CheckError

    tree = {"label": "ANY", "below": [{"label": "1", "below": ["11", "12"]}, "2"]}
    form = {"kind": "generalize_sets", "cut": ["1", "2"], "apart": True, "separator": ";"}
    recoding = Recoding({"had": generalize_sets(form, tree)}, False, ("had",))
    shown(pl.DataFrame({"had": [["1", "2"], [], None]}), recoding)
    for wrong in ([["11"]], [["ANY"]], [["1", "1"]]):
        with pytest.raises(CheckError):
            shown(pl.DataFrame({"had": wrong}), recoding)
    for forged in ({**form, "apart": False}, {**form, "cut": ["1"]}, {**form, "more": 1}, {**form, "separator": ""}):
        with pytest.raises(CheckError):
            generalize_sets(forged, tree)


def test_what_cannot_be_done_with_sets_is_refused() -> None:
    bare = sf.Schema(had=sf.ItemSet(role="quasi"))
    with pytest.raises(sf.RecipeError, match="along a taxonomy of its items"):
        sf.Recipe(schema=bare, privacy=[sf.KAnonymity(on=["had"], k=3)], mask=sf.TopDown())
    with pytest.raises(sf.RecipeError, match="along a taxonomy of its items"):
        recipe(mask=sf.TopDown(suppress=0.1))
    with pytest.raises(sf.RecipeError, match=r"cuts by the one value that a record has.*mask: top_down"):
        recipe(mask=sf.Partition())
    with pytest.raises(sf.RecipeError, match="set-valued"):
        recipe(earlier=sf.Earlier(releases=("out",), people="same"))
