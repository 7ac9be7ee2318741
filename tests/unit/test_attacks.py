"""Attacks find what they should find, and fail where they must."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from sfumato.data.encoding import encode
from sfumato.data.masked import Masked
from sfumato.data.schema import Category, ItemSet, Number, Schema
from sfumato.data.table import Table
from sfumato.engines import ReferenceEngine
from sfumato.evaluation.attacks.inference import attack_groups, groups_of, secrets
from sfumato.evaluation.attacks.inversion import MODELS, Both, Curve, curve, fit
from sfumato.evaluation.attacks.linkage import linked, locate
from sfumato.evaluation.attacks.results import average, hits, percent
from sfumato.evaluation.attacks.settings import Effort
from sfumato.evaluation.attacks.suite import attack_recoding, attack_transformation, model_of, scenes_of
from sfumato.maskers.geometric.mask import Transformation
from sfumato.maskers.geometric.masker import AddNoise, Hybrid, Rotate, Scale, Translate
from sfumato.maskers.masker import Labels, Masker, Task

NAMES = ("age", "salary", "height")
SCHEMA = Schema({name: Number(role="quasi") for name in NAMES})
QUICK = Effort(known=8, trials=8)


def people(rows: int = 1_500) -> Table:
    rng = np.random.default_rng(3)
    skewed = rng.gamma(2.0, 1.0, (rows, 3)) + rng.integers(0, 2, (rows, 3)) * (4.0, 6.0, 3.0)
    return encode(pa.table({name: skewed[:, at] for at, name in enumerate(NAMES)}), SCHEMA)


def mask_of(settings: Masker, table: Table) -> Transformation:
    task = Task(table, Labels(np.zeros(table.rows, dtype=np.uint8), 1), (), ReferenceEngine())
    mask = settings.mask(task).mask
    assert isinstance(mask, Transformation)
    return mask


def needed(settings: Masker, method: Any = "robust", *, which: int = 0, trials: int = 30) -> int | None:
    table = people()
    mask = mask_of(settings, table)
    scenes = scenes_of(Both.of(table, mask.apply(table), mask.names), mask, table)
    return curve(scenes[which], method, most=9, trials=trials).needed


@pytest.mark.parametrize(
    ("settings", "records"),
    [
        (Translate(seed=1), 1),
        (Scale(seed=1), 1),
        (Rotate(seed=1), 2),  # d - 1 records determine a rotation in d dimensions
        (Hybrid(operations={"age": ("add", 2), "salary": ("multiply", 0.9), "height": ("multiply", 1.2)}), 2),
    ],
    ids=["translate", "scale", "rotate", "hybrid"],
)
def test_known_records_that_undo_a_mask_of_known_kind(settings: Masker, records: int) -> None:
    assert needed(settings) == records
    assert needed(settings, "least squares") == records


@pytest.mark.parametrize("settings", [Translate(seed=1), Rotate(seed=1)], ids=["translate", "rotate"])
def test_one_record_more_than_attributes_undoes_any_linear_map(settings: Masker) -> None:
    assert needed(settings, which=1) == len(NAMES) + 1


def test_consensus_beats_enhancement_and_least_squares_does_not() -> None:
    settings = Rotate(seed=1, enhance=0.1)
    robust, plain = needed(settings), needed(settings, "least squares")
    assert robust is not None
    assert robust <= 5
    assert plain is None


def test_noise_on_every_value_is_not_undone() -> None:
    assert needed(AddNoise(seed=1)) is None


def test_rounding_is_allowed_for() -> None:
    table = people()
    mask = mask_of(Translate(by=dict.fromkeys(NAMES, 2.5), round=dict.fromkeys(NAMES, "nearest")), table)
    scene = scenes_of(Both.of(table, mask.apply(table), mask.names), mask, table)[0]
    assert (scene.blur > 0.3).all()
    assert curve(scene, "robust", most=9, trials=10).needed is not None


@pytest.mark.parametrize("name", list(MODELS))
def test_models_fit_what_they_stand_for(name: str) -> None:
    rng = np.random.default_rng(5)
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    turn[:, 0] *= np.sign(np.linalg.det(turn))
    maps: dict[str, Any] = {
        "translation": lambda x: np.add(x, (1.0, -2.0, 3.0)),
        "scaling": lambda x: x * (0.5, 2.0, -1.5),
        "rotation": lambda x: x @ turn,
        "moved and scaled": lambda x: x * (0.5, 2.0, -1.5) + (1.0, -2.0, 3.0),
        "affine": lambda x: x @ rng.normal(size=(3, 3)) + 4.0,
    }
    raw = rng.normal(size=(12, 3))
    masked = maps[name](raw)
    least = MODELS[name].least(3)
    for method, rows in (("least squares", least), ("robust", 12)):
        spoilt = masked.copy()
        if method == "robust":
            spoilt[:3] += 7.0  # three liars among twelve
        found = fit(MODELS[name], spoilt[-rows:], raw[-rows:], method="robust" if rows == 12 else "least squares")
        assert found.guess(masked) == pytest.approx(raw, abs=1e-6)


def test_the_number_needed_stays_enough() -> None:
    assert Curve("robust", (0.96, 0.5, 0.95, 1.0), (0.9, 0.94, 0.95, 1.0), 20).needed == 3
    assert Curve("robust", (0.96, 0.5), (0.9, 0.94), 20).needed is None
    assert Curve("robust", (0.0, 0.0), (0.5, 0.96), 20).mostly == 2


def test_a_public_sample_undoes_translation_and_rotation() -> None:
    table = people(6_000)  # quantiles of fewer records are too far off by chance alone
    moved = attack_transformation(table, mask_of(Translate(seed=1), table), effort=QUICK)
    assert moved["marginal matching"].success.value > 0.9
    turned = attack_transformation(table, mask_of(Rotate(seed=1), table), effort=QUICK)
    assert turned["ICA"].success.value > 0.8
    assert turned["marginal matching"].success.value < 0.5
    assert moved["record linkage"].success.value > 0.9  # standardising undoes a translation


def test_a_report_says_who_knows_what_and_ends_in_sentences() -> None:
    table = people()
    report = attack_transformation(table, mask_of(Translate(seed=1), table), effort=QUICK)
    assert report["known records, robust, translation"].sentence == (
        "Anyone who knows one of these people can recover age, salary and height of everybody."
    )
    for result in report.results:
        assert result.knowledge
        assert result.sentence.endswith(".")
        assert 0 <= result.success.low <= result.success.value <= result.success.high <= 1
    form = report.to_json()
    assert form["mask"] == "translate"
    assert {part["attack"] for part in form["results"]} == {result.attack for result in report.results}


def test_too_few_records_are_not_attacked() -> None:
    table = people(5)
    assert attack_transformation(table, mask_of(Translate(), table)).results == ()


def test_the_attacker_is_told_the_kind_of_mask() -> None:
    table = people(50)
    assert model_of(mask_of(Scale(), table)) == "scaling"
    assert (
        model_of(mask_of(Hybrid(operations={"age": ("rotate", "salary", 9), "height": ("add", 1)}), table)) == "affine"
    )


def test_three_people_are_located_by_their_distances() -> None:
    table = people()
    for settings, share in ((Rotate(seed=1), 1.0), (AddNoise(seed=1), 0.0)):
        mask = mask_of(settings, table)
        scene = scenes_of(Both.of(table, mask.apply(table), mask.names), mask, table)[0]
        assert locate(scene, trials=8).success.value == share


def test_linkage_counts_ties() -> None:
    raw = np.array([[0.0], [0.1], [5.0], [5.1]])
    assert linked(raw, np.array([[0.05], [0.05], [5.05], [5.05]])).tolist() == [0.5] * 4
    assert linked(raw, raw).tolist() == [1.0] * 4
    assert linked(raw, raw[::-1]).tolist() == [0.0] * 4


def recoded() -> tuple[Table, Masked]:
    schema = Schema(sex=Category(role="quasi"), illness=Category(role="sensitive"))
    sex = ["F", "F", "F", "M", "M", "M", "X", "X", "X"]
    illness = ["flu", "flu", "flu", "flu", "hiv", "hiv", "flu", "hiv", "cold"]
    return encode(pa.table({"sex": sex, "illness": illness}), schema), Masked.of({"sex": pa.array(sex)})


def test_homogeneity_and_background_knowledge() -> None:
    table, masked = recoded()
    found = {result.attack: result for result in attack_groups(table, masked)}
    assert found["homogeneity of illness"].success.value == pytest.approx(3 / 9)
    assert found["background knowledge of illness, 1 excluded"].success.value == pytest.approx(6 / 9)
    assert "background knowledge of illness, 2 excluded" not in found  # that would leave one value anyway
    assert found["homogeneity of illness"].details["guess"] == pytest.approx((3 + 2 + 1) / 9)


def test_a_secret_set_is_one_value() -> None:
    _, masked = recoded()
    schema = Schema(sex=Category(role="quasi"), drugs=ItemSet(role="sensitive"))
    sets = [["a"], ["a"], ["a"], ["a", "b"], ["b"], ["b"], [], None, ["a"]]
    table = encode(pa.table({"sex": masked["sex"].to_pylist(), "drugs": sets}), schema)
    report = attack_recoding(table, masked, kind="top_down")
    assert report["homogeneity of drugs"].success.value == pytest.approx(3 / 9)
    assert report["background knowledge of drugs, 1 excluded"].success.value == pytest.approx(6 / 9)


def test_groups_are_those_of_equal_masked_values() -> None:
    _, masked = recoded()
    assert np.bincount(groups_of(masked)).tolist() == [3, 3, 3]
    assert secrets(np.array([0, 1]), np.array([0, 0])).values.tolist() == [1, 1]


def test_recodings_are_linked_through_their_groups() -> None:
    table, masked = recoded()
    report = attack_recoding(table, masked, kind="top_down")
    assert report["record linkage"].success.value == pytest.approx(1 / 3)
    assert "known records, public sample" in report.left_out


def test_shares_and_how_they_are_told() -> None:
    assert hits(np.ones(40, dtype=bool)).high == 1.0
    assert average(np.array([0.0, 1.0, 0.0, 1.0])).low >= 0.0
    assert (percent(0), percent(0.998), percent(0.05), percent(1)) == ("0 %", "over 99 %", "5.0 %", "100 %")
