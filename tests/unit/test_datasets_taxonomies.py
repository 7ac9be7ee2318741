"""The bundled taxonomies: leaves and levels of the papers' tables, and the tree of ICD-9-CM."""

from __future__ import annotations

import pytest

from sfumato.data import datasets
from sfumato.data.datasets.trees import categories, category, icd9
from sfumato.data.taxonomy.taxonomy import Taxonomy
from sfumato.errors import DatasetError, TaxonomyError

# 002 Table 3a and 000 Table 6; they count 40 countries, the data have 41.
SHAPES = [
    ("workclass", 8, 5),
    ("education", 16, 5),
    ("marital_status", 7, 4),
    ("native_country", 41, 5),
    ("occupation", 14, 3),
    ("race", 5, 3),
    ("relationship", 6, 3),
    ("sex", 2, 2),
]
CODES = ["4010", "4011", "4019", "486", "V3000", "V3001", "E8859", "042", "250", "25000", "25001"]


def _unary(tree: Taxonomy) -> list[str]:
    return [label for label in tree if len(tree.children(label)) == 1]


@pytest.mark.parametrize(("name", "leaves", "levels"), SHAPES)
def test_leaves_and_levels_are_the_papers(name: str, leaves: int, levels: int) -> None:
    tree = datasets.taxonomy(name)
    assert (len(tree.leaves), tree.levels, tree.root) == (leaves, levels, "ANY")
    assert _unary(tree) == []
    assert not tree.draft


@pytest.mark.parametrize("name", [name for name, _, _ in SHAPES])
def test_leaves_are_the_values_of_the_data(name: str) -> None:
    values = set(datasets.load("adult").table.column(name).drop_null().unique().to_pylist())
    assert values == set(datasets.taxonomy(name).leaves)


def test_only_never_worked_is_absent_from_complete_records() -> None:
    values = set(datasets.load("adult", complete=True).table.column("workclass").unique().to_pylist())
    assert set(datasets.taxonomy("workclass").leaves) - values == {"Never-worked"}


def test_unknown_taxonomies_and_foreign_codes_are_refused() -> None:
    with pytest.raises(DatasetError, match="did you mean 'education'"):
        datasets.taxonomy("eduction")
    with pytest.raises(DatasetError, match="only 'icd9' takes codes"):
        datasets.taxonomy("sex", codes=["4019"])


def test_icd9_categories() -> None:
    tree = datasets.taxonomy("icd9")
    assert len(tree.children("ANY")) == 19
    assert len(tree.leaves) == 1234
    assert tree.leaves == categories()
    assert tree.levels == 4
    assert _unary(tree) == []


def test_icd9_numbers_that_were_never_given_out_are_absent() -> None:
    absent = ("019", "043", "113", "178", "247", "399", "561", "563", "V38", "V92", "E020", "E031", "E859")
    assert [code for code in absent if code in icd9()] == []
    assert all(code in icd9() for code in ("001", "042", "209", "488", "999", "V01", "V91", "E000", "E999"))


@pytest.mark.parametrize(
    ("code", "path"),
    [
        ("401", ["401-405 Hypertensive disease", "390-459 Diseases of the circulatory system", "ANY"]),
        ("042", ["001-139 Infectious and parasitic diseases", "ANY"]),
        ("285", ["280-289 Diseases of the blood and blood-forming organs", "ANY"]),
        ("E885", ["E880-E888 Falls", "E000-E999 External causes of injury and poisoning", "ANY"]),
    ],
)
def test_icd9_paths(code: str, path: list[str]) -> None:
    assert list(icd9().ancestors(code)) == path


def test_icd9_codes_hang_below_their_category() -> None:
    tree = icd9(codes=CODES)
    assert tree.children("401.x") == ("4010", "4011", "4019")
    assert tree.children("250.x") == ("250", "25000", "25001")
    assert set(CODES) <= set(tree.leaves)
    assert tree.levels == 5


def test_a_single_code_takes_the_place_of_its_category() -> None:
    tree = icd9(codes=CODES)
    assert tree.parent("E8859") == "E880-E888 Falls"
    assert "E885" not in tree
    assert "E885.x" not in tree
    assert tree.is_leaf("402")
    assert _unary(tree) == []


def test_icd9_covers_many_codes_without_unary_labels() -> None:
    codes = [f"{number}{digit}" for number in categories() for digit in range(10 if number < "V" else 1)]
    tree = icd9(codes=codes)
    assert len(codes) > 10_000
    assert set(tree.leaves) == set(codes)
    assert _unary(tree) == []


@pytest.mark.parametrize("code", ["401.9", "5610", "4O19", "40190x", "", "V38", "40"])
def test_icd9_refuses_what_is_no_code_without_printing_it(code: str) -> None:
    with pytest.raises(TaxonomyError) as caught:
        icd9(codes=["4019", code])
    assert caught.value.given == "a code that is none"


def test_category_of_each_kind_of_code() -> None:
    assert [category(code) for code in ("486", "4019", "V3000", "E8859")] == ["486", "401", "V30", "E885"]
