"""Where things are written: the holder's files are the holder's alone, and a bad place is found before the work."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

import sfumato as sf
from sfumato.release.output import check_output
from tests.e2e.test_publish import RECIPE, people, recipe, sfumato

__all__ = ["recipe"]


@pytest.fixture(params=[0o000, 0o002, 0o777], ids=["000", "002", "777"])
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_the_holders_files_are_the_holders_alone(umask: int, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    seen: list[tuple[str, int]] = []
    release = sf.publish(people(), sf.Recipe.from_yaml(RECIPE), run=sf.Run(report=umask == 0))
    before = Path.replace

    def replace(self: Path, target: Path) -> Path:
        seen.extend((path.name, mode(path)) for path in (self, *self.rglob("*")) if ".holder" in str(self))
        return before(self, target)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Path, "replace", replace)
        release.write(folder)
    holder = tmp_path / "out.holder"
    files = [path for path in holder.rglob("*") if path.is_file()]
    assert mode(holder) == 0o700
    assert {path.name for path in files} >= {"recipe.yaml", "history.json", "evaluation.json", "README.md"}
    assert {mode(path) for path in files} == {0o600}
    assert {mode(path) for path in holder.rglob("*") if path.is_dir()} <= {0o700}
    assert seen
    assert {bits & 0o077 for _, bits in seen} == {0}, "under its temporary name too"
    assert not any(mode(path) & 0o022 for path in (folder, *folder.rglob("*"))), "nobody else may change a release"


@pytest.mark.slow
def test_what_a_sweep_writes_is_the_holders_alone(recipe: Path) -> None:
    before = os.umask(0)
    try:
        done = sfumato("sweep", recipe, "--over", "privacy.0.k=4", "--output", recipe.parent / "sweep")
    finally:
        os.umask(before)
    assert done.returncode == 0, done.stderr
    found = [recipe.parent / "sweep", *(recipe.parent / "sweep").rglob("*")]
    assert len(found) >= 5
    assert {mode(path) for path in found if path.is_dir()} == {0o700}
    assert {mode(path) for path in found if path.is_file()} == {0o600}


def test_a_key_is_its_owners_alone(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        sfumato("key", "make", tmp_path / "holder.key")
    finally:
        os.umask(before)
    assert mode(tmp_path / "holder.key") == 0o600


def places(tmp_path: Path) -> dict[str, Path]:
    (tmp_path / "file").write_text("mine")
    stranger = tmp_path / "stranger"
    stranger.mkdir()
    (stranger / "thesis.txt").write_text("mine")
    (tmp_path / "beside.holder").mkdir()
    (tmp_path / "beside.holder" / "thesis.txt").write_text("mine")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    (tmp_path / "dangling").symlink_to(tmp_path / "nothing")
    return {
        "a file above": tmp_path / "file" / "out",
        "a stranger's folder": stranger,
        "a stranger's holder's folder": tmp_path / "beside",
        "a file": tmp_path / "file",
        "a name that is too long": tmp_path / ("n" * 240),
        "a name above that is too long": tmp_path / ("n" * 300) / "out",
        "no real file system": Path("/proc/sfumato/out"),
        "a link to itself": tmp_path / "loop" / "out",
        "a link to nothing": tmp_path / "dangling",
        "no name": Path("/"),
    }


@pytest.mark.parametrize(
    "place",
    [
        "a file above",
        "a stranger's folder",
        "a stranger's holder's folder",
        "a file",
        "a name that is too long",
        "a name above that is too long",
        "no real file system",
        "a link to itself",
        "a link to nothing",
        "no name",
    ],
)
def test_a_place_that_cannot_be_written_is_found_before_the_table_is_read(place: str, recipe: Path) -> None:
    (recipe.parent / "people.csv").unlink()  # whoever read it would complain of that instead
    folder = recipe.parent / "places"
    folder.mkdir()
    done = sfumato("publish", recipe, "--output", places(folder)[place])
    assert done.returncode == 2
    assert "given: no such file" not in done.stderr
    assert "Traceback" not in done.stderr
    assert any(words in done.stderr for words in ("must be writable", "must be new", "has a name"))


def test_a_family_and_the_demo_look_first(recipe: Path) -> None:
    (recipe.parent / "people.csv").unlink()
    (recipe.parent / "file").write_text("mine")
    for asked in (("publish", recipe, "--clusters", "2,3"), ("demo",), ("sweep", recipe, "--over", "privacy.0.k=4")):
        done = sfumato(*asked, "--output", recipe.parent / "file" / "out")
        assert done.returncode == 2
        assert "must be writable" in done.stderr


def test_a_ledger_that_cannot_be_written_is_found_before_the_table_is_read(
    recipe: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (recipe.parent / "people.csv").unlink()
    (recipe.parent / "file").write_text("mine")
    monkeypatch.setenv("XDG_STATE_HOME", str(recipe.parent / "file"))
    done = sfumato("publish", recipe, "--output", recipe.parent / "out")
    assert done.returncode == 2
    assert "the ledger must be writable" in done.stderr


def test_no_release_is_written_into_another(tmp_path: Path) -> None:
    release = sf.publish(people(), sf.Recipe.from_yaml(RECIPE), run=sf.Run(report=False))
    out = release.write(tmp_path / "out")
    for inside in (out / "next", out / "deeper" / "next", tmp_path / "out.holder" / "next"):
        with pytest.raises(sf.ReleaseError, match="into another one's folder"):
            check_output(inside)
        with pytest.raises(sf.ReleaseError, match="into another one's folder"):
            release.write(inside)
    before = sorted((tmp_path / "out.holder").iterdir())
    (tmp_path / "link").symlink_to(tmp_path / "out.holder")
    for private in (tmp_path / "out.holder", tmp_path / "new.holder", tmp_path / "link"):
        with pytest.raises(sf.ReleaseError, match="never a release itself"):
            check_output(private)
        with pytest.raises(sf.ReleaseError, match="never a release itself"):
            release.write(private)
    assert sorted((tmp_path / "out.holder").iterdir()) == before
    assert sf.verify(out).holds
    check_output(out)  # an earlier release is replaced


def test_looking_leaves_nothing_behind(tmp_path: Path) -> None:
    check_output(tmp_path / "new" / "deeper" / "out")
    assert list(tmp_path.iterdir()) == []
