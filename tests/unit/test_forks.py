"""A process that was forked after polars had computed is told so at once, in place of waiting for ever."""

from __future__ import annotations

import subprocess
import sys

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
