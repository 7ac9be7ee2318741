"""Publishing under a budget, end to end: what is promised, what is checked, what is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pytest
from typer.testing import CliRunner

import sfumato as sf
from sfumato.cli.main import app
from sfumato.publishing import Run
from sfumato.randomness import Seeded
from tests.conftest import Blueprint

ADULT = sf.datasets.load("adult_heterogeneous")
SOME = ADULT.table.slice(0, 1500)


def recipe(mask: Any = None, *, people: str | None = None, **budget: Any) -> sf.Recipe:
    return sf.Recipe(
        schema=ADULT.schema,
        structure=sf.Clusters("kmeans", k=3, n_init=1),
        people=people,
        mask=mask or sf.PrivateTree(),
        budget=sf.Budget(**({"epsilon": 1} | budget)),
    )


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> Path:
    ledger = sf.Ledger(tmp_path_factory.mktemp("state") / "ledger.jsonl")
    return sf.publish(SOME, recipe(), run=Run(ledger=ledger)).write(tmp_path_factory.mktemp("dp") / "out")


def copied(released: Path, tmp_path: Path) -> Path:
    import shutil

    return Path(shutil.copytree(released, tmp_path / "copy"))


def test_a_lawyer_can_read_the_promise_and_a_program_its_parts(released: Path) -> None:
    form = json.loads((released / "certificate.json").read_text())
    assert "epsilon = 1;" in form["statement"]
    assert "one record added or removed" in form["statement"]
    assert form["statement"] in (released / "README.md").read_text()
    part = form["differential_privacy"]
    assert sum(Fraction(event["epsilon"]) for event in part["events"]) == 1
    assert form["deployment"]["privacy_loss"]["privacy_parameters"] == {"epsilon": 1.0, "delta": 0}
    assert form["deployment"]["dp_variant"]["variant_name"] == "Pure DP"
    assert set(form["deployment"]) == {
        "basic",
        "dp_variant",
        "privacy_loss",
        "deployment_model",
        "implementation",
        "administrative",
    }
    assert part["private"] is True


def test_the_table_is_generated_whole(released: Path) -> None:
    shown = pl.read_parquet(released / "table.parquet")
    assert shown.columns == list(ADULT.schema.kept)
    assert abs(shown.height - 1500) < 400
    assert sf.verify(released).holds
    assert not (released / "codebook.json").exists()


def test_the_pages_speak_of_a_generated_table_and_show_its_clusters(released: Path) -> None:
    for page in ("report.html", "README.md"):
        told = (released / page).read_text(encoding="utf-8")
        assert "A generated table" in told
        assert "Generated with Sfumato (private_tree)" in told
        assert "add up to epsilon" in " ".join(told.split())
        assert "masked table" not in told
    assert "The clusters" in (released / "report.html").read_text(encoding="utf-8")


def forge(change: Callable[[dict[str, Any]], object]) -> Callable[[Path], object]:
    return lambda folder: Blueprint.edit(folder, "certificate.json", change)


EVENT: dict[str, Any] = {
    "mechanism": "discrete Laplace",
    "purpose": "once more",
    "epsilon": "1/10",
    "composition": "sequential",
    "parts": 1,
}
FORGED: dict[str, Callable[[Path], object]] = {
    "an event too few": forge(lambda form: form["differential_privacy"]["events"].pop()),
    "a smaller epsilon": forge(lambda form: form["differential_privacy"].update(epsilon="1/2")),
    "a rounded epsilon": forge(lambda form: form["differential_privacy"].update(epsilon=1)),
    "another unit": forge(lambda form: form["differential_privacy"].update(unit="one cell")),
    "an unknown mechanism": forge(lambda form: form["differential_privacy"]["events"][0].update(mechanism="none")),
    "a seed kept quiet": forge(lambda form: form["differential_privacy"].update(private=False)),
    "a claim beside": forge(lambda form: form.update(claims=[{"claim": "k_anonymity", "on": ["age"], "k": 2}])),
    "a raw column": forge(lambda form: form["table"]["columns"][0].update(masked=None)),
    "an order": forge(lambda form: form.update(row_order="kept")),
    "an event for nothing": forge(lambda form: form["differential_privacy"]["events"].append(EVENT | {"epsilon": "0"})),
    "an event too many": forge(lambda form: form["differential_privacy"]["events"].append(EVENT)),
    "a cheaper event": forge(lambda form: form["differential_privacy"]["events"][0].update(epsilon="1/1000")),
    "a division by zero": forge(lambda form: form["differential_privacy"].update(epsilon="1/0")),
    "numbers drawn": forge(lambda form: form["differential_privacy"]["events"][0].update(draws=3)),
    "parts made up": forge(lambda form: form["differential_privacy"]["events"][0].update(parts=9)),
    "a delta": forge(lambda form: form["differential_privacy"].update(delta="1/1000")),
    "another epsilon in the statement": forge(
        lambda form: form.update(statement=form["statement"].replace("epsilon = 1;", "epsilon = 1/2;"))
    ),
    "another epsilon for the registry": forge(
        lambda form: form["deployment"]["privacy_loss"]["privacy_parameters"].update(epsilon=0.5)
    ),
    "no fields for the registry": forge(lambda form: form.pop("deployment")),
    "an approximate kind": forge(lambda form: form["deployment"]["dp_variant"].update(variant_name="Approximate DP")),
    "a wider domain": lambda folder: Blueprint.edit(
        folder, "private_tree.json", lambda form: form["domains"]["age"].update(range=[0, 200]), rehash=False
    ),
    "a domain left out": lambda folder: Blueprint.edit(
        folder, "private_tree.json", lambda form: form["domains"].pop("age")
    ),
}


@pytest.mark.parametrize("forgery", FORGED)
def test_a_forged_certificate_does_not_hold(forgery: str, released: Path, tmp_path: Path) -> None:
    folder = copied(released, tmp_path)
    FORGED[forgery](folder)
    assert not sf.verify(folder).holds


def test_a_forgery_says_which_check_found_it(released: Path, tmp_path: Path) -> None:
    folder = copied(released, tmp_path)
    FORGED["an event too many"](folder)
    assert {"certificate", "epsilon"} <= {check.name for check in sf.verify(folder).failed}


def test_a_swapped_or_an_added_file_is_found(released: Path, tmp_path: Path) -> None:
    folder = copied(released, tmp_path)
    own = pl.read_parquet(folder / "table.parquet")
    own.sample(fraction=1.0, shuffle=True, seed=1).write_parquet(folder / "table.parquet")
    assert "hashes" in {check.name for check in sf.verify(folder).failed}
    other = copied(released, tmp_path / "other")
    (other / "raw.json").write_text("[]")
    assert "files" in {check.name for check in sf.verify(other).failed}


def test_an_added_column_or_row_is_found(released: Path, tmp_path: Path) -> None:
    own = pl.read_parquet(released / "table.parquet")
    for at, changed in enumerate((own.with_columns(weight=pl.lit(1)), pl.concat([own, own.head(3)]))):
        folder = copied(released, tmp_path / str(at))
        table = changed.to_arrow()
        Blueprint.replace(folder, Blueprint.encoded(table.cast(_plain(table.schema))))
        assert {"columns", "domains"} & {check.name for check in sf.verify(folder).failed}


@pytest.mark.parametrize(
    ("name", "value"), [("age", 200), ("sex", "Unknown"), ("occupation", ["Astronaut"]), ("hours_per_week", None)]
)
def test_a_value_outside_its_domain_is_found(name: str, value: Any, released: Path, tmp_path: Path) -> None:
    folder = copied(released, tmp_path)
    table = pl.read_parquet(folder / "table.parquet").to_arrow()
    column = table.column(name).to_pylist()
    kind = pa.list_(pa.string()) if name == "occupation" else pa.int64() if not isinstance(value, str) else pa.string()
    changed = pa.array([value, *column[1:]], type=kind)
    at = table.column_names.index(name)
    Blueprint.replace(folder, Blueprint.encoded(table.cast(_plain(table.schema)).set_column(at, name, changed)))
    failed = {check.name for check in sf.verify(folder).failed}
    assert "domains" in failed


def _plain(schema: pa.Schema) -> pa.Schema:
    """Text without views, as pyarrow writes it."""
    kinds = {pa.string_view(): pa.string(), pa.large_string(): pa.string()}
    return pa.schema(
        [
            pa.field(
                f.name,
                pa.list_(pa.string())
                if pa.types.is_nested(f.type)
                else pa.string()
                if pa.types.is_dictionary(f.type)
                else kinds.get(f.type, f.type),
            )
            for f in schema
        ]
    )


def test_a_seeded_run_says_that_it_is_not_private_wherever_it_shows(tmp_path: Path) -> None:
    few = SOME.slice(0, 300)
    runs = [sf.publish(few, recipe(), run=Run(chance=Seeded(5), report=at == 0)) for at in range(2)]
    folder = runs[0].write(tmp_path / "out")
    assert folder.name == "out.NOT-PRIVATE"
    assert runs[0].table.equals(runs[1].table)
    assert runs[0].guarantee.startswith("NOT PRIVATE")
    assert (folder / "README.md").read_text().startswith("# NOT PRIVATE")
    verdict = sf.verify(folder)
    assert verdict.holds
    assert "NOT PRIVATE" in str(verdict)


def test_a_total_caps_the_runs_on_one_table(tmp_path: Path) -> None:
    ledger = sf.Ledger(tmp_path / "ledger.jsonl")
    run, few = Run(ledger=ledger, report=False), SOME.slice(0, 300)
    sf.publish(few, recipe(epsilon="2/3", total=1), run=run)
    with pytest.raises(sf.BudgetError, match="2/3 spent before"):
        sf.publish(few.take(list(range(299, -1, -1))), recipe(epsilon="2/3", total=1), run=run)
    sf.publish(few.slice(1), recipe(epsilon="2/3", total=1), run=run)
    assert len(ledger.entries()) == 2


def test_a_table_that_does_not_fit_its_domain_costs_nothing(tmp_path: Path) -> None:
    ledger = sf.Ledger(tmp_path / "ledger.jsonl")
    names = SOME.column("sex").to_pylist()
    holey = SOME.set_column(SOME.column_names.index("sex"), "sex", pa.array([None, *names[1:]]))
    with pytest.raises(sf.TableError, match="may_miss"):
        sf.publish(holey, recipe(), run=Run(ledger=ledger))
    assert [entry.given_back for entry in ledger.entries()] == [True]


@pytest.mark.parametrize("csv", [False, True])
def test_the_command_line_shows_plan_promise_and_ledger(csv: bool, tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    pq.write_table(SOME, tmp_path / "people.parquet")
    text = recipe(sf.DPHeter(steps=4), epsilon=0.5, people="census").to_yaml()
    (tmp_path / "recipe.yaml").write_text(text.replace("sfumato: 1\n", "sfumato: 1\ntable: people.parquet\n"))
    runner = CliRunner()
    out = str(tmp_path / "out")
    arguments = ["publish", str(tmp_path / "recipe.yaml"), "--output", out, *(["--csv", "--no-report"] if csv else [])]
    done = runner.invoke(app, arguments)
    assert done.exit_code == 0, done.output
    assert "The plan: epsilon = 1/2" in done.output
    assert "differentially private with epsilon = 1/2" in done.output
    assert runner.invoke(app, ["verify", out]).exit_code == 0
    assert "census" in runner.invoke(app, ["ledger"]).output
    done = runner.invoke(app, ["evaluate", str(tmp_path / "people.parquet"), out, "--seeds", "1"])
    assert done.exit_code == 0, done.output


@pytest.mark.parametrize(
    ("label", "inside"),
    [
        ("[1-15)", True),
        ("[16-16]", True),
        ("[15-16]", True),
        ("[15-16)", True),
        ("[3-9]", False),
        ("[15-15)", False),
        ("[0-3)", False),
        ("[9-3)", False),
        ("[16-17]", False),
        ("16", False),
    ],
)
def test_an_interval_lies_in_its_range(label: str, inside: bool) -> None:
    from sfumato.privacy.verify.private.differential import _intervals

    assert _intervals(pl.Series([label]), {"range": [1, 16]}, dotted=True) is inside


@pytest.mark.slow
def test_patients_with_thousands_of_codes(tmp_path: Path) -> None:
    patients = sf.datasets.load("patients", rows=3000)
    may_miss = [name for name in patients.schema.kept if patients.table.column(name).null_count]
    made = sf.Recipe(
        schema=patients.schema,
        structure=sf.Clusters("kmeans", k=3, n_init=1),
        budget=sf.Budget(1),
        mask=sf.PrivateTree(may_miss=tuple(may_miss)),
    )
    release = sf.publish(patients.table, made)
    assert release.verdict.holds
    assert release.scores["scores"]["f_measure.nearest"]["value"] > 0.4
