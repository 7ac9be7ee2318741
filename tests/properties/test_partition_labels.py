"""Partition that shows labels of taxonomies: what it shows is its twin's, holds against the rows, and reads back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.data.encoding import encode
from sfumato.data.masked import Masked
from sfumato.data.schema import Schema
from sfumato.engines import LocalEngine
from sfumato.maskers.masker import Labels, Outcome, Task
from sfumato.maskers.partition.fit import Partition
from sfumato.maskers.partition.mask import RegionTree
from tests.contracts.mixes import Mix, random_mix
from tests.partition_twin import Parents, label_shown
from tests.properties.definitions import holds
from tests.properties.test_partition import BOTH, KINDS, Told, check_same, rows_of

WORLD: dict[str, Any] = {
    "World": {"South": {"Andes": ["Chile", "Peru"], "Brazil": None}, "North": ["Canada", "Mexico"]}
}
LEAVES = ("Chile", "Peru", "Brazil", "Canada", "Mexico")


def parents_of(attribute: object) -> Parents | None:
    """The tree of a category, each label with the one above it."""
    tree = attribute.taxonomy if isinstance(attribute, sf.Category) else None
    return None if tree is None else {label: tree.parent(label) for label in tree}


def both(task: Task, extent: Any = "parts", **settings: Any) -> tuple[Outcome, Outcome]:
    """The same parts, shown by sets and by labels."""
    found = [Partition(extent=extent, show=show, **settings).mask(task) for show in ("sets", "labels")]
    return found[0], found[1]


def expected(task: Task, sets: Outcome) -> dict[str, list[str | None]]:
    """By column what the rows show by labels, from what they show by sets."""
    told = {name: Told(form) for name, form in sets.mask.files()["partition.json"]["attributes"].items()}
    found = {}
    for name, column in sets.masked.items():
        parents, of = parents_of(task.table.schema[name]), told[name]
        texts = {
            text: text if of.number or text in (None, "*") else label_shown(of.entries[text], parents)
            for text in set(column.to_pylist())
        }
        found[name] = [texts[text] for text in column.to_pylist()]
    return found


def occurring(task: Task, sets: Outcome) -> dict[str, list[str | None]]:
    """The same, from the raw labels of the rows of each part; of all labels of the table together nothing is left."""
    mask = sets.mask
    assert isinstance(mask, RegionTree)
    found = {}
    for tree in mask.trees:
        groups = sets.masked.groups(tree.on)
        for name in (name for name in tree.on if not isinstance(task.table.schema[name], sf.Number)):
            raw = np.array(task.table.column(name).to_pylist(), dtype=object)
            parents, every = parents_of(task.table.schema[name]), set(raw.tolist())
            held = {number: set(raw[groups == number].tolist()) for number in set(groups.tolist())}
            texts = {
                n: "*" if some == every and len(some) > 1 else label_shown(some, parents) for n, some in held.items()
            }
            found[name] = [texts[number] for number in groups.tolist()]
    return found


def check_labels(task: Task, extent: str = "parts") -> int:
    """Everything that must hold of labels; how many of the shown ones stand above others."""
    sets, labels = both(task, extent)
    shown = {name: column.to_pylist() for name, column in labels.masked.items()}
    assert shown == expected(task, sets)
    if extent == "parts":
        assert {name: shown[name] for name in occurring(task, sets)} == occurring(task, sets)
    check_round(task, labels)
    return sum(check_tree(task, labels.masked, name, form) for name, form in told_trees(labels).items())


def check_round(task: Task, outcome: Outcome) -> None:
    """The mask shows the same rows the same, and what the holder keeps reads back."""
    mask = outcome.mask
    assert isinstance(mask, RegionTree)
    check_same(outcome.masked, mask.apply(task.table))
    again = Partition.read_mask({name.removeprefix("whole/"): form for name, form in mask.kept_back().items()})
    assert again == mask
    check_same(outcome.masked, again.apply(task.table))


def told_trees(outcome: Outcome) -> dict[str, Any]:
    """By column the taxonomy that goes along."""
    files = outcome.mask.released(outcome.masked, {}).files()
    attributes = files["partition.json"]["attributes"]
    return {name: files[f"taxonomies/{name}.json"] for name, form in attributes.items() if form["kind"] == "tree"}


def check_tree(task: Task, masked: Masked, name: str, form: Mapping[str, Any]) -> int:
    """It names what is shown and nothing else, and says of these labels what the declared tree says."""
    named: dict[str, list[str]] = {}

    def walk(part: Any, above: list[str]) -> None:
        label = part if isinstance(part, str) else part["label"]
        if label is not None:
            named[label] = above
        for below in [] if isinstance(part, str) else part["below"]:
            walk(below, above if label is None else [label, *above])

    walk(form, [])
    shown = set(masked[name].to_pylist()) - {None, "*"}
    assert set(named) == shown
    parents = parents_of(task.table.schema[name])
    assert parents is not None
    for label, above in named.items():
        way, at = list[str](), parents[label]
        while at is not None:
            way, at = [*way, at], parents[at]
        assert above == [one for one in way if one in named]
    return len(shown & set(filter(None, parents.values())))


def task_of_mix(seed: int) -> tuple[Mix, Task] | None:
    mix = random_mix(seed, KINDS)
    task = Task(mix.table, mix.labels, mix.needs, LocalEngine())
    try:
        Partition().mask(task)
    except (sf.Infeasible, sf.SchemaError):
        return None
    return mix, task


def check_mix(seed: int, extent: str) -> int:
    found = task_of_mix(seed)
    if found is None:
        return 0
    mix, task = found
    outcome = Partition(extent=extent, show="labels").mask(task)  # type: ignore[arg-type]
    rows = rows_of({**outcome.masked, **{name: mix.table.column(name) for name in ("illness", "wage", "grade")}})
    grade = mix.table.schema["grade"]
    assert isinstance(grade, sf.Category)
    for need in mix.needs:
        assert holds(need, rows, tree=grade.taxonomy), f"case {seed}: {need}"
    return check_labels(task, extent)


@pytest.mark.parametrize("extent", BOTH)
def test_labels_are_their_twins_and_every_requirement_holds(extent: str) -> None:
    assert sum(check_mix(seed, extent) for seed in range(9000, 9015)) > 0


@pytest.mark.slow
@pytest.mark.parametrize("extent", BOTH)
def test_labels_of_many_mixes(extent: str) -> None:
    assert sum(check_mix(seed, extent) for seed in range(9100, 9220)) > 20


def travellers(rows: int = 300, *, missing: bool = False, tree: bool = True) -> Task:
    rng = np.random.default_rng(5)
    gone = rng.random(rows) < 0.1 if missing else np.zeros(rows, dtype=bool)
    table = pa.table(
        {
            "home": pa.array(rng.choice(LEAVES, rows, p=[0.3, 0.2, 0.1, 0.1, 0.3]), mask=gone),
            "age": pa.array(rng.integers(17, 90, rows)),
            "trip": pa.array(rng.choice(["sea", "hills", "town"], rows)),
        }
    )
    taxonomy = sf.Taxonomy.from_tree(WORLD) if tree else None
    schema = Schema(
        home=sf.Category(role="quasi", taxonomy=taxonomy),
        age=sf.Number(role="quasi", range=(17, 90)),
        trip=sf.Category(role="quasi"),
    )
    classes = rng.integers(0, 2, rows).astype(np.uint8)
    needs = (sf.KAnonymity(("home", "age", "trip"), 6),)
    return Task(encode(table, schema), Labels(classes, 2), needs, LocalEngine())


@pytest.mark.parametrize("missing", [False, True])
def test_a_category_with_a_tree_shows_its_labels_and_one_without_a_star(missing: bool) -> None:
    task = travellers(missing=missing)
    sets, labels = both(task)
    assert check_labels(task) > 0
    assert any("{" in str(text) for text in sets.masked.labels("home") | sets.masked.labels("trip"))
    assert labels.masked.labels("home") & {"Andes", "South", "North"}
    assert labels.masked.labels("home") <= {*LEAVES, "Andes", "South", "North", "*", None}
    assert labels.masked.labels("trip") <= {"sea", "hills", "town", "*"}
    assert labels.history["show"] == {"chosen": "labels"}


def test_the_root_is_a_star_and_needs_no_tree() -> None:
    """Where nothing above the leaves is shown, no taxonomy goes along."""
    flat = travellers()
    one = sf.Category(role="quasi", taxonomy=sf.Taxonomy.flat(LEAVES))
    flat = replace(flat, table=encode(flat.table.to_arrow(), Schema({**flat.table.schema, "home": one})))
    bare = both(travellers(tree=False))[1]
    found = both(flat)[1]
    assert "World" not in found.masked.labels("home") | both(travellers())[1].masked.labels("home")
    assert not told_trees(found)
    assert not told_trees(bare)


def test_pure_parts_may_show_labels() -> None:
    task = travellers()
    labels = both(task, pure=True)[1]
    assert labels.masked.labels("home") & {"Andes", "South", "North"}
    assert not labels.mask.repeats
    assert labels.mask.files()["partition.json"]["apart"] is False


def test_new_rows_below_a_label_are_shown_by_it() -> None:
    task = travellers()
    mask = both(task)[1].mask
    rows = task.table.to_arrow()
    shown = mask.apply(encode(rows.slice(0, 40), task.table.schema))
    assert shown["home"].to_pylist() == mask.apply(task.table)["home"].to_pylist()[:40]


@pytest.mark.parametrize("show", ["set", "", None, True])
def test_another_way_to_show_is_refused(show: Any) -> None:
    with pytest.raises(sf.RecipeError, match="sets, labels or auto"):
        Partition(show=show)


# Which of them is taken.


def told(task: Task, scores: Mapping[str, float], *, classes: bool = True) -> Outcome:
    """Masked where sets and labels keep so much of the structure; `objective` is asked of each once."""
    asked: list[Masked] = []

    def objective(masked: Masked) -> float:
        asked.append(masked)
        return scores["sets" if any("{" in str(text) for text in masked.labels("trip")) else "labels"]

    labels = Labels(task.labels.classes, 2, told_in_part=classes)
    return Partition(show="auto").mask(replace(task, labels=labels, objective=objective))


def test_labels_are_taken_where_they_tell_classes_clearly_better() -> None:
    task = travellers()
    better, worse = told(task, {"sets": 0.8, "labels": 0.9}), told(task, {"sets": 0.9, "labels": 0.8})
    near, clusters = told(task, {"sets": 0.9, "labels": 0.95}), told(task, {"sets": 0.0, "labels": 1.0}, classes=False)
    assert better.history["show"] == {"chosen": "labels", "told_right": {"sets": 0.8, "labels": 0.9}}
    assert [one.history["show"]["chosen"] for one in (worse, near, clusters)] == ["sets"] * 3
    assert better.mask.files()["partition.json"]["attributes"]["home"]["kind"] == "tree"
    assert "told_right" not in clusters.history["show"]
