"""The notebook of the docs runs from its first cell to its last, and what it shows is what it says."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import nbformat
import pytest

NOTEBOOK = Path(__file__).parents[2] / "docs" / "notebooks" / "first_release.ipynb"
MOST_CELLS = 12


def outputs(notebook: Any, kind: str) -> list[str]:
    """What its cells show, of one kind."""
    shown = [one.get("data", {}) for cell in notebook.cells for one in cell.get("outputs", ())]
    return ["".join(data[kind]) for data in shown if kind in data]


def test_the_notebook_is_short_and_was_run() -> None:
    notebook = nbformat.read(NOTEBOOK, 4)  # type: ignore[no-untyped-call]
    assert len(notebook.cells) <= MOST_CELLS
    assert NOTEBOOK.stat().st_size < 300_000
    assert _cards(notebook) == CARDS


CARDS = ["Recipe", "Release", "Evaluation", "Verdict", "People"]


def _cards(notebook: Any) -> list[str]:
    """The cards among the outputs, by the first word of their titles; none of them has a script."""
    pages = [page for page in outputs(notebook, "text/html") if 'class="sfumato' in page]
    assert not any("<script" in page for page in pages)
    titles = [re.search(r'<p class="t">(\w+)', page) for page in pages]
    return [title[1] for title in titles if title is not None]


@pytest.mark.slow
def test_the_notebook_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from nbclient import NotebookClient

    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    notebook = nbformat.read(NOTEBOOK, 4)  # type: ignore[no-untyped-call]
    place = {"metadata": {"path": str(tmp_path)}}
    NotebookClient(notebook, timeout=900, kernel_name="python3", resources=place).execute()
    assert _cards(notebook) == CARDS
    assert outputs(notebook, "image/png"), "the plot was drawn"
    told = next(text for text in outputs(notebook, "text/plain") if "told right" in text)
    learned, ceiling = (float(share) for share in re.findall(r"([\d.]+)%", told))
    assert ceiling - learned < 5, "a model of the release is nearly as good as one of the raw rows"
    assert learned > 79, "the commonest class alone is right about 75 %"
    assert (tmp_path / "out" / "certificate.json").exists()
