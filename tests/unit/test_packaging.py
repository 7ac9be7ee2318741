"""What is handed out beside the code says the same as the code: versions, dependencies, files."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
CONDA = (ROOT / "packaging" / "conda" / "meta.yaml").read_text(encoding="utf-8")


def test_the_version_is_the_same_everywhere() -> None:
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert cited["version"] == PROJECT["version"]
    assert f'version = "{PROJECT["version"]}"' in CONDA
    assert f"## {PROJECT['version']}" in changes


def test_conda_asks_for_what_pip_asks_for() -> None:
    run = CONDA.split("  run:\n")[1].split("\n\n")[0]
    asked = {line.strip("- ").replace(" ", "") for line in run.splitlines()} - {"python" + PROJECT["requires-python"]}
    assert asked == {one.lower() for one in PROJECT["dependencies"]}


def test_the_dockerfile_copies_what_is_there_and_installs_extras_that_exist() -> None:
    lines = (ROOT / "packaging" / "Dockerfile").read_text(encoding="utf-8").splitlines()
    copied = [line.split()[1:-1] for line in lines if line.startswith("COPY") and "--from" not in line]
    assert copied
    assert all((ROOT / name).exists() for names in copied for name in names)
    extras = re.search(r'"\.\[([\w,]+)\]"', "\n".join(lines))
    assert extras is not None
    assert set(extras[1].split(",")) <= set(PROJECT["optional-dependencies"])


def test_every_extra_that_is_named_anywhere_exists() -> None:
    files = [ROOT / "README.md", *ROOT.glob("docs/*.md"), *ROOT.glob("src/**/*.py")]
    named = {
        extra
        for path in files
        for found in re.findall(r"sfumato\[([a-z,]+)\]", path.read_text(encoding="utf-8"))
        for extra in found.split(",")
    }
    assert len(named) > 5
    assert named <= set(PROJECT["optional-dependencies"])


TEMPLATES = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.name)
def test_issue_templates_ask_for_no_real_people(path: Path) -> None:
    form = yaml.safe_load(path.read_text(encoding="utf-8"))
    if path.name == "config.yml":
        assert form == {"blank_issues_enabled": False}
    else:
        assert {"name", "description", "body"} <= set(form)
        assert path.name == "page.yml" or "real person" in path.read_text(encoding="utf-8")
