"""`sfumato` as a process of its own: how it ends."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def test_a_process_of_its_own_ends_with_the_same_code_and_all_that_was_said(tmp_path: Path) -> None:
    """It ends at once: what is to be done at the end is done, and nothing that was written is lost in a buffer."""
    left = tmp_path / "left"
    code = f"import atexit, pathlib; atexit.register(pathlib.Path({str(left)!r}).touch)\n"
    code += "from sfumato.cli.main import program; program()"

    def run(*given: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([sys.executable, "-c", code, *given], capture_output=True, text=True, check=False)

    helped = run("--help")
    assert helped.returncode == 0
    assert " ".join(helped.stdout.split()).endswith("nothing is left behind")
    assert left.exists()
    missing = run("verify", str(tmp_path / "nothing"))
    assert missing.returncode == 2
    assert "to mend it" in missing.stderr
