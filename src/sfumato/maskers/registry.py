"""Every masker by its name in a recipe. One line each."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from sfumato.errors import RecipeError, did_you_mean

MASKERS = {
    "partition": "sfumato.maskers.partition.fit:Partition",
    "top_down": "sfumato.maskers.topdown.masker:TopDown",
    "mondrian": "sfumato.maskers.mondrian.fit:Mondrian",
    "genetic": "sfumato.maskers.genetic.fit:Genetic",
    "microaggregate": "sfumato.maskers.centroids.fit:Microaggregate",
    "wf_c_means": "sfumato.maskers.centroids.fit:WFCMeans",
    "mdav": "sfumato.maskers.centroids.fit:MDAV",
    "linkage": "sfumato.maskers.centroids.fit:Linkage",
    "private_tree": "sfumato.maskers.histogram.fit:PrivateTree",
    "dp_heter": "sfumato.maskers.histogram.dpheter:DPHeter",
    "translate": "sfumato.maskers.geometric.masker:Translate",
    "scale": "sfumato.maskers.geometric.masker:Scale",
    "rotate": "sfumato.maskers.geometric.masker:Rotate",
    "hybrid": "sfumato.maskers.geometric.masker:Hybrid",
    "add_noise": "sfumato.maskers.geometric.masker:AddNoise",
}


def masker_named(name: str) -> type[Any]:
    """The settings class of a masker.

    >>> masker_named("top_down").__name__
    'TopDown'
    """
    if name not in MASKERS:
        raise RecipeError(
            "mask", "a masker is one of " + ", ".join(MASKERS), given=repr(name), remedy=did_you_mean(name, MASKERS)
        )
    module, _, settings = MASKERS[name].partition(":")
    found: type[Any] = getattr(import_module(module), settings)
    return found


def name_of(masker: object) -> str:
    """The name of a masker in a recipe."""
    kind = type(masker)
    place = f"{kind.__module__}:{kind.__qualname__}"
    for name, where in MASKERS.items():
        if where == place:
            return name
    raise RecipeError(
        "mask",
        "a mask is one of the registered maskers",
        given=kind.__name__,
        remedy="use one of: " + ", ".join(MASKERS),
    )
