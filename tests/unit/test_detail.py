"""`detail:` of a recipe: what is understood, what is refused, who keeps it, and that a broken wish never comes out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from typer.testing import CliRunner

import sfumato as sf
from sfumato.cli.main import app
from sfumato.data import calendar
from sfumato.data.detail import Few, Span, Width, Wish
from sfumato.data.encoding import encode
from sfumato.data.masked import Masked
from sfumato.data.schema import Attribute, Schema
from sfumato.engines import LocalEngine
from sfumato.evaluation.detail import check_detail
from sfumato.maskers.detail.refusal import refusal
from sfumato.maskers.masker import Labels, Outcome, Task
from sfumato.maskers.registry import MASKERS, masker_named
from sfumato.privacy.requirements import largest_k
from sfumato.publishing import Run

TREE = {"ANY": {"'537**'": ["53703", "53710", "53711"], "'902**'": ["90210", "90211"]}}
YAML = """
sfumato: 1
attributes:
  age: {kind: number, role: quasi, range: [0, 99]}
  born: {kind: number, role: quasi, calendar: month, range: ['1930', '2009']}
  zip: {kind: category, role: quasi, taxonomy: {ANY: {'537**': ['53703', '53710'], '902**': ['90210', '90211']}}}
  open: {kind: number, role: quasi}
  goods: {kind: item_set, role: plain}
  secret: {kind: category, role: sensitive}
privacy:
  - {k_anonymity: 5, on: [age, born, zip, open]}
"""


def recipe(detail: str, *changes: str) -> sf.Recipe:
    return sf.Recipe.from_yaml(f"{YAML}detail: {detail}\n", changes=changes)


def test_wishes_are_read_and_written_back() -> None:
    found = recipe("{age: 10, born: 10 years, zip: 3}")
    assert found.wishes == {"age": Width(10), "born": Span(10, "year"), "zip": Few(3)}
    again = sf.Recipe.from_yaml(found.to_yaml())
    assert again == found
    assert again.detail == {"age": 10, "born": "10 years", "zip": 3}
    assert sf.Recipe(schema=found.schema, privacy=found.privacy, detail=dict(found.detail)) == found
    assert "detail" not in recipe("{}").to_yaml()


def test_a_wish_is_set_from_outside() -> None:
    assert recipe("{age: 10}", "detail.age=5", "detail.born=6 months").detail == {"age": 5, "born": "6 months"}
    assert sf.Recipe.from_yaml(YAML, changes=["detail.age=2.5"]).wishes == {"age": Width(2.5)}


@pytest.mark.parametrize(
    ("detail", "said"),
    [
        ("[age]", "mapping"),
        ("{agee: 10}", "did you mean 'age'"),
        ("{secret: 1}", "role quasi"),
        ("{goods: 1}", "an item set"),
        ("{open: 5}", "declare range"),
        ("{age: 0}", "above 0"),
        ("{age: -3}", "above 0"),
        ("{age: true}", "above 0"),
        ("{age: 10 years}", "above 0"),
        ("{age: .inf}", "a number has at most"),
        ("{born: 10}", "10 months"),
        ("{born: 10 yeers}", "did you mean 'year'"),
        ("{born: 0 years}", "10 months"),
        ("{born: 1.5 years}", "10 months"),
        ("{born: 3 weeks}", "whole months"),
        ("{born: 99999999 years}", "10,000 years"),
        ("{zip: 0}", "at least 1"),
        ("{zip: 2.5}", "at least 1"),
        ("{zip: many}", "at least 1"),
    ],
)
def test_what_is_not_understood_is_refused(detail: str, said: str) -> None:
    with pytest.raises(sf.SfumatoError, match=r"detail|recipe, line") as error:
        recipe(detail)
    assert said in str(error.value)


@pytest.mark.parametrize("name", [name for name in MASKERS if name not in ("partition", "top_down")])
def test_other_maskers_refuse_it_in_words(name: str) -> None:
    with pytest.raises(sf.RecipeError, match="detail: partition and top_down show everybody as finely") as error:
        masker_named(name)().check_detail({"age": Width(10)})
    assert masker_named(name).__name__ in str(error.value)
    masker_named(name)().check_detail({})


@pytest.mark.parametrize(
    "mask", ["{top_down: {suppress: 0.1}}", "{partition: {extent: cuts}}", "{partition: {show: labels}}", "mondrian"]
)
def test_a_recipe_asks_its_masker(mask: str) -> None:
    with pytest.raises(sf.RecipeError, match="detail: "):
        recipe("{age: 10}", f"mask={mask}")
    recipe("{}", f"mask={mask}")


@pytest.mark.parametrize(
    ("low", "high", "fits"),
    [
        ("1990-01-01", "2000-01-01", True),
        ("1990-01-01", "2000-01-02", False),
        ("1988-02-29", "1998-02-28", True),
        ("1988-02-29", "1998-03-01", False),
    ],
)
def test_ten_years(low: str, high: str, fits: bool) -> None:
    assert Span(10, "year").fits(calendar.parse(low), calendar.parse(high)) is fits


@pytest.mark.parametrize("unit", ["quarter", "month", "week", "day", "hour", "minute", "second"])
def test_a_unit_later_begins_the_next(unit: Any) -> None:
    start = int(calendar.floor(np.array([calendar.parse("1990-05-17T10:20:30")]), unit)[0])
    after = int(calendar.floor(np.array([start + calendar.LONGEST[unit]]), unit)[0])
    assert calendar.later(start, 1, unit) == after


# The check of what is shown, which asks no masker.

COLUMNS: dict[str, Attribute] = {
    "age": sf.Number(role="quasi", range=(0, 99)),
    "born": sf.Number(role="quasi", calendar="year", range=("1930", "2009")),
    "zip": sf.Category(role="quasi", taxonomy=sf.Taxonomy.from_tree(TREE)),
    "town": sf.Category(role="quasi", values=("a", "b", "c", "d")),
}
RAW: Mapping[str, Any] = {"age": [5], "born": [None], "zip": ["53703"], "town": ["a"]}


def shown(name: str, text: str | None, wish: Wish, *, missing: bool = False) -> None:
    """Check one shown text of a column."""
    raw = [*RAW[name], None] if missing else RAW[name]
    kind = pa.date32() if name == "born" else None
    table = encode(pa.table({name: pa.array(raw, type=kind)}), Schema({name: COLUMNS[name]}))
    masked = Masked.of({name: pa.array([text] * table.rows, type=pa.string())})
    check_detail(table, masked, {name: wish})


@pytest.mark.parametrize(
    ("name", "text", "wish"),
    [
        ("age", "[0-10)", Width(10)),
        ("age", "[90-99]", Width(9)),
        ("age", "[0-10) or missing", Width(10)),
        ("age", "*", Width(99)),
        ("age", None, Width(1)),
        ("born", "[1990-2000)", Span(10, "year")),
        ("born", "[2000-2010)", Span(10, "year")),
        ("zip", "53703", Few(1)),
        ("zip", "'902**'", Few(2)),
        ("zip", "{53703, 90211}", Few(2)),
        ("zip", "ANY", Few(5)),
        ("town", "*", Few(4)),
        ("town", "{a, d}", Few(2)),
        ("town", None, Few(1)),
    ],
)
def test_what_is_fine_enough_passes(name: str, text: str | None, wish: Wish) -> None:
    shown(name, text, wish)


@pytest.mark.parametrize(
    ("name", "text", "wish"),
    [
        ("age", "[0-10.5)", Width(10)),
        ("age", "[80-99]", Width(18)),
        ("age", "[..-10)", Width(99)),
        ("age", "*", Width(98)),
        ("age", "young", Width(99)),
        ("born", "[1990-2001)", Span(10, "year")),
        ("born", "[2000-2010)", Span(9, "year")),
        ("zip", "'902**'", Few(1)),
        ("zip", "{53703, 90211}", Few(1)),
        ("zip", "ANY", Few(4)),
        ("zip", "strange", Few(4)),
        ("town", "*", Few(3)),
        ("town", "{a} or missing", Few(1)),
    ],
)
def test_what_is_coarser_never_comes_out(name: str, text: str, wish: Wish) -> None:
    with pytest.raises(sf.ReleaseError, match=f"detail: {name}"):
        shown(name, text, wish)


def test_a_missing_label_counts_as_one() -> None:
    shown("town", "*", Few(5), missing=True)
    with pytest.raises(sf.ReleaseError):
        shown("town", "*", Few(4), missing=True)


def test_a_masker_that_forgets_the_wish_publishes_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    mask = sf.Partition.mask
    monkeypatch.setattr(sf.Partition, "mask", lambda self, task: mask(self, replace(task, detail={})))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    ages = pa.table({"age": [1, 2, 3, 90, 91, 92], "town": ["a", "b"] * 3})
    schema = Schema(age=COLUMNS["age"], town=COLUMNS["town"])
    asked = sf.Recipe(schema=schema, privacy=[sf.KAnonymity(["age", "town"], 3)], detail={"age": 5})
    with pytest.raises(sf.ReleaseError, match="detail: age"):
        sf.publish(ages, asked, run=Run(report=False))


# What is said where it cannot be kept.


def task(ages: Sequence[int | None], k: int, wishes: Mapping[str, Wish]) -> Task:
    schema = Schema(age=sf.Number(role="quasi", range=(0, 99)))
    table = encode(pa.table({"age": pa.array(ages, type=pa.int64())}), schema)
    labels = Labels(np.zeros(len(ages), dtype=np.uint8), 1)
    return Task(table, labels, [sf.KAnonymity(["age"], k)], LocalEngine(), detail=wishes)


BOTH = (sf.Partition(), sf.TopDown())


@pytest.mark.parametrize("masker", BOTH)
def test_it_says_what_can_be_reached_and_the_k_that_keeps_it(masker: Any) -> None:
    ages = [age for age in range(100) for _ in range(2)]
    with pytest.raises(sf.Infeasible) as error:
        masker.mask(task(ages, 30, {"age": Width(10)}))
    assert str(error.value) == (
        "detail: age: not everybody can be shown in intervals of at most 10. Given: k = 30, with which people can be "
        "shown in intervals of at most 17. To mend it: ask for k of at most 20, the largest that was found to keep the "
        "wish; or for detail: {age: 17}."
    )
    masker.mask(task(ages, 20, {"age": Width(10)}))
    masker.mask(task(ages, 30, {"age": Width(17)}))


@pytest.mark.parametrize("masker", BOTH)
def test_it_says_where_no_k_keeps_it(masker: Any) -> None:
    with pytest.raises(sf.Infeasible) as error:
        masker.mask(task([5] * 50 + [6] * 50, 10, {"age": Width(20)}))
    assert "no k of at least 2 was found to keep it" in str(error.value)
    assert "declare nearer ones" in str(error.value)


def test_of_wishes_that_cannot_be_kept_together_it_says_which_coarser_one_is_enough() -> None:
    """Four towns of 60, in each 20 of each sex: single towns or single sexes can be shown, not both, with k = 50."""
    asked = {"town": Few(1), "sex": Few(1)}

    def kept(task: Task) -> bool:
        numbers = {name: wish.most for name, wish in task.detail.items() if isinstance(wish, Few)}
        groups = {"town": 4 // numbers.get("town", 4), "sex": 3 // numbers.get("sex", 3)}
        return 240 // (groups["town"] * groups["sex"]) >= max(largest_k(task.requirements).values())

    towns = pa.table({"town": [*"abcd"] * 60 + ["A"] * 3, "sex": ["f", "m", "d"] * 81})
    table = sf.read(towns, sf.Schema(town=sf.Category(role="quasi"), sex=sf.Category(role="quasi")))
    labels = Labels(np.zeros(table.rows, dtype=np.uint8), 1)
    needs = [sf.KAnonymity(["town", "sex"], 50)]
    error = refusal(Task(table, labels, needs, LocalEngine(), detail=asked), kept)
    assert error.given.endswith("together; some labels of town have fewer than 50 rows: misspelt ones?")
    assert "each can be kept alone" in error.given
    assert error.rule.endswith("shown town by values of at most 1 label; sex by values of at most 1 label")
    assert "or for detail: {town: 3} or {sex: 2}" in error.remedy


@pytest.mark.parametrize("masker", BOTH)
@pytest.mark.parametrize(
    ("missing", "rows"), [(30, "the 30 rows that miss a value in town, sex"), (2, "the rows, fewer than 20, that miss")]
)
def test_where_rows_that_miss_a_value_stand_in_the_way_the_remedy_is_to_leave_them_out(
    masker: Any, missing: int, rows: str
) -> None:
    """Single towns and sexes can be shown; who misses either is of no group of 20."""
    towns = [*["a", "b"] * 50, *[None] * (missing // 2), *["a"] * (missing // 2)]
    sexes = [*["f"] * 50, *["m"] * 50, *["f"] * (missing // 2), *[None] * (missing // 2)]
    schema = Schema(town=sf.Category(role="quasi"), sex=sf.Category(role="quasi"))
    table = encode(pa.table({"town": towns, "sex": sexes}), schema)
    labels = Labels(np.arange(table.rows, dtype=np.uint8) % 2, 2)
    wishes = {"town": Few(1), "sex": Few(1)}
    asked = Task(table, labels, [sf.KAnonymity(["town", "sex"], 20)], LocalEngine(), detail=wishes)
    with pytest.raises(sf.Infeasible) as error:
        masker.mask(asked)
    assert rows in error.value.remedy
    assert "missing: {town: drop, sex: drop}" in error.value.remedy
    with pytest.raises(sf.Infeasible) as error:
        masker.mask(replace(asked, requirements=[sf.KAnonymity(["town", "sex"], 40)]))
    assert "missing: {town: drop, sex: drop} was not found to be enough" in error.value.given
    assert "leave out" not in error.value.remedy


def test_one_value_alone_is_shown_as_its_range() -> None:
    with pytest.raises(sf.Infeasible, match="detail: age"):
        sf.Partition().mask(task([5] * 50, 10, {"age": Width(20)}))
    sf.Partition().mask(task([5] * 50, 10, {"age": Width(99)}))


@pytest.mark.parametrize("masker", BOTH)
def test_missing_numbers_do_not_count_against_a_width(masker: Any) -> None:
    found = masker.mask(task([*range(100), *[None] * 20], 10, {"age": Width(10)})).masked["age"]
    assert None in found.to_pylist() or any(text.endswith(" or missing") for text in found.labels)


@pytest.mark.parametrize("masker", BOTH)
def test_where_nobody_is_for_long_intervals_end_sooner(masker: Any, monkeypatch: Any, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    ages = [*[age for age in range(20) for _ in range(2)], *[age for age in range(81, 100) for _ in range(2)]]
    schema = Schema(age=sf.Number(role="quasi", range=(0, 99)))
    asked = sf.Recipe(schema=schema, privacy=[sf.KAnonymity(["age"], 30)], mask=masker, detail={"age": 25})
    found = sf.publish(pa.table({"age": ages}), asked, run=Run(report=False))
    assert set(found.shown.column("age").to_pylist()) == {"[0-20)", "[80-99]"}
    found.write(tmp_path / "out")
    assert sf.verify(tmp_path / "out", raw=pa.table({"age": ages})).holds
    plain = sf.publish(pa.table({"age": ages}), replace(asked, detail={}), run=Run(report=False, trial=True))
    assert not set(plain.shown.column("age").to_pylist()) & {"[0-20)", "[80-99]"}


def test_dates_end_sooner_at_the_start_of_a_unit() -> None:
    schema = Schema(born=sf.Number(role="quasi", calendar="month", range=("1930-01", "1999-12")))
    moments = [date(1930 + year, month, 5) for year in (*range(10), *range(60, 70)) for month in range(1, 13)]
    table = encode(pa.table({"born": pa.array(moments)}), schema)
    task = Task(table, Labels(np.zeros(table.rows, dtype=np.uint8), 1), [sf.KAnonymity(["born"], 50)], LocalEngine())
    for masker in BOTH:
        shown = masker.mask(replace(task, detail={"born": Span(13, "year")})).masked["born"]
        assert max(len(text) for text in shown.labels) == len("[1930-01..1939-01)")
        check_detail(table, Masked.of({"born": shown.decode()}), {"born": Span(13, "year")})


def test_all_labels_are_listed_where_few_are_wished() -> None:
    schema = Schema(town=COLUMNS["town"], zip=sf.Category(role="quasi"))
    columns = {"town": ["a", "b", "c"] * 2, "zip": ["x", "y"] * 3}
    asked = Task(
        encode(pa.table(columns), schema),
        Labels(np.zeros(6, dtype=np.uint8), 1),
        [sf.KAnonymity(["town", "zip"], 6)],
        LocalEngine(),
        detail={"town": Few(3)},
    )
    shown = sf.Partition().mask(asked).masked
    assert (set(shown["town"].labels), set(shown["zip"].labels)) == ({"{a, b, c}"}, {"*"})
    with pytest.raises(sf.Infeasible, match="detail: town"):  # of a whole table `*` stands for the declared d, too
        sf.TopDown().mask(asked)


def test_beside_versions_of_the_same_table_the_wish_is_kept() -> None:
    ages = [age for age in range(100) for _ in range(4)]
    halves = {frozenset(["age"]): np.arange(400) % 2}
    asked = replace(task(ages, 20, {"age": Width(10)}), fixed=halves)
    found = sf.TopDown().mask(asked).masked["age"]
    groups = np.bincount(found.codes.astype(np.int64) * 2 + np.arange(400) % 2)
    assert groups[groups > 0].min() >= 20
    with pytest.raises(sf.Infeasible, match="k of at most 20"):
        sf.TopDown().mask(replace(asked, requirements=[sf.KAnonymity(["age"], 21)]))


def test_limits_of_the_search_do_not_count_against_the_wish() -> None:
    ages = [age for age in range(100) for _ in range(4)]
    found = sf.TopDown(max_steps=0).mask(task(ages, 20, {"age": Width(10)}))
    assert [one["wished"] for one in found.history["rounds"]] == [True]
    assert list(found.history["rounds"][0]["children"]) == found.masked["age"].to_pylist()[::40]
    assert found.history["stopped"] == "max_steps"


def test_a_coarser_table_beside_earlier_ones_keeps_the_wish() -> None:
    ages = [age for age in range(100) for _ in range(4)]

    def chosen(outcome: Outcome) -> list[Any]:
        return [one for one in outcome.history["rounds"] if not one.get("wished")]

    asked = task(ages, 4, {"age": Width(10)})
    assert len(chosen(sf.TopDown().mask(asked))) > 5
    found = sf.TopDown().mask_while(asked, lambda outcome: len(chosen(outcome)) <= 2)
    assert len(chosen(found)) == 2
    check_detail(asked.table, found.masked, asked.detail)


def test_the_command_line_says_that_it_was_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    rows = "\n".join(f"{age},{'ab'[age % 2]}" for age in range(100) for _ in range(3))
    (tmp_path / "people.csv").write_text(f"age,town\n{rows}\n", encoding="utf-8")
    (tmp_path / "recipe.yaml").write_text(
        "sfumato: 1\ntable: people.csv\nattributes:\n  age: {kind: number, role: quasi, range: [0, 99]}\n"
        "  town: {kind: category, role: quasi}\nprivacy:\n  - {k_anonymity: 5, on: [age, town]}\n",
        encoding="utf-8",
    )
    asked = [str(tmp_path / "recipe.yaml"), "--output", str(tmp_path / "out"), "--no-report", "--set", "detail.age=10"]
    told = CliRunner().invoke(app, ["publish", *asked], env={"COLUMNS": "200"})
    assert told.exit_code == 0, told.output
    assert "As finely as detail wishes, everybody is shown: age in intervals of at most 10." in told.output
    assert sf.verify(tmp_path / "out").holds
    again = sf.evaluate(tmp_path / "people.csv", tmp_path / "out", seeds=1)
    assert again["detail"] == [{"column": "age", "shown": "in intervals of at most 10"}]
