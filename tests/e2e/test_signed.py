"""A release that is signed while it is published, and verified by somebody who knows the holder's public key."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from sfumato.cli.main import main
from tests.releases import people, recipe


def program(monkeypatch: pytest.MonkeyPatch, *arguments: object) -> int:
    monkeypatch.setattr(sys, "argv", ["sfumato", *(str(argument) for argument in arguments)])
    with pytest.raises(SystemExit) as ending:
        main()
    return int(ending.value.code or 0)


def test_publish_signs_what_it_writes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import pyarrow.parquet as pq

    asked = recipe("shares")
    pq.write_table(people().select(list(asked.schema)), tmp_path / "people.parquet")
    (tmp_path / "recipe.yaml").write_text(asked.to_yaml(), encoding="utf-8")
    key, out = tmp_path / "holder.key", tmp_path / "out"
    arguments = [
        "publish",
        tmp_path / "recipe.yaml",
        "--table",
        tmp_path / "people.parquet",
        "-o",
        out,
        "--no-report",
        "--no-suggest",
    ]
    assert program(monkeypatch, *arguments, "--sign", key) == 2  # there is no such key
    assert not out.exists()
    assert program(monkeypatch, "key", "make", key) == 0
    assert program(monkeypatch, *arguments, "--sign", key) == 0
    assert program(monkeypatch, "verify", out, "--key", f"{key}.pub") == 0
    (out / "certificate.sig").unlink()
    assert program(monkeypatch, "verify", out) == 0
    assert program(monkeypatch, "verify", out, "--key", f"{key}.pub") == 1
