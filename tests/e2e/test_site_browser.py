"""The built site in a real browser: nothing is asked of others, no barriers, no page too wide for a telephone, search.

`./run docs` builds it; SFUMATO_SITE names the folder. With SITE_SHOTS=FOLDER every page is kept as a picture there.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

SITE = os.environ.get("SFUMATO_SITE")
BROWSER = shutil.which("chromium")
AXE = Path(sys.prefix) / "axe" / "axe.min.js"
PAGES = (
    "index",
    "start",
    "choosing",
    "howto",
    "how_it_works",
    "recipes",
    "reference/commands",
    "reference/api",
    "results/peers",
    "generated/tutorials/index",
    "generated/tutorials/01_hospital",
    "generated/api/sfumato.Recipe",
)
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(SITE is None, reason="no site is named in SFUMATO_SITE: ./run docs builds one"),
    pytest.mark.skipif(BROWSER is None, reason="no Chromium is installed"),
]


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """The site on this machine's own address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(SITE)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    sync = pytest.importorskip("playwright.sync_api")
    with sync.sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        yield found
        found.close()


def visit(browser: Any, address: str, name: str) -> tuple[Any, list[str]]:
    """A page, and what it asked of others or complained of."""
    page, heard = browser.new_page(reduced_motion="reduce"), []
    page.on("request", lambda asked: None if asked.url.startswith((address, "data:")) else heard.append(asked.url))
    page.on("pageerror", lambda error: heard.append(str(error)))
    page.goto(f"{address}{name}.html")
    return page, heard


@pytest.mark.parametrize("name", PAGES)
def test_a_page_can_be_read_by_everybody_everywhere(browser: Any, address: str, name: str) -> None:
    page, heard = visit(browser, address, name)
    barriers: list[str] = []
    for scheme, width in (("light", 1200), ("dark", 1200), ("light", 380)):
        page.emulate_media(color_scheme=scheme)
        page.set_viewport_size({"width": width, "height": 900})
        page.wait_for_timeout(100)
        wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        barriers += [f"{width}: {wide} pixels too wide"] if wide > 1 else []
        barriers += [f"{scheme}, {width}: {one}" for one in found_by_axe(page)]
        if shots := os.environ.get("SITE_SHOTS"):
            page.screenshot(path=f"{shots}/{name.replace('/', '-')}-{scheme}-{width}.png")
    page.close()
    assert not heard
    assert not barriers


def test_no_page_has_an_empty_navigation() -> None:
    """The theme draws the box beside pages without siblings, too; `html_sidebars` in docs/conf.py takes it away."""
    empty = []
    for path in Path(str(SITE)).rglob("*.html"):
        found = re.search(r'<nav class="bd-docs-nav.*?</nav>', path.read_text(encoding="utf-8"), re.DOTALL)
        if found is not None and "<a " not in found[0]:
            empty.append(path.name)
    assert not empty


def found_by_axe(page: Any) -> list[str]:
    """What axe-core finds; nothing where it is not there."""
    if not AXE.is_file():
        return []
    page.evaluate(AXE.read_text(encoding="utf-8"))
    found = page.evaluate("axe.run(document, {iframes: false})")
    return [f"{one['id']}: {node['html'][:140]}" for one in found["violations"] for node in one["nodes"][:2]]


@pytest.mark.parametrize(("word", "page_found"), [("k_anonymity", "recipes.html"), ("spark", "spark.html")])
def test_search_works_without_a_network(browser: Any, address: str, word: str, page_found: str) -> None:
    page, heard = visit(browser, address, "index")
    page.goto(f"{address}search.html?q={word}")
    page.wait_for_selector("#search-results li a", timeout=60_000)
    links = page.eval_on_selector_all("#search-results li a", "every => every.map(one => one.getAttribute('href'))")
    page.close()
    assert any(page_found in link for link in links)
    assert not heard
