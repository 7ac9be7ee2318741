"""Whatever reads a stranger's folder opens plain files in it, and nothing else."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

import sfumato as sf
from sfumato.cli.main import app
from sfumato.errors import ReleaseError, TableError
from sfumato.privacy.verify.files.regular_files import open_regular, read_regular
from sfumato.privacy.verify.signature import read_public_key
from sfumato.privacy.verify.verdict import CheckError
from sfumato.release.reading import read_certificate, read_mask, read_recipe_of
from tests.releases import given_with, on_desk, release_of, untouched

KIND = "k_anonymity"


def pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def link(path: Path) -> None:
    path.unlink()
    path.symlink_to("/dev/zero")


def deep(path: Path) -> None:
    path.write_bytes(b'{"a":' * 10**5 + b"1" + b"}" * 10**5)


def digits(path: Path) -> None:
    path.write_bytes(b'{"a": ' + b"9" * 5000 + b"}")


@pytest.mark.parametrize("change", [pipe, link])
@pytest.mark.parametrize("name", ["certificate.json", "centres.json", "table.parquet"])
def test_clusters_are_not_looked_for_in_what_is_no_file(
    tmp_path: Path, change: Callable[[Path], None], name: str
) -> None:
    folder = release_of(KIND, tmp_path / "out")
    change(folder / name)
    with pytest.raises(ReleaseError, match=r"is a (pipe|link), not a file"):
        sf.find_clusters(folder)


@pytest.mark.parametrize("change", [deep, digits])
@pytest.mark.parametrize("name", ["certificate.json", "recoding.json"])
def test_json_of_a_stranger_is_refused_in_words(tmp_path: Path, change: Callable[[Path], None], name: str) -> None:
    folder = release_of(KIND, tmp_path / "out")
    change(folder / name)
    with pytest.raises(ReleaseError, match="good copy"):
        read_mask(folder)


@pytest.mark.parametrize("file", ["../secret.csv", "/etc/passwd", 7, None, ["table.csv"]])
def test_a_certificate_names_no_table_but_its_own(tmp_path: Path, file: object) -> None:
    folder = release_of(KIND, tmp_path / "out")
    (tmp_path / "secret.csv").write_text("age\n7\n", encoding="utf-8")
    form = json.loads((folder / "certificate.json").read_text(encoding="utf-8"))
    form["table"]["file"] = file
    (folder / "certificate.json").write_text(json.dumps(form), encoding="utf-8")
    with pytest.raises(ReleaseError, match="names its guarantee, its time and its table"):
        read_certificate(folder)
    with pytest.raises(ReleaseError):
        sf.find_clusters(folder)


def test_a_recipe_beside_a_release_is_read_with_the_raw_table_alone(tmp_path: Path) -> None:
    folder = release_of(KIND, tmp_path / "out")
    holder = tmp_path / "out.holder"
    holder.mkdir()
    os.mkfifo(holder / "recipe.yaml")
    held = CliRunner().invoke(app, ["verify", str(folder)])
    assert held.exit_code == 0, "a pipe there would have been waited for"
    with pytest.raises(ReleaseError, match="is a pipe, not a file"):
        read_recipe_of(folder)


def test_an_earlier_release_that_is_no_folder_of_files_is_not_among_those_given(tmp_path: Path) -> None:
    folder = release_of("earlier", tmp_path / "out")
    other = tmp_path / "other"
    other.mkdir()
    os.mkfifo(other / "certificate.json")
    assert not sf.verify(folder, others=[other]).holds
    assert sf.verify(folder, **given_with("earlier")).holds
    assert 'sfumato.load(".", others=["FOLDER"])' in (folder / "README.md").read_text(encoding="utf-8")


def test_keys_and_populations_are_files(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.csv")
    with pytest.raises(ReleaseError, match="public key"):
        read_public_key(tmp_path / "pipe.csv")
    with pytest.raises(ReleaseError, match="public key"):
        read_public_key("/dev/zero")
    with pytest.raises(TableError):
        sf.verify(untouched("k_map"), population=tmp_path / "pipe.csv")
    (tmp_path / "link.pub").symlink_to(on_desk("key.pub"))
    assert read_public_key(tmp_path / "link.pub"), "what the user names may be a link"


def test_a_folder_named_by_the_user_may_be_a_link(tmp_path: Path) -> None:
    (tmp_path / "out").symlink_to(untouched(KIND))
    assert sf.verify(tmp_path / "out").holds


def test_a_file_that_was_exchanged_after_the_look_is_seen_when_it_is_opened(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"12345")
    (tmp_path / "link").symlink_to(tmp_path / "file")
    os.mkfifo(tmp_path / "pipe")
    assert read_regular(tmp_path / "file", most=5) == b"12345"
    assert read_regular(tmp_path / "link", most=5, follow=True) == b"12345"
    for name, most in (("link", 9), ("pipe", 9), ("file", 4), ("gone", 9), (".", 9)):
        with pytest.raises(CheckError):
            open_regular(tmp_path / name, most=most)
