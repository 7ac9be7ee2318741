"""Every release that is written is entered, whatever it claims; what was released before is told."""

from __future__ import annotations

import hashlib
import shutil
import warnings
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from typer.testing import CliRunner

import sfumato as sf
from sfumato.cli.main import app
from sfumato.engines import ReferenceEngine
from sfumato.privacy.ledger import Ledger, People
from sfumato.publishing import Run
from sfumato.randomness import Secure, Seeded
from sfumato.release.output import mend

CHANCE = np.random.default_rng(0)
PEOPLE = pa.table({"age": CHANCE.integers(20, 60, 120), "town": CHANCE.choice(["A", "B"], 120)})
RECIPE = sf.Recipe(
    schema=sf.Schema(age=sf.Number(role="quasi", range=(20, 60)), town=sf.Category(role="quasi")),
    structure=sf.Clusters("kmeans", k=2, seed=0, n_init=1),
    privacy=[sf.KAnonymity(["age", "town"], 4)],
    mask=sf.TopDown(),
)


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger(tmp_path / "state" / "ledger.jsonl")


def publish(ledger: Ledger, **changes: Any) -> sf.Release:
    return sf.publish(
        PEOPLE, replace(RECIPE, **changes), run=Run(engine=ReferenceEngine(), report=False, ledger=ledger)
    )


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_a_release_is_entered_when_it_is_written(ledger: Ledger, tmp_path: Path) -> None:
    release = publish(ledger)
    assert ledger.entries() == ()
    out = release.write(tmp_path / "out")
    (entry,) = ledger.entries()
    assert entry.kind == "release"
    assert entry.written
    assert entry.folder == str(out)
    assert entry.certificate == sha256(out / "certificate.json")
    assert entry.recipe == sha256(tmp_path / "out.holder" / "recipe.yaml")
    assert (entry.guarantee, entry.mask, entry.epsilon) == ("k_anonymity", "top_down", None)
    assert [claim["k"] for claim in entry.claims] == [4]
    assert ledger.releases_of(People(entry.people))[0].id == entry.id
    assert ledger.releases_of(People("table of others")) == []


def test_a_second_release_of_a_table_or_nearly_it_is_told_unless_the_people_are_others(
    ledger: Ledger, tmp_path: Path
) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        warnings.filterwarnings("ignore", "the clusters follow")
        publish(ledger).write(tmp_path / "one")
    with pytest.warns(UserWarning, match="an earlier release of this table"):
        second = publish(ledger, privacy=[sf.KAnonymity(["age", "town"], 9)])
    second.write(tmp_path / "two")
    with pytest.warns(UserWarning, match="2 earlier releases of this table"):
        publish(ledger)
    run = Run(report=False, engine=ReferenceEngine(), ledger=ledger)
    with pytest.warns(UserWarning, match="in .*two, with about 100 % of the smaller one's rows in common"):
        sf.publish(PEOPLE.slice(1), RECIPE, run=run)
    chance = np.random.default_rng(1)
    others = pa.table({"age": chance.integers(20, 60, 120), "town": chance.choice(["A", "B"], 120)})
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        warnings.filterwarnings("ignore", "the clusters follow")
        sf.publish(others, RECIPE, run=run)


def test_a_release_that_is_replaced_stays_in_the_ledger(ledger: Ledger, tmp_path: Path) -> None:
    release = publish(ledger)
    release.write(tmp_path / "out")
    with pytest.warns(UserWarning, match=f"the release of {release.certificate['created'][:10]}.* was replaced"):
        publish(ledger, privacy=[sf.KAnonymity(["age", "town"], 9)]).write(tmp_path / "out")
    assert [entry.written for entry in ledger.entries()] == [True, True]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "out.holder", "state"]


def test_runs_that_write_the_same_folder_take_turns(ledger: Ledger, tmp_path: Path) -> None:
    releases = [publish(ledger, privacy=[sf.KAnonymity(["age", "town"], k)]) for k in (4, 9)]
    with ThreadPoolExecutor(4) as pool, warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        done = [pool.submit(releases[at % 2].write, tmp_path / "out") for at in range(12)]
        assert {future.result() for future in done} == {tmp_path / "out"}
    assert sf.verify(tmp_path / "out").holds
    assert [entry.written for entry in ledger.entries()] == [True] * 12
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "out.holder", "state"]
    assert sha256(tmp_path / "out.holder" / "recipe.yaml") == ledger.entries()[-1].recipe


def test_without_a_ledger_nothing_gets_its_name(ledger: Ledger, tmp_path: Path) -> None:
    release = publish(ledger)
    shutil.rmtree(ledger.path.parent)
    ledger.path.parent.write_text("in the way")
    with pytest.raises(sf.ReleaseError, match="ledger must be writable"):
        release.write(tmp_path / "out")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["state"]


def test_a_broken_ledger_stops_a_release_before_any_work(ledger: Ledger, tmp_path: Path) -> None:
    publish(ledger).write(tmp_path / "out")
    ledger.path.write_text("broken\n")
    with pytest.raises(sf.ReleaseError, match="line 1"):
        publish(ledger)


def test_intended_and_written_are_told_apart(ledger: Ledger, tmp_path: Path) -> None:
    publish(ledger).write(tmp_path / "out")
    lines = ledger.path.read_text().splitlines(keepends=True)
    shown = ["ledger", "--path", str(ledger.path)]
    told = CliRunner().invoke(app, shown, env={"COLUMNS": "80"}).output
    assert "released: top_down" in told
    assert "k_anonymity, k = " in told, "no word is broken in a narrow terminal"
    ledger.path.write_text(lines[0])  # killed before it was confirmed
    assert "released, not confirmed" in " ".join(CliRunner().invoke(app, shown).output.split())
    (tmp_path / "out").rename(tmp_path / "moved")
    assert "intended, not written" in " ".join(CliRunner().invoke(app, shown).output.split())


def test_what_a_killed_run_took_away_comes_back(ledger: Ledger, tmp_path: Path) -> None:
    publish(ledger).write(tmp_path / "out")
    before = sha256(tmp_path / "out" / "certificate.json")
    run = "0123456789abcdef"
    (tmp_path / "out").rename(tmp_path / f".out.{run}.sfumato-old")
    (tmp_path / "out.holder").rename(tmp_path / f".out.holder.{run}.sfumato-old")
    for name in ("out.holder", f".out.{run}.sfumato-new", ".out.mine"):
        (tmp_path / name).mkdir()
    mend(tmp_path / "out", tmp_path / "out.holder")
    assert sha256(tmp_path / "out" / "certificate.json") == before
    assert (tmp_path / "out.holder" / "recipe.yaml").is_file()
    assert sorted(path.name for path in tmp_path.iterdir()) == [".out.mine", "out", "out.holder", "state"]


def test_private_releases_add_up_and_seeded_ones_are_not_entered(ledger: Ledger, tmp_path: Path) -> None:
    adult = sf.datasets.load("adult_heterogeneous")
    recipe = sf.Recipe(schema=adult.schema, structure=RECIPE.structure, mask=sf.PrivateTree(), budget=sf.Budget(1))
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        for chance, name in ((Secure(), "one"), (Secure(), "two"), (Seeded(1), "three")):
            run = Run(report=False, ledger=ledger, chance=chance)
            sf.publish(adult.table.slice(0, 400), recipe, run=run).write(tmp_path / name)
    entries = ledger.entries()
    assert [entry.kind for entry in entries] == ["spending", "release"] * 2
    assert len({entry.people for entry in entries}) == 1
    assert {entry.recipe for entry in entries} == {sha256(tmp_path / "one.holder" / "recipe.yaml")}
    assert ledger.spent(People(entries[0].people)) == 2
    assert [str(entry.epsilon) for entry in ledger.releases_of(People(entries[0].people))] == ["1", "1"]
