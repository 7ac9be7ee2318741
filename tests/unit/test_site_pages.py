"""The pages of the site, without building it: `./run docs` does that."""

from __future__ import annotations

import re
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import sfumato as sf
from tests.forgeries import every_forgery
from tests.hostile_folders import HOSTILE as HOSTILE_FOLDERS
from tests.hostile_recipes import HOSTILE as HOSTILE_RECIPES

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.glob("*.md")) + sorted(DOCS.glob("r*/*.md"))


def extension(name: str) -> ModuleType:
    """A module of docs/extensions."""
    spec = spec_from_file_location(name, DOCS / "extensions" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    found = module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


def test_the_api_page_lists_every_public_name() -> None:
    page = (DOCS / "reference" / "api.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"^   (\w+)$", page, re.MULTILINE))
    assert listed == set(sf.__all__) - {"__version__"}


@pytest.mark.parametrize("path", [ROOT / "README.md", *PAGES], ids=lambda path: path.name)
def test_every_link_between_files_leads_somewhere(path: Path) -> None:
    """As they are read in the repository; the built site is looked through by `tools.links`."""
    links = re.findall(r"\]\(([^)#:{}]+)(?:#[^)]*)?\)", path.read_text(encoding="utf-8"))
    gone = [link for link in links if not (path.parent / link).exists() and "generated/" not in link]
    assert not gone


def test_the_lines_that_change_a_draft_run() -> None:
    page = (DOCS / "python.md").read_text(encoding="utf-8")
    found = re.search(r"## Changing a draft\n.*?```python\n(.*?)```", page, re.DOTALL)
    assert found is not None
    made: dict[str, Any] = {"sf": sf}
    exec(found[1], made)
    recipe: sf.Recipe = made["recipe"]
    assert "job" in recipe.schema.quasi
    assert all("job" in need.on for need in recipe.privacy)
    assert recipe.schema["telephone"].role == "identifier"
    assert recipe.reasons["job"] == "you said so"
    assert recipe.privacy[0] == sf.KAnonymity(recipe.schema.quasi, 50).replace(on=recipe.privacy[0].on)
    assert sf.Recipe.from_yaml(recipe.to_yaml()) == recipe


def test_a_new_page_is_found_without_being_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    pages = extension("pages")
    assert pages.unlisted() == sorted(set(pages.unlisted()))
    assert not {"index", "start", "recipes", "papers", "howto"} & set(pages.unlisted())
    monkeypatch.setattr(pages, "listed", set)
    assert "recipes" in pages.unlisted()
    assert "recipes" in pages._more()


def test_a_file_of_the_top_folder_becomes_a_page() -> None:
    text = extension("pages").from_above("SECURITY.md")
    assert "](security.md)" in text
    assert "](changes.md)" in text


def test_the_tutorial_of_the_studio_shows_small_pictures_beside_their_command() -> None:
    text = (DOCS / "tutorials" / "08_studio.py").read_text(encoding="utf-8")
    shown = set(re.findall(r"image:: /studio/(\w+\.png)", text))
    kept = {path.name: path for path in (DOCS / "studio").glob("*.png")}
    assert len(shown) >= 3
    assert shown == set(kept)
    assert all(1_000 < path.stat().st_size < 100_000 for path in kept.values())
    assert "python -m tools.studio_pictures" in text


def test_the_page_on_security_counts_the_kinds_that_are_tried() -> None:
    page = (DOCS / "security.md").read_text(encoding="utf-8")
    assert f"{len(every_forgery())} kinds, none holds" in page
    assert f"{len(HOSTILE_RECIPES)} kinds: no code" in page
    assert f"{len(HOSTILE_FOLDERS)} kinds and files exchanged" in page
