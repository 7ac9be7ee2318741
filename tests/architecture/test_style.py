"""The formatter decides, and wide calls name their arguments."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import sfumato

PACKAGE = Path(sfumato.__file__).parent
ROOT = Path(__file__).parents[2]
SKIPPED = ("# fmt: " + "skip", "# fmt: " + "off")
MOST_POSITIONAL = 6


def test_the_formatter_is_never_told_to_look_away() -> None:
    folders = [PACKAGE, *(ROOT / name for name in ("tests", "benchmarks", "tools"))]
    paths = [path for folder in folders for path in folder.rglob("*.py")]
    assert len(paths) > 100
    assert [str(path) for path in paths if any(mark in path.read_text(encoding="utf-8") for mark in SKIPPED)] == []


def wide_calls(source: str) -> list[int]:
    """Lines of calls that give too many arguments by their place alone; `f(*parts, ...)` takes as many as there are."""
    calls = (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call))
    named = (call for call in calls if not any(isinstance(argument, ast.Starred) for argument in call.args))
    return [call.lineno for call in named if len(call.args) > MOST_POSITIONAL]


def test_wide_calls_name_their_arguments() -> None:
    wide = {str(path.relative_to(PACKAGE)): wide_calls(path.read_text("utf-8")) for path in PACKAGE.rglob("*.py")}
    assert {path: lines for path, lines in wide.items() if lines} == {}


def test_the_measurement_can_fail() -> None:
    assert wide_calls("f(1, 2, 3, 4, 5, 6)\ng(1, 2, 3, 4, 5, 6, 7)\n") == [2]
    assert wide_calls("g(1, 2, 3, 4, 5, 6, seventh=7)\n") == []


def test_no_file_holds_the_marks_of_a_merge() -> None:
    marks = re.compile(r"^(<{7}|={7}|>{7})( |$)", re.M)
    folders = [ROOT / name for name in ("src", "tests", "benchmarks", "tools", "docs")]
    found = [
        path for folder in folders for path in folder.rglob("*") if path.suffix in (".py", ".md", ".yaml", ".html")
    ]
    found += [*ROOT.glob("*.md"), *ROOT.glob("*.toml")]
    assert [path.name for path in found if marks.search(path.read_text(encoding="utf-8"))] == []
