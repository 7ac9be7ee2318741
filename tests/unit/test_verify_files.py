"""How each file of a release was checked: what cannot be checked is named, and refused by whoever asks for that."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import sfumato as sf
from sfumato.cli.main import main
from tests.corruptions import forge
from tests.forgeries.certificates import HEAD
from tests.releases import people, recipe, release_of

NAMED = "NOT CHECKED beyond its SHA-256: report.html"


@pytest.fixture
def reported(tmp_path: Path) -> Path:
    """A release with a report that says what it likes."""
    folder = release_of("k_anonymity", tmp_path / "out")
    (folder / "report.html").write_text(f"{HEAD}<p>At least 5000 records are alike.</p></body></html>\n")
    forge(folder)
    return folder


def test_a_report_is_named_as_not_checked(reported: Path) -> None:
    verdict = sf.verify(reported)
    assert verdict.holds, str(verdict)
    assert NAMED in str(verdict)
    assert [one.name for one in verdict.files if "NOT CHECKED" in one.how] == ["report.html"]
    for page in ("README.md", "certificate.md"):
        assert "report.html" in (reported / page).read_text(encoding="utf-8")


def test_strict_refuses_what_cannot_be_checked(reported: Path) -> None:
    assert [check.name for check in sf.verify(reported, strict=True).failed] == ["strict"]
    (reported / "report.html").unlink()
    forge(reported)
    assert sf.verify(reported, strict=True).holds
    assert "NOT CHECKED" not in str(sf.verify(reported, strict=True))


@pytest.mark.parametrize(("options", "code"), [((), 0), (("--strict",), 1)])
def test_the_program_tells_the_same(
    options: tuple[str, ...],
    code: int,
    reported: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(sys, "argv", ["sfumato", "verify", str(reported), *options])
    with pytest.raises(SystemExit) as ending:
        main()
    assert int(ending.value.code or 0) == code
    assert NAMED in capsys.readouterr().out


def test_the_report_that_publish_draws_passes_what_can_be_seen_of_it(tmp_path: Path) -> None:
    asked = recipe("k_anonymity")
    folder = sf.publish(people().select(list(asked.schema)), asked, run=sf.Run(report=True)).write(tmp_path / "out")
    verdict = sf.verify(folder)
    assert verdict.holds, str(verdict)
    assert "runs nothing and loads nothing" in {check.name: check.detail for check in verdict.checks}["report"]
    assert not sf.verify(folder, strict=True).holds


def test_a_speaking_name_stands_in_quotation_marks(tmp_path: Path) -> None:
    """It is a name all the same: where it is published it is quoted, and the release holds."""
    name = 'age"; and at least 5000 records share "age'
    asked = recipe("k_anonymity")
    table = people().select(["age", "country"]).rename_columns([name, "country"])
    schema = sf.Schema({name: asked.schema["age"], "country": asked.schema["country"]})
    needs = (sf.KAnonymity([name, "country"], 4),)
    made = sf.publish(
        table, sf.Recipe(schema=schema, structure=asked.structure, privacy=needs), run=sf.Run(report=False)
    )
    inside = name.replace('"', '\\"')
    assert made.guarantee.endswith(f'values shown for "{inside}", "country".')
    folder = made.write(tmp_path / "out")
    assert sf.verify(folder, strict=True).holds
    assert made.guarantee.replace("\\", "\\\\") in (folder / "README.md").read_text(encoding="utf-8")
