"""Labels that look alike: publish and verify, each with its own code, take the same ones for one value."""

from __future__ import annotations

import unicodedata
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.data.lookalikes import alike, looks
from sfumato.privacy.verify.letters import look

SPELLINGS = {
    "hiv ": "a space behind it",
    " hiv": "a space before it",
    "HIV": "capitals",
    "hi\u200bv": "a zero-width space",
    "h\u0456v": "a Cyrillic letter",
    "hi\u03bd": "a Greek letter",
    "\uff48\uff49\uff56": "full-width letters",
    "hiv\ufeff": "a byte order mark",
    "h\u00adiv": "a soft hyphen",
    "\u202ehiv\u202c": "bidirectional marks",
    "hiv\ufe0f": "a variation selector",
    "h\u034fiv": "a grapheme joiner",
    "hiv\u3164": "a Hangul filler",
    "h\u2170v": "a Roman numeral",
    "hiv\u2003": "a wide space",
    "hiv\x07": "a bell",
}
MARKS = st.sampled_from(
    "hivHIV аеорсυνΗΙν\u200b\u200d\u2060\ufeff\u00ad\u202e\ufe0f\u0301é\u3164\uff28ⅰﬁß\u1e9eİıſ-–’'\t"
)


@pytest.mark.parametrize("spelling", SPELLINGS, ids=SPELLINGS.values())
def test_one_word_in_many_spellings(spelling: str) -> None:
    assert looks(spelling) == looks("hiv") == look(spelling) == look("hiv")


@pytest.mark.parametrize("other", ["hav", "hi v", "hivv", "hiv1", "hív", "", "hi", "vih"])
def test_other_words_are_other_words(other: str) -> None:
    assert looks(other) != looks("hiv")
    assert look(other) != look("hiv")


@pytest.mark.parametrize("step", [23, pytest.param(1, marks=pytest.mark.slow)])
def test_a_character_alone_looks_the_same_to_both(step: int) -> None:
    every = (chr(code) for code in range(0, 0x110000, step) if not 0xD800 <= code < 0xE000)
    assert [mark for mark in every if looks(mark) != look(mark)] == []


@settings(max_examples=300, deadline=None)
@given(st.one_of(st.text(MARKS, max_size=12), st.text(max_size=12)))
def test_both_sides_see_the_same(label: str) -> None:
    assert looks(label) == look(label)
    assert looks(looks(label)) == looks(label)
    assert looks(unicodedata.normalize("NFD", label)) == looks(label)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.text(MARKS, max_size=5), max_size=8))
def test_who_looks_like_whom_is_no_matter_of_the_side(labels: list[str]) -> None:
    pairs = {(a, b) for several in alike(labels) for a in several for b in several if a < b}
    size = range(len(labels))
    assert pairs == {(a, b) for a in size for b in size if a < b and look(labels[a]) == look(labels[b])}


ASKED = {
    "distinct": "{l_diversity: 2, on: [age], sensitive: ill}",
    "entropy": "{l_diversity: 2, on: [age], sensitive: ill, kind: entropy}",
    "recursive": "{l_diversity: 2, on: [age], sensitive: ill, kind: recursive, c: 2}",
    "confidence": "{confidence_bound: 0.7, on: [age], sensitive: ill}",
    "confidence in one": "{confidence_bound: 0.7, on: [age], sensitive: ill, value: HIV}",
    "alpha": "{alpha_k: {alpha: 0.7, k: 2}, on: [age], sensitive: ill}",
    "closeness": "{t_closeness: 0.3, on: [age], sensitive: ill}",
    "ordered": "{t_closeness: 0.3, on: [age], sensitive: ill, distance: ordered, order: [flu, Hiv]}",
    "lkc": "{lkc: {l: 1, k: 2, c: 0.7}, on: [age], sensitive: ill}",
}
RECIPE = """
sfumato: 1
attributes:
  age: {kind: number, role: quasi, range: [0, 80]}
  ill: {kind: category, role: sensitive}
structure: {clusters: kmeans, k: 2}
privacy: [REQUIREMENT]
"""


def people(*, alike: bool) -> pa.Table:
    """The young all have hiv, spelt in four ways or in one; the old have flu."""
    young = [["hiv", "HIV ", "h\u0456v", "hiv\u200b"][at % 4] if alike else "hiv" for at in range(40)]
    ages = [*(20 + at % 10 for at in range(40)), *(60 + at % 10 for at in range(40))]
    return pa.table({"age": ages, "ill": [*young, *(40 * ["flu"])]})


@pytest.mark.parametrize("asked", ASKED)
def test_spellings_make_no_group_diverse(asked: str, tmp_path: Path) -> None:
    """Every requirement forbids a group in which all have one illness, however it is spelt; and verify agrees."""
    recipe = sf.Recipe.from_yaml(RECIPE.replace("REQUIREMENT", ASKED[asked]))
    run = sf.Run(report=False)
    plain = sf.publish(people(alike=False), recipe, run=run)
    with pytest.warns(UserWarning, match=r"ill: 4 labels look like another one") as told:
        spelt = sf.publish(people(alike=True), recipe, run=run)
    assert "hiv" not in str(told[0].message).lower()
    figures = [[claim["achieved"] for claim in one.certificate["claims"]] for one in (plain, spelt)]
    assert figures[0] == figures[1]
    assert Counter(spelt.shown.column("ill").to_pylist()) == Counter(people(alike=True).column("ill").to_pylist())
    spelt.write(tmp_path / "out")
    assert sf.verify(tmp_path / "out").holds


def test_a_tree_with_leaves_that_look_alike_has_no_distance() -> None:
    tree = "taxonomy: {ANY: {low: [flu], high: [hiv, HIV]}}"
    text = RECIPE.replace("role: sensitive", f"role: sensitive, {tree}")
    asked = "{t_closeness: 0.3, on: [age], sensitive: ill, distance: hierarchical}"
    with pytest.raises(sf.SchemaError, match="look alike"):
        sf.publish(people(alike=False), sf.Recipe.from_yaml(text.replace("REQUIREMENT", asked)))
