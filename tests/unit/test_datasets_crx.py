"""Credit Approval: found, checked, cached or refused; the real file where it is at hand."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from sfumato.data import datasets
from sfumato.data.datasets import crx
from sfumato.errors import DatasetError

SHARED = Path(__file__).parents[3] / "shared" / "data"


@pytest.fixture(scope="module")
def real() -> Path:
    """The folder with the real file: SFUMATO_DATA, or shared/data beside the checkout."""
    for folder in (Path(os.environ.get("SFUMATO_DATA", "")), SHARED):
        if (folder / "crx.csv").is_file():
            return folder
    pytest.skip("crx.csv is neither in SFUMATO_DATA nor in shared/data beside the checkout")


@pytest.fixture(autouse=True)
def _alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither a folder nor a cache nor a network."""
    monkeypatch.delenv("SFUMATO_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(crx, "URL", (tmp_path / "nowhere").as_uri())


@pytest.fixture
def as_uci_writes_it(real: Path, tmp_path: Path) -> Path:
    """No header, numbers with leading zeros, and 37 incomplete records between the others."""
    lines = (real / "crx.csv").read_text(encoding="utf-8").splitlines()[1:]
    padded = [",".join(_padded(line.split(","))) for line in lines]
    incomplete = ["?," + padded[0].partition(",")[2]] * 37
    path = tmp_path / "raw" / "crx.data"
    path.parent.mkdir()
    path.write_text("\n".join([*padded[:300], *incomplete, *padded[300:]]) + "\n", encoding="utf-8")
    return path


def _padded(cells: list[str]) -> list[str]:
    return [*cells[:10], cells[10].zfill(2), *cells[11:13], cells[13].zfill(5), *cells[14:]]


def test_the_real_file_from_a_folder(real: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SFUMATO_DATA", str(real))
    found = datasets.load("crx")
    assert found.table.num_rows == 653
    assert found.table.column_names == [f"A{number}" for number in range(1, 17)] == list(found.schema)
    assert found.schema.with_role("sensitive") == ("A16",)
    assert found.table.column("A2").to_pylist()[:2] == [30.83, 58.67]


def test_the_form_of_uci_has_the_same_content(
    real: Path, as_uci_writes_it: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SFUMATO_DATA", str(as_uci_writes_it.parent))
    assert datasets.load("crx").table.num_rows == 690
    assert datasets.load("crx").table.column("A1").null_count == 37
    complete = datasets.load("crx", complete=True).table
    assert complete.equals(crx.parse(real / "crx.csv"))


def test_the_cache_comes_after_the_folder(real: Path) -> None:
    crx.cache_folder().mkdir(parents=True)
    shutil.copy(real / "crx.csv", crx.cache_folder() / "crx.csv")
    assert crx.find() == crx.cache_folder() / "crx.csv"
    assert datasets.load("crx").table.num_rows == 653


def test_a_download_is_checked_and_then_cached(as_uci_writes_it: Path) -> None:
    table = crx.download(as_uci_writes_it.as_uri())
    assert table.num_rows == 690
    assert [path.name for path in crx.cache_folder().iterdir()] == ["crx.data"]
    assert datasets.load("crx").table.equals(table)


def test_a_wrong_download_is_refused_and_not_kept(tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text("<html>moved</html>", encoding="utf-8")
    with pytest.raises(DatasetError, match="653 complete records"):
        crx.download((tmp_path / "page.html").as_uri())
    assert list(crx.cache_folder().iterdir()) == []


def test_lost_decimal_points_are_noticed(real: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (real / "crx.csv").read_text(encoding="utf-8")
    (tmp_path / "crx.csv").write_text(text.replace("30.83", "3083"), encoding="utf-8")
    monkeypatch.setenv("SFUMATO_DATA", str(tmp_path))
    with pytest.raises(DatasetError, match=r"other content in crx\.csv"):
        datasets.load("crx")


def test_another_order_is_noticed(real: Path, tmp_path: Path) -> None:
    header, first, second, *rest = (real / "crx.csv").read_text(encoding="utf-8").splitlines()
    (tmp_path / "crx.csv").write_text("\n".join([header, second, first, *rest]), encoding="utf-8")
    with pytest.raises(DatasetError):
        crx.parse(tmp_path / "crx.csv")


def test_when_all_fails_the_error_says_how_to_get_it() -> None:
    with pytest.raises(DatasetError, match="SFUMATO_DATA") as caught:
        datasets.load("crx")
    assert "archive.ics.uci.edu" in caught.value.remedy
