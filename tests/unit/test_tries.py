"""Other settings are tried where a table tells too little, on a sample, without a trace."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.evaluation.columns import ColumnKept
from sfumato.evaluation.tries import Tries
from sfumato.events import Event, Share
from sfumato.privacy.ledger import Ledger
from sfumato.publishing import tries
from sfumato.randomness import Seeded

QUASI = ("age", "town", "on")


def people(rows: int = 200) -> pa.Table:
    chance = np.random.default_rng(0)
    return pa.table(
        {
            "age": chance.integers(0, 100, rows).tolist(),
            "town": [f"t{at}" for at in chance.integers(0, 12, rows)],
            "on": [f"o{at}" for at in chance.integers(0, 12, rows)],
            "ill": [f"i{at}" for at in chance.integers(0, 2, rows)],
        }
    )


def recipe(mask: sf.TopDown | sf.Mondrian | None = None, k: int = 40) -> sf.Recipe:
    return sf.Recipe(
        schema=sf.Schema(
            age=sf.Number(role="quasi", range=(0, 100)),
            town=sf.Category(role="quasi"),
            on=sf.Category(role="quasi"),
            ill=sf.Category(role="sensitive"),
        ),
        structure=sf.Clusters("kmeans", k=2, n_init=1),
        privacy=(sf.KAnonymity(QUASI, k),),
        mask=mask or sf.TopDown(),
    )


def columns(*names: str) -> list[ColumnKept]:
    return [ColumnKept(name, before, 1, "*", 1.0, 0.0) for before, name in enumerate(names, start=2)]


def test_a_table_that_tells_too_little_is_tried_with_other_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tries, "ROWS", 150)
    ledger = Ledger(tmp_path / "ledger.jsonl")
    monkeypatch.setattr("sfumato.events.EVERY", 0.0)
    heard: list[float] = []

    def hear(event: Event) -> None:
        heard.extend([event.done] if isinstance(event, Share) and event.step.startswith("Trying") else [])

    made = sf.publish(people(), recipe(), run=sf.Run(report=False, suggest=True, ledger=ledger, listener=hear))
    found = Tries.from_json(made.scores["tries"])
    assert (found.rows, found.of_rows) == (150, 200)
    assert found.made >= 3
    assert found.better
    assert all(one.shows_more_than(found.as_it_is) for one in found.better)
    assert list(found.better) == sorted(found.better, key=lambda one: (one.silent, -(one.kept or 0)))
    assert not ledger.entries()
    assert max(heard) > 0.7
    assert sum(0.2 < done < 0.7 for done in heard) > 2, "one try after the other"
    assert sum(done <= 0.2 for done in heard) > 2, "the table as it is, on the sample, is a part of it"


def test_what_is_suggested_can_be_typed() -> None:
    for one in tries.candidates(recipe(), columns("age", "town", "on")):
        changed = sf.Recipe.from_yaml(recipe().to_yaml(), changes=one.changes)
        assert changed != recipe()
        raw = [name for name in QUASI if changed.schema[name].role in ("plain", "sensitive")]
        assert raw == []  # no quasi-identifier goes out as it is
        kept = [name for name in QUASI if changed.schema[name].role == "quasi"]
        assert [list(need.on) for need in changed.privacy] == [kept]


def test_a_masker_is_not_its_own_alternative_and_k_stays_above_1() -> None:
    changes = [one.changes for one in tries.candidates(recipe(sf.Mondrian(), k=3), columns("age"))]
    assert not any(name.startswith("mask={mondrian") for some in changes for name in some)
    assert not any(".k=" in name for some in changes for name in some)


def test_nothing_is_tried_unasked_nor_under_a_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tries, "tries", lambda *_: pytest.fail("tried"))
    assert "tries" not in sf.publish(people(), recipe(), run=sf.Run(report=False)).scores
    private = sf.Recipe(
        schema=sf.Schema(
            age=sf.Number(role="quasi", range=(0, 100)), town=sf.Category(role="quasi", values=tuple(TOWNS))
        ),
        mask=sf.PrivateTree(),
        budget=sf.Budget(1),
    )
    two = people().select(["age", "town"])
    chance = Seeded(1)
    assert "tries" not in sf.publish(two, private, run=sf.Run(report=False, suggest=True, chance=chance)).scores


TOWNS = [f"t{at}" for at in range(12)]
