"""Several holders: the release of the joined table, and what each party has seen on the way."""

from __future__ import annotations

import base64
import json
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from io import StringIO
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as pc
import pytest

import sfumato as sf
from sfumato.errors import RecipeError, ReleaseError, TableError
from sfumato.holders.domains import needed
from sfumato.holders.holder import Holder
from sfumato.holders.lines import LocalHolder, Transcript, hold
from sfumato.randomness import Seeded
from tests.releases import NUMBERS, ON, SCHEMA, people

SECRETS = ("flu", "cough", "rash", "fever")
ROLES = sf.Schema(
    name=sf.Category(role="identifier"),
    age=sf.Number(role="quasi", range=(17, 90), integer=True),
    education=SCHEMA["education"],
    country=sf.Category(role="quasi", values=("Mexico", "Peru", "Chile")),
    disease=sf.Category(role="sensitive", values=SECRETS),
    secret=sf.Category(role="sensitive", values=SECRETS),
    hours=sf.Number(role="plain", range=(0, 80)),
)
PRIVACY = (sf.KAnonymity(ON, 12), sf.KAnonymity(("age",), 20), sf.LDiversity(ON, "disease", 2))
pytestmark = pytest.mark.filterwarnings("ignore:the ledger knows", "ignore:masking that is blind")


def rows(count: int = 400) -> pa.Table:
    """People with a name, and a second secret that no requirement is about."""
    table = people(count).drop(["wage"])
    again = people(2 * count).column("disease").slice(count)
    named = table.add_column(0, "name", pa.array([f"Person-{at}" for at in range(count)]))
    return named.append_column("secret", again).select(list(ROLES))


ROWS = rows()
HERE, THERE = ROWS.slice(0, 150), ROWS.slice(150)


def recipe(structure: Any = None, **more: Any) -> sf.Recipe:
    return sf.Recipe(schema=ROLES, structure=structure, privacy=PRIVACY, **{"mask": sf.TopDown(), **more})


def shown(release: sf.Release) -> Counter[str]:
    return Counter(map(str, release.table.to_pylist()))


CASES = {
    "top_down": recipe(),
    "top_down, classes": recipe(sf.Classes("disease")),
    "top_down, clusters": recipe(sf.Clusters("kmeans", k=3, n_init=2, attributes=ON)),
    "partition": recipe(mask=sf.Partition()),
    "partition, clusters": recipe(sf.Clusters("kmeans", k=3, n_init=2, attributes=ON), mask=sf.Partition()),
    "partition, classes": recipe(sf.Classes("disease"), mask=sf.Partition()),
}


LONGER = [case for case in CASES if case not in ("top_down", "partition, clusters")]


@pytest.mark.parametrize("case", [pytest.param(one, marks=pytest.mark.slow if one in LONGER else ()) for one in CASES])
def test_it_is_the_release_of_the_joined_table(case: str) -> None:
    asked = CASES[case]
    joined = sf.publish(ROWS, asked, run=sf.Run(report=False))
    found = sf.publish_together([HERE, THERE], asked)
    assert found.mask.files() == joined.mask.files()
    assert found.certificate["claims"] == joined.certificate["claims"]
    assert shown(found) == shown(joined)
    assert found.verdict.holds


def test_three_holders_are_as_two() -> None:
    three = sf.publish_together([THERE.slice(0, 7), HERE, THERE.slice(7)], recipe())
    assert three.mask.files() == sf.publish_together([HERE, THERE], recipe()).mask.files()


@pytest.fixture(scope="module")
def talked(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Transcript]]:
    """A release of two holders, and what the coordinator has seen of each."""
    lines = [LocalHolder(Holder(table, CASES["top_down, clusters"])) for table in (HERE, THERE)]
    release = sf.publish_together(lines, CASES["top_down, clusters"])
    return release.write(tmp_path_factory.mktemp("two") / "out"), [line.transcript for line in lines]


@pytest.mark.slow
def test_two_processes_publish_one_release(tmp_path: Path, talked: Any) -> None:
    folder = tmp_path
    for name, table in (("a", HERE), ("b", THERE)):
        pc.write_csv(table, folder / f"{name}.csv")
    (folder / "recipe.yaml").write_text(CASES["top_down, clusters"].to_yaml(), encoding="utf-8")
    kept = [folder / f"{name}.txt" for name in "ab"]
    lines = []
    for name, transcript in zip("ab", kept, strict=True):
        hold_it = [sys.executable, "-m", "sfumato.cli.main", "hold", f"{folder}/{name}.csv", f"{folder}/recipe.yaml"]
        lines.append(sf.RemoteHolder([*hold_it, "--transcript", str(transcript)]))
    with lines[0], lines[1]:
        release = sf.publish_together(lines, folder / "recipe.yaml")
    assert sf.verify(release.write(folder / "out")).holds
    for line, path, near in zip(lines, kept, talked[1], strict=True):
        found = line.transcript
        assert (found.said, found.seen[:2]) == (near.said, near.seen[:2])  # masked rows come in another order each time
        pairs = zip(found.said, found.seen, strict=True)
        told = [f"{who} {text}" for asked, said in pairs for who, text in (("asked", asked), ("said", said))]
        assert path.read_text(encoding="utf-8") == "".join(told)


def leaves(form: object) -> Iterator[object]:
    """Everything in a message that is no key and no bracket."""
    if isinstance(form, dict):
        for part in form.values():
            yield from leaves(part)
    elif isinstance(form, list):
        for part in form:
            yield from leaves(part)
    else:
        yield form


def test_the_coordinator_sees_counts_then_released_rows(talked: Any) -> None:
    folder, seen = talked
    released = sf.load(folder).to("arrow").table.to_pylist()
    arrived: Counter[str] = Counter()
    for transcript in seen:
        _, counts, masked = (json.loads(line) for line in transcript.seen)
        assert list(counts) == ["codes", "counts"]
        assert all(type(leaf) is int for leaf in leaves(counts))
        assert tuple(counts["codes"]) == needed(CASES["top_down, clusters"])
        assert not {"name", "secret", "hours"} & {*counts["codes"]}
        columns = masked["rows"]
        arrived += Counter(str(dict(zip(columns, row, strict=True))) for row in zip(*columns.values(), strict=True))
    assert arrived == Counter(str(row) for row in released)


def test_a_holder_sees_the_mask_and_nothing_of_the_others(talked: Any) -> None:
    _, seen = talked
    first, second = (transcript.said for transcript in seen)
    assert first == second
    assert [json.loads(line)["ask"] for line in first] == ["recipe", "tuples", "rows"]
    mask = sf.publish(ROWS, CASES["top_down, clusters"], run=sf.Run(report=False)).mask
    assert json.loads(first[2])["mask"] == json.loads(json.dumps(dict(mask.files())))


def test_no_text_of_a_table_travels_but_what_is_declared_or_released(talked: Any) -> None:
    folder, seen = talked
    declared = {*ROLES["education"].taxonomy.labels, *SECRETS, "Mexico", "Peru", "Chile"}  # type: ignore[union-attr]
    public = {str(leaf) for row in sf.load(folder).to("arrow").table.to_pylist() for leaf in row.values()}
    texts = {leaf for one in seen for line in one.seen for leaf in leaves(json.loads(line)) if isinstance(leaf, str)}
    digest = json.loads(seen[0].seen[0])["recipe"]
    assert texts <= declared | public | {digest}
    assert not any("Person-" in line for one in seen for line in (*one.seen, *one.said))


def test_a_holder_answers_its_own_recipe_once_and_nothing_else() -> None:
    holder = Holder(HERE, recipe())
    mask: dict[str, Any] = {"recoding.json": {"attributes": {}}}
    broken = {"ask": "rows", "mask": {"recoding.json": {"attributes": {"age": 3}}}}
    assert set(Holder(HERE, recipe()).answer(broken)) == {"error"}
    for question in ({}, {"ask": "table"}, {"ask": "release"}, {"ask": "rows"}, {"ask": ["rows"]}):
        assert set(holder.answer(question)) == {"error"}
    assert "hides every quasi-identifier" in Holder(HERE, recipe()).answer({"ask": "rows", "mask": mask})["error"]
    assert set(holder.answer({"ask": "tuples"})) == {"codes", "counts"}
    assert "asked once" in holder.answer({"ask": "tuples"})["error"]
    with pytest.raises(RecipeError, match="same recipe"):
        sf.publish_together([LocalHolder(Holder(HERE, recipe(sf.Classes("disease")))), THERE], recipe())


def test_what_a_holder_says_wrongly_is_refused() -> None:
    class Liar(Holder):
        """Says something else."""

        def __init__(self, lie: dict[str, Any]) -> None:
            super().__init__(THERE, recipe())
            self.lie = lie

        def answer(self, question: Any) -> dict[str, Any]:
            said = super().answer(question)
            return {key: self.lie.get(key, part) for key, part in said.items()}

    names = needed(recipe())
    strange = {name: [99] for name in names}
    lies: list[dict[str, Any]] = [{"counts": [0]}, {"counts": ["x"]}, {"codes": strange}, {"codes": {}}]
    for lie in lies:
        with pytest.raises(TableError, match="counts of codes"):
            sf.publish_together([HERE, LocalHolder(Liar(lie))], recipe())
    raw = {name: ROWS.column(name).to_pylist()[:3] for name in ROWS.column_names if name != "name"}
    with pytest.raises(TableError, match="then with masked rows"):
        sf.publish_together([HERE, LocalHolder(Liar({"rows": raw}))], recipe())
    few = {name: [str(cell) if name == "age" else cell for cell in cells] for name, cells in raw.items()}
    with pytest.raises(TableError, match="the counted people"):
        sf.publish_together([HERE, LocalHolder(Liar({"rows": few}))], recipe())
    with (
        sf.RemoteHolder([sys.executable, "-c", "print('hello')"]) as stranger,
        pytest.raises(TableError, match="it ended"),
    ):
        sf.publish_together([HERE, stranger], recipe())


def test_lines_are_answered_whatever_they_hold() -> None:
    out = StringIO()
    kept = hold(Holder(HERE, recipe()), ["no json\n", "[1]\n", '{"ask": "recipe"}\n'], out)
    assert kept.said == out.getvalue().splitlines(keepends=True)
    assert [set(json.loads(line)) for line in kept.said] == [{"error"}, {"error"}, {"recipe"}]


def test_what_cannot_be_published_together_is_refused() -> None:
    clusters = sf.Clusters("kmeans", k=3, n_init=1, attributes=ON)
    lifting = replace(recipe(clusters), privacy=[sf.KAnonymity(ON, 12)], mask=sf.TopDown(suppress=0.3))
    wrong = {
        "two": ([HERE], recipe()),
        "no order": ([HERE, THERE], recipe(keep_order=True)),
        "earlier": ([HERE, THERE], recipe(earlier=sf.Earlier(releases=("out",), people="same"))),
        "clusters of single": ([HERE, THERE], recipe(sf.Clusters(k=2), release=sf.Along(labels="plain"))),
        "the row and the mask": ([HERE, THERE], lifting),
        "domains that are declared": (
            [HERE, THERE],
            replace(recipe(), schema=sf.Schema({**ROLES, "country": sf.Category(role="quasi")})),
        ),
    }
    for words, (holders, asked) in wrong.items():
        with pytest.raises(RecipeError, match=words):
            sf.publish_together(holders, asked)
    strange = THERE.set_column(3, "country", pa.array(["Utopia"] * THERE.num_rows))
    with pytest.raises(TableError, match="every holder answers"):
        sf.publish_together([HERE, strange], recipe())


BUDGET = sf.Recipe(
    schema=NUMBERS, structure=sf.Clusters(k=2, n_init=1), mask=sf.PrivateTree(), budget=sf.Budget(epsilon="1/2")
)
PEOPLE = people(300).select(list(NUMBERS))


def test_under_budgets_each_adds_its_noise_and_epsilon_is_the_largest(tmp_path: Path) -> None:
    holders = [LocalHolder(Holder(PEOPLE.slice(0, 150), BUDGET)), LocalHolder(Holder(PEOPLE.slice(150), BUDGET))]
    found = sf.publish_parts(holders, BUDGET, tmp_path / "out")
    assert (found.epsilon, found.at_most) == (Fraction(1, 2), Fraction(1))
    assert found.table.column_names == list(NUMBERS)
    for folder in found.folders:
        form = json.loads((folder / "certificate.json").read_text(encoding="utf-8"))["differential_privacy"]
        assert sum(Fraction(event["epsilon"]) for event in form["events"]) == Fraction(form["epsilon"]) == found.epsilon
    # what a holder's mechanisms get to see is its own table and these lines: they do not depend on the others
    assert [line.transcript.said for line in holders] == [['{"ask":"recipe"}\n', '{"ask":"release"}\n']] * 2
    for line in holders:
        files = json.loads(line.transcript.seen[1])["files"]
        assert {*files} == {path.relative_to(found.folders[0]).as_posix() for path in found.folders[0].rglob("*.*")}
        assert base64.b64decode(files["certificate.json"]).startswith(b"{")
    assert set(Holder(PEOPLE, BUDGET).answer({"ask": "tuples"})) == {"error"}


def test_parts_that_were_changed_are_found(tmp_path: Path) -> None:
    folder = sf.publish_parts([PEOPLE.slice(0, 150), PEOPLE.slice(150)], BUDGET, tmp_path / "out").folder
    told = folder / "together.json"
    before = told.read_text(encoding="utf-8")
    for lie in (before.replace('"1/2"', '"1/4"', 1), before.replace("no person", "nobody"), "{}", "no json"):
        told.write_text(lie, encoding="utf-8")
        with pytest.raises(ReleaseError):
            sf.verify_parts(folder)
    told.write_text(before, encoding="utf-8")
    (folder / "rows.csv").write_text("raw", encoding="utf-8")
    with pytest.raises(ReleaseError, match="nothing else"):
        sf.verify_parts(folder)
    (folder / "rows.csv").unlink()
    (folder / "2" / "README.md").write_text("other", encoding="utf-8")
    with pytest.raises(ReleaseError):
        sf.verify_parts(folder)


def test_noise_from_a_seed_is_no_part(tmp_path: Path) -> None:
    seeded = sf.Run(report=False, chance=Seeded(1))
    with pytest.raises(ReleaseError, match="nobody can repeat"):
        sf.publish_parts([LocalHolder(Holder(PEOPLE, BUDGET, run=seeded)), PEOPLE], BUDGET, tmp_path / "out")
    assert not (tmp_path / "out").exists()
    with pytest.raises(RecipeError, match="spends a budget"):
        sf.publish_parts([HERE, THERE], recipe(), tmp_path / "other")
    with pytest.raises(RecipeError, match="publishes its part"):
        sf.publish_together([PEOPLE, PEOPLE], BUDGET)
