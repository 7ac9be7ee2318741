"""Re-identification risk from group sizes."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import TableError
from sfumato.evaluation.risk import risks

SIZES = np.array([2, 5, 10, 100])


def figures(sizes: np.ndarray = SIZES, **settings: object) -> dict[str, float]:
    threshold = settings.get("threshold", 0.2)
    population = settings.get("population")
    assert isinstance(threshold, float)
    assert population is None or isinstance(population, np.ndarray)
    return {score.name: score.value for score in risks(sizes, threshold=threshold, population=population)}


def test_against_risks_record_by_record() -> None:
    each = np.repeat(1 / SIZES, SIZES)
    found = figures(threshold=0.15)
    assert found["prosecutor.highest"] == each.max()
    assert found["prosecutor.average"] == pytest.approx(each.mean())
    assert found["prosecutor.at_risk"] == pytest.approx((each > 0.15).mean())
    assert found["marketer"] == pytest.approx(each.mean())


def test_a_risk_at_the_threshold_is_not_above_it() -> None:
    assert figures(np.array([5, 5]), threshold=0.2)["prosecutor.at_risk"] == 0.0


def test_without_a_population_the_journalist_is_the_prosecutor_and_says_so() -> None:
    found = risks(SIZES)
    pairs = {score.name.split(".")[-1]: [] for score in found if "." in score.name}  # type: dict[str, list[float]]
    for score in found:
        if "." in score.name:
            pairs[score.name.split(".")[-1]].append(score.value)
    assert all(one == other for one, other in pairs.values())
    assert all("no population" in score.meaning for score in found if score.name.startswith("journalist"))


def test_a_population_lowers_the_journalists_risk() -> None:
    population = np.array([20, 50, 100, 1000])
    each = np.repeat(1 / population, SIZES)
    found = figures(population=population)
    assert found["journalist.highest"] == 0.05
    assert found["journalist.average"] == pytest.approx(each.mean())
    assert found["prosecutor.highest"] == 0.5


@pytest.mark.parametrize("sizes", [np.array([], dtype=np.int64), np.array([0, 3])])
def test_groups_have_records(sizes: np.ndarray) -> None:
    with pytest.raises(TableError):
        risks(sizes)


def test_a_population_holds_the_table() -> None:
    with pytest.raises(TableError):
        risks(SIZES, population=np.array([1, 5, 10, 100]))


def test_all_of_it_follows_from_the_release() -> None:
    assert all(score.publishable for score in risks(SIZES))


def test_what_is_asked_for_twice_is_not_called_unclaimed() -> None:
    table = pa.table({"sex": ["F", "M"] * 10, "age": [30, 30, 60, 60] * 5, "ill": ["no", "no", "yes", "no", "no"] * 4})
    schema = sf.Schema(
        {"sex": sf.Category(role="quasi"), "age": sf.Number(role="quasi"), "ill": sf.Category(role="sensitive")}
    )
    both, one = ("sex", "age"), ("sex",)

    def scores(*asked: sf.KAnonymity | sf.LDiversity) -> set[str]:
        made = sf.publish(table, sf.Recipe(schema=schema, privacy=asked), run=sf.Run(report=False, trial=True))
        return {name for name in made.scores["scores"] if name.endswith("union")}

    assert not scores(sf.KAnonymity(both, 2), sf.LDiversity(both, "ill", 2))
    assert scores(sf.KAnonymity(one, 2), sf.KAnonymity(("age",), 2))
