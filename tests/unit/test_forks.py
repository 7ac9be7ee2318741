"""A process that was forked after polars had computed is told so at once, in place of waiting for ever."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = """
import os, sys
import polars as pl
import sfumato as sf

def told():
    try:
        sf.verify("nowhere")
    except sf.SfumatoError as error:
        return str(error)

def in_a_child():
    sys.stdout.flush()
    if child := os.fork():
        os.waitpid(child, 0)
    else:
        print(told(), flush=True)
        os._exit(0)

told()
in_a_child()
pl.DataFrame({"a": [1, 2]}).group_by("a").len()
in_a_child()
print(told())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere processes are not forked, as a rule")
def test_a_fork_that_would_wait_for_ever_is_refused() -> None:
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, timeout=60, check=True)
    before, after, parent = done.stdout.splitlines()
    assert "no folder" in before
    assert "no folder" in parent
    assert "a process forked after polars had computed" in after
    assert 'get_context("spawn")' in after


SWEEPS = """
import pathlib, warnings
import pyarrow as pa
import sfumato as sf

warnings.simplefilter("ignore")
table = pa.table({"age": [*range(20, 60)] * 5})
recipe = sf.Recipe(schema=sf.Schema(age=sf.Number(role="quasi")), privacy=[sf.KAnonymity(["age"], 5)])
with pathlib.Path("read").open("a") as seen:
    seen.write("x")
sf.publish(table, recipe, run=sf.Run(report=False)).write("out")
try:
    sf.sweep(table, recipe, {"privacy.k": [5, 10]}, "swept", workers=1)
except sf.SfumatoError as error:
    print(error)
"""


def test_a_script_that_sweeps_without_a_guard_publishes_once(tmp_path: Path) -> None:
    """A process that is started anew reads the script, and stops where it would publish."""
    (tmp_path / "script.py").write_text(SWEEPS, encoding="utf-8")
    state = {**os.environ, "XDG_STATE_HOME": str(tmp_path / "state")}
    done = subprocess.run(
        [sys.executable, "script.py"], cwd=tmp_path, capture_output=True, text=True, timeout=120, check=True, env=state
    )
    assert 'put what it does under `if __name__ == "__main__":`' in done.stdout
    assert 'put what the script does under `if __name__ == "__main__":`' in done.stderr
    assert (tmp_path / "read").read_text() == "xx", "it was read a second time"
    ledger = next((tmp_path / "state").rglob("*.jsonl")).read_text(encoding="utf-8")
    assert ledger.count('"folder"') == 1
