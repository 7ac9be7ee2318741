"""What the files of a release tell besides what is in them: nothing."""

from __future__ import annotations

import os
from datetime import datetime
from pathlib import Path

import pytest

from tests.releases import _made


@pytest.mark.parametrize("umask", [0o077, 0o000])
def test_files_of_a_release_have_one_time_and_the_same_modes_everywhere(tmp_path: Path, umask: int) -> None:
    made, before = _made("k_anonymity"), os.umask(umask)
    try:
        folder = made.write(tmp_path / "out")
    finally:
        os.umask(before)
    created = datetime.fromisoformat(made.certificate["created"]).timestamp()
    for path in (folder, *folder.rglob("*")):
        assert path.stat().st_mode & 0o777 == (0o755 if path.is_dir() else 0o644), path.name
        assert path.stat().st_mtime == created, path.name
