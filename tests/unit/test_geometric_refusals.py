"""What geometric maskers refuse, with a message that says what to do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from sfumato.data.schema import Category, ItemSet, Number, Schema
from sfumato.errors import RecipeError, SchemaError
from sfumato.maskers.geometric.masker import AddNoise, Hybrid, Rotate, Scale, Translate
from sfumato.privacy.requirements import KAnonymity
from sfumato.recipe import Recipe
from sfumato.structure.structures import Clusters

NUMBERS = Schema(age=Number(role="quasi"), salary=Number(role="quasi"), city=Category())
NO_PAIRS: Any = ("age",)
KINDS: list[Any] = [Translate, Scale, Rotate, Hybrid, AddNoise]


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: Scale(by=0), "other than 0"),
        (lambda: Scale(by={"age": 0.0}), "other than 0"),
        (lambda: Scale(by=1), "changes nothing"),
        (lambda: Scale(by=float("nan")), "finite"),
        (lambda: Translate(by={"age": 0}), "changes nothing"),
        (lambda: Translate(by={"age": float("inf")}), "finite"),
        (lambda: Rotate(pairs=(("age", "salary", 360.0),)), "multiple of 360"),
        (lambda: Rotate(pairs=(("age", "salary", 0.0),)), "multiple of 360"),
        (lambda: Rotate(pairs=(("age", "salary", -720.0),)), "multiple of 360"),
        (lambda: Rotate(pairs=(("age", "age", 10.0),)), "two different attributes"),
        (lambda: Rotate(pairs=NO_PAIRS), "two attributes and an angle"),
        (lambda: Rotate(normalise=True, units={"salary": 1000}), "fixed once"),
        (lambda: Rotate(normalise=False, units={"salary": -1}), "positive"),
        (lambda: Hybrid(operations={"age": ("spin", 3)}), "add, distance"),
        (lambda: Hybrid(operations={"age": ("multiply", 0)}), "other than 0"),
        (lambda: Hybrid(operations={"age": ("rotate", "salary", 360)}), "multiple of 360"),
        (lambda: Hybrid(operations={"age": ("rotate",)}), "rotate, other, angle"),
        (lambda: AddNoise(noise={"age": {"normal": [0, 0]}}), "standard deviation"),
        (lambda: AddNoise(noise={"age": {"cauchy": [0, 1]}}), "normal"),
        (lambda: AddNoise(strength=0), "positive"),
        (lambda: Translate(round="up"), "nearest"),
    ],
)
def test_settings_that_make_no_sense(make: Callable[[], object], told: str) -> None:
    with pytest.raises(RecipeError, match=told):
        make()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("rho", [-0.01, 1.01, float("nan"), True, "5 %"])
def test_enhance_is_a_share(kind: Any, rho: Any) -> None:
    with pytest.raises(RecipeError, match="from 0 to 1"):
        kind(enhance=rho)


@pytest.mark.parametrize("kind", KINDS)
def test_no_requirement_can_be_claimed(kind: Any) -> None:
    with pytest.raises(RecipeError, match="no requirement can be claimed of a geometric transformation"):
        kind().check(NUMBERS, [KAnonymity(["age", "salary"], 5)])


@pytest.mark.parametrize("kind", KINDS)
def test_a_category_is_sent_to_a_masker_that_can(kind: Any) -> None:
    for label in (Category(role="quasi"), ItemSet(role="quasi")):
        schema = Schema(age=Number(role="quasi"), salary=Number(role="quasi"), city=label)
        with pytest.raises(RecipeError, match="top_down"):
            kind().check(schema, ())
    with pytest.raises(RecipeError, match="top_down"):
        kind(attributes=("age", "salary", "city")).check(NUMBERS, ())


@pytest.mark.parametrize("kind", KINDS)
def test_dates_identifiers_strangers_and_gaps(kind: Any) -> None:
    dated = Schema(age=Number(role="quasi"), born=Number(role="quasi", calendar="day"))
    with pytest.raises(RecipeError, match="date"):
        kind().check(dated, ())
    named = Schema(age=Number(role="quasi"), number=Number(role="identifier"))
    with pytest.raises(RecipeError, match="identifier"):
        kind(attributes=("age", "number")).check(named, ())
    with pytest.raises(SchemaError, match="age"):
        kind(attributes=("agee", "salary")).check(NUMBERS, ())
    with pytest.raises(RecipeError, match="goes out raw"):
        kind(attributes=("age",)).check(NUMBERS, ())
    with pytest.raises(RecipeError, match="at least one"):
        kind().check(Schema(age=Number()), ())


def test_a_single_attribute_cannot_be_rotated() -> None:
    with pytest.raises(RecipeError, match="needs two attributes"):
        Rotate().check(Schema(age=Number(role="quasi"), city=Category()), ())


def test_pairs_reach_every_attribute() -> None:
    schema = Schema({name: Number(role="quasi") for name in ("a", "b", "c")})
    with pytest.raises(RecipeError, match=r"c: every attribute is rotated.*in no pair"):
        Rotate(pairs=(("a", "b", 10.0),)).check(schema, ())
    with pytest.raises(RecipeError, match="cancel out"):
        Rotate(pairs=(("a", "b", 10.0), ("b", "c", 20.0), ("b", "c", 340.0), ("a", "b", 350.0))).check(schema, ())
    with pytest.raises(RecipeError, match="transformed"):
        Rotate(pairs=(("a", "b", 10.0), ("c", "d", 10.0))).check(schema, ())


def test_settings_of_attributes_that_are_not_transformed() -> None:
    for settings in (
        Translate(by={"city": 1}),
        Scale(by={"city": 2}),
        Translate(round={"city": "nearest"}),
        Translate(enhance_noise={"city": {"normal": [0, 1]}}),
        AddNoise(noise={"city": {"normal": [0, 1]}}),
        Hybrid(operations={"city": ("add", 1)}),
        Hybrid(operations={"age": ("rotate", "city", 10)}),
        Rotate(normalise=False, units={"city": 1000}),
    ):
        with pytest.raises(RecipeError, match="attribute that is transformed"):
            settings.check(NUMBERS, ())


def test_a_recipe_must_say_that_nothing_is_promised() -> None:
    with pytest.raises(RecipeError, match="no_guarantee"):
        Recipe(schema=NUMBERS, structure=Clusters("kmeans", k=2), mask=Rotate())
