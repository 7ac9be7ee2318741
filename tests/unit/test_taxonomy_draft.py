from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.data.taxonomy.check import check
from sfumato.data.taxonomy.draft import draft_taxonomy, propose_taxonomy
from sfumato.data.taxonomy.taxonomy import Taxonomy
from sfumato.errors import TaxonomyError


def test_dates_get_the_calendar() -> None:
    draft = propose_taxonomy(["2020-01-02", "2020-01-05", "2020-02-01", "2021-03-04", "2021-03-09"])
    assert draft.way == "calendar"
    assert draft.taxonomy.to_tree() == {
        "ANY": {
            "2020": {"2020-01": ["2020-01-02", "2020-01-05"], "2020-02-01": None},
            "2021-03": ["2021-03-04", "2021-03-09"],
        }
    }


def test_icd_codes_stand_together_by_their_beginning() -> None:
    draft = propose_taxonomy(["I10", "I10.1", "I11.0", "I20", "E11.9", "E10.1", "E10.2", "A00"])
    assert draft.way == "prefix"
    tree = draft.taxonomy
    assert tree.children("ANY") == ("A00", "E1*", "I*")
    assert tree.leaves_of("I10*") == ("I10", "I10.1")


@pytest.mark.parametrize(
    ("values", "tree"),
    [
        (
            [
                "3511 AB",
                "3511 AC",
                "3512BB",
                "3570AG",
                "3570 ag",
                "1011 AA",
            ],  # some without a blank, or not in capitals
            {
                "1011 AA": None,
                "35*": {"351*": {"3511*": ["3511 AB", "3511 AC"], "3512BB": None}, "3570 AG*": ["3570 ag", "3570AG"]},
            },
        ),
        (
            ["M1 1AE", "M1 1AF", "M1 2AA", "M11 1AA", "M11 2AB", "SW1A 1AA"],
            {
                "M*": {"M1*": {"M1 1*": ["M1 1AE", "M1 1AF"], "M1 2AA": None}, "M11*": ["M11 1AA", "M11 2AB"]},
                "SW1A 1AA": None,
            },
        ),
        (
            ["K1A 0B1", "K1A 0B2", "K1B1A1", "M5V 3L9"],
            {"K1*": {"K1A 0*": ["K1A 0B1", "K1A 0B2"], "K1B1A1": None}, "M5V 3L9": None},
        ),
        (
            ["1234-567", "1234-568", "1235001", "2000-001"],
            {"12*": {"1234-5*": ["1234-567", "1234-568"], "1235001": None}, "2000-001": None},
        ),
        (
            ["00-950", "00-951", "01-001", "80-123"],
            {"0*": {"00-9*": ["00-950", "00-951"], "01-001": None}, "80-123": None},
        ),
        (
            ["114 55", "114 56", "115 01", "751 23"],
            {"11*": {"114*": ["114 55", "114 56"], "115 01": None}, "751 23": None},
        ),
    ],
)
def test_post_codes_stand_together_by_their_areas(values: list[str], tree: object) -> None:
    draft = propose_taxonomy(values)
    assert (draft.way, draft.taxonomy.to_tree()) == ("prefix", {"ANY": tree})


def test_digits_of_several_lengths_stand_together_where_they_are_codes() -> None:
    austria, bavaria = ["5020", "5023", "5110", "5111", "5600"], ["80331", "80333", "83301", "90402"]
    values = {**dict.fromkeys([*austria, *bavaria], 20), "abroad": 1}
    draft = propose_taxonomy(values, counts=list(values.values()), coded=True)
    tree = {
        "5***": {"502*": ["5020", "5023"], "511*": ["5110", "5111"], "5600": None},
        "5 digits": {"8****": {"8033*": ["80331", "80333"], "83301": None}, "90402": None},
        "abroad": None,
    }
    assert (draft.way, draft.taxonomy.to_tree()) == ("prefix", {"ANY": tree})
    assert "several lengths" in draft.reason
    assert propose_taxonomy(values, counts=list(values.values())).way == "balanced"
    assert propose_taxonomy([*values, "x1", "x2"], coded=True).way == "balanced"
    assert propose_taxonomy(["500", "5000", "50000", "500000", "5000000"] * 9, coded=True).way == "balanced"


def test_a_few_other_texts_do_not_spoil_post_codes() -> None:
    draft = propose_taxonomy([*(f"35{n} AB" for n in range(10, 49)), "3510 AC", "abroad"])
    assert draft.way == "prefix"
    assert "abroad" in draft.taxonomy.children("ANY")


@pytest.mark.parametrize(
    "values",
    [
        ["1200 kg", "1300 kg", "1400 kg", "1500 kg"],
        ["9th", "10th", "11th", "12th", "HS"],
        ["DEU", "FRA", "USA", "ITA"],
        ["1", "2", "10", "11"],
    ],
)
def test_words_are_no_codes(values: list[str]) -> None:
    assert propose_taxonomy(values).way == "balanced"


def test_groups_hold_similar_numbers_of_records() -> None:
    values = [f"v{letter}" for letter in "abcdefghijklmnop"]
    counts = [8, 1, 1, 1, 1, 1, 1, 1, 1, 4, 4, 8, 2, 2, 2, 2]
    tree = draft_taxonomy(values, counts=counts, kind="balanced")
    records = dict(zip(values, counts, strict=True))
    sums = [sum(records[leaf] for leaf in tree.leaves_of(group)) for group in tree.children("ANY")]
    assert sum(sums) == 40
    assert len(sums) == 4
    assert max(sums) <= 13
    assert "vb..vi" in tree or "va" in tree


def test_one_heavy_value_stands_alone_and_the_rest_is_split_again() -> None:
    values = [f"c{n:02}x" for n in range(40)] + ["us"]
    tree = draft_taxonomy(values, counts=[1] * 40 + [1000], kind="balanced")
    assert "us" in tree.children("ANY")
    assert tree.levels > 3


def test_numbers_in_text_are_in_the_order_of_numbers() -> None:
    assert draft_taxonomy([str(n) for n in (10, 9, 2, 1)]).leaves == ("1", "2", "9", "10")


def test_it_is_marked_as_a_draft_with_a_reason() -> None:
    draft = propose_taxonomy(["b", "a", "a", None, ""])
    assert draft.taxonomy.draft
    assert draft.taxonomy.to_tree() == {"ANY": ["a", "b"]}
    assert "similar numbers" in draft.reason


def test_the_root_is_no_value() -> None:
    assert draft_taxonomy(["ANY", "other"]).root == "(ANY)"


def test_refusals() -> None:
    with pytest.raises(TaxonomyError, match="has values"):
        draft_taxonomy([None, " "])
    with pytest.raises(TaxonomyError, match="one count"):
        draft_taxonomy(["a", "b"], counts=[1])
    with pytest.raises(TaxonomyError, match="no ISO dates"):
        draft_taxonomy(["a", "b"], kind="calendar")


_CODES = st.from_regex(r"[A-C][0-9]{2}(\.[0-9])?|[0-9]{4}", fullmatch=True)
_DATES = st.dates().map(str)
_WORDS = st.text("abc..1 ", min_size=1, max_size=4).filter(str.strip)


@given(
    st.one_of(
        *(st.dictionaries(values, st.integers(1, 50), min_size=2, max_size=60) for values in (_CODES, _DATES, _WORDS))
    )
)
def test_every_draft_is_a_clean_tree_over_exactly_the_values(records: dict[str, int]) -> None:
    tree = draft_taxonomy(list(records), counts=list(records.values()))
    assert isinstance(tree, Taxonomy)
    assert set(tree.leaves) == set(records)
    assert check(tree, list(records)) == []
