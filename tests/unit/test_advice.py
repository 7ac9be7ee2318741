"""Candidate recipes are compared on a sample, without a trace, and the best of them that keeps its promise is named."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import Stopped
from sfumato.evaluation.columns import ColumnKept
from sfumato.events import Stop, running
from sfumato.sweeping import advice
from sfumato.sweeping.comparison import Certain, Kept, Tried, choose, sentence, trade, warning
from sfumato.sweeping.contenders import Contender, maskers, other_privacy

TOWNS = tuple(f"t{at}" for at in range(6))
QUASI = ("age", "town")


def people(rows: int = 160) -> pa.Table:
    chance = np.random.default_rng(0)
    return pa.table(
        {
            "age": chance.integers(0, 100, rows).tolist(),
            "town": [TOWNS[at] for at in chance.integers(0, len(TOWNS), rows)],
            "ill": [f"i{at}" for at in chance.integers(0, 2, rows)],
        }
    )


def recipe(k: int = 8) -> sf.Recipe:
    return sf.Recipe(
        schema=sf.Schema(
            age=sf.Number(role="quasi", range=(0, 100)),
            town=sf.Category(role="quasi"),
            ill=sf.Category(role="sensitive"),
        ),
        structure=sf.Clusters("kmeans", k=2, n_init=1),
        privacy=[sf.KAnonymity(QUASI, k)],
        mask=sf.TopDown(),
    )


def private() -> sf.Recipe:
    return sf.Recipe(
        schema=sf.Schema(age=sf.Number(role="quasi", range=(0, 100)), town=sf.Category(role="quasi", values=TOWNS)),
        mask=sf.PrivateTree(),
        budget=sf.Budget(1),
    )


def written() -> list[Path]:
    """What lies where the ledger would."""
    return [path for path in Path(os.environ["XDG_STATE_HOME"]).rglob("*") if path.is_file()]


def names(found: advice.Advice) -> list[str]:
    return [one.contender.title for one in found.tried]


def test_candidates_are_compared_under_what_is_asked_and_leave_no_trace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    found = sf.advise(people(), recipe(), rows=120)
    assert (found.rows, found.of_rows) == (120, 160)
    assert "less than the whole table" in found.sample
    assert names(found)[:4] == ["top_down, as it is", "partition", "cuts", "mondrian"]
    assert [title.rpartition(", ")[2] for title in names(found)[4:]] == ["k 4", "k 16"]
    assert found.best is not None
    assert found.recipe == found.best.recipe
    for one in found.tried:
        assert [column.name for column in one.columns] == list(QUASI)
        assert one.risk is not None
        asked = one.recipe.privacy == recipe().privacy
        assert asked is one.contender.asked
        assert not asked or one.risk <= 1 / 8
        assert one.recipe == sf.Recipe.from_yaml(recipe().to_yaml(), changes=one.contender.changes)
    assert found.to_json()["advice"] == found.sentence
    assert [written(), list(tmp_path.iterdir())] == [[], []]


def test_without_a_recipe_candidates_are_made_from_a_draft(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(advice._Clock, "left", 0.0)
    table = people().append_column("id", pa.array([f"p{at}" for at in range(160)]))
    found = sf.advise(table.drop_columns(["ill"]))
    assert found.drafted
    assert names(found)[0].endswith(", drafted")
    assert found.base.schema["id"].role == "identifier"


def test_numbers_are_averaged_where_k_anonymity_is_all_that_is_asked() -> None:
    assert "microaggregate" not in [one.name for one in maskers(recipe())]
    schema = sf.Schema(age=sf.Number(role="quasi", range=(0, 100)), ill=sf.Category(role="sensitive"))
    plain = sf.Recipe(schema=schema, privacy=[sf.KAnonymity(["age"], 8)])
    diverse = replace(plain, privacy=[*plain.privacy, sf.LDiversity(["age"], "ill", 2)])
    table = people().select(["age", "ill"])
    assert "microaggregate" in names(sf.advise(table, plain))
    refused = {one.name: one.reason for one in sf.advise(table, diverse).skipped}
    assert "promise nothing else" in refused["microaggregate"]


def test_the_time_that_is_given_ends_it_with_one_candidate_at_least(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(advice._Clock, "left", 0.0)
    found = sf.advise(people(), recipe())
    assert names(found) == ["top_down, as it is"]
    assert found.sentence.startswith("Only top_down could be tried")
    assert all("seconds=120 gives more, in a shell --seconds 120" in one.reason for one in found.skipped)


def test_a_stop_is_no_end_of_time() -> None:
    stop = Stop()
    stop.ask()
    with running(stop=stop), pytest.raises(Stopped):
        sf.advise(people(), recipe())


def test_a_column_of_one_value_leaves_out_who_cannot_show_it() -> None:
    table = people().set_column(1, "town", pa.array(["t0"] * 160))
    found = sf.advise(table, recipe(), seconds=1)
    assert names(found)[0] == "partition"
    assert {one.name for one in found.skipped} >= {"top_down, as it is"}
    assert "two values" in found.skipped[0].reason


def test_where_only_the_sample_is_too_small_it_is_said_and_the_whole_table_is_named() -> None:
    """Every town has some 27 people, of the sample some 8."""
    asked = replace(recipe(k=12), structure=None, detail={"town": 1})
    assert "sample of 50 of the 160 records" in sf.advise(people(), asked, rows=50).sentence
    assert "--rows 160" in sf.advise(people(), asked, rows=50).sentence
    assert sf.advise(people(), asked, rows=160, seconds=1).best is not None
    few = sf.advise(people(60), asked)
    assert few.sentence == "No candidate can be published; the reasons are above."


def test_a_budget_is_spent_on_nothing_and_public_data_shows_the_way() -> None:
    with pytest.raises(sf.RecipeError, match="--public FILE"):
        sf.advise("no such file", private())
    found = sf.advise("no such file", private(), public=people().select(list(QUASI)))
    assert found.public
    assert names(found)[0] == "private_tree, as it is"
    assert [title.rpartition(", ")[2] for title in names(found)[-2:]] == ["epsilon 1/2", "epsilon 2"]
    assert written() == []


def test_what_cannot_be_compared_is_refused_in_words() -> None:
    schema = sf.Schema(age=sf.Number(role="quasi"), town=sf.Category(role="plain"), ill=sf.Category(role="plain"))
    moved = sf.Recipe(schema=schema, mask=sf.AddNoise(), i_understand="no_guarantee")
    with pytest.raises(sf.RecipeError, match="nothing may be claimed"):
        sf.advise(people(), moved)
    with pytest.raises(sf.TableError, match="in which people differ"):
        sf.advise(pa.table({"disease": ["flu"] * 40}))
    with pytest.raises(sf.RecipeError, match="earlier"):
        sf.advise(people(), replace(recipe(), earlier=sf.Earlier(releases=("out",), people="same")))
    with pytest.raises(sf.RecipeError, match="rows"):
        sf.advise(people(), recipe(), rows=3)
    with pytest.raises(sf.RecipeError, match="encoding"):
        sf.advise(people(), recipe(), encoding="cp1252")


def test_halves_and_doubles_keep_the_best_masker_and_two_records() -> None:
    best = Contender("cuts", ("mask={partition: {extent: cuts}}",), "")
    found = list(other_privacy(recipe(k=3), best))
    assert [one.note for one in found] == ["k 6"]
    assert found[0].changes == (*best.changes, "privacy.0.k=6")
    assert not found[0].asked
    several = replace(recipe(), privacy=[sf.KAnonymity(["age"], 8), sf.KAnonymity(["town"], 20)])
    assert [one.note for one in other_privacy(several, best)] == ["half of k", "double k"]


def tried(name: str, detail: float | None, share: float, *, note: str = "", silent: bool = False) -> Tried:
    changes = () if note == "as it is" else (f"mask={{{name}: {{}}}}",)
    asked = not note.startswith("k ")
    columns = tuple(ColumnKept(at, 9, 1 if silent else 5, "*", 1.0 if silent else 0.2, detail) for at in QUASI)
    return Tried(
        contender=Contender(name, changes, "less privacy", note=note, asked=asked),
        recipe=recipe(),
        columns=columns,
        detail=detail,
        survived=Kept("f_measure.start", share, None),
        risk=0.1,
        certain=(Certain("ill", 0.4, 1.0),),
        seconds=1.0,
    )


def test_the_recipe_stays_unless_another_masker_keeps_clearly_more() -> None:
    now = tried("top_down", 0.5, 0.9, note="as it is")
    more, hardly_more = tried("partition", 0.7, 0.9), tried("mondrian", 0.52, 0.9)
    less_private = tried("partition", 0.99, 0.99, note="k 5")
    assert choose([now, hardly_more]) is now
    assert choose([now, hardly_more, more, less_private]) is more
    assert choose([less_private]) is None
    told = sentence([now, more, less_private])
    assert told.startswith("Take partition: under the same privacy it keeps 70% of the detail and 0.90 of the clusters")
    assert told.endswith("where top_down keeps 50% and 0.90.")
    assert "k 5 would keep 99% and 0.99" in (trade([now, less_private]) or "")
    assert sentence([now, hardly_more]).startswith("Keep mask: top_down, as it is")


@pytest.mark.parametrize(("rows", "taken"), [(300.0, "top_down"), (30_000.0, "partition"), (0.0, "partition")])
def test_an_accuracy_that_is_better_by_chance_changes_no_recipe(rows: float, taken: str) -> None:
    now, other = tried("top_down", 0.5, 0.8, note="as it is"), tried("partition", 0.52, 0.84)
    both = [replace(one, survived=Kept("masked_error", one.share or 0.0, None, rows)) for one in (now, other)]
    best = choose(both)
    assert best is not None
    assert best.contender.name == taken


def test_an_accuracy_stands_beside_that_of_the_commonest_class() -> None:
    kept = Kept.of({"masked_error": 0.22, "baseline_error": 0.2, "commonest_error": 0.23})
    told = sentence([replace(tried("top_down", 0.5, 0.8, note="as it is"), survived=kept)])
    assert told.endswith(
        "50% of the detail and an accuracy of 0.78 (naming the commonest class for everybody has 0.77)."
    )


def test_what_has_no_measure_of_detail_is_compared_by_the_structure_with_the_best_of_the_others() -> None:
    now, coarse = tried("partition", 0.9, 0.8, note="as it is"), tried("top_down", 0.1, 0.82)
    averaged, little_better = tried("microaggregate", None, 0.95), tried("microaggregate", None, 0.81)
    assert choose([now, coarse, averaged]) is averaged
    assert choose([now, coarse, little_better]) is now
    moved = tried("microaggregate", None, 0.85, note="as it is")
    assert choose([moved, tried("partition", 0.9, 0.86)]) is moved
    assert choose([moved, tried("partition", 0.9, 0.95)]) is not moved


def test_a_table_that_tells_nothing_is_not_advised_but_the_way_out_is() -> None:
    now, half = tried("partition", 0.0, 0.5, note="as it is", silent=True), tried("partition", 0.4, 0.8, note="k 5")
    told = sentence([now, half])
    assert told.startswith("Change what is asked before you publish")
    assert "k 5 (less privacy), which would keep 40%" in told


def test_what_groups_give_away_is_told() -> None:
    one = tried("partition", 0.7, 0.9)
    assert "ill of 40% (without masking: 100%)" in (warning(one) or "")
    assert warning(replace(one, certain=(Certain("ill", 0.01, 1.0),))) is None
    bound = sf.ConfidenceBound(QUASI, "ill", 0.3, value="flu")  # who is certain, is certain that it is not this
    assert warning(replace(one, recipe=replace(one.recipe, privacy=(*one.recipe.privacy, bound)))) is None


def test_of_generated_rows_relations_count_beside_the_structure() -> None:
    parts, pairs = (replace(tried(name, None, 0.78), relations=kept) for name, kept in (("parts", 0.1), ("pairs", 0.5)))
    parts = replace(parts, contender=replace(parts.contender, changes=()))
    assert choose([parts, pairs]) is pairs
    assert choose([parts, replace(pairs, relations=0.11)]) is parts


def test_what_the_mask_declares_holds_for_every_candidate_and_pairs_are_among_them() -> None:
    """Ages may be missing, as the recipe's mask says: no candidate under the budget may forget it."""
    public = people().select(list(QUASI))
    public = public.set_column(0, "age", pa.array([None, *public["age"].to_pylist()[1:]]))
    asked = replace(private(), mask=sf.PrivateTree(may_miss=("age",)), structure=sf.Clusters("kmeans", k=2, n_init=1))
    found = sf.advise("no such file", asked, public=public)
    assert found.skipped == ()
    assert [title.partition(",")[0] for title in names(found)[:3]] == ["private_tree", "pairs", "dp_heter"]
    pairs = next(one for one in found.tried if one.contender.name == "pairs")
    assert pairs.contender.changes == ("mask={private_tree: {pairs: 1, may_miss: [age]}}",)
    assert pairs.recipe.mask == sf.PrivateTree(pairs=1, may_miss=("age",))
