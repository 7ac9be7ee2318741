"""Whether a masked table is worth having: what columns tell, which values are certain, and the sentence about it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.data.encoding import encode
from sfumato.data.masked import Masked
from sfumato.data.schema import Category, Number, Schema
from sfumato.data.table import Table
from sfumato.evaluation.certainty import Certain, Told, one_value_bounded, told
from sfumato.evaluation.class_floor import better_left_out, left_out
from sfumato.evaluation.columns import ColumnKept, columns_kept
from sfumato.evaluation.scores import Scores
from sfumato.evaluation.tries import Tries, Try
from sfumato.evaluation.worth import Worth, given_away
from sfumato.privacy.requirements import ConfidenceBound

ROWS = 100


@pytest.fixture
def table() -> Table:
    columns = {
        "age": list(range(ROWS)),
        "town": ["abcd"[at % 4] for at in range(ROWS)],
        "home": ["here"] * 98 + ["there"] * 2,
        "ill": ["yes" if at < 10 else "no" for at in range(ROWS)],
    }
    schema = Schema(
        age=Number(role="quasi", range=(0, 100)),
        town=Category(role="quasi"),
        home=Category(role="quasi"),
        ill=Category(role="sensitive"),
    )
    return encode(pa.table(columns), schema)


def shown(**columns: list[str]) -> Masked:
    return Masked.of({name: pa.array(values) for name, values in columns.items()})


def test_a_column_tells_how_many_values_it_had_and_how_much_is_kept(table: Table) -> None:
    halves = shown(age=["[0-50)"] * 50 + ["[50-100]"] * 50, town=[*["{a, b}"] * 99, "d"])
    age, town = columns_kept(table, halves)
    assert (age.before, age.after, age.commonest, age.share) == (ROWS, 2, "[0-50)", 0.5)
    assert age.kept == pytest.approx(0.5)
    assert not age.silent
    assert (town.commonest, town.share) == ("{a, b}", 0.99)
    assert town.kept == pytest.approx(1 - 0.5 * 0.99)
    assert town.silent


def test_generated_columns_that_lost_their_distribution_are_named() -> None:
    """Amounts of which half are 0, drawn evenly from a wide bin; sexes drawn by their shares; groups of labels."""
    raw = {"debt": [0] * 50 + [1_000] * 50, "sex": ["f", "m"] * 50, "town": ["a", "b"] * 50}
    schema = Schema(debt=Number(role="quasi"), sex=Category(role="quasi"), town=Category(role="quasi"))
    columns: dict[str, Any] = {"debt": pa.array(range(0, 1_000, 10)), "sex": pa.array(["f"] * 52 + ["m"] * 48)}
    made = Masked.of({**columns, "town": pa.array(["{a, b}"] * 100)}, came="generated")
    debt, sex, town = columns_kept(encode(pa.table(raw), schema), made)
    assert debt.off == pytest.approx(0.5, abs=0.02)
    assert sex.off == pytest.approx(0.02)
    assert town.off is None
    assert [column.lost for column in (debt, sex, town)] == [True, False, False]
    assert ColumnKept.from_json(debt.to_json()) == debt
    assert 'tell something; "town" shows one value for everybody; "debt" lost its distribution (its shares are' in (
        Worth((debt, sex, town)).sentence("Verified")
    )


def test_a_column_is_silent_by_masking_not_by_nature(table: Table) -> None:
    as_it_was, hidden = shown(home=["here"] * 98 + ["there"] * 2), shown(home=["*"] * ROWS)
    assert [column.silent for masked in (as_it_was, hidden) for column in columns_kept(table, masked)] == [False, True]


def test_more_shown_values_than_raw_ones_do_not_make_a_column_tell(table: Table) -> None:
    many = [*["*"] * 95, "a", "b", "c", "d", "{a, b}"]
    local = shown(town=[*["*"] * 97, "b", "c", "d"])
    (town,) = columns_kept(table, local)
    assert town.silent
    (other,) = columns_kept(table, shown(town=many))
    assert not other.silent


def test_a_column_comes_back_from_json(table: Table) -> None:
    (column,) = columns_kept(table, shown(town=["*"] * ROWS))
    assert ColumnKept.from_json(column.to_json()) == column


def test_what_groups_give_away_stands_beside_the_raw_table(table: Table) -> None:
    groups = shown(age=["[0-10)"] * 10 + ["[10-20)"] * 10 + ["[20-100]"] * 80)
    (ill,) = told(table, groups, ["ill"], others={"blind": shown(age=["*"] * ROWS)})
    assert (ill.masked.certain, ill.masked.nearly) == (1.0, 1.0)
    mixed = shown(age=["[0-12)"] * 12 + ["[12-100]"] * 88)
    (less,) = told(table, mixed, ["ill", "ill"])
    assert (less.masked.certain, less.masked.nearly) == (0.88, 0.88)
    assert ill.beside["raw"].certain == 1.0
    assert (ill.beside["blind"].certain, ill.beside["blind"].nearly) == (0.0, 1.0)
    secret = replace(less, commonest=0.5)
    plain, away = replace(secret, secret=False).to_json(), secret.to_json()
    assert (plain["given_away"], away["given_away"], "no_secret" in away) == (False, True, False)
    said = Worth.of({"certain": [plain]}, centres=False).sentence("Verified")
    assert said.startswith("Verified. Note: ill, which is no secret by the recipe, is certain of 88% of the records")
    assert Worth.of({"certain": [away]}, centres=False).sentence("Verified").startswith("Verified, but ill")
    public = {score.name for score in ill.scores() if score.publishable}
    assert public == {"certain.ill", "nearly_certain.ill"}


def test_what_groups_give_away_of_sets_is_counted_by_item() -> None:
    """An item that all of a group have, or nearly all; groups without any give nothing away."""
    ill = [["a", "b"], ["a"], ["a", "c"]] * 10 + [["a"]] * 9 + [["b"]] + [[]] * 20 + [["a"], ["b"]] * 20
    schema = sf.Schema(age=sf.Number(role="quasi"), ill=sf.ItemSet(role="sensitive"))
    table = encode(pa.table({"age": list(range(ROWS)), "ill": ill}), schema)
    groups = shown(age=["[0-30)"] * 30 + ["[30-40)"] * 10 + ["[40-60)"] * 20 + ["[60-100]"] * 40)
    (sets,) = told(table, groups, ["ill"])
    assert (sets.masked.certain, sets.masked.nearly) == (0.3, 0.4)
    assert (sets.beside["raw"].certain, sets.commonest) == (0.8, 0.59)
    assert sets.given_away
    asked = str(given_away({"certain": [sets.to_json()]})[0])
    assert asked.startswith("an item of ill can be told")
    assert "kind items with c" in asked


def column(*, share: float, kept: float, before: int = 9) -> dict[str, Any]:
    return ColumnKept("c", before, 2, "*", share, kept).to_json()


def cluster(recall: float, precision: float) -> dict[str, Any]:
    return {"cluster": 2, "size": 40, "recall": recall, "precision": precision}


def test_the_verdict_is_one_sentence_for_somebody_without_time() -> None:
    good = {
        "columns": [column(share=0.5, kept=0.6), column(share=0.3, kept=0.8), column(share=1.0, kept=0.0)],
        "clusters": [cluster(0.9, 0.9), cluster(0.4, 0.9), cluster(0.9, 0.2)],
        "clusters_from_start": [cluster(0.9, 0.9)] * 3,
    }
    alone = Worth.of(good, centres=False)
    said = (
        "Verified, but most clusters are lost: 1 of 3 clusters are found again. 2 of 3 masked columns still tell "
        'something (70% of the detail of these 2); "c" shows one value for everybody.'
    )
    assert alone.sentence("Verified") == said
    two = {**good, "clusters": [cluster(0.9, 0.9), cluster(0.4, 0.9), cluster(0.9, 0.9)]}
    assert Worth.of(two, centres=False).sentence("Verified").endswith("everybody; 2 of 3 clusters are found again.")
    lost = [str(one) for one in alone.lost]
    assert lost[0] == "cluster 2 (40 records): 40% of them are still together"
    assert "of whom they are 20%" in lost[1]
    assert "3 of 3 clusters are found again from their centres" in Worth.of(good, centres=True).sentence("Verified")


def test_a_table_that_tells_nothing_is_said_to() -> None:
    poor = Worth.of({"columns": [column(share=1.0, kept=0.0)] * 7 + [column(share=0.5, kept=0.5)] * 4}, centres=False)
    assert poor.sentence("Verified") == (
        "Verified, but 7 of 11 masked columns show one value for everybody: this table is hardly worth handing over."
    )
    nearly = Worth.of({"columns": [column(share=0.98, kept=0.01)]}, centres=False)
    assert "1 of 1 masked columns show one value for nearly everybody" in nearly.sentence("Verified")
    vague = Worth.of({"columns": [column(share=0.5, kept=0.05)]}, centres=False)
    assert "keep next to nothing of their detail" in vague.sentence("Verified")


def test_a_try_is_better_with_fewer_silent_columns_or_clearly_more_detail() -> None:
    now = Try((), "", 9, 3, 0.5, "F-measure", 0.8)
    fewer, finer, hardly, worse = (
        Try(("privacy.0.k=5",), "p", 9, silent, kept, "F-measure", 0.8)
        for silent, kept in ((2, 0.4), (3, 0.53), (3, 0.51), (4, 0.9))
    )
    assert [one.shows_more_than(now) for one in (fewer, finer, hardly, worse)] == [True, True, False, False]
    tries = Tries(50, 100, 4, now, (fewer,))
    assert Tries.from_json(tries.to_json()) == tries
    assert "a sample of 50 of the 100 records" in tries.told
    assert "none of 4" in Tries(100, 100, 4, now, ()).told


def test_rows_for_which_nothing_is_shown_are_told() -> None:
    assert Worth((), clusters=2, nothing=0.21).sentence("Verified") == (
        "Verified. For 21% of the rows nothing is shown in any masked column. 2 of 2 clusters are found again."
    )
    assert Worth.of({"nothing_shown": 0.27}, centres=False).nothing == 0.27


def test_what_groups_give_away_of_most_records_stands_in_the_sentence() -> None:
    scores = {"certain": [{"attribute": "ill", "certain": 0.0, "nearly_certain": 0.84, "given_away": True}]}
    said = Worth.of(scores, centres=False).sentence("Verified")
    away = "ill can be told with 90 % certainty or more for 84% of the records: ask for a confidence_bound"
    assert said == f"Verified, but {away}."
    both = Worth.of({**scores, "columns": [column(share=1.0, kept=0.0)]}, centres=False).sentence("Verified")
    assert both.startswith(f"Verified, but {away}; and 1 of 1 masked columns show one value")
    fine = Worth.of({**scores, "columns": [column(share=0.5, kept=0.6)]}, centres=False).sentence("Verified")
    assert fine == f"Verified, but {away}. 1 of 1 masked columns still tell something (60% of their detail)."


@pytest.mark.parametrize(
    ("role", "ill", "away"),
    [
        ("sensitive", "yn" * 20 + "y" * 30 + "n" * 30, True),
        ("plain", "yn" * 20 + "y" * 30 + "n" * 30, False),  # no secret
        ("sensitive", "n" * 95 + "y" * 5, False),  # anybody guesses it, without any release
        ("sensitive", "yn" * 40 + "y" * 10 + "n" * 10, False),  # of few records
    ],
)
def test_a_secret_is_given_away_where_the_release_tells_it_of_many(role: Any, ill: str, away: bool) -> None:
    schema = Schema(age=Number(role="quasi"), ill=Category(role=role))
    table = encode(pa.table({"age": list(range(ROWS)), "ill": list(ill)}), schema)
    (found,) = told(table, shown(age=[f"[{row // 10}0-{row // 10 + 1}0)" for row in range(ROWS)]), ["ill"])
    assert found.given_away is away
    assert found.to_json()["given_away"] is away


def test_what_is_not_masked_stands_in_the_sentence_and_clusters_are_not_praised() -> None:
    scores = {"columns": [column(share=0.5, kept=0.6)], "clusters": [cluster(1.0, 1.0)] * 2}
    bare = Worth.of({**scores, "found_unmasked": ["place"], "alone_unmasked": 0.62}, centres=False)
    assert bare.sentence("Verified") == (
        "Verified, but 62% of the rows are alone with what goes out as it is; and the clusters are found from "
        '"place" alone, which goes out as it is: that they are found again says nothing of the masking. 1 of 1 masked '
        "columns still tell something (60% of their detail)."
    )
    many = Worth.of({**scores, "found_unmasked": list("abcd")}, centres=False)
    assert "the clusters are found from 4 columns alone, which go out as they are" in many.sentence("Verified")
    assert "2 of 2 clusters" not in many.sentence("Verified")


def test_a_bound_on_one_value_leaves_the_others_to_be_told(table: Table) -> None:
    groups = shown(age=["[0-30)"] * 30 + ["[30-100]"] * 70)
    bound = [ConfidenceBound(["age"], "ill", 0.5, value="yes")]
    with_it, without = (told(table, groups, ["ill"], requirements=asked)[0].to_json() for asked in (bound, ()))
    assert with_it.pop("one_value_bounded")
    assert not with_it["given_away"]
    assert {**with_it, "given_away": without["given_away"]} == without
    assert one_value_bounded([*bound, ConfidenceBound(["age"], "pay", 0.5)]) == {"ill"}


def test_classes_that_the_raw_table_does_not_tell_stand_in_the_sentence() -> None:
    figures = {"baseline_error": 0.142, "masked_error": 0.142, "commonest_error": 0.142}
    scores = {"scores": {name: {"value": value} for name, value in figures.items()}}
    said = Worth.of(scores, centres=False).sentence("Verified")
    assert "Mind: a tree makes as many errors in the raw table (0.142) as naming the commonest class" in said
    scores["scores"]["baseline_error"]["value"] = scores["scores"]["masked_error"]["value"] = 0.12
    assert Worth.of(scores, centres=False).sentence("Verified") == "Verified."


def test_classes_that_are_told_as_well_without_the_masked_columns_are_said_to_be() -> None:
    def sentence(masked: float, **more: float) -> str:
        errors = {"masked_error": masked, "baseline_error": 0.1, "removed_error": 0.179, "commonest_error": 0.3, **more}
        form = {"scores": {name: {"value": value} for name, value in errors.items()}}
        assert ("Mind: a tree" in repr(Scores(form))) == better_left_out(errors)
        told = left_out({**errors, "relations.kept": 0.1}) or ""
        assert ("pairs" in told, "identifier" in told) == (better_left_out(errors), False), "all columns are generated"
        return Worth.of(form, centres=False).sentence("Verified")

    more = "a tree makes more errors with the masked columns (0.200) than without the masked columns (0.179)"
    assert more in sentence(0.2)
    assert "raw they would help hardly more (0.176)" in sentence(0.2, baseline_error=0.176)
    assert "raw they do not help either (0.189)" in sentence(0.2, baseline_error=0.189)
    chance = (
        "cannot be told from those made without the masked columns (0.179); raw they would help hardly more (0.176)"
    )
    assert chance in sentence(0.185, baseline_error=0.176, tested_rows=1000)
    assert "as many errors with the masked columns (0.178)" in sentence(0.178)
    assert "leave them out" not in sentence(0.15)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ([], "ask for a confidence_bound"),
        ([sf.ConfidenceBound(["age"], "ill", 0.95)], "ask for a lower confidence_bound than 0.95"),
        ([sf.ConfidenceBound(["age"], "ill", 0.5)], "let the confidence_bound be on every masked column"),
        ([sf.ConfidenceBound(["age"], "other", 0.95)], "ask for a confidence_bound"),
    ],
)
def test_who_has_a_bound_is_asked_for_a_lower_one(asked: list[Any], said: str) -> None:
    found = Told("ill", Certain(0.5, 0.8), {}).bounded(asked).to_json()
    assert str(given_away({"certain": [found]})[0]).endswith(said)
