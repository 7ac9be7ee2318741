"""The comparison of neighbouring tables must be able to fail: leaks are planted, and each of them is found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import pytest

import sfumato as sf
from sfumato.maskers.histogram import dpheter, fit
from sfumato.maskers.histogram.records import Records, records_of
from sfumato.maskers.histogram.specialization import Value
from sfumato.maskers.masker import Labels
from sfumato.privacy.budget import Event
from sfumato.privacy.verify import Verdict
from sfumato.publishing import handover, orders, steps
from sfumato.publishing.case import Case
from sfumato.structure.structures import find
from tests.interference.comparing import Setting, differences, publish
from tests.interference.script import Scripted
from tests.interference.settings import CLASSES
from tests.interference.tables import BASES, HURT, MAY_MISS, SCHEMA, Row

PEOPLE = BASES["some people"]
ADDED: Sequence[Row] = [*PEOPLE, HURT["a set of 90 labels"]]
FEWER: Sequence[Row] = PEOPLE[:-1]


def setting(mask: sf.PrivateTree | sf.DPHeter, structure: sf.Clusters | sf.Classes = CLASSES) -> Setting:
    return Setting(sf.Recipe(schema=SCHEMA, structure=structure, mask=mask, budget=sf.Budget(1)), report=False)


HETER = setting(sf.DPHeter(may_miss=MAY_MISS, steps=8))
TREE = setting(sf.PrivateTree(may_miss=MAY_MISS, bins=2))


def found(own: Setting, rows: Sequence[Row], door: type[Scripted] = Scripted) -> list[str]:
    """In what the release of other rows differs from that of `PEOPLE`."""
    return differences(publish(own, PEOPLE, door=door), publish(own, rows, door=door))


@pytest.fixture
def gate_open(monkeypatch: pytest.MonkeyPatch) -> None:
    """verify looks away, so that the comparison alone must find a leak."""
    monkeypatch.setattr(handover, "verify", lambda *_, **__: Verdict(True, ()))


@dataclass(frozen=True)
class Drawn(Event):
    """An event that tells how many numbers were drawn: as many as there are filled cells."""

    draws: int = 0

    def to_json(self) -> dict[str, Any]:
        return super().to_json() | {"draws": self.draws}


class Counting(Scripted):
    """A planted leak: the event of a sparse histogram counts the cells that have records."""

    def sparse_counts(
        self, purpose: str, filled: Sequence[Mapping[int, int]], *, cells: int, least: int, epsilon: Fraction
    ) -> list[dict[int, int]]:
        answers = super().sparse_counts(purpose, filled, cells=cells, least=least, epsilon=epsilon)
        last = self.spending.events[-1]
        drawn = Drawn(last.mechanism, last.purpose, last.epsilon, last.composition, last.parts, sum(map(len, filled)))
        self.spending._events[-1] = drawn
        return answers


def asks_for(purpose: str) -> Setting:
    """Answers that lead to a question of this purpose."""
    tried = (replace(HETER, seed=seed) for seed in range(40))
    return next(own for own in tried if any(purpose in face for face in publish(own, PEOPLE).asked))


@pytest.mark.usefixtures("gate_open")
def test_numbers_drawn_for_filled_cells_are_found() -> None:
    asking = asks_for('combinations of "codes"')
    assert found(asking, ADDED) == []
    assert "certificate.json differs" in found(asking, ADDED, Counting)


def test_verify_refuses_numbers_drawn_as_well() -> None:
    refused = publish(asks_for('combinations of "codes"'), PEOPLE, door=Counting).refused
    assert "certificate: 'differential_privacy' holds 'draws'" in refused


@pytest.mark.parametrize("own", [TREE, HETER], ids=["private_tree", "dp_heter"])
def test_a_raw_count_in_the_report_is_found(own: Setting, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = replace(own, report=True)
    assert found(drawn, FEWER) == []

    def telling(case: Case) -> Case:
        drawn = handover.draw_public(case)
        told = f"<p>{case.people.rows}</p></body>"
        return replace(drawn, pages={name: page.replace("</body>", told) for name, page in drawn.pages.items()})

    planted = [replace(one, do=telling) if one.do is handover.draw_public else one for one in orders.PUBLISH]
    monkeypatch.setattr(orders, "PUBLISH", planted)
    assert "report.html differs" in found(drawn, FEWER)


def test_a_depth_without_noise_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    own = replace(TREE, recipe=replace(TREE.recipe, budget=sf.Budget("25/2")))  # 24 records: two splits; 23: one
    assert found(own, FEWER) == []
    rows: list[int] = []
    rounds = fit._rounds

    def remembering(*given: Any) -> Records:
        rows.append(len(given[0].columns["age"].codes))
        return records_of(*given)

    monkeypatch.setattr(fit, "records_of", remembering)
    monkeypatch.setattr(
        fit, "_rounds", lambda domains, names, epsilon, count, wanted: rounds(domains, names, epsilon, rows[-1], wanted)
    )
    assert {"private_tree.json differs", "certificate.json differs"} <= set(found(own, FEWER))


def test_a_value_that_too_few_records_hold_is_no_reason_to_stop(monkeypatch: pytest.MonkeyPatch) -> None:
    assert found(HETER, FEWER) == []
    refinable = dpheter._Specializer._refinable

    def pruned(self: dpheter._Specializer, value: Value) -> bool:
        return refinable(self, value) and int(self.state.holders(value).sum()) >= len(PEOPLE)

    monkeypatch.setattr(dpheter._Specializer, "_refinable", pruned)
    assert "dp_heter.json differs" in found(HETER, FEWER)


def test_noise_by_the_labels_that_occur_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    alone = [*PEOPLE, HURT["a class of its own"]]
    assert found(HETER, alone) == []
    monkeypatch.setattr(steps, "Labels", lambda classes, n, most, **more: Labels(classes, n, n, **more))
    assert any(told.startswith("question") for told in found(HETER, alone))


def test_a_refusal_that_follows_from_the_records_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    own = setting(sf.PrivateTree(may_miss=MAY_MISS, bins=2), structure=sf.Clusters("kmeans", k=12, n_init=1))
    assert found(own, FEWER) == []
    monkeypatch.setattr(steps, "find_any", find)
    assert any(told.startswith("refused") for told in found(own, FEWER))
