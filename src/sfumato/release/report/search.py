"""The search step by step, and how long everything took. Holder only: group sizes below k are in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sfumato.display import few
from sfumato.release.report.markup import Cell, Html, bar, folded, join, made, paragraph, section, table, tag
from sfumato.release.report.material import Held
from sfumato.release.report.plots import BLUE, Axis, Panel, colour, label, levels, picture, steps

MOST = 600
Steps = Sequence[Mapping[str, Any]]


def search(held: Held) -> Html | None:
    """The refinements as a picture in steps: which attribute each one refined, and what it left of anonymity."""
    history = held.history
    if "rounds" not in history or not history["rounds"]:
        return None
    from sfumato.maskers.topdown.explanation import overview

    rounds, needs = history["rounds"], history["requirements"]
    drawn = join([_smallest(rounds, needs), _refined(rounds, needs)])
    rows = [_row(at, one) for at, one in enumerate(rounds, start=1)]
    headings = ["step", "attribute", "what was shown", "became", "bits gained", "smallest groups left"]
    listed = folded(f"All {len(rows)} steps", headings, rows[:MOST], kind="cards")
    return section("The search, step by step", paragraph(overview(history)), drawn, listed, anchor="search")


def _row(at: int, one: Mapping[str, Any]) -> tuple[Any, ...]:
    left = ", ".join(map(str, one["anonymity"]))
    return at, one["attribute"], one["value"], few(one["children"]), float(one["gain"]), left


def _smallest(rounds: Steps, needs: Steps) -> Html:
    """The smallest group of each quasi-identifier after each step."""
    asked = {tuple(need["on"]): at for at, need in reversed(list(enumerate(needs)))}
    order = sorted(asked.items(), key=lambda one: one[1])
    left = {on: [one["anonymity"][at] for one in rounds] for on, at in order}
    wanted = {on: [need["k"] for need in needs if tuple(need["on"]) == on and "k" in need] for on in left}
    at = range(1, len(rounds) + 1)
    marks = [
        mark
        for number, on in enumerate(left)
        for mark in (steps(at, left[on], colour(number)), *([levels(wanted[on], colour(number))] if wanted[on] else []))
    ]
    every = [size for some in (*left.values(), *wanted.values()) for size in some]
    x = Axis(0.5, len(rounds) + 0.5, "step", whole=True)
    y = Axis(max(min(every), 1) / 1.2, 1.2 * max(*every, 2), "smallest group", log=True, whole=True)
    legend = [(label(few(list(map(label, on)), 3)), colour(number)) for number, on in enumerate(left)]
    says = "The smallest group of each quasi-identifier after each step; dotted, its k."
    return picture([Panel(x, y, marks)], says=says, legend=legend)


def _refined(rounds: Steps, needs: Steps) -> Html:
    """Which attribute each step refined: a line for each, from the first step to the last."""
    names = dict.fromkeys(name for need in needs for name in need["on"])
    when: dict[str, list[int]] = {name: [] for name in names}
    for at, one in enumerate(rounds):
        when[one["attribute"]].append(at)
    rows: list[list[Cell]] = [[name, len(taken), _strip(taken, len(rounds))] for name, taken in when.items() if taken]
    told = paragraph("Which attribute each step refined, from the first step on the left to the last on the right:")
    never = ", ".join(name for name, taken in when.items() if not taken)
    rest = [paragraph(f"Never refined: {never}.", "silent")] if never else []
    return join([told, table(["attribute", "steps", ""], rows, kind="strips"), *rest])


def _strip(taken: Sequence[int], of: int) -> Cell:
    marks = "".join(f"M{at + 0.5:g} 0v10" for at in taken)
    inside = tag("path", d=marks, class_="axis", style=f"--c:{BLUE}")
    return made(
        tag("svg", inside, class_="strip", viewBox=f"0 0 {of} 10", preserveAspectRatio="none", aria_hidden="true")
    )


def timings(held: Held) -> Html | None:
    """Seconds of each step."""
    if not held.timings:
        return None
    longest = max(held.timings.values()) or 1.0
    rows = [(name, f"{seconds:.2f} s", bar(seconds / longest)) for name, seconds in held.timings.items()]
    return section("How long it took", table(["step", "time", ""], rows), anchor="timings")
