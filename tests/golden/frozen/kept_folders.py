"""`python -m tests.golden.frozen.kept_folders`: whole small releases, one for each family of maskers, kept as written.

Each has the holder's table beside it. They are never written anew by later code: what they show is that folders which
are out already stay what they were.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.golden.frozen.recipes import PEOPLE, Case
from tests.golden.frozen.releases import published

FOLDERS = Path(__file__).with_name("folders")
FEW = {name: PEOPLE[name] for name in ("age", "sex", "income")}
CLUSTERS = "structure: {clusters: kmeans, k: 2, n_init: 1}"
FIVE = "privacy: [{k_anonymity: 5, on: [age, sex]}]"
KEPT: Mapping[str, Case] = {
    "top_down_parquet": Case(attributes=FEW, recipe=(CLUSTERS, FIVE), rows=150, seed=None),
    "mondrian_csv": Case(attributes=FEW, recipe=(CLUSTERS, FIVE, "mask: mondrian"), rows=150, write="csv", seed=None),
    "microaggregate_parquet": Case(
        attributes=FEW, recipe=(CLUSTERS, FIVE, "mask: microaggregate"), rows=150, seed=None
    ),
    "private_tree_csv": Case(
        attributes=FEW,
        recipe=(CLUSTERS, "mask: {private_tree: {bins: 4}}", "budget: {epsilon: 4}"),
        rows=150,
        write="csv",
        seed=None,
    ),
}


def main() -> None:
    """Write those that are not there yet."""
    for name, case in KEPT.items():
        if (FOLDERS / name).exists():
            continue
        with TemporaryDirectory() as place:
            desk = Path(place)
            published(case, desk)
            (FOLDERS / name).mkdir(parents=True)
            shutil.copy(desk / f"people.{case.read}", FOLDERS / name)
            shutil.copytree(desk / "release", FOLDERS / name / "release")
            whole = desk / "release.holder" / "whole"
            if whole.exists():
                shutil.copytree(whole, FOLDERS / name / "release.holder" / "whole")


if __name__ == "__main__":
    main()
