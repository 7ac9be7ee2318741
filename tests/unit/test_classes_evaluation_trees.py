"""Ranking, pruning, splits and intervals: the parts under the errors."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from benchmarks.papers.ranking import rank_attributes, root
from numpy.typing import NDArray
from sklearn.tree import DecisionTreeClassifier

from sfumato.data import datasets
from sfumato.data.encoding import encode
from sfumato.data.schema import Category, Number, Schema
from sfumato.errors import TableError
from sfumato.evaluation.scores import difference, share
from sfumato.evaluation.training import Feature, folds, split
from sfumato.evaluation.trees import Shape, class_order, fit_tree, grow, leaf_of, prune, stand_for, tree_matrix


def test_adult_is_ranked_as_in_the_paper() -> None:
    """002 section 5.1.1: Cg, Ag, M, En, Re, H, S, E and O in that order."""
    adult = datasets.load("adult", complete=True)
    table = encode(adult.table, adult.schema)
    assert rank_attributes(table, table.column("income").codes)[:9] == [
        "capital_gain",
        "age",
        "marital_status",
        "education_num",
        "relationship",
        "hours_per_week",
        "sex",
        "education",
        "occupation",
    ]


def test_every_attribute_is_ranked_once_and_useless_ones_last() -> None:
    schema = Schema(same=Category(role="quasi"), tells=Number(role="quasi"), some=Category(role="quasi"))
    table = encode(pa.table({"same": ["x"] * 8, "tells": [1, 1, 1, 1, 2, 2, 2, 2], "some": list("aaabbbbb")}), schema)
    classes = np.array([0, 0, 0, 0, 1, 1, 1, 1])
    assert rank_attributes(table, classes) == ["tells", "some", "same"]
    assert rank_attributes(table, classes, names=["same", "some"]) == ["some", "same"]
    with pytest.raises(TableError, match="one class"):
        rank_attributes(table, classes[:3])


def test_missing_has_a_branch_of_its_own() -> None:
    assert root(np.array([[2, 2], [2, 2], [0, 8]]), True).gain > root(np.array([[2, 2], [2, 2], [0, 0]]), True).gain


def brute(shape: Shape, wrong: NDArray[np.int64], price: float) -> tuple[float, int]:
    """The cheapest pruned tree at a price per leaf: its cost, and its leaves (the fewest on a tie)."""

    def best(node: int) -> tuple[float, int]:
        alone = (float(wrong[node]) + price, 1)
        if shape.left[node] < 0:
            return alone
        left, right = best(int(shape.left[node])), best(int(shape.right[node]))
        return min(alone, (left[0] + right[0], left[1] + right[1]))

    return best(0)


@pytest.mark.parametrize("seed", range(20))
def test_the_pruned_tree_is_the_cheapest_at_every_price(seed: int) -> None:
    rng = np.random.default_rng(seed)
    matrix = rng.random((120, 3)).astype(np.float32)
    classes = ((matrix[:, 0] > 0.5) ^ (rng.random(120) < 0.3)).astype(np.int64)
    grown = grow(matrix, classes, 2)
    path = prune(grown.shape, grown.wrong, grown.wrong)
    for price in (0.1003, 0.5071, 0.9137, 1.4173, 3.1379):
        kept = np.unique(stand_for(grown.shape, path.collapse, price)[grown.shape.left < 0])
        cost, leaves = brute(grown.shape, grown.wrong, price)
        assert len(kept) == leaves
        assert grown.wrong[kept].sum() + price * len(kept) == pytest.approx(cost)
        assert path.at(np.array([price]))[0] == grown.wrong[kept].sum()


def test_pruning_cuts_noise_away_and_keeps_the_rest() -> None:
    rng = np.random.default_rng(0)
    matrix = rng.random((600, 4)).astype(np.float32)
    classes = ((matrix[:, 0] > 0.5) ^ (rng.random(600) < 0.2)).astype(np.int64)
    assert fit_tree(matrix, rng.integers(0, 2, 600), 2).leaves < 40
    tree = fit_tree(matrix, classes, 2)
    assert tree.leaves < 12
    assert (tree.predict(matrix) != classes).mean() < 0.22


def test_one_split_takes_any_group_of_labels_apart() -> None:
    """Labels 0, 2 and 4 of five are one class: in class order one threshold does it."""
    codes = np.tile(np.arange(5), 20)
    classes = (codes % 2 == 0).astype(np.int64)
    feature = Feature("label", codes, 6)
    matrix = tree_matrix([feature], classes, 2, train=np.arange(100))
    assert fit_tree(matrix, classes, 2).leaves == 2


@pytest.mark.parametrize("seed", range(6))
def test_one_cut_that_tells_much_is_never_given_up_for_the_root(seed: int) -> None:
    """Its price in the whole tree need not be the price in the tree that is judged, which has fewer rows."""
    rng = np.random.default_rng(seed)
    value = rng.integers(0, 2, 6_000)
    classes = (rng.random(6_000) < np.where(value == 1, 0.8, 0.1)).astype(np.int64)
    assert fit_tree(value[:, None].astype(np.float32), classes, 2).leaves == 2


@pytest.mark.parametrize("n", [2, 3])
def test_the_order_of_labels_is_learned_from_training_rows(n: int) -> None:
    rng = np.random.default_rng(n)
    codes, classes = rng.integers(0, 4, 200), rng.integers(0, n, 200)
    train = np.arange(100)
    changed = classes.copy()
    changed[100:] = 0
    feature = Feature("label", codes, 6)
    first, second = (class_order(feature, each, n, train=train) for each in (classes, changed))
    assert np.array_equal(first, second)
    assert len(np.unique(first[:4])) == 4


def test_folds_test_every_row_once_and_hold_every_class_alike() -> None:
    classes = np.array([0] * 70 + [1] * 30)
    parts = folds(classes, 10)
    assert sorted(np.concatenate([part.test for part in parts]).tolist()) == list(range(100))
    assert {int(classes[part.test].sum()) for part in parts} == {3}
    other = folds(classes, 10, seed=1)
    assert any(not np.array_equal(a.test, b.test) for a, b in zip(parts, other, strict=True))
    assert len(split(classes, test=0.2)[0].test) == 20


def test_the_interval_of_a_difference_covers_the_truth_as_often_as_it_says() -> None:
    rng = np.random.default_rng(0)
    covered = {"share": 0, "difference": 0, "too narrow": 0}
    for _ in range(400):
        both, first, second = rng.random(150) < 0.1, rng.random(150) < 0.12, rng.random(150) < 0.06
        found = difference(both | first, both | second)
        truth = (1 - 0.9 * 0.88) - (1 - 0.9 * 0.94)
        covered["difference"] += found.low <= truth <= found.high
        covered["too narrow"] += abs(found.value - truth) <= (found.high - found.low) / 4
        alone = share(both)
        covered["share"] += alone.low <= 0.1 <= alone.high
    assert covered["difference"] > 370
    assert covered["share"] > 370
    assert covered["too narrow"] < 330


@pytest.mark.parametrize("seed", range(60))
def test_a_tree_is_the_one_that_scikit_learn_grows(seed: int) -> None:
    """Node by node, ties between columns included, and rows that were not learned from end in the same leaf."""
    rng = np.random.default_rng(seed)
    rows, columns, n = int(rng.integers(4, 400)), int(rng.integers(1, 7)), int(rng.integers(2, 5))
    scale = rng.choice([1, 1 / 37, 1e-7])  # the last: neighbours that are not told apart
    matrix = (rng.integers(0, rng.integers(1, 40), (rows, columns)) * scale).astype(np.float32)
    if seed % 3 == 0:
        matrix[:, 0] = rng.random(rows)
    classes = rng.integers(0, n, rows).astype(np.int64)
    other = DecisionTreeClassifier(criterion="entropy", min_samples_leaf=2, random_state=0).fit(matrix, classes)
    grown = grow(matrix, classes, n)
    inner = other.tree_.children_left >= 0
    assert grown.nodes.left.tolist() == other.tree_.children_left.tolist()
    assert grown.nodes.column.tolist() == np.where(inner, other.tree_.feature, -1).tolist()
    assert grown.nodes.limit[inner].tolist() == other.tree_.threshold[inner].tolist()
    unseen = rng.random((50, columns)).astype(np.float32)
    assert leaf_of(grown.nodes, unseen).tolist() == other.apply(unseen).tolist()
