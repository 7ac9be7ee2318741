"""The look through a built site: what it must find, and what it must let pass."""

from __future__ import annotations

from pathlib import Path

import pytest
from tools.links import faults

GOOD = """<html><head><link rel="canonical" href="https://elsewhere.example/">
<link rel="stylesheet" href="a.css?v=1"></head>
<body id="top"><a href="other.html#there">x</a> <a href="#top">x</a> <a href="https://elsewhere.example/">x</a>
<a href="mailto:a@b.example">x</a></body></html>"""
BAD = {
    "a page that is not there": '<a href="gone.html">x</a>',
    "a place that is not there": '<a href="other.html#gone">x</a>',
    "a picture that is not there": '<img src="gone.png">',
    "a script from outside": '<script src="https://cdn.example/x.js"></script>',
    "a style from outside": '<link rel="stylesheet" href="//cdn.example/x.css">',
    "a picture from outside": '<img src="https://elsewhere.example/x.png">',
}


@pytest.fixture
def site(tmp_path: Path) -> Path:
    (tmp_path / "index.html").write_text(GOOD, encoding="utf-8")
    (tmp_path / "other.html").write_text('<p id="there">x</p>', encoding="utf-8")
    (tmp_path / "a.css").write_text("p { background: url(data:image/png;base64,) }", encoding="utf-8")
    return tmp_path


def test_a_good_site_passes(site: Path) -> None:
    assert faults(site) == []


@pytest.mark.parametrize("what", BAD)
def test_what_is_wrong_is_found(site: Path, what: str) -> None:
    (site / "bad.html").write_text(BAD[what], encoding="utf-8")
    assert len(faults(site)) == 1


@pytest.mark.parametrize("text", ["@import 'https://cdn.example/x.css';", "p { background: url(//cdn.example/x.png) }"])
def test_a_style_that_loads_from_outside_is_found(site: Path, text: str) -> None:
    (site / "a.css").write_text(text, encoding="utf-8")
    assert len(faults(site)) == 1
