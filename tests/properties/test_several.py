"""Several releases against an attacker who goes through every world, person by person."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.engines import ReferenceEngine
from sfumato.privacy.several import View, anonymity
from sfumato.release import earlier as beside
from sfumato.release.earlier import views
from sfumato.release.reading import read_recoding
from tests.sampling import some

POINTS = 3
ATTRIBUTES = ("a", "b")
Person = tuple[int, ...]
"""A point on each attribute, a sensitive value, the release it came with."""
Recoding = tuple[tuple[int, ...], ...]
"""Of each attribute the label of each point."""


@dataclass(frozen=True)
class Case:
    """A table that grows, and how each release shows it."""

    people: tuple[Person, ...]
    recodings: tuple[Recoding, ...]

    def views(self) -> list[View]:
        """The releases as the library takes them."""
        return [self._view(at, recoding) for at, recoding in enumerate(self.recodings)]

    def _view(self, at: int, recoding: Recoding) -> View:
        here = [person for person in self.people if person[-1] <= at]
        shown = {
            name: np.array([recoding[n][person[n]] for person in here], dtype=np.int64)
            for n, name in enumerate(ATTRIBUTES)
        }
        covers = {
            name: np.array([[recoding[n][point] == label for point in range(POINTS)] for label in range(POINTS)])
            for n, name in enumerate(ATTRIBUTES)
        }
        return View(shown, covers, np.array([person[-2] for person in here], dtype=np.int64))


@st.composite
def cases(draw: st.DrawFn, releases: int) -> Case:
    label = st.integers(0, POINTS - 1)
    recoding = st.tuples(*(st.tuples(*(label for _ in range(POINTS))) for _ in ATTRIBUTES))
    shape = st.tuples(label, label, st.integers(0, 1), st.integers(0, releases - 1))
    people = draw(st.lists(shape, min_size=2, max_size=8 if releases == 2 else 6))
    first = (*people[0][:-1], 0)
    return Case((first, *people[1:]), tuple(draw(recoding) for _ in range(releases)))


Record = tuple[int, ...]
"""What one record of a release shows on each attribute."""


def worlds(releases: Sequence[Sequence[Record]], recodings: Sequence[Recoding]) -> Iterator[list[tuple[int, ...]]]:
    """Every way to say which records are whose: people as the index of their record in each release, -1 before."""

    def fits(chain: Sequence[int], at: int, record: Record) -> bool:
        seen = [(recodings[r], releases[r][i]) for r, i in enumerate(chain) if i >= 0]
        seen.append((recodings[at], record))
        return all(
            any(all(rec[n][point] == shown[n] for rec, shown in seen) for point in range(len(recodings[0][n])))
            for n in range(len(record))
        )

    def place(
        at: int, chains: list[tuple[int, ...]], done: list[tuple[int, ...]], free: frozenset[int]
    ) -> Iterator[list[tuple[int, ...]]]:
        if chains:
            for record in free:
                if fits(chains[0], at, releases[at][record]):
                    yield from place(at, chains[1:], [*done, (*chains[0], record)], free - {record})
            return
        everyone = [*done, *((*(-1,) * at, record) for record in free)]
        if at + 1 == len(releases):
            yield everyone
        else:
            yield from place(at + 1, everyone, [], frozenset(range(len(releases[at + 1]))))

    yield from place(0, [], [], frozenset(range(len(releases[0]))))


@dataclass(frozen=True)
class Attacked:
    """What the attacker is left with: people at once, and records that could be the target's in the worst release."""

    at_once: int
    possible: int


def attack(case: Case, on: Sequence[int]) -> Attacked:
    """Go through all worlds, for every target that there could be."""
    most: Counter[tuple[object, ...]] = Counter()
    could: dict[tuple[object, ...], list[set[tuple[int, int]]]] = {}
    for value in {person[-2] for person in case.people}:
        releases = [
            [
                tuple(of[point] for of, point in zip(rec, p[:-2], strict=True))
                for p in case.people
                if p[-1] <= at and p[-2] == value
            ]
            for at, rec in enumerate(case.recodings)
        ]
        best: Counter[tuple[object, ...]] = Counter()
        for world in worlds(releases, case.recodings):
            classes: Counter[tuple[object, ...]] = Counter()
            for chain in world:
                key = tuple(None if i < 0 else tuple(releases[r][i][n] for n in on) for r, i in enumerate(chain))
                classes[key] += 1
                records = could.setdefault(key, [set() for _ in releases])
                for r, i in enumerate(chain):
                    records[r].add((value, i))
            best |= classes
        most += best
    possible = [len(records[r]) for key, records in could.items() for r, group in enumerate(key) if group is not None]
    return Attacked(min(most.values()), min(possible))


@settings(max_examples=50, deadline=None)
@given(cases(2))
def test_two_releases_leave_what_the_attacker_of_all_worlds_finds(case: Case) -> None:
    found = anonymity(case.views(), ATTRIBUTES)
    left = attack(case, (0, 1))
    assert found == left.at_once <= left.possible


@settings(max_examples=20, deadline=None)
@given(cases(3))
def test_three_releases_leave_what_the_attacker_of_all_worlds_finds(case: Case) -> None:
    found = anonymity(case.views(), ATTRIBUTES)
    left = attack(case, (0, 1))
    assert found == left.at_once <= left.possible


@settings(max_examples=20, deadline=None)
@given(cases(2))
def test_who_knows_one_attribute_still_compares_records_by_all(case: Case) -> None:
    assert anonymity(case.views(), ["a"]) == attack(case, (0,)).at_once


@settings(max_examples=30, deadline=None)
@given(cases(2), st.integers(0, POINTS - 1), st.integers(0, 1))
def test_refining_the_new_release_never_helps(case: Case, label: int, attribute: int) -> None:
    """So it can be refined step by step until the first step that breaks the promise."""
    fine = case.recodings[1]
    coarse = tuple(tuple(0 if n == attribute and at == label else at for at in of) for n, of in enumerate(fine))
    before = Case(case.people, (case.recodings[0], coarse))
    assert anonymity(case.views(), ATTRIBUTES) <= anonymity(before.views(), ATTRIBUTES)


@settings(max_examples=30, deadline=None)
@given(cases(2), st.integers(1, 6))
def test_enough_is_told_without_computing_more(case: Case, enough: int) -> None:
    exact, told = anonymity(case.views(), ATTRIBUTES), anonymity(case.views(), ATTRIBUTES, enough=enough)
    assert told == enough if exact >= enough else exact <= told < enough


LABELS = "pqrs"
SCHEMA = sf.Schema(
    a=sf.Category(role="quasi"), b=sf.Number(role="quasi"), disease=sf.Category(role="sensitive", unique_ok=True)
)


def published(people: Sequence[Person], at: int, earlier: Sequence[Path], folder: Path) -> Path:
    """One release of the people who are there, beside the earlier ones."""
    here = [person for person in people if person[-1] <= at]
    columns = {"a": [LABELS[p[0]] for p in here], "b": [p[1] for p in here], "disease": [str(p[2]) for p in here]}
    known = sf.Earlier(releases=tuple(map(str, earlier)), people="growing") if earlier else None
    recipe = sf.Recipe(
        schema=SCHEMA,
        structure=sf.Classes("disease"),
        privacy=[sf.KAnonymity(ATTRIBUTES, 2)],
        mask=sf.TopDown(),
        earlier=known,
    )
    run = sf.Run(engine=ReferenceEngine(), report=False, ledger=sf.Ledger(folder / "ledger"))
    return sf.publish(pa.table(columns), recipe, run=run).write(folder / str(at))


def labelled(folder: Path) -> Recoding:
    """What each point of the domain shows, in numbers."""
    rules = read_recoding(folder).rules
    points: list[pa.Array[Any]] = [pa.array(list(LABELS)), pa.array(range(POINTS))]
    return tuple(
        tuple(rules[name].places(of)[:-1].tolist())
        for name, of in zip(ATTRIBUTES, points, strict=True)
        if name in rules
    )


@pytest.mark.parametrize("seed", some(range(12), 4))
def test_what_is_published_is_never_under_k_for_the_attacker_of_all_worlds(seed: int, tmp_path: Path) -> None:
    """Who knows all that can be known of the domain, too: which labels there are behind a `*`."""
    drawn = np.random.default_rng(seed)
    came = [0] * 5 + [1] * 3 + [2] * 2
    points = np.column_stack([drawn.integers(0, len(LABELS), len(came)), drawn.integers(0, POINTS, len(came))])
    points[: len(LABELS), 0] = np.arange(len(LABELS))  # everybody's values are there from the start
    points[:POINTS, 1] = np.arange(POINTS)
    people = [(int(a), int(b), n % 2, t) for n, ((a, b), t) in enumerate(zip(points, came, strict=True))]
    out: list[Path] = []
    with suppress(sf.Infeasible):  # such as one newcomer with a value, whom all releases together give away
        for at in range(3):
            out.append(published(people, at, out, tmp_path))
    case = Case(tuple(p for p in people if p[-1] < len(out)), tuple(labelled(folder) for folder in out))
    left = attack(case, (0, 1))
    assert 2 <= left.at_once <= left.possible


def behind_a_star(seed: int, folder: Path) -> Attacked:
    """Two releases of one attribute: three people share what the first shows; the second may show two labels of four,
    which need not be the same."""
    drawn = np.random.default_rng(seed)
    labels = drawn.integers(0, len(LABELS), 14)
    labels[: len(LABELS)] = np.arange(len(LABELS))
    people = [(int(a), n % 2, int(n >= 10)) for n, a in enumerate(labels)]
    table = pa.table({"a": [LABELS[p[0]] for p in people], "disease": [str(p[1]) for p in people]})
    schema = sf.Schema(a=SCHEMA["a"], disease=SCHEMA["disease"])
    run = sf.Run(engine=ReferenceEngine(), report=False, ledger=sf.Ledger(folder / "ledger"))
    then = sf.Recipe(
        schema=schema, structure=sf.Classes("disease"), privacy=[sf.KAnonymity(["a"], 3)], mask=sf.TopDown()
    )
    first = sf.publish(table.slice(0, 10), then, run=run).write(folder / "first")
    now = replace(
        then,
        privacy=[sf.KAnonymity(["a"], 2)],
        mask=sf.TopDown(score="infogain", max_steps=2),
        earlier=sf.Earlier(releases=(str(first),), people="growing"),
    )
    second = sf.publish(table, now, run=run).write(folder / "second")
    return attack(Case(tuple(people), (labelled(first), labelled(second))), (0,))


STARS = (302,)
"""Where the search would go too far if it forgot who knows the labels."""


@pytest.mark.parametrize("seed", [*STARS, *range(4)])
def test_nor_for_who_knows_the_labels_behind_a_star(seed: int, tmp_path: Path) -> None:
    with suppress(sf.Infeasible):
        left = behind_a_star(seed, tmp_path)
        assert 2 <= left.at_once <= left.possible


@pytest.mark.parametrize("seed", STARS)
def test_who_forgets_them_is_found_out(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(beside, "views", lambda sides, domains=None: views(sides))
    assert behind_a_star(seed, tmp_path).at_once < 2
