"""Tutorials that need a server, run against one; without it they are run, on other sources, when the site is built."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.engines import started

TUTORIALS = Path(__file__).parents[2] / "docs" / "tutorials"


@pytest.mark.parametrize(
    ("kind", "script", "says"),
    [("postgres", "06_postgresql.py", "postgresql"), ("spark", "07_spark.py", "counted by Spark")],
)
def test_a_tutorial_runs_on_its_own_engine(kind: str, script: str, says: str, tmp_path: Path) -> None:
    started(kind)
    environment = {**os.environ, "XDG_STATE_HOME": str(tmp_path), "MPLBACKEND": "agg"}
    words = [sys.executable, str(TUTORIALS / script)]
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert says in done.stdout
    assert "verified: True" in done.stdout
