"""One publish, counted: how often it searches, how often it turns a column into codes, and how many modules it has call
each other."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import sfumato as sf
from sfumato.cli.demo import SEVERAL, demo_recipe
from sfumato.data import datasets, encoding
from sfumato.data.table import Column
from sfumato.maskers.topdown.search import Search

ROWS = 2_000
MOST_EDGES = 548
"""Pairs of modules of which one calls the other. Merging modules of up to 400 lines each, as well as can be, leaves
about 310. The more there are, the more has to be known by whoever changes one."""
HOUSE = str(Path(sf.__file__).parent)


@contextmanager
def calls_between_modules() -> Iterator[set[tuple[str, str]]]:
    """The pairs of modules whose functions call each other meanwhile, in this thread."""
    found: set[tuple[str, str]] = set()

    def see(frame: FrameType, event: str, _: object) -> None:
        caller = frame.f_back
        if event == "call" and caller is not None and frame.f_code.co_name != "<module>":
            pair = caller.f_code.co_filename, frame.f_code.co_filename
            if pair[0] != pair[1] and all(name.startswith(HOUSE) for name in pair):
                found.add(pair)

    sys.setprofile(see)
    try:
        yield found
    finally:
        sys.setprofile(None)


def test_one_search_for_the_release_and_one_for_the_blind_baseline(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    recipe = demo_recipe(SEVERAL, k=20, clusters=4, mask=sf.TopDown())
    calls: Counter[str] = Counter()
    run, of, encode_column = Search.run, Column.__dict__["of"].__func__, encoding.encode_column

    def searched(self: Search, *given: Any, **more: Any) -> Any:
        calls["search"] += 1
        return run(self, *given, **more)

    def coded(cls: type[Column], *given: Any) -> Any:
        calls["masked column"] += 1
        return of(cls, *given)

    def raw(name: str, *given: Any, **more: Any) -> Any:
        calls[name] += 1
        return encode_column(name, *given, **more)

    monkeypatch.setattr(Search, "run", searched)
    monkeypatch.setattr(Column, "of", classmethod(coded))
    monkeypatch.setattr(encoding, "encode_column", raw)
    table = datasets.load("adult", complete=True).table.slice(0, ROWS)
    with calls_between_modules() as edges:
        release = sf.publish(table, recipe, run=sf.Run(ledger=sf.Ledger(tmp_path / "ledger.jsonl")))
    assert release.report is not None
    assert 100 < len(edges) <= MOST_EDGES
    assert calls.pop("search") == 2
    columns = len(recipe.schema.kept)
    assert calls.pop("masked column", 0) <= columns, "what a mask shows is in codes already"
    assert set(calls.values()) == {1}, "a raw column becomes codes once"
    assert len(calls) == columns
