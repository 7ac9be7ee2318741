"""The report in a real browser, from the disk, with no way out: it draws, complains of nothing and asks for nothing."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import sfumato as sf
from sfumato.privacy.ledger import Ledger

BROWSER = next(
    (found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), None
)
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-default-apps",
    "--disable-extensions",
    "--hide-scrollbars",
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--proxy-server=127.0.0.1:1",
    "--window-size=1100,2400",
    "--enable-logging=stderr",
    "--virtual-time-budget=2000",
)
ERRANDS = r"https?://([\w-]+\.)*(google\.com|googleapis\.com|gstatic\.com|gvt1\.com)(:\d+)?/"
"""Where Chromium goes by itself, whatever page it shows; the pages are searched for addresses in a test of theirs."""
LONG = (
    "date_of_first_contact_with_the_outpatient_department",
    "highest_completed_level_of_education_of_the_household",
    "municipality_of_primary_residence_at_time_of_interview",
)
IRIS = sf.datasets.load("iris")
pytestmark = [pytest.mark.slow, pytest.mark.skipif(BROWSER is None, reason="no Chromium is installed")]


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("browser")
    recipe = sf.Recipe(
        schema=IRIS.schema,
        structure=sf.Clusters("kmeans", k=3, n_init=2),
        privacy=(sf.KAnonymity(IRIS.schema.quasi, 5),),
    )
    sf.publish(IRIS.table, recipe).write(folder / "out")
    return {"public": folder / "out" / "report.html", "holder": folder / "out.holder" / "report.html"}


def opened(page: Path, folder: Path, *more: str) -> subprocess.CompletedProcess[str]:
    words = [str(BROWSER), *FLAGS, f"--user-data-dir={folder / 'profile'}", *more, page.as_uri()]
    return subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)


def requested(log: Path) -> list[str]:
    """Addresses that were asked for, from the browser's own log of the network, without its own errands."""
    form: dict[str, Any] = json.loads(log.read_text(encoding="utf-8"))
    params = [event.get("params") for event in form["events"]]
    found = [str(one["url"]) for one in params if isinstance(one, dict) and "url" in one]
    return [url for url in found if re.match(r"(https?|wss?|ftp):", url) and not re.match(ERRANDS, url)]


@pytest.mark.parametrize("edition", ["public", "holder"])
@pytest.mark.parametrize("scheme", ["0", "1"], ids=["dark", "light"])
def test_it_opens_with_the_network_cut(pages: dict[str, Path], edition: str, scheme: str, tmp_path: Path) -> None:
    shot, log = tmp_path / "shot.png", tmp_path / "net.json"
    done = opened(
        pages[edition],
        tmp_path,
        f"--screenshot={shot}",
        f"--log-net-log={log}",
        f"--blink-settings=preferredColorScheme={scheme}",
    )
    assert shot.stat().st_size > 30_000, done.stderr
    assert "CONSOLE" not in done.stderr
    assert requested(log) == []


def test_what_the_browser_says_would_be_noticed(tmp_path: Path) -> None:
    page = tmp_path / "bad.html"
    page.write_text("<script>console.error('seen')</script><img src='http://example.com/x.png'>", encoding="utf-8")
    log = tmp_path / "net.json"
    done = opened(page, tmp_path, f"--screenshot={tmp_path / 'shot.png'}", f"--log-net-log={log}")
    assert "CONSOLE" in done.stderr
    assert any("example.com" in address for address in requested(log))


def test_it_can_be_printed(pages: dict[str, Path], tmp_path: Path) -> None:
    paper = tmp_path / "paper.pdf"
    done = opened(pages["holder"], tmp_path, f"--print-to-pdf={paper}")
    assert paper.read_bytes()[:5] == b"%PDF-", done.stderr
    assert paper.stat().st_size > 20_000


@pytest.fixture(scope="module")
def census(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A wide table of which most columns tell nothing, with policies: every edition, and what an expert is given."""
    folder, adult = tmp_path_factory.mktemp("census"), sf.datasets.load("adult")
    schema = sf.Schema({**adult.schema, "split": sf.Category(role="identifier")})
    asked = [sf.Policy(name) for name in ("cell-size-11", "wp29", "expert-determination")]
    recipe = sf.Recipe(
        schema=schema,
        structure=sf.Clusters("kmeans", k=4, n_init=1),
        privacy=[sf.KAnonymity(schema.quasi, 40), sf.LDiversity(schema.quasi, "income", 2)],
        mask=sf.TopDown(),
        people="census",
        policies=asked,
        attest={one.name: "A. Muster, 2026-03-01" for policy in asked for one in policy.definition.attest},
    )
    sf.publish(adult.table.slice(0, 3000), recipe, run=sf.Run(ledger=Ledger(folder / "ledger"))).write(folder / "out")
    held = folder / "out.holder"
    return {
        "public": folder / "out" / "report.html",
        **{name: held / f"{name}.html" for name in ("report", "report_short", "determination")},
    }


@pytest.fixture(scope="module")
def crowded(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Twenty-five attributes with names and labels that fit into no line."""
    folder, chance = tmp_path_factory.mktemp("crowded"), np.random.default_rng(3)
    names = [f"{LONG[at % 3]}_{at:02}" for at in range(25)]
    labels = [f"a very long label of a category, number {at}" for at in range(6)]
    columns: dict[str, Any] = {
        name: chance.integers(0, 100, 400) if at % 3 == 0 else chance.choice(labels[: at % 3 + 2], 400)
        for at, name in enumerate(names)
    }
    attributes: dict[str, Any] = {
        name: sf.Number(role="quasi") if at % 3 == 0 else sf.Category(role="quasi") for at, name in enumerate(names)
    }
    columns["ill"], attributes["ill"] = chance.choice(["flu", "gout"], 400), sf.Category(role="sensitive")
    asked = sf.Policy("expert-determination")
    recipe = sf.Recipe(
        schema=sf.Schema(attributes),
        privacy=[sf.KAnonymity(names, 11)],
        people="crowd",
        policies=[asked],
        attest={one.name: "A. Muster, 2026-03-01" for one in asked.definition.attest},
    )
    run = sf.Run(ledger=Ledger(folder / "ledger"), suggest=False)
    sf.publish(pl.DataFrame(columns), recipe, run=run).write(folder / "out")
    held = folder / "out.holder"
    return {
        "public": folder / "out" / "report.html",
        **{name: held / f"{name}.html" for name in ("report", "report_short", "determination")},
    }


def pdf_pages(page: Path, folder: Path) -> int:
    paper = folder / "paper.pdf"
    opened(page, folder, "--no-pdf-header-footer", f"--print-to-pdf={paper}")
    return len(re.findall(rb"/Type\s*/Page[^s]", paper.read_bytes()))


def test_the_short_edition_is_one_page(
    census: dict[str, Path], crowded: dict[str, Path], pages: dict[str, Path], tmp_path: Path
) -> None:
    assert pdf_pages(census["report_short"], tmp_path) == 1
    assert pdf_pages(crowded["report_short"], tmp_path) == 1
    assert pdf_pages(pages["holder"].with_name("report_short.html"), tmp_path) == 1
    assert pdf_pages(census["report"], tmp_path) > 5  # the measurement can fail


PUSHED = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
BEYOND = """() => [...document.querySelectorAll("body *")].filter(one => one.getClientRects().length
  && one.getBoundingClientRect().right > document.documentElement.clientWidth + 1
  && (PRINTED || !one.closest(".wide"))).map(one => one.tagName)"""


@pytest.mark.parametrize("table", ["census", "crowded"])
@pytest.mark.parametrize("edition", ["public", "report", "report_short", "determination"])
def test_nothing_is_cut_on_paper_or_on_a_telephone(request: pytest.FixtureRequest, table: str, edition: str) -> None:
    """On paper nothing reaches beyond the page; on a telephone tables may be pushed aside, and nothing else."""
    written: dict[str, Path] = request.getfixturevalue(table)
    sync = pytest.importorskip("playwright.sync_api")
    with sync.sync_playwright() as play:
        browser = play.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        for width, media in ((688, "print"), (390, "screen"), (1200, "screen")):
            page = browser.new_page(viewport={"width": width, "height": 1000})
            page.emulate_media(media=media)
            page.goto(written[edition].as_uri())
            assert page.evaluate(PUSHED) <= (0 if media == "screen" else 1_000), (edition, width)
            assert page.evaluate(BEYOND.replace("PRINTED", str(media == "print").lower())) == [], (edition, width)
        browser.close()
