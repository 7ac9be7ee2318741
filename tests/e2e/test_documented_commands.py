"""Every module whose command stands on a page or in a docstring runs in a small form; how fast it is is not asked."""

from __future__ import annotations

import re
import runpy
import shlex
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from sfumato.data import datasets
from tests.e2e.test_printed_figures import SAMPLE

ROOT = Path(__file__).parents[2]
PLACES = ("README.md", "CONTRIBUTING.md", "docs/**/*.md", "docs/tutorials/*.py", "benchmarks/**/*.py", "tools/*.py")
RECIPE = """
sfumato: 1
attributes: {age: {kind: number, role: quasi, range: [0, 99]}, town: {kind: category, role: plain}}
structure: {clusters: kmeans, k: 2}
privacy: [{k_anonymity: 5, on: [age]}]
"""


@dataclass(frozen=True)
class Small:
    """A form that takes seconds: words behind the module's name, people of bundled tables, exit codes it may have."""

    words: str = ""
    people: int = 0
    codes: tuple[int | None, ...] = (None, 0)


SMALL = {
    "benchmarks.attack_report": Small("--rows 600 --only 'top-down, k = 5: k-anonymity'"),
    "benchmarks.detail": Small("5", people=9_000),
    "benchmarks.encode": Small("--rows 2000 --rounds 1", people=1_500, codes=(0, 1)),  # 1: its goal is for large tables
    "benchmarks.evaluate": Small("2000"),
    "benchmarks.family": Small(people=1_500),
    "benchmarks.holders": Small(people=1_500),
    "benchmarks.kmeans": Small("2000"),
    "benchmarks.learning": Small("10", people=1_500),
    "benchmarks.many_clusters": Small(people=700),
    "benchmarks.new_rows": Small(people=1_500),
    "benchmarks.papers": Small(),
    "benchmarks.papers.classification": Small("--partition", people=1_700),
    "benchmarks.papers.cluster_more": Small("--rows 6000"),
    "benchmarks.papers.dpheter": Small("--publish 1000"),
    "benchmarks.papers.gdtm": Small("--sec 1"),
    "benchmarks.papers.grown_trees": Small(people=1_500),
    "benchmarks.plan": Small("--rows 2000"),
    "benchmarks.recipient": Small("10", people=1_500),
    "benchmarks.report": Small("2000"),
    "benchmarks.scale": Small("--rows 2000 --only classes --alone"),
    "benchmarks.sources": Small("compare --rows 1000 --only stream,duckdb,sqlite"),
    "benchmarks.steps": Small("{folder}/recipe.yaml {folder}/people.csv {folder}/out"),
    "benchmarks.studio": Small("cold"),
    "benchmarks.topdown": Small("--quick"),
    "tools.algorithm": Small(),
    "tools.fuzzing": Small("1"),
    "tools.picture": Small(people=1_500),
    "tools.stops": Small("--rows 1000 partition top_down"),
    "tools.tampering": Small("1"),
}
"""Together about 90 seconds of CPU."""
PRINTED = {figure.command[1] for figure in SAMPLE.values() if figure.command[0] == "-m"} - {"pytest"}
"""Run as they stand on their pages, whose figures are compared."""
ELSEWHERE = {
    "benchmarks.papers.cluster_anonymity": "tests/e2e/test_cluster_benchmark.py",
    "benchmarks.peers": "tests/e2e/test_printed_figures.py",  # `benchmarks --quick` measures by it
    "benchmarks.speed": "tests/e2e/test_speed_benchmark.py",
    "tools.audit": "tests/statistical/test_soundness.py",  # thousands of runs show what a few cannot
    "tools.links": "tests/unit/test_links.py",
}
"""Run, or what they do, by another test."""
NOT_RUN = {
    "tools.package": "builds the package and an environment for each Python: .ci/run runs it",
    "tools.studio_pictures": "needs a browser, and writes into docs/: whoever changes a screen runs it",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", SMALL)
def test_it_runs(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    form = SMALL[name]
    (tmp_path / "recipe.yaml").write_text(RECIPE, encoding="utf-8")
    (tmp_path / "people.csv").write_text("age,town\n" + "".join(f"{at % 50},a\n{at % 40},b\n" for at in range(100)))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setattr(sys, "argv", [name, *shlex.split(form.words.format(folder=tmp_path))])
    monkeypatch.chdir(ROOT)
    if name in ("tools.algorithm", "tools.picture"):
        pytest.importorskip("matplotlib")
        monkeypatch.setattr("matplotlib.figure.Figure.savefig", lambda _, path, **__: sys.stdout.write(str(path)))
    if form.people:
        load = datasets.load
        monkeypatch.setattr(datasets, "load", lambda *given, **asked: fewer(load(*given, **asked), form.people))
    assert code_of(name) in form.codes
    assert capsys.readouterr().out


def code_of(name: str) -> int | str | None:
    """With which a module ends."""
    try:
        runpy.run_module(name, run_name="__main__", alter_sys=True)
    except SystemExit as end:
        return end.code
    return None


def fewer(found: Any, people: int) -> Any:
    """Records at even distances, so that all parts of a table have some."""
    step = -(-found.table.num_rows // people)
    return replace(found, table=found.table.take(list(range(0, found.table.num_rows, step))))


def commands() -> Iterator[tuple[str, str]]:
    """Modules of this project that a page or a docstring tells to run, and the options named with them."""
    for path in (path for place in PLACES for path in sorted(ROOT.glob(place))):
        text = path.read_text(encoding="utf-8")
        for name, words in re.findall(r"python -m ((?:benchmarks|tools)[\w.]*)([^`#\n\"]*)", text):
            yield name.rstrip("."), words


def test_every_command_that_is_told_is_run_somewhere() -> None:
    told = {name for name, _ in commands()} - {"benchmarks.NAME", "benchmarks.papers.NAME", "benchmarks.papers."}
    known = [*SMALL, *(name for name in PRINTED if name not in SMALL), *ELSEWHERE, *NOT_RUN]
    assert len(told) > 30
    assert told - set(known) == set()
    assert len(known) == len(set(known))
    assert all((ROOT / path).is_file() for path in ELSEWHERE.values())


def test_options_that_are_told_are_known_to_their_module() -> None:
    for name, words in commands():
        spec = find_spec(name)
        if spec is None or spec.origin is None:
            assert name.endswith("NAME")
            continue
        origin = Path(spec.origin)
        source = (origin.with_name("__main__.py") if origin.name == "__init__.py" else origin).read_text("utf-8")
        unknown = [option for option in re.findall(r"--([a-z][\w-]*)", words) if option not in source]
        assert not unknown, f"{name} has no --{unknown[0]}"
