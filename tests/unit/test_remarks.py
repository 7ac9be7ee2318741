"""What publish tells of a table before it is masked: rows left out, look-alikes, names, and what tells a masked one."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import sfumato as sf
from sfumato.data.masked import Masked
from sfumato.publishing.case import refuse_fingerprints
from sfumato.publishing.masked_numbers import of_numbers
from sfumato.publishing.rare_labels import rare_labels
from sfumato.publishing.remarks import tell, undone
from sfumato.publishing.same_people import repeated
from sfumato.structure.followed import Followed, deciding, followed
from sfumato.structure.structures import find

ROWS = 1_200
AGES = np.random.default_rng(5).integers(18, 78, ROWS)
ON = ["age", "town"]


def people(**more: Any) -> pl.DataFrame:
    chance = np.random.default_rng(6)
    towns = chance.choice(["Bern", "Basel", "Chur"], ROWS)
    return pl.DataFrame({"age": AGES, "town": towns, "ill": chance.choice(["flu", "gout"], ROWS), **more})


def plain(label: float | str) -> str:
    """A label as sets write it: whole numbers have no point."""
    return label if isinstance(label, str) else f"{label:g}"


def told(
    table: pl.DataFrame, more: dict[str, Any] | None = None, shown: dict[str, Any] | None = None, **settings: Any
) -> list[str]:
    """The remarks about a table whose further columns are plain numbers, unless something else is said; `shown`: what
    is shown of masked columns, of the others nothing."""
    known: dict[str, Any] = {
        "age": sf.Number(role="quasi"),
        "town": sf.Category(role="quasi"),
        "ill": sf.Category(role="sensitive"),
    }
    others = {name: sf.Number(role="plain", unique_ok=True) for name in table.columns if name not in known}
    schema = sf.Schema({**known, **others, **(more or {})})
    asked = [sf.KAnonymity(ON, 5), sf.LDiversity(ON, "ill", 2)]
    recipe = sf.Recipe(**{"schema": schema, "privacy": asked, **settings})
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        tell(sf.read(table, schema), recipe, read=ROWS)
        undone(sf.read(table, schema), Masked.of(shown or {}, rows=ROWS), recipe)
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
    remark = told(people(other=column))[-1]
    assert remark.startswith('"other" goes out as it is and ')
    assert 'tells "age" of nearly everybody' in remark or 'with "age" so closely that it nearly tells it' in remark


def test_columns_that_leave_most_people_alone_are_told() -> None:
    chance = np.random.default_rng(9)
    bare = {f"m{n}": chance.integers(0, 12, ROWS) for n in range(3)}
    (remark,) = told(people(**bare))
    assert 'of the rows are alone with what goes out as it is: "ill", "m0", "m1", "m2".' in remark
    assert told(people(m0=bare["m0"], m1=bare["m1"])) == []


@pytest.mark.parametrize("role", ["sensitive", "plain"])
def test_sets_that_leave_most_people_alone_are_told_as_their_texts_are(role: Any) -> None:
    chance = np.random.default_rng(9)
    drugs = [sorted(chance.choice(list("abcdefghij"), 4, replace=False).tolist()) for _ in range(ROWS)]
    table, more = people(n=chance.integers(0, 12, ROWS), drugs=drugs), sf.ItemSet(role=role, unique_ok=True)
    as_text = {"drugs": sf.Category(role=role, unique_ok=True)}
    joined = told(table.with_columns(pl.col("drugs").list.join("+")), as_text)[-1]
    assert 'of the rows are alone with what goes out as it is: "ill", "n", "drugs".' in joined
    assert told(table, {"drugs": more})[-1] == joined


def test_labels_that_tell_masked_ones_are_told() -> None:
    table = people().with_columns(station=pl.col("town").str.to_uppercase() + " HB", first=pl.col("town").str.head(1))
    labels = {name: sf.Category(role="plain") for name in ("station", "first")}
    station, first = told(table, labels)
    assert station.startswith('"station" goes out as it is and tells "town" of nearly everybody')
    assert station.endswith('or, as "town" is told anyway, make that one an identifier, or plain as well')
    assert first.startswith('"first" goes out as it is and follows from "town", which is masked')  # B is two towns


def test_of_a_column_that_is_shown_as_it_is_nothing_is_undone() -> None:
    table = people().with_columns(station=pl.col("town").str.to_uppercase() + " HB")
    plain = {"station": sf.Category(role="plain")}
    assert told(table, plain, shown={"town": table["town"].to_arrow()}) == []
    half = table.select(pl.when(pl.int_range(ROWS) % 2 == 0).then("town").otherwise(pl.lit("{Bern, Chur}")))
    (remark,) = told(table, plain, shown={"town": half.to_series().to_arrow()})
    assert remark.startswith('"station" goes out as it is and tells "town"')


def test_what_follows_from_a_masked_column_is_told_with_it() -> None:
    """A province beside its municipalities, of which many are rare; not what most people have whatever the other is."""
    towns = np.minimum(np.random.default_rng(3).geometric(0.02, ROWS), 200)
    table = people(county=[f"c{town // 20}" for town in towns], here=towns < 500).with_columns(town=pl.Series(towns))
    labels = {name: sf.Category(role="plain") for name in ("county", "here")}
    (remark,) = told(table.with_columns(pl.col("town", "here").cast(pl.String)), labels)
    assert remark.startswith('"county" goes out as it is and follows from "town"')
    assert remark.endswith("Declare it quasi, or an identifier, which is left out")


def test_a_secret_that_nothing_bounds_is_told_with_the_line_to_add() -> None:
    secret = {name: sf.Number(role="sensitive", unique_ok=True) for name in ("pay", "debt")}
    table = people(pay=np.arange(ROWS) % 30, debt=[None, 5, 6] * 400)
    (all_three,) = told(table, secret, privacy=[sf.KAnonymity(ON, 5)])
    assert all_three.startswith('"ill", "pay", "debt" are sensitive, and no requirement bounds what is learned of them')
    pay = "{t_closeness: 0.2, sensitive: pay, distance: ordered}"
    debt = "{t_closeness: 0.2, sensitive: debt, distance: ordered} with missing: {debt: drop}"
    lines = f"{{l_diversity: 2, sensitive: ill}}, {pay}, {debt}, or a confidence_bound; "
    assert f"with on: [age, town]: {lines}" in all_three
    (one,) = told(people(pay=np.arange(ROWS) % 30), {"pay": secret["pay"]})
    assert one.startswith('"pay" is sensitive')


def test_what_is_advised_of_an_item_set_is_accepted() -> None:
    codes = {"codes": sf.ItemSet(role="sensitive", unique_ok=True)}
    table = people(codes=["a;b", "b;c", "c"] * 400)
    (remark,) = told(table, codes)
    assert "{l_diversity: 2, kind: items, sensitive: codes}; what is no secret is plain" in remark
    items = sf.LDiversity(ON, "codes", 2, kind="items")
    assert told(table, codes, privacy=[sf.KAnonymity(ON, 5), sf.LDiversity(ON, "ill", 2), items]) == []


def test_a_distance_that_ignores_the_size_of_numbers_is_told() -> None:
    pay = {"pay": sf.Number(role="sensitive", unique_ok=True)}
    first = [sf.KAnonymity(ON, 5), sf.LDiversity(ON, "ill", 2)]
    close = sf.TCloseness(ON, "pay", 0.3)
    (remark,) = told(people(pay=np.arange(ROWS) % 30), pay, privacy=[*first, close])
    assert remark.endswith("Ask by size: {t_closeness: 0.3, sensitive: pay, distance: ordered}")
    assert told(people(pay=np.arange(ROWS) % 30), pay, privacy=[*first, close.replace(distance="ordered")]) == []
    assert told(people(pay=np.arange(ROWS) % 3), pay, privacy=[*first, close]) == []


def test_a_plain_column_that_tells_a_secret_beyond_its_bound_is_told() -> None:
    table = people()
    flu, chance = table["ill"].to_numpy() == "flu", np.random.default_rng(10)
    sector = np.where(flu & (chance.random(ROWS) < 0.3), "P8", chance.choice(["A", "B"], ROWS))
    plain, bound = {"sector": sf.Category(role="plain")}, sf.ConfidenceBound(ON, "ill", 0.8)
    asked = [sf.KAnonymity(ON, 5), bound]
    (said,) = told(people(sector=sector), plain, privacy=asked)
    assert said.startswith(
        '"sector" goes out as it is, and tells "ill" of 15% of the rows beyond what confidence_bound'
    )
    assert "name it in `on`" in said
    assert told(people(sector=chance.choice(["A", "B"], ROWS)), plain, privacy=asked) == []
    (diverse,) = told(people(sector=sector), plain)
    assert "beyond what l_diversity allows" in diverse


def several_rows(**left_out: Any) -> list[str]:
    """What is said of identifiers in a table of people."""
    schema = sf.Schema({"age": sf.Number(role="quasi"), **{name: sf.Category(role="identifier") for name in left_out}})
    recipe = sf.Recipe(schema=schema, privacy=[sf.KAnonymity(["age"], 5)])
    return list(repeated(pl.DataFrame({"age": AGES, **left_out}), recipe))


def test_people_with_several_rows_are_told() -> None:
    once = [f"{10_000 + row}X" for row in range(ROWS)]
    (said,) = several_rows(dni=[*once[: ROWS - 300], *once[:300]], note=["?"] * ROWS)
    assert said.startswith('50% of the rows share their "dni" with another row: k counts rows')
    assert "a group of 5 rows may be fewer people" in said
    (few,) = several_rows(dni=[*once[: ROWS - 1], once[0]])
    assert few.startswith("some of the rows")  # no count below k
    names = ["Ana", "Eva"] * (ROWS // 2)
    for number in ("dni", "N° sécurité sociale", "card"):
        assert several_rows(**{number: once, "name": names}) == []
    assert several_rows(line=list(map(str, range(ROWS))), name=names) != []  # rows that are counted are no people


def test_names_are_looked_at_together_and_namesakes_are_no_duplicates() -> None:
    first, last = [f"n{row % 30}" for row in range(ROWS)], [f"s{row // 30}" for row in range(ROWS)]
    assert several_rows(first_name=first, last_name=last) == []
    (said,) = several_rows(first_name=first[:600] * 2, last_name=last[:600] * 2)
    assert said.startswith('100% of the rows share their "first_name" and "last_name" with another row')


def test_identifiers_that_cannot_be_read_twice_are_not_asked_for() -> None:
    schema = sf.Schema(age=sf.Number(role="quasi"), dni=sf.Category(role="identifier"))
    recipe = sf.Recipe(schema=schema, privacy=[sf.KAnonymity(["age"], 5)])
    table = pl.DataFrame({"age": AGES, "dni": ["1X"] * ROWS}).to_arrow()
    for source in (table.to_reader(), "postgresql://nowhere/people", "no such file.csv"):
        assert list(repeated(source, recipe)) == []


@pytest.mark.parametrize(("rare", "told_of"), [(60, True), (4, False)])
@pytest.mark.parametrize("numbers", [False, True], ids=["texts", "numbers"])
def test_rare_labels_that_sets_name_are_told(rare: int, told_of: bool, numbers: bool) -> None:
    codes: list[Any] = [*(f"r{row}" for row in range(rare)), *(f"c{row % 20}" for row in range(ROWS - rare))]
    if numbers:
        codes = [100 + row + 0.25 for row in range(rare)] + [row % 20 + 0.0 for row in range(ROWS - rare)]
    parts = [map(plain, sorted({*codes[at : at + 12]})) for at in range(0, ROWS, 12)]
    sets = [text for part in parts for text in [f"{{{', '.join(part)}}}"] * 12]
    schema = sf.Schema(code=sf.Category(role="quasi"))
    table, recipe = pl.DataFrame({"code": codes}), sf.Recipe(schema=schema, privacy=[sf.KAnonymity(["code"], 5)])
    shown = Masked.of({"code": pl.Series(sets).to_arrow()})
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        said = rare_labels(sf.read(table, schema), shown, recipe)
    assert [str(one.message) for one in found] == list(said)
    assert len(said) == told_of
    assert not told_of or said[0].startswith('75% of the labels of "code" are had by fewer than 5 rows each')
    assert not told_of or ("declare it a number (kind: number)" in said[0]) is numbers


def told_of_numbers(numbers: Any, shown: list[str], **settings: Any) -> list[str]:
    """What is said of one column of numbers, of which these intervals are shown."""
    schema = sf.Schema(cost=sf.Number(role="quasi", **settings))
    recipe = sf.Recipe(schema=schema, privacy=[sf.KAnonymity(["cost"], 5)])
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        people = sf.read(pl.DataFrame({"cost": numbers}), schema)
        said = of_numbers(people, Masked.of({"cost": pl.Series(shown).to_arrow()}), recipe)
    assert [str(one.message) for one in found] == list(said)
    return list(said)


@pytest.mark.parametrize(
    ("numbers", "shown", "spoken"),
    [
        (
            [0] * 300 + list(range(100, 1_000)),
            ["[0-500)"] * 700 + ["[500-1000)"] * 500,
            '"cost": 25% of the rows have 0,',
        ),
        ([40] * 300 + list(range(100, 1_000)), ["[0-500)"] * 700 + ["[500-1000)"] * 500, "have the same number, and"),
        ([0] * 300 + list(range(100, 1_000)), ["[0-50)"] * 300 + ["[50-1000)"] * 900, None),  # 0 stands alone
        ([0] * 300 + list(range(100, 1_000)), ["[0-50)"] * 200 + ["[0-1000)"] * 1_000, None),  # of most it does
        ([0, 0, 0, 1, 2, 3] * 200, ["[0-4)"] * 1_200, None),  # children
        ([7, 8, 7, 8, 9, *range(30)] * 40, ["[0-30)"] * 1_400, None),  # many neighbours are as common
    ],
)
def test_a_number_of_many_that_intervals_hide_is_told(numbers: list[int], shown: list[str], spoken: str | None) -> None:
    said = told_of_numbers(numbers, shown)
    assert len(said) == (spoken is not None)
    assert spoken is None or (spoken in said[0] and "a label of its own" in said[0])


@pytest.mark.parametrize(
    ("beside", "step", "spoken"),
    [
        ((1, 1), 1, "1 end of a shown interval lies"),
        ((1, 9), 1, "1 end of a shown interval lies"),
        ((9, 1), 0.01, "1 end of a shown interval lies"),
        ((9, 9), 0.1, None),  # both are several people's
        ((1, 0), 1, None),  # nobody has the other
    ],
)
def test_ends_that_tell_two_numbers_of_which_one_is_of_one_row(
    beside: tuple[int, int], step: float, spoken: str | None
) -> None:
    places = [200] * beside[0] + [201] * beside[1] + [100, 101, 300, 301] * 50
    numbers = [round(place * step, 2) for place in places]
    end = f"{200.5 * step:.6g}"
    shown = [f"[0-{end})" if number < float(end) else f"[{end}-{400 * step:g}]" for number in numbers]
    said = told_of_numbers(numbers, shown)
    assert told_of_numbers([*numbers, *(round(at * step, 2) for at in range(100, 301))], [*shown, *["*"] * 201]) == []
    assert len(said) == (spoken is not None)
    assert spoken is None or (said[0].startswith(spoken) and '("cost")' in said[0] and "round these columns" in said[0])


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


@pytest.mark.parametrize("labels", [["Bern", "BERN", "Basel "], ["3570 AG", "3570AG", "3511 AB"]])
def test_masked_labels_that_look_alike_are_told(labels: list[str]) -> None:
    table = people().with_columns(town=pl.Series(labels * (ROWS // 3)))
    (remark,) = told(table)
    assert remark.startswith("town: 2 labels look like another one")
    assert "masked as different values" in remark


@pytest.mark.parametrize(("top", "many"), [(70, "of 1,200 rows lie"), (76, "some (fewer than 30) of 1,200 rows lie")])
def test_numbers_that_are_moved_into_their_range_are_told(top: int, many: str, tmp_path: Path) -> None:
    age = sf.Number(role="quasi", range=(18, top), outside="clip")
    schema = sf.Schema(age=age, town=sf.Category(role="quasi"), ill=sf.Category(role="plain"))
    recipe = sf.Recipe(schema=schema, privacy=[sf.KAnonymity(ON, 30)])
    beyond = int((top < AGES).sum())
    assert (beyond >= 30) == (top == 70)
    with pytest.warns(UserWarning, match=r'^"age": .* moved to its nearer end \(outside: clip\)') as found:
        release = sf.publish(people(), recipe, run=sf.Run(report=True))
    line = next(str(one.message) for one in found if "nearer end" in str(one.message))
    assert line.startswith(f'"age": {beyond} {many}' if top == 70 else f'"age": {many}')
    assert line.endswith("The release says that an end stands for itself and beyond, not how many are there")
    folder = release.write(tmp_path / "out")
    assert "rows lie outside" in (tmp_path / "out.holder" / "report.html").read_text(encoding="utf-8")
    assert not any(b"rows lie outside" in path.read_bytes() for path in Path(folder).iterdir())


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


@pytest.mark.parametrize("trial", [False, True])
def test_clusters_that_follow_two_columns_are_told_to_the_holder_alone(tmp_path: Path, trial: bool) -> None:
    """In a trial as well: it tells all that a release would."""
    chance = np.random.default_rng(9)
    table = people(sex=chance.choice(["f", "m"], ROWS), insurer=chance.choice(["p", "q"], ROWS)).drop("town", "ill")
    sexes, numbers = sf.Category(role="quasi"), sf.Number(role="quasi", range=(0, 100))
    schema = sf.Schema(age=numbers, sex=sexes, insurer=sf.Category(role="plain"))
    recipe = sf.Recipe(schema=schema, structure=sf.Clusters("kmeans", k=4), privacy=[sf.KAnonymity(["age", "sex"], 5)])
    with pytest.warns(UserWarning, match='the clusters follow "sex" and "insurer": together they decide') as warned:
        release = sf.publish(table, recipe, run=sf.Run(trial=trial))
    (said,) = {str(one.message) for one in warned if "clusters follow" in str(one.message)}
    assert "structure: attributes: [age]), or what counts more (weights: {age: " in said
    assert 'mind: "sex" and "insurer" nearly alone decide the clusters' in " ".join(repr(release.worth).split())
    assert "the clusters follow" in str(release.report), "the holder reads it"
    release.write(tmp_path / "out")
    out = [file.read_bytes() for file in (tmp_path / "out").iterdir()]
    assert not any(b"clusters follow" in content for content in out), "nobody else does"
    known = sf.read(table, schema)
    asked = sf.Clusters("kmeans", k=4, attributes=("sex", "insurer"))
    assert followed(find(asked, known), known) is None, "they are compared by nothing else"


@pytest.mark.parametrize(("numbers", "names"), [(True, ("sex", "fibre")), (False, None)])
def test_clusters_that_two_columns_mostly_decide_are_told_beside_numbers(
    numbers: bool, names: tuple[str, ...] | None
) -> None:
    """Of 1,200 rows 13 % are moved to other clusters than their two labels say."""
    chance = np.random.default_rng(3)
    label = {name: chance.integers(0, 2, ROWS) for name in ("sex", "fibre", "paid")}
    moved = np.where(chance.random(ROWS) < 0.17, chance.integers(0, 4, ROWS), label["sex"] * 2 + label["fibre"])
    found = deciding(label, moved, beside_numbers=numbers)
    assert (None if found is None else found.names) == names
    assert names is None or 0.8 < found.share < 0.95  # type: ignore[union-attr]
    said = str(Followed(("sex",), 0.87, {"age": 5, "pay": 1}))
    assert "count for the rest alone" in said
    assert "attributes: [age, pay]" in said
    assert "weights: {age: 5}" in said
