"""The certificate's schema and its pages: every release has them right, and they say what verify believes."""

from __future__ import annotations

import hashlib
import json
import random
from html.parser import HTMLParser
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest

from sfumato.maskers.registry import MASKERS
from sfumato.privacy.verify import CLAIMS, twins, verify
from tests.conftest import read_json
from tests.corruptions import change_certificate, change_claims, forge
from tests.releases import REQUIREMENTS, release_of

if TYPE_CHECKING:
    from tests.conftest import Blueprint

SCHEMA = json.loads(resources.files("sfumato.privacy.verify").joinpath("certificate.schema.json").read_text())
VALID = jsonschema.Draft202012Validator(SCHEMA)
KINDS = [*REQUIREMENTS, *(name for name in MASKERS if name != "top_down")]
FORM: dict[str, Any] = {
    "format": 1, "sfumato": "0.1.0", "created": "2026-01-01", "guarantee": "l_diversity", "mask": "top_down",
    "statement": "In <b>this</b> table | all *is* well.", "grounds": "It was counted.", "not_claimed": ["More."],
    "table": {"file": "table.csv", "rows": 7, "columns": [
        {"name": "a|b", "kind": "number", "role": "quasi", "masked": "discretize"},
        {"name": "<script>alert(1)</script>", "kind": "category", "role": "sensitive", "masked": None}]},
    "claims": [{"claim": "l_diversity", "on": ["a|b"], "sensitive": "<script>", "l": 2, "kind": "distinct",
                "achieved": {"l": 3}, "attacker": "knows a|b", "sentence": "records & people"}],
    "covered": [], "lifted": 0, "row_order": "shuffled", "dropped": ["name"], "along": {}, "versions": {},
    "files": {"table.csv": {"sha256": "0" * 64}},
}  # fmt: skip


def test_the_schema_is_one_and_knows_every_claim() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    assert set(CLAIMS) <= set(SCHEMA["$defs"])
    assert set(CLAIMS) <= set(SCHEMA["properties"]["guarantee"]["enum"])


@pytest.mark.parametrize("kind", KINDS)
def test_every_certificate_is_as_the_schema_says(kind: str, tmp_path: Path) -> None:
    folder = release_of(kind, tmp_path / "out")
    form = read_json(folder / "certificate.json")
    VALID.validate(form)
    assert all("attacker" in claim and "sentence" in claim for claim in form["claims"])
    assert (folder / "certificate.md").read_text(encoding="utf-8") == twins.markdown(form)
    assert (folder / "certificate.html").read_text(encoding="utf-8") == twins.html(form)


def test_the_schema_refuses_what_verify_refuses() -> None:
    VALID.validate(FORM)
    for change in ({"format": 2}, {"extra": 1}, {"guarantee": "magic"}, {"claims": [{"claim": "magic"}]}):
        assert not VALID.is_valid({**FORM, **change})


@pytest.mark.parametrize("kind", ["k_anonymity", "shares", "microaggregate", "translate", "private_tree"])
def test_what_verify_believes_is_as_the_schema_says(kind: str, tmp_path: Path) -> None:
    believed = 0
    for seed in range(30):
        chance = random.Random(f"{kind} {seed}")
        folder = release_of(kind, tmp_path / str(seed))
        (change_certificate if seed % 3 else change_claims)(chance, folder)
        forge(folder)
        if verify(folder).holds:
            VALID.validate(read_json(folder / "certificate.json"))
            believed += 1
    assert believed, "something passes: versions and the like are free"


def test_a_page_that_says_something_else_is_found(blueprint: Blueprint, tmp_path: Path) -> None:
    folder = blueprint.write(tmp_path / "out")
    form = read_json(folder / "certificate.json")
    for name, made in (("certificate.md", twins.markdown(form)), ("certificate.html", twins.html(form))):
        (folder / name).write_text(made, encoding="utf-8")
        assert verify(folder).holds
        (folder / name).write_text(made.replace("240 rows", "999 rows"), encoding="utf-8")
        assert [check.name for check in verify(folder).failed] == ["pages"]
        (folder / name).unlink()


def test_a_page_cannot_be_listed_in_the_certificate_it_is_made_from(blueprint: Blueprint, tmp_path: Path) -> None:
    folder = blueprint.write(tmp_path / "out")
    (folder / "certificate.md").write_text("# Certificate\n", encoding="utf-8")
    entry = {"certificate.md": {"sha256": hashlib.sha256(b"# Certificate\n").hexdigest()}}
    blueprint.edit(folder, "certificate.json", lambda form: form["files"].update(entry), rehash=False)
    assert {"files", "pages"} <= {check.name for check in verify(folder).failed}


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: set[str] = set()
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.add(tag)
        self.links += [name for name, _ in attrs if name in ("src", "href")]


def test_names_are_text_on_the_pages_and_nothing_is_loaded() -> None:
    tags = Tags()
    tags.feed(twins.html(FORM))
    assert tags.found <= {"html", "head", "meta", "title", "style", "body", "h1", "h2", "h3", "p", "blockquote", "ul",
                          "li", "table", "thead", "tbody", "tr", "th", "td", "code"}  # fmt: skip
    assert tags.links == []
    assert "prefers-color-scheme: dark" in twins.html(FORM)
    page = twins.markdown(FORM)
    assert "<script>" not in page
    assert "| a\\|b | number | quasi | discretize |" in page
    assert "In \\<b\\>this\\</b\\> table \\| all \\*is\\* well." in page


def test_the_pages_of_format_1_never_change() -> None:
    """Releases that are out there hold these bytes: other ones would make verify refuse them."""
    digests = [hashlib.sha256(made(FORM).encode()).hexdigest()[:16] for made in (twins.markdown, twins.html)]
    assert digests == ["c6db74774fc98b45", "5ac812f57327bb1b"]
