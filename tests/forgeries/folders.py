"""Files that are no part of a release."""

from __future__ import annotations

from pathlib import Path

from tests.forgeries import forgery


@forgery("a file that no release has")
def stray(folder: Path) -> None:
    (folder / "raw.csv").write_text("name,age\nAda,36\n", encoding="utf-8")
