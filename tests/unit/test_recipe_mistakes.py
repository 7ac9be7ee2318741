"""Mistakes in a recipe: the message names the place and a remedy that helps."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.data.yaml_files import dump_yaml, load_yaml

RECIPE = """sfumato: 1
attributes:
  born: {kind: number, role: quasi, calendar: month}
  pay: {kind: number, role: sensitive, range: [0, 100]}
  school: {kind: category, role: quasi, missing: [NA]}
structure: {classes: school2}
privacy:
  - {k_anonymity: 2, on: [born, school]}
"""


def mistake(old: str, new: str) -> sf.SfumatoError:
    assert old in RECIPE
    with pytest.raises(sf.SfumatoError) as raised:
        sf.Recipe.from_yaml(RECIPE.replace(old, new))
    return raised.value


@pytest.mark.parametrize(
    ("old", "new", "thing", "says"),
    [
        ("calendar: month", "calendar: year/month", "born", "year, quarter, month"),
        ("role: sensitive", "role: secret", "pay", "identifier, quasi, sensitive, plain"),
        ("[0, 100]", "[40000, 0]", "pay", "[40000, 0]"),
        ("[0, 100]", "40000", "pay", "a range is [lowest, highest]"),
        ("[0, 100]", "[1, 2, 3]", "pay", "[lowest, highest]"),
        ("range: [0, 100]", "taxonomy: {ANY: [a, b]}", "pay", "goes with a quasi-identifying number"),
        ("kind: category", "kind: date", "school", "kind: number, calendar: day"),
    ],
)
def test_a_mistake_in_an_attribute_names_it(old: str, new: str, thing: str, says: str) -> None:
    error = mistake(old, new)
    assert error.thing == thing
    assert says in str(error)


def test_a_misspelt_attribute_may_be_mended_on_either_side() -> None:
    error = mistake("  school: {", "  shcool: {")
    assert error.rule == "the schema has no such attribute"
    assert "did you mean 'shcool'? If 'school' is right, mend the attribute's name" in error.remedy


def test_a_misspelt_attribute_is_told_by_the_header_of_the_table(tmp_path: Path) -> None:
    """Where the table has the name that `on` says, it is the attribute that is misspelt."""
    (tmp_path / "people.csv").write_text("born,pay,school\n1990-01-01,7,a\n", encoding="utf-8")
    path = tmp_path / "recipe.yaml"
    path.write_text(f"table: people.csv\n{RECIPE.replace('  school: {', '  shcool: {')}", encoding="utf-8")
    with pytest.raises(sf.SchemaError) as raised:
        sf.Recipe.from_yaml(path)
    assert raised.value.thing == "shcool"
    assert "did you mean 'school'? Write it so in the schema" in str(raised.value)


def test_a_taxonomy_is_looked_for_beside_the_recipe(tmp_path: Path) -> None:
    path = tmp_path / "recipe.yaml"
    path.write_text(RECIPE.replace("missing: [NA]", "taxonomy: school.yaml"))
    with pytest.raises(sf.RecipeError, match=r"school: .* must exist.*starts at the recipe's folder"):
        sf.Recipe.from_yaml(path)


@pytest.mark.parametrize(("text", "line"), [("a: [1, 2\nb: 3\n", 2), ("a: 1\na: 2\n", 2)])
def test_bad_yaml_names_the_file_and_the_line(tmp_path: Path, text: str, line: int) -> None:
    path = tmp_path / "recipe.yaml"
    path.write_text(text)
    with pytest.raises(sf.RecipeError) as raised:
        load_yaml(path, what="recipe")
    assert raised.value.thing == f"{path}, line {line}"


def test_codes_are_quoted_whether_or_not_yaml_takes_them_for_octal() -> None:
    codes = ["02138", "02139", "02140", "1e5", "12:30", "A1"]
    text = dump_yaml({code: code for code in codes})
    assert text.splitlines()[:2] == ["'02138': '02138'", "'02139': '02139'"]
    assert load_yaml(text, what="codes") == {code: code for code in codes}


def test_dates_declared_a_number_get_the_remedy_of_dates(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text("born,sex\n1990-01-02,f\n1991-02-03,m\n")
    schema = sf.Schema(born=sf.Number(), sex=sf.Category())
    with pytest.raises(sf.TableError, match=r"line 2 .*holds no number.*calendar: day"):
        sf.read(path, schema)
    path.write_text("born,sex\nyes,f\n12,m\n")
    with pytest.raises(sf.TableError, match="under `missing`"):
        sf.read(path, schema)


def test_a_table_without_rows_is_named(tmp_path: Path) -> None:
    path = tmp_path / "empty.csv"
    path.write_text("born,sex\n")
    with pytest.raises(sf.TableError, match=r"empty\.csv: a table must have rows"):
        sf.read(path, sf.Schema(born=sf.Number(), sex=sf.Category()))


def test_classes_that_are_missing_can_be_dropped_as_the_message_says() -> None:
    table = pa.table({"age": [1, 2, 3, 4] * 5, "ill": ["yes", "no", "yes", None] * 5})
    text = """sfumato: 1
attributes:
  age: {kind: number, role: quasi, range: [0, 9]}
  ill: {kind: category, role: sensitive}
structure: {classes: ill}
privacy: [{k_anonymity: 2, on: [age]}]
"""
    with pytest.raises(sf.TableError) as raised:
        sf.publish(table, sf.Recipe.from_yaml(text))
    assert "`missing: {ill: drop}`" in raised.value.remedy
    release = sf.publish(table, sf.Recipe.from_yaml(text + "missing: {ill: drop}\n"))
    assert release.shown.num_rows == 15
