"""Every claim that verify recounts: against its definition on random tables, and what it refuses."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from sfumato.data.taxonomy.taxonomy import Taxonomy
from sfumato.privacy.requirements import (
    LKC,
    AlphaK,
    ConfidenceBound,
    KAnonymity,
    KMap,
    LDiversity,
    Requirement,
    TCloseness,
)
from sfumato.privacy.requirements.closeness import bare_tree
from sfumato.privacy.verify.claims import CLAIMS
from sfumato.privacy.verify.explained.recoding import Recoding, read_recoding
from sfumato.privacy.verify.raw.rows import Population, check_k_map, read_population
from sfumato.privacy.verify.texts.wording import ATTACKERS, SENTENCES, sentence
from sfumato.privacy.verify.verdict import CheckError
from tests import recount
from tests.recount import by_rank, by_tree, entropy, moved, ratio

Claim = dict[str, Any]
Row = dict[str, Any]
TREE: dict[str, Any] = {"any": {"lungs": ["flu", "cough"], "other": {"skin": ["rash", "itch"], "fever": None}}}
UNUSED: dict[str, Any] = {"any": {**TREE["any"], "never": {"ever": {"a": ["nothing"]}}}}
BARE: dict[str, Any] = {"height": 2, "below": ["fever", {"height": 1, "below": ["cough", "flu"]}, "rash"]}
ORDER = ["cough", "flu", "rash", "itch", "fever"]


def people(seed: int, values: Sequence[Any]) -> list[Row]:
    chance = random.Random(seed)
    return [
        {"a": chance.choice(["x", "y", None]), "b": chance.choice("uv"), "s": chance.choice(values)}
        for _ in range(chance.randint(1, 40))
    ]


def frame(rows: list[Row]) -> pl.DataFrame:
    return pl.DataFrame(rows, infer_schema_length=None).with_columns(pl.col(pl.String).cast(pl.Categorical))


def groups(rows: list[Row], on: Sequence[str]) -> list[Counter[Any]]:
    return recount.groups(rows, on, "s")


def check(kind: str, rows: list[Row], /, **settings: Any) -> str:
    return CLAIMS[kind](frame(rows), {"claim": kind, "on": ["a", "b"], "sensitive": "s", **settings})


def reaches(kind: str, rows: list[Row], achieved: dict[str, float], /, **settings: Any) -> None:
    """The claim holds with these figures, and with no others."""
    check(kind, rows, achieved={name: round(value, 6) for name, value in achieved.items()}, **settings)
    for name in achieved:
        with pytest.raises(CheckError):
            check(kind, rows, achieved={**achieved, name: achieved[name] + 1e-3}, **settings)


def fails(kind: str, rows: list[Row], /, **settings: Any) -> None:
    with pytest.raises(CheckError):
        check(kind, rows, **settings)


@pytest.mark.parametrize("seed", range(25))
def test_diversity_is_what_it_is_defined_to_be(seed: int) -> None:
    rows = people(seed, ["flu", "rash", "fever", None])
    found = groups(rows, ["a", "b"])
    for l in (2, 3):  # noqa: E741
        distinct, least = min(len(group) for group in found), min(entropy(group) for group in found)
        worst = max(ratio(group, l) for group in found)
        if distinct >= l:
            reaches("l_diversity", rows, {"l": distinct}, l=l, kind="distinct")
        else:
            fails("l_diversity", rows, l=l, kind="distinct")
        if least >= math.log(l) - 1e-9:
            reaches("l_diversity", rows, {"l": math.exp(least)}, l=l, kind="entropy")
        else:
            fails("l_diversity", rows, l=l, kind="entropy")
        for c in (0.5, 1, 2.5):
            if worst < c:
                reaches("l_diversity", rows, {"c": worst}, l=l, kind="recursive", c=c)
            else:
                fails("l_diversity", rows, l=l, kind="recursive", c=c)


@pytest.mark.parametrize("seed", range(25))
def test_shares_are_what_they_are_defined_to_be(seed: int) -> None:
    rows = people(seed, ["flu", "rash", None])
    rows += [{"a": a, "b": b, "s": s} for a in ("x", "y", None) for b in "uv" for s in ("flu", "rash")]
    found = groups(rows, ["a", "b"])
    any_value = max(max(group.values()) / group.total() for group in found)
    flu, k = max(group["flu"] / group.total() for group in found), min(group.total() for group in found)
    reaches("confidence_bound", rows, {"h": any_value}, h=any_value)
    reaches("confidence_bound", rows, {"h": flu}, h=flu, value="flu")
    reaches("alpha_k", rows, {"alpha": any_value, "k": k}, alpha=any_value, k=k)
    fails("confidence_bound", rows, h=any_value * 0.99)
    fails("confidence_bound", rows, h=flu * 0.99, value="flu")
    fails("confidence_bound", rows, h=0.99, value="nobody's")
    fails("alpha_k", rows, alpha=any_value, k=k + 1)
    for l in (1, 2):  # noqa: E741
        parts = [group for some in combinations(["a", "b"], l) for group in groups(rows, some)]
        size, sure = min(g.total() for g in parts), max(max(g.values()) / g.total() for g in parts)
        reaches("lkc", rows, {"k": size, "c": sure}, l=l, k=size, c=sure)
        fails("lkc", rows, l=l, k=size + 1, c=sure)
        fails("lkc", rows, l=l, k=size, c=sure * 0.99)


@pytest.mark.parametrize("seed", range(12))
def test_closeness_is_the_cheapest_flow(seed: int) -> None:
    rows = people(seed, ORDER) + [{"a": "x", "b": "u", "s": value} for value in ORDER]
    found, table = groups(rows, ["a", "b"]), Counter(row["s"] for row in rows)
    for distance, ground, settings in (
        ("equal", lambda a, b: float(a != b), {}),
        ("ordered", by_rank(list(table), ORDER), {"order": [value for value in ORDER if value in table]}),
        ("hierarchical", by_tree(TREE), {"tree": bare_tree(Taxonomy.from_tree(UNUSED), table)}),
    ):
        t = max(moved(group, table, ground) for group in found)
        if t > 1e-3:
            reaches("t_closeness", rows, {"t": t}, t=round(t + 1e-6, 6), distance=distance, **settings)
            fails("t_closeness", rows, t=t * 0.99, distance=distance, **settings)


@pytest.mark.parametrize("as_text", [False, True])
def test_numbers_are_ordered_by_size_in_csv_too(as_text: bool) -> None:
    rows = [*people(3, [9, 10, 100]), *({"a": a, "b": b, "s": s} for a in "xy" for b in "uv" for s in (10, 100))]
    found, table = groups(rows, ["a", "b"]), Counter(row["s"] for row in rows)
    t = max(moved(group, table, by_rank([9, 10, 100], [9, 10, 100])) for group in found)
    shown = [{**row, "s": str(row["s"])} for row in rows] if as_text else rows
    reaches("t_closeness", shown, {"t": t}, t=0.99, distance="ordered")
    reaches("confidence_bound", shown, {"h": max(g[9] / g.total() for g in found)}, h=0.99, value=9)


def hanging(tree: Any) -> Claim:
    return {"t": 0.99, "distance": "hierarchical", "tree": tree}


REFUSED: dict[str, tuple[str, Claim]] = {
    "unknown field": ("l_diversity", {"l": 2, "kind": "distinct", "except": 1}),
    "c without recursive": ("l_diversity", {"l": 2, "kind": "distinct", "c": 2}),
    "recursive without c": ("l_diversity", {"l": 2, "kind": "recursive"}),
    "unknown kind": ("l_diversity", {"l": 2, "kind": "vague"}),
    "l is 1": ("l_diversity", {"l": 1, "kind": "distinct"}),
    "l is a text": ("l_diversity", {"l": "2", "kind": "distinct"}),
    "c is true": ("l_diversity", {"l": 2, "kind": "recursive", "c": True}),
    "h above 1": ("confidence_bound", {"h": 1.1}),
    "no h": ("confidence_bound", {}),
    "value is null": ("confidence_bound", {"h": 0.99, "value": None}),
    "value is a list": ("confidence_bound", {"h": 0.99, "value": ["flu"]}),
    "no such sensitive column": ("confidence_bound", {"h": 0.99, "sensitive": "z"}),
    "sensitive column known": ("confidence_bound", {"h": 0.99, "sensitive": "a"}),
    "sensitive is a number": ("confidence_bound", {"h": 0.99, "sensitive": 3}),
    "on nothing": ("confidence_bound", {"h": 0.99, "on": []}),
    "on a stranger": ("confidence_bound", {"h": 0.99, "on": ["z"]}),
    "k is 0": ("alpha_k", {"alpha": 0.99, "k": 0}),
    "k is 1": ("alpha_k", {"alpha": 0.99, "k": 1}),
    "a share of 1": ("confidence_bound", {"h": 1.0}),
    "a distance of 1": ("t_closeness", {"t": 1, "distance": "equal"}),
    "k-anonymity of 1": ("k_anonymity", {"k": 1}),
    "l above the columns": ("lkc", {"l": 3, "k": 2, "c": 0.99}),
    "order with equal": ("t_closeness", {"t": 0.99, "distance": "equal", "order": ORDER}),
    "ordered without order": ("t_closeness", {"t": 0.99, "distance": "ordered"}),
    "order with a hole": ("t_closeness", {"t": 0.99, "distance": "ordered", "order": ORDER[:2]}),
    "order with one twice": ("t_closeness", {"t": 0.99, "distance": "ordered", "order": [*ORDER, "flu"]}),
    "hierarchical without tree": ("t_closeness", {"t": 0.99, "distance": "hierarchical"}),
    "order with a value of nobody": ("t_closeness", {"t": 0.99, "distance": "ordered", "order": [*ORDER, "none"]}),
    "tree with a hole": ("t_closeness", hanging({"height": 2, "below": ["flu"]})),
    "tree with names": ("t_closeness", hanging(TREE)),
    "tree of numbers": ("t_closeness", hanging({"height": 1, "below": [1, 2]})),
    "tree is a text": ("t_closeness", hanging("any")),
    "a value twice": ("t_closeness", hanging({"height": 2, "below": [*BARE["below"], "flu"]})),
    "a value of nobody": ("t_closeness", hanging({"height": 2, "below": [*BARE["below"], "nothing"]})),
    "higher than what is below": ("t_closeness", hanging({**BARE, "height": 3})),
    "one part below the root": ("t_closeness", hanging({"height": 3, "below": [BARE]})),
    "no higher than below": ("t_closeness", hanging({**BARE, "height": 1})),
    "achieved is a number": ("confidence_bound", {"h": 0.99, "achieved": 1.0}),
    "achieved of another": ("confidence_bound", {"h": 0.99, "achieved": {"k": 2}}),
    "achieved is true": ("confidence_bound", {"h": 0.99, "achieved": {"h": True}}),
    "attacker is a number": ("confidence_bound", {"h": 0.99, "attacker": 3}),
    "no population": ("k_map", {"k": 1}),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_understood_is_refused(name: str) -> None:
    kind, settings = REFUSED[name]
    rows = [{"a": "x", "b": "u", "s": value} for value in ("flu", "cough", "rash", "fever")]
    fails(kind, rows, **settings)


def test_missing_values_have_no_order_and_no_place_in_a_tree() -> None:
    rows = people(1, ["flu", None])
    fails("t_closeness", rows, t=0.99, distance="ordered", order=["flu"])
    fails("t_closeness", rows, t=0.99, distance="hierarchical", tree={"height": 1, "below": ["flu"]})
    check("t_closeness", rows, t=0.99, distance="equal")


def test_sets_are_no_single_values() -> None:
    table = pl.DataFrame({"a": ["x"], "b": ["u"], "s": [["flu"]]})
    with pytest.raises(CheckError, match="sets"):
        CLAIMS["confidence_bound"](table, {"claim": "confidence_bound", "on": ["a"], "sensitive": "s", "h": 0.99})


ON = ["age", "sex"]
ASKED: list[Requirement] = [
    KAnonymity(ON, 2),
    KAnonymity(ON, 5),
    LDiversity(ON, "s", 3),
    LDiversity(ON, "s", 3, "entropy"),
    LDiversity(ON, "s", 3, "recursive", 2),
    ConfidenceBound(ON, "s", 0.5),
    ConfidenceBound(ON, "s", 0.5, "HIV"),
    AlphaK(ON, "s", 0.5, 5, 1),
    LKC(ON, "s", 2, 5, 0.5),
    ConfidenceBound(['a "b" \\ c', "; and"], "x = y", 0.5, 'the "worst"'),
    AlphaK(ON, 's"', 0.5, 5, True),
    TCloseness(ON, "s", 0.2, "ordered"),
    KMap(ON, 5, "voters.csv"),
]


@pytest.mark.parametrize("requirement", ASKED, ids=str)
def test_verify_and_the_requirements_word_a_claim_alike(requirement: Requirement) -> None:
    claim = requirement.claim()
    assert SENTENCES[requirement.name](claim) == requirement.sentence()
    assert ATTACKERS[requirement.name](claim) == requirement.attacker()


RECODING = {
    "a": {"kind": "discretize", "range": [0, 9], "breaks": [5]},
    "b": {"kind": "suppress", "disclosed": ["u"], "complete": False},
}


def k_map(people_: Population, /, *, shown: Sequence[str] = ("u", "*"), **settings: Any) -> str:
    recoding = read_recoding({"attributes": RECODING}, lambda name: {})
    claim = {"claim": "k_map", "on": ["a", "b"], "k": 2, **settings}
    table = pl.DataFrame({"a": ["[0-5)", "[5-9]"], "b": shown})
    return check_k_map(table, claim, recoding=recoding, population=people_)


def test_k_map_counts_the_population(tmp_path: Path) -> None:
    numbers, labels = [1, 2, 6, 7, 8, 99, None], ["u", "u", "v", "w", None, "v", "u"]
    population = read_population(pl.DataFrame({"a": numbers, "b": labels}), missing=())
    assert "k = 2" in k_map(population, achieved={"k": 2})
    with pytest.raises(CheckError, match="otherwise"):
        k_map(population, achieved={"k": 3})
    with pytest.raises(CheckError, match="fewer than 3"):
        k_map(population, k=3)
    with pytest.raises(CheckError, match="fewer than 2"):
        k_map(population, shown=("u", "u"))
    file = tmp_path / "voters.csv"
    file.write_text("a,b\n1,u\n2,u\n6,v\n7,w\n")
    found = read_population(file, missing=())
    assert "the claimed one" in k_map(found, population=found.sha256)
    with pytest.raises(CheckError, match="another population"):
        k_map(found, population="0" * 64)
    with pytest.raises(CheckError, match="no column"):
        k_map(Population(found.table.drop("b"), None))


def test_a_lifted_record_fits_everybody() -> None:
    recoding = Recoding(read_recoding({"attributes": RECODING}, lambda name: {}).rules, True)
    table = pl.DataFrame({"a": ["[0-9]"], "b": ["*"]})
    people_ = Population(pl.DataFrame({"a": [1, 2, 3], "b": ["u", "u", "u"]}), None)
    told = check_k_map(table, {"claim": "k_map", "on": ["a", "b"], "k": 3}, recoding=recoding, population=people_)
    assert "k = 3" in told


@pytest.mark.parametrize(
    ("many", "said"),
    [
        (2, 'at least 1 record that looks the same on "age", "town" does not have it'),
        (3, 'at least 2 records that look the same on "age", "town" do not have it'),
    ],
)
def test_who_lacks_an_item_is_told_in_a_plain_sentence_by_both(many: int, said: str) -> None:
    claim = {"claim": "l_diversity", "on": ["age", "town"], "sensitive": "drugs", "l": many, "kind": "items"}
    told = LDiversity(("age", "town"), "drugs", many, kind="items").sentence()
    assert told == sentence(claim, 5) == f'whatever item of "drugs" a record has, {said} (items)'
    before = f'of records that look alike on "age", "town" at least {many - 1} lack each item of "drugs"'
    assert sentence(claim, 4) == f"{before} that others of them have (items)"
