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
from sfumato.privacy.verify import CLAIMS, verify
from sfumato.privacy.verify import maskers as verified
from sfumato.privacy.verify.texts import pages
from sfumato.privacy.verify.texts.readme import EXPLAINED, readme
from tests.conftest import read_json, write_json
from tests.corruptions import change_certificate, change_claims, files, forge
from tests.releases import POLICIES, REQUIREMENTS, release_of

if TYPE_CHECKING:
    from tests.conftest import Blueprint

SCHEMA = json.loads(resources.files("sfumato.privacy.verify").joinpath("certificate.schema.json").read_text())
VALID = jsonschema.Draft202012Validator(SCHEMA)
KINDS = [*REQUIREMENTS, POLICIES, *(name for name in MASKERS if name != "top_down")]
FORM: dict[str, Any] = {
    "format": 3,
    "sfumato": "0.1.0",
    "created": "2026-01-01T00:00:00+00:00",
    "guarantee": "l_diversity",
    "statement": "In <b>this</b> table | all *is* well.",
    "grounds": "It was counted.",
    "not_claimed": ["More."],
    "mask": "top_down",
    "table": {
        "file": "table.csv",
        "rows": 7000,
        "columns": [
            {"name": "a|b", "kind": "number", "role": "quasi", "masked": "discretize"},
            {"name": "born", "kind": "number", "role": "quasi", "masked": "discretize", "calendar": "quarter"},
            {"name": "<script>alert(1)</script>", "kind": "category", "role": "sensitive", "masked": None},
        ],
    },
    "claims": [
        {
            "claim": "l_diversity",
            "on": ["a|b"],
            "sensitive": "<script>",
            "l": 2,
            "kind": "distinct",
            "achieved": {"l": 3},
            "attacker": "knows a|b",
            "sentence": "records & people",
        }
    ],
    "covered": [],
    "lifted": 2,
    "row_order": "shuffled",
    "dropped": 1,
    "along": {"centres": True},
    "versions": {"numpy": "2.0.0", "pyarrow": "20.0.0", "polars": "1.30.0", "python": "3.11.0"},
    "files": {name: {"sha256": "0" * 64} for name in ("centres.json", "recoding.json", "table.csv")},
}


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
    assert (folder / "certificate.md").read_text(encoding="utf-8") == pages.markdown(form)
    assert (folder / "certificate.html").read_text(encoding="utf-8") == pages.html(form)


def test_the_schema_refuses_what_verify_refuses() -> None:
    VALID.validate(FORM)
    for change in ({"format": 1}, {"extra": 1}, {"guarantee": "magic"}, {"claims": [{"claim": "magic"}]}):
        assert not VALID.is_valid({**FORM, **change})


@pytest.mark.parametrize("kind", ["k_anonymity", "shares", "microaggregate", "translate", "private_tree"])
def test_what_verify_believes_is_as_the_schema_says(kind: str, tmp_path: Path) -> None:
    for seed in range(15):
        chance = random.Random(f"{kind} {seed}")
        folder = release_of(kind, tmp_path / str(seed))
        (change_certificate if seed % 3 else change_claims)(chance, folder)
        forge(folder)
        if verify(folder).holds:
            VALID.validate(read_json(folder / "certificate.json"))


@pytest.mark.parametrize("kind", ["k_anonymity", "translate", "private_tree"])
def test_what_no_other_field_tells_can_be_another_and_nothing_else(kind: str, tmp_path: Path) -> None:
    """What a forger may still choose: versions, the time, how many columns were left out. All of it is bounded."""
    free = {"sfumato": "9999.9999.9999.9999rc9999", "created": "1999-12-31T23:59:59+00:00", "dropped": 10_000}
    for at, (key, value) in enumerate(free.items()):
        folder = release_of(kind, tmp_path / str(at))
        form = read_json(folder / "certificate.json") | {key: value}
        if kind == "private_tree":
            form["deployment"]["basic"]["publication_date"] = form["created"][:10]
            form["deployment"]["implementation"]["libraries"]["sfumato"] = form["sfumato"]
        write_json(folder / "certificate.json", form)
        forge(folder)
        assert verify(folder).holds, str(verify(folder))
        VALID.validate(read_json(folder / "certificate.json"))
        for wrong in (f"{value}x", [value], None, {"Ada": 36}, 10**30, True):
            write_json(folder / "certificate.json", form | {key: wrong})
            forge(folder)
            assert "certificate" in {check.name for check in verify(folder).failed}


def test_a_page_that_says_something_else_is_found(blueprint: Blueprint, tmp_path: Path) -> None:
    folder = blueprint.write(tmp_path / "out")
    form = read_json(folder / "certificate.json")
    makers = {"README.md": readme, "certificate.md": pages.markdown, "certificate.html": pages.html}
    for name, make in makers.items():
        made = make(form)
        (folder / name).write_text(made, encoding="utf-8")
        assert verify(folder).holds
        (folder / name).write_text(made.replace("240 rows", "999 rows"), encoding="utf-8")
        told = {check.name for check in verify(folder).failed}
        assert told == ({"pages", "hashes"} if name == "README.md" else {"pages"})
        (folder / name).write_text(made, encoding="utf-8")


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
    tags.feed(pages.html(FORM))
    assert tags.found <= {
        "html",
        "head",
        "meta",
        "title",
        "style",
        "body",
        "h1",
        "h2",
        "h3",
        "p",
        "blockquote",
        "ul",
        "li",
        "table",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
        "code",
    }
    assert tags.links == []
    assert "prefers-color-scheme: dark" in pages.html(FORM)
    page = pages.markdown(FORM)
    assert "<script>" not in page
    assert "| a\\|b | number | quasi | discretize | - |" in page
    assert "| a\\|b | quasi | replaced by an interval" in readme(FORM)
    assert "<script>" not in readme(FORM)
    assert "In \\<b\\>this\\</b\\> table \\| all \\*is\\* well." in page


def test_the_pages_of_format_2_never_change() -> None:
    """Releases that are out there hold these bytes: other ones would make verify refuse them."""
    digests = [hashlib.sha256(made(FORM).encode()).hexdigest()[:16] for made in (pages.markdown, pages.html, readme)]
    assert digests == ["baf38a10b9e7b17e", "754775aa7479be9b", "ed5b249926f99a01"]


def test_every_masker_is_known_to_verify() -> None:
    """A new masker is entered in verify too: what it shows, and the file that explains it."""
    assert set(verified.MASKERS) == set(MASKERS)
    words = {word for masker in verified.MASKERS.values() for word in masker.masked}
    assert words == set(verified.MASKED) == set(EXPLAINED)


def test_a_release_of_format_1_is_told_in_one_line(blueprint: Blueprint, tmp_path: Path) -> None:
    folder = blueprint.write(tmp_path / "out")
    blueprint.edit(folder, "certificate.json", lambda form: form.update(format=1))
    verdict = verify(folder)
    assert [check.name for check in verdict.checks] == ["format"]
    assert "of format 1" in str(verdict)
    assert "publish the table again" in str(verdict)
    assert {one.name for one in verdict.files} == {path.relative_to(folder).as_posix() for path in files(folder)}


def test_the_verdict_tells_of_every_file_how_it_was_checked(tmp_path: Path) -> None:
    for kind in ("k_anonymity", "partition", "mondrian", "microaggregate", "translate", "private_tree"):
        folder = release_of(kind, tmp_path / kind)
        told = {one.name: one.how for one in verify(folder, strict=True).files}
        assert set(told) == {path.relative_to(folder).as_posix() for path in files(folder)}
        assert not [how for how in told.values() if "NOT" in how]
        assert told["README.md"] == "made again from the certificate and compared to the byte"
