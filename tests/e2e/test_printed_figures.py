"""A sample of the figures in README and docs: the command beside them is run, and prints what the page says."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
Said = Callable[[str], list[str]]
"""From what a command prints to texts that must stand on its page."""
BUNDLED = """
import sfumato as sf
print("adult.table.num_rows  #", sf.datasets.load("adult").table.num_rows)
for name in ("workclass", "education", "native_country", "icd9"):
    tree = sf.datasets.taxonomy(name)
    print(f"| `{name}` | {len(tree.leaves):,} | {tree.levels} |")
"""
IRIS = re.findall(r'python -c "\n(.*?)"\n', (ROOT / "docs" / "python.md").read_text(encoding="utf-8"), re.DOTALL)[0]


def rows(printed: str) -> list[str]:
    """Every row of a table, as it is printed."""
    return [line for line in printed.splitlines() if line.startswith("| ")]


def counted(printed: str) -> list[str]:
    """Rows but those of a masker that moves numbers, whose last digits depend on the processor."""
    return [line for line in rows(printed) if "microaggregate" not in line]


def ours_untimed(printed: str) -> list[str]:
    """Rows of our own without their last cell, which is a time."""
    return [line.rsplit("|", 2)[0] for line in rows(printed) if line.startswith("| Sfumato")]


def losses(printed: str) -> list[str]:
    """Rows of the three losses, without the seconds behind them; the heading has none of them."""
    return ["|".join(line.split("|")[:6]) for line in rows(printed) if "|---" not in line]


def untimed(printed: str) -> list[str]:
    """Rows without their last cell."""
    return [line.rsplit("|", 2)[0] for line in rows(printed)]


def whole(printed: str) -> list[str]:
    """Every line."""
    return [line.strip() for line in printed.splitlines() if line.strip()]


def collected(printed: str) -> list[str]:
    """How many tests there are."""
    return [f"{number} cases" for number in re.findall(r"^(\d+) tests collected", printed, re.MULTILINE)]


def kept_sets(printed: str) -> list[str]:
    """What is kept of sets, as a page writes shares, and in how many labels."""
    lines = {line.split("  ")[0]: line.split() for line in printed.splitlines()}
    root, mean = float(lines["top_down"][1]), lines["microaggregate"]
    return [f"{root:.3f}"[1:], f"{float(mean[1]):.3f}"[1:], f"{mean[3]} labels"]


def knowing_others(printed: str) -> list[str]:
    """Who knows all but one record as it is printed, and who knows the program in the words of the page."""
    found = re.search(r"of (\d+) of (\d+) people, at most ([\d.]+)\.", printed)
    assert found is not None
    sure, people, most = found.groups()
    return [*rows(printed), f"surer than 0.7 of {sure}", f"{int(people):,}", f"at most {most} sure"]


@dataclass(frozen=True)
class Figure:
    """Some figures of one page, and the command that stands beside them."""

    page: str
    command: tuple[str, ...]
    said: Said


SAMPLE = {
    "readme": Figure("README.md", ("-m", "benchmarks", "--quick", "--peers-python", "nowhere"), ours_untimed),
    "centroids": Figure("docs/centroids.md", ("-m", "benchmarks.microaggregation", "--no-growth"), losses),
    "neighbours": Figure("docs/results/wfcmeans.md", ("-m", "benchmarks.papers.wfcmeans", "--no-adult"), untimed),
    "maskers": Figure("docs/choosing.md", ("-m", "tools.maskers", "--table"), rows),
    "heterogeneous": Figure("docs/datasets.md", ("tools/heterogeneous_counts.py",), rows),
    "bundled": Figure("docs/datasets.md", ("-c", BUNDLED), whole),
    "recoder": Figure("docs/python.md", ("-c", IRIS), whole),
    "isometries": Figure("docs/geometric.md", ("-m", "benchmarks.label_isometries"), rows),
    "item_sets": Figure("docs/recipes.md", ("-m", "benchmarks.item_sets", "--rows", "2000"), kept_sets),
    "inside": Figure("docs/security.md", ("-m", "benchmarks.inside_knowledge"), knowing_others),
    "density": Figure("docs/structure.md", ("-m", "benchmarks.density"), rows),
    "labels": Figure("docs/structure.md", ("-m", "benchmarks.labels"), counted),
    "studio": Figure(
        "docs/studio.md", ("-m", "pytest", "--collect-only", "-q", "tests/unit/test_studio_security.py"), collected
    ),
}


TABLES = (rows, ours_untimed, untimed, losses)


@pytest.mark.slow
@pytest.mark.parametrize("name", SAMPLE)
def test_a_page_says_what_its_command_prints(name: str, tmp_path: Path) -> None:
    figure = SAMPLE[name]
    environment = {**os.environ, "XDG_STATE_HOME": str(tmp_path), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, *figure.command]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert unsaid(figure, done.stdout) == []


def unsaid(figure: Figure, printed: str) -> list[str]:
    """What a command printed and its page does not say."""
    page = (ROOT / figure.page).read_text(encoding="utf-8")
    said = figure.said(printed)
    assert said, "the command printed nothing that a page could say"
    return [text for text in said if text not in page]


@pytest.mark.parametrize("name", [name for name, figure in SAMPLE.items() if figure.said in TABLES])
def test_a_page_with_another_digit_would_be_noticed(name: str) -> None:
    """Of what the page has today each digit in turn is printed otherwise."""
    figure = SAMPLE[name]
    page = (ROOT / figure.page).read_text(encoding="utf-8")
    lines = [line for line in rows(page) if figure.said(line) and re.search(r"\d", figure.said(line)[0])]
    assert unsaid(figure, "\n".join(lines)) == []
    tried = noticed = 0
    for line in lines:
        said = figure.said(line)[0]
        for at in (found.start() for found in re.finditer(r"\d", said)):
            wrong = f"{said[:at]}{(int(said[at]) + 1) % 10}{line[at + 1 :]}"
            tried, noticed = tried + 1, noticed + bool(unsaid(figure, wrong))
    assert tried > 10
    assert noticed == tried


CHOSEN = ("--peers-python", "nowhere", "--collect-only", "-q")
"""Words of commands that this test adds: without other libraries, and counting tests without running them."""


def test_the_sample_is_of_ten_pages_and_its_commands_stand_on_them() -> None:
    assert len({figure.page for figure in SAMPLE.values()}) >= 10
    for figure in SAMPLE.values():
        page = (ROOT / figure.page).read_text(encoding="utf-8")
        words = [word for word in figure.command if word not in CHOSEN]
        if words[0] == "-c":
            continue  # what stands on the page is Python
        assert f"python {' '.join(words[:2])}" in page if words[0] == "-m" else f"python {words[0]}" in page
        assert all(option in page for option in words[2:]), "an option that the page does not name"
