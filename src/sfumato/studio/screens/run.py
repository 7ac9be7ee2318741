"""Screen 6, run: a trial in a process of its own, step by step; under a budget, once its plan was approved."""

from __future__ import annotations

from sfumato.errors import RecipeError
from sfumato.studio.desk import Context, Desk, Fields, Screen
from sfumato.studio.jobs import Job
from sfumato.studio.screens.privacy import plan
from sfumato.studio.tasks import RELEASE
from sfumato.studio.trials import told_of

FORMATS = {
    "parquet": "Parquet (small, keeps types)",
    "csv": "CSV (every program reads it)",
}
"""How the table of a release is written."""


def context(desk: Desk) -> Context:
    """The last run, and whether another can begin."""
    trials = desk.work.trials
    last = Job(trials[-1]) if trials else None
    result = trial_result(desk, trials[-1].name) if trials else None
    spends = bool(desk.form().get("budget"))
    return {
        "job": last,
        "number": trials[-1].name if trials else None,
        "result": result,
        "told": told_of(trials[-1] / RELEASE, holds=bool(result["holds"])) if result else None,
        "plan": plan(desk) if spends else [],
        "spends": spends,
        "formats": FORMATS,
        "format": desk.work.facts.get("format") or next(iter(FORMATS)),
        "settles": last is not None and last.under_way and settles(desk),
        "changed": last is None or last.form.get("of") != desk.work.recipe_text(),
    }


def settles(desk: Desk) -> bool:
    """Whether the recipe's masker can be ended early."""
    return desk.problem() is None and desk.recipe().mask.settles


def trial_result(desk: Desk, number: str) -> dict[str, object] | None:
    """What a run made; None where it did not end well."""
    from sfumato.studio.workspace import read_json

    path = desk.work.trial(number)
    return None if path is None else read_json(path / "result.json")


def start(desk: Desk, fields: Fields) -> None:
    """Begin a run of the recipe as it stands."""
    recipe = desk.recipe()
    if recipe.mask.guarantee.spends and fields["approved"] != "yes":
        raise RecipeError(
            "budget",
            "a plan is approved before anything is spent",
            given="no approval",
            remedy="read the plan, tick the box, and run again",
        )
    trials = desk.work.trials
    if trials and Job(trials[-1]).under_way:
        raise RecipeError("run", "one run at a time", given="one that goes on", remedy="wait for it, or cancel it")
    folder = desk.work.next_trial()
    allow = [str(path) for path in desk.allow]
    desk.work.note(format=fields["format"] if fields["format"] in FORMATS else desk.work.facts.get("format"))
    form = {"allow": allow, "of": desk.work.recipe_text(), "format": desk.work.facts.get("format")}
    desk.jobs.start(folder, "trial", form)
    desk.work.note(chosen=folder.name)


def settle(desk: Desk, fields: Fields) -> None:
    """End the search of the last run, and go on with what it has found."""
    trials = desk.work.trials
    if not trials or not Job(trials[-1]).masking:
        raise RecipeError(
            "run", "masking can be ended early", given="a run that is not masking", remedy="let it go on, or cancel it"
        )
    desk.jobs.settle(trials[-1])


def cancel(desk: Desk, fields: Fields) -> None:
    """End the last run."""
    trials = desk.work.trials
    if trials:
        desk.jobs.cancel(trials[-1])


SCREEN = Screen(
    "run",
    "Run",
    "Mask the table, verify what was written, and measure what survived.",
    context,
    {"start": start, "cancel": cancel, "settle": settle},
)
