"""The same 200 people under every masker: the picture and the table of docs/choosing.md.

python -m tools.maskers            # writes docs/maskers.png and prints the table; needs matplotlib and opendp
python -m tools.maskers --table    # prints the table alone
"""

from __future__ import annotations

import sys
import tempfile
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
import pyarrow as pa

import sfumato as sf
from sfumato.arrays import Floats, Ints
from sfumato.randomness import Seeded

K = 10
AGES, INCOMES = (15, 95), (0, 100)
GROUPS = ((70, 22, 3, 12, 5), (80, 45, 8, 52, 14), (50, 73, 6, 30, 7))
"""Of students, workers and pensioners: how many, the mean age and its spread, the mean income and its spread."""
MASKERS: Mapping[str, Any] = {
    "Partition": sf.Partition(),
    "TopDown": sf.TopDown(),
    "Mondrian": sf.Mondrian(),
    "Genetic": sf.Genetic(generations=40),
    "Microaggregate": sf.Microaggregate(),
    "MDAV": sf.MDAV(),
    "WFCMeans": sf.WFCMeans(),
    "Linkage": sf.Linkage(),
    "PrivateTree": sf.PrivateTree(),
    "DPHeter": sf.DPHeter(),
    "Translate": sf.Translate(by={"age": 10, "income": 20}),
    "Scale": sf.Scale(by=1.2),
    "Rotate": sf.Rotate(seed=1),
    "Hybrid": sf.Hybrid(operations={"age": ("add", 8), "income": ("multiply", 1.4)}),
    "AddNoise": sf.AddNoise(seed=1),
}


@dataclass(frozen=True)
class Shown:
    """What a recipient gets of the 200 people: corners or points, the clusters found there, and what was measured."""

    name: str
    low: Floats
    high: Floats
    clusters: Ints
    groups: int
    promise: str
    found: float
    lost: float | None

    @property
    def boxes(self) -> list[tuple[Floats, Floats, int]]:
        """Where a row may stand, if that is more than a point: its lowest and highest corner, and its cluster."""
        every = zip(self.low, self.high, self.clusters, strict=True)
        return [(low, high, int(cluster)) for low, high, cluster in every if (high - low).max() > 0]


def people() -> pa.Table:
    """Two hundred invented people in three groups."""
    draw = np.random.default_rng(7)
    ages = [draw.normal(age, spread, count) for count, age, spread, _, _ in GROUPS]
    incomes = [draw.normal(income, spread, count) for count, _, _, income, spread in GROUPS]
    return pa.table(
        {
            "age": np.clip(np.concatenate(ages).round(), *AGES).astype(int),
            "income": np.clip(np.concatenate(incomes).round(1), *INCOMES),
        }
    )


def recipe(mask: Any, *, k: int = K) -> sf.Recipe:
    """The same for everybody: three clusters must survive; k = 10, epsilon = 1, or nothing that is promised."""
    schema = sf.Schema(
        age=sf.Number(role="quasi", range=AGES, integer=True),
        income=sf.Number(role="quasi", range=INCOMES, integer=False),
    )
    budget = sf.Budget(1) if isinstance(mask, sf.PrivateTree | sf.DPHeter) else None
    nothing = isinstance(mask, sf.Translate | sf.Scale | sf.Rotate | sf.Hybrid | sf.AddNoise)
    return sf.Recipe(
        schema=schema,
        structure=sf.Clusters("kmeans", k=len(GROUPS)),
        privacy=[] if nothing or budget else [sf.KAnonymity(on=schema.quasi, k=k)],
        mask=mask,
        budget=budget,
        i_understand="no_guarantee" if nothing else None,
    )


def shown(name: str, table: pa.Table, folder: Path) -> Shown:
    """One masker: published, verified, opened as its recipient would."""
    mask = MASKERS[name]
    run = sf.Run(report=False, chance=Seeded(1), ledger=sf.Ledger(folder / f"{name}.json"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # seeds are for pictures, and say so; nothing is promised of two maskers
        release = sf.publish(table, recipe(mask), run=run)
        opened = sf.load(release.write(folder / name), kind="arrow")
    figures = release.scores["scores"]
    low, high = spans(opened)
    found = next(figures[one]["value"] for one in ("f_measure.start", "f_measure.nearest") if one in figures)
    lost = figures.get("certainty_penalty", {}).get("value")
    return Shown(
        name,
        low,
        high,
        _clusters(opened.points(), low + high),
        len(np.unique(opened.groups)),
        _promise(release),
        found,
        lost,
    )


def spans(opened: Any) -> tuple[Floats, Floats]:
    """The lowest and the highest corner of where each row may stand."""
    corners = opened.numbers("low_high")
    return _columns(corners, "low"), _columns(corners, "high")


def _columns(corners: Any, end: str) -> Floats:
    names = [f"{name}_{end}" if f"{name}_{end}" in corners.column_names else name for name in ("age", "income")]
    return np.column_stack([corners[name].to_numpy() for name in names]).astype(float)


def _clusters(points: Floats, ends: Floats) -> Ints:
    """As anybody finds them with scikit-learn, numbered by age so that colours agree."""
    from sklearn.cluster import KMeans

    found = KMeans(len(GROUPS), n_init=10, random_state=0).fit_predict(points)
    ages = [ends[found == cluster, 0].mean() for cluster in range(len(GROUPS))]
    return cast(Ints, np.argsort(np.argsort(ages))[found])


def _promise(release: Any) -> str:
    claims = release.certificate["claims"]
    if claims:
        return f"k = {claims[0]['achieved']}"
    return "epsilon = 1" if release.certificate["guarantee"] == "differential_privacy" else "nothing"


def row(one: Shown) -> str:
    """A line of the page's table."""
    lost = "-" if one.lost is None else f"{one.lost:.2f}"
    return f"| `{one.name}` | {one.promise} | {one.groups} | {one.found:.2f} | {lost} |"


def draw(everybody: list[Shown], raw: Floats) -> None:
    """The picture: groups as boxes, moved or generated people as points; colours are the clusters a recipient finds."""
    import matplotlib.pyplot as plt
    from matplotlib.patches import Rectangle

    colours = ("#0072b2", "#d55e00", "#009e73")
    figure, panels = plt.subplots(4, 4, figsize=(11, 10), sharex=True, sharey=True)
    places = list(panels.flat)
    for panel, one in zip(places[1:], everybody, strict=False):
        panel.set_title(f"{one.name}: {one.promise}", fontsize=10)
        for low, high, cluster in {(*low, *high): (low, high, cluster) for low, high, cluster in one.boxes}.values():
            panel.add_patch(Rectangle((low[0], low[1]), *(high - low), fc=colours[cluster], alpha=0.3, ec="white"))
        points = (one.low + one.high) / 2
        panel.scatter(*points.T, c=[colours[int(cluster)] for cluster in one.clusters], s=7, linewidths=0)
    places[0].set_title("the raw people", fontsize=10)
    places[0].scatter(*raw.T, s=7, color="0.3", linewidths=0)
    places[0].set_xlim(AGES[0] - 15, AGES[1] + 15)
    places[0].set_ylim(INCOMES[0] - 20, INCOMES[1] + 20)
    figure.supxlabel("age")
    figure.supylabel("income, in thousands")
    figure.tight_layout()
    figure.savefig(Path(__file__).parents[1] / "docs" / "maskers.png", dpi=90)


def main() -> None:
    """Publish under each, draw, print."""
    table = people()
    with tempfile.TemporaryDirectory() as scratch:
        everybody = [shown(name, table, Path(scratch)) for name in MASKERS]
    print("| masker | promised | groups | clusters found again (F) | information lost (NCP) |\n|---|---|---|---|---|")
    print(*(row(one) for one in everybody), sep="\n")
    if "--table" not in sys.argv:
        draw(everybody, cast(Floats, np.column_stack([table[name].to_numpy() for name in ("age", "income")])))


if __name__ == "__main__":
    main()
