"""What a release tells of its trees and rules, and what its holder keeps."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.data.taxonomy.bare_form import from_form, to_form
from sfumato.data.taxonomy.taxonomy import pruned
from sfumato.privacy.verify.fields import read_json
from sfumato.privacy.verify.verdict import CheckError
from sfumato.publishing import Run, evaluate
from sfumato.release.reading import read_mask
from tests.corruptions import forge
from tests.releases import SCHEMA, SCHOOLS, people

TREE = sf.Taxonomy.from_tree(
    {"ANY": {"Secondary": ["9th", "10th", "11th"], "University": {"Bachelors": None, "Graduate": ["Masters", "PhD"]}}}
)


def published(folder: Path, *, steps: int = 1, **settings: Any) -> Path:
    """Everybody is shown as Secondary or University: nobody has been to the 11th, and few are told of."""
    rows = [("9th", 30), ("10th", 30), ("Bachelors", 30), ("PhD", 30), ("Masters", 2)]
    table = pa.table({"school": [label for label, count in rows for _ in range(count)], "ill": ["flu", "rash"] * 61})
    schema = sf.Schema(school=sf.Category(role="quasi", taxonomy=TREE), ill=sf.Category(role="sensitive"))
    recipe = sf.Recipe(
        schema=schema,
        structure=sf.Classes("ill"),
        privacy=[sf.KAnonymity(["school"], 25)],
        mask=sf.TopDown(max_steps=steps),
        **settings,
    )
    return sf.publish(table, recipe, run=Run(report=False)).write(folder)


def read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def test_a_tree_goes_down_to_the_cut_and_to_what_the_codebook_tells(tmp_path: Path) -> None:
    folder = published(tmp_path / "out")
    assert read(folder / "recoding.json")["attributes"]["school"]["cut"] == ["Secondary", "University"]
    told = read(folder / "taxonomies/school.json")
    below = [{"label": "Secondary", "below": ["10th", "9th"]}, {"label": "University", "below": ["PhD"]}]
    assert told == {"label": None, "below": below}
    assert read(folder / "codebook.json")["school"]["University"] == {"PhD": 0.4839, "University": 0.5161}
    assert read(tmp_path / "out.holder/whole/taxonomies/school.json") == to_form(TREE)


def test_behind_the_top_of_a_tree_no_label_is_told_that_the_tree_does_not_have(tmp_path: Path) -> None:
    folder = published(tmp_path / "out", steps=0)
    told = read(folder / "codebook.json")
    assert set(told["school"]) == {"ANY"}
    told["school"]["ANY"]["Zoe, 36, PhD"] = told["school"]["ANY"].pop("ANY")  # what is left over gets a name
    (folder / "codebook.json").write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
    forge(folder)
    assert [check.name for check in sf.verify(folder).failed] == ["codebook"]


def test_without_a_codebook_a_tree_ends_at_the_cut(tmp_path: Path) -> None:
    folder = published(tmp_path / "out", release=sf.Along(codebook=False))
    assert read(folder / "taxonomies/school.json") == {"label": None, "below": ["Secondary", "University"]}
    assert sf.verify(folder).holds


def test_the_holder_evaluates_and_applies_by_the_whole_tree(tmp_path: Path) -> None:
    folder = published(tmp_path / "out", release=sf.Along(codebook=False))
    labels = ["9th", "Masters", "11th"]
    schema = sf.Schema(school=sf.Category(role="quasi", taxonomy=TREE), ill=sf.Category(role="sensitive"))
    rows = sf.read(pa.table({"school": labels, "ill": ["flu"] * 3}), schema)
    assert read_mask(folder).apply(rows)["school"].to_pylist() == ["Secondary", "University", "Secondary"]


@pytest.mark.parametrize("mask", [sf.TopDown(), sf.Mondrian(), sf.Partition()])
def test_the_raw_table_is_compared_with_the_holders_folder_at_hand(mask: Any, tmp_path: Path) -> None:
    recipe = sf.Recipe(
        schema=SCHEMA,
        structure=sf.Clusters("kmeans", k=2, n_init=1),
        mask=mask,
        privacy=[sf.KAnonymity(["age", "education", "country"], 20)],
    )
    table = people().select(list(SCHEMA))
    folder = sf.publish(table, recipe, run=Run(report=False)).write(tmp_path / "out")
    assert sf.verify(folder, raw=table).holds
    for seeds in (1, 3):
        says = [one["says"] for one in evaluate(table, folder, seeds=seeds)["headline"]]
        how_many = "one seed" if seeds == 1 else f"mean of {seeds} seeds"
        assert any(one.endswith(f"found without the centres, {how_many}") for one in says)


def test_without_the_holders_folder_the_raw_table_cannot_be_recoded(tmp_path: Path) -> None:
    folder = published(tmp_path / "out")
    (tmp_path / "out.holder").rename(tmp_path / "elsewhere")
    table = pa.table({"school": ["9th"] * 121 + ["11th"], "ill": ["flu", "rash"] * 61})
    failed = {check.name: check.detail for check in sf.verify(folder, raw=table).failed}
    assert "holder's folder" in failed["raw rows"]
    assert sf.verify(folder).holds, "without the raw table nobody asks for it"


def test_pruned_trees_keep_what_joins() -> None:
    tree = sf.Taxonomy.from_tree(SCHOOLS)
    assert pruned(tree, {"PhD"}).to_tree() == {"ANY": ["PhD"]}
    assert pruned(tree, {"9th", "PhD", "Masters"}).to_tree() == {"ANY": {"9th": None, "Graduate": ["Masters", "PhD"]}}


def test_labels_without_a_name_stand_where_their_first_label_would() -> None:
    tree = sf.Taxonomy.from_tree({"ANY": {"A": ["z", "m"], "Z": {"(1)": ["b", "a"], "n": None}, "c": None}})
    form = to_form(tree, {"z", "m", "b", "a", "n", "c", "(1)"})
    assert form == {
        "label": None,
        "below": [
            {"label": None, "below": [{"label": "(1)", "below": ["a", "b"]}, "n"]},
            "c",
            {"label": None, "below": ["m", "z"]},
        ],
    }
    assert from_form(form).to_tree() == {"*": {"(2)": {"(1)": ["a", "b"], "n": None}, "c": None, "(3)": ["m", "z"]}}
    assert from_form(to_form(tree)) == tree
    north = sf.Taxonomy.from_tree({"ANY": {"North": ["b", "a"]}})
    assert to_form(north, {"a", "b"}) == {"label": None, "below": ["a", "b"]}
    assert to_form(north, {"North", "a", "b"})["below"] == [{"label": "North", "below": ["a", "b"]}]


def test_a_told_label_is_held_against_the_raw_table(tmp_path: Path) -> None:
    recipe = sf.Recipe(
        schema=SCHEMA,
        structure=sf.Clusters("kmeans", k=2, n_init=1),
        mask=sf.Mondrian(),
        privacy=[sf.KAnonymity(["age", "education", "country"], 20)],
        release=sf.Along(codebook="values"),
    )
    table = people().select(list(SCHEMA))
    folder = sf.publish(table, recipe, run=Run(report=False)).write(tmp_path / "out")
    told = [column for column in read(folder / "certificate.json")["table"]["columns"] if "told" in column]
    assert told
    assert sf.verify(folder, raw=table).holds
    for file in ("certificate.json", "codebook.json"):
        text = (folder / file).read_text(encoding="utf-8")
        (folder / file).write_text(text.replace(f'"{told[0]["told"][-1]}"', '"zz Ada"'), encoding="utf-8")
    forge(folder)
    failed = [check.name for check in sf.verify(folder, raw=table).failed]
    assert failed == ["raw labels"]


def test_json_is_read_within_limits(tmp_path: Path) -> None:
    path = tmp_path / "codebook.json"
    for text, said in (
        ("[" * 100_000, "deep"),
        ('{"a": ' + "9" * 5001 + "}", "digits"),
        ("{\n" + " " * 900 + "}", "deep"),
        ('{"a": 1e999}', "larger"),
        ("\xff", "one form|no JSON"),
        ('{"a": NaN}', "no number"),
    ):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(CheckError, match=said):
            read_json(path)


def test_a_codebook_of_some_megabytes_is_read_quickly(tmp_path: Path) -> None:
    form = {"age": {f"[{at}-{at + 1})": {f"label {n}": 0.05 for n in range(20)} for at in range(5000)}}
    path = tmp_path / "codebook.json"
    path.write_text(json.dumps(form, indent=1) + "\n", encoding="utf-8")
    assert path.stat().st_size > 2_000_000
    began = time.process_time()
    assert read_json(path) == form
    assert time.process_time() - began < 5
