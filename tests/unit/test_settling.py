"""A search that is asked to settle: what it has found by then is released, holds, and is told to be less than all."""

from __future__ import annotations

import json
import warnings
from typing import Any

import pytest

import sfumato as sf
from sfumato.events import Event, Share, Stop, enough, running, settling, within_time
from sfumato.maskers.masker import Masker
from sfumato.maskers.registry import MASKERS, masker_named
from sfumato.release.release import Release

TABLE = sf.datasets.load("adult").table.select(["age", "education", "sex", "hours_per_week", "income"]).slice(0, 1200)
QUASI = ("age", "education", "sex", "hours_per_week")


class Patience(Stop):
    """Owns how often a search may still ask before it is told that it is enough."""

    def __init__(self, times: int) -> None:
        super().__init__()
        self.left = times

    @property
    def settled(self) -> bool:
        self.left -= 1
        return self.left < 0


def recipe(mask: Masker, *privacy: Any) -> sf.Recipe:
    kinds = {"age": sf.Number, "hours_per_week": sf.Number}
    schema = {name: kinds.get(name, sf.Category)(role="quasi") for name in QUASI}
    asked = privacy or (sf.KAnonymity(QUASI, 10),)
    return sf.Recipe(schema=sf.Schema(**schema, income=sf.Category(role="sensitive")), privacy=asked, mask=mask)


def published(made: sf.Recipe, stop: Stop | None = None) -> Release:
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        release = sf.publish(TABLE, made, run=sf.Run(trial=True, report=False, stop=stop))
    early = any("masking was ended early" in str(one.message) for one in told)
    assert early == ("settled" in release.history)
    return release


def groups(release: Release) -> int:
    return len(set(zip(*(release.shown.column(name).to_pylist() for name in QUASI), strict=True)))


DIVERSE = (sf.KAnonymity(QUASI, 10), sf.LDiversity(QUASI, "income", 2))


@pytest.mark.parametrize(
    ("mask", "privacy", "times"), [(sf.TopDown(), (), 5), (sf.Partition(), DIVERSE, 5), (sf.TopDown(), DIVERSE, 0)]
)
def test_what_was_found_by_then_holds_and_is_coarser(mask: Masker, privacy: Any, times: int) -> None:
    made = recipe(mask, *privacy)
    early, whole = published(made, Patience(times)), published(made)
    assert early.verdict.holds
    assert 1 <= groups(early) < groups(whole)
    assert "settled" not in whole.history


def test_so_many_steps_give_the_same_again() -> None:
    early = published(recipe(sf.TopDown()), Patience(4))
    assert early.history["settled"] == "after 4 refinements; max_steps: 4 gives the same again"
    assert early.history["stopped"] == "settled"
    again = published(recipe(sf.TopDown(max_steps=4)))
    assert json.dumps(early.mask.files()) == json.dumps(again.mask.files())


def test_parts_are_about_equally_fine_when_it_ends() -> None:
    early = published(recipe(sf.Partition(), *DIVERSE), Patience(15))
    shown = zip(*(early.shown.column(name).to_pylist() for name in QUASI), strict=True)
    sizes: dict[Any, int] = {}
    for one in shown:
        sizes[one] = sizes.get(one, 0) + 1
    assert max(sizes.values()) < TABLE.num_rows / 3


def test_compiled_trees_that_have_not_begun_stay_uncut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sfumato.maskers.partition.cutting.CHUNK", 100)
    monkeypatch.setattr("os.cpu_count", lambda: 1)
    stop = Stop()

    def listen(event: Event) -> None:
        if isinstance(event, Share) and event.step == "Masking" and event.done > 0.1:
            stop.settle()

    whole = published(recipe(sf.Partition()))
    monkeypatch.setattr("sfumato.events.EVERY", 0.0)
    with running(listen, stop), pytest.warns(UserWarning, match="ended early"):
        early = sf.publish(TABLE, recipe(sf.Partition()), run=sf.Run(trial=True, report=False))
    assert early.verdict.holds
    assert groups(early) < groups(whole)


def test_only_the_search_that_is_meant_settles() -> None:
    stop = Stop()
    stop.settle()
    whole, early = published(recipe(sf.TopDown())), published(recipe(sf.TopDown()), stop)
    assert groups(early) == groups(whole)  # it was asked before masking began
    with running(None, stop):
        stop.settle()
        assert not enough()
        with settling():
            assert not enough()
            stop.settle()
            assert enough()
            with within_time(60):
                assert enough()
        assert not enough()
    assert not enough()


def test_maskers_that_search_step_by_step_say_so() -> None:
    assert {name for name in MASKERS if masker_named(name).settles} == {"top_down", "partition"}
