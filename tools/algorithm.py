"""The search in pictures: a table cut into finer and finer parts, and one recoding refined step by step.

python -m tools.algorithm        # writes docs/algorithm.png; needs matplotlib
"""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tools.maskers import AGES, INCOMES, K, people, recipe, spans

import sfumato as sf
from sfumato.randomness import Seeded

STEPS: Mapping[str, Sequence[tuple[int | None, str]]] = {
    "Partition": [(100, "nobody apart yet"), (40, "parts of 40 and more"), (20, "of 20"), (K, "of 10: done")],
    "TopDown": [(1, "one refinement"), (2, "two"), (4, "four"), (None, "until k would break")],
}
SMALL = 3
"""The k of the second row: one cut for everybody ends early, and few steps make no picture."""


def main() -> None:
    """Draw both searches, a row each."""
    import matplotlib.pyplot as plt
    from matplotlib.patches import Rectangle

    table = people()
    raw = [table[name].to_numpy() for name in ("age", "income")]
    figure, panels = plt.subplots(2, 4, figsize=(11, 5.4), sharex=True, sharey=True)
    for rows, (name, steps) in zip(panels, STEPS.items(), strict=True):
        for panel, (step, words) in zip(rows, steps, strict=True):
            for low, high in _boxes(table, name, step):
                panel.add_patch(Rectangle(low, *high, fc="#0072b2", alpha=0.15, ec="#0072b2"))
            panel.scatter(*raw, s=5, color="0.25", linewidths=0)
            panel.set_title(f"{name}: {words}", fontsize=9)
    panels[0][0].set_xlim(*AGES)
    panels[0][0].set_ylim(*INCOMES)
    figure.supxlabel("age")
    figure.supylabel("income, in thousands")
    figure.tight_layout()
    figure.savefig(Path(__file__).parents[1] / "docs" / "algorithm.png", dpi=90)


def _boxes(table: Any, name: str, step: int | None) -> set[tuple[tuple[float, float], tuple[float, float]]]:
    """The corners and sizes of all groups after so many steps."""
    masker = sf.Partition() if name == "Partition" else sf.TopDown(max_steps=step)
    k = step if name == "Partition" and step else SMALL
    with tempfile.TemporaryDirectory() as scratch, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        run = sf.Run(report=False, chance=Seeded(1), ledger=sf.Ledger(Path(scratch) / "ledger.json"))
        opened = sf.load(sf.publish(table, recipe(masker, k=k), run=run).write(Path(scratch) / "out"), kind="arrow")
        low, high = spans(opened)
    return {((a, b), (c - a, d - b)) for (a, b), (c, d) in zip(low.tolist(), high.tolist(), strict=True)}


if __name__ == "__main__":
    main()
