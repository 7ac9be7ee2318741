"""Files that are no part of a release."""

from __future__ import annotations

import os
from pathlib import Path

from tests.forgeries import forgery


@forgery("a file that no release has")
def stray(folder: Path) -> None:
    (folder / "raw.csv").write_text("name,age\nAda,36\n", encoding="utf-8")


@forgery("a raw table behind a link", fits=False)
def linked(folder: Path) -> None:
    table = folder / "table.parquet"
    kept = table.rename(folder.with_name("elsewhere.parquet"))
    table.symlink_to(kept)


@forgery("an empty folder whose name tells something")
def empty(folder: Path) -> None:
    (folder / "Ada is 36").mkdir()


@forgery("a file in a folder of its own")
def nested(folder: Path) -> None:
    (folder / "more" / "and more").mkdir(parents=True)
    (folder / "more" / "and more" / "raw.csv").write_text("name,age\nAda,36\n", encoding="utf-8")


@forgery("a second copy of the table under a name that is nearly its own")
def twin(folder: Path) -> None:
    (folder / "table.parquet ").write_bytes((folder / "table.parquet").read_bytes())


@forgery("a hidden file")
def hidden(folder: Path) -> None:
    (folder / ".raw").write_text("Ada,36\n", encoding="utf-8")


@forgery("a pipe beside the files", fits=False)
def pipe(folder: Path) -> None:
    os.mkfifo(folder / "raw")


@forgery("a taxonomy of no column")
def taxonomy(folder: Path) -> None:
    (folder / "taxonomies" / "name.json").write_text('{"ANY": ["Ada"]}', encoding="utf-8")
