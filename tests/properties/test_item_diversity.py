"""l-diversity by item, of a set-valued attribute: measure, monotony, recount and releases against its definition."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from jsonschema import Draft202012Validator

import sfumato as sf
from sfumato.errors import Infeasible, RecipeError, SchemaError
from sfumato.maskers.masker import Masker
from sfumato.privacy.requirements import Requirement, Sensitive
from sfumato.privacy.verify.claims import check_l_diversity
from sfumato.privacy.verify.items import items_of
from sfumato.privacy.verify.verdict import CheckError
from sfumato.release.bundle import Format
from tests.corruptions import forge

Held = list[str] | None
ON = ("age", "sex")
SCHEMA = sf.Schema(
    age=sf.Number(role="quasi", range=(17, 90)), sex=sf.Category(role="quasi"), ills=sf.ItemSet(role="sensitive")
)
SHAPE = json.loads((Path(sf.__file__).parent / "privacy" / "verify" / "certificate.schema.json").read_text())
ITEMS = ("flu", "cough", "rash", "fever")
CASES = {"no item certain": (2, None), "three lack it": (4, None), "a share": (2, 0.6)}
MASKS: dict[str, Masker] = {"top_down": sf.TopDown(), "partition": sf.Partition(), "mondrian": sf.Mondrian()}


def drawn(chance: random.Random) -> Held:
    """A set; sometimes none, sometimes without an item."""
    return None if chance.random() < 0.1 else [item for item in ITEMS if chance.random() < 0.4]


def lack(group: Sequence[Held]) -> int:
    """By definition: of the items in a group, how many lack the one that most have; all of them where there is none."""
    sets = [{"(missing)"} if held is None else set(held) for held in group]
    return min((sum(item not in held for held in sets) for item in set().union(*sets)), default=len(group))


def most(group: Sequence[Held]) -> float:
    """By definition: the largest share that has one item."""
    sets = [{"(missing)"} if held is None else set(held) for held in group]
    return max((sum(item in held for held in sets) / len(group) for item in set().union(*sets)), default=0.0)


def groups_of(rows: Sequence[dict[str, Any]], on: Sequence[str]) -> list[list[Held]]:
    found: dict[tuple[Any, ...], list[Held]] = {}
    for row in rows:
        found.setdefault(tuple(row[name] for name in on), []).append(row["s"])
    return list(found.values())


def counts(groups: Sequence[Sequence[Held]], values: Sequence[tuple[str, ...] | None]) -> np.ndarray[Any, Any]:
    at = {value: place for place, value in enumerate(values)}
    found = np.zeros((len(groups), len(values)), dtype=np.int64)
    for number, group in enumerate(groups):
        for held in group:
            found[number, at[None if held is None else tuple(held)]] += 1
    return found


def test_measure_and_recount_say_what_the_definition_says_of_100_tables() -> None:
    for seed in range(100):
        chance = random.Random(seed)
        rows: list[dict[str, Any]] = [
            {"g": chance.randint(0, 3), "s": drawn(chance)} for _ in range(chance.randint(1, 25))
        ]
        groups = groups_of(rows, ["g"])
        values = list(dict.fromkeys(None if row["s"] is None else tuple(row["s"]) for row in rows))
        cells = counts(groups, values)
        sensitive = Sensitive(tuple(values), cells.sum(axis=0))
        by_count = sf.LDiversity(["g"], "s", 2, "items").measure(sensitive)(cells)
        by_share = sf.LDiversity(["g"], "s", 2, "items", 0.5).measure(sensitive)(cells)
        assert by_count.tolist() == [lack(group) + 1 for group in groups]
        assert np.allclose(by_share, [-most(group) for group in groups])
        table = pl.DataFrame({"g": [row["g"] for row in rows], "s": [row["s"] for row in rows]}, schema_overrides=LISTS)
        found = items_of(table, ["g"], "s", ";")
        assert found.fewest_lack == min(map(lack, groups))
        assert found.largest_share == pytest.approx(max(map(most, groups)))
        _check_monotone(chance, groups, values)


LISTS: Any = {"s": pl.List(pl.String)}


def _check_monotone(chance: random.Random, groups: Sequence[Sequence[Held]], values: Sequence[Any]) -> None:
    """Of the parts of a group one measures no more."""
    sensitive = Sensitive(tuple(values), counts(groups, values).sum(axis=0))
    for need in (sf.LDiversity(["g"], "s", 2, "items"), sf.LDiversity(["g"], "s", 2, "items", 0.5)):
        measure = need.measure(sensitive)
        for group in groups:
            cut = chance.randint(0, len(group))
            parts = [part for part in (group[:cut], group[cut:]) if part]
            assert measure(counts(parts, values)).min() <= measure(counts([group], values))[0] + 1e-12


def people(rows: int = 300) -> pa.Table:
    chance = random.Random(3)
    cells = [(chance.randint(17, 90), chance.choice("fm"), drawn(chance)) for _ in range(rows)]
    ages, sexes, sets = zip(*cells, strict=True)
    return pa.table({"age": ages, "sex": sexes, "ills": pa.array(sets, pa.list_(pa.string()))})


def recipe(case: str, mask: str = "top_down") -> sf.Recipe:
    l, c = CASES[case]  # noqa: E741
    needs: list[Requirement] = [sf.KAnonymity(ON, 3), sf.LDiversity(ON, "ills", l, "items", c)]
    return sf.Recipe(schema=SCHEMA, privacy=needs, mask=MASKS[mask])


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("case", CASES)
def test_it_is_published_and_verified(case: str, mask: str, tmp_path: Path) -> None:
    asked = recipe(case, mask)
    assert sf.Recipe.from_yaml(asked.to_yaml()) == asked
    forms: tuple[Format, ...] = ("parquet", "csv")
    for form in forms:
        release = sf.publish(people(), asked, run=sf.Run(report=False, format=form))
        rows = [{**row, "s": row["ills"]} for row in release.table.to_pylist()]
        groups = groups_of(rows, ON)
        assert len(groups) > 10
        assert Draft202012Validator(SHAPE).is_valid(dict(release.certificate))
        told = release.certificate["claims"][1]["achieved"]
        if CASES[case][1] is None:
            assert told == {"l": min(map(lack, groups)) + 1}
            assert told["l"] >= CASES[case][0]
        else:
            assert told["c"] == pytest.approx(max(map(most, groups)), abs=1e-6)
            assert told["c"] <= 0.6


def test_more_than_is_kept_is_not_believed(tmp_path: Path) -> None:
    folder = sf.publish(people(), recipe("no item certain"), run=sf.Run(report=False)).write(tmp_path / "out")
    path = folder / "certificate.json"
    form = json.loads(path.read_text(encoding="utf-8"))
    claim = form["claims"][1]
    before, claim["l"], claim["achieved"] = claim["sentence"], 9, {"l": 9}
    claim["sentence"] = before.replace("1 record that looks", "8 records that look").replace("does not", "do not")
    form["statement"] = form["statement"].replace(before, claim["sentence"])
    path.write_text(json.dumps(form, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    forge(folder)
    assert [check.name for check in sf.verify(folder).failed] == ['l_diversity on "age", "sex"']


def test_items_that_look_alike_are_one() -> None:
    sets = (("HIV",), ("h\u0456v",))
    need = sf.LDiversity(["g"], "s", 2, "items")
    assert need.measure(Sensitive(sets, np.array([1, 1])))(np.array([[1, 1]])).tolist() == [1.0]
    table = pl.DataFrame({"g": [0, 0], "s": [list(one) for one in sets]})
    claim = {"claim": "l_diversity", "on": ["g"], "sensitive": "s", "l": 2, "kind": "items", "separator": ";"}
    with pytest.raises(CheckError, match="fewer than 1 of its records lack"):
        check_l_diversity(table, claim)


def test_what_makes_no_sense_is_refused() -> None:
    asked = recipe("no item certain")
    with pytest.raises(RecipeError, match="of an item set its items are counted"):
        replace(asked, privacy=[sf.LDiversity(ON, "ills", 2)])
    with pytest.raises(RecipeError, match="of an item set its items are counted"):
        replace(asked, privacy=[sf.ConfidenceBound(ON, "ills", 0.5)])
    single = sf.Schema({**SCHEMA, "ills": sf.Category(role="sensitive")})
    with pytest.raises(RecipeError, match="it counts the items of sets"):
        sf.Recipe(schema=single, privacy=asked.privacy, mask=sf.TopDown())
    with pytest.raises(RecipeError, match="or by a share c with l = 2"):
        sf.LDiversity(ON, "ills", 3, "items", 0.5)
    with pytest.raises(RecipeError, match="below 1"):
        sf.LDiversity(ON, "ills", 2, "items", 1)
    everybody = people().set_column(2, "ills", pa.array([["flu"], ["flu", "rash"]] * 150))
    with pytest.raises(Infeasible, match="everybody has"):
        sf.publish(everybody, asked, run=sf.Run(report=False))
    many = people(5000).set_column(2, "ills", pa.array([[str(at)] for at in range(5000)]))
    open_to_all = sf.Schema({**SCHEMA, "ills": sf.ItemSet(role="sensitive", unique_ok=True)})
    with pytest.raises(SchemaError, match="different sets"):
        sf.publish(many, replace(asked, schema=open_to_all), run=sf.Run(report=False))
