"""Forms that outlive a version: recipes and releases of every earlier format are read as they were meant."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

import sfumato as sf
from sfumato.privacy.verify.canonical import FORMATS, written
from sfumato.privacy.verify.texts.wording import IN_PAIRS, IN_PARTS
from sfumato.recipe.yaml_form import FORMAT

FROZEN = Path(__file__).with_name("frozen")
TREE = {"ANY": {"537**": ["53703", "53710"], "902**": ["90210", "90211"]}}
FIRST = sf.Recipe(
    table=str(FROZEN / "recipes" / "people.csv"),
    encoding="cp1252",
    schema=sf.Schema(
        name=sf.Category(role="identifier"),
        born=sf.Number(role="quasi", calendar="month", range=("1930", "2009"), missing=("NA",)),
        zip=sf.Category(role="quasi", taxonomy=sf.Taxonomy.from_tree(TREE)),
        visits=sf.ItemSet(role="plain", separator="|", values=("a", "b"), most=20, too_many="first"),
        income=sf.Category(role="sensitive", values=("low", "high")),
    ),
    structure=sf.Clusters("kmeans", k=6, seed=3, attributes=("born", "zip"), weights={"born": 2}),
    privacy=[
        sf.KAnonymity(["born", "zip"], 20),
        sf.LDiversity(["born", "zip"], "income", 2, kind="entropy"),
        sf.ConfidenceBound(["born"], "income", 0.6, value="high"),
    ],
    mask=sf.TopDown(search="portfolio", seconds=5),
    keep_order=True,
    release=sf.Along(codebook=False, starting_centres=True, spreadsheet_safe=True),
    missing=["income"],
    people="register",
)
MEANT = {1: FIRST}
"""What the frozen recipe of each format was meant to say when it was frozen."""


@pytest.mark.parametrize("number", MEANT)
def test_a_recipe_of_every_format_says_what_it_said(number: int) -> None:
    found = sf.Recipe.from_yaml(FROZEN / "recipes" / f"format_{number}.yaml")
    assert found.to_yaml() == MEANT[number].to_yaml()


def test_every_format_of_recipes_is_frozen() -> None:
    assert set(MEANT) == set(range(1, FORMAT + 1))


@pytest.mark.parametrize("given", [0, "'1'", 1.5, "true", FORMAT + 1])
def test_another_format_of_recipes_is_refused_in_words(given: object) -> None:
    remedy = "pip install --upgrade" if given == FORMAT + 1 else f"sfumato: {FORMAT}"
    with pytest.raises(sf.RecipeError, match=remedy):
        sf.Recipe.from_yaml(f"sfumato: {given}\nattributes: {{a: {{kind: category}}}}\n")


def kept(number: int) -> list[Path]:
    """The release folders of one format, as code of that time wrote them."""
    every = sorted((FROZEN / "folders").glob("**/release/certificate.json"))
    return [path.parent for path in every if json.loads(path.read_text(encoding="utf-8"))["format"] == number]


@pytest.mark.parametrize("number", range(1, FORMATS[-1] + 1))
def test_a_release_of_every_format_is_kept_and_holds_or_is_told_why_not(number: int, tmp_path: Path) -> None:
    """The present format too: whatever changes a text or a file of it needs a new number."""
    folders = kept(number)
    assert folders, f"keep a release of format {number}: tests/golden/frozen/folders/format_{number}"
    for folder in folders:
        verdict = sf.verify(folder)
        if number in FORMATS:
            assert verdict.holds, str(verdict)
        else:
            assert f"this release is of format {number}, which an earlier version wrote" in verdict.failed[0].detail


@pytest.mark.parametrize("number", FORMATS)
def test_a_kept_release_is_loaded_and_compared_with_its_raw_table(number: int, tmp_path: Path) -> None:
    for folder in kept(number):
        place = tmp_path / folder.parents[1].name / folder.parent.name
        shutil.copytree(folder.parent, place)
        raw = folder.parents[1] / "people.parquet"
        assert sf.verify(place / "release", raw=raw).holds
        people = sf.load(place / "release", kind="arrow")
        generated = "differential_privacy" in json.loads((place / "release" / "certificate.json").read_text())
        assert people.weights.min() >= (1 if generated else 12)
        assert len(people) == people.points().shape[0] == 240


@pytest.mark.parametrize("name", ["partition", "mondrian", "top_down"])
def test_a_release_of_format_4_writes_sets_and_dates_in_its_own_way(name: str, tmp_path: Path) -> None:
    """With missing values in sets, and dates that reach to the ends of a declared range; and the other way round."""
    for number, other in ((4, 5), (5, 4)):
        place = tmp_path / f"{number}"
        shutil.copytree(FROZEN / "folders" / f"format_{number}_missing" / name / "release", place)
        assert sf.verify(place).holds
        text = (place / "certificate.json").read_text(encoding="utf-8")
        (place / "certificate.json").write_text(text.replace(f'"format": {number}', f'"format": {other}'))
        failed = {check.name for check in sf.verify(place).failed}
        shown = {"partition": "extents", "mondrian": "regions and centres", "top_down": "shown values"}[name]
        assert {"statement", "pages", shown} <= failed, failed


@pytest.mark.parametrize("name", ["partition", "mondrian"])
def test_labels_with_commas_stand_in_quotation_marks_from_format_6_on(name: str, tmp_path: Path) -> None:
    for number, other in ((5, 6), (6, 5)):
        place = tmp_path / f"{number}"
        shutil.copytree(FROZEN / "folders" / f"format_{number}_commas" / name / "release", place)
        table = sf.load(place, kind="arrow").table.select(["work", "town"])
        texts = [text for column in table.columns for text in column.to_pylist() if text is not None]
        assert any('{"' in text or ', "' in text for text in texts) == (number == 6)
        text = (place / "certificate.json").read_text(encoding="utf-8")
        (place / "certificate.json").write_text(text.replace(f'"format": {number}', f'"format": {other}'))
        failed = {check.name for check in sf.verify(place).failed}
        assert {"pages", {"partition": "extents", "mondrian": "regions and centres"}[name]} <= failed, failed


def test_where_values_were_moved_is_told_from_format_7_on(tmp_path: Path) -> None:
    """Numbers to the ends of a range, labels under a declared one; an earlier format does not understand it."""
    place = tmp_path / "release"
    shutil.copytree(FROZEN / "folders" / "format_7_outside" / "partition" / "release", place)
    page = (place / "README.md").read_text(encoding="utf-8")
    assert page.count("an end stands for itself and beyond") == page.count("stand under a declared one") == 1
    path = place / "certificate.json"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace('"outside": true', '"outside": false'), encoding="utf-8")
    assert not sf.verify(place).holds
    path.write_text(text.replace('"format": 7', '"format": 6'), encoding="utf-8")
    assert "holds 'outside', which is not understood" in str(sf.verify(place).failed)


@pytest.mark.parametrize("name", ["private_tree", "dp_heter"])
def test_bins_are_declared_from_format_8_on(name: str, tmp_path: Path) -> None:
    """Up to format 7 they were equal, and the registry's field said so: each text goes with its own format."""
    told = {7: "numbers in equal bins of their declared ranges", 8: "declared bins, or else equal ones"}
    for number, other, folder in ((7, 8, "format_7_private"), (8, 7, "format_8_bins")):
        place = tmp_path / f"{number}"
        shutil.copytree(FROZEN / "folders" / folder / name / "release", place)
        domains = json.loads((place / f"{name}.json").read_text(encoding="utf-8"))["domains"]
        assert [column for column in domains if "bins" in domains[column]] == (["debts", "fee", "born"] * (number == 8))
        path = place / "certificate.json"
        text = path.read_text(encoding="utf-8")
        assert told[number] in text
        path.write_text(text.replace(f'"format": {number}', f'"format": {other}'), encoding="utf-8")
        failed = {check.name for check in sf.verify(place).failed}
        assert {"statement"} | ({"made of"} if number == 8 else set()) <= failed, failed


@pytest.mark.parametrize(("name", "told"), [("private_tree", IN_PARTS), ("dp_heter", IN_PARTS), ("pairs", IN_PAIRS)])
def test_what_is_kept_of_relations_is_told_from_format_8_on(name: str, told: str, tmp_path: Path) -> None:
    """By what was counted: a release by pairs may not say what one by parts says, nor say nothing."""
    other = {IN_PARTS: IN_PAIRS, IN_PAIRS: IN_PARTS}[told]
    for file, words in (("certificate.json", other), ("README.md", other), ("certificate.md", "")):
        place = tmp_path / file
        shutil.copytree(FROZEN / "folders" / "format_8_bins" / name / "release", place)
        text = (place / file).read_text(encoding="utf-8")
        assert told in text
        (place / file).write_text(text.replace(told, words), encoding="utf-8")
        assert not sf.verify(place).holds
    for earlier in kept(7):
        assert told not in (earlier / "README.md").read_text(encoding="utf-8")


def test_a_release_of_format_4_names_no_class(tmp_path: Path) -> None:
    """What a later format tells is not understood in an earlier one."""
    place = tmp_path / "release"
    shutil.copytree(FROZEN / "folders" / "format_4" / "classes" / "release", place)
    path = place / "certificate.json"
    form = json.loads(path.read_text(encoding="utf-8"))
    along = list(form).index("along") + 1
    fields = list(form.items())
    path.write_bytes(written(dict([*fields[:along], ("classes", "ill"), *fields[along:]])))
    assert "holds 'classes', which is not understood" in sf.verify(place).failed[0].detail
