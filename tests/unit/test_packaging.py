"""What is handed out beside the code says the same as the code: versions, dependencies, files."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import jinja2
import pytest
import yaml
from typer.testing import CliRunner

from sfumato.cli.main import app

ROOT = Path(__file__).parents[2]
WHOLE = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT, BUILD = WHOLE["project"], WHOLE["build-system"]
DOCKERFILE = (ROOT / "packaging" / "Dockerfile").read_text(encoding="utf-8")
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


def test_the_conda_recipe_can_be_read_and_builds_what_pip_builds() -> None:
    """As conda renders it; neither conda nor mamba can be had from the registries that CI reaches."""
    found = yaml.safe_load(jinja2.Environment(autoescape=False).from_string(CONDA).render(PYTHON="python"))
    assert found["package"] == {"name": PROJECT["name"], "version": PROJECT["version"]}
    assert found["source"]["path"].endswith(f"/dist/{PROJECT['name']}-{PROJECT['version']}.tar.gz")
    assert found["build"]["entry_points"] == [f"{name} = {where}" for name, where in PROJECT["scripts"].items()]
    host = {one.replace(" ", "") for one in found["requirements"]["host"]}
    assert host == {*BUILD["requires"], "pip", "python" + PROJECT["requires-python"]}
    assert found["about"]["license"] == PROJECT["license"]
    assert found["about"]["license_file"] == PROJECT["license-files"]
    assert found["about"]["summary"] == PROJECT["description"]
    for command in found["test"]["commands"]:
        assert CliRunner().invoke(app, [*command.split()[1:2], "--help"]).exit_code == 0, command


def test_the_dockerfile_runs_a_python_and_a_program_that_exist() -> None:
    lines = DOCKERFILE.splitlines()
    images = {line.split()[1] for line in lines if line.startswith("FROM")}
    assert len(images) == 1, "what is built in one Python is run in the same"
    number = re.fullmatch(r"python:(3\.\d+)-slim", images.pop())
    assert number is not None
    assert f"Programming Language :: Python :: {number[1]}" in PROJECT["classifiers"]
    assert f'ENTRYPOINT ["{next(iter(PROJECT["scripts"]))}"]' in lines
    users = [line.split()[1] for line in lines if line.startswith("USER")]
    assert users
    assert users[-1] != "root"


@pytest.mark.slow
def test_the_files_that_the_dockerfile_copies_make_the_whole_wheel(tmp_path: Path) -> None:
    """What the image builds from, and nothing else: what is missing there would be noticed in a container alone."""
    for line in DOCKERFILE.splitlines():
        if line.startswith("COPY") and "--from" not in line:
            *names, _ = line.split()[1:]
            for name in names:
                copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
                copy(ROOT / name, tmp_path / name)
    words = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(tmp_path / "made"), "."]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (wheel,) = (tmp_path / "made").glob("*.whl")
    inside = {name for name in zipfile.ZipFile(wheel).namelist() if name.startswith("sfumato/")}
    source = ROOT / "src"
    files = (path for path in (source / "sfumato").rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    assert {path.relative_to(source).as_posix() for path in files} <= inside


def test_the_dockerfile_copies_what_is_there_and_installs_extras_that_exist() -> None:
    lines = DOCKERFILE.splitlines()
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
