"""The search step by step, and how long everything took. Holder only: group sizes below k are in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sfumato.maskers.topdown.explanation import few, overview
from sfumato.release.report.markup import Html, bar, folded, paragraph, section, table
from sfumato.release.report.material import Held
from sfumato.release.report.plots import FAINT, colour, label, logarithmic, picture

MOST = 600
Steps = Sequence[Mapping[str, Any]]


def search(held: Held) -> Html | None:
    """The refinements as a picture in steps: which attribute each one refined, and what it left of anonymity."""
    history = held.history
    if "rounds" not in history or not history["rounds"]:
        return None
    rounds, needs = history["rounds"], history["requirements"]
    names = list(dict.fromkeys(name for need in needs for name in need["on"]))
    says = (
        "Above, the smallest group of each quasi-identifier after each step, dotted its k; below, which attribute "
        "the step refined."
    )
    drawn = picture(
        lambda figure: _draw(figure, rounds, needs, names),
        size=(8.6, 2.6 + 0.22 * len(names)),
        says=says,
        name="search",
    )
    rows = [_row(at, one) for at, one in enumerate(rounds, start=1)]
    headings = ["step", "attribute", "what was shown", "became", "bits gained", "smallest groups left"]
    listed = folded(f"All {len(rows)} steps", headings, rows[:MOST])
    return section("The search, step by step", paragraph(overview(history)), drawn, listed, anchor="search")


def _row(at: int, one: Mapping[str, Any]) -> tuple[Any, ...]:
    left = ", ".join(map(str, one["anonymity"]))
    return at, one["attribute"], one["value"], few(one["children"]), float(one["gain"]), left


def _draw(figure: Any, rounds: Steps, needs: Steps, names: Sequence[str]) -> None:
    steps = range(1, len(rounds) + 1)
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=[3, max(1.2, 0.28 * len(names))])
    for at, need in enumerate(needs):
        if need["on"] in [other["on"] for other in needs[:at]]:
            continue
        left = [one["anonymity"][at] for one in rounds]
        above.step(
            steps,
            left,
            where="post",
            color=colour(at),
            linewidth=1.4,
            label=label(few(list(map(label, need["on"])), 3)),
        )
        for k in [other["k"] for other in needs if other["on"] == need["on"] and "k" in other]:
            above.axhline(k, color=colour(at), linewidth=0.7, linestyle=":")
    logarithmic(above, "y")
    above.set_ylabel("smallest group")
    figure.legend(fontsize=8, loc="outside upper left", ncols=min(3, len(needs)))
    below.scatter(steps, [names.index(one["attribute"]) for one in rounds], s=14, color=colour(0), linewidths=0)
    below.set_yticks(range(len(names)), list(map(label, names)))
    below.set_ylim(len(names) - 0.5, -0.5)
    below.grid(axis="y", color=FAINT, linewidth=0.3)
    below.set_xlabel("step")


def timings(held: Held) -> Html | None:
    """Seconds of each step."""
    if not held.timings:
        return None
    longest = max(held.timings.values()) or 1.0
    rows = [(name, f"{seconds:.2f} s", bar(seconds / longest)) for name, seconds in held.timings.items()]
    return section("How long it took", table(["step", "time", ""], rows), anchor="timings")
