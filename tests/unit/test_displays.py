"""What objects show of themselves: text that fits a terminal, and HTML without script, nothing raw on it."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.display import WIDTH, Card, Grid
from sfumato.evaluation.attacks.settings import Effort
from sfumato.events import running, step
from sfumato.privacy.verify.verdict import Check, verdict_of
from sfumato.publishing import Run
from sfumato.publishing.notebook import Progress, told_in_notebook
from sfumato.publishing.orders import learn

ROWS = 200
TAGS = {"div", "style", "p", "table", "thead", "tbody", "tr", "th", "td"}


class Tags(HTMLParser):
    """Collects the elements and attributes of a page, and its texts."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.open: list[str] = []
        self.words = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words += "" if self.open[-1:] == ["style"] else f"{data}\n"


@pytest.fixture(scope="module")
def raw() -> pa.Table:
    rng = np.random.default_rng(2)
    return pa.table(
        {
            "ssn": [f"9{at:06d}" for at in range(ROWS)],
            "income": rng.integers(10_000, 90_000, ROWS) * 10 + 7,
            "town": rng.choice(["<b>Graz</b>", "Linz"], ROWS),
            "ill": rng.choice(["flu", "gout"], ROWS),
        }
    )


@pytest.fixture(scope="module")
def recipe() -> sf.Recipe:
    schema = sf.Schema(
        ssn=sf.Category(role="identifier"),
        income=sf.Number(role="quasi"),
        town=sf.Category(role="quasi", taxonomy={"any": ["<b>Graz</b>", "Linz"]}),  # type: ignore[arg-type]
        ill=sf.Category(role="sensitive"),
    )
    clusters = sf.Clusters("kmeans", k=2, n_init=1)
    return sf.Recipe(schema=schema, privacy=[sf.KAnonymity(["income", "town"], 10)], structure=clusters)


@pytest.fixture(scope="module")
def shown(raw: pa.Table, recipe: sf.Recipe, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    release = sf.publish(raw, recipe, run=Run(report=False, trial=True))
    folder = replace(release, account=None).keep(tmp_path_factory.mktemp("people") / "out")
    masked = learn(sf.read(raw, recipe.schema), recipe).masked
    failing = verdict_of([Check("rows", True, "200"), Check("columns", False, "'<i>' should be gone")])
    domains = sf.Schema(town=sf.Category(values=("a", "b")), ill=sf.Category(values=("flu", "gout")))
    private = sf.Recipe(schema=domains, mask=sf.PrivateTree(), budget=sf.Budget(1))
    return {
        "schema": recipe.schema,
        "recipe": recipe,
        "drafted": sf.draft(raw),
        "release": release,
        "verdict": release.verdict,
        "failing": failing,
        "scores": release.scores,
        "worth": release.worth,
        "masked": masked,
        "people": sf.load(folder),
        "unverified": sf.load(folder, verify=False),
        "policy": sf.Policy("hipaa-safe-harbor"),
        "codebook": sf.load(folder, verify=False).codebook,
        "plan": private.plan,
        "advice": sf.advise(raw, recipe, rows=100, seconds=1),
        "attacks": sf.attack(raw, folder, effort=Effort(people=20)),
    }


NAMES = (
    "schema",
    "recipe",
    "drafted",
    "release",
    "verdict",
    "failing",
    "scores",
    "worth",
    "masked",
    "people",
    "unverified",
    "policy",
    "codebook",
    "plan",
    "advice",
    "attacks",
)


@pytest.mark.parametrize("name", NAMES)
def test_displays_are_whole_harmless_and_show_nothing_raw(shown: dict[str, Any], raw: pa.Table, name: str) -> None:
    page = Tags()
    markup = shown[name]._repr_html_()
    page.feed(markup)
    assert page.open == [], "every element is closed"
    assert page.tags <= TAGS
    assert page.attributes <= {"class"}
    assert "prefers-color-scheme:dark" in markup
    assert not re.search(r"url\(|@import|https?:|javascript", markup)
    for column in ("ssn", "income"):
        values = set(map(str, raw.column(column).to_pylist()))
        assert not values & set(re.findall(r"\d+", page.words))
    assert "<b>" not in markup


@pytest.mark.parametrize("name", NAMES)
def test_reprs_fit_a_terminal(shown: dict[str, Any], raw: pa.Table, name: str) -> None:
    lines = repr(shown[name]).split("\n")
    assert max(map(len, lines)) <= WIDTH
    assert 1 < len(lines) < 45
    for column in ("ssn", "income"):
        assert not set(map(str, raw.column(column).to_pylist())) & set(re.findall(r"\d+", repr(shown[name])))


def test_cards_tell_what_matters(shown: dict[str, Any]) -> None:
    assert "verified" in repr(shown["release"])
    assert "10-anonymity on {income, town}" in repr(shown["recipe"])
    assert "taxonomy, 2 leaves" in repr(shown["schema"])
    assert "rows with one value" in " ".join(repr(shown["worth"]).split())
    assert "{COLUMN: 1} (partition, top_down)" in " ".join(repr(shown["worth"]).split())
    assert "why" in repr(shown["drafted"])
    assert repr(shown["verdict"]).startswith("Verdict: holds, all ")
    assert "1 of 2 checks fail" in repr(shown["failing"])
    assert 'class="sfumato poor"' in shown["failing"]._repr_html_()
    assert "extent" in repr(shown["masked"])
    assert "shown as what the record's group covers" in repr(shown["people"])
    assert "The chance to pick out a person's record" in repr(shown["attacks"])
    assert re.match(r"People: 200 rows, 3 columns, verified\n", repr(shown["people"]))
    assert "each shown value" in repr(shown["codebook"]) or "groups, numbered" in repr(shown["codebook"])
    assert repr(shown["plan"]).startswith("Plan: epsilon = 1, in ")
    assert "Fraction" not in repr(shown["plan"])
    assert shown["advice"].sentence.split(":")[0] in repr(shown["advice"])
    assert repr(shown["unverified"]).split("\n")[0].endswith("columns, not verified")


def test_long_sets_are_cut() -> None:
    jobs = ", ".join(f"job {at}" for at in range(40))
    card = Card("Release", [], [Grid(("job",), [[f"{{{jobs}}}"]])])
    for shown in (card.text(), card.html()):
        assert "{job 0, job 1 and 38 more}" in shown


def test_long_cards_are_cut() -> None:
    card = Card("x" * 500, ["y " * 500], [Grid(("a", "b"), [["z" * 500, 1]] * 100)])
    assert max(map(len, card.text().split("\n"))) <= WIDTH
    assert "and 60 more" in card.text()
    assert len(card.html()) < 40_000
    assert replace(card, state="good").html().startswith('<div class="sfumato good">')


def test_progress_in_a_notebook_is_drawn_after_a_while_and_taken_away() -> None:
    drawn, times = list[str](), iter([0.0, 0.1, 2.0, 2.1, 2.2, 2.3, 2.4, 2.5])
    progress = Progress(drawn.append, 2, clock=lambda: next(times))
    with running(progress.hear):
        with step("Reading <all>"):
            assert drawn == [], "nothing yet"
        with step("Masking"), step("inner"):
            pass
    progress.close()
    assert "Masking" in drawn[0]
    assert 'value="0.500"' in drawn[0]
    assert drawn[-1] == ""
    assert not any("<all>" in one or "script" in one for one in drawn)


def test_outside_notebooks_nobody_draws() -> None:
    with told_in_notebook(3) as listener:
        assert listener is None
