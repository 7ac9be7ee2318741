"""Relations between columns of generated tables: measured for the holder, told in words, and in no released file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.data.encoding import encode
from sfumato.data.masked import Masked
from sfumato.data.schema import Category, Number, Schema
from sfumato.evaluation.relations import LABELS, Relation, Relations, association
from sfumato.evaluation.worth import Worth
from sfumato.privacy.verify.texts.wording import IN_PAIRS, IN_PARTS

ROWS = 3_000
SCHEMA = Schema(
    ill=Category(role="quasi", values=("back", "heart", "none", "skin")),
    cost=Number(role="quasi", range=(0, 9_999), outside="clip"),
    age=Number(role="quasi", range=(18, 97), outside="clip"),
    job=Category(role="quasi", values=("office", "road", "school")),
    pay=Number(role="quasi", range=(0, 4_999), outside="clip"),
    sex=Category(role="quasi", values=("f", "m")),
)


def people(seed: int = 0) -> pa.Table:
    """Costs go by the illness, pay by the job; nothing else hangs together."""
    random = np.random.default_rng(seed)
    ill, job = random.integers(0, 4, ROWS), random.integers(0, 3, ROWS)
    return pa.table(
        {
            "ill": np.array(["back", "heart", "none", "skin"])[ill],
            "cost": (np.array([800, 6_000, 100, 2_500])[ill] * random.uniform(0.7, 1.3, ROWS)).astype(int),
            "age": random.integers(18, 98, ROWS),
            "job": np.array(["office", "road", "school"])[job],
            "pay": (np.array([3_800, 1_200, 2_400])[job] * random.uniform(0.8, 1.2, ROWS)).astype(int),
            "sex": np.array(["f", "m"])[random.integers(0, 2, ROWS)],
        }
    )


def beside(shown: pa.Table) -> Relations | None:
    made = Masked.of({name: shown.column(name).combine_chunks() for name in shown.column_names}, came="generated")
    return Relations.of(encode(people(), SCHEMA), made)


def shuffled(table: pa.Table, *names: str) -> pa.Table:
    """The same columns, some of them each in an order of its own."""
    random = np.random.default_rng(1)
    for name in names:
        table = table.set_column(table.column_names.index(name), name, table[name].take(random.permutation(ROWS)))
    return table


def test_relations_that_are_there_and_no_others_are_found_and_kept() -> None:
    kept = beside(people(seed=3))
    assert kept == Relations(clear=2, gone=0)
    assert str(kept) == "all 2 clear relations between columns are kept"
    assert not Worth((), relations=kept).but


def test_columns_that_are_drawn_by_themselves_lose_their_relations() -> None:
    """Each column is exactly as it was."""
    one, both = beside(shuffled(people(), "pay")), beside(shuffled(people(), "pay", "cost"))
    assert one is not None
    assert both is not None
    assert (one.clear, one.gone, one.mostly_lost) == (2, 1, False)
    assert (both.clear, both.gone, both.mostly_lost) == (2, 2, True)
    assert [one.columns for one in both.lost] in ([("ill", "cost"), ("job", "pay")], [("job", "pay"), ("ill", "cost")])
    assert all(one.raw > 0.5 and one.generated < 0.1 for one in both.lost)
    assert Relations.from_json(json.loads(json.dumps(both.to_json()))) == both


def test_what_cannot_be_compared_is_left_out() -> None:
    """Intervals in place of numbers, groups of labels; and a table in which nothing hangs together."""
    hidden: dict[str, Any] = {"cost": pa.array(["[0-9999]"] * ROWS), "job": pa.array(["{office, road}"] * ROWS)}
    shown = people()
    for name, column in hidden.items():
        shown = shown.set_column(shown.column_names.index(name), name, column)
    assert beside(shown) is None


def test_chance_makes_no_relation_of_many_labels_in_few_rows() -> None:
    random = np.random.default_rng(5)
    counts = np.zeros((LABELS, LABELS))
    np.add.at(counts, tuple(random.integers(0, LABELS, (2, 150))), 1.0)
    assert association(counts) == 0.0
    assert association(np.diag(np.full(LABELS, 20.0))) == pytest.approx(1.0)


LOST = Relations(5, 4, (Relation(("ill", "cost"), 0.8, 0.1), Relation(("job", "pay"), 0.6, 0.0)), "mask: pairs")


def test_the_verdict_says_that_most_relations_are_lost_and_what_keeps_more() -> None:
    said = Worth.of({"relations": LOST.to_json()}, centres=False).sentence("VERIFIED")
    assert said.startswith(
        'VERIFIED, but 4 of 5 clear relations between columns are lost ("ill" with "cost", 0.80 -> 0.10, "job" with '
        '"pay", 0.60 -> 0.00, and 2 more): comparisons of one column by another come out too flat; mask: pairs usually'
    )
    assert "spends epsilon again" in said
    fewer = Relations(5, 1, LOST.lost[:1])
    assert Worth((), relations=fewer).sentence("Verified").startswith("Verified. 1 of 5 clear relations between")


@pytest.mark.parametrize(("pairs", "told"), [(0, IN_PARTS), (5, IN_PAIRS)])
def test_a_release_says_what_was_counted_and_its_holder_what_was_lost(pairs: int, told: str, tmp_path: Path) -> None:
    """Recipients are told what follows from the settings; what follows from the records stays in the house."""
    recipe = sf.Recipe(
        schema=SCHEMA, mask=sf.PrivateTree(pairs=pairs, splits=None if pairs else 1), budget=sf.Budget(2)
    )
    release = sf.publish(people(), recipe, run=sf.Run(chance=sf.Seeded(1)))
    place = release.write(tmp_path / "out")
    assert sf.verify(place).holds
    assert told in (place / "README.md").read_text(encoding="utf-8")
    for page in ("certificate.json", "certificate.md", "certificate.html", "report.html"):
        assert told[:60] in (place / page).read_text(encoding="utf-8"), page
    for path in place.rglob("*"):
        assert path.is_dir() or b"clear relation" not in path.read_bytes(), path
    relations, holder = release.worth.relations, place.with_name(place.name + ".holder")
    assert relations is not None
    assert (relations.clear, relations.mostly_lost) == (2, not pairs)
    remedy = "mask: {private_tree: {pairs: 5}}"
    assert (remedy in release.worth.sentence("V")) is (not pairs)
    assert json.loads((holder / "evaluation.json").read_text(encoding="utf-8"))["relations"] == relations.to_json()
    card = release.scores._repr_html_()  # type: ignore[attr-defined]
    for shown in (repr(release.worth), repr(release.scores), card):
        assert "clear relation" in " ".join(shown.split())
        assert "% off" in shown
    for page in ("report.html", "report_short.html"):
        text = (holder / page).read_text(encoding="utf-8")
        assert "between columns are" in text
        assert "% off" in text
        assert "on the bar how much of its detail" not in text
