"""What publish tells of a table before it is masked: rows left out, look-alikes, names, and what tells a masked one."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import sfumato as sf
from sfumato.publishing.case import refuse_fingerprints
from sfumato.publishing.remarks import tell
from sfumato.structure.followed import followed
from sfumato.structure.structures import find

ROWS = 1_200
AGES = np.random.default_rng(5).integers(18, 78, ROWS)
ON = ["age", "town"]


def people(**more: Any) -> pl.DataFrame:
    chance = np.random.default_rng(6)
    towns = chance.choice(["Bern", "Basel", "Chur"], ROWS)
    return pl.DataFrame({"age": AGES, "town": towns, "ill": chance.choice(["flu", "gout"], ROWS), **more})


def told(table: pl.DataFrame, more: dict[str, Any] | None = None, **settings: Any) -> list[str]:
    """The remarks about a table whose further columns are plain numbers, unless something else is said."""
    known: dict[str, Any] = {
        "age": sf.Number(role="quasi"),
        "town": sf.Category(role="quasi"),
        "ill": sf.Category(role="sensitive"),
    }
    others = {name: sf.Number(role="plain", unique_ok=True) for name in table.columns if name not in known}
    schema = sf.Schema({**known, **others, **(more or {})})
    recipe = sf.Recipe(**{"schema": schema, "privacy": [sf.KAnonymity(ON, 5)], **settings})
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        tell(sf.read(table, schema), recipe, read=ROWS)
    return [str(one.message) for one in found]


def test_a_column_that_finds_people_is_refused_by_what_was_found() -> None:
    schema = sf.Schema(age=sf.Number(role="quasi"), cost=sf.Number(role="plain"))
    table = sf.read(pl.DataFrame({"age": AGES, "cost": np.arange(ROWS) * 1.5}), schema)
    with pytest.raises(sf.RecipeError, match=r"cost: more than half of its rows have a value that fewer than 5"):
        refuse_fingerprints(table)


def test_a_table_without_surprises_is_not_remarked_upon() -> None:
    chance = np.random.default_rng(7)
    weight = 50 + AGES / 10 + chance.normal(0, 8, ROWS)
    assert told(people(weight=weight.round(), visits=chance.poisson(3, ROWS))) == []


@pytest.mark.parametrize(
    "column",
    [AGES, 2 * AGES + 1, AGES + np.random.default_rng(8).random(ROWS) / 2, 2026 - AGES, AGES // 1 * 365.25],
    ids=["copy", "twice", "near", "born", "days"],
)
def test_a_plain_number_that_tells_a_masked_one_is_told(column: Any) -> None:
    remark = told(people(other=column))[0]
    assert remark.startswith('"other" goes out as it is and ')
    assert 'tells "age" of nearly everybody' in remark or 'with "age" so closely that it nearly tells it' in remark


def test_columns_that_leave_most_people_alone_are_told() -> None:
    chance = np.random.default_rng(9)
    bare = {f"m{n}": chance.integers(0, 12, ROWS) for n in range(3)}
    (remark,) = told(people(**bare))
    assert 'of the rows are alone with what goes out as it is: "ill", "m0", "m1", "m2".' in remark
    assert told(people(m0=bare["m0"], m1=bare["m1"])) == []


def test_labels_that_tell_masked_ones_are_told() -> None:
    table = people().with_columns(station=pl.col("town").str.to_uppercase() + " HB", first=pl.col("town").str.head(1))
    labels = {name: sf.Category(role="plain") for name in ("station", "first")}
    (remark,) = told(table, labels)
    assert remark.startswith('"station"')  # B is two towns


@pytest.mark.parametrize(
    ("name", "values", "spoken"),
    [
        ("Name", 300, "name"),
        ("Kunden-Nr", 300, "kunden nr"),
        ("name", 20, "name"),
        ("drug name", 20, None),
        ("town name", 300, None),
    ],
)
def test_a_column_that_names_people_is_told(name: str, values: int, spoken: str | None) -> None:
    found = told(people(**{name: [f"x{n % values}" for n in range(ROWS)]}), {name: sf.Category(role="plain")})
    assert len(found) == (spoken is not None)
    assert spoken is None or f"its name says '{spoken}'" in found[0]


def test_a_column_of_names_is_told_whatever_it_is_called() -> None:
    firsts, lasts = ("Petra", "Uwe", "Rolf", "Ute", "Karl"), ("Roth", "Lang", "Wolf", "Koch", "Beck", "Vogt")
    names = [f"{lasts[n % 6]}, {firsts[n % 5]}" for n in range(ROWS)]
    (remark,) = told(people(contact=names), {"contact": sf.Category(role="plain")})
    assert remark.startswith('"contact" goes out as it is, and its values look like names of people')


def test_masked_labels_that_look_alike_are_told() -> None:
    table = people().with_columns(town=pl.Series(["Bern", "BERN", "Basel "] * (ROWS // 3)))
    (remark,) = told(table)
    assert remark.startswith("town: 2 labels look like another one")
    assert "masked as different values" in remark


def test_rows_that_are_left_out_are_counted() -> None:
    table = people().with_columns(ill=pl.when(pl.int_range(pl.len()) < 15).then(None).otherwise("ill"))
    with pytest.warns(UserWarning, match=r'15 of 1,200 rows are left out: they miss a value in "ill"'):
        sf.publish(
            table,
            sf.Recipe(
                schema=sf.Schema(
                    age=sf.Number(role="quasi"), town=sf.Category(role="quasi"), ill=sf.Category(role="plain")
                ),
                privacy=[sf.KAnonymity(ON, 5)],
                missing=["ill"],
            ),
            run=sf.Run(report=False, trial=True),
        )


def test_the_holders_report_repeats_what_was_warned_of() -> None:
    quasi, ill = sf.Category(role="quasi"), sf.Category(role="sensitive")
    schema = sf.Schema(age=sf.Number(role="quasi"), town=quasi, ill=ill, copy=sf.Number())
    recipe = sf.Recipe(schema=schema, privacy=[sf.KAnonymity(ON, 5)])
    with pytest.warns(UserWarning, match=r'"copy" goes out as it is and tells "age"'):
        release = sf.publish(people(copy=AGES), recipe, run=sf.Run(trial=True))
    assert "tells &quot;age&quot; of nearly everybody" in (release.report or "")


def test_under_a_budget_nothing_is_told() -> None:
    names = {"name": sf.Category(role="quasi", values=tuple(f"x{n}" for n in range(300)))}
    schema: dict[str, Any] = {"age": sf.Number(role="quasi", range=(0, 99)), **names}
    table = pl.DataFrame({"age": AGES, "name": [f"x{n % 300}" for n in range(ROWS)]})
    recipe = sf.Recipe(schema=sf.Schema(schema), mask=sf.PrivateTree(), budget=sf.Budget(epsilon=1))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tell(sf.read(table, recipe.schema), recipe, read=2 * ROWS)


def test_clusters_that_follow_two_columns_are_told_to_the_holder_alone(tmp_path: Path) -> None:
    chance = np.random.default_rng(9)
    table = people(sex=chance.choice(["f", "m"], ROWS), insurer=chance.choice(["p", "q"], ROWS)).drop("town", "ill")
    sexes, numbers = sf.Category(role="quasi"), sf.Number(role="quasi", range=(0, 100))
    schema = sf.Schema(age=numbers, sex=sexes, insurer=sf.Category(role="plain"))
    recipe = sf.Recipe(schema=schema, structure=sf.Clusters("kmeans", k=4), privacy=[sf.KAnonymity(["age", "sex"], 5)])
    with pytest.warns(UserWarning, match='the clusters follow "sex" and "insurer": together they decide') as warned:
        release = sf.publish(table, recipe)
    (said,) = {str(one.message) for one in warned if "clusters follow" in str(one.message)}
    assert "structure: attributes" in said
    assert "the clusters follow" in str(release.report), "the holder reads it"
    release.write(tmp_path / "out")
    out = [file.read_bytes() for file in (tmp_path / "out").iterdir()]
    assert not any(b"clusters follow" in content for content in out), "nobody else does"
    known = sf.read(table, schema)
    asked = sf.Clusters("kmeans", k=4, attributes=("sex", "insurer"))
    assert followed(find(asked, known), known) is None, "they are compared by nothing else"
