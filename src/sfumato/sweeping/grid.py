"""The grid: every combination of the settings that are swept, each as a recipe of its own."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from itertools import product

from sfumato.errors import RecipeError, SfumatoError
from sfumato.maskers.registry import name_of
from sfumato.recipe import Recipe
from sfumato.recipe.paths import EVERYWHERE

EVERY_K = "privacy.k"
Over = Mapping[str, Sequence[str]]
"""Values by the path of their setting, as text: {"privacy.k": ["5", "10"]}."""


@dataclass(frozen=True)
class Point:
    """One combination: the settings that were swept, the recipe as YAML, or why there is none."""

    settings: tuple[tuple[str, str], ...]
    recipe: str
    refused: str | None = None

    @property
    def name(self) -> str:
        """The settings in one line."""
        return ", ".join(f"{path}={value}" for path, value in self.settings)

    def key(self, table: str) -> str:
        """What it is known by when a sweep goes on: its recipe, the table's fingerprint, and the version."""
        whole = "\n".join([version("sfumato"), table, self.name, self.recipe])
        return hashlib.sha256(whole.encode()).hexdigest()[:20]


def parse_over(texts: Iterable[str]) -> dict[str, list[str]]:
    """Settings as they are typed.

    >>> parse_over(["privacy.k=5,10", "mask.top_down.score=tradeoff"])
    {'privacy.k': ['5', '10'], 'mask.top_down.score': ['tradeoff']}
    """
    found: dict[str, list[str]] = {}
    for text in texts:
        path, _, values = text.partition("=")
        given = [value.strip() for value in values.split(",") if value.strip()]
        if not path or not given or path in found:
            raise RecipeError("--over", "it names a setting once, with its values", given=repr(text),
                              remedy="write --over privacy.k=5,10,20,50")  # fmt: skip
        found[path] = given
    return found


def points(recipe: Recipe, over: Over) -> list[Point]:
    """Every combination once, in the order of the values. A setting of another masker than the point's is left out."""
    if not over:
        raise RecipeError("sweep", "a sweep goes over at least one setting", given="none",
                          remedy="add for example --over privacy.k=5,10,20,50")  # fmt: skip
    text = recipe.to_yaml()
    found: dict[tuple[tuple[str, str], ...], Point] = {}
    for values in product(*over.values()):
        settings = _fitting(recipe, dict(zip(over, values, strict=True)))
        if settings not in found:
            found[settings] = _point(recipe, text, settings)
    return list(found.values())


def _fitting(recipe: Recipe, settings: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    mask = settings.get("mask", name_of(recipe.mask))
    return tuple((path, value) for path, value in settings.items()
                 if not path.startswith("mask.") or path.split(".")[1] == mask)  # fmt: skip


def _point(recipe: Recipe, text: str, settings: tuple[tuple[str, str], ...]) -> Point:
    changes = [change for path, value in settings for change in _changes(recipe, path, value)]
    try:
        changed = Recipe.from_yaml(text, changes=changes, allow=EVERYWHERE)
    except SfumatoError as error:
        return Point(settings, "", str(error))
    return Point(settings, changed.to_yaml())


def _changes(recipe: Recipe, path: str, value: str) -> list[str]:
    """The changes of a recipe's YAML that one setting stands for."""
    if path == EVERY_K:
        return [f"privacy.{at}.k={value}" for at in _with_k(recipe)]
    if path == "mask":
        return [] if value == name_of(recipe.mask) else [f"mask={{{value}: {{}}}}"]
    return [f"{path}={value}"]


def _with_k(recipe: Recipe) -> list[int]:
    """The places of the requirements that have a k."""
    found = [at for at, need in enumerate(recipe.privacy) if "k" in need.claim()]
    if not found:
        raise RecipeError(EVERY_K, "it sets k of all requirements that have one", given="a recipe where none has",
                          remedy="name the setting by its path: --over privacy.0.l=2,3,4")  # fmt: skip
    return found


def refuse_budget(recipe: Recipe, found: Iterable[Point], *, public: bool) -> None:
    """Differential privacy: every point would spend budget, and choosing by what was kept would look at the data."""
    swept = (Recipe.from_yaml(point.recipe, allow=EVERYWHERE) for point in found if not point.refused)
    private = recipe.budget is not None or any(one.budget is not None for one in swept)
    if private and not public:
        raise RecipeError(
            "sweep", "a budget of differential privacy is not swept on private data: every point would spend it, and "
            "to choose among them by what they keep would tell of the data beyond it", given="a recipe with a budget",
            remedy="sweep a public or generated table of the same kind with --public, then publish yours once",
        )  # fmt: skip
