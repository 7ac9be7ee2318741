"""What it costs to show everybody's age finely: Adult's complete records, eight quasi-identifiers, six clusters.

    python -m benchmarks.detail       # k = 50
    python -m benchmarks.detail 10    # another k

prints the table of docs/recipes.md: NCP over all masked columns and of age alone, F from the starting centres, and the
widest age that is shown; about a minute.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import sfumato as sf

QUASI = ("age", "workclass", "education", "marital_status", "occupation", "race", "sex", "native_country")
CLUSTERS = 6
MASKERS = {"partition": sf.Partition(), "top_down": sf.TopDown()}
DETAIL: Mapping[str, dict[str, Any]] = {
    "none": {},
    "age: 20": {"age": 20},
    "age: 10": {"age": 10},
    "age: 5": {"age": 5},
}


def released(mask: Any, detail: dict[str, Any], run: sf.Run, k: int) -> sf.Release:
    adult = sf.datasets.load("adult", complete=True)
    schema = sf.Schema(
        {name: replace(one, role="quasi" if name in QUASI else "identifier") for name, one in adult.schema.items()}
    )
    recipe = sf.Recipe(
        schema=schema,
        structure=sf.Clusters("kmeans", k=CLUSTERS),
        privacy=[sf.KAnonymity(QUASI, k)],
        mask=mask,
        detail=detail,
    )
    return sf.publish(adult.table, recipe, run=run)


def widest(release: sf.Release) -> float:
    ends = [str(text).strip("[])").split("-") for text in set(release.shown.column("age").to_pylist())]
    return max(float(high) - float(low) for low, high in ends)


def line(name: str, wish: str, release: sf.Release) -> str:
    scores = {key: one["value"] for key, one in release.scores["scores"].items()}
    age = next(1 - one["information_kept"] for one in release.scores["columns"] if one["column"] == "age")
    found = (scores["certainty_penalty"], age, scores["f_measure.start"])
    return f"| `{name}` | {wish} | " + " | ".join(f"{one:.3f}" for one in found) + f" | {widest(release):g} |"


def main(k: int = 50) -> None:
    with TemporaryDirectory() as folder:
        run = sf.Run(report=False, ledger=sf.Ledger(Path(folder) / "ledger.jsonl"), trial=True)
        print("| mask | `detail` | NCP | NCP of age | F | widest age |\n|---|---|---|---|---|---|")
        for name, mask in MASKERS.items():
            for wish, detail in DETAIL.items():
                print(line(name, wish, released(mask, detail, run, k)), flush=True)


if __name__ == "__main__":
    main(*(int(given) for given in sys.argv[1:2]))
