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
from sfumato.cli.demo import SEVERAL, demo_recipe
from sfumato.cli.main import main
from sfumato.data.encoding import encode
from sfumato.data.masked import Masked
from sfumato.evaluation.clusters import f_measure
from sfumato.evaluation.generated import own_clusters
from sfumato.publishing import Run
from sfumato.publishing.orders import read_space, released_rows
from sfumato.randomness import Seeded
from sfumato.structure.embedding import Embedding
from sfumato.structure.released import ReleasedValues
from sfumato.structure.space import release_space
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
    return pa.table(
        {
            "age": np.clip(random.normal(np.array([20, 75, 45])[kind], 5), 0, 120).astype(int),
            "sex": np.array(["F", "M"])[random.integers(0, 2, ROWS)],
            "diagnoses": pa.array(
                [None if at % 40 == 0 else held for at, held in enumerate(sets)], pa.list_(pa.string())
            ),
        }
    )


def private(folder: Path, format: Format = "parquet") -> sf.Release:
    recipe = sf.Recipe(
        schema=SCHEMA, structure=STRUCTURE, mask=sf.PrivateTree(may_miss=("diagnoses",)), budget=sf.Budget(20)
    )
    made: sf.Release = sf.publish(
        people(), recipe, run=Run(report=False, format=format, ledger=sf.Ledger(folder / "ledger.jsonl"))
    )
    made.write(folder / "out")
    return made


def masked(folder: Path, format: Format) -> sf.Release:
    schema = sf.Schema(
        {**{name: SCHEMA[name] for name in ("age", "sex")}, "diagnoses": sf.ItemSet(role="plain", taxonomy=TREE)}
    )
    asked = (sf.KAnonymity(("age", "sex"), 5),)
    recipe = sf.Recipe(schema=schema, structure=STRUCTURE, keep_order=True, privacy=asked, mask=sf.TopDown())
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
    shown = Masked.of({name: table.column(name) for name in table.column_names})
    own = own_clusters(STRUCTURE, SCHEMA, shown)
    assert own is not None
    space = own.space()
    assert space is not None
    again = type(space).from_json(space.to_json())
    encoded = encode(table, SCHEMA)
    there, here = again.place(shown).vectors(), Embedding.of(encoded).place(encoded).vectors()
    assert np.allclose(there @ there.T, here @ here.T, atol=1e-3), "distances are the same: coordinates may be fewer"


def aged(ages: list[int], sets: list[list[str]], *, clusters: int, k: int, folder: Path) -> None:
    """A release of people who are clustered by their ages and keep their sets."""
    schema = sf.Schema(
        age=sf.Number(role="quasi", range=(0, 120)), ill=sf.ItemSet(role="plain", values=("a", "b", "c", "d"))
    )
    structure = Clusters("kmeans", k=clusters, n_init=3, weights={"age": 50})
    recipe = sf.Recipe(schema=schema, structure=structure, privacy=(sf.KAnonymity(("age",), k),))
    run = Run(report=False, ledger=sf.Ledger(folder / "ledger.jsonl"))
    sf.publish(pa.table({"age": ages, "ill": sets}), recipe, run=run).write(folder / "out")


def test_centres_are_where_k_means_settles_on_the_released_rows() -> None:
    table = encode(people(), SCHEMA)
    labels = np.random.default_rng(2).integers(0, 3, ROWS).astype(np.uint8)  # no clusters of these rows at all
    nothing = Masked.of({}, rows=ROWS)
    space = release_space(Embedding.of(table), table, nothing, released=ReleasedValues(), labels=labels, n=3)
    assert space is not None
    placed = space.place(Masked.of({name: people().column(name) for name in people().column_names}))
    nearest, vectors = placed.nearest(space.start()), placed.vectors()
    means = [vectors[nearest == at].mean(axis=0) for at in range(3)]
    assert np.allclose(means, space.start(), atol=1e-4)


def test_no_centre_points_at_a_person_who_is_a_raw_cluster_alone(tmp_path: Path) -> None:
    ages = np.random.default_rng(1).integers(20, 40, 199).tolist()
    sets = [["a"] if at % 2 else ["b"] for at in range(199)]
    aged([*ages, 110], [*sets, ["a", "b", "d"]], clusters=4, k=20, folder=tmp_path)
    assert not (tmp_path / "out" / "centres.json").exists()


def space_of(values: list[str | None], shown: list[str]) -> dict[str, Any]:
    """What a release tells of a column without declared values."""
    table = encode(
        pa.table({"town": values, "age": [at % 50 for at in range(len(values))]}),
        sf.Schema(town=sf.Category(role="quasi"), age=sf.Number(range=(0, 50))),
    )
    labels = (np.arange(len(values)) % 50 > 25).astype(np.uint8)
    embedding, masked = Embedding.of(table), Masked.of({"town": pa.array(shown)})
    released = ReleasedValues.learn(table, masked, minimum=5)
    space = release_space(embedding, table, masked, released=released, labels=labels, n=2)
    assert space is not None
    return space.to_json()


def test_a_space_does_not_tell_how_many_values_are_hidden() -> None:
    shown = ["Cuba"] * 40 + ["Mexico"] * 40 + ["*"] * 4
    plain: list[str | None] = [*["Cuba"] * 40, *["Mexico"] * 40]
    told = [
        space_of([*plain, *hidden], shown)
        for hidden in (
            ["Peru", "Chad", "Fiji", "Oman"],
            ["Peru", "Chad", "Fiji", "Fiji"],
            ["Peru", "Chad", "Fiji", None],
        )
    ]
    assert told[0] == told[1] == told[2]


@pytest.mark.parametrize("damage", ["{", "[]", "{}", '{"attributes": {}, "centres": []}', "edited"])
def test_damaged_centres_are_told_in_words(tmp_path: Path, damage: str) -> None:
    private(tmp_path)
    path = tmp_path / "out" / "centres.json"
    path.write_text(path.read_text().replace("0.", "1.", 1) if damage == "edited" else damage)
    with pytest.raises(sf.ReleaseError, match="belong together"):
        sf.find_clusters(tmp_path / "out")


def test_labels_that_look_like_other_types_are_found_in_a_csv(tmp_path: Path) -> None:
    weights = [at % 10 if at % 7 else None for at in range(120)]
    table = pa.table(
        {
            "age": [20 + at % 40 for at in range(120)],
            "weight": weights,
            "smokes": [at % 3 == 0 for at in range(120)],
            "code": [["1.0", "2.50", "3", "007"][at % 4] for at in range(120)],
            "cluster": ["x"] * 120,
        }
    )
    schema = sf.Schema(
        age=sf.Number(role="quasi", range=(0, 100)),
        weight=sf.Number(range=(0, 60)),
        smokes=sf.Category(),
        code=sf.Category(),
        cluster=sf.Category(),
    )
    recipe = sf.Recipe(schema=schema, structure=STRUCTURE, keep_order=True, privacy=(sf.KAnonymity(("age",), 5),))
    found = []
    for format in ("csv", "parquet"):
        run = Run(report=False, format=format, ledger=sf.Ledger(tmp_path / f"{format}.jsonl"))
        sf.publish(table, recipe, run=run).write(tmp_path / format)
        found.append(sf.find_clusters(tmp_path / format).tolist())
    assert found[0] == found[1]


def test_few_generated_rows_are_released_without_centres(tmp_path: Path) -> None:
    recipe = sf.Recipe(
        schema=SCHEMA,
        structure=Clusters("kmeans", k=10, n_init=1),
        budget=sf.Budget(3),
        mask=sf.PrivateTree(may_miss=("diagnoses",)),
    )
    for at in range(4):
        run = Run(report=False, ledger=sf.Ledger(tmp_path / f"{at}.jsonl"), chance=Seeded(at))
        made = sf.publish(people().slice(0, 20), recipe, run=run)
        assert made.verdict.holds


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
    recipe = sf.Recipe(
        schema=SCHEMA,
        structure=STRUCTURE,
        mask=sf.Microaggregate(),
        privacy=(sf.KAnonymity(("age", "sex", "diagnoses"), 5),),
    )
    run = Run(report=False, ledger=sf.Ledger(tmp_path / "ledger.jsonl"))
    sf.publish(people(), recipe, run=run).write(tmp_path / "out")
    assert sf.verify(tmp_path / "out").holds
    assert not (tmp_path / "out" / "centres.json").exists()
    with pytest.raises(sf.ReleaseError, match=r"centres\.json"):
        read_space(tmp_path / "out")
    assert sfumato("clusters", tmp_path / "out") == 2
    assert f"sfumato clusters {tmp_path / 'out'} --k 5" in "".join(capsys.readouterr().err.splitlines())
    assert sfumato("clusters", tmp_path / "out", "--k", "2", "--placement", "middle") == 2
    assert sfumato("clusters", tmp_path / "out", "--k", "2", "--output", tmp_path / "two.parquet") == 0
    grouped = pq.read_table(tmp_path / "two.parquet").column("cluster").to_numpy()
    assert set(grouped) == {0, 1}
    assert (grouped == sf.load(tmp_path / "out").clusters(2)).all()


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


@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_evaluate_counts_the_groups_of_the_written_table(tmp_path: Path, format: Format) -> None:
    """Of centres, the nearest one to a record need not be its own: counted there, groups would be smaller than k."""
    recipe = sf.Recipe(
        schema=SCHEMA,
        structure=STRUCTURE,
        mask=sf.Microaggregate(),
        privacy=(sf.KAnonymity(("age", "sex", "diagnoses"), 5),),
    )
    run = Run(report=False, format=format, ledger=sf.Ledger(tmp_path / "ledger.jsonl"))
    made = sf.publish(people(), recipe, run=run)
    made.write(tmp_path / "out")
    told = sf.evaluate(people(), tmp_path / "out", seeds=1)["scores"]
    for name in ("prosecutor.highest", "marketer"):
        assert told[name]["value"] == pytest.approx(made.scores["scores"][name]["value"])
    assert told["prosecutor.highest"]["value"] <= 1 / 5


def local(folder: Path, schema: sf.Schema, table: pa.Table, **more: Any) -> sf.Release:
    """A release whose codebook tells of groups."""
    recipe = sf.Recipe(
        schema=schema,
        structure=replace(STRUCTURE, k=2),
        mask=sf.Mondrian(),
        keep_order=True,
        privacy=(sf.KAnonymity(schema.quasi, 10),),
    )
    made: sf.Release = sf.publish(table, recipe, run=Run(report=False, ledger=sf.Ledger(folder / "l.jsonl"), **more))
    made.write(folder / "out")
    return made


@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_the_recipient_places_records_by_their_groups(tmp_path: Path, format: Format) -> None:
    schema = sf.Schema(age=SCHEMA["age"], sex=SCHEMA["sex"], town=sf.Category(role="quasi"))
    towns = pa.array([None if at % 9 == 0 else ["Rome", "Bari", "Pisa"][at % 3] for at in range(ROWS)])
    table = people().select(["age", "sex"]).append_column("town", towns)
    made = local(tmp_path, schema, table, format=format)
    assert '"groups"' in (tmp_path / "out" / "codebook.json").read_text()
    raw = find(replace(STRUCTURE, k=2), encode(table, schema)).labels
    told = made.scores["scores"]["f_measure.start"]["value"]
    assert f_measure(raw, sf.find_clusters(tmp_path / "out")) == pytest.approx(told, abs=0.01)
    by_middle = sf.evaluate(table, tmp_path / "out", seeds=1, placement="middle")["scores"]["f_measure.start"]["value"]
    alone = sf.find_clusters(tmp_path / "out", placement="middle")
    assert f_measure(raw, alone) == pytest.approx(by_middle, abs=0.02)


def test_places_without_a_codebook_are_refused_where_they_were_told_with_it(tmp_path: Path) -> None:
    masked(tmp_path, "parquet")
    with pytest.raises(sf.ReleaseError, match="without the codebook"):
        sf.find_clusters(tmp_path / "out", placement="middle")
    with pytest.raises(sf.RecipeError, match="expected, middle"):
        sf.find_clusters(tmp_path / "out", placement="own")


@pytest.mark.parametrize("mask", ["mondrian", "top_down"])
def test_dates_and_numbers_without_a_range_come_with_centres(tmp_path: Path, mask: str) -> None:
    random = np.random.default_rng(0)
    old = random.integers(0, 2, ROWS)
    days = np.datetime64("1950-01-01") + (old * 15_000 + random.integers(0, 3000, ROWS)).astype("timedelta64[D]")
    pay = old * 5000 + random.integers(0, 900, ROWS)
    table = pa.table({"born": days, "pay": pay})
    schema = sf.Schema(born=sf.Number(role="quasi", calendar="month"), pay=sf.Number(role="quasi"))
    needs = (sf.KAnonymity(("born", "pay"), 10),)
    structure = replace(STRUCTURE, k=2)
    how = sf.Mondrian() if mask == "mondrian" else sf.TopDown()
    recipe = sf.Recipe(schema=schema, structure=structure, mask=how, keep_order=True, privacy=needs)
    sf.publish(table, recipe, run=Run(report=False, ledger=sf.Ledger(tmp_path / "l.jsonl"))).write(tmp_path / "out")
    assert f_measure(old, sf.find_clusters(tmp_path / "out")) > 0.95
    text = (tmp_path / "out" / "centres.json").read_text()
    assert str(int(pay.max())) not in text, "how far raw numbers reach is not told"


def test_sets_of_which_no_codebook_tells_stand_in_the_middle_of_their_labels(tmp_path: Path) -> None:
    """Under several quasi-identifiers of a small table nothing may be told of rare countries: the sets list them."""
    table = sf.datasets.load("adult", complete=True).table.slice(0, 500)
    recipe = demo_recipe(SEVERAL, k=20, clusters=4, mask=sf.Partition())
    release = sf.publish(table, recipe, run=Run(report=False, ledger=sf.Ledger(tmp_path / "ledger.jsonl")))
    release.write(tmp_path / "out")
    assert len(set(sf.find_clusters(tmp_path / "out").tolist())) == 4
