"""The studio in a real browser: a person gets from a CSV to a verified release, and nothing leaves the machine.

With STUDIO_SHOTS=FOLDER every screen is kept as a picture there.
"""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow.csv as pv
import pytest

import sfumato as sf

BROWSER = shutil.which("chromium")
AXE = Path(sys.prefix) / "axe" / "axe.min.js"
DESK: Any = {"width": 1200, "height": 900}
MOST_ACTIONS = 25
MOST_BYTES = 5 << 20
ADULT = sf.datasets.load("adult").table.select(["age", "education_num", "sex", "race", "hours_per_week", "income"])
pytestmark = [pytest.mark.slow, pytest.mark.skipif(BROWSER is None, reason="no Chromium is installed")]


@dataclass
class Person:
    """Owns a page of the browser, counts what is done on it, and looks at every screen."""

    page: Any
    address: str
    actions: int = 0
    barriers: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)
    elsewhere: list[str] = field(default_factory=list)
    received: int = 0

    def watch(self) -> None:
        self.page.on("console", lambda told: self.complaints.append(told.text) if told.type == "error" else None)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", lambda asked: self._asked(asked.url))
        self.page.on("response", self._answered)

    def _asked(self, url: str) -> None:
        if not url.startswith((self.address, "data:", "blob:", "about:")):
            self.elsewhere.append(url)

    def _answered(self, answer: Any) -> None:
        size = answer.headers.get("content-length", "0")
        self.received = max(self.received, int(size) if size.isdigit() else 0)

    def click(self, what: str) -> None:
        self.actions += 1
        self.page.click(what)

    def choose(self, what: str, value: str) -> None:
        self.actions += 1
        self.page.select_option(what, value)

    def fill(self, what: str, value: str) -> None:
        self.actions += 1
        self.page.fill(what, value)
        self.page.press(what, "Tab")

    def upload(self, path: Path) -> None:
        self.actions += 1
        self.page.set_input_files("#file", str(path))

    def see(self, what: str, name: str = "") -> None:
        """Wait for something; if it has a name, look at the whole screen in every light and at telephone width."""
        self.page.wait_for_selector(what, timeout=300_000)
        if name:
            self.page.wait_for_timeout(300)
            self._look(name)

    def _look(self, name: str) -> None:
        shots = os.environ.get("STUDIO_SHOTS")
        for scheme, width in (("light", 1200), ("dark", 1200), ("light", 380)):
            self.page.emulate_media(color_scheme=scheme)
            self.page.set_viewport_size({"width": width, "height": 900})
            wide = self.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
            if wide > 1:
                self.barriers.append(f"{name} at {width}: {wide} pixels too wide")
            self.barriers += [f"{name}, {scheme}, {width}: {found}" for found in self._barriers()]
            if shots:
                self.page.screenshot(path=f"{shots}/studio-{name}-{scheme}-{width}.png", full_page=True)
        self.page.set_viewport_size({"width": 1200, "height": 900})
        self.page.emulate_media(color_scheme="light")

    def _barriers(self) -> list[str]:
        """What axe-core finds; nothing where it is not there."""
        if not AXE.is_file():
            return []
        self.page.evaluate(AXE.read_text(encoding="utf-8"))
        found = self.page.evaluate("axe.run(document, {iframes: false})")
        return [f"{one['id']}: {one['nodes'][0]['html'][:160]}" for one in found["violations"]]


BROWSERS_OWN = (".googleapis.com", ".google.com")
"""Where Chromium asks by itself, beside any page: for updates, for accounts, and what the fields of a form may be."""


class Beyond:
    """Owns a proxy to which the browser gives all that is not for this machine: it notes hosts, and goes no further."""

    def __init__(self) -> None:
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self.socket.getsockname()[1]}"
        self.hosts: list[str] = []
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        while True:
            asking, _ = self.socket.accept()
            with asking:
                found = re.match(rb"[A-Z]+ (?:http://)?([^:/ ]+)", asking.recv(4096))
                self.hosts.append(found[1].decode() if found else "something else")


@pytest.fixture
def person(tmp_path: Path) -> Iterator[Person]:
    sync = pytest.importorskip("playwright.sync_api")
    words = [sys.executable, "-m", "sfumato.cli.main", "studio", "--no-browser", "--port", "0"]
    env = {**os.environ, "XDG_STATE_HOME": str(tmp_path / "state"), "COLUMNS": "400"}
    server = subprocess.Popen([*words, "--folder", str(tmp_path / "w")], cwd=tmp_path, env=env, stdout=subprocess.PIPE)
    assert server.stdout is not None
    found = re.search(rb"(http://[^/]+/)enter\S+", server.stdout.readline())
    assert found is not None
    try:
        with sync.sync_playwright() as playwright:
            beyond = Beyond()
            flags = ["--no-sandbox", "--disable-background-networking", f"--proxy-server={beyond.address}"]
            browser = playwright.chromium.launch(executable_path=BROWSER, args=flags)
            one = Person(browser.new_page(viewport=DESK, reduced_motion="reduce"), found[1].decode())
            one.watch()
            one.page.goto(found[0].decode())
            yield one
            browser.close()
            assert [host for host in beyond.hosts if not host.endswith(BROWSERS_OWN)] == []
    finally:
        server.terminate()
        server.wait(20)


def people(folder: Path, rows: int = 900) -> Path:
    pv.write_csv(ADULT.slice(0, rows), folder / "people.csv")
    return folder / "people.csv"


def begun(person: Person, table: Path) -> None:
    person.see("h1", "0-home")
    person.click("text=Begin with a table")
    person.see("#file", "1-begin")
    person.upload(table)
    person.click("button:has-text('Upload')")
    person.see(".figures")


def asked_and_released(person: Person) -> None:
    person.click("button:has-text('Ask the ledger')")
    person.see("#name")
    person.click("input[name=understood]")
    person.see("#name", "9-release")
    person.click("button:has-text('Release')")
    person.see("#released", "9-released")
    assert "every claim holds" in person.page.inner_text("#released")


def told(person: Person) -> None:
    assert person.actions <= MOST_ACTIONS
    assert person.complaints == []
    assert person.elsewhere == []
    assert person.received <= MOST_BYTES
    assert person.barriers == []


def test_from_a_csv_to_a_verified_release(person: Person, tmp_path: Path) -> None:
    begun(person, people(tmp_path))
    person.see(".figures", "1-table")
    person.click("#next")
    person.see("#live", "2-attributes")
    before = person.page.inner_text("#live")
    person.choose("[aria-label='Role of hours_per_week']", "quasi")
    person.page.wait_for_function("was => document.querySelector('#live').innerText !== was", arg=before)
    person.click("#next")
    person.see(".split", "3-trees")
    person.click(".list a:has-text('race')")
    person.click("button:has-text('All labels')")
    person.see(".tree", "3-tree")
    person.click("#next")
    person.click("input[value=clusters]")
    person.click("button:has-text('Draw them')")
    person.see("iframe.drawn", "4-survive")
    person.click("#next")
    person.see(".needs")
    person.click("button:has-text('Check before')")
    person.see(".checks", "5-privacy")
    person.click("#next")
    person.click("button.big")
    person.see("text=Cancel", "6-running")
    person.see(".outcome", "6-run")
    person.click("#next")
    person.see(".compare", "7-compare")
    person.click("#next")
    person.see("iframe.drawn", "8-understand")
    person.click("button:has-text('Why do its values')")
    person.see(".chips a")
    person.click(".chips a >> nth=0")
    person.see("#why", "8-value")
    person.click("#next")
    asked_and_released(person)
    told(person)


def test_generated_rows_under_a_budget(person: Person, tmp_path: Path) -> None:
    begun(person, people(tmp_path))
    person.click("text=What must survive")
    person.click("input[value=none]")
    person.click("#next")
    person.fill("#epsilon", "1")
    person.fill("#people", "adults")
    person.click("button:has-text('Use a budget')")
    person.see("text=What can occur is declared", "5-declare")
    person.click("text=no secret")
    person.see("table.plan", "5-plan")
    person.click("#next")
    person.see("text=I approve", "6-plan")
    person.click("input[name=approved]")
    person.click("button.big")
    person.see(".outcome")
    person.click("text=Release")
    asked_and_released(person)
    told(person)


def test_two_quasi_identifiers_and_keys_alone(person: Person, tmp_path: Path) -> None:
    begun(person, people(tmp_path))
    person.click("text=Privacy")
    person.see(".needs")
    person.click("button:has-text('Add')")
    person.page.wait_for_function("() => document.querySelectorAll('.needs > li').length > 1")
    person.page.wait_for_timeout(1000)  # until what was swapped in has settled
    person.click("input[name=wanted] >> nth=0")
    person.see(".policy .checks", "5-policies")
    person.click("input[name=wanted] >> nth=0")
    person.page.wait_for_selector(".policy .checks", state="detached")
    person.page.press("input[value=top_down]", "Space")
    person.see(".summary :text('top_down')")
    person.click("#next")
    person.see("button.big")
    person.page.focus("button.big")
    person.page.keyboard.press("Enter")
    person.see(".outcome")
    person.click("text=Understand")
    person.see("text=Which k would show more", "8-why")
    person.click("text=Release")
    asked_and_released(person)
    told(person)
