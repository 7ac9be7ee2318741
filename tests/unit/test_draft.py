from __future__ import annotations

import datetime
import re
from collections import Counter
from dataclasses import replace
from datetime import date
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import yaml

import sfumato as sf
from sfumato.data.drafting.draft import column_values, draft, propose_for
from sfumato.data.drafting.plan import MASKER
from sfumato.data.drafting.proposal import Draft
from sfumato.data.drafting.questions import one_row_one_person
from sfumato.data.drafting.roles import OF_MANY_ROWS
from sfumato.data.drafting.shapes import rounded_range
from sfumato.data.drafting.text import recipe_text, told
from sfumato.data.drafting.words import concept_of
from sfumato.data.encoding import encode
from sfumato.data.schema import ItemSet, Number
from sfumato.errors import TableError, TaxonomyError

ROWS = 400


def people() -> pa.Table:
    chance = np.random.default_rng(0)
    ages = chance.integers(18, 88, ROWS)
    towns = chance.choice(["Bern", "Basel", "Chur", "Genf", "Olten"], ROWS)
    items = [";".join(chance.choice(["flu", "gout", "asthma"], chance.integers(1, 4), replace=False)) for _ in ages]
    return pa.table(
        {
            "patientID": np.arange(ROWS),
            "code": [f"X{n:05}-{n % 7}q{n}" for n in range(ROWS)],
            "age": ages,
            "town": towns,
            "weight": chance.normal(70, 10, ROWS),
            "born": [datetime.date(1950, 1, 1) + datetime.timedelta(days=int(n) * 40) for n in ages],
            "seen": [f"20{n % 3 + 20}-0{n % 9 + 1}-11" for n in range(ROWS)],
            "findings": items,
            "tags": [["a", "b"][: n % 3] for n in range(ROWS)],
            "zip": chance.choice([53715, 53710, 53706, 90210, 90211], ROWS),
            "smokes": chance.choice([0, 1], ROWS),
            "steps": [str(n % 90) if n % 5 else "?" for n in range(ROWS)],
            "remarks": [f"patient {n} came in with a cough and left after {n} days" for n in range(ROWS)],
            "salary": chance.integers(20_000, 900_000, ROWS),
            "disease": chance.choice(["flu", "gout"], ROWS),
            "gone": pa.nulls(ROWS, pa.string()),
            "married": chance.choice([True, False], ROWS),
        }
    )


@pytest.fixture(scope="module")
def found() -> Draft:
    return draft(people())


@pytest.mark.parametrize(
    ("name", "kind", "role", "reason"),
    [
        ("patientID", "number", "identifier", "the name says 'patient id'"),
        ("code", "category", "identifier", "a value of its own"),
        ("age", "number", "quasi", "age or birth: many know it; whole numbers"),
        ("town", "category", "quasi", "where somebody lives"),
        ("weight", "number", "identifier", "who knows it finds the row"),
        ("born", "number", "quasi", "age or birth: many know it; dates"),
        ("seen", "number", "quasi", "when something happened"),
        ("findings", "item_set", "plain", "lists with ';'"),
        ("tags", "item_set", "plain", "lists"),
        ("zip", "category", "quasi", "'zip'"),
        ("smokes", "category", "plain", "nothing says that others know it; one or two values"),
        ("steps", "number", "plain", "whole numbers"),
        ("remarks", "category", "identifier", "free text"),
        ("salary", "number", "quasi", "sensitive ('salary'), but so exact"),
        ("disease", "category", "sensitive", "'disease'"),
        ("gone", "category", "plain", "empty"),
        ("married", "category", "quasi", "marital status: people around one know it; true or false"),
    ],
)
def test_kind_role_and_reason_of_each_column(found: Draft, name: str, kind: str, role: str, reason: str) -> None:
    column = found[name]
    assert (column.kind, column.role) == (kind, role)
    assert reason in told(column)


def test_details_of_the_guesses(found: Draft) -> None:
    schema = found.schema
    assert schema["age"] == Number(role="quasi", range=(10, 90))
    assert schema["born"] == Number(role="quasi", range=("1951-01-01", "1959-12-31"), calendar="month")
    assert schema["steps"] == Number(range=(0, 90), missing=("?",))
    assert schema["findings"] == ItemSet(separator=";")


@pytest.mark.parametrize(
    "texts",
    [
        ["['flu', 'gout']", "['flu']", "[]"],
        ['["flu", "gout"]', '["gout"]'],
        [str([one, two, 5][: 2 + one % 2]) for one in range(1, 5) for two in range(6, 9)],
    ],
)
def test_lists_as_python_writes_them_are_told_and_dropped(texts: list[str]) -> None:
    found = draft(pa.table({"age": [*range(20, 50)], "drugs": (texts * 30)[:30]}))["drugs"]
    assert found.role == "identifier"
    assert "as Python or JSON write them, in brackets: write ['a', 'b'] as a;b" in told(found)


def test_ranges_in_brackets_are_no_lists() -> None:
    found = draft(pa.table({"age": ["[20, 30]", "[30, 40]", "[40, 50]"] * 10, "sex": ["f", "m"] * 15}))
    assert found["age"].role == "quasi"


MARKS = ("NA", "N/A", "n/a", "null", "NULL", "None", "?", "-", "nan", "NaN", "#N/A", "missing")


def marked(mark: str) -> pa.Table:
    """Columns of every kind, each with a text that means missing."""
    columns = {
        "born": [f"19{n % 50 + 40}-0{n % 9 + 1}-11" for n in range(60)],
        "pay": [str(1000 + 7 * (n % 20)) for n in range(60)],
        "zip": [f"{53700 + n % 5}" for n in range(60)],
        "postcode": [f"0213{n % 5}" for n in range(60)],
        "town": [("Bern", "Basel", "Chur", "Genf")[n % 4] for n in range(60)],
        "findings": [("flu;gout", "gout", "flu;asthma;gout", "asthma;flu", "gout;asthma")[n % 5] for n in range(60)],
    }
    return pa.table({name: [*values, mark] for name, values in columns.items()})


@pytest.mark.parametrize("mark", MARKS)
def test_texts_for_missing_are_one_thing_in_every_column(mark: str) -> None:
    kinds = {"born": "number", "pay": "number", "zip": "category", "postcode": "category", "town": "category"}
    table = marked(mark)
    found = draft(table)
    assert {column.name: column.kind for column in found.columns} == {**kinds, "findings": "item_set"}
    assert {column.attribute.missing for column in found.columns} == {(mark,)}
    assert isinstance(found.schema["born"], Number)
    assert found.schema["born"].calendar == "year"
    entries: dict[str, Any] = yaml.safe_load(recipe_text(found, "people.csv"))["attributes"]
    assert all(entry["missing"] == [mark] for entry in entries.values())
    coded = encode(pa.table({name: table.column(name).dictionary_encode() for name in found.schema}), found.schema)
    assert all(coded.column(name).missing for name in kinds)


def test_none_among_words_is_one_of_them_and_among_numbers_it_is_missing() -> None:
    found = draft(
        pa.table({"condition": ["none", "back pain", "off-peak", "unknown"] * 30, "pay": ["none", "17"] * 60})
    )
    assert found["condition"].attribute.missing == ("unknown",)
    assert found["pay"].attribute.missing == ("none",)


@pytest.mark.parametrize("mark", ["s/d", "n.d.", "não informado", "NR"])
def test_a_word_for_missing_in_many_cells_of_a_column_of_numbers(mark: str) -> None:
    pay = [mark if n % 5 == 0 else str(20_000 + 137 * n) for n in range(500)]
    found = draft(pa.table({"edad": [20 + n % 60 for n in range(500)], "ingresos_anuales": pay}))
    column = found["ingresos_anuales"]
    assert (column.kind, column.role, column.attribute.missing) == ("number", "quasi", (mark,))
    assert "but for what is listed as missing" in told(column)
    text = " ".join(recipe_text(found, "people.csv").replace("\n#", " ").split())
    assert f"Do these mean missing, as they are taken for? ingresos_anuales [{mark}]" in text


def test_a_short_word_among_labels_is_a_label() -> None:
    found = draft(pa.table({"state": ["ND", "NC", "SD", "NY"] * 30, "zona": ["norte", "sur", "s/d"] * 40}))
    assert found["state"].attribute.missing == ()
    assert found["zona"].attribute.missing == ("s/d",)
    dutch = draft(
        pa.table({"type": ["huur", "n.v.t.", "nvt", "koop", "n.b."] * 30, "prov": ["N.B.", "N.S.", "Ont."] * 50})
    )
    assert [column.attribute.missing for column in dutch.columns] == [("n.b.", "n.v.t.", "nvt"), ()]


def test_numbers_that_are_none_are_missing_too() -> None:
    column = draft(pa.table({"pay": [*map(float, range(0, 70)), float("nan")]}))["pay"]
    assert column.attribute == Number(role="quasi", range=(0, 70), missing=("nan",))
    endless = draft(pa.table({"pay": [*map(float, range(0, 70)), float("inf")]}))["pay"]
    assert endless.attribute == Number(role="quasi", range=(0, 70), missing=("inf",))


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["31.12.1990", "01.02.2003"], {"calendar": "month", "dates": "dmy"}),
        (["31/12/1990 9:05", "1/2/2003 17:30"], {"calendar": "month", "dates": "dmy"}),
        (["12/31/1990", "2/1/2003"], {"calendar": "month", "dates": "mdy"}),
        (["1990/12/31", "2003/02/01"], {"calendar": "month", "dates": "ymd"}),
        (["19901231", "20030201"], {"calendar": "month", "dates": "ymd"}),
        (["1990-12-31", "2003-02-01"], {"calendar": "month"}),
        (["1.234,50", "7,25", "12"], {"decimal": "comma"}),
        (["1,234.50", "7.25", "12,000"], {"decimal": "point"}),
        (["3", "14", "20", "-9"], {"missing": ("-9",)}),
    ],
)
def test_dates_and_numbers_as_they_are_written(texts: list[str], expected: dict[str, object]) -> None:
    table = pa.table({"datum": texts * 20})
    attribute = draft(table)["datum"].attribute
    assert isinstance(attribute, Number)
    told = {name: getattr(attribute, name) for name in ("calendar", "dates", "decimal", "missing")}
    assert {name: value for name, value in told.items() if value} == expected
    coded = encode(table, draft(table).schema).column("datum")
    assert coded.missing == (20 if "missing" in expected else 0)


@pytest.mark.parametrize("texts", [["31/12/1990", "12/31/1990"], ["01,02", "03,04"], ["31.02.1990", "1.1.1991"]])
def test_what_is_no_date_and_no_number_stays_text(texts: list[str]) -> None:
    assert draft(pa.table({"datum": texts * 20}))["datum"].kind != "number"


@pytest.mark.parametrize(
    ("name", "role"),
    [
        *((name, "quasi") for name in ("Alter", "sexo", "code_postal", "stato_civile", "beroep", "Nationalitaet")),
        *((name, "quasi") for name in ("estado_civil", "État civil", "burgerlijke_staat", "isco08")),
        *((name, "sensitive") for name in ("Krankheit", "revenu", "deuda", "reddito", "geloof", "doença", "crime")),
        *((name, "sensitive") for name in ("impago", "puntuación_riesgo", "tiene_hipoteca", "estado_salud")),
        *((name, "sensitive") for name in ("overdraft", "Zahlungsverzug", "Überziehung", "impayés", "hypothèque")),
        *(
            (name, "sensitive")
            for name in ("mutuo", "insolvenza", "wanbetaling", "hypotheek", "inadimplência", "empréstimo")
        ),
        *(
            (name, "quasi")
            for name in ("Huishoudtype", "Haushaltstyp", "hushållstyp", "husstandstype", "gezinssituatie")
        ),
        *(
            (name, "quasi")
            for name in ("Werkstatus", "Erwerbsstatus", "Beschäftigungsform", "Schulform", "arbejdsstatus")
        ),
        *((name, "quasi") for name in ("opleidingsniveau", "utbildningsnivå", "Haushaltsgröße", "woonvorm")),
        *((name, "sensitive") for name in ("Schuldhulp", "Schuldnerberatung", "schuldsanering", "Überschuldung")),
        *((name, "sensitive") for name in ("gjeldsordning", "skuldsättning", "Nettoeinkommen", "bijstandsuitkering")),
        *((name, "plain") for name in ("average", "colour", "Stange")),
        *((name, "plain") for name in ("Schuldauer", "Werkstoff", "Alkoholgehalt", "haushoch", "skuldra", "Bauart")),
    ],
)
def test_names_in_seven_languages(name: str, role: str) -> None:
    chance = np.random.default_rng(2)
    known = {f"{word}": chance.choice(["a", "b", "c"], 90) for word in ("age", "sex", "town")}
    table = pa.table({**known, name: chance.choice(["x", "y", "z"], 90)})
    assert draft(table)[name].role == role


def test_what_tells_a_masked_column_is_dropped() -> None:
    levels = np.random.default_rng(3).integers(1, 9, 300)
    table = pa.table({"education_num": levels, "education": [f"level {n}" for n in levels], "badge": levels * 10})
    known = {name: np.random.default_rng(4).choice(["a", "b"], 300) for name in ("sex", "town")}
    found = draft(pa.table({**dict(zip(table.column_names, table.columns, strict=True)), **known}))
    assert [column.role for column in found.columns] == ["quasi", "identifier", "identifier", "quasi", "quasi"]
    assert "'education_num'" in found["badge"].reason


def municipalities(rows: int = 3_000, misspelt: int = 0) -> pa.Table:
    """People of towns that lie in provinces, and those in regions, beside much else that others know."""
    chance = np.random.default_rng(5)
    town = chance.integers(0, 60, rows)
    province = [f"p{n // 6}" for n in town]
    province[:misspelt] = ["P 0"] * misspelt
    known = {name: chance.integers(1, 30, rows) for name in ("age", "country", "job", "education", "children", "ward")}
    others = {"sex": chance.choice(["f", "m"], rows), "married": chance.choice(["y", "n"], rows)}
    towns = {"municipality": [f"m{n}" for n in town], "province": province, "region": [f"r{n // 20}" for n in town]}
    towns["tariff"] = [f"t{n // 7}" for n in town[: rows - misspelt]] + ["T 0"] * misspelt
    return pa.table({**towns, **known, **others, "eyes": chance.choice(["blue", "brown"], rows, p=[0.02, 0.98])})


@pytest.mark.parametrize("misspelt", [0, 20])
def test_what_a_masked_column_settles_does_not_go_out_as_it_is(misspelt: int) -> None:
    found = draft(municipalities(misspelt=misspelt))
    assert {found[name].role for name in ("municipality", "province", "region", "tariff")} == {"quasi"}
    assert "each 'municipality' has one value of it" in found["tariff"].reason
    assert len(found.quasi) == OF_MANY_ROWS + 3
    assert found["eyes"].role == "plain"
    assert draft(municipalities(misspelt=300))["tariff"].role == "plain"
    recipe: dict[str, Any] = yaml.safe_load(recipe_text(found, "people.csv"))
    assert {"municipality", "province", "region"} <= set(recipe["privacy"][0]["on"])


def test_nobody_is_left_unasked_whether_an_unknown_column_is_a_secret() -> None:
    chance = np.random.default_rng(6)
    known = {name: chance.choice(["a", "b", "c"], 300) for name in ("age", "sex", "town")}
    others = {"xq7": chance.choice(["sí", "no"], 300), "zz": chance.integers(0, 20, 300), "class": ["x", "y"] * 150}
    text = " ".join(recipe_text(draft(pa.table({**known, **others})), "people.csv").replace("\n#", " ").split())
    assert "Is any of these a secret? xq7, zz, class." in text


def test_quasi_identifiers_are_few_and_of_many_meanings_and_all_that_many_know() -> None:
    chance = np.random.default_rng(4)
    names = ("age", "birth_year", "sex", "zip", "town", "region", "country", "job", "employer", "education", "children")
    found = draft(pa.table({name: chance.integers(1, 40, 1000) for name in names}))
    many_know = {"age", "birth_year", "sex", "zip", "town", "region"}
    assert many_know <= set(found.quasi)
    assert len(set(found.quasi) - many_know) == 3  # with one age, one sex and one place they are six
    assert all(column.asked for column in found.columns if column.role == "plain")


def test_plus_and_minus_are_values() -> None:
    found = draft(pa.table({"test": ["+", "-"] * 30, "age": [*range(20, 50)] * 2}))
    assert found["test"].attribute.missing == ()


def test_taxonomies_leave_out_what_means_missing() -> None:
    table = marked("NA")
    assert set(propose_for(table, "town").taxonomy.leaves) == {"Bern", "Basel", "Chur", "Genf"}
    assert set(propose_for(table, "findings").taxonomy.leaves) == {"flu", "gout", "asthma"}
    assert propose_for(table, "zip").way == "prefix"
    assert "Chur" not in propose_for(table, "town", missing=["Chur"]).taxonomy.leaves
    assert set(column_values(table, "town", missing=["Genf", "Chur"])) == {"Bern", "Basel"}
    assert set(column_values(pa.table({"tags": [["a", "b"], ["NA"], ["b", "c"]]}), "tags")) == {"a", "b", "c"}


def test_the_proposed_schema_fits_its_own_table(found: Draft) -> None:
    table = encode(people(), found.schema)
    assert table.rows == ROWS


def test_uniqueness_figures(found: Draft) -> None:
    assert (found["town"].distinct, found["town"].unique_share) == (5, 0.0)
    assert found["weight"].unique_share == 1.0
    assert found.alone == 1.0
    assert draft(pa.table({"sex": ["f", "m", "m", "f", "x"]})).alone == 0.2


def test_only_codes_get_a_tree_and_it_is_no_draft_any_more() -> None:
    chance = np.random.default_rng(1)
    zips = [f"0{n}" for n in chance.integers(2110, 2140, 200)]
    found = draft(pa.table({"zip": zips, "town": chance.choice([f"town {n}" for n in range(30)], 200)}))
    tree = found["zip"].taxonomy
    assert tree is not None
    assert "0211*" in tree
    assert not tree.draft
    assert found["town"].role == "quasi"
    assert found["town"].taxonomy is None


@pytest.mark.parametrize(("lengths", "grouped"), [((4, 5), True), ((3, 4, 5, 6), False)])
def test_post_codes_of_several_lengths_get_a_tree_or_a_reason_why_not(lengths: tuple[int, ...], grouped: bool) -> None:
    codes = [f"{5_000_000 + 9_173 * (n % 40)}"[: lengths[n % len(lengths)]] for n in range(400)]
    found = draft(pa.table({"age": [20 + n % 60 for n in range(400)], "PLZ": codes}))["PLZ"]
    assert (found.taxonomy is not None, "in no tree (the codes are of more than three lengths" in told(found)) == (
        grouped,
        not grouped,
    )


def test_post_codes_in_two_parts_get_a_tree_and_their_spellings_are_asked_about() -> None:
    codes = [f"35{n % 37 + 10} A{'BCDE'[n % 4]}" for n in range(400)]
    codes[:4] = ["3511AB", "3520 ab", "3520 AB", "3511 AB"]
    found = draft(pa.table({"age": [20 + n % 60 for n in range(400)], "Postcode": codes}))
    tree = found["Postcode"].taxonomy
    assert tree is not None
    assert {"351*", "3511*", "3511 AB*", "3520 AB*"} <= {*tree.labels}
    assert found["Postcode"].alike == 4
    assert "hyphens alone: Postcode (4)." in " ".join(recipe_text(found, "people.csv").replace("\n#", " ").split())


def test_the_recipe_is_yaml_with_reasons_questions_and_no_exact_figures(found: Draft) -> None:
    text = recipe_text(found, "people.csv", taxonomies={"town": "town.yaml"})
    recipe: dict[str, Any] = yaml.safe_load(text)
    assert list(recipe) == ["sfumato", "table", "attributes", "structure", "privacy", "mask"]
    assert recipe["table"] == "people.csv"
    assert recipe["attributes"]["age"] == {"kind": "number", "role": "quasi", "range": [10, 90]}
    assert recipe["attributes"]["town"] == {"kind": "category", "role": "quasi", "taxonomy": "town.yaml"}
    bound = {"confidence_bound": 0.8, "on": list(found.quasi), "sensitive": "disease"}
    assert recipe["privacy"] == [{"k_anonymity": 5, "on": list(found.quasi)}, bound]
    assert {name: recipe["structure"][name] for name in ("clusters", "k")} == {"clusters": "kmeans", "k": "auto"}
    assert recipe["mask"] == MASKER
    assert "# age or birth: many know it; whole numbers" in text
    assert "the quasi columns make all of the rows unique" in text
    questions = " ".join(line.lstrip("# ") for line in text.split("# Questions")[1].splitlines())
    assert "Can somebody else know these of a person? findings, tags, smokes, steps." in questions
    assert "with all of them" in questions
    assert "find people: weight." in questions
    assert "Are these secrets? salary." in questions


def test_clusters_are_those_of_what_is_masked_where_more_goes_out_as_it_is(found: Draft) -> None:
    chance = np.random.default_rng(7)
    known = {name: chance.integers(1, 9, 300) for name in ("age", "sex", "town")}
    others = {f"q{n}": chance.choice(["a", "b"], 300) for n in range(4)}
    text = recipe_text(draft(pa.table({**known, **others})), "people.csv")
    structure = {"clusters": "kmeans", "k": "auto", "attributes": ["age", "sex", "town"]}
    assert {name: yaml.safe_load(text)["structure"][name] for name in structure} == structure
    assert "Rows are compared by `attributes`, here what is masked" in " ".join(text.replace("\n#", " ").split())
    said = " ".join(recipe_text(found, "people.csv").replace("\n#", " ").split())
    assert "found from findings, tags, smokes, steps, which no masking can hurt" in said
    assert "What will be looked for?" in said


def test_awkward_names_stay_valid_yaml() -> None:
    names = ["no", "a: b", "# c", "Größe", "'q'", "x y", "1"]
    table = pa.table({name: ["a", "b", "c", "a", "b", "d", "e"] for name in names})
    text = recipe_text(draft(table), "my table.csv")
    assert list(yaml.safe_load(text)["attributes"]) == names


def test_an_empty_table_is_refused() -> None:
    with pytest.raises(TableError, match="columns and at least two rows"):
        draft(pa.table({"a": pa.array([], pa.int64())}))


def test_a_taxonomy_for_one_column(found: Draft) -> None:
    table = people()
    assert set(propose_for(table, "findings").taxonomy.leaves) == {"flu", "gout", "asthma"}
    assert set(column_values(table, "tags")) == {"a", "b"}
    assert propose_for(table, "seen").way == "calendar"
    with pytest.raises(TableError, match="did you mean 'town'"):
        propose_for(table, "twon")
    with pytest.raises(TaxonomyError, match="has values"):
        propose_for(table, "gone")


@pytest.mark.parametrize(
    ("low", "high"), [(17, 90), (0.13, 0.87), (-5, 5), (1e-7, 3e-7), (12285, 1484705), (3, 3), (-1.5e9, 0)]
)
def test_ranges_are_rounded_outwards(low: float, high: float) -> None:
    lower, upper = rounded_range(low, high)
    assert lower <= low <= high <= upper
    assert upper - lower <= max(3 * (high - low), 1)


def test_no_range_ends_on_what_few_people_have() -> None:
    heights = [140, *[160, 170, 180] * 20, 200]
    born = [date(1929, 3, 1), *[date(1960 + at % 40, 5, 1) for at in range(60)], date(2009, 2, 1)]
    found: Any = draft(pa.table({"height": heights, "born": born})).schema
    assert found["height"].range == (130, 210)
    assert found["born"].range == ("1920-01-01", "2019-12-31")


STAYS = (
    "ward department Unit days stay_length length_of_stay Station Fachabteilung Verweildauer séjour unité "
    "estancia servicio reparto degenza afdeling ligduur enfermaria días"
)


@pytest.mark.parametrize("name", STAYS.split())
def test_where_and_how_long_somebody_was_is_known_to_people_around(name: str) -> None:
    chance = np.random.default_rng(1)
    ages, days = chance.integers(18, 88, ROWS), chance.integers(1, 30, ROWS)
    column = draft(pa.table({"age": ages, name: days, "disease": ["flu", "gout"] * (ROWS // 2)}))[name]
    assert (column.role, column.asked) == ("quasi", False)
    assert "where or how long somebody was" in column.reason


def stays(rows: int = 2_000) -> pa.Table:
    """Stays in a hospital, as its people export them: several a person, numbers with a few words among them."""
    chance = np.random.default_rng(4)
    person = chance.integers(0, 1_400, rows)
    days = [str(n) for n in chance.integers(1, 40, rows)]
    costs = [f"{n // 100},{n % 100:02}" for n in chance.integers(10_000, 999_999, rows)]
    return pa.table(
        {
            "Patienten-Nr": 100_000 + 7 * person,
            "Name": [f"Person {chr(65 + n % 26)}{'abc'[n % 3]}" for n in person],
            "Alter": chance.integers(18, 90, rows),
            "Verweildauer": ["1 Tag", *days[1:]],
            "Kosten": [costs[0].replace(",", "."), *costs[1:]],
            "PLZ": ["K1A", *map(str, chance.integers(53_700, 53_720, rows - 1))],
            "Diagnose": chance.choice(["I10", "J18", "E11"], rows),
        }
    )


def test_names_and_numbers_of_people_are_dropped_though_they_come_again() -> None:
    found = draft(stays())
    assert {found[name].role for name in ("Patienten-Nr", "Name")} == {"identifier"}
    assert [column.name for column in found.columns if column.repeated] == ["Patienten-Nr"]
    text = " ".join(recipe_text(found, "stays.csv").replace("\n#", " ").split())
    held = Counter(stays().column("Patienten-Nr").to_pylist()).values()
    most, shared = max(held), sum(count > 1 for count in held)
    first = text.split("Questions 1. ")[1]
    assert first.startswith("Is one row one person? 2,000 rows have ")
    assert f" different Patienten-Nr, {shared} of them in more than one row, at most {most}; k counts" in first
    assert f"10 x {most} = {10 * most}." in first
    assert "one row one person" not in recipe_text(draft(people()), "people.csv")


def test_a_handful_of_accounts_are_no_people_and_no_advice_is_absurd() -> None:
    ages = [20 + n % 60 for n in range(6_000)]
    assert not draft(pa.table({"age": ages, "user": [f"u{n % 20}" for n in range(6_000)]}))["user"].repeated
    found = draft(pa.table({"age": ages, "user": [f"u{n % 240 * (n % 2)}" for n in range(6_000)]}))
    asked = one_row_one_person(found)
    assert found["user"].repeated
    assert asked is not None
    assert asked.endswith("Make one row a person first.")


@pytest.mark.parametrize("name", ["Hausnummer", "household_id", "phone"])
def test_what_several_people_share_is_no_number_of_a_person(name: str) -> None:
    table = stays().rename_columns([name, *stays().column_names[1:]])
    assert not draft(table)[name].repeated


@pytest.mark.parametrize(
    "name", ["customer number", "Fall-Nr", "numéro de dossier", "nº de cliente".replace("º", "o"), "account_no"]
)
def test_numbers_of_people_are_known_in_two_words(name: str) -> None:
    table = stays().rename_columns([name, *stays().column_names[1:]])
    assert draft(table)[name].role == "identifier"


SURNAMES = ["Müller", "Schmidt", "Meier", "Huber", "Weber", "Koch", "Bauer", "Wolf", "Klein", "Schulz"]
GIVEN = ["Ursula", "Hans", "Petra", "Karl", "Anna", "Peter", "Ingrid", "Klaus", "Monika", "Jürgen"]
PERSONS = {
    "with a comma": [f"{last}, {first}" for last in SURNAMES for first in GIVEN],
    "two words": [f"{first} {last}" for last in SURNAMES for first in GIVEN],
    "surnames": SURNAMES,
}
HEADS = "Name|patient_name|Nachname|Vorname|full name|Patientenname|Kundenname|nom du patient|naam klant"


def beside(name: str, values: list[Any], *, wide: bool) -> str:
    """The role of a column whose values come again and again, in a table with much to mask or little."""
    chance = np.random.default_rng(1)
    known = {word: chance.choice(["a", "b", "c", "d"], 2_000) for word in ("sex", "town", "job", "ward", "school")}
    others = {"age": chance.integers(18, 90, 2_000), **(known if wide else {})}
    return draft(pa.table({**others, name: chance.choice(values, 2_000)}))[name].role


@pytest.mark.parametrize("wide", [True, False])
@pytest.mark.parametrize("head", HEADS.split("|"))
def test_names_of_people_are_dropped_whatever_else_there_is(head: str, wide: bool) -> None:
    assert {beside(head, values, wide=wide) for values in PERSONS.values()} == {"identifier"}


def test_values_that_look_like_names_are_dropped_whatever_they_are_called() -> None:
    assert {beside("contact", PERSONS[form], wide=True) for form in ("with a comma", "two words")} == {"identifier"}
    assert beside("contact", [f"Type {n} {kind}" for n in "ABCDE" for kind in SURNAMES], wide=True) == "plain"
    assert beside("ship name", SURNAMES, wide=True) == "plain"


@pytest.mark.parametrize(
    "head",
    [
        "pid",
        "patient_no",
        "PatNr",
        "Pat.-Nr.",
        "custno",
        "Kd-Nr",
        "Personalnummer",
        "subject",
        "klantnummer",
        "numero_utente",
        "hhid",
    ],
)
def test_numbers_of_people_are_dropped_though_they_are_few(head: str) -> None:
    numbers = list(range(100_000, 100_420, 7))
    assert beside(head, numbers, wide=True) == beside(head, [f"P{n}" for n in numbers], wide=False) == "identifier"
    assert beside("visit_no", list(range(1, 9)), wide=True) == "plain"


def test_a_few_words_among_numbers_are_asked_about() -> None:
    found = draft(stays())
    assert [column.name for column in found.columns if column.spoilt] == ["Verweildauer", "Kosten"]
    assert "though nearly all are numbers" in told(found["Verweildauer"])
    assert "nearly all of them are numbers" in told(found["Kosten"])
    text = " ".join(recipe_text(found, "stays.csv").replace("\n#", " ").split())
    assert (
        "Are these numbers or dates? Verweildauer: 1 of 2,000 cells are no numbers (row 1); Kosten: 1 of 2,000 cells"
        in text
    )
    assert "1 have a point before decimals where the others have a comma" in text


def test_one_word_among_decimals_with_commas_is_a_missing_number_and_no_list() -> None:
    marks = ["NC" if n % 14 == 0 else f"{5 + n % 11},{n % 9}" for n in range(500)]
    schools = ["Jean Moulin", "Jean-Moulin", "Réaumur", "Zola"] * 125
    found = draft(pa.table({"moyenne": marks, "tenure": marks, "lycée": schools}))
    assert (found["moyenne"].kind, found["moyenne"].attribute.missing) == ("number", ("NC",))
    assert told(found["tenure"]).startswith("where or how long somebody was")
    assert (found["lycée"].role, found["lycée"].alike) == ("quasi", 2)


@pytest.mark.parametrize(("odd", "kind"), [(("entf.", "x"), "number"), (("1 Tag", "x"), "category")])
def test_a_few_words_without_digits_are_taken_for_missing(odd: tuple[str, str], kind: str) -> None:
    days = [odd[0], *(str(1 + n * 7 % 40) for n in range(498)), odd[1]]
    found = draft(pa.table({"age": [20 + n % 60 for n in range(500)], "days": days}))
    assert found["days"].kind == kind
    text = " ".join(recipe_text(found, "stays.csv").replace("\n#", " ").split())
    assert "days: 2 of 500 cells are no numbers (row 1, row 500)" in text
    if kind == "number":
        assert found["days"].attribute.missing == ("entf.", "x")
        assert "but for 2 cells, which are taken for missing" in told(found["days"])


def test_ranges_that_a_few_numbers_stretch_are_asked_about() -> None:
    costs = [2_000 + 10 * (n % 400) for n in range(1_000)]
    costs[:3] = [-987_654, 2_345_678, 1_234_567]
    table = pa.table({"age": [20 + n % 60 for n in range(1_000)], "x": costs})
    found = draft(table)
    assert [column.clip for column in found.columns] == [None, (2_000, 6_000)]
    text = recipe_text(found, "people.csv")
    assert "x: range: [2000, 6000], outside: clip" in " ".join(text.replace("\n#", " ").split())
    assert "2345678" not in text
    mended = text.replace("range: [-1000000, 3000000]", "range: [2000, 6000], outside: clip")
    assert "outside: clip}" in mended
    assert encode(table, sf.Recipe.from_yaml(mended).schema).rows == 1_000


DAYS = [f"{1 + n % 28:02}-0{1 + n % 9}-{1930 + n % 70}" for n in range(1_000)]
PAID = [2_000 + 10 * (n % 101) for n in range(1_000)]
TYPED = [datetime.date(2012, 1, 1) + datetime.timedelta(days=4 * n) for n in range(1_000)]


@pytest.mark.parametrize(
    ("values", "mark", "asked"),
    [
        (DAYS, "01-01-1900", "missing: ['01-01-1900'] with range: ['1930-01-01', '1999-12-31']"),
        (DAYS, "31-12-9999", "missing: ['31-12-9999'] with"),
        (DAYS, "04-05-1902", None),  # no usual one, and not so far from others
        (TYPED, datetime.date(1970, 1, 1), "missing: ['1970-01-01'] with range: ['2012-01-01', '2022-12-31']"),
        (PAID, 99_999, "missing: ['99999'] with range: [2000, 3000]"),
        (PAID, 77_123, "missing: [...], what is at the end of its values, with range: [2000, 3000]"),
        (PAID, 0, None),
        ([*range(0, 90)] * 11 + [0] * 10, 99, None),
    ],
)
def test_what_stands_far_off_in_many_rows_is_asked_about(values: list[Any], mark: object, asked: str | None) -> None:
    table = pa.table({"age": [20 + n % 60 for n in range(1_000)], "x": [mark] * 8 + values[8:]})
    text = " ".join(recipe_text(draft(table), "people.csv").replace("\n#", " ").split())
    found = re.search(r"Do these mean missing\? They are far .*? x: (.*?)\. \d", text)
    assert (found is None) == (asked is None)
    assert asked is None or (found is not None and found[1].startswith(asked))
    rare = pa.table({**{"age": table["age"]}, "x": [mark, *values[1:]]})
    assert "They are far from all others" not in recipe_text(draft(rare), "people.csv").replace("\n#   ", "")


def test_labels_that_differ_by_case_or_spaces_alone_are_asked_about() -> None:
    wards = ["surgery", "Surgery", "surgery ", "eyes", "ears"] * 60
    found = draft(pa.table({"age": [20 + n % 60 for n in range(300)], "ward": wards, "sex": ["f", "m", "x"] * 100}))
    assert [column.alike for column in found.columns] == [0, 3, 0]
    text = " ".join(recipe_text(found, "stays.csv").replace("\n#", " ").split())
    assert "Some differ by letters' case, spaces or hyphens alone: ward (3)." in text


@pytest.mark.parametrize(("hours", "end"), [(0, "2026-12-31"), (9, "2027-01-01")])
def test_moments_without_a_time_of_day_are_dates(hours: int, end: str) -> None:
    """As pandas has them: a range ends with the last year, not with the first moment of the next."""
    start = datetime.datetime(2016, 3, 1, hours)
    moments = [start + datetime.timedelta(days=10 * n) for n in range(390)]
    attribute = draft(pa.table({"since": pa.array(moments, pa.timestamp("ns"))}))["since"].attribute
    assert isinstance(attribute, Number)
    assert attribute.range == ("2016-01-01", end)


def bounded(common: float, *others: str, head: str = "disease") -> list[tuple[str, float, str | None]]:
    """What is asked of a sensitive column of which a share has one value, and the rest the others in turn."""
    rows = 1_000
    first = round(common * rows)
    held = ["well"] * first + [others[n % len(others)] for n in range(rows - first)]
    table = pa.table({"age": [20 + n * 7 % 60 for n in range(rows)], head: held})
    return [(bound.requirement, bound.figure, bound.value) for bound in draft(table).plan.bounds]


@pytest.mark.parametrize(
    ("common", "most"), [(0.4, 0.7), (0.49, 0.75), (0.51, 0.8), (0.6, 0.8), (0.75, 0.9), (0.9, 0.95), (0.93, 0.97)]
)
def test_a_bound_lies_midway_between_the_commonest_value_and_certainty(common: float, most: float) -> None:
    assert bounded(common, "flu", "gout", "mumps") == [("confidence_bound", most, None)]


def test_of_two_values_the_rarer_is_bounded_more_closely() -> None:
    assert bounded(0.51, "flu") == [("confidence_bound", 0.8, None)]
    assert bounded(0.7, "flu") == [("confidence_bound", 0.8, "flu"), ("confidence_bound", 0.85, "well")]
    assert bounded(0.97, "flu") == [("confidence_bound", 0.8, "flu")]
    assert bounded(0.97, "flu", "gout") == [("l_diversity", 2, None)]


def test_classes_that_must_survive_are_not_bounded_away() -> None:
    assert bounded(0.4, "low", "middle", "high", head="risk") == [("confidence_bound", 0.8, None)]
    assert bounded(0.76, "high", head="risk") == [("confidence_bound", 0.8, "high")]
    text = recipe_text(draft(pa.table({"age": [*range(50)] * 4, "risk": ["a", "b"] * 100})), "people.csv")
    assert "can be right for no more than 80%" in " ".join(text.replace("#", " ").split())


def household(rows: int = 600) -> pa.Table:
    """People of towns, which settle their sectors, as a survey has them: with a word for missing, and remarks."""
    chance = np.random.default_rng(8)
    town = chance.integers(0, 15, rows)
    pay = [f"{n // 100},{n % 100:02}" for n in chance.integers(60_000, 400_000, rows)]
    born = [f"{1 + n % 28:02}/{1 + n % 12:02}/{1930 + n % 70}" for n in chance.integers(0, 9_999, rows)]
    columns = {
        "Date de naissance": ["NSP", *born[1:]],
        "Commune": [f"ville {n}" for n in town],
        "Secteur": [f"s{n // 5}" for n in town],
        "Profession": ["NSP", *chance.choice(["a", "b", "c"], rows - 1)],
        "Santé": [("asthme|diabète", "asthme", "dos|asthme|diabète", "diabète|dos", "dos")[n % 5] for n in range(rows)],
        "Montant": ["NSP", *pay[1:]],
        "Remarque": chance.choice(["à rappeler le soir", "voisine de Mme Faure", "chien"], rows),
    }
    return pa.table(columns)


def test_clusters_are_not_found_from_many_places_nor_twice_from_one_thing() -> None:
    table = household()
    compared = draft(table.append_column("Métier", table.column("Profession"))).plan.compared
    assert compared.many == ("Commune",)
    assert compared.told in ({"Métier": "Profession"}, {"Profession": "Métier"})
    assert compared.weights["Date de naissance"] > 1
    text = " ".join(recipe_text(draft(table), "people.csv").replace("\n#", " ").split())
    assert "Not compared by, though masked or shown as said above: Commune" in text
    assert "Should groups be found from these, too? Commune" in text


def test_a_date_by_years_tells_its_year_once() -> None:
    table = household(3_000)
    born = [None if text == "NSP" else int(str(text)[-4:]) for text in table.column("Date de naissance").to_pylist()]
    found = draft(table.append_column("Année de naissance", pa.array(born)))
    assert "calendar: year" in recipe_text(found, "people.csv")
    assert found.plan.compared.told == {"Année de naissance": "Date de naissance"}


@pytest.mark.parametrize(("once", "role"), [(150, "identifier"), (20, "plain")])
def test_many_labels_that_one_row_has_alone_do_not_go_out_as_they_are(once: int, role: str) -> None:
    chance = np.random.default_rng(2)
    shops = [f"shop {n}" for n in range(once)] + [f"chain {n}" for n in chance.integers(0, 120, 2_000 - once)]
    known = {name: chance.choice(["a", "b", "c", "d"], 2_000) for name in ("sex", "town", "job")}
    found = draft(pa.table({**known, "age": chance.integers(20, 80, 2_000), "shop": shops}))
    assert found["shop"].role == role
    assert found["shop"].asked


def test_how_long_it_was_until_something_is_not_that_thing() -> None:
    meanings = {name: concept_of(name) for name in ("days_to_job", "time_to_event", "Tage bis Entlassung", "job")}
    assert [name for name, meaning in meanings.items() if meaning is not None] == ["job"]
    assert concept_of("duration_of_employment") is concept_of("length_of_stay")


@pytest.mark.parametrize(
    "name", ["readmit90", "relapse", "Mortalität", "récidive", "reingreso", "ricaduta", "heropname"]
)
def test_how_it_ended_is_a_class_and_a_secret(name: str) -> None:
    found = draft(
        pa.table({"age": [20 + n % 60 for n in range(600)], name: [("yes", "no")[n % 3 == 0] for n in range(600)]})
    )
    assert (found.plan.target, found[name].role) == (name, "sensitive")


def test_a_word_for_missing_is_one_among_dates_and_in_labels_of_that_table() -> None:
    found = draft(household())
    born = found["Date de naissance"].attribute
    assert isinstance(born, Number)
    assert (born.dates, born.missing, found["Profession"].attribute.missing) == ("dmy", ("NSP",), ("NSP",))
    text = recipe_text(found, "people.csv")
    assert "1 of 600 cells are no dates (row 1)" in " ".join(text.replace("\n#", " ").split())
    assert "{l_diversity: 2, kind: items, on: [...], sensitive: NAME}" in " ".join(text.replace("\n#", " ").split())
    assert "# people: NAME" in text
    mistaken = draft(pa.table({"born": ["31/02/1990", *household().column("Date de naissance").to_pylist()[1:]]}))
    assert mistaken["born"].kind == "category"


def test_remarks_are_dropped_and_what_is_too_exact_says_how_to_keep_it() -> None:
    found = draft(household())
    assert found["Remarque"].role == "identifier"
    weight = told(draft(people())["weight"])
    assert "to keep it in intervals, write role: quasi and add it to every `on`" in weight


def test_a_dropped_number_is_a_number_whichever_role_it_gets() -> None:
    proposed = sf.draft(people())
    dropped = proposed.schema["weight"]
    assert isinstance(dropped, Number)
    assert (dropped.role, dropped.range is not None) == ("identifier", True)
    assert proposed.with_roles(weight="quasi").schema["weight"] == replace(dropped, role="quasi")
