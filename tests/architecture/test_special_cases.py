"""General code asks its guests; the places where it still knows one of them stand here, each with its reason."""

from __future__ import annotations

from pathlib import Path

import pytest

from sfumato.maskers.masker import Mask
from sfumato.maskers.registry import MASKERS, masker_named
from sfumato.privacy.verify.maskers import MASKED
from tests.architecture.special_cases import FAMILIES, WORDS, special_cases

MOST = 15
KNOWN = {
    ("people/people.py", "treated[name] == 'suppress'"): (
        "A recipient has the certificate alone: where labels are suppressed, a star stands for those not shown."
    ),
    ("release/exports/recount.py", "claim['claim'] != 'k_anonymity'"): (
        "Of a copy the groups of k-anonymity are counted again; every other claim is verify's, of the release itself."
    ),
    ("cli/demo.py", "Partition()"): "The demo shows two maskers side by side, and names both.",
    ("cli/demo.py", "TopDown()"): "The demo is a recipe, and a recipe names its masker.",
    ("cli/ledger.py", "recipe.budget is None"): "The plan of a budget is shown before it is spent, where there is one.",
    ("data/masked.py", "self.came != 'generated'"): "This is where a masked table answers whether rows are records.",
    ("data/masked.py", "self.came == 'recoded'"): "And whether what they show speaks of their own record.",
    ("estimators.py", "Partition(extent='cuts')"): (
        "Without a recipe new rows must fall into a group, and of one masker no gaps lie between them."
    ),
    ("evaluation/evaluate.py", "TopDown(score=BLIND)"): "The baseline that is blind to structure is one masker.",
    ("evaluation/evaluate.py", "structure is None"): "Without a structure nothing is compared with it.",
    ("evaluation/evaluate.py", "{Clusters: _clusters, Classes: _classes}"): (
        "Each kind of structure has measures of its own: one line of a table, above the structures in the layers."
    ),
    ("release/accounting.py", "recipe.budget is None"): (
        "The one place where a budget, or none, becomes what a run spends and may promise; all others ask that."
    ),
    ("release/attacking.py", "{'recoded': _recoded, 'moved': _moved, 'generated': _generated}"): (
        "Other attacks apply to records, to numbers that were moved and to rows that are nobody's: one line each."
    ),
    ("release/report/attributes.py", "{Generalize.kind: _cut, Discretize.kind: _intervals}"): (
        "Rules draw nothing; the report has one picture for each kind, and lists the values of all others."
    ),
}
"""By place and code: why it is still there. One that is gone is taken off the list, and none is added lightly."""


def test_general_code_asks_its_guests() -> None:
    found = sorted((case.place, case.code) for case in special_cases())
    assert found == sorted(KNOWN), "ask the guest instead, or list the place with its reason"
    assert len(found) <= MOST


def test_every_special_case_has_its_reason_in_a_sentence() -> None:
    assert all(reason.endswith(".") and len(reason.split()) > 5 for reason in KNOWN.values())


@pytest.mark.parametrize(
    ("family", "code"),
    [
        ("mask", "isinstance(mask, Recoding)"),
        ("mask", "isinstance(mask, RegionTree)"),
        ("rule", "isinstance(rule, (Suppress, int))"),
        ("requirement", "isinstance(need, KMap | KAnonymity)"),
        ("structure", "isinstance(recipe.structure, Clusters)"),
        ("masker", "TopDown(score='x')"),
        ("getattr", "getattr(recipe.mask, 'plan', None)"),
        ("flag", "recipe.budget is None"),
        ("flag", "earlier is not None"),
        ("kind", "masked.came == 'moved'"),
        ("kind", "recipe.earlier.people != 'same'"),
        ("word", "form['kind'] == 'generalize'"),
        ("word", "column['masked'] == 'extent'"),
        ("word", "'differential_privacy' in certificate"),
        ("table", "{Clusters: 1, Classes: 2}"),
        ("table", "{Generalize.kind: 1}"),
        ("table", "{'moved': 1}"),
    ],
)
def test_the_count_can_fail(tmp_path: Path, family: str, code: str) -> None:
    for room in ("release", "maskers"):
        (tmp_path / room).mkdir()
        (tmp_path / room / "some.py").write_text(f"found = {code}\n", encoding="utf-8")
    assert [(case.place, case.family) for case in special_cases(tmp_path)] == [("release/some.py", family)]


def test_every_mask_and_every_word_for_a_column_is_known() -> None:
    for name in MASKERS:
        masker_named(name)
    waiting, masks = [Mask], set[str]()
    while waiting:
        below = [kind for kind in waiting.pop().__subclasses__() if kind.__module__.startswith("sfumato.")]
        masks |= {kind.__name__ for kind in below}
        waiting += below
    assert masks == FAMILIES["mask"]
    assert set(MASKED) <= WORDS


def test_what_is_asked_is_no_special_case(tmp_path: Path) -> None:
    asked = "if recipe.mask.guarantee.spends and rule.numeric and isinstance(cell, str) and cell == 'age':\n    pass\n"
    (tmp_path / "some.py").write_text(asked, encoding="utf-8")
    assert special_cases(tmp_path) == []
