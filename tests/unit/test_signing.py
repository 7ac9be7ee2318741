"""Signed releases: whose they are, and that nobody else's pass for them."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from sfumato.cli.main import main
from sfumato.errors import ReleaseError
from sfumato.privacy.verify import verify
from sfumato.privacy.verify.files.regular_files import SIGNATURE
from sfumato.privacy.verify.signature import NOT_SIGNED
from sfumato.release.signing import is_locked, load_key, make_key, sign_release

if TYPE_CHECKING:
    from tests.conftest import Blueprint


def signature_of(folder: Path, key: Path | None = None) -> tuple[bool, str]:
    found = next(check for check in verify(folder, key=key).checks if check.name == "signature")
    return found.holds, found.detail


@pytest.fixture
def signed(blueprint: Blueprint, tmp_path: Path) -> Path:
    folder = blueprint.write(tmp_path / "out")
    make_key(tmp_path / "key")
    sign_release(folder, load_key(tmp_path / "key"))
    return folder


def test_a_signed_release_holds(signed: Path, tmp_path: Path) -> None:
    assert verify(signed).holds
    verdict = verify(signed, key=tmp_path / "key.pub")
    assert verdict.holds, str(verdict)
    assert "the given one" in str(verdict)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["key", "key.pub", "out", "out.holder"]


@pytest.mark.skipif(os.name != "posix", reason="files have such modes there")
@pytest.mark.parametrize("mode", [0o644, 0o640])
def test_a_signature_is_readable_for_whoever_may_read_the_release(mode: int, signed: Path, tmp_path: Path) -> None:
    (signed / "certificate.json").chmod(mode)
    before = os.umask(0o077)  # as jobs of cron have it
    try:
        sign_release(signed, load_key(tmp_path / "key"))
    finally:
        os.umask(before)
    assert (signed / SIGNATURE).stat().st_mode & 0o777 == mode


def test_another_signer_is_not_taken_for_the_given_one(signed: Path, tmp_path: Path) -> None:
    make_key(tmp_path / "other")
    assert not signature_of(signed, tmp_path / "other.pub")[0]
    sign_release(signed, load_key(tmp_path / "other"))
    assert verify(signed).holds
    assert not signature_of(signed, tmp_path / "key.pub")[0]


def test_a_signature_that_was_taken_away_is_missed_by_whoever_asks(signed: Path, tmp_path: Path) -> None:
    (signed / SIGNATURE).unlink()
    assert signature_of(signed) == (True, NOT_SIGNED)
    assert not signature_of(signed, tmp_path / "key.pub")[0]


def test_the_signature_covers_every_file(signed: Path, blueprint: Blueprint) -> None:
    path = signed / "certificate.json"
    path.write_text(path.read_text().replace('"sfumato": "0.1.0"', '"sfumato": "0.1.1"'))
    (signed / SIGNATURE).rename(signed.parent / SIGNATURE)
    blueprint.rehash(signed)
    assert verify(signed).holds
    (signed.parent / SIGNATURE).rename(signed / SIGNATURE)
    assert [check.name for check in verify(signed).failed] == ["signature"]


DAMAGE: dict[str, Callable[[dict[str, Any]], object]] = {
    "another algorithm": lambda form: form.update(algorithm="RSA"),
    "another fingerprint": lambda form: form.update(fingerprint="0" * 64),
    "something else": lambda form: form.update(note="trust me"),
    "no signature": lambda form: form.pop("signature"),
    "no base64": lambda form: form.update(signature="?"),
    "a short signature": lambda form: form.update(signature="AAAA"),
    "a changed signature": lambda form: form.update(signature="A" * 86 + "=="),
    "a short key": lambda form: form.update(public_key="AAAA"),
    "a key of numbers": lambda form: form.update(public_key=3),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_a_damaged_signature_fails(name: str, signed: Path) -> None:
    form = json.loads((signed / SIGNATURE).read_text())
    DAMAGE[name](form)
    (signed / SIGNATURE).write_text(json.dumps(form, indent=1) + "\n")
    assert [check.name for check in verify(signed).failed] == ["signature"]


def test_without_the_library_a_signature_is_not_checked_and_whoever_asks_for_it_is_refused(
    signed: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in [name for name in sys.modules if name.split(".")[0] == "cryptography"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "cryptography", None)
    holds, detail = signature_of(signed, None)
    assert holds
    assert "not checked: that takes a library, pip install 'sfumato[sign]'" in detail
    assert "signature" in [check.name for check in verify(signed, strict=True).failed]
    holds, detail = signature_of(signed, tmp_path / "key.pub")
    assert not holds
    assert "sfumato[sign]" in detail
    with pytest.raises(ReleaseError, match="sfumato\\[sign\\]"):
        make_key(tmp_path / "new")


def test_keys_are_their_owners_and_are_never_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "key"
    make_key(path, passphrase=b"open sesame")
    assert path.stat().st_mode & 0o777 == 0o600
    assert is_locked(path)
    load_key(path, passphrase=b"open sesame")
    for wrong in (None, b"open barley"):
        with pytest.raises(ReleaseError):
            load_key(path, passphrase=wrong)
    with pytest.raises(ReleaseError):
        make_key(path)
    (tmp_path / "half.pub").touch()
    with pytest.raises(ReleaseError):
        make_key(tmp_path / "half")
    assert not (tmp_path / "half").exists()


def test_what_is_no_key_is_refused(signed: Path, tmp_path: Path) -> None:
    (tmp_path / "text").write_text("-----")
    for path in (tmp_path / "text", tmp_path / "nowhere", tmp_path / "key.pub"):
        with pytest.raises(ReleaseError):
            load_key(path)
    for path in (tmp_path / "text", tmp_path / "nowhere", tmp_path / "key"):
        with pytest.raises(ReleaseError):
            verify(signed, key=path)


def program(monkeypatch: pytest.MonkeyPatch, *arguments: object) -> int:
    monkeypatch.setattr(sys, "argv", ["sfumato", *(str(argument) for argument in arguments)])
    with pytest.raises(SystemExit) as ending:
        main()
    return int(ending.value.code or 0)


def test_the_program_makes_keys_signs_and_verifies(
    blueprint: Blueprint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, key, words = blueprint.write(tmp_path / "out"), tmp_path / "key", tmp_path / "words"
    words.write_text("open sesame\n")
    assert program(monkeypatch, "verify", folder, "--key", key) == 2
    assert program(monkeypatch, "key", "make", key, "--passphrase-file", words) == 0
    shown = capsys.readouterr().out.strip()
    assert program(monkeypatch, "verify", folder, "--key", f"{key}.pub") == 1
    assert NOT_SIGNED in str(verify(folder))
    assert program(monkeypatch, "sign", folder, key, "--passphrase-file", words) == 0
    assert program(monkeypatch, "verify", folder, "--key", f"{key}.pub") == 0
    assert shown in capsys.readouterr().out
    (folder / "README.md").write_text("something else")
    assert program(monkeypatch, "sign", folder, key, "--passphrase-file", words) == 1
