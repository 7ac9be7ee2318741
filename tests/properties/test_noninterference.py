"""Nothing but noisy answers leaves: with all of them fixed, one record changes no byte of a release."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.data.reading import read
from sfumato.maskers.histogram.domains import declared
from sfumato.maskers.histogram.records import Records, records_of
from tests.interference.comparing import Seen, differences, publish
from tests.interference.settings import SPENDS, Trial, some, trials
from tests.interference.tables import BASES, MAY_MISS, SCHEMA, Row, changes, table_of

PAIRS = 300
"""At least as many pairs of each masker are compared, with the report drawn."""


def every_setting(name: str) -> list[Trial]:
    """All settings and tables of a masker, each with as many pairs as make enough together."""
    own = list(trials(name))
    return [some(trial, -(-PAIRS // len(own)), report=True) for trial in own]


def interference(trial: Trial) -> dict[str, list[str]]:
    """What each change of one record did to the release; nothing where it did nothing."""
    before = publish(trial.setting, BASES[trial.base])
    found = {change.name: differences(before, publish(trial.setting, change.rows)) for change in trial.changes}
    return {name: what for name, what in found.items() if what}


def few(name: str, base: str, *, report: bool) -> Trial:
    """Some pairs of one way, another one for each table."""
    own = [trial for trial in trials(name) if trial.base == base]
    at = list(BASES).index(base) + report
    return some(own[at % len(own)], 1 if report else 2, report=report)


FEW = [
    pytest.param(name, base, report, marks=() if (row + column + report) % 2 == 0 else pytest.mark.slow)
    for row, name in enumerate(SPENDS)
    for column, base in enumerate(BASES)
    for report in (True, False)
]
"""The fast suite takes each masker on each table, now with the report and now without."""


@pytest.mark.parametrize(("name", "base", "report"), FEW)
def test_one_record_changes_no_byte(name: str, base: str, report: bool) -> None:
    assert interference(few(name, base, report=report)) == {}


@pytest.mark.slow
@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("name", SPENDS)
def test_no_record_that_hurts_changes_a_byte_of_a_release_with_its_report(name: str, base: str) -> None:
    own = [trial for trial in every_setting(name) if trial.base == base]
    assert [interference(trial) for trial in own] == [{}] * len(own)


@pytest.mark.parametrize("name", SPENDS)
def test_enough_pairs_are_compared(name: str) -> None:
    all_of_them = every_setting(name)
    assert sum(len(trial.changes) for trial in all_of_them) >= PAIRS
    assert {change.name for trial in all_of_them for change in trial.changes} == {
        change.name for rows in BASES.values() for change in changes(rows)
    }


@pytest.mark.slow
@pytest.mark.parametrize("name", SPENDS)
def test_nor_in_a_text_file_while_the_holder_sees_everything(name: str) -> None:
    trial = some(next(iter(trials(name))), 1, report=True)
    assert interference(replace(trial, setting=replace(trial.setting, holder=True, format="csv"))) == {}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "purposes"),
    [
        (
            "private_tree",
            {"the number of records", "a split of the tree", "3 splits of the tree", 'marginal of "codes"'},
        ),
        ("dp_heter", {"what to specialize", 'where to split "age"', 'combinations of "codes"', "counts of the parts"}),
    ],
)
def test_the_answers_reach_every_kind_of_question(name: str, purposes: set[str]) -> None:
    seen = []
    for trial in trials(name):
        seen.append(publish(replace(trial.setting, report=False), BASES[trial.base]))
        if purposes <= {face[1] for one in seen for face in one.asked} and len(seen) > 2:
            break
    assert purposes <= {face[1] for one in seen for face in one.asked}
    assert any("centres.json" in one.files for one in seen) == (name == "private_tree")
    assert not any(one.refused for one in seen)


def test_a_difference_is_found_wherever_it_is() -> None:
    one = Seen({"table.csv": b"a", "README.md": b"b"}, (("laplace", 3),))
    assert differences(one, one) == []
    assert differences(one, replace(one, files=one.files | {"table.csv": b"c"})) == ["table.csv differs"]
    assert differences(one, replace(one, files=one.files | {"x": b""})) == ["only one has x"]
    assert differences(one, replace(one, asked=(("laplace", 4),))) == ["question 0 differs"]
    assert differences(one, replace(one, asked=())) == ["one asks more questions"]
    assert differences(one, Seen({}, one.asked, "no"))[0] == "refused: no"


def cells(records: Records) -> Counter[tuple[object, ...]]:
    """Each record as its cells, and how many records have them."""
    single = [records.cells[name].tolist() for name in records.cells]
    sets = [
        [
            None if gone else tuple(own.items[start:end].tolist())
            for start, end, gone in zip(own.offsets, own.offsets[1:], own.missing, strict=False)
        ]
        for own in records.sets.values()
    ]
    return Counter(zip(*single, *sets, strict=True))


def as_text(rows: list[Row]) -> pa.Table:
    """A table in which every cell is text, as in a CSV file: sets joined, what is missing left empty."""
    joined = [
        {name: ";".join(value) if isinstance(value, list) else value for name, value in row.items()} for row in rows
    ]
    return pa.table(
        {
            name: pa.array([None if row[name] is None else str(row[name]) for row in joined], type=pa.string())
            for name in SCHEMA
        }
    )


WAYS = [
    pytest.param(base, way, marks=() if (row + column) % 3 == 0 else pytest.mark.slow)
    for row, base in enumerate(BASES)
    for column, way in enumerate(("arrow", "pandas", "text"))
]
"""The fast suite reads each table in one of three ways."""


@pytest.mark.parametrize(("base", "way"), WAYS)
def test_one_record_read_moves_one_record_counted(base: str, way: str) -> None:
    """Noise covers one record: how a table is read must not turn one into several."""
    domains = declared(SCHEMA, bins=8, may_miss=MAY_MISS)

    def counted(rows: list[Row]) -> Counter[tuple[object, ...]]:
        table: object = as_text(rows) if way == "text" else table_of(rows)
        if way == "pandas":
            table = table_of(rows).to_pandas()
        return cells(records_of(read(table, SCHEMA), domains))

    before = counted(BASES[base])
    for change in changes(BASES[base]):
        after = counted(list(change.rows))
        assert (before - after).total() <= 1, change.name
        assert (after - before).total() <= 1, change.name


@pytest.mark.parametrize(
    "structure",
    [sf.Clusters("kmeans"), sf.Clusters("hdbscan"), sf.Classes("wage")],
    ids=["auto", "density", "numbers"],
)
def test_noise_that_follows_the_number_of_labels_needs_it_declared(structure: sf.Clusters | sf.Classes) -> None:
    def made(mask: sf.DPHeter | sf.PrivateTree) -> sf.Recipe:
        return sf.Recipe(schema=SCHEMA, structure=structure, mask=mask, budget=sf.Budget(1))

    with pytest.raises(sf.RecipeError, match="noise follows the number of labels"):
        made(sf.DPHeter(may_miss=MAY_MISS))
    made(sf.PrivateTree(may_miss=MAY_MISS))


def test_a_structure_that_is_not_there_is_told_and_refuses_nothing() -> None:
    from sfumato.publishing import Run
    from sfumato.randomness import Seeded

    recipe = sf.Recipe(
        schema=SCHEMA, structure=sf.Clusters("ward", k=4), budget=sf.Budget(1), mask=sf.PrivateTree(may_miss=MAY_MISS)
    )
    with pytest.warns(UserWarning, match="no structure was found"):
        release = sf.publish(table_of(BASES["nobody but one"]), recipe, run=Run(chance=Seeded(0), report=False))
    assert release.verdict.holds
    assert "f_measure.nearest" not in release.scores["scores"]


def test_numbers_of_any_length_are_moved_into_a_range_that_clips() -> None:
    schema = sf.Schema(n=sf.Number(range=(0, 9), outside="clip"))
    for texts in (["5", "9" * 30, "-" + "9" * 5001], ["1.5", "9" * 30, "-1e999"]):
        read_back = read(pa.table({"n": texts}), schema).column("n").decode().to_pylist()
        assert read_back == [float(texts[0]), 9, 0]
    with pytest.raises(sf.TableError, match="too large"):
        read(pa.table({"n": ["9" * 5001]}), sf.Schema(n=sf.Number()))
