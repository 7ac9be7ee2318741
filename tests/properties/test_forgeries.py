"""No forged release holds, however well its hashes and its pages fit."""

from __future__ import annotations

from pathlib import Path

import pytest

import sfumato as sf
from tests.corruptions import forge
from tests.forgeries import every_forgery
from tests.releases import given_with, release_of
from tests.sampling import some

FORGERIES = every_forgery()
KINDS = sorted({forgery.of for forgery in FORGERIES.values()})


@pytest.mark.parametrize("kind", KINDS)
def test_the_release_before_it_is_forged_holds(kind: str, tmp_path: Path) -> None:
    folder = release_of(kind, tmp_path / "out")
    assert sf.verify(folder, **given_with(kind)).holds
    forge(folder)
    assert sf.verify(folder, **given_with(kind)).holds, "making hashes and pages fit changes nothing by itself"


@pytest.mark.parametrize("name", some(sorted(FORGERIES), 3))
def test_a_forged_release_does_not_hold(name: str, tmp_path: Path) -> None:
    forgery = FORGERIES[name]
    folder = release_of(forgery.of, tmp_path / "out")
    forgery.forge(folder)
    if forgery.fits:
        forge(folder)
    assert not sf.verify(folder, **given_with(forgery.of)).holds
