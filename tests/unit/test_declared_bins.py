"""Bins that are declared: what is refused, what falls into them and is drawn from them, and what a release tells."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.cli.columns import columns_note
from sfumato.data.encoding import encode
from sfumato.engines import ReferenceEngine
from sfumato.evaluation.columns import ColumnKept, columns_kept
from sfumato.maskers.histogram.domains import NumberDomain, declared
from sfumato.maskers.histogram.mask import domain_form
from sfumato.maskers.histogram.records import records_of
from sfumato.maskers.masker import Labels, Masker, Task
from sfumato.privacy.budget import Budget, Spending
from sfumato.privacy.mechanisms import Mechanisms, SeededNoise
from sfumato.privacy.verify.canonical import written
from sfumato.privacy.verify.private.bins import cuts_of
from sfumato.privacy.verify.verdict import CheckError

TENS = (0, 10, 100, 1_000, 10_000, 100_000)
CLUSTERS = sf.Clusters("kmeans", k=2, n_init=1)
TEXT = """
sfumato: 1
attributes:
  debts: {kind: number, role: quasi, range: [0, 200000], bins: BINS}
  sex: {kind: category, role: quasi, values: [f, m]}
structure: {clusters: kmeans, k: 2}
mask: private_tree
budget: {epsilon: 1}
"""


def domain(number: sf.Number, *, missing: bool = False) -> NumberDomain:
    found = declared(sf.Schema(debts=number), bins=8, may_miss=("debts",) if missing else ())["debts"]
    assert isinstance(found, NumberDomain)
    return found


def places(number: sf.Number, values: list[Any]) -> list[int]:
    schema = sf.Schema(debts=number)
    domains = declared(schema, bins=8, may_miss=())
    found = records_of(encode(pa.table({"debts": values}), schema), domains)
    return [int(place) for place in found.cells["debts"]]


def drawn(schema: sf.Schema, table: dict[str, Any], masker: Masker, *, epsilon: int = 10**6) -> Any:
    people = encode(pa.table(table), schema)
    mechanisms = Mechanisms(Spending(Budget(epsilon)), SeededNoise(4))
    labels = Labels((np.arange(people.rows) % 2).astype(np.uint8), 2, most=2)
    return people, masker.mask(Task(people, labels, (), ReferenceEngine(), mechanisms=mechanisms))


@pytest.mark.parametrize(
    ("wrong", "rule"),
    [
        (lambda: sf.Number(bins=(1, 5)), "without a range"),
        (lambda: sf.Number(range=(0, 9), bins=()), "1 to 255 cut points. Given: 0"),
        (lambda: sf.Number(range=(0, 999), bins=tuple(range(1, 257))), "1 to 255 cut points. Given: 256"),
        (lambda: sf.Number(range=(0, 9), bins=5), "1 to 255 cut points. Given: int"),  # type: ignore[arg-type]
        (lambda: sf.Number(range=(0, 9), bins=("1", "5")), "are numbers"),
        (lambda: sf.Number(range=(0, 9), bins=(True, 5)), "are numbers"),
        (lambda: sf.Number(range=(0, 9), bins=(5, 10)), "lie in the declared range"),
        (lambda: sf.Number(range=(0, 9), bins=(-1, 5)), "lie in the declared range"),
        (lambda: sf.Number(range=(0.0, 9.0), bins=(float("nan"),)), "lie in the declared range"),
        (lambda: sf.Number(range=(0.0, 9.0), bins=(1.0, float("inf"))), "lie in the declared range"),
        (lambda: sf.Number(range=(0, 9), bins=(5, 1)), "increase"),
        (lambda: sf.Number(range=(0, 9), bins=(5, 5)), "increase"),
        (lambda: sf.Number(range=(0, 9), bins=(1.5,)), "whole.*integer: false"),
        (lambda: sf.Number(calendar="year", range=("1930", "2009"), bins=(1950,)), "ISO texts"),
    ],
)
def test_cut_points_that_are_none_are_refused(wrong: Callable[[], Any], rule: str) -> None:
    with pytest.raises(sf.SchemaError, match=rule):
        wrong()


def test_zero_alone_is_over_before_one() -> None:
    assert sf.Number(range=(0, 9), bins=(0, 1, 4)).bins == (0, 4)
    assert sf.Number(range=(0.0, 9.0), bins=(0, 1, 4)).bins == (0, 1, 4)


@pytest.mark.parametrize(
    ("unit", "bins", "rule"),
    [
        ("year", ("1950-06",), "begins a year.*'1950'"),
        ("year", ("2010",), "lie in the declared range"),
        ("month", ("1980", "1950"), "increase"),
        ("month", ("1930-01", "1930-02"), "every bin holds a number"),
        ("day", ("soon",), "ISO 8601"),
    ],
)
def test_cut_points_of_dates_begin_units_of_their_range(unit: Any, bins: tuple[str, ...], rule: str) -> None:
    with pytest.raises(sf.SfumatoError, match=rule):
        domain(sf.Number(role="quasi", calendar=unit, range=("1930", "2009-12-31"), bins=bins))


def test_bins_go_with_a_budget_and_a_recipe_with_them_is_written_as_it_is_read() -> None:
    recipe = sf.Recipe.from_yaml(TEXT.replace("BINS", "[0, 1000, 20000]"))
    assert recipe.schema["debts"].bins == (0, 1000, 20000)  # type: ignore[union-attr]
    assert sf.Recipe.from_yaml(recipe.to_yaml()) == recipe
    assert any("4 declared bins, whole numbers" in share.purpose for share in recipe.plan)
    with pytest.raises(sf.RecipeError, match=r"debts: .*they go with a budget.*budget: \{epsilon: 1\}"):
        recipe.replace(budget=None, mask=sf.TopDown(), privacy=[sf.KAnonymity(["debts", "sex"], 5)])
    for given, rule in (("5", "it is a list"), ("[[1]]", "it is a list"), ("[2, 1]", "debts: cut points increase")):
        with pytest.raises(sf.SfumatoError, match=rule):
            sf.Recipe.from_yaml(TEXT.replace("BINS", given))
    dated = TEXT.replace(
        "range: [0, 200000], bins: BINS", "calendar: day, range: [1930-01-01, 2009-12-31], bins: [1950-01-01]"
    )
    assert sf.Recipe.from_yaml(dated).schema["debts"].bins == ("1950-01-01",)  # type: ignore[union-attr]


def test_a_bin_begins_at_each_cut_point_and_an_end_among_them_is_alone() -> None:
    whole = sf.Number(role="quasi", range=(0, 100), bins=(0, 10, 100))
    assert domain(whole).edges == (0, 1, 10, 100, 101)
    assert places(whole, [0, 1, 9, 10, 99, 100]) == [0, 1, 1, 2, 2, 3]
    assert domain(whole) == domain(sf.Number(role="quasi", range=(0, 100), bins=(1, 10, 100)))
    decimals = sf.Number(role="quasi", range=(0.0, 100.0), bins=(0, 10, 100))
    assert places(decimals, [0.0, -0.0, 1e-9, 9.99, 10.0, 99.9, 100.0]) == [0, 0, 1, 1, 2, 2, 3]
    assert [domain(decimals).label(at, at + 1) for at in range(4)] == ["[0-0]", "[0-10)", "[10-100)", "[100-100]"]
    dates = sf.Number(role="quasi", calendar="year", range=("1930", "2009"), bins=("1930", "1950", "2009"))
    values = [date(1930, 5, 1), date(1931, 1, 1), date(1950, 1, 1), date(2009, 12, 31)]
    assert places(dates, values) == [0, 1, 2, 3]


@pytest.mark.parametrize("missing", [False, True])
def test_the_masker_s_file_tells_declared_bins_and_verify_reads_them(missing: bool) -> None:
    numbers: list[tuple[sf.Number, list[Any]]] = [
        (sf.Number(range=(0, 100), bins=(0, 10, 100)), [1, 10, 100]),
        (sf.Number(range=(0.0, 100.0), bins=(0, 10)), [0.0, 10.0]),
        (sf.Number(calendar="month", range=("1930", "2009"), bins=("1930", "1980-01-01")), ["1930-02", "1980-01"]),
    ]
    for number, told in numbers:
        form = domain_form(domain(number, missing=missing), "values")
        assert form["bins"] == told
        assert cuts_of(form, "debts") == told
        for wrong in ([], told[::-1], [*told, 10**6], [None, *told], [*told, *told], ["x"], "x"):
            with pytest.raises(CheckError):
                cuts_of({**form, "bins": wrong}, "debts")


AMOUNTS = np.repeat([0, 3, 70, 250, 400], [60, 10, 10, 10, 10])
PEOPLE = {"debts": AMOUNTS, "sex": np.where(np.arange(100) % 2, "f", "m")}


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize(
    "masker", [sf.PrivateTree(), sf.PrivateTree(pairs=1), sf.PrivateTree(rows="generalized"), sf.DPHeter()]
)
def test_numbers_are_drawn_from_declared_bins(masker: Masker, whole: bool) -> None:
    debts = sf.Number(role="quasi", range=(0, 400), integer=whole, bins=(0, 10, 100, 200, 400))
    schema = sf.Schema(debts=debts, sex=sf.Category(role="quasi", values=("f", "m")))
    _, outcome = drawn(schema, PEOPLE, masker)
    shown = outcome.masked.to_arrow()["debts"].to_pylist()
    if isinstance(shown[0], str):
        edges = {0.0, 1.0, 10.0, 100.0, 200.0, 400.0}
        assert {float(end) for text in shown for end in text[1:-1].split("-")} <= edges
        assert len(set(shown)) > (1 if isinstance(masker, sf.PrivateTree) else 3)
        return
    found = np.array(shown, dtype=float)
    assert np.bincount(np.digitize(found, [1e-12, 10, 100, 200, 400]), minlength=6).tolist() == [60, 10, 10, 0, 10, 10]


ROWS = 14_000


def zero_heavy() -> dict[str, Any]:
    random = np.random.default_rng(7)
    some = np.clip(np.exp(np.log(3_000) + 1.2 * random.standard_normal(ROWS)), 1, 200_000)
    return {
        "age": random.integers(18, 91, ROWS),
        "sex": random.choice(["f", "m"], ROWS),
        "work": random.choice(list("abcd"), ROWS, p=[0.5, 0.25, 0.15, 0.1]),
        "debts": np.where(random.random(ROWS) < 0.6, 0, some).astype(np.int64),
    }


def test_a_zero_heavy_amount_keeps_its_distribution_in_declared_bins_and_loses_it_in_equal_ones() -> None:
    table, off, means = zero_heavy(), {}, {}
    for name, bins in {"equal": None, "declared": TENS}.items():
        schema = sf.Schema(
            age=sf.Number(role="quasi", range=(18, 90)),
            sex=sf.Category(role="quasi", values=("f", "m")),
            work=sf.Category(role="quasi", values=tuple("abcd")),
            debts=sf.Number(role="quasi", range=(0, 200_000), bins=bins),
        )
        people, outcome = drawn(schema, table, sf.PrivateTree(splits=3), epsilon=1)
        (kept,) = [column for column in columns_kept(people, outcome.masked) if column.name == "debts"]
        off[name], means[name] = kept.off or 0, np.mean(outcome.masked.to_arrow()["debts"].to_numpy())
    assert off["equal"] > 0.5
    assert off["declared"] < 0.15
    assert abs(means["declared"] - table["debts"].mean()) < abs(means["equal"] - table["debts"].mean()) / 2


def test_a_lost_distribution_is_answered_with_bins_by_the_declared_range_alone() -> None:
    lost = [ColumnKept("debts", 9, 9, "0", 0.1, None, off=0.53)]
    debts = sf.Number(role="quasi", range=(0, 200_000))
    assert columns_note(lost, sf.PrivateTree(), {"debts": debts}).endswith(f'"debts" could have bins: {list(TENS)}.')
    for other in (sf.Number(role="quasi", range=(0, 200_000), bins=TENS), sf.Number(range=(18, 90)), sf.Category()):
        assert "could have bins" not in columns_note(lost, sf.PrivateTree(), {"debts": other})


@pytest.fixture(scope="module", params=["private_tree", "dp_heter"])
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    mask = {"private_tree": sf.PrivateTree(), "dp_heter": sf.DPHeter(steps=4)}[request.param]
    debts = sf.Number(role="quasi", range=(0.0, 400.0), bins=(0, 10, 100, 400))
    schema = sf.Schema(debts=debts, sex=sf.Category(role="quasi", values=("f", "m")))
    recipe = sf.Recipe(schema=schema, structure=CLUSTERS, mask=mask, budget=sf.Budget(1_000))
    run = sf.Run(chance=sf.Seeded(3), report=False)
    return sf.publish(pa.table(PEOPLE), recipe, run=run).write(tmp_path_factory.mktemp("binned") / "release")


def test_a_release_in_declared_bins_is_verified_and_loaded(folder: Path) -> None:
    assert sf.verify(folder).holds, str(sf.verify(folder))
    assert (np.asarray(sf.load(folder, kind="arrow").numbers()["debts"]) == 0).sum() == 60


def _forged(folder: Path, place: Path, change: Callable[[dict[str, Any]], None], name: str) -> set[str]:
    """The checks that fail once a JSON file is changed, its hash told anew."""
    import hashlib

    shutil.copytree(folder, place)
    form = json.loads((place / name).read_text(encoding="utf-8"))
    change(form)
    (place / name).write_bytes(written(form))
    certificate = json.loads((place / "certificate.json").read_text(encoding="utf-8"))
    if name != "certificate.json":
        certificate["files"][name]["sha256"] = hashlib.sha256((place / name).read_bytes()).hexdigest()
        (place / "certificate.json").write_bytes(written(certificate))
    return {check.name for check in sf.verify(place).failed}


def test_forged_bins_and_texts_are_refused(folder: Path, tmp_path: Path) -> None:
    def equal(form: dict[str, Any]) -> None:
        key = "preprocessing_and_hyperparameter_tuning"
        form["deployment"]["implementation"][key] = "numbers in equal bins of their declared ranges"

    def earlier(form: dict[str, Any]) -> None:
        equal(form)
        form["format"] = 7

    def moved(form: dict[str, Any]) -> None:
        form["domains"]["debts"]["bins"] = [5.0, 100.0, 200.0]

    mask = next(path.name for path in folder.iterdir() if path.name in ("private_tree.json", "dp_heter.json"))
    assert "statement" in _forged(folder, tmp_path / "equal", equal, "certificate.json")
    assert "made of" in _forged(folder, tmp_path / "earlier", earlier, "certificate.json")
    assert {"made of", "domains"} & _forged(folder, tmp_path / "moved", moved, mask)
