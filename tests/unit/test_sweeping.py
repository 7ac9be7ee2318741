"""Sweeps: the grid, the frontier with its knee, and what is said of them."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.sweeping.frontier import advice, frontier
from sfumato.sweeping.page import csv_text, html
from sfumato.sweeping.points import Point, Result, parse_over, points, refuse_budget
from sfumato.sweeping.sweep import Sweep

SCHEMA = sf.Schema(
    age=sf.Number(role="quasi", range=(0, 99)), town=sf.Category(role="quasi"), ill=sf.Category(role="sensitive")
)
RECIPE = sf.Recipe(
    schema=SCHEMA,
    structure=sf.Clusters("kmeans", k=3),
    mask=sf.TopDown(score="infogain"),
    privacy=(sf.KAnonymity(["age"], 4), sf.KAnonymity(["age", "town"], 3)),
)


def result(k: int, kept: float, risk: float, **more: str) -> Result:
    scores = {"f_measure.start": kept, "prosecutor.highest": risk, "marketer": risk / 2}
    settings = {"privacy.k": str(k), **more}
    return Result(settings=settings, scores=scores, smallest_group=k, seconds=1.0)


def refused(k: int) -> Result:
    return Result(settings={"privacy.k": str(k)}, refused="too few <rows>")


def test_k_is_set_on_every_requirement() -> None:
    found = points(RECIPE, {"privacy.k": ["5", "10"]})
    assert [point.name for point in found] == ["privacy.k=5", "privacy.k=10"]
    for point, k in zip(found, (5, 10), strict=True):
        assert {r.claim()["k"] for r in sf.Recipe.from_yaml(point.recipe).privacy} == {k}


def test_k_is_left_out_where_a_requirement_has_none() -> None:
    diverse = sf.LDiversity(["age"], "ill", 2)
    (point,) = points(replace(RECIPE, privacy=(*RECIPE.privacy, diverse)), {"privacy.k": ["7"]})
    assert point.refused is None
    assert [r.claim().get("k") for r in sf.Recipe.from_yaml(point.recipe).privacy] == [7, 7, None]
    with pytest.raises(sf.RecipeError, match="have one"):
        points(replace(RECIPE, privacy=(diverse, sf.LDiversity(["age", "town"], "ill", 2))), {"privacy.k": ["7"]})


def test_l_and_t_are_axes_like_k() -> None:
    diverse, close = sf.LDiversity(["age"], "ill", 2), sf.TCloseness(["age", "town"], "ill", 0.5)
    asked = replace(RECIPE, privacy=(*RECIPE.privacy, diverse, close))
    found = points(asked, {"privacy.l": ["2", "3"], "privacy.t": ["0.2"]})
    assert [point.refused for point in found] == [None, None]
    claims = [[need.claim() for need in sf.Recipe.from_yaml(point.recipe).privacy] for point in found]
    assert [[claim["l"] for claim in some if "l" in claim] for some in claims] == [[2], [3]]
    assert [[claim["t"] for claim in some if "t" in claim] for some in claims] == [[0.2], [0.2]]
    with pytest.raises(sf.RecipeError, match=r"sweep one of: privacy\.k"):
        points(RECIPE, {"privacy.l": ["2"]})


def test_the_grid_is_every_combination_once() -> None:
    over = {"mask": ["top_down", "mondrian"], "mask.top_down.score": ["tradeoff", "total_gain"], "structure.k": ["2"]}
    found = points(RECIPE, over)
    assert [dict(point.settings).get("mask.top_down.score") for point in found] == ["tradeoff", "total_gain", None]
    masks = [sf.Recipe.from_yaml(point.recipe).mask for point in found]
    assert masks == [sf.TopDown(score="tradeoff"), sf.TopDown(score="total_gain"), sf.Mondrian()]


def test_a_setting_of_a_masker_that_is_not_used_is_refused() -> None:
    over = {"privacy.k": ["5"], "mask.mondrian.score": ["median"]}
    with pytest.raises(sf.RecipeError, match="--over mask=mondrian"):
        points(RECIPE, over)
    assert len(points(RECIPE, {**over, "mask": ["top_down", "mondrian"]})) == 2


def test_a_setting_that_no_recipe_can_have_is_a_point_that_is_refused() -> None:
    (wrong, right) = points(RECIPE, {"privacy.k": ["0", "2"]})
    assert "at least 2" in str(wrong.refused)
    assert right.refused is None


def test_a_point_is_known_by_its_recipe_and_its_table() -> None:
    one, other = points(RECIPE, {"privacy.k": ["5", "10"]})
    assert len({one.key("a"), one.key("b"), other.key("a")}) == 3
    assert one.key("a") == points(RECIPE, {"privacy.k": ["5"]})[0].key("a")


@pytest.mark.parametrize("text", ["privacy.k", "privacy.k=", "=5", "privacy.k=,"])
def test_over_needs_a_setting_and_values(text: str) -> None:
    with pytest.raises(sf.RecipeError, match="--over"):
        parse_over([text])


def test_a_sweep_goes_over_something() -> None:
    with pytest.raises(sf.RecipeError, match="at least one setting"):
        points(RECIPE, {})


def test_the_frontier_is_what_nothing_beats() -> None:
    results = [
        result(5, 0.95, 0.2),
        result(10, 0.94, 0.1),
        result(20, 0.93, 0.05),
        result(50, 0.5, 0.02),
        result(10, 0.80, 0.1, score="other"),
        refused(100),
    ]
    found = frontier(results)
    assert [one.name for one in found.best] == ["privacy.k=50", "privacy.k=20", "privacy.k=10", "privacy.k=5"]
    assert found.knee is not None
    assert found.knee.name == "privacy.k=20"
    assert len(found.outcomes) == 5


def test_the_advice_names_a_setting_and_its_neighbours() -> None:
    text = advice(frontier([result(5, 0.95, 0.2), result(20, 0.93, 0.05), result(50, 0.5, 0.02)]))
    assert text.startswith("Take privacy.k=20: it keeps 0.930")
    assert "privacy.k=5 would keep 0.020 more for 4.0 times the risk" in text
    assert "privacy.k=50 would keep 0.430 less" in text
    assert advice(frontier([result(5, 0.9, 0.2)])).startswith("Take privacy.k=5")
    assert "No setting" in advice(frontier([refused(9)]))


def test_the_advice_stands_beside_no_data_and_says_when_nothing_is_kept() -> None:
    def beside(kept: float, floor: float) -> Result:
        one = result(5, kept, 0.2)
        return replace(one, scores={**one.scores, "f_measure.floor.top": floor})

    assert "0.300 is reached with every masked column at its top" in advice(frontier([beside(0.9, 0.3)]))
    poor = advice(frontier([beside(0.31, 0.3), beside(0.32, 0.3)]))
    assert poor.startswith("Every setting keeps next to nothing: the best reaches 0.320")
    blank = result(5, 0.9, 0.2)
    empty = replace(blank, scores={**blank.scores, "information_kept": 0.01})
    assert "next to nothing" in advice(frontier([empty]))


def test_classes_stand_beside_the_majority() -> None:
    scores = {"masked_error": 0.29, "commonest_error": 0.3, "prosecutor.highest": 0.1}
    told = advice(frontier([Result(settings={"privacy.k": "5"}, scores=scores)]))
    assert "next to nothing" in told
    assert "0.700 is reached by always naming the most frequent class" in told


def test_classes_are_weighed_as_advise_weighs_them() -> None:
    """What gives classes away group by group keeps no more of them: a tree is asked about rows that were held out."""
    blunt = {"masked_error": 0.138, "information_kept": 0.5, "prosecutor.highest": 0.05}
    fine = {"masked_error": 0.139, "information_kept": 0.71, "prosecutor.highest": 0.05}
    found = frontier(
        [
            Result(settings={"mask": "mondrian"}, scores=blunt, seconds=1.0),
            Result(settings={"mask": "partition"}, scores=fine, seconds=1.0),
        ]
    )
    assert advice(found).startswith("Take mask=partition: it keeps 0.785 (the mean of the detail kept and the accuracy")


def test_no_setting_is_advised_from_which_classes_are_told_no_better_than_without_the_masked_columns() -> None:
    def classes(k: int, error: float, detail: float, risk: float) -> Result:
        scores = {"masked_error": error, "removed_error": 0.228, "commonest_error": 0.3}
        return Result(
            settings={"privacy.k": str(k)}, scores={**scores, "information_kept": detail, "prosecutor.highest": risk}
        )

    found = frontier([classes(5, 0.231, 0.8, 0.2), classes(20, 0.2, 0.7, 0.05)])
    assert [one.name for one in found.best] == ["privacy.k=20"]
    told = advice(found)
    assert "would keep" not in told
    assert told.endswith("a tree tells the classes as well without the masked columns: privacy.k=5.")
    assert "Leave those columns out" in advice(frontier([classes(5, 0.231, 0.8, 0.2)]))


SWEPT = {5: (0.169, 0.824, 0.2), 20: (0.175, 0.652, 0.05), 80: (0.155, 0.462, 0.0125)}


@pytest.mark.parametrize(
    ("rows", "raw", "said"),
    [
        (1_333, 0.165, "Take privacy.k=80, for its highest risk of 1.25% is the least: the errors of a tree in these"),
        (1_333_000, 0.165, "a tree tells the classes as well without the masked columns: privacy.k=5, privacy.k=20."),
        (2_000, 0.12, "a tree tells the classes as well without the masked columns: privacy.k=5, privacy.k=20."),
    ],
)
def test_errors_that_differ_by_chance_are_not_told_apart(rows: int, raw: float, said: str) -> None:
    beside = {"baseline_error": raw, "removed_error": 0.173, "commonest_error": 0.224, "tested_rows": rows}
    results = [
        Result(
            settings={"privacy.k": str(k)},
            scores={**beside, "masked_error": error, "information_kept": detail, "prosecutor.highest": risk},
        )
        for k, (error, detail, risk) in SWEPT.items()
    ]
    told = advice(frontier(results))
    assert said in told
    apart = "(0.155 to 0.175) cannot be told apart, on 1,333 rows held out they differ by up to 0.029 by chance"
    assert (apart in told) == ("Not advised" not in told) == (rows == 1_333)
    assert ("of the detail it keeps 0.462, privacy.k=5 0.824 for 16.0 times the risk" in told) == (rows == 1_333)


def test_a_masker_that_moves_numbers_is_compared_by_the_structure_alone() -> None:
    moved = Result(settings={"mask": "mdav"}, scores={"f_measure.start": 0.8, "prosecutor.highest": 0.1})
    shown = {"f_measure.start": 0.9, "information_kept": 0.6, "prosecutor.highest": 0.1}
    found = frontier([moved, Result(settings={"mask": "partition"}, scores=shown)])
    assert not found.detailed
    assert advice(found).startswith("Take mask=partition: it keeps 0.900")


def test_maskers_and_numbers_are_values_as_everywhere_in_python() -> None:
    over: dict[str, list[object]] = {
        "mask": [sf.Partition(), sf.Partition(extent="cuts"), "mondrian"],
        "privacy.k": [10],
    }
    found = points(RECIPE, over)
    assert [point.refused for point in found] == [None] * 3
    masks = [sf.Recipe.from_yaml(point.recipe).mask for point in found]
    assert masks == [sf.Partition(), sf.Partition(extent="cuts"), sf.Mondrian()]
    assert [dict(point.settings)["privacy.k"] for point in found] == ["10"] * 3


def test_a_sweep_in_which_nothing_can_be_published_is_refused_with_the_reason(tmp_path: Path) -> None:
    table = pa.table({"age": [1, 2], "town": ["a", "b"], "ill": ["x", "y"]})
    with pytest.raises(sf.RecipeError, match="at least 2"):
        sf.sweep(table, RECIPE, {"privacy.k": [0, 1]}, tmp_path / "sweep")
    assert "at least 2" in (tmp_path / "sweep" / "sweep.csv").read_text(encoding="utf-8")


def test_a_sweep_shows_itself(tmp_path: Path) -> None:
    found = Sweep([result(5, 0.95, 0.2), refused(9)], frontier([result(5, 0.95, 0.2)]), tmp_path)
    for text in (repr(found), found._repr_html_()):
        assert "Take privacy.k=5" in text
        assert "rows" in text
    assert "the knee" in repr(found.frontier)


def test_a_masker_without_a_guarantee_is_never_advised() -> None:
    free = [replace(result(5, kept, 1.0, enhance=str(at)), guaranteed=False) for at, kept in enumerate((0.99, 0.9))]
    found = frontier(free)
    assert found.knee is None
    assert len(found.outcomes) == 2
    assert "No setting is advised" in advice(found)
    both = frontier([*free, result(10, 0.5, 0.1)])
    assert advice(both).startswith("Take privacy.k=10")
    assert "No setting is advised" in html(free, found)


def test_another_score_may_decide() -> None:
    results = [result(5, 0.9, 0.2), result(10, 0.8, 0.1)]
    assert frontier(results, kept="marketer").kept_by == "marketer"
    assert frontier(results, kept="unheard_of").kept_by == "f_measure.start"


def test_the_table_has_a_line_for_every_setting() -> None:
    results = [result(5, 0.95, 0.2), result(10, 0.9, 0.1), refused(100)]
    lines = list(csv.DictReader(io.StringIO(csv_text(results, frontier(results)))))
    assert [line["privacy.k"] for line in lines] == ["5", "10", "100"]
    assert lines[0]["f_measure.start"] == "0.95"
    assert lines[2]["refused"] == "too few <rows>"
    assert "knee" in {line["mark"] for line in lines}


def test_the_page_stands_alone() -> None:
    results = [result(5, 0.95, 0.2), result(10, 0.9, 0.1), refused(100)]
    drawn = html(results, frontier(results))
    assert "<svg" in drawn
    assert "<rows>" not in drawn
    assert "http" not in drawn.replace("http-equiv", "")
    assert "Take privacy.k=" in drawn
    assert drawn.count(">k=") == len(frontier(results).best)


def test_a_budget_is_not_swept_on_private_data() -> None:
    iris = sf.datasets.load("iris")
    private = sf.Recipe(
        schema=iris.schema, structure=sf.Clusters("kmeans", k=3), mask=sf.PrivateTree(), budget=sf.Budget(1)
    )
    found = points(private, {"budget.epsilon": ["0.5", "1"]})
    assert [point.refused for point in found] == [None, None]
    with pytest.raises(sf.RecipeError, match="every point would spend it"):
        refuse_budget(private, found, public=False)
    refuse_budget(private, found, public=True)


def test_no_budget_no_refusal() -> None:
    refuse_budget(RECIPE, [Point((("privacy.k", "0"),), "", "refused")], public=False)


def test_a_result_comes_back_from_its_file_as_it_was() -> None:
    for one in (result(5, 0.95, 0.2), refused(100)):
        assert Result.from_json(json.loads(json.dumps(one.to_json()))) == one
    others: list[object] = [[], {"settings": {}}, {**refused(1).to_json(), "more": 1}]
    for other in others:
        assert Result.from_json(other) is None
