"""What somebody learns who knows more than a requirement is about: the others' records, or how the masker decides.

python -m benchmarks.inside_knowledge

Solving the codebook: whoever knows all records under a mean (of a shown interval, or of a group) but one gets bounds
for the last one's number, by as much as the mean is rounded. Minimality (Wong and others, VLDB 2007): whoever knows
everybody's quasi-identifiers and runs the masker on each world that fits the release keeps those worlds that give the
same release.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import sfumato as sf
from sfumato.data.encoding import encode
from sfumato.data.schema import Attribute
from sfumato.engines import LocalEngine
from sfumato.maskers.masker import Labels, Masker, Task
from sfumato.maskers.topdown.masker import TopDown
from sfumato.privacy.requirements import Requirement

KS = (5, 20, 50, 100)
MASKS: dict[str, Masker] = {"`partition`": sf.Partition(), "`top_down`": sf.TopDown()}
TABLES, WORLDS, ROWS, BOUND = 20, 150, 60, 0.6
MIX = sf.Schema(
    age=sf.Number(role="quasi", range=(20, 60)), town=sf.Category(role="quasi"), ill=sf.Category(role="sensitive")
)


def _step(of: Attribute) -> float:
    """By how much means of a number are rounded: a thousandth of its declared range, to the power of ten below."""
    if not isinstance(of, sf.Number) or of.range is None:
        raise TypeError("a number with a declared range")
    return float(10.0 ** -(3 - np.floor(np.log10(float(of.range[1]) - float(of.range[0])))))


def solved(mask: Masker, k: int) -> tuple[int, int, int]:
    """Of all means of Adult's age and hours that the codebook tells, of intervals or of groups that show more than one
    number: how many there are, how many tell the last record's number to less than half of its interval, and how many
    tell it exactly."""
    adult = sf.datasets.load("adult", complete=True)
    on = ["age", "hours_per_week", "education"]
    recipe = sf.Recipe(
        schema=sf.Schema(
            {
                name: replace(of, role="quasi" if name in on else "plain") if of.role != "identifier" else of
                for name, of in adult.schema.items()
                if name in (*on, "income")
            }
        ),
        structure=sf.Classes("income"),
        privacy=[sf.KAnonymity(on=on, k=k)],
        mask=mask,
    )
    table = adult.table.select([*on, "income"])
    release = sf.publish(table, recipe, run=sf.Run(report=False, trial=True))
    book = json.loads((Path(release.scratch.name) / "release" / "codebook.json").read_text(encoding="utf-8"))
    found = half = exact = 0
    for name in ("age", "hours_per_week"):
        step = _step(recipe.schema[name])
        for label, records in _told(book, release.shown, name, on):
            low, high = (float(end) for end in label.strip("[])").split("-"))
            if high - low <= 1:  # one whole number, which every row shows
                continue
            found, left = found + 1, records * step
            half, exact = half + (left < (high - low) / 2), exact + (left < 1)
    return found, half, exact


def _told(book: dict[str, Any], shown: pa.Table, name: str, on: Sequence[str]) -> Iterator[tuple[str, int]]:
    """Each interval of which a mean is told, and over how many records: of a shown value, or of a group."""
    if "groups" not in book:
        yield from ((label, Counter(shown[name].to_pylist())[label]) for label in book.get(name, {}))
        return
    columns = [one for one in shown.column_names if one in on]
    groups = sorted(Counter(zip(*(shown[one].to_pylist() for one in columns), strict=True)).items())
    for (values, records), mean in zip(groups, book["columns"][name] or [None] * len(groups), strict=True):
        if mean is not None:
            yield values[columns.index(name)], records


def _cut(people: pa.Table) -> Any:
    labels = Labels((np.asarray(people["age"]) > 40).astype(np.uint8), 2)
    needs: list[Requirement] = [sf.ConfidenceBound(["age", "town"], "ill", BOUND), sf.KAnonymity(["age", "town"], 3)]
    try:
        return TopDown().mask(Task(encode(people, MIX), labels, needs, LocalEngine())).mask
    except sf.SfumatoError:
        return None


def minimality(seed: int) -> tuple[int, int, float] | None:
    """Of one table: how many people, of how many somebody is surer than the bound by a tenth, how sure at most."""
    chance = np.random.default_rng(seed)
    ill = chance.choice(["yes", "no"], ROWS, p=[0.5, 0.5])
    raw = pa.table({"age": chance.integers(20, 60, ROWS), "town": chance.choice(list("abc"), ROWS), "ill": ill})
    mask = _cut(raw)
    if mask is None:
        return None
    shown = mask.apply(encode(raw, MIX))
    groups = np.unique(
        [f"{a}|{b}" for a, b in zip(shown["age"].to_pylist(), shown["town"].to_pylist(), strict=True)],
        return_inverse=True,
    )[1]
    held, fitting = np.zeros(ROWS), 0
    for _ in range(WORLDS):
        world = ill.copy()
        for group in range(groups.max() + 1):
            rows = np.flatnonzero(groups == group)
            world[rows] = chance.permutation(world[rows])
        if _cut(raw.set_column(2, "ill", pa.array(world))) == mask:
            held, fitting = held + (world == "yes"), fitting + 1
    if fitting < 30:
        return None
    sure = np.maximum(held, fitting - held) / fitting
    return ROWS, int((sure > BOUND + 0.1).sum()), float(sure.max())


def main() -> None:
    print("| mask | k | means told | last number to less than half of its interval | exactly |\n|---|---|---|---|---|")
    for name, mask in MASKS.items():
        for k in KS:
            print(f"| {name} | {k} | {' | '.join(str(figure) for figure in solved(mask, k))} |", flush=True)
    found = [one for seed in range(TABLES) if (one := minimality(seed)) is not None]
    people, sure = sum(one[0] for one in found), sum(one[1] for one in found)
    print(
        f"\nMinimality: {len(found)} tables of {ROWS} people, never surer than {BOUND} is claimed; whoever knows all "
        f"quasi-identifiers and the program is surer than {BOUND + 0.1:.1f} of {sure} of {people} people, at most "
        f"{max(one[2] for one in found):.2f}."
    )


if __name__ == "__main__":
    main()
