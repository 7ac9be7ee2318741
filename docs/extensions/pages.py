"""Pages that no table of contents lists yet, and files of the repository's top folder."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from sphinx.ext.napoleon import NumpyDocstring

from sfumato.maskers.registry import MASKERS
from sfumato.privacy.requirements import REQUIREMENTS

DOCS = Path(__file__).parents[1]
MARK = "<!-- every other page -->"
ABOVE = {
    "SECURITY.md": "reporting",
    "CONTRIBUTING.md": "contributing",
    "CHANGELOG.md": "changes",
    "CODE_OF_CONDUCT.md": "conduct",
}
"""Files of the repository's top folder, and the pages that show them."""


def listed() -> set[str]:
    """The names of all pages that a table of contents lists."""
    texts = [path.read_text(encoding="utf-8") for path in DOCS.rglob("*.md")]
    blocks = [block for text in texts for block in re.findall(r"```\{toctree\}\n(.*?)```", text, re.DOTALL)]
    lines = [line.strip() for block in blocks for line in block.splitlines()]
    return {re.sub(r".*<(.*)>", r"\1", line).removeprefix("/") for line in lines}


def unlisted() -> list[str]:
    """Pages beside the others that no table of contents lists: a new page is found without being asked for."""
    return sorted({path.stem for path in DOCS.glob("*.md")} - listed() - {"index"})


def _more() -> str:
    names = unlisted()
    return "\n".join(["```{toctree}", ":caption: More", ":maxdepth: 1", "", *names, "```"]) if names else ""


def from_above(file: str) -> str:
    """A file of the top folder as a page: its links lead to pages."""
    text = (DOCS.parent / file).read_text(encoding="utf-8")
    for other, page in ABOVE.items():
        text = text.replace(f"]({other}", f"]({page}.md")
    return text.replace("](docs/", "](")


def _read(app: Any, name: str, source: list[str]) -> None:
    del app
    shown = next((file for file, page in ABOVE.items() if page == name), None)
    text = source[0] if shown is None else from_above(shown)
    for file, page in ABOVE.items():
        text = re.sub(rf"\]\((\.\./)+{file}", f"](/{page}.md", text)
    source[0] = text.replace(MARK, _more())


def _sections(app: Any, what: str, name: str, shown: object, options: object, lines: list[str]) -> None:
    """The one class whose text has scikit-learn's sections; napoleon takes what comes before a colon for a type."""
    del app, shown, options
    if any(set(line.strip()) == {"-"} for line in lines):
        lines[:] = NumpyDocstring("\n".join(lines), what=what, name=name).lines()


INSIDE = {
    "Recipe": {"understood", "wishes", "population", "before", "masker", "placed", "beside_others", "of"},
    "Schema": {"missing_texts", "without_domains", "require"},
    "Along": {"label_role", "kind"},
    "Earlier": {"before"},
    "Clusters": {"again"},
    "Number": {"intervals"},
    "Policy": {"form"},
    "Release": {"keep"},
}
"""What other rooms of the house ask of a class, and its users do not."""
GUESTS = {place.rpartition(":")[2] for place in MASKERS.values()} | {kind.__name__ for kind in REQUIREMENTS.values()}
"""Maskers and requirements: they are made, and handed over; all else is asked of them by Sfumato."""


def _skip(app: Any, what: str, name: str, shown: Any, skip: bool, options: object) -> bool | None:
    """Whether a member stays off the page of its class; None leaves that to Sphinx."""
    del app, what, skip, options
    asked = getattr(getattr(shown, "fget", shown), "__qualname__", "")
    owner = asked.partition(".")[0]
    return True if owner in GUESTS or name in INSIDE.get(owner, ()) else None


def setup(app: Any) -> dict[str, bool]:
    """Called by Sphinx."""
    app.connect("source-read", _read)
    app.connect("autodoc-process-docstring", _sections)
    app.connect("autodoc-skip-member", _skip)
    return {"parallel_read_safe": True}
