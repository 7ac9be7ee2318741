"""A disk that fills up at any moment of a publish: nothing by halves, nothing left, and one sentence that says why."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
SIZES = [*range(4, 84, 4), *range(92, 200, 24), 400]  # KiB
RECIPE = """
sfumato: 1
table: people.csv
attributes:
  age: {kind: number, role: quasi, range: [20, 60]}
  town: {kind: category, role: quasi}
  ill: {kind: category, role: sensitive}
structure: {clusters: kmeans, k: 2, seed: 0, n_init: 1}
privacy:
  - {k_anonymity: 4, on: [age, town]}
mask: {top_down: {}}
"""


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """What a publish did on disks of growing size."""
    root, chance = tmp_path_factory.mktemp("full"), random.Random(0)
    people = [f"{chance.randrange(20, 60)},{chance.choice('ABC')},{chance.choice(['yes', 'no'])}" for _ in range(1500)]
    (root / "people.csv").write_text("\n".join(["age,town,ill", *people]) + "\n", encoding="utf-8")
    (root / "recipe.yaml").write_text(RECIPE, encoding="utf-8")
    apart = ["unshare", "--mount"] if os.geteuid() == 0 else ["unshare", "--mount", "--map-root-user"]
    command = [*apart, sys.executable, "-m", "tests.e2e.small_disk", str(root), *map(str, SIZES)]
    ended = subprocess.run(
        command, cwd=ROOT, env={**os.environ, "OMP_NUM_THREADS": "1"}, capture_output=True, text=True
    )
    assert ended.returncode == 0, ended.stderr[-2000:]
    return [json.loads(line) for line in ended.stdout.splitlines()]


@pytest.mark.slow
def test_a_full_disk_leaves_nothing_by_halves(runs: list[dict[str, Any]]) -> None:
    failed, done = [run for run in runs if run["code"]], [run for run in runs if not run["code"]]
    assert len(failed) >= 15, "small disks stop it at many different moments"
    assert done, "a disk that is large enough is filled with a release"
    for run in failed:
        assert run["holds"] is None, run
        assert [name for name in run["left"] if not name.startswith("state/")] == [], run
        assert "Traceback" not in run["said"], run
        assert "space" in run["said"].lower(), run
    assert all(run["holds"] for run in done)
