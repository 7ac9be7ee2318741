"""The recipient's side: from a release alone to the clusters that its holder saw."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sfumato as sf
from sfumato.cli.main import main
from sfumato.data.encoding import encode
from sfumato.evaluation.clusters import f_measure
from sfumato.evaluation.generated import released_space
from sfumato.publishing import Run
from sfumato.release.regrouping import read_space, released_rows
from sfumato.structure.embedding import Embedding
from sfumato.structure.structures import Clusters, find

ROWS = 240
TREE = sf.Taxonomy.from_tree({"ANY": {"heart": ["angina", "infarct"], "lung": ["asthma", "copd"], "skin": ["rash"]}})
SCHEMA = sf.Schema(
    age=sf.Number(role="quasi", range=(0, 120), integer=True),
    sex=sf.Category(role="quasi", values=("F", "M")),
    diagnoses=sf.ItemSet(role="quasi", taxonomy=TREE, separator="|"),
)
STRUCTURE = Clusters("kmeans", k=3, n_init=2)
Format = Literal["csv", "parquet"]


def people() -> pa.Table:
    """Young with asthma, old with heart diseases, and some with no diagnosis at all or none known."""
    random = np.random.default_rng(0)
    kind = random.integers(0, 3, ROWS)
    sets = [[["asthma", "rash"], ["angina", "infarct"], []][at] for at in kind]
    return pa.table({
        "age": np.clip(random.normal(np.array([20, 75, 45])[kind], 5), 0, 120).astype(int),
        "sex": np.array(["F", "M"])[random.integers(0, 2, ROWS)],
        "diagnoses": pa.array([None if at % 40 == 0 else held for at, held in enumerate(sets)], pa.list_(pa.string())),
    })  # fmt: skip


def private(folder: Path, format: Format = "parquet") -> sf.Release:
    recipe = sf.Recipe(schema=SCHEMA, structure=STRUCTURE, mask=sf.PrivateTree(may_miss=("diagnoses",)),
                       budget=sf.Budget(20))  # fmt: skip
    made: sf.Release = sf.publish(
        people(), recipe, run=Run(report=False, format=format, ledger=sf.Ledger(folder / "ledger.jsonl"))
    )
    made.write(folder / "out")
    return made


def masked(folder: Path, format: Format, **other: Any) -> sf.Release:
    schema = sf.Schema({**{name: SCHEMA[name] for name in ("age", "sex")},
                        "diagnoses": sf.ItemSet(role="plain", taxonomy=TREE)})  # fmt: skip
    recipe = sf.Recipe(schema=schema, structure=STRUCTURE, keep_order=True,
                       privacy=(sf.KAnonymity(("age", "sex"), 5),), **other)  # fmt: skip
    made: sf.Release = sf.publish(
        people(), recipe, run=Run(report=False, format=format, ledger=sf.Ledger(folder / "ledger.jsonl"))
    )
    made.write(folder / "out")
    return made


@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_the_recipient_finds_what_the_holder_measured(tmp_path: Path, format: Format) -> None:
    made = masked(tmp_path, format)
    raw = find(STRUCTURE, encode(people(), made.recipe.schema)).labels
    told = made.scores["scores"]["f_measure.start"]["value"]
    found = sf.find_clusters(tmp_path / "out")
    assert f_measure(raw, found) == pytest.approx(told, abs=0.01)
    assert f_measure(raw, found) > 0.9


@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_generated_sets_come_with_centres_that_find_their_clusters(tmp_path: Path, format: Format) -> None:
    private(tmp_path, format)
    labels, rows = sf.find_clusters(tmp_path / "out"), released_rows(tmp_path / "out")
    patient = replace(STRUCTURE, n_init=30)
    assert f_measure(find(patient, encode(rows, SCHEMA)).labels, labels) > 0.98


def test_a_space_read_back_is_the_one_in_which_the_holder_clustered() -> None:
    table = people()
    space = released_space(STRUCTURE, SCHEMA, {name: table.column(name) for name in table.column_names})
    assert space is not None
    again = type(space).from_json(space.to_json())
    encoded = encode(table, SCHEMA)
    assert np.allclose(again.place(table).vectors(), Embedding.of(encoded).place(encoded).vectors(), atol=1e-5)


Program = Callable[..., int]


@pytest.fixture
def sfumato(monkeypatch: pytest.MonkeyPatch) -> Program:
    """Runs the program, and gives its exit code."""

    def call(*arguments: object) -> int:
        monkeypatch.setattr(sys, "argv", ["sfumato", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        return int(ended.value.code or 0)

    return call


def test_masked_sets_keep_their_centres_at_home(
    tmp_path: Path, sfumato: Program, capsys: pytest.CaptureFixture[str]
) -> None:
    recipe = sf.Recipe(schema=SCHEMA, structure=STRUCTURE, mask=sf.Microaggregate(),
                       privacy=(sf.KAnonymity(("age", "sex", "diagnoses"), 5),))  # fmt: skip
    run = Run(report=False, ledger=sf.Ledger(tmp_path / "ledger.jsonl"))
    sf.publish(people(), recipe, run=run).write(tmp_path / "out")
    assert sf.verify(tmp_path / "out").holds
    assert not (tmp_path / "out" / "centres.json").exists()
    with pytest.raises(sf.ReleaseError, match=r"centres\.json"):
        read_space(tmp_path / "out")
    assert sfumato("clusters", tmp_path / "out") == 2
    assert "a method of your own" in capsys.readouterr().err


def test_the_command_writes_the_table_with_its_clusters(
    tmp_path: Path, sfumato: Program, capsys: pytest.CaptureFixture[str]
) -> None:
    private(tmp_path)
    asked = ("clusters", tmp_path / "out", "--output", tmp_path / "grouped.parquet")
    assert sfumato(*asked) == 0
    assert "share" in capsys.readouterr().out
    grouped = pq.read_table(tmp_path / "grouped.parquet")
    assert grouped.column("cluster").to_pylist() == sf.find_clusters(tmp_path / "out").tolist()
    assert sfumato(*asked) == 2  # the file is there
    assert "sfumato clusters ." in (tmp_path / "out" / "README.md").read_text()
