"""Explain: it names what blocked each attribute, and the k it names does show the finer value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.cli.demo import SEVERAL, demo_recipe
from sfumato.data.encoding import encode
from sfumato.engines import LocalEngine
from sfumato.maskers.masker import Labels, Task, only_k_anonymity
from sfumato.maskers.topdown.explanation import Story, explain, stories
from sfumato.maskers.topdown.fit import fit_task
from sfumato.maskers.topdown.masker import TopDown, _falling, _touching, allowed_to_json, allowing
from sfumato.privacy.requirements import largest_k
from sfumato.structure.structures import find
from tests.sampling import some

NEEDS = (sf.KAnonymity(["age", "kind"], 12), sf.KAnonymity(["town", "kind"], 9), sf.KAnonymity(["hours"], 7))


def task(seed: int, rows: int = 300) -> Task:
    chance = np.random.default_rng(seed)
    table = pa.table(
        {
            "age": chance.integers(20, 60, rows).tolist(),
            "kind": chance.choice(list("abcde"), rows, p=[0.4, 0.3, 0.2, 0.07, 0.03]).tolist(),
            "town": [f"t{int(at) % 9}" for at in chance.zipf(1.5, rows)],
            "hours": chance.integers(0, 30, rows).tolist(),
        }
    )
    tree = sf.Taxonomy.from_tree({"ANY": {"Low": ["a", "b"], "High": {"c": [], "Top": ["d", "e"]}}})
    schema = sf.Schema(
        age=sf.Number(role="quasi", range=(20, 60)),
        kind=sf.Category(role="quasi", taxonomy=tree),
        town=sf.Category(role="quasi"),
        hours=sf.Number(role="quasi"),
    )
    classes = (np.array(table["age"].to_pylist()) > 40).astype(np.uint8) + chance.integers(0, 2, rows).astype(np.uint8)
    return Task(encode(table, schema), Labels(classes, 3), NEEDS, LocalEngine())


def told(work: Task, settings: TopDown) -> Mapping[str, Any]:
    history = settings.mask(work).history
    return {**history, "allowed": allowed_to_json(allowing(work, settings, history))}


def shows(work: Task, settings: TopDown, story: Story) -> bool:
    """Whether a run with the k that the story names carries out what it calls the next refinement.

    Intervals end as with the first k: which numbers many records share would change where.
    """
    assert story.allowed is not None
    lower = {change.on: change.k for change in story.allowed.changes}
    asked = only_k_anonymity("this test", work.requirements)
    needs = tuple(sf.KAnonymity(r.on, lower.get(r.on, r.k)) for r in asked)
    fitted = fit_task(replace(work, requirements=needs), settings, many=largest_k(work.requirements))
    blocked = story.obstacles[0].blocked
    if blocked.value == "*":
        return blocked.children[0] in fitted.masked(work.table)[blocked.attribute].to_pylist()
    return any(r.attribute == blocked.attribute and r.value == blocked.value for r in fitted.history.rounds)


@pytest.mark.parametrize("seed", some(range(2), 2))
@pytest.mark.parametrize("settings", [TopDown(), TopDown(score="infogain", split="best_valid"), TopDown(suppress=0.1)])
def test_the_k_that_is_named_shows_the_finer_value(seed: int, settings: TopDown) -> None:
    work = task(seed)
    found = stories(told(work, settings))
    tried = [story for story in found if story.obstacles]
    assert {story.attribute for story in found} == {"age", "kind", "town", "hours"}
    assert len(tried) >= 3
    for story in tried:
        first = story.obstacles[0]
        assert first.blocked.size is not None
        assert first.k is not None
        assert first.blocked.size < first.k
        assert story.attribute in first.on
        assert story.allowed is not None
        if story.allowed.changes:
            assert shows(work, settings, story)
        else:
            assert story.remedy == "No lower k was found that shows it."
    assert any(story.allowed.changes for story in tried if story.allowed is not None)


def test_requirements_that_share_nothing_do_not_change_the_search() -> None:
    work = task(0)
    part = _touching(work, ("hours",))
    assert [r.on for r in part.requirements] == [("hours",)]
    whole, alone = (fit_task(one, TopDown()).recoding.attributes["hours"] for one in (work, part))
    assert whole == alone
    assert len(_touching(work, ("age", "kind")).requirements) == 2


def test_the_text_names_the_quasi_identifier_the_group_and_the_k() -> None:
    form = told(task(1), TopDown())
    story = next(one for one in stories(form) if one.attribute == "age" and one.obstacles)
    text = explain(form, "age")
    assert "a group on {age, kind} would then have" in text
    assert f"{story.obstacles[0].blocked.size} record" in text
    assert "It is shown with k = " in text
    with pytest.raises(sf.ReleaseError, match="did you mean 'age'"):
        explain(form, "agee")


def test_what_was_not_tried_is_not_promised() -> None:
    history = TopDown().mask(task(1)).history
    text = explain(history, "age")
    assert "It is shown with k" not in text
    assert "has to be tried" in text


def test_time_that_is_over_tries_nothing() -> None:
    work = task(1)
    assert allowing(work, TopDown(), TopDown().mask(work).history, seconds=0) == []


def test_a_search_that_ended_early_says_so() -> None:
    settings = TopDown(max_steps=1)
    form = told(task(2), settings)
    assert form["allowed"] == []
    assert "the number of steps that the recipe allows" in explain(form)
    assert "No requirement stands in the way" not in explain(form)


@pytest.mark.parametrize(("size", "k"), [(1, []), (2, [2]), (5, [5, 4, 3, 2])])
def test_k_falls_to_two(size: int, k: list[int]) -> None:
    assert _falling(size) == k
    assert len(_falling(5000)) <= 24
    assert _falling(5000)[-1] == 2


@pytest.mark.slow
def test_the_three_quasi_identifiers_of_the_demo() -> None:
    asked = demo_recipe(SEVERAL, k=50, clusters=6, mask=sf.TopDown(score="tradeoff"))
    table = encode(sf.datasets.load("adult", complete=True).table, asked.schema)
    found = find(sf.Clusters("kmeans", k=6, n_init=1), table)
    work = Task(table, Labels(found.labels, found.n), asked.privacy, LocalEngine())
    settings = asked.mask
    assert isinstance(settings, TopDown)
    form = told(work, settings)
    blocked = [story for story in stories(form) if story.obstacles]
    open_ones = [story for story in stories(form) if not story.obstacles]
    assert len(blocked) + len(open_ones) == 9
    assert len(blocked) >= 6
    for story in blocked:
        assert "a group on {" in story.next
        assert story.remedy is not None
        if story.allowed is not None and story.allowed.changes:
            assert shows(work, settings, story), story.attribute
        else:
            assert "No lower k" in story.remedy
