"""docs/papers.md: every command, file and link on it exists."""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "papers.md").read_text(encoding="utf-8")


def test_every_command_exists() -> None:
    modules = set(re.findall(r"python -m ([a-z_.]+)", PAGE))
    assert len(modules) > 5
    assert all(find_spec(module) is not None for module in modules)


def test_every_file_exists() -> None:
    files = set(re.findall(r"(?<![\w/.])((?:\w+/)+\w+\.py)", PAGE))
    assert len(files) > 30
    missing = [file for file in files if not any((base / file).is_file() for base in (ROOT / "src/sfumato", ROOT))]
    assert not missing


def test_every_link_exists() -> None:
    links = set(re.findall(r"\]\(([^)#]+)", PAGE))
    assert links
    assert all((ROOT / "docs" / link).is_file() for link in links)


def test_every_part_of_every_paper_has_a_number_of_its_own() -> None:
    parts = re.findall(r"^\| (00[0-4]-\d+) \|", PAGE, re.MULTILINE)
    assert len(parts) == len(set(parts)) > 120
    assert {part[:3] for part in parts} == {"000", "001", "002", "003", "004"}
