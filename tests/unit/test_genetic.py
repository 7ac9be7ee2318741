"""The genetic search: what chromosomes mean and cost, and that the same seed finds the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from sfumato.data.axis import make_axis, positions
from sfumato.data.encoding import encode
from sfumato.data.schema import Attribute, Category, ItemSet, Number, Schema
from sfumato.data.table import Table
from sfumato.data.taxonomy.taxonomy import Taxonomy
from sfumato.engines import LocalEngine
from sfumato.errors import Infeasible, RecipeError, Stopped
from sfumato.events import Stop, running
from sfumato.maskers.genetic.fit import Genetic
from sfumato.maskers.genetic.genes import Need, View, compress, cost, lifted, make_gene
from sfumato.maskers.masker import Labels, Outcome, Task
from sfumato.maskers.recoding.recoding import Recoding
from sfumato.privacy.requirements import KAnonymity

SCHOOL = Taxonomy.from_tree({"ANY": {"Low": ["a", "b"], "High": ["c", "d"]}})
ATTRIBUTES: dict[str, tuple[Attribute, list[Any]]] = {
    "tree": (Category(role="quasi", taxonomy=SCHOOL), ["a", "b", "c", "d", None, "a"]),
    "values": (Category(role="quasi"), ["x", "y", "z", None, "x", "y"]),
    "number": (Number(role="quasi", range=(0, 99)), [1, 5, 9, None, 5, 30]),
    "whole": (Number(role="quasi"), [1, 5, 9, 9, 5, 30]),
}


@pytest.mark.parametrize("name", ATTRIBUTES)
def test_a_gene_shows_in_codes_what_its_rule_shows_in_labels(name: str) -> None:
    attribute, values = ATTRIBUTES[name]
    table = encode(pa.table({name: values}), Schema({name: attribute}))
    axis = make_axis(name, attribute, table.column(name), many=2)
    gene = make_gene(axis)
    at = positions(axis, table.column(name))
    for number in range(2**gene.length):
        bits = np.array([number >> bit & 1 for bit in range(gene.length)], dtype=bool)
        view = gene.view(bits)
        labels = Recoding({name: gene.rule(bits)}).apply(table)[name].to_pylist()
        codes = view.codes[at].tolist()
        assert len(set(zip(codes, labels, strict=True))) == len(set(codes)) == len(set(labels))
        assert ((view.loss >= 0) & (view.loss <= 1)).all()
        if bits.all() and isinstance(attribute, Category):
            assert view.loss[at].max() == 0


def test_what_is_lost_by_hand() -> None:
    attribute, values = ATTRIBUTES["tree"]
    column = encode(pa.table({"tree": values}), Schema(tree=attribute)).column("tree")
    gene = make_gene(make_axis("tree", attribute, column, many=2))
    top, opened = np.array([False, True, True]), np.array([True, False, False])
    assert gene.view(top).loss.tolist() == [1.0] * 5
    assert gene.view(opened).loss.tolist() == [1 / 3] * 4 + [0.0]


def test_costs_by_hand() -> None:
    """Groups {0, 0, 1}, {1, 1} and a record alone, k = 2: too few are lifted alone, so the smallest goes too."""
    shown = np.array([0, 0, 0, 1, 1, 2])
    classes = np.array([0, 0, 1, 1, 1, 0])
    people = compress([shown], classes, 2, (Need((0,), 2),)).people
    view = View(np.arange(3), np.array([0.5, 0.25, 0.0]))
    assert int(people.weights[lifted(people, [people.positions[0]])].sum()) == 3
    assert cost(people, [view], "CM") == pytest.approx((3 + 1) / 6)
    assert cost(people, [view], "LM") == pytest.approx((3 * 1.0 + 3 * 0.5) / 6)


def test_lifting_goes_on_until_every_quasi_identifier_holds() -> None:
    """Lifting the lonely record of the first breaks a group of the second."""
    first, second = np.array([0, 0, 0, 1, 0, 0]), np.array([0, 0, 0, 1, 1, 0])
    people = compress([first, second], np.zeros(6, dtype=np.int64), 1, (Need((0,), 2), Need((1,), 2))).people
    out = lifted(people, people.positions)
    assert int(people.weights[out].sum()) == 2


def people(rows: int = 300) -> tuple[Table, Labels]:
    rng = np.random.default_rng(0)
    age, school = rng.integers(0, 100, rows), rng.integers(0, 4, rows)
    schema = Schema(age=Number(role="quasi", range=(0, 99)), school=Category(role="quasi", taxonomy=SCHOOL))
    table = encode(pa.table({"age": age, "school": [("a", "b", "c", "d")[s] for s in school]}), schema)
    return table, Labels(((age > 50) & (school > 1)).astype(np.uint8), 2)


def run(**settings: Any) -> Outcome:
    table, labels = people()
    return Genetic(**settings).mask(Task(table, labels, (KAnonymity(["age", "school"], 15),), LocalEngine()))


@pytest.mark.parametrize("metric", ["LM", "CM"])
def test_the_same_seed_finds_the_same_and_more_generations_nothing_worse(metric: str) -> None:
    short, again, longer = (run(metric=metric, generations=n, population=12, seconds=0) for n in (2, 2, 12))
    assert short.mask == again.mask
    assert longer.holder["genetic.json"]["cost"] <= short.holder["genetic.json"]["cost"]
    assert longer.holder["genetic.json"]["generations"] == 12


def test_it_finds_what_tells_the_classes_apart() -> None:
    found = run(metric="CM", generations=30, population=20)
    assert found.holder["genetic.json"]["cost"] < 0.1


def test_groups_are_large_enough_and_lifted_records_too() -> None:
    for seed in range(5):
        found = run(metric="LM", generations=3, population=10, seed=seed)
        rows = list(zip(*(column.to_pylist() for column in found.masked.values()), strict=True))
        assert min(rows.count(row) for row in set(rows)) >= 15
        assert found.masked.lifted is not None
        assert found.masked.lifted.sum() == 0 or found.masked.lifted.sum() >= 15


def test_it_ends_when_time_is_over_or_when_asked() -> None:
    assert run(seconds=0).holder["genetic.json"]["evaluated"] == 1
    stop = Stop()
    stop.ask()
    with running(stop=stop), pytest.raises(Stopped):
        run(seconds=60)


def test_what_cannot_be_searched_is_refused() -> None:
    wrong: Any
    for wrong in ({"metric": "XM"}, {"seconds": -1}, {"generations": -1}, {"population": 1}):
        with pytest.raises(RecipeError):
            Genetic(**wrong)
    schema = Schema(items=ItemSet(role="quasi"))
    with pytest.raises(RecipeError, match="at least one requirement"):
        Genetic().check(schema, [])
    with pytest.raises(RecipeError, match="item set"):
        Genetic().check(schema, [KAnonymity(["items"], 2)])
    table, labels = people()
    with pytest.raises(Infeasible):
        Genetic().mask(Task(table, labels, (KAnonymity(["age"], 301),), LocalEngine()))
