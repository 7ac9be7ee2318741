"""What a recipe says beside what is asked: whose records these are, what its author understands, and the budget."""

from __future__ import annotations

from typing import Any

from sfumato.errors import RecipeError, did_you_mean

UNDERSTOOD = ("no_guarantee", "several_releases")
"""What a recipe can say under `i_understand`."""
LONGEST_NAME = 80


def texts(given: object) -> tuple[str, ...]:
    """What `i_understand` says, one or several."""
    if isinstance(given, str):
        return (given,)
    if not isinstance(given, tuple) or not all(isinstance(text, str) for text in given):
        raise RecipeError(
            "i_understand",
            "it is a text or a list of texts",
            given=type(given).__name__,
            remedy="write i_understand: several_releases",
        )
    return given


def check_people(people: object) -> None:
    """The people's name is one that can be printed."""
    if people is None:
        return
    if not isinstance(people, str) or not people.strip() or not people.isprintable() or len(people) > LONGEST_NAME:
        raise RecipeError(
            "people",
            f"it is a name of at most {LONGEST_NAME} printable characters",
            given="an empty or other text" if isinstance(people, str) else type(people).__name__,
            remedy="write for example people: patients-2026",
        )


def check_understood(recipe: Any) -> None:
    """What is said fits the masker and the people."""
    claims = recipe.mask.guarantee.claims
    unknown = sorted(text for text in recipe.understood if text not in UNDERSTOOD)
    if unknown:
        raise RecipeError(
            "i_understand",
            "it says " + " or ".join(UNDERSTOOD),
            given=repr(unknown[0]),
            remedy=did_you_mean(unknown[0], UNDERSTOOD),
        )
    if not claims and "no_guarantee" not in recipe.understood:
        raise RecipeError(
            type(recipe.mask).__name__,
            "nothing can be claimed of this masker: whoever knows a few records undoes it",
            given="a recipe that does not say so",
            remedy="say i_understand: no_guarantee, or use a masker with a guarantee (top_down)",
        )
    if claims and "no_guarantee" in recipe.understood:
        raise RecipeError(
            "i_understand",
            "no_guarantee goes with maskers without a guarantee",
            given=type(recipe.mask).__name__,
            remedy="leave it out",
        )
    if recipe.people is None and "several_releases" in recipe.understood:
        raise RecipeError(
            "i_understand",
            "several_releases goes with people that have a name",
            given="none",
            remedy="add people: NAME, or leave it out",
        )


def check_budget(recipe: Any) -> None:
    """A budget goes with maskers that spend one, and with no others; so do declared bins."""
    spends = recipe.mask.guarantee.spends
    if spends and recipe.budget is None:
        raise RecipeError(
            "budget", "differential privacy spends a budget", given="none", remedy="add budget: {epsilon: 1}"
        )
    if recipe.budget is not None and not spends:
        raise RecipeError(
            "budget",
            "only maskers that generate rows from noisy counts spend one",
            given=type(recipe.mask).__name__,
            remedy="use mask: private_tree",
        )
    binned = [name for name, attribute in recipe.schema.items() if getattr(attribute, "bins", None) is not None]
    if binned and not spends:
        raise RecipeError(
            ", ".join(binned),
            "bins are what noisy counts are made in: they go with a budget",
            given="bins without a budget",
            remedy="leave bins out, or write budget: {epsilon: 1} and mask: private_tree",
        )
    if spends and recipe.keep_order:
        raise RecipeError(
            "keep_order", "rows that are generated have no input order", given="a recipe with it", remedy="leave it out"
        )
