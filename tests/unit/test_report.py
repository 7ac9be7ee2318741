"""The report: what the public edition may hold, what it must not, and that both editions stand alone."""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pytest

import sfumato as sf
from sfumato.data.taxonomy.taxonomy import Tree
from sfumato.evaluation.attacks.results import AttackResult
from sfumato.evaluation.scores import Estimate
from sfumato.maskers.recoding.recoding import Recoding
from sfumato.publishing import handover, orders
from sfumato.release.report.attributes import Histogram, overlaps_picture
from sfumato.release.report.clusters import Plane
from sfumato.release.report.markup import Html
from sfumato.release.report.material import Frequency, Released
from sfumato.release.report.short import _measured
from sfumato.structure.coded_points import Block, Placed

K = 8
ROWS = 240
SOUTH: Tree = {"Near": ["Zedhaven", "Yolkport"], "Far": ["Xyrkfell"]}
TREE: Tree = {"ANYWHERE": {"North": ["Qazvault", "Wexmoor"], "South": SOUTH}}
TOWNS = ("Qazvault", "Wexmoor", "Zedhaven", "Yolkport", "Xyrkfell")
PETS = tuple(f"petzq{at}" for at in range(30))


def planted(seed: int = 0) -> pa.Table:
    """People whose every value is a token that nothing else in a page can be."""
    chance = np.random.default_rng(seed)
    towns = chance.choice(TOWNS, ROWS, p=[0.4, 0.3, 0.15, 0.13, 0.02]).tolist()
    return pa.table(
        {
            "name": [f"Namezq{at:04d}" for at in range(ROWS)],
            "wage": (700_000 + chance.permutation(ROWS) * 317).tolist(),
            "town": towns,
            "pet": [PETS[int(at)] for at in chance.zipf(1.4, ROWS) % len(PETS)],
            "ill": [f"illzq{at % 2}" if town != "Xyrkfell" else "illzq0" for at, town in enumerate(towns)],
            "size": (chance.integers(100, 200, ROWS) * 1009).tolist(),
        }
    )


def schema() -> sf.Schema:
    return sf.Schema(
        name=sf.Category(role="identifier"),
        wage=sf.Number(role="quasi", range=(600_000, 800_000)),
        town=sf.Category(role="quasi", taxonomy=sf.Taxonomy.from_tree(TREE)),
        pet=sf.Category(role="quasi"),
        ill=sf.Category(role="sensitive"),
        size=sf.Number(role="plain", unique_ok=True),
    )


def recipe(structure: sf.Classes | sf.Clusters | None = None) -> sf.Recipe:
    asked = (sf.KAnonymity(["wage", "town"], K), sf.KAnonymity(["pet", "town"], K))
    return sf.Recipe(
        schema=schema(), structure=structure or sf.Clusters("kmeans", k=3, n_init=2), privacy=asked, mask=sf.TopDown()
    )


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> tuple[sf.Release, Path]:
    made = sf.publish(planted(), recipe())
    return made, made.write(tmp_path_factory.mktemp("report") / "out")


def public_page(folder: Path) -> str:
    return (folder / "report.html").read_text(encoding="utf-8")


def occurs(value: object, page: str) -> bool:
    """A value as a word of its own; numbers with or without their thousands set apart."""
    forms = {str(value), f"{value:,}"} if isinstance(value, int) else {html.escape(str(value))}
    there = (form for form in forms if form in page)  # most are not, which is quickly seen
    return any(re.search(rf"(?<![\w.]){re.escape(form)}(?![\w]|\.\d)", page) for form in there)


def test_the_public_edition_holds_no_raw_value_outside_the_recoding(release: tuple[sf.Release, Path]) -> None:
    made, folder = release
    page, raw = public_page(folder), planted()
    assert isinstance(made.mask, Recoding)
    shown = {str(label) for rule in made.mask.attributes.values() for label in rule.shown}
    breaks = {part for label in shown for part in re.findall(r"[\d.]+", label)}
    values = {name: set(raw[name].to_pylist()) for name in raw.column_names}
    told = [(name, value) for name, of in values.items() for value in of if occurs(value, page)]
    assert [(name, value) for name, value in told if str(value) not in shown | breaks] == []
    assert len(values["wage"]) == ROWS  # there was something to find


def test_the_search_finds_what_the_holders_edition_holds(release: tuple[sf.Release, Path]) -> None:
    made, folder = release
    page = (folder.with_name("out.holder") / "report.html").read_text(encoding="utf-8")
    assert page == made.report
    raw = planted()
    assert sum(occurs(value, page) for name in ("town", "pet") for value in set(raw[name].to_pylist())) >= 5
    assert any(occurs(town, page) for town in TOWNS)


def test_the_public_edition_holds_no_figure_for_the_holder(release: tuple[sf.Release, Path]) -> None:
    made, folder = release
    page = public_page(folder)
    words = (
        "F-measure",
        "match point",
        "would become",
        "Next,",
        "step by step",
        "How long",
        "Holder",
        "the raw numbers",
    )
    assert [word for word in words if word in page] == []
    assert made.report is not None
    assert [word for word in words[:6] if word not in made.report] == []
    secret = {
        f"{score['value']:.3f}"
        for name, score in made.scores["scores"].items()
        if not score["publishable"] and 0.01 < score["value"] < 0.99
    }
    told = re.sub("The dots in numbers.*?</details>", "", page, flags=re.DOTALL)  # a coordinate may be any number
    assert [value for value in secret if f">{value}<" in told] == []


def test_groups_below_k_are_not_in_the_public_edition(release: tuple[sf.Release, Path]) -> None:
    sizes = re.findall(r'<td class="n">([\d,]+)</td>', public_page(release[1]).split('id="groups"')[0])
    assert sizes
    assert min(int(size.replace(",", "")) for size in sizes) >= K


def test_the_public_edition_is_the_same_each_time_and_for_any_row_order() -> None:
    table, asked = planted(), recipe(sf.Classes("ill"))
    mixed = table.take(np.random.default_rng(1).permutation(ROWS))
    with patch(
        "sfumato.release.report.report.holder_report", lambda *_: ""
    ):  # which takes longest, and is another page
        pages = [_public(sf.publish(one, asked)) for one in (table, table, mixed)]
    assert pages[0] == pages[1] == pages[2]


def _public(made: sf.Release) -> str:
    return (Path(made.scratch.name) / "release" / "report.html").read_text(encoding="utf-8")


class Tags(HTMLParser):
    """Collects the tags of a page with their attributes."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


def tags(page: str) -> list[tuple[str, dict[str, str | None]]]:
    parser = Tags()
    parser.feed(page)
    return parser.found


def test_a_page_loads_nothing_and_runs_nothing(release: tuple[sf.Release, Path]) -> None:
    made, folder = release
    for page in (public_page(folder), made.report or ""):
        found = tags(page)
        assert {tag for tag, _ in found} & {"script", "link", "iframe", "object", "embed", "base", "form"} == set()
        named = [value for _, attributes in found for key, value in attributes.items() if key in ("src", "href")]
        assert all(value and value.startswith("#") for value in named)
        assert "http:" not in page
        assert "https:" not in page
        assert "@import" not in page
        assert all(name.startswith("#") for name in re.findall(r"url\(([^)]*)\)", page))
        policies = [attributes.get("content") or "" for tag, attributes in found if tag == "meta"]
        assert any(policy.startswith("default-src 'none'") for policy in policies)


def test_names_and_labels_cannot_become_markup() -> None:
    evil = "<script>alert(1)</script>"
    chance = np.random.default_rng(0)
    table = pa.table(
        {
            'a"><b>': chance.integers(0, 99, 120).tolist(),
            "t<i>": [[evil, "]]>&amp;", "</style>", "--><img src=x>"][int(at)] for at in chance.integers(0, 4, 120)],
            "class": [f"<u>{at % 2}" for at in range(120)],
        }
    )
    tree = sf.Taxonomy.from_tree({"<root>": {"<left>": [evil, "]]>&amp;"], "<right>": ["</style>", "--><img src=x>"]}})
    asked = sf.Recipe(
        schema=sf.Schema(
            {
                'a"><b>': sf.Number(role="quasi", range=(0, 99)),
                "t<i>": sf.Category(role="quasi", taxonomy=tree),
                "class": sf.Category(role="sensitive"),
            }
        ),
        structure=sf.Classes("class"),
        privacy=(sf.KAnonymity(['a"><b>', "t<i>"], 4),),
        mask=sf.TopDown(),
    )
    made = sf.publish(table, asked)
    for page in (_public(made), made.report or ""):
        assert {tag for tag, _ in tags(page)} & {"script", "b", "i", "u", "img", "root", "left", "right"} == set()
        assert page.count("<style>") == page.count("</style>") == 1
        assert html.escape("<root>") in page


def test_what_both_editions_show_is_drawn_once(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[str] = []
    once = Released.once

    def told(self: Released, what: str, draw: Callable[[], Html]) -> Html:
        return once(self, what, lambda: drawn.append(what) or draw())  # type: ignore[func-returns-value]

    monkeypatch.setattr(Released, "once", told)
    made = sf.publish(planted(), replace(recipe(), mask=sf.Partition()))
    assert sorted(drawn) == ["groups", *(f"values of {name}" for name in ("pet", "town", "wage"))]
    parts = [re.findall(r"<h3>town</h3>.*?</details>", page, re.DOTALL) for page in (_public(made), made.report or "")]
    assert parts[0] == parts[1] != []


def test_claims_on_the_same_columns_share_a_table_and_sets_are_not_passed_over(tmp_path: Path) -> None:
    """The commonest combinations are drawn once; what groups give away of a sensitive set stands in both editions."""
    sets = pa.array([["itemzq0"] if at % 2 else ["itemzq0", "itemzq1"] for at in range(ROWS)])
    asked = (sf.KAnonymity(["wage", "town"], K), sf.ConfidenceBound(["town", "wage"], "ill", 0.9))
    more: dict[str, Any] = {"pet": sf.Category(role="identifier"), "had": sf.ItemSet(role="sensitive")}
    kept = replace(recipe(), schema=sf.Schema({**schema(), **more}), privacy=asked, structure=None)
    table = planted().append_column("had", sets)
    folder = sf.publish(table, kept, run=sf.Run(trial=True)).keep(tmp_path / "out")
    assert public_page(folder).count("The most frequent combinations on") == 1
    short, long = ((tmp_path / "out.holder" / f"{name}.html").read_text("utf-8") for name in ("report_short", "report"))
    assert "had holds sets, which no attack above guesses. Of 100.0% of the records" in short
    assert "of a set an item counts that all of the group have" in long
    assert "inference of had: a set of items" in long


def test_no_report_if_none_is_wanted(recwarn: pytest.WarningsRecorder) -> None:
    made = sf.publish(planted(), recipe(sf.Classes("ill")), run=sf.Run(report=False))
    assert made.report is None
    assert "allowed" not in made.history
    assert not [one for one in recwarn if "report" in str(one.message)]


def test_the_report_is_listed_and_verify_knows_it(release: tuple[sf.Release, Path]) -> None:
    made, folder = release
    assert "report.html" in made.certificate["files"]
    assert sf.verify(folder).holds
    (folder / "report.html").write_text("something else", encoding="utf-8")
    assert not sf.verify(folder).holds
    (folder / "report.html").write_text(_public(made), encoding="utf-8")
    assert sf.verify(folder).holds


def test_the_public_edition_is_given_nothing_but_what_is_released() -> None:
    fields = Released.__dataclass_fields__
    assert set(fields) == {"facts", "masked", "mask", "space", "drawn"}
    order = [one.do for one in orders.PUBLISH]
    assert fields["drawn"].default_factory is dict, "nothing is drawn before"
    assert order.index(handover.draw_public) < order.index(handover.draw_holders), "drawn once, of the release"


@pytest.mark.slow
def test_the_report_of_a_census_is_small() -> None:
    adult = sf.datasets.load("adult", complete=True)
    asked = sf.Recipe(
        schema=adult.schema,
        structure=sf.Clusters("kmeans", k=6, n_init=1),
        privacy=(sf.KAnonymity(adult.schema.quasi, 50),),
    )
    made = sf.publish(adult.table, asked)
    assert len(made.report or "") < 3_000_000
    assert len(_public(made)) < 3_000_000


def test_the_projection_is_that_of_the_vectors_themselves(monkeypatch: pytest.MonkeyPatch) -> None:
    chance = np.random.default_rng(0)
    blocks = tuple(
        Block(chance.integers(0, n, 500), chance.normal(0, scale, (n, width)).astype(np.float32))
        for n, width, scale in ((4, 3, 2.0), (90, 1, 1.0), (7, 2, 0.5))
    )
    placed = Placed(blocks, 500)
    vectors = placed.vectors().astype(np.float64)
    slow = np.linalg.eigh(np.cov(vectors.T, bias=True))[1][:, ::-1][:, :2]
    expected = (vectors - vectors.mean(axis=0)) @ slow
    for most in (0, 1_000_000):  # products of records, and counts of pairs of values
        monkeypatch.setattr("sfumato.release.report.clusters.MOST_PAIRS", most)
        found = Plane.of(placed).points(placed)
        assert np.allclose(np.abs(found), np.abs(expected), atol=1e-4)


def test_the_short_edition_says_what_its_strongest_attack_means(release: tuple[sf.Release, Path]) -> None:
    page = release[0].papers["report_short.html"]
    assert "singling out, random predicates" in page
    assert "singling out, chosen predicates" not in page, "its figure alone would mislead"
    assert "stand alone if all released attributes are taken together" in page
    assert "does not say whose it is" in page


def test_the_holders_page_begins_with_whether_the_table_is_worth_having(tmp_path: Path) -> None:
    path = tmp_path / "patients-2026.csv"
    pacsv.write_csv(planted(), path)
    made = sf.publish(path, replace(recipe(), table="other.csv"))
    page, public = made.report or "", _public(made)
    assert "<h1>patients-2026</h1>" in page
    assert "patients-2026" not in public  # a file's name may tell more than its table
    verdict = page.index("masked columns")
    assert page.index("<h1>") < verdict < page.index('id="worth"') < page.index("F-measure")
    telling = [one for one in made.scores["columns"] if not one["tells_nothing"]]
    assert page.count('class="meter"') == len(telling) < len(made.scores["columns"])
    assert "1 column tells nothing: it shows one value for nearly everybody. wage." in page
    assert "1 attribute with one value for everybody: wage" in page
    assert page.count("%\u00a0show\u00a0one\u00a0value</td>") == len(telling), "as on a telephone, without a heading"
    assert "detail kept" not in public
    assert public.count('class="meter"') == sum(one["values_after"] > 1 for one in made.scores["columns"])


def test_a_table_is_named_by_its_file_its_recipe_or_its_people() -> None:
    asked = replace(recipe(), table="bundled:adult", people="patients")
    assert handover.table_name("folder/some.parquet", asked) == "some"
    assert handover.table_name(planted(), asked) == "adult"
    assert handover.table_name("postgresql://me:secret@there/people", replace(asked, table=None)) == "patients"
    assert handover.table_name(planted(), recipe()) is None


def test_a_number_that_is_the_greatest_and_stands_alone_is_drawn() -> None:
    found = [Frequency("[10-20)", 50), Frequency("99", 400)]
    drawn = str(overlaps_picture(found, None, name="hours"))
    assert ">400<" in drawn


@pytest.mark.parametrize("most", [40, 79, 200])
def test_whole_numbers_are_drawn_in_bars_of_whole_width(most: int) -> None:
    raw = np.arange(most + 1.0).repeat(3)
    rows = Histogram.of(raw, 0, most).rows()
    drawn = re.sub(r"<[^>]+>", " ", str(overlaps_picture([Frequency(f"[0-{most})", len(raw))], raw, name="visits")))
    step = int(rows[0][1])
    for start, end, count in rows:
        assert int(end) - int(start) == step
        assert count == 3 * len(range(int(start), min(int(end), most + 1)))
        assert f" {start} {end} {count} " in f"{' '.join(drawn.split())} "


def test_the_short_edition_says_what_an_attack_on_numbers_guesses_and_on_how_many() -> None:
    success = Estimate(0.36, 0.3, 0.4)
    of_pay = AttackResult("inference of pay", "age", success, "people", "...", {"people": 400, "tenths": True})
    (note,) = _measured([of_pay], 4_000)
    assert "Tried on 400 people; sfumato attack tries more" in note
    assert "Of pay the right tenth of the table is a right guess." in note
    assert _measured([replace(of_pay, details={"people": 400})], 400) == []
