"""Sets of labels come back as they were, whatever stands in a label; verify writes and reads them by itself."""

from __future__ import annotations

import csv

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.data.shown import among_others, holds_missing, set_members, set_pieces, set_text
from sfumato.display import LABEL
from sfumato.privacy.verify.spelling import NOW, Spelling

LETTERS = st.one_of(
    st.sampled_from(
        [", ", ",", '"', '""', "{", "}", " ", "\n", "\t", "a", "b", "} or missing", " or missing", "[1-2)"]
    ),
    st.characters(codec="utf-8"),
)
LABELS = st.lists(LETTERS, min_size=1, max_size=6).map("".join)
SETS = st.lists(LABELS, min_size=1, max_size=5, unique=True).map(sorted)
BEFORE = Spelling(quoted=False)


@given(SETS, st.booleans())
def test_sets_come_back(labels: list[str], missing: bool) -> None:
    text = set_text(labels, missing=missing)
    expected = (*labels, *([""] if missing else []))
    assert (set_pieces(text) or (text,)) == expected
    assert holds_missing(text) == missing or text == labels[0]
    assert set_members(text, {*labels}) in (expected, ())
    assert NOW.set_text(labels, gone=missing) == text, "verify writes the same by itself"
    assert tuple(NOW.pieces(text) or (text,)) == expected, "and reads the same by itself"


@given(st.lists(SETS, min_size=2, max_size=2), st.lists(st.booleans(), min_size=2, max_size=2))
def test_different_sets_are_written_differently(sets: list[list[str]], missing: list[bool]) -> None:
    first, second = (set_text(labels, missing=gone) for labels, gone in zip(sets, missing, strict=True))
    assert (first == second) == ((sets[0], missing[0]) == (sets[1], missing[1]))


@given(st.lists(LABELS, min_size=2, max_size=5, unique=True).map(sorted))
def test_a_set_without_its_braces_is_a_line_of_csv(labels: list[str]) -> None:
    inner = set_text(labels, missing=False)[1:-1]
    assert next(csv.reader([inner], skipinitialspace=True, strict=True)) == labels
    assert [one.removeprefix(" ") for one in LABEL.findall(inner)] == [among_others(label) for label in labels]


@given(st.lists(st.from_regex(r"\A[^\s,\"{}](?:[^,\"{}\r\n]*[^\s,\"{}])?\Z"), min_size=2, max_size=5, unique=True))
def test_labels_without_marks_are_written_as_in_earlier_formats(labels: list[str]) -> None:
    assert set_text(labels, missing=False) == BEFORE.set_text(labels, gone=False)
    assert BEFORE.pieces(set_text(labels, missing=False)) == labels


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("{cook, head, nurse}", ("cook", "head", "nurse")),
        ('{called "other", none}', ('called "other"', "none")),
        ('{"other", none} or missing', ('"other"', "none", "")),
        ("{farm {owner}, none}", ("farm {owner}", "none")),
        ("{none, }", ("none", "")),
    ],
)
def test_sets_of_earlier_formats_are_parted_at_their_commas(text: str, pieces: tuple[str, ...]) -> None:
    assert set_pieces(text) == pieces


def test_labels_with_commas_of_earlier_formats_are_found_where_they_are_known() -> None:
    assert set_members("{cook, head, nurse}", {"cook, head", "nurse"}) == ("cook, head", "nurse")
    assert set_members("{a, b}", {"a", "b", "a, b"}) == ("a", "b")
    assert BEFORE.pieces('{cook, "head}') == ["cook", '"head']
    for broken in ('{a, "b}', '{a, "b" c}', '{"a"}', "{a, }", '{a, b, c""}'):
        assert NOW.pieces(broken) == [], "what is written in another way is no set"
