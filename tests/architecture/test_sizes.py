"""Files and functions stay small enough to read."""

from __future__ import annotations

import ast
from pathlib import Path

import sfumato

FILES = sorted(Path(sfumato.__file__).parent.rglob("*.py"))
MOST_LINES_OF_A_FILE = 400
MOST_LINES_OF_A_FUNCTION = 50


def long_functions(source: str) -> dict[str, int]:
    """Functions above the limit, without their docstrings, and their lines."""
    found = {}
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            lines = (node.end_lineno or node.lineno) - node.lineno + 1
            if ast.get_docstring(node) is not None:
                lines -= (node.body[0].end_lineno or 0) - node.body[0].lineno + 1
            if lines > MOST_LINES_OF_A_FUNCTION:
                found[node.name] = lines
    return found


def test_no_file_and_no_function_is_too_long() -> None:
    sources = {"/".join(path.parts[-2:]): path.read_text(encoding="utf-8") for path in FILES}
    assert len(FILES) > 400
    assert [name for name, source in sources.items() if len(source.splitlines()) > MOST_LINES_OF_A_FILE] == []
    assert {name: found for name, source in sources.items() if (found := long_functions(source))} == {}


def test_the_measurement_can_fail() -> None:
    body = "\n".join("    x = 1" for _ in range(60))
    assert long_functions(f"def long():\n{body}\n") == {"long": 61}
    assert long_functions(f'def long():\n    """\n{body}\n    """\n') == {}
