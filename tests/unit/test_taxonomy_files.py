from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import get_args

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from sfumato.data.taxonomy.files import taxonomy_text
from sfumato.data.taxonomy.parsing import Layout
from sfumato.data.taxonomy.taxonomy import Taxonomy
from sfumato.errors import TaxonomyError

TREE = Taxonomy.from_tree({"ANY": {"Secondary": ["9th", "10th"], "University": {"Bachelors": None}, "?": None}})
SUFFIX = {"yaml": ".yaml", "json": ".json", "arx": ".csv", "parents": ".csv"}
CANONICAL = """\
Bachelors;University;*
Masters;University;*
9th;Secondary;*
10th;Secondary;*
Preschool;Preschool;*
"""


def written(tmp_path: Path, text: str, *, name: str) -> Path:
    path = tmp_path / name
    path.write_bytes(text.encode())
    return path


@pytest.mark.parametrize("layout", get_args(Layout))
def test_every_layout_gives_the_same_tree_back(tmp_path: Path, layout: Layout) -> None:
    path = tmp_path / f"tree{SUFFIX[layout]}"
    TREE.to_file(path, layout=layout)
    assert Taxonomy.from_file(path) == TREE


@pytest.mark.parametrize("layout", get_args(Layout))
def test_a_tree_of_one_label_goes_through_every_layout(tmp_path: Path, layout: Layout) -> None:
    path = tmp_path / f"tree{SUFFIX[layout]}"
    Taxonomy.from_tree({"ANY": None}).to_file(path, layout=layout)
    assert Taxonomy.from_file(path).labels == ("ANY",)


_LABELS = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Zl", "Zp"]), min_size=1, max_size=6)
_AWKWARD = st.sampled_from(["no", "1", "01", "~", "null", "a;b", "a,b", 'a"b', " a", "a ", "- x", "# y", "x: y", "1e3"])


@given(
    st.lists(_LABELS | _AWKWARD, min_size=2, max_size=9, unique=True),
    st.sampled_from(get_args(Layout)),
    st.data(),
)
def test_awkward_labels_survive_every_layout(labels: list[str], layout: Layout, data: st.DataObject) -> None:
    labels = [label for label in labels if label.strip() and label.strip().lower() not in ("parent", "child")]
    parents = [-1, *(data.draw(st.integers(0, at)) for at in range(len(labels) - 1))]
    parent_of = {label: None if at < 0 else labels[at] for label, at in zip(labels, parents, strict=True)}
    if not parent_of:
        return
    tree = Taxonomy.from_parents(parent_of)
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"tree{SUFFIX[layout]}"
        tree.to_file(path, layout=layout)
        assert Taxonomy.from_file(path) == tree


def test_a_canonical_arx_file_comes_back_byte_for_byte(tmp_path: Path) -> None:
    path = written(tmp_path, CANONICAL, name="education.csv")
    again = tmp_path / "again.csv"
    Taxonomy.from_file(path).to_file(again)
    assert again.read_bytes() == path.read_bytes()


@pytest.mark.parametrize(
    "text",
    [
        "a,North,*\nb,North,*\nc,South,*\n",
        "a;a;North;*\nb;b;North;*\nc;c;South;*\n",
        "a;North;North;*\nb;b;North;*\nc;South;*;*\n",
        "\ufeffa;North;*\r\nb;North;*\r\nc;South;*\r\n",
        "a\tNorth\t*\nb\tNorth\t*\nc\tSouth\t*\n",
        "a;North\nb;North\nc;South\n",
        '"a"; "North";*\n\nb;North;*\nc;South;*\n',
    ],
)
def test_arx_files_in_their_many_forms_mean_one_tree(tmp_path: Path, text: str) -> None:
    tree = Taxonomy.from_file(written(tmp_path, text, name="h.csv"))
    assert tree == Taxonomy.from_tree({"*": {"North": ["a", "b"], "South": ["c"]}})


@pytest.mark.parametrize("header", ["parent,child", "Child,Parent", " parent ;child"])
def test_parent_child_rows_by_their_header(tmp_path: Path, header: str) -> None:
    separator = ";" if ";" in header else ","
    edges = [("ANY", "North"), ("North", "a"), ("North", "b"), ("ANY", "c")]
    flip = header.startswith("C")
    rows = [separator.join(reversed(edge) if flip else edge) for edge in edges]
    tree = Taxonomy.from_file(written(tmp_path, "\n".join([header, *rows]), name="h.csv"))
    assert tree.to_tree() == {"ANY": {"North": ["a", "b"], "c": None}}


def test_parent_child_rows_may_come_in_any_order_and_name_the_root(tmp_path: Path) -> None:
    tree = Taxonomy.from_file(written(tmp_path, "parent,child\nNorth,a\nANY,North\n,ANY\nANY,c\n", name="h.csv"))
    assert tree.to_tree() == {"ANY": {"North": ["a"], "c": None}}


def test_labels_are_the_text_of_the_file(tmp_path: Path) -> None:
    tree = Taxonomy.from_file(
        written(tmp_path, "ANY: {smoker: [yes, no], code: [01, 1_0, 2020-01-01]}\n", name="t.yaml")
    )
    assert tree.leaves == ("yes", "no", "01", "1_0", "2020-01-01")


def test_json_with_tabs_and_characters_beyond_16_bits(tmp_path: Path) -> None:
    text = json.dumps({"ANY": {"😀": ["a"], "b": None}}, indent="\t")
    assert Taxonomy.from_file(written(tmp_path, text, name="t.json")).children("ANY") == ("😀", "b")


@pytest.mark.parametrize(
    ("name", "text", "line", "words"),
    [
        ("t.yaml", "ANY:\n  North: [a]\n  North: [b]\n", 3, "again, after the first time in line 2"),
        ("t.yaml", "ANY:\n  North: [a]\n  South:\n  - a\n", 4, "'South' here and from 'North' in line 2"),
        ("t.yaml", "ANY:\n  North: [a]\nSome: [b]\n", 3, "under one root"),
        ("t.yaml", "ANY:\n  North: a\n", 2, r"write \[leaf\]"),
        ("t.yaml", "ANY: [a\n", 2, "no YAML"),
        ("t.yaml", "ANY: &x\n  a: *x\n", 1, "anchors"),
        ("t.yaml", "ANY: [!!python/object:os.system a]\n", 1, "tag"),
        ("t.yaml", "- a\n- b\n", 1, "one mapping"),
        ("t.yaml", "", 1, "one mapping"),
        ("t.json", '{"ANY": ["a",\n]}', 2, "no JSON"),
        ("t.json", '{"ANY": {"x": ["a"],\n"x": ["b"]}}', 2, "again"),
        ("t.csv", "a;North;*\nb;North;*\na;South;*\n", 3, "'South' here and from 'North' in line 1"),
        ("t.csv", "a;North;*\na;North;*\n", 2, "again"),
        ("t.csv", "a;North;*\nNorth;North;*\n", 2, "rename the group"),
        ("t.csv", "a;North;a\n", 1, "cycle"),
        ("t.csv", "a;;*\n", 1, "empty"),
        ("t.csv", "parent,child\nANY,a\na,ANY\n", 3, "cycle"),
        ("t.csv", "parent,child\nANY,a,b\n", 2, "3 cells"),
        ("t.csv", "", 1, "no rows"),
    ],
)
def test_what_is_no_tree_is_refused_with_its_line(tmp_path: Path, name: str, text: str, line: int, words: str) -> None:
    with pytest.raises(TaxonomyError, match=words) as caught:
        Taxonomy.from_file(written(tmp_path, text, name=name))
    assert caught.value.thing.endswith(f"line {line}")
    assert "sfumato taxonomy check" in caught.value.remedy


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    latin = tmp_path / "t.csv"
    latin.write_bytes("Zürich;*\n".encode("latin-1"))
    with pytest.raises(TaxonomyError, match="UTF-8"):
        Taxonomy.from_file(latin)
    with pytest.raises(TaxonomyError, match="must exist"):
        Taxonomy.from_file(tmp_path / "none.yaml")
    with pytest.raises(TaxonomyError, match="ends in"):
        Taxonomy.from_file(tmp_path / "tree.xlsx")
    with pytest.raises(TaxonomyError, match="cannot be written"):
        TREE.to_file(tmp_path / "nowhere" / "t.yaml")


def test_a_draft_stays_a_draft_in_yaml(tmp_path: Path) -> None:
    draft = Taxonomy.from_tree({"ANY": ["a", "b"]}, draft=True)
    draft.to_file(tmp_path / "t.yaml")
    assert Taxonomy.from_file(tmp_path / "t.yaml").draft
    assert not Taxonomy.from_file(written(tmp_path, "ANY: [a, b]\n", name="u.yaml")).draft


def test_arx_rows_have_one_width() -> None:
    rows = taxonomy_text(TREE, layout="arx").splitlines()
    assert {row.count(";") for row in rows} == {2}
    assert "?;?;ANY" in rows


def test_a_tree_refuses_what_yaml_made_of_unquoted_words() -> None:
    with pytest.raises(TaxonomyError, match="in quotes"):
        Taxonomy.from_tree(yaml.safe_load("ANY: [no, a]"))
