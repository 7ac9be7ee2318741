"""Forgers who make everything fit: what a claim may not lean on."""

from __future__ import annotations

import hashlib
import json
import random
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.data.writing import write
from sfumato.privacy.verify.folder import Folder
from sfumato.privacy.verify.several.joint_claims import check_several
from sfumato.privacy.verify.verdict import CheckError
from tests.corruptions import forge
from tests.releases import release_of

AGES = {"kind": "discretize", "range": [0, 100], "breaks": [50]}


def certificate(folder: Path) -> dict[str, Any]:
    form: dict[str, Any] = json.loads((folder / "certificate.json").read_text(encoding="utf-8"))
    return form


def put(folder: Path, form: dict[str, Any], statement: str | None = None) -> None:
    form["statement"] = statement or form["statement"]
    (folder / "certificate.json").write_text(json.dumps(form, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    forge(folder)


def test_sentences_cannot_be_taken_out(tmp_path: Path) -> None:
    folder = release_of("k_anonymity", tmp_path / "out")
    form = certificate(folder)
    for claim in form["claims"]:
        del claim["sentence"], claim["attacker"]
    put(folder, form)
    assert {check.name for check in sf.verify(folder).failed} == {"certificate", "statement"}


def test_a_statement_says_no_more_than_the_claims(tmp_path: Path) -> None:
    folder = release_of("k_anonymity", tmp_path / "out")
    form = certificate(folder)
    put(folder, form, f"At least 1000 people look alike, nobody learns anything. {form['statement']}")
    assert [check.name for check in sf.verify(folder).failed] == ["statement"]


def bare(folder: Path, sexes: list[str]) -> Folder:
    """A release whose recoding knows nothing of one of its quasi-identifiers."""
    folder.mkdir()
    ages = ["[0-50)", "[50-100]"] * (len(sexes) // 2)
    write(pa.table({"age": ages, "sex": sexes, "ill": ["a"] * len(sexes)}), folder / "table.parquet", order=None)
    (folder / "recoding.json").write_text(json.dumps({"attributes": {"age": AGES}}, indent=1) + "\n")
    columns = [
        {"name": "age", "kind": "number", "role": "quasi", "masked": "discretize"},
        {"name": "sex", "kind": "category", "role": "quasi", "masked": "region"},
        {"name": "ill", "kind": "category", "role": "sensitive", "masked": None},
    ]
    files = {p.name: {"sha256": hashlib.sha256(p.read_bytes()).hexdigest()} for p in folder.iterdir()}
    table = {"file": "table.parquet", "rows": len(sexes), "spreadsheet_safe": False, "columns": columns}
    form = {"format": 4, "created": "2026", "mask": "top_down", "table": table, "files": files}
    (folder / "certificate.json").write_text(json.dumps(form, indent=1) + "\n")
    return Folder(folder)


@pytest.mark.parametrize(("kind", "people"), [("bcf_anonymity", "growing"), ("joint_k_anonymity", "same")])
def test_a_column_that_no_recoding_masks_is_not_left_out_of_the_count(kind: str, people: str, tmp_path: Path) -> None:
    earlier = bare(tmp_path / "earlier", ["f"] * 10 + ["m"] * 2)
    later = bare(tmp_path / "later", ["f"] * 8 + ["m"] * 2 + ["f"] * 2)
    told = hashlib.sha256((earlier.path / "certificate.json").read_bytes()).hexdigest()
    listed = {"sha256": told, "created": earlier.certificate.form["created"]}
    claim: dict[str, Any] = {"claim": kind, "on": ["age", "sex"], "k": 2, "people": people, "with": [listed]}
    with pytest.raises(CheckError, match="'sex' is masked by no recoding"):
        check_several(later, claim, [earlier.path], None)
    twice = claim | {"on": ["age"], "with": [listed, listed]}
    with pytest.raises(CheckError, match="twice"):
        check_several(later, twice, [earlier.path], None)


@pytest.mark.parametrize("one", ["1.0", "01", "1e0"])
def test_a_number_is_written_in_one_way(one: str, tmp_path: Path) -> None:
    chance = random.Random(3)
    rows = [{"age": chance.randint(0, 99), "stage": chance.choice([1, 2])} for _ in range(80)]
    schema = sf.Schema(age=sf.Number(role="quasi", range=(0, 100)), stage=sf.Number(role="sensitive"))
    recipe = sf.Recipe(
        schema=schema,
        structure=sf.Clusters("kmeans", k=2, n_init=1),
        privacy=(sf.KAnonymity(["age"], 5), sf.LDiversity(["age"], "stage", 2)),
    )
    run = sf.Run(report=False, format="csv", ledger=sf.Ledger(tmp_path / "ledger"))
    folder = sf.publish(pa.Table.from_pylist(rows), recipe, run=run).write(tmp_path / "out")
    assert sf.verify(folder).holds
    table = pl.read_csv(folder / "table.csv", infer_schema=False)
    table.with_columns(pl.col("stage").replace({"2": one})).write_csv(folder / "table.csv")
    put(folder, certificate(folder))
    assert "nothing else" in {check.name for check in sf.verify(folder).failed}
