"""Errors on held-out rows: what a classifier may see, and that the harness would catch it if it saw more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import NDArray

from sfumato.data.encoding import encode
from sfumato.data.masked import Masked
from sfumato.data.schema import Category, Number, Schema
from sfumato.data.table import Column, Table
from sfumato.data.taxonomy.taxonomy import Taxonomy
from sfumato.engines import LocalEngine
from sfumato.errors import RecipeError, SchemaError, TableError
from sfumato.evaluation.classes import (
    accuracy_with,
    checked,
    class_codes,
    judge_classes,
    judge_masker,
    mask_apart,
    rows_of,
    wrong,
)
from sfumato.evaluation.classifiers import CLASSIFIERS, LISTED, classifier
from sfumato.evaluation.training import (
    Feature,
    Part,
    folds,
    given,
    leaking,
    masked_feature,
    raw_features,
    shown_features,
    split,
)
from sfumato.maskers.masker import Labels, Masker, Outcome, Task
from sfumato.maskers.topdown.masker import TopDown
from sfumato.privacy.requirements import KAnonymity, Requirement

SCHOOL = Taxonomy.from_tree({"ANY": {"Low": ["a", "b"], "High": ["c", "d"]}})
SCHEMA = Schema(
    age=Number(role="quasi", range=(0, 99)),
    school=Category(role="quasi", taxonomy=SCHOOL),
    town=Category(role="quasi"),
    noise=Number(),
    rich=Category(role="sensitive"),
)
NEED = KAnonymity(["age", "school", "town"], 12)
ATTRIBUTES = ["age", "school", "town", "noise"]


def people(rows: int = 400, seed: int = 0) -> Table:
    """The class follows from age and school but for a tenth of the rows."""
    rng = np.random.default_rng(seed)
    age, school = rng.integers(0, 100, rows), rng.integers(0, 4, rows)
    rich = ((age > 50) & (school > 1)) ^ (rng.random(rows) < 0.1)
    columns: dict[str, Any] = {
        "age": age,
        "school": [("a", "b", "c", "d")[value] for value in school],
        "town": [f"t{value}" for value in rng.integers(0, 6, rows)],
        "noise": rng.random(rows),
        "rich": ["yes" if value else "no" for value in rich],
    }
    return encode(pa.table(columns), SCHEMA)


@pytest.fixture(scope="module")
def table() -> Table:
    return people()


def test_errors_in_which_every_class_counts_alike_tell_a_rare_class() -> None:
    """A tree that names the commonest class for everybody makes few errors, raw or masked, and tells nothing."""
    rng = np.random.default_rng(1)
    old = rng.random(600) < 0.3
    churned = rng.random(600) < np.where(old, 0.35, 0.03)
    ages = np.where(old, 70, 30) + rng.integers(0, 9, 600)
    schema = Schema(age=Number(role="quasi"), churned=Category())
    rows = encode(pa.table({"age": ages, "churned": np.where(churned, "yes", "no")}), schema)
    blank = Masked.of({"age": pa.array(["*"] * 600)})
    found = judge_classes(rows, blank, "churned", parts=folds(class_codes(rows, "churned"), 5))
    assert found.baseline.value == found.masked.value == found.commonest.value, "as if masking cost nothing"
    assert found.raw_alike < 0.3
    assert found.masked_alike == 0.5
    told = {score.name: score for score in found.scores()}
    assert told["masked_error.alike"].publishable
    assert not told["baseline_error.alike"].publishable


@pytest.fixture(scope="module")
def masked(table: Table) -> Masked:
    return TopDown().mask(task(table, NEED)).masked


def task(table: Table, *needs: KAnonymity) -> Task:
    return Task(table, Labels(class_codes(table, "rich").astype(np.uint8), 2), needs, LocalEngine())


@pytest.mark.parametrize("name", [*CLASSIFIERS, "sklearn.naive_bayes.GaussianNB"])
def test_errors_stand_in_order_and_within_their_intervals(table: Table, masked: Masked, name: str) -> None:
    parts = folds(class_codes(table, "rich"), 5)
    found = judge_classes(table, masked, "rich", parts=parts, classifier=name, attributes=ATTRIBUTES)
    assert found.tested == table.rows
    assert found.baseline.value < 0.35
    assert found.removed.value >= found.baseline.value
    assert found.masking_costs.value == pytest.approx(found.masked.value - found.baseline.value)
    assert found.removing_costs.value == pytest.approx(found.removed.value - found.baseline.value)
    for estimate in (found.baseline, found.masked, found.removed, found.masking_costs):
        assert estimate.low < estimate.value < estimate.high


def test_the_tree_finds_what_is_there(table: Table) -> None:
    classes = class_codes(table, "rich")
    missed = wrong(raw_features(table, ATTRIBUTES), classes, folds(classes, 5), "tree")
    assert missed.mean() < 0.16  # a tenth cannot be told


def test_without_attributes_the_majority_is_guessed(table: Table) -> None:
    classes = class_codes(table, "rich")
    missed = wrong([], classes, folds(classes, 5), "tree")
    assert missed.mean() == pytest.approx(min(np.bincount(classes)) / table.rows)


def test_scores_against_the_raw_table_are_not_publishable(table: Table, masked: Masked) -> None:
    found = judge_classes(table, masked, "rich", parts=split(class_codes(table, "rich")))
    publishable = {score.name for score in found.scores() if score.publishable}
    assert publishable == {"masked_error", "removed_error", "commonest_error", "masked_error.alike"}


# Leakage.


def test_masked_numbers_enter_as_intervals() -> None:
    column = Column.of(pa.array(["[0-37)", "[37-99]", "*", None, "[0-37)"]))
    feature = masked_feature("age", SCHEMA["age"], column)
    assert feature.ends is not None
    assert feature.ends[feature.codes].tolist()[:3] == [[0, 37], [37, 99], [0, 99]]
    assert np.isnan(feature.ends[feature.codes[3]]).all()
    assert feature.codes[0] == feature.codes[4]


def test_nothing_changes_when_raw_values_move_within_what_is_shown(table: Table, masked: Masked) -> None:
    """All raw cells of masked attributes are exchanged among rows that show the same: a leak would show."""
    classes = class_codes(table, "rich")
    rng = np.random.default_rng(1)
    arrow = table.to_arrow()
    for name, column in masked.items():
        shown = np.array(column.decode().cast(pa.string()).to_pylist())
        order = np.arange(table.rows)
        for label in np.unique(shown):
            at = np.flatnonzero(shown == label)
            order[at] = rng.permutation(at)
        arrow = arrow.set_column(
            arrow.column_names.index(name), name, table.column(name).decode().take(pa.array(order, type=pa.int64()))
        )
    moved = encode(arrow, SCHEMA)
    assert not moved.column("age").decode().equals(table.column("age").decode())
    before, after = (
        wrong(shown_features(each, masked, ATTRIBUTES), classes, folds(classes, 5), "tree") for each in (table, moved)
    )
    assert np.array_equal(before, after)


@pytest.mark.parametrize("name", ["age", "school"])
def test_a_planted_leak_is_caught(table: Table, masked: Masked, name: str) -> None:
    """A raw column in the place of a masked one: the error falls, and the check says which column."""
    shown = shown_features(table, masked, ATTRIBUTES)
    planted = [raw_features(table, [name])[0] if f.name == name else f for f in shown]
    assert leaking(shown, table, masked) == []
    assert leaking(planted, table, masked) == [name]
    with pytest.raises(TableError, match="released values only"):
        checked(planted, table, masked)


def test_a_planted_class_is_caught_and_would_have_been_believed(table: Table, masked: Masked) -> None:
    classes = class_codes(table, "rich")
    shown = shown_features(table, masked, ATTRIBUTES)
    planted = [*shown, Feature("row_number", classes, 2)]
    assert wrong(planted, classes, folds(classes, 5), "tree").mean() == 0.0
    assert leaking(planted, table, masked) == ["row_number"]


@dataclass(frozen=True)
class Spy(Masker):
    """Masks as top-down refinement does, and remembers what it was shown."""

    seen: list[Table] = field(default_factory=list)

    def check(self, schema: Schema, requirements: Sequence[Requirement]) -> None:
        """Nothing to refuse."""

    def mask(self, task: Task) -> Outcome:
        self.seen.append(task.table)
        return TopDown().mask(task)


def test_a_mask_is_learned_from_training_rows_alone(table: Table) -> None:
    arrow = table.to_arrow()
    arrow = arrow.set_column(0, "age", pa.array([*([3.5] * 10), *arrow["age"].to_pylist()[10:]], pa.float64()))
    odd = encode(arrow, SCHEMA)
    spy, classes = Spy(), class_codes(odd, "rich")
    part = Part(np.arange(10, 400), np.arange(10))
    columns = mask_apart(odd, spy, [NEED], classes, engine=LocalEngine(), part=part)
    (seen,) = spy.seen
    assert seen.rows == 390
    assert 3.5 not in seen.column("age").values.to_pylist()
    again = people(seed=5).to_arrow().slice(0, 10)
    other = encode(pa.concat_tables([again.cast(arrow.schema), arrow.slice(10)]), SCHEMA)
    changed = mask_apart(other, Spy(), [NEED], class_codes(other, "rich"), engine=LocalEngine(), part=part)
    for name, column in columns.items():
        assert column.to_pylist()[10:] == changed[name].to_pylist()[10:]


def test_values_that_only_test_rows_have_are_shown_at_the_top(table: Table) -> None:
    arrow = table.to_arrow()
    towns = ["elsewhere", *arrow["town"].to_pylist()[1:]]
    odd = encode(arrow.set_column(2, "town", pa.array(towns)), SCHEMA)
    part = Part(np.arange(1, 400), np.array([0]))
    columns = mask_apart(
        odd, TopDown(), [KAnonymity(["town"], 2)], class_codes(odd, "rich"), engine=LocalEngine(), part=part
    )
    assert columns["town"].to_pylist()[0] == "*"


def test_a_part_of_a_table_has_codes_of_its_own(table: Table) -> None:
    few = rows_of(table, np.array([0, 1]))
    assert len(few.column("age").values) <= 2


def test_judging_a_masker_in_folds(table: Table) -> None:
    classes = class_codes(table, "rich")
    found = judge_masker(
        table, TopDown(), [NEED], "rich", engine=LocalEngine(), parts=folds(classes, 4), classifier="naive_bayes"
    )
    assert found.tested == table.rows
    assert found.masked.value < 0.4


def test_accuracy_is_what_is_not_wrong(table: Table, masked: Masked) -> None:
    classes = class_codes(table, "rich")
    parts = split(classes)
    accuracy = accuracy_with(table, "rich", parts=parts, attributes=ATTRIBUTES)(masked)
    missed = wrong(shown_features(table, masked, ATTRIBUTES), classes, parts, "tree")
    assert accuracy == pytest.approx(1 - missed.mean())


# Bad input.


def classes_of(values: list[str | None]) -> NDArray[np.int64]:
    table = encode(pa.table({"x": list(range(len(values))), "y": pa.array(values)}), Schema(x=Number(), y=Category()))
    return class_codes(table, "y")


def test_a_class_missing_in_rows_is_refused() -> None:
    with pytest.raises(TableError, match="every row has a class"):
        classes_of(["a", None, "b"])


def test_a_class_with_one_value_is_refused() -> None:
    with pytest.raises(TableError, match="at least two values"):
        classes_of(["a", "a"])


def test_an_unknown_class_column_is_refused(table: Table) -> None:
    with pytest.raises(SchemaError, match="did you mean 'rich'"):
        class_codes(table, "rihc")


@pytest.mark.parametrize(("rows", "n"), [(3, 4), (9, 10)])
def test_fewer_rows_than_folds_are_refused(rows: int, n: int) -> None:
    with pytest.raises(RecipeError, match=f"{n} folds for {rows} rows"):
        folds(np.zeros(rows, dtype=np.int64), n)


def test_rows_in_both_parts_are_refused() -> None:
    with pytest.raises(RecipeError, match="not tested on"):
        Part(np.array([0, 1]), np.array([1, 2]))
    with pytest.raises(RecipeError, match="none of one kind"):
        given(np.array([True, True]))


@pytest.mark.parametrize("name", ["forest", "sklearn.ensemble.Forest", "json.loads", "no.such.module", "antigravity.x"])
def test_an_unknown_classifier_is_refused(table: Table, name: str) -> None:
    classes = class_codes(table, "rich")
    with pytest.raises(RecipeError, match="that are listed"):
        wrong(raw_features(table, ATTRIBUTES), classes, split(classes), name)


def test_every_listed_classifier_is_there() -> None:
    assert all(callable(classifier(name)) for name in LISTED)


def test_a_classifier_is_imported_by_no_other_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """A module that is named must not run, not even to find out that it holds no classifier."""
    asked: list[str] = []
    monkeypatch.setattr("sfumato.evaluation.classifiers.import_module", lambda name: asked.append(name))
    with pytest.raises(RecipeError):
        classifier("this.Zen")
    assert asked == []


def test_an_object_of_the_callers_is_a_classifier(table: Table, masked: Masked) -> None:
    parts = split(class_codes(table, "rich"))
    model = import_module("sklearn.naive_bayes").GaussianNB()
    given = judge_classes(table, masked, "rich", parts=parts, classifier=model, attributes=ATTRIBUTES)
    named = judge_classes(
        table, masked, "rich", parts=parts, classifier="sklearn.naive_bayes.GaussianNB", attributes=ATTRIBUTES
    )
    assert given.masked == named.masked
    assert given.classifier == "GaussianNB"
    assert not hasattr(model, "classes_")  # it was copied


def test_the_class_is_no_attribute_of_itself(table: Table, masked: Masked) -> None:
    with pytest.raises(TableError, match="not from itself"):
        judge_classes(table, masked, "rich", parts=split(class_codes(table, "rich")), attributes=["age", "rich"])


def test_masked_columns_of_another_length_are_refused(table: Table, masked: Masked) -> None:
    short = Masked.of({name: column.decode().slice(1) for name, column in masked.items()})
    with pytest.raises(TableError, match="same order"):
        shown_features(table, short, ATTRIBUTES)
