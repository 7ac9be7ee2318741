"""`python -m tools.studio_pictures`: the pictures of the studio's tutorial, taken in a real browser.

The patients in them are generated.

It needs the extras `studio` and `plots`, playwright and a Chromium (tools/browser.sh installs both).
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import polars as pl

import sfumato as sf

PLACE = Path(__file__).parents[1] / "docs" / "studio"
WINDOW = {"width": 1100, "height": 860}
WAIT = 300_000
COLOURS = 128
"""Of a picture: enough for a screen, and a third of its size."""


@contextmanager
def opened(folder: Path) -> Iterator[Any]:
    """A page of the browser at the studio's door, with a table to begin with."""
    words = [sys.executable, "-m", "sfumato", "studio", "patients.csv", "--no-browser", "--port", "0"]
    environment = {**os.environ, "XDG_STATE_HOME": str(folder / "state"), "COLUMNS": "400"}
    server = subprocess.Popen(
        words, cwd=folder, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    assert server.stdout is not None
    address = re.search(r"http://\S+", server.stdout.readline())
    assert address is not None
    try:
        with import_module("playwright.sync_api").sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
            page = browser.new_page(viewport=WINDOW, reduced_motion="reduce", color_scheme="light")
            page.goto(address[0])
            yield page
            browser.close()
    finally:
        server.terminate()
        server.wait(20)


def take(page: Any, name: str, seen: str) -> None:
    """A picture of what is in the window once something is seen."""
    page.wait_for_selector(seen, timeout=WAIT)
    page.wait_for_timeout(500)
    path = PLACE / f"{name}.png"
    page.screenshot(path=path)
    import_module("PIL.Image").open(path).convert("RGB").quantize(COLOURS).save(path, optimize=True)


def walk(page: Any) -> None:
    """From the table to what survived, by the buttons that a person presses."""
    page.wait_for_selector(".figures", timeout=WAIT)
    page.click("#next")
    take(page, "attributes", "#live")
    page.click("text=Privacy")
    take(page, "privacy", ".needs")
    page.click("#next")
    page.click("button.big")
    take(page, "run", ".outcome")
    page.click("text=Understand")
    take(page, "understand", "iframe.drawn")


def main() -> None:
    """Take them all."""
    PLACE.mkdir(exist_ok=True)
    patients = pl.DataFrame(sf.datasets.load("patients", rows=1500, seed=3).table).drop("diagnoses")
    with tempfile.TemporaryDirectory() as place:
        patients.write_csv(Path(place) / "patients.csv")
        with opened(Path(place)) as page:
            walk(page)
    print(*(f"{path.name}: {path.stat().st_size // 1000} kB" for path in sorted(PLACE.glob("*.png"))), sep="\n")


if __name__ == "__main__":
    main()
