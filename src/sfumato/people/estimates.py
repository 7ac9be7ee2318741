"""What is likely of a release's columns where it tells nothing: estimated once, and the same for every draw."""

from __future__ import annotations

from collections.abc import Callable

from sfumato.arrays import Ints
from sfumato.people.likely_labels import leaves_sets, likely_labels
from sfumato.people.likely_missing import likely_missing
from sfumato.people.shown_columns import Labels
from sfumato.structure.released import Told


class Estimates:
    """Owns what was estimated so far. `told`: a column's entries; `groups`, `clusters`: (rows,), asked for only where
    something is left open; clusters may be None."""

    def __init__(
        self, told: Callable[[str], Told], *, groups: Callable[[], Ints], clusters: Callable[[], Ints | None]
    ) -> None:
        self._told, self._groups, self._clusters = told, groups, clusters
        self._labels: dict[str, Labels] = {}
        self._missing: dict[str, Labels | None] = {}

    def labels(self, name: str) -> Labels:
        """The labels of a column by the shares that are told, and where none are by those that are likely."""
        if name not in self._labels:
            told = self._told(name)
            if leaves_sets(told):
                self._labels[name] = likely_labels(told, groups=self._groups(), clusters=self._clusters())
            else:
                self._labels[name] = Labels.of(told)
        return self._labels[name]

    def missing(self, name: str) -> Labels | None:
        """How many of a column's numbers are there and missing; None where nothing is left open."""
        if name not in self._missing:
            self._missing[name] = likely_missing(self._told(name), groups=self._groups, clusters=self._clusters)
        return self._missing[name]
