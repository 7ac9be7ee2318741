"""`python -m tests.golden.frozen.freeze [CASE ...]`: publish the cases and write their figures to frozen.json.

With names, only those are made anew. What is frozen is what releases must stay: this is run where a case is added,
where something was added to every release and nothing else differs, and with the code from before a change; never to
make a test pass.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import sfumato
from tests.golden.frozen.figures import figures_of
from tests.golden.frozen.recipes import CASES
from tests.golden.frozen.releases import published

FROZEN = Path(__file__).with_name("frozen.json")


def figures(name: str) -> dict[str, Any]:
    """The figures of all releases of one case, published now."""
    with TemporaryDirectory() as desk:
        return {folder: figures_of(path) for folder, path in published(CASES[name], Path(desk)).items()}


def frozen() -> dict[str, Any]:
    """What was frozen, by case and release."""
    found: dict[str, Any] = json.loads(FROZEN.read_text(encoding="utf-8"))
    return found


def main(names: list[str]) -> None:
    """Freeze some cases, or all."""
    found = frozen() if names else {}
    tell = sys.stderr.write
    tell(f"with {Path(sfumato.__file__).parent}\n")
    for name in names or CASES:
        began = time.process_time()
        found[name] = figures(name)
        tell(f"{name}: {time.process_time() - began:.1f} s\n")
    ordered = {name: found[name] for name in CASES if name in found}
    FROZEN.write_text(json.dumps(ordered, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
