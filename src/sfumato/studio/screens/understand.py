"""Screen 8, understand: before and after, why a value looks as it does, and what attacks reach."""

from __future__ import annotations

import json
from typing import Any

from sfumato.errors import RecipeError
from sfumato.maskers.topdown.explanation import overview, stories
from sfumato.studio.desk import Context, Desk, Fields, Screen
from sfumato.studio.screens.compare import chosen
from sfumato.studio.tasks import story
from sfumato.studio.trials import Trial, trials_of


def context(desk: Desk) -> Context:
    """The chosen trial, its stories, and what was found out besides."""
    trial = chosen(desk, trials_of(desk.work))
    if trial is None:
        return {"trial": None}
    told = _stories(desk, trial)
    wanted = desk.query.get("attribute", "")
    names = [column["column"] for column in trial.result["columns"]]
    attribute = wanted if wanted in names else names[0] if names else ""
    return {
        "trial": trial,
        "columns": trial.result["columns"],
        "attribute": attribute,
        "column": next((one for one in trial.result["columns"] if one["column"] == attribute), None),
        "overview": told["overview"],
        "story": next((one for one in told["stories"] if one["attribute"] == attribute), None),
        **_values(desk, told.get("values", []), attribute),
        "explain_job": desk.job("explain"),
        "explained": _mine(desk, "explain", trial),
        "attack_job": desk.job("attack"),
        "attacks": desk.work.found("attack") if _mine(desk, "attack", trial) else None,
        "needs": [need.sentence() for need in trial.recipe.privacy],
    }


def _mine(desk: Desk, kind: str, trial: Trial) -> bool:
    return desk.job(kind).form.get("trial") == str(trial.folder)


def _stories(desk: Desk, trial: Trial) -> dict[str, Any]:
    """With which k would show more, where that was tried; else as the search itself told."""
    found = desk.work.found("explain")
    if found is not None and _mine(desk, "explain", trial):
        return found
    history = json.loads((trial.holder / "history.json").read_text(encoding="utf-8"))
    if "rounds" not in history:
        return {"overview": None, "stories": [], "values": []}
    return {"overview": overview(history), "stories": [story(one) for one in stories(history)], "values": []}


def _values(desk: Desk, told: list[dict[str, Any]], attribute: str) -> Context:
    """The values of one attribute that can be asked about, and the one that is."""
    values = [one for one in told if one["attribute"] == attribute]
    wanted = desk.query.get("value")
    return {"values": values, "value": next((one for one in values if one["value"] == wanted), None)}


def _chosen(desk: Desk) -> Trial:
    found = chosen(desk, trials_of(desk.work))
    if found is None:
        raise RecipeError("trial", "there is one to look at", given="none", remedy="run one first")
    return found


def explain(desk: Desk, fields: Fields) -> None:
    """Search again: which k would show more."""
    desk.start("explain", trial=str(_chosen(desk).folder))


def attack(desk: Desk, fields: Fields) -> None:
    """Every attack that applies."""
    desk.start("attack", trial=str(_chosen(desk).folder))


SCREEN = Screen(
    "understand",
    "Understand",
    "What does the masked table still say, and why does it look like that?",
    context,
    {"explain": explain, "attack": attack},
)
