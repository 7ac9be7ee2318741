"""Geometric maskers: what they do with what they are given, and what they draw themselves."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from benchmarks.perturbation import distances_kept

from sfumato.data.encoding import encode
from sfumato.data.masked import Masked
from sfumato.data.schema import Number, Schema
from sfumato.data.table import Table
from sfumato.engines import ReferenceEngine
from sfumato.errors import TableError
from sfumato.evaluation.moved import moved_scores, security
from sfumato.maskers.geometric.mask import Transformation
from sfumato.maskers.geometric.masker import AddNoise, Hybrid, Rotate, Scale, Translate
from sfumato.maskers.geometric.operations import Add, Multiply, Turn
from sfumato.maskers.masker import NO_GUARANTEE, Labels, Masker, Outcome, Task
from sfumato.maskers.registry import masker_named, name_of
from sfumato.recipe import Recipe
from sfumato.structure.structures import Clusters

NAMES = ("age", "salary", "height")
SCHEMA = Schema({name: Number(role="quasi") for name in NAMES})
ALL: list[Masker] = [Translate(), Scale(), Rotate(), Hybrid(), AddNoise()]


def people(rows: int = 2_000) -> Table:
    rng = np.random.default_rng(3)
    columns = {
        "age": pa.array(rng.integers(18, 90, rows)),
        "salary": pa.array(rng.lognormal(10.5, 0.4, rows)),
        "height": pa.array(rng.normal(170, 9, rows)),
    }
    return encode(pa.table(columns), SCHEMA)


def masked(settings: Masker, table: Table | None = None) -> Outcome:
    table = table or people()
    settings.check(table.schema, ())
    return settings.mask(Task(table, Labels(np.zeros(table.rows, dtype=np.uint8), 1), (), ReferenceEngine()))


def numbers(columns: Masked, name: str) -> Any:
    return columns[name].decode().to_numpy(zero_copy_only=False)


def key(outcome: Outcome) -> Transformation:
    return Transformation.from_json(outcome.holder["key.json"])


@pytest.mark.parametrize("settings", ALL, ids=lambda settings: type(settings).__name__)
def test_every_attribute_is_changed_and_nothing_is_claimed(settings: Masker) -> None:
    table = people()
    outcome = masked(settings, table)
    assert settings.guarantee is NO_GUARANTEE
    assert outcome.masked.came == "moved"
    assert dict(outcome.masked.treated) == dict.fromkeys(NAMES, "transformed")
    for name in NAMES:
        assert np.abs(numbers(outcome.masked, name) - table.column(name).decode().to_numpy()).mean() > 0.1


@pytest.mark.parametrize("settings", ALL, ids=lambda settings: type(settings).__name__)
def test_the_key_is_for_the_holder_and_the_release_gets_nothing(settings: Masker) -> None:
    outcome = masked(settings)
    assert set(outcome.holder) == {"key.json"}
    assert outcome.mask.files() == {}


@pytest.mark.parametrize("kind", [Translate, Scale, Rotate, Hybrid, AddNoise])
def test_two_runs_draw_two_keys_and_a_seed_repeats_one(kind: Any) -> None:
    assert masked(kind()).holder != masked(kind()).holder
    assert masked(kind(seed=5)).holder == masked(kind(seed=5)).holder
    assert masked(kind(seed=5)).holder != masked(kind(seed=6)).holder


@pytest.mark.parametrize("name", ["translate", "scale", "rotate", "hybrid", "add_noise"])
def test_recipes_know_them_by_name(name: str) -> None:
    settings = masker_named(name)()
    assert name_of(settings) == name
    assert masked(settings).holder["key.json"]["kind"] == name


def test_settings_survive_yaml() -> None:
    for settings in (
        Rotate(pairs=(("age", "salary", 13.7), ("salary", "height")), normalise=False, units={"salary": 1000}),
        Hybrid(operations={"age": ("add", 2), "salary": ("rotate", "height", 20.0)}, round="nearest"),
        Translate(by={"age": -3}, enhance=0.05, enhance_noise={"age": {"uniform": [-12, 18]}}, seed=1),
        Scale(by=0.93, attributes=NAMES, round={"age": "truncate"}),
        AddNoise(noise={"age": {"normal": [0, 10]}}, how="multiply"),
    ):
        recipe = Recipe(schema=SCHEMA, structure=Clusters("kmeans", k=2), mask=settings, i_understand="no_guarantee")
        assert Recipe.from_yaml(recipe.to_yaml()).mask == settings


def test_given_numbers_are_used() -> None:
    assert key(masked(Translate(by={"age": -3, "salary": 5.5, "height": 1}))).operations == (
        Add("age", -3.0),
        Add("salary", 5.5),
        Add("height", 1.0),
    )
    assert key(masked(Scale(by=0.5))).operations == tuple(Multiply(name, 0.5) for name in NAMES)
    pairs = (("age", "salary", 10.0), ("height", "age", 400.0))
    assert key(masked(Rotate(pairs=pairs))).operations == tuple(Turn(*pair) for pair in pairs)


def test_a_drawn_scale_is_common_to_all_attributes() -> None:
    assert len({step.by for step in key(masked(Scale())).operations if isinstance(step, Multiply)}) == 1


def test_drawn_rotations_reach_every_attribute_and_stay_off_the_axes() -> None:
    for seed in range(20):
        turns = key(masked(Rotate(seed=seed))).operations
        assert {name for turn in turns if isinstance(turn, Turn) for name in (turn.first, turn.second)} == set(NAMES)
        assert all(isinstance(turn, Turn) and 15 <= turn.degrees % 90 <= 75 for turn in turns)


def test_a_lone_drawn_rotation_becomes_another_operation() -> None:
    schema = Schema(age=Number(role="quasi"))
    table = encode(pa.table({"age": [20, 30, 40]}), schema)
    for seed in range(12):
        (step,) = key(masked(Hybrid(seed=seed), table)).operations
        assert isinstance(step, Add | Multiply)


def test_rotation_by_ninety_degrees_is_clockwise() -> None:
    table = encode(pa.table({"x": [0.0, 1.0], "y": [2.0, 0.0]}), Schema(x=Number(role="quasi"), y=Number(role="quasi")))
    columns = masked(Rotate(pairs=(("x", "y", 90.0),), normalise=False), table).masked
    assert numbers(columns, "x") == pytest.approx([2, 0])
    assert numbers(columns, "y") == pytest.approx([0, -1])


def test_the_declared_range_is_the_scale_of_a_rotation() -> None:
    schema = Schema(x=Number(role="quasi", range=(0, 10)), y=Number(role="quasi", range=(100, 300)))
    table = encode(pa.table({"x": [5.0, 10.0], "y": [200.0, 200.0]}), schema)
    columns = masked(Rotate(pairs=(("x", "y", 90.0),)), table).masked
    assert numbers(columns, "x") == pytest.approx([5, 5])  # turned about the middle of both ranges
    assert numbers(columns, "y") == pytest.approx([200, 100])


def test_spread_and_range_are_two_scales() -> None:
    pairs = (("age", "salary", 30.0), ("salary", "height", 30.0))
    one, two = (key(masked(Rotate(pairs=pairs, normalise=scale))).frames["age"] for scale in ("range", "spread"))
    ages = people().column("age").decode().to_numpy()
    assert (one.centre, one.unit) == ((ages.min() + ages.max()) / 2, ages.max() - ages.min())
    assert (two.centre, two.unit) == pytest.approx((ages.mean(), ages.std()))


def test_missing_values_stay_missing_or_stop_a_rotation() -> None:
    schema = Schema(age=Number(role="quasi"), salary=Number(role="quasi"))
    table = encode(pa.table({"age": [20, None, 40], "salary": [1.0, 2.0, 3.0]}), schema)
    outcome = masked(Translate(by={"age": 5, "salary": 1}), table)
    assert outcome.masked["age"].to_pylist() == [25.0, None, 45.0]
    with pytest.raises(TableError, match="drop"):
        masked(Rotate(), table)


def test_infinite_numbers_are_refused() -> None:
    schema = Schema(age=Number(role="quasi"))
    with pytest.raises(TableError, match="finite"):
        masked(Translate(), encode(pa.table({"age": [1.0, float("inf")]}), schema))


def test_rounding_rules() -> None:
    table = encode(
        pa.table({"age": [10, 11], "salary": [1.0, 2.6]}), Schema(age=Number(role="quasi"), salary=Number(role="quasi"))
    )
    by = {"age": 0.9, "salary": -1.0}
    assert masked(Scale(by=by), table).masked["age"].to_pylist() == pytest.approx([9.0, 9.9])
    whole = masked(Scale(by=by, round="nearest"), table).masked
    assert (whole["age"].to_pylist(), whole["salary"].to_pylist()) == ([9, 10], [-1.0, -2.6])
    cut = masked(Scale(by=by, round={"age": "truncate", "salary": "truncate"}), table).masked
    assert (cut["age"].to_pylist(), cut["salary"].to_pylist()) == ([9, 9], [-1, -2])
    assert pa.types.is_integer(cut["salary"].values.type)


def test_enhance_touches_its_share_of_rows_and_the_key_tells_which() -> None:
    table = people()
    settings = Translate(by={"age": 1, "salary": 1, "height": 1}, enhance=0.05)
    outcome = masked(settings, table)
    moved = np.abs(numbers(outcome.masked, "height") - table.column("height").decode().to_numpy() - 1) > 1e-9
    assert moved.sum() == 100
    assert np.array_equal(moved, key(outcome).touched(table.rows))


def test_sec_of_an_enhanced_translation_has_a_closed_form() -> None:
    rho, low, high = 0.3, -12.0, 18.0
    table = people(40_000)
    noise = {"height": {"uniform": [low, high]}}
    columns = masked(Translate(enhance=rho, enhance_noise=noise, seed=2), table).masked
    raw = table.column("height").decode().to_numpy()
    mean, second = (low + high) / 2, (high**3 - low**3) / (3 * (high - low))
    expected = (rho * second - rho**2 * mean**2) / raw.var()
    assert security(raw, numbers(columns, "height")) == pytest.approx(expected, rel=0.03)


def test_sec_says_nothing_of_risk() -> None:
    raw = np.random.default_rng(0).normal(size=1000)
    assert security(raw, raw + 7) == pytest.approx(0, abs=1e-12)
    assert security(raw, -raw) == pytest.approx(4)


@pytest.mark.parametrize(
    ("masker", "least", "most"), [(Translate(seed=1), 1, 1), (Scale(seed=1), 1, 1), (Rotate(seed=1), 2, 4)]
)
def test_beside_sec_stands_how_many_known_people_undo_it(masker: Masker, least: int, most: int) -> None:
    table = people(300)
    scores = {score.name: score for score in moved_scores(table, masked(masker, table))}
    assert least <= scores["known_records"].value <= most
    assert set(scores) == {"known_records", "security", *(f"security.{name}" for name in NAMES)}
    assert not any(score.publishable for score in scores.values())


def test_noise_on_everybody_is_not_undone_and_other_masks_have_no_sec() -> None:
    table = people(300)
    noisy = masked(AddNoise(seed=1), table)
    assert "known_records" not in {score.name for score in moved_scores(table, noisy)}
    shown = Outcome(noisy.mask, Masked.of({name: table.column(name).decode() for name in NAMES}))
    assert moved_scores(table, shown) == ()


def test_noise_follows_its_distribution() -> None:
    table = people(20_000)
    noise: dict[str, dict[str, list[float]]] = {
        "age": {"normal": [0, 10]},
        "salary": {"uniform": [-1, 3]},
        "height": {"normal": [2, 0.5]},
    }
    columns = masked(AddNoise(noise=noise, seed=1), table).masked
    for name, mean, variance in (("age", 0, 100), ("salary", 1, 16 / 12), ("height", 2, 0.25)):
        drawn = numbers(columns, name) - table.column(name).decode().to_numpy()
        assert drawn.mean() == pytest.approx(mean, abs=4 * (variance / 20_000) ** 0.5)
        assert drawn.var() == pytest.approx(variance, rel=0.05)


def test_multiplied_noise_is_around_one() -> None:
    table = people(20_000)
    columns = masked(AddNoise(how="multiply", strength=0.1, seed=1), table).masked
    factors = numbers(columns, "salary") / table.column("salary").decode().to_numpy()
    assert (factors.mean(), factors.std()) == pytest.approx((1.0, 0.1), rel=0.03)


def test_noise_does_not_keep_distances_and_a_rotation_does() -> None:
    table = people(300)
    raw = np.column_stack([table.column(name).decode().to_numpy() for name in NAMES]).astype(float)
    turned = masked(Rotate(normalise=False), table).masked
    noisy = masked(AddNoise(), table).masked
    kept, lost = (distances_kept(raw, np.column_stack([numbers(c, name) for name in NAMES])) for c in (turned, noisy))
    assert kept.largest < 1e-6
    assert kept.factor == pytest.approx(1)
    assert lost.mean > 0.05
