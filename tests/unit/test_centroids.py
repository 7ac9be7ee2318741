"""Centroid maskers on small tables: what is shown, what is refused, what is told."""

from __future__ import annotations

import datetime
import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from sfumato.data.encoding import encode
from sfumato.data.masked import Masked
from sfumato.data.schema import Category, ItemSet, Number, Schema
from sfumato.data.table import Table
from sfumato.data.taxonomy.taxonomy import Taxonomy
from sfumato.engines import ReferenceEngine
from sfumato.errors import Infeasible, RecipeError, TableError
from sfumato.maskers.centroids.fit import MDAV, Linkage, Microaggregate, WFCMeans
from sfumato.maskers.centroids.mask import Centroids
from sfumato.maskers.masker import K_ANONYMITY, Labels, Masker, Outcome, Task
from sfumato.maskers.registry import masker_named, name_of
from sfumato.privacy.requirements import KAnonymity

MASKERS: list[Masker] = [
    Microaggregate(),
    Microaggregate(fast=True),
    MDAV(),
    WFCMeans(),
    Linkage("single"),
    Linkage("complete"),
    Linkage(),
]
TREE = Taxonomy.from_tree({"ANY": {"North": ["oslo", "turku"], "South": ["rome", "bari"]}})


def table(schema: Schema, **columns: Sequence[Any]) -> Table:
    return encode(pa.table(dict(columns)), schema)


def run(masker: Masker, people: Table, *requirements: KAnonymity) -> Outcome:
    masker.check(people.schema, requirements)
    labels = Labels(np.zeros(people.rows, dtype=np.uint8), 1)
    return masker.mask(Task(people, labels, requirements, ReferenceEngine()))


def smallest_group(columns: Masked, on: Sequence[str]) -> int:
    """Recounted by pyarrow; lists as text, because pyarrow does not group by lists."""
    plain = {name: pa.array([str(value) for value in columns[name].to_pylist()]) for name in on}
    counts = pa.table(plain).group_by(list(on)).aggregate([([], "count_all")])
    return min(int(str(count)) for count in counts.column("count_all").to_pylist())


def people(rows: int = 60, seed: int = 0) -> Table:
    rng = np.random.default_rng(seed)
    schema = Schema(
        age=Number(role="quasi"),
        height=Number(role="quasi"),
        city=Category(role="quasi", taxonomy=TREE),
        job=Category(role="quasi"),
        ill=ItemSet(role="quasi"),
        salary=Number(role="sensitive"),
        note=Category(),
    )
    return table(
        schema,
        age=rng.integers(18, 90, rows).tolist(),
        height=rng.normal(1.7, 0.1, rows).tolist(),
        city=rng.choice(TREE.leaves, rows).tolist(),
        job=rng.choice(["cook", "poet", "smith"], rows).tolist(),
        ill=[sorted(rng.choice(["a", "b", "c"], rng.integers(0, 3), replace=False).tolist()) for _ in range(rows)],
        salary=rng.integers(1, 9, rows).tolist(),
        note=rng.choice(["x", "y"], rows).tolist(),
    )


ALL = ("age", "height", "city", "job", "ill")


@pytest.mark.parametrize("masker", MASKERS, ids=str)
@pytest.mark.parametrize("k", [2, 5, 30])
def test_every_class_has_k_and_nothing_else_is_touched(masker: Masker, k: int) -> None:
    raw = people()
    outcome = run(masker, raw, KAnonymity(ALL, k))
    assert smallest_group(outcome.masked, ALL) >= k
    assert set(outcome.masked) == set(ALL)
    assert outcome.masked.treated == dict.fromkeys(ALL, "centroid")
    assert all(len(column) == raw.rows for column in outcome.masked.values())
    assert outcome.masked.came == "recoded"
    assert masker.guarantee is K_ANONYMITY


@pytest.mark.parametrize("masker", MASKERS, ids=str)
def test_k_above_the_rows_is_infeasible(masker: Masker) -> None:
    with pytest.raises(Infeasible, match="at most 20"):
        run(masker, people(20), KAnonymity(ALL, 21))
    assert smallest_group(run(masker, people(20), KAnonymity(ALL, 20)).masked, ALL) == 20


@pytest.mark.parametrize("masker", MASKERS, ids=str)
def test_the_same_table_gives_the_same_mask(masker: Masker) -> None:
    assert run(masker, people(), KAnonymity(ALL, 4)).mask == run(masker, people(), KAnonymity(ALL, 4)).mask


def test_settings_are_found_by_their_names() -> None:
    for name in ("microaggregate", "wf_c_means", "mdav", "linkage"):
        assert name_of(masker_named(name)()) == name


def test_classes_of_several_quasi_identifiers_are_formed_on_the_union_with_the_largest_k() -> None:
    needs = (KAnonymity(["age", "city"], 3), KAnonymity(["city", "job"], 7), KAnonymity(["age"], 2))
    outcome = run(Microaggregate(), people(), *needs)
    assert smallest_group(outcome.masked, ("age", "city", "job")) >= 7
    assert outcome.history["formed_on"] == ["age", "city", "job"]
    assert outcome.history["k"] == 7
    assert [str(covered.requirement) for covered in outcome.covered] == ["2-anonymity on {age}"]


def two_groups(**more: Sequence[Any]) -> Table:
    schema = Schema(
        age=Number(role="quasi"),
        city=Category(role="quasi", taxonomy=TREE),
        job=Category(role="quasi"),
        ill=ItemSet(role="quasi"),
    )
    columns: dict[str, Sequence[Any]] = {
        "age": [20, 21, 23, 80, 81, 81],
        "city": ["oslo", "oslo", "turku", "rome", "rome", "rome"],
        "job": ["cook", "cook", "poet", "smith", "smith", None],
        "ill": [["a", "b"], ["a"], ["a", "c"], ["d"], ["d"], None],
    }
    return table(schema, **{**columns, **more})


def test_labels_are_shown_by_what_is_true_of_every_member() -> None:
    columns = run(Microaggregate(), two_groups(), KAnonymity(("age", "city", "job", "ill"), 3)).masked
    assert columns["age"].to_pylist() == [21, 21, 21, 81, 81, 81]
    assert columns["age"].values.type == pa.int64()
    assert columns["city"].to_pylist() == ["North"] * 3 + ["rome"] * 3
    assert columns["job"].to_pylist() == ["*"] * 6
    assert columns["ill"].to_pylist() == [["a"]] * 3 + [[]] * 3


def test_labels_may_be_shown_by_the_mode() -> None:
    masker = Microaggregate(categories="mode", whole=False)
    columns = run(masker, two_groups(), KAnonymity(("age", "city", "job", "ill"), 3)).masked
    assert columns["age"].to_pylist() == pytest.approx([64 / 3] * 3 + [242 / 3] * 3, rel=1e-5)
    assert columns["city"].to_pylist() == ["oslo"] * 3 + ["rome"] * 3
    assert columns["job"].to_pylist() == ["cook"] * 3 + ["smith"] * 3
    assert columns["ill"].to_pylist() == [["a"]] * 3 + [["d"]] * 3


def test_a_class_without_any_label_shows_none() -> None:
    gone = two_groups(job=["cook", "cook", "cook", None, None, None], ill=[["a"], ["a"], ["a"], None, None, None])
    columns = run(Microaggregate(), gone, KAnonymity(("age", "job", "ill"), 3)).masked
    assert columns["job"].to_pylist() == ["cook"] * 3 + [None] * 3
    assert columns["ill"].to_pylist() == [["a"]] * 3 + [None] * 3


def test_items_are_shown_by_the_labels_that_all_members_have_something_under() -> None:
    schema = Schema(age=Number(role="quasi"), ill=ItemSet(role="quasi", taxonomy=TREE))
    raw = table(schema, age=[1, 2, 8, 9], ill=[["oslo", "rome"], ["turku"], ["bari"], ["bari", "oslo"]])
    columns = run(Microaggregate(), raw, KAnonymity(("age", "ill"), 2)).masked
    assert columns["ill"].to_pylist() == [["North"]] * 2 + [["bari"]] * 2


def test_whole_numbers_stay_whole_and_means_stay_inside() -> None:
    schema = Schema(a=Number(role="quasi"), b=Number(role="quasi"), c=Number(role="quasi", integer=True))
    raw = table(schema, a=[0.1, 0.1, 0.1], b=[1, 1, 2], c=[1.0, 2.0, 2.0])
    columns = run(Microaggregate(), raw, KAnonymity(("a", "b", "c"), 3)).masked
    assert columns["a"].to_pylist() == [0.1] * 3
    assert columns["b"].to_pylist() == [1] * 3
    assert columns["c"].to_pylist() == [2] * 3
    assert tuple(columns[name].values.type for name in "abc") == (pa.float64(), pa.int64(), pa.int64())


def test_dates_are_shown_as_the_unit_of_their_mean() -> None:
    days = [datetime.date(1990, 1, d) for d in (1, 2, 3)] + [datetime.date(2000, 5, d) for d in (10, 11, 12)]
    raw = table(Schema(born=Number(role="quasi", calendar="month")), born=days)
    outcome = run(Microaggregate(), raw, KAnonymity(("born",), 3))
    assert outcome.masked["born"].to_pylist() == [datetime.date(1990, 1, 1)] * 3 + [datetime.date(2000, 5, 1)] * 3
    assert outcome.mask.files()["centroids.json"]["attributes"]["born"]["centres"] == ["1990-01", "2000-05"]
    assert outcome.masked["born"].decode().equals(outcome.mask.apply(raw)["born"].decode())


def test_rows_that_miss_a_number_have_classes_of_their_own() -> None:
    schema = Schema(a=Number(role="quasi"), b=Number(role="quasi"))
    raw = table(schema, a=[1, 2, 8, 9, None, None], b=[1.5, 1.5, 7.0, 7.0, 2.0, 3.0])
    columns = run(Microaggregate(), raw, KAnonymity(("a", "b"), 2)).masked
    assert columns["a"].to_pylist() == [2, 2, 8, 8, None, None]
    assert columns["b"].to_pylist() == [1.5, 1.5, 7.0, 7.0, 2.5, 2.5]
    assert smallest_group(columns, "ab") == 2


def test_too_few_rows_that_miss_a_number_are_infeasible_or_imputed() -> None:
    schema = Schema(a=Number(role="quasi"), b=Number(role="quasi"))
    raw = table(schema, a=[1.0, 2.0, 9.0, 8.0, None], b=[1, 1, 9, 9, 1])
    with pytest.raises(Infeasible, match=r"fewer than k records that miss a.*impute") as refused:
        run(Microaggregate(), raw, KAnonymity(("a", "b"), 2))
    assert "1" not in str(refused.value).replace("10", "")
    columns = run(Microaggregate(missing="impute"), raw, KAnonymity(("a", "b"), 2)).masked
    assert columns["a"].to_pylist() == pytest.approx([8 / 3, 8 / 3, 8.5, 8.5, 8 / 3], rel=1e-5)
    assert columns["a"].missing == 0


def test_a_number_that_everybody_misses_stays_missing() -> None:
    raw = table(Schema(a=Number(role="quasi"), b=Number(role="quasi")), a=[None] * 4, b=[1, 1, 5, 5])
    for missing in ("class", "impute"):
        columns = run(Microaggregate(missing=missing), raw, KAnonymity(("a", "b"), 2)).masked
        assert columns["a"].to_pylist() == [None] * 4
        assert columns["b"].to_pylist() == [1, 1, 5, 5]


def test_infinite_numbers_are_refused() -> None:
    raw = table(Schema(a=Number(role="quasi")), a=[1.0, float("inf"), 2.0, 3.0])
    with pytest.raises(TableError, match="finite"):
        run(Microaggregate(), raw, KAnonymity("a", 2))


def test_very_large_and_very_small_numbers_stay_numbers() -> None:
    schema = Schema(a=Number(role="quasi"), b=Number(role="quasi"))
    raw = table(schema, a=[1e307, 1.1e307, -1e307, -1.1e307], b=[1e-320, 0.0, 2e-320, 0.0])
    columns = run(Microaggregate(), raw, KAnonymity(("a", "b"), 2)).masked
    assert columns["a"].to_pylist() == pytest.approx([1.05e307, 1.05e307, -1.05e307, -1.05e307])
    assert np.isfinite(columns["b"].decode().to_numpy()).all()


def test_the_mask_is_plain_json_and_reads_back() -> None:
    mask = run(Microaggregate(), people(), KAnonymity(ALL, 5)).mask
    assert isinstance(mask, Centroids)
    form = json.loads(json.dumps(mask.files()["centroids.json"], allow_nan=False))
    assert Centroids.from_json(form) == mask
    assert sum(mask.sizes) == 60
    assert min(mask.sizes) >= 5


def test_a_broken_mask_file_is_refused() -> None:
    form = {"attributes": {"a": {"kind": "colour", "centres": []}}, "sizes": [], "missing": "class"}
    with pytest.raises(RecipeError, match="a kind is one of"):
        Centroids.from_json(form)


def test_classes_stand_in_the_order_of_what_they_show() -> None:
    """So that the file tells nothing about the order of the raw rows."""
    raw = people(40)
    turned = encode(raw.to_arrow().take(np.arange(40)[::-1].copy()), raw.schema)
    for some in (raw, turned):
        mask = run(Microaggregate(), some, KAnonymity(["age", "height"], 4)).mask
        assert isinstance(mask, Centroids)
        shown = list(zip(*(values.centres for values in mask.attributes.values()), strict=True))
        assert shown == sorted(shown)


def test_classes_that_show_the_same_are_one() -> None:
    raw = table(Schema(a=Number(role="quasi")), a=[5] * 7)
    mask = run(Microaggregate(), raw, KAnonymity("a", 2)).mask
    assert isinstance(mask, Centroids)
    assert mask.sizes == (7,)


def test_new_rows_go_to_the_nearest_centre() -> None:
    mask = run(Microaggregate(), two_groups(), KAnonymity(("age", "city"), 3)).mask
    new = two_groups(age=[30, 70, 25, 79, 20, 99], city=["turku", "bari", "oslo", "rome", "oslo", "bari"])
    columns = mask.apply(new)
    assert columns["age"].to_pylist() == [21, 81, 21, 81, 21, 81]
    assert columns["city"].to_pylist() == ["North", "rome"] * 3


def test_new_rows_that_miss_what_no_centre_misses_are_refused_or_placed_by_the_rest() -> None:
    mask = run(Microaggregate(), two_groups(), KAnonymity(("age", "city"), 3)).mask
    new = two_groups(age=[None, 70, 25, 79, 20, 99])
    with pytest.raises(TableError, match="unseen='suppress'"):
        mask.apply(new)
    assert mask.apply(new, unseen="suppress")["city"].to_pylist()[0] == "North"


def test_the_history_tells_how_much_one_record_makes_up_of_a_mean() -> None:
    raw = table(Schema(gain=Number(role="quasi")), gain=[0, 0, 900, 5000, 5000, 5000])
    assert run(Microaggregate(), raw, KAnonymity(["gain"], 3)).history["largest_shares"] == {"gain": 1.0}


def test_weights_of_wf_c_means_are_told() -> None:
    history = run(WFCMeans(seed=3), people(), KAnonymity(["age", "height"], 4)).history
    (weights,) = history["weights"]
    assert set(weights) == {"age", "height"}
    assert sum(weights.values()) == pytest.approx(1.0)


@pytest.mark.parametrize(
    "wrong", [{"categories": "median"}, {"missing": "drop"}, {"scale": "z"}], ids=lambda wrong: next(iter(wrong))
)
def test_unknown_settings_are_refused(wrong: dict[str, Any]) -> None:
    for kind in (Microaggregate, MDAV, WFCMeans, Linkage):
        with pytest.raises(RecipeError, match=next(iter(wrong))):
            kind(**wrong)


def test_an_unknown_link_is_refused() -> None:
    with pytest.raises(RecipeError, match="single, complete, average"):
        masker_named("linkage")("ward")


def test_a_recipe_without_k_is_refused() -> None:
    with pytest.raises(RecipeError, match="take k from"):
        Microaggregate().check(people().schema, ())
