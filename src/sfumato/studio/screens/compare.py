"""Screen 7, compare: all trials side by side, and back to any of them."""

from __future__ import annotations

from sfumato.errors import RecipeError
from sfumato.studio.desk import Context, Desk, Fields, Screen
from sfumato.studio.jobs import Job
from sfumato.studio.trials import Trial, changes, grid, trials_of


def context(desk: Desk) -> Context:
    """Figures of all trials, and what changed between two of them."""
    trials = trials_of(desk.work)
    by_number = {trial.number: trial for trial in trials}
    first, second = (by_number.get(desk.query.get(name, "")) for name in ("first", "second"))
    if first is None and second is None and len(trials) > 1:
        first, second = trials[-2], trials[-1]
    return {
        "trials": trials,
        "grid": grid(trials),
        "chosen": chosen(desk, trials),
        "first": first,
        "second": second,
        "changes": changes(first, second) if first and second else [],
        "measured": any("scores" in trial.scores and trial.scores["scores"] for trial in trials),
    }


def chosen(desk: Desk, trials: list[Trial]) -> Trial | None:
    """The trial that was chosen, or the last one."""
    wanted = desk.work.facts.get("chosen")
    return next((trial for trial in trials if trial.number == wanted), trials[-1] if trials else None)


def _named(desk: Desk, fields: Fields) -> Trial:
    found = next((trial for trial in trials_of(desk.work) if trial.number == fields["trial"]), None)
    if found is None:
        raise RecipeError("trial", "it is one that ended well", given="another", remedy="choose one of the table")
    return found


def choose(desk: Desk, fields: Fields) -> None:
    """Look at this one, and release it."""
    desk.work.note(chosen=_named(desk, fields).number)


def back(desk: Desk, fields: Fields) -> None:
    """The recipe as it was for this trial."""
    trial = _named(desk, fields)
    desk.work.save_recipe(str(Job(trial.folder).form["of"]))
    desk.work.note(chosen=trial.number)


SCREEN = Screen(
    "compare",
    "Compare",
    "Which trial keeps enough, and risks little enough?",
    context,
    {"choose": choose, "back": back},
)
