"""Singling out, linkability, inference and exposure: against loops over every row, and able to fail."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from sfumato.data.encoding import encode
from sfumato.data.masked import Masked
from sfumato.data.schema import Category, ItemSet, Number, Schema
from sfumato.data.table import Table
from sfumato.data.taxonomy.taxonomy import Taxonomy
from sfumato.engines import ReferenceEngine
from sfumato.errors import TableError
from sfumato.evaluation.attacks.attacker_view import Case, Seen, Sight, gaps, nearest
from sfumato.evaluation.attacks.criteria import known_attributes, measure_criteria
from sfumato.evaluation.attacks.inference import Secret, guesses, infer
from sfumato.evaluation.attacks.linkage import link_halves, linked_halves
from sfumato.evaluation.attacks.results import beside, hits
from sfumato.evaluation.attacks.singling_out import Records, single_out
from sfumato.evaluation.certainty import told
from sfumato.evaluation.risk import Population, exposures
from sfumato.maskers.masker import Labels, Task
from sfumato.maskers.topdown.masker import TopDown
from sfumato.privacy.requirements import KAnonymity

TREE = Taxonomy.from_tree({"ANY": {"North": ["a", "b"], "South": ["c", "d", "e"]}})
SCHEMA = Schema(
    age=Number(role="quasi", range=(0, 99)),
    town=Category(role="quasi", taxonomy=TREE),
    pet=Category(role="quasi"),
    ill=Category(role="sensitive"),
)
QUASI = ("age", "town", "pet")


def people(rows: int = 400, seed: int = 0, *, missing: float = 0.05) -> Table:
    rng = np.random.default_rng(seed)

    def holes(values: Any) -> list[Any]:
        return [None if gone else value for value, gone in zip(values, rng.random(rows) < missing, strict=True)]

    raw = {
        "age": holes(rng.integers(0, 100, rows).tolist()),
        "town": holes(rng.choice(list("abcde"), rows).tolist()),
        "pet": holes(rng.choice(["cat", "dog", "newt"], rows, p=[0.6, 0.35, 0.05]).tolist()),
        "ill": rng.choice(["flu", "cold", "none"], rows, p=[0.5, 0.3, 0.2]).tolist(),
    }
    return encode(pa.table(raw), SCHEMA)


def masked(table: Table, k: int, *on: tuple[str, ...]) -> dict[str, Any]:
    asked = tuple(KAnonymity(names, k) for names in on or (QUASI,))
    task = Task(table, Labels(np.zeros(table.rows, dtype=np.uint8), 1), asked, ReferenceEngine())
    return {name: column.decode() for name, column in TopDown(score="distortion").mask(task).masked.items()}


def released(table: Table, columns: dict[str, Any]) -> pa.Table:
    return pa.table({name: columns.get(name, column.decode()) for name, column in table.columns.items()})


def hidden(table: Table) -> pa.Table:
    """Everything but the secret at its top."""
    return released(table, {name: pa.array(["*"] * table.rows) for name in QUASI})


def seen_of(shown: pa.Table, table: Table, *, exact: tuple[str, ...] = ()) -> Seen:
    columns = {name: shown.column(name) for name in shown.column_names}
    return Seen.of(Masked.of(columns), table, exact=exact)


def case(table: Table, shown: pa.Table, *, exact: tuple[str, ...] = QUASI, **settings: Any) -> Case:
    return Case(table, seen_of(shown, table, exact=exact), QUASI, **settings)


def test_a_recodings_values_stand_for_exactly_the_rows_that_show_them() -> None:
    table = people()
    columns = masked(table, 5, ("age",), ("town",), ("pet",))
    shown = released(table, columns)
    sight = Sight(seen_of(shown, table, exact=QUASI), table)
    for name in QUASI:
        column = sight.seen.columns[name]
        assert len(np.unique(column.codes)) > 1
        for label in np.unique(column.codes).tolist():
            matched = sight.matches(name, np.array([label]))[0][table.column(name).codes]
            assert np.array_equal(matched, column.codes == label)


@pytest.mark.parametrize(
    ("label", "covered"),
    [("a", "a"), ("North", "ab"), ("ANY", "abcde"), ("*", "abcde"), ("{a, d}", "ad"), ("elsewhere", ""), (None, "")],
)
def test_what_a_label_covers(label: str | None, covered: str) -> None:
    column = encode(pa.table({"town": list("abcde")}), Schema(town=Category(taxonomy=TREE))).column("town")
    found = gaps([label], column, np.arange(5), Category(taxonomy=TREE))[0]
    assert "".join(v for v, gap in zip("abcde", found.tolist(), strict=True) if gap == 0) == covered


def test_dates_are_compared_by_their_calendar_units() -> None:
    schema = Schema(born=Number(calendar="month", range=("1990-01-01", "1990-12-31")))
    days = pa.table({"born": pa.array(["1990-01-31", "1990-02-01", "1990-12-31"]).cast(pa.date32())})
    column = encode(days, schema).column("born")
    found = gaps(["[1990-01-01-1990-02)", "[1990-02-1990-12-31]"], column, np.arange(3), schema["born"])
    assert (found == 0).tolist() == [[True, False, False], [False, True, True]]


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("age", ["1", "17", "80.5", "[30-40)", None]),
        ("age", ["50"]),
        ("age", ["[0-99]"]),
        ("age", [None]),
        ("age", ["nonsense", "5"]),
        ("town", ["a", "South"]),
        ("town", ["ANY", None]),
        ("pet", ["{cat, newt}"]),
        ("pet", ["*"]),
        ("pet", ["cat", "none of these"]),
    ],
)
def test_the_nearest_is_the_least_of_all(name: str, told: list[str | None]) -> None:
    table = people(100)
    column, attribute = table.column(name), table.schema[name]
    every = gaps(told, column, np.arange(column.missing_code + 1), attribute)
    assert nearest(told, column, attribute) == pytest.approx(every.min(axis=0), abs=1e-6)


def test_a_missing_value_is_under_missing_or_under_anything() -> None:
    column = encode(pa.table({"age": [1, 2, None]}), Schema(age=Number())).column("age")
    found = gaps(["[1-2]", None, "*"], column, np.arange(3), Number())
    assert (found[:, 2] == 0).tolist() == [False, True, True]
    assert (found[1, :2] == 1).all()


@pytest.mark.parametrize("thin", [5, 60], ids=["some are looked at first", "all are"])
def test_predicates_are_counted_as_a_loop_would(thin: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sfumato.evaluation.attacks.singling_out.THIN", thin)
    table = people(60)
    shown = released(table, masked(table, 3))
    seen = seen_of(shown, table, exact=QUASI)
    rows = shown.to_pylist()
    for names in (tuple(seen.columns), ("age", "ill"), ("pet",)):
        predicates = [tuple((name, int(seen.columns[name].codes[row])) for name in names) for row in range(60)]
        looks = [tuple(row[name] for name in names) for row in rows]
        assert Records(Sight(seen, table)).isolated(predicates).tolist() == [looks.count(look) == 1 for look in looks]


def test_the_raw_table_singles_out_and_a_table_without_secrets_does_not() -> None:
    table = people()
    _, chosen = single_out(case(table, released(table, {}), exact=()))
    assert chosen.success.value == pytest.approx(chosen.details["alone"] * 400 / chosen.details["predicates"])
    assert chosen.success.value > 0.9
    assert chosen.baseline is not None
    assert chosen.baseline.success.value < 0.6
    assert chosen.baseline.excess.low > 0.3
    grouped = released(table, masked(table, 5)).drop_columns(["ill"])
    for result in single_out(case(table, grouped)):
        assert result.success.value == 0
        assert result.details.get("alone", 0) == 0


def test_k_anonymity_does_not_keep_secrets_from_singling_out() -> None:
    table = people()
    _, chosen = single_out(case(table, released(table, masked(table, 5))))
    assert 0 < chosen.details["alone"] < 0.5
    assert chosen.success.value > 0


def test_rows_are_alone_with_their_sets_too() -> None:
    schema = Schema(age=Number(role="quasi"), had=ItemSet(role="sensitive"))
    table = encode(pa.table({"age": [30, 30, 30, 40], "had": [["a"], ["a", "b"], ["a", "b"], None]}), schema)
    _, chosen = single_out(Case(table, seen_of(table.to_arrow(), table), ("age",)))
    assert chosen.details["alone"] == 0.5
    assert chosen.sentence.startswith(
        "Of the released rows 50 % stand alone if all released attributes are taken together, the sensitive ones too, "
        'and the sets of "had" as wholes. Of the 2 rows that stand most alone without these, 50 % describe'
    )
    assert chosen.knowledge.endswith(", sets left out")


def test_two_lists_are_joined_through_the_raw_table_and_not_through_stars() -> None:
    rng = np.random.default_rng(1)
    pairs = rng.permutation(300)
    schema = Schema(left=Number(role="quasi"), right=Number(role="quasi"))
    table = encode(pa.table({"left": np.arange(300), "right": pairs}), schema)
    raw = Case(table, seen_of(table.to_arrow(), table), ("left", "right"))
    assert link_halves(raw).success.value == 1
    assert link_halves(raw).details["unique"] == 1
    stars = pa.table({"left": ["*"] * 300, "right": ["*"] * 300})
    found = link_halves(Case(table, seen_of(stars, table), ("left", "right")))
    assert found.success.value == pytest.approx(1 / 300)
    assert found.baseline is not None
    assert found.baseline.excess.value == pytest.approx(0)


def test_linking_agrees_with_a_loop_over_all_pairs() -> None:
    table = people(80, missing=0.0)
    shown = released(table, masked(table, 4))
    found = linked_halves(case(table, shown), ("age",), ("town", "pet"), np.arange(80))
    rows = shown.to_pylist()
    first, second = [row["age"] for row in rows], [(row["town"], row["pet"]) for row in rows]
    pairs = list(zip(first, second, strict=True))
    for at in range(80):
        scores = np.array([pairs.count((first[at], other)) / second.count(other) for other in second])
        best = scores >= scores.max() - 1e-12
        assert found.chance[at] == pytest.approx(best[at] / best.sum())
        assert found.candidates[at] == (scores > 0).sum()
        assert found.right[at]


def test_guesses_agree_with_a_loop_over_groups() -> None:
    table = people(200)
    shown = released(table, masked(table, 5))
    secret = Secret.of(table, "ill")
    found = guesses(case(table, shown), secret, table)
    rows = shown.to_pylist()
    for at in range(200):
        alike = [row["ill"] for row in rows if all(row[name] == rows[at][name] for name in QUASI)]
        most = max(alike.count(value) for value in set(alike))
        assert found.confidence[at] == pytest.approx(most / len(alike))
        assert alike.count([*secret.labels][int(found.guess[at])]) == most


def test_a_random_secret_is_known_of_members_and_not_of_others() -> None:
    table, others = people(300, missing=0.0), people(300, seed=9, missing=0.0)
    found = infer(case(table, released(table, {}), exact=(), control=others), "ill")
    assert found.success.value > 0.85  # few people share all three values
    assert found.baseline is not None
    assert found.baseline.success.value < 0.55
    assert found.baseline.excess.low > 0.2
    assert found.details["right_if_sure"] == 1
    assert "90 % or more of the matching rows agree, rightly for 100 % of those" in found.sentence
    behind = infer(case(table, hidden(table)), "ill")
    assert behind.baseline is not None
    assert behind.baseline.excess.value == 0
    assert behind.details["homogeneous"] == 0
    assert "For none of them 90 % or more of the matching rows agree" in behind.sentence


def test_nearly_certain_is_the_same_for_the_attack_and_for_the_card() -> None:
    """Nine of ten are 90 %, on the card and in the attack."""
    rows = pa.table({"age": [40] * 10, "ill": ["flu"] * 9 + ["gout"]})
    table = encode(rows, Schema(age=Number(role="quasi"), ill=Category(role="sensitive")))
    shown = rows.set_column(0, "age", pa.array(["[0-100]"] * 10))
    found = infer(Case(table, seen_of(shown, table, exact=()), ("age",)), "ill")
    (card,) = told(table, Masked.of({"age": shown.column("age")}), ["ill"])
    assert found.details["above_0.9"] == card.masked.nearly == 1
    assert "For 100 % of them 90 % or more of the matching rows agree" in found.sentence


def test_rows_that_agree_and_are_wrong_are_not_called_sure() -> None:
    table = people(300, missing=0.0)
    shown = released(table, {})
    other = pa.array(np.roll(np.array(shown.column("ill").to_pylist(), dtype=object), 1), type=pa.string())
    found = infer(case(table, shown.set_column(shown.column_names.index("ill"), "ill", other), exact=()), "ill")
    assert found.details["above_0.9"] > 0.5
    assert found.details["right_if_sure"] < 0.6
    assert f"rightly for {100 * found.details['right_if_sure']:.0f} % of those" in found.sentence


def test_what_follows_from_known_values_is_no_fault_of_the_release() -> None:
    def ruled(seed: int) -> Table:
        raw = people(400, seed, missing=0.0).to_arrow()
        towns: list[Any] = raw["town"].to_pylist()
        ill = pa.array(["flu" if town in ("a", "b") else "cold" for town in towns], type=pa.string())
        return encode(raw.set_column(3, "ill", ill), SCHEMA)

    table, others = ruled(0), ruled(1)
    found = infer(case(table, released(table, masked(table, 5)), control=others), "ill")
    assert found.baseline is not None
    assert abs(found.baseline.excess.value) < 0.05


def test_a_number_is_guessed_by_its_tenth() -> None:
    schema = Schema(age=Number(role="quasi"), wage=Number(role="sensitive"))
    table = encode(pa.table({"age": np.arange(100), "wage": np.arange(100) * 17.5}), schema)
    found = infer(Case(table, seen_of(table.to_arrow(), table), ("age",)), "wage")
    assert found.success.value == 1
    assert found.details["commonest"] == pytest.approx(0.1)


def test_centres_are_found_as_the_nearest() -> None:
    table = people(200, missing=0.0)
    age = np.where(np.array(table.column("age").decode().to_pylist()) <= 50, 25.5, 75.5)
    shown = released(table, {"age": pa.array(age), "town": pa.array(["a"] * 200), "pet": pa.array(["cat"] * 200)})
    sight = Sight(seen_of(shown, table), table)
    near = sight.near(sight.seen.groups(("age",)), np.arange(200))
    assert [len(one) for one in near] == [1] * 200
    codes = sight.seen.groups(("age",)).of_row
    assert [int(one[0]) for one in near] == codes.tolist()


def test_exposure_of_each_quasi_identifier_and_of_all() -> None:
    table = people(200)
    columns = masked(table, 5, ("age", "town")) | {"pet": table.columns["pet"].decode()}
    each = exposures(Masked.of(columns), [("age", "town"), ("pet",)])
    assert [one.on for one in each] == [("age", "town"), ("pet",), QUASI]
    assert [one.claimed for one in each] == [True, True, False]
    rows = released(table, columns).select(list(QUASI)).to_pylist()
    chances = np.array([1 / rows.count(row) for row in rows])
    assert each[2].prosecutor.highest == chances.max()
    assert each[2].prosecutor.average == pytest.approx(chances.mean())
    assert each[2].prosecutor.above[5] == pytest.approx((chances > 1 / 5).mean())
    assert each[2].marketer == pytest.approx(len({str(row) for row in rows}) / 200)
    assert all(one.bound and one.journalist == one.prosecutor for one in each)


def test_a_population_is_looked_through_and_lifted_records_may_be_anybody() -> None:
    columns = Masked.of({"town": pa.array(["North", "North", "South", "ANY"])})
    strangers = Masked.of({"town": pa.array(["North"] * 10 + ["South"] * 20)})
    lifted = np.array([False, False, False, True])
    found = exposures(columns, [("town",)], population=Population(strangers, lifted))[0]
    assert not found.bound
    assert found.journalist.highest == 1 / 10
    assert found.journalist.average == pytest.approx((2 / 10 + 1 / 20 + 1 / 30) / 4)
    with pytest.raises(TableError, match="population"):
        exposures(columns, [("town",)], population=Population(strangers))


def test_the_interval_of_a_difference_is_newcombes() -> None:
    ours, theirs = hits(np.arange(70) < 56), hits(np.arange(80) < 48)
    excess = beside("", ours, theirs).excess
    assert (excess.value, excess.low, excess.high) == pytest.approx((0.2, 0.0524, 0.3339), abs=1e-4)


def test_what_is_left_out_is_told() -> None:
    schema = Schema(age=Number(role="quasi"))
    table = encode(pa.table({"age": [1, 2, 3]}), schema)
    seen = seen_of(table.to_arrow(), table)
    found = measure_criteria(Case(table, seen, known_attributes((), seen, table)))
    assert set(found.left_out) == {"linkability", "inference"}
    assert [result.criterion for result in found.results] == ["singling out", "singling out"]
