"""Figure 7 of 002 and Figure 5 of 000: the trees of intervals that are grown for two of Adult's numbers.

    python -m benchmarks.papers.grown_trees

Each number by itself, so that no other attribute uses up the anonymity, and among others as the papers have it: guided
by income (002: Top7, k = 60) and by six clusters (000: Top9, h = 120). Splits stand in their order.
"""

from __future__ import annotations

from collections.abc import Sequence

import sfumato as sf
from benchmarks.papers.classification import ADULT_TOP, adult
from sfumato.maskers.masker import Labels, Task
from sfumato.privacy.requirements import KAnonymity
from sfumato.structure.structures import Clusters, find

NUMBERS = ("education_num", "hours_per_week")
CLUSTERED = (
    "education_num",
    "native_country",
    "marital_status",
    "occupation",
    "education",
    "relationship",
    "age",
    "race",
    "sex",
)
"""Top9 of 000, section 5.1.1.1."""
SHOWN = 6


def splits(task: Task, on: Sequence[str], k: int, name: str) -> str:
    """Where the intervals of a number begin, in the order in which they were split off."""
    outcome = sf.TopDown().mask(Task(task.table, task.labels, (KAnonymity(on=tuple(on), k=k),), task.engine))
    found = [
        one["children"][1].strip("[").split("-")[0] for one in outcome.history["rounds"] if one["attribute"] == name
    ]
    return ", ".join(found[:SHOWN]) + (f" and {len(found) - SHOWN} more" if len(found) > SHOWN else "") or "none"


def main() -> None:
    """Print a table."""
    classes = adult().task()
    structure = Clusters("kmeans", k=6, n_init=10)
    found = find(structure, classes.table)
    clusters = Task(classes.table, Labels(found.labels, found.n), (), classes.engine)
    print("| guided by | k | quasi-identifier | " + " | ".join(NUMBERS) + " |\n|---|---|---|---|---|")
    for what, task, k, others in (("income", classes, 60, ADULT_TOP[:7]), ("six clusters", clusters, 120, CLUSTERED)):
        alone = [splits(task, [name], k, name) for name in NUMBERS]
        among = [splits(task, others, k, name) if name in others else "-" for name in NUMBERS]
        print(f"| {what} | {k} | the number alone | {' | '.join(alone)} |")
        print(f"| {what} | {k} | Top{len(others)} | {' | '.join(among)} |")


if __name__ == "__main__":
    main()
