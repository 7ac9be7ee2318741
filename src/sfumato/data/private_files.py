"""Files for the holder's eyes: from their first byte on nobody else may read them, whatever the umask says."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

FOLDER, FILE = 0o700, 0o600


def private_folder(path: Path) -> None:
    """A new folder for its owner alone; those above it are made as usual."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.mkdir(mode=FOLDER)
    path.chmod(FOLDER)  # a umask can only have taken more away


def opener(path: str | os.PathLike[str], flags: int) -> int:
    """For `open(..., opener=opener)`: the file is its owner's alone, also where one of that name was there."""
    handle = os.open(path, flags | os.O_CLOEXEC, FILE)
    os.fchmod(handle, FILE)
    return handle


def write_private(path: Path, text: str) -> None:
    """A text, in UTF-8."""
    with open(path, "w", encoding="utf-8", opener=opener) as file:
        file.write(text)


def write_private_json(path: Path, content: Any) -> None:
    """Plain JSON, readable, numbers exact; a folder in its name is made as private."""
    if not path.parent.is_dir():
        private_folder(path.parent)
    write_private(path, json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n")
