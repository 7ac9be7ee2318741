"""What is left of anonymity when releases of a growing table are held side by side, counted from their files.

A world puts every person into one group of each release since it came, so that each group is filled and what a person
shows everywhere fits some point of every attribute. Of the people who came with a target and share its groups, as far
as the attacker knows it, at most so many can exist as the fullest world has; fewer than k is what must not happen.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any

from sfumato.events import checkpoint, watched
from sfumato.privacy.verify.explained.recoding import over
from sfumato.privacy.verify.explained.trees import agree, nodes, tree_file
from sfumato.privacy.verify.fields import Form, field, mapping
from sfumato.privacy.verify.folder import Folder
from sfumato.privacy.verify.intervals import Rule
from sfumato.privacy.verify.verdict import CheckError

if TYPE_CHECKING:
    import polars as pl

SIZE = "\0size"  # no column has this name
ANYTHING = "\0anything"  # no label is called so
EARLIEST = "0001-01-01"
MOST = 400_000  # ways through the groups beyond which nothing is counted

Way = tuple[int, ...]
"""The group in each release, -1 before the person came."""
Fits = tuple[frozenset[int] | None, ...]
"""Of each masked column the points that a record may stand on; None for all of them."""


def fewest(releases: Sequence[Folder], on: Sequence[str]) -> int:
    """The anonymity of the worst target who is known by these columns; releases in the order of their time."""
    trees = _trees(releases)
    points = _points(releases, trees)
    world = _Worlds([_Release(folder, points, _rules(folder, trees)) for folder in releases], _kept(releases), on)
    return world.fewest()


def _kept(releases: Sequence[Folder]) -> list[str]:
    """The columns by which records are compared: masked in no release, and there in all."""
    masked = {name for folder in releases for name in folder.recoding.rules}
    for folder in releases:
        bare = sorted(masked & set(folder.table.columns) - set(folder.recoding.rules))
        if bare:
            raise CheckError(f"{bare[0]!r} is masked in one release and shown as it is in another")
    return [n for n in releases[0].table.columns if n not in masked and all(n in f.table.columns for f in releases)]


def _trees(releases: Sequence[Folder]) -> dict[str, Form]:
    """Of each column the tree of the last release that has one: it has the labels that the earlier ones show."""
    return {name: folder.json(tree_file(name)) for folder in releases for name in folder.recoding.trees}


def _rules(folder: Folder, trees: Mapping[str, Form]) -> dict[str, Rule]:
    """The rules of a release, cuts over the trees that all releases have in common."""
    attributes = mapping(folder.json("recoding.json").get("attributes"), "attributes")
    found = dict(folder.recoding.rules)
    for name in folder.recoding.trees:
        if not agree(folder.json(tree_file(name)), trees[name]):
            raise CheckError(f"the trees of {name!r} contradict each other")
        found[name] = over(mapping(attributes[name], name), trees[name])
    return found


def _points(releases: Sequence[Folder], trees: Mapping[str, Form]) -> dict[str, list[object]]:
    """For each masked column: values so that rules which overlap do so in one of them; missing is one."""
    found: dict[str, list[object]] = {}
    for folder in releases:
        attributes = mapping(folder.json("recoding.json").get("attributes"), "attributes")
        for name in folder.recoding.rules:
            leaves = [node.label for node in nodes(trees[name]) if not node.below] if name in trees else []
            told = leaves or _told(mapping(attributes[name], name))
            found.setdefault(name, [None, ANYTHING]).extend(told)
    return {name: list(dict.fromkeys(points)) for name, points in found.items()}


def _told(form: Form) -> list[Any]:
    """The values that a rule without a tree speaks of: disclosed labels, the lower ends of its intervals."""
    if form.get("kind") == "suppress":
        return list(field(form, "disclosed", list))
    ends: Any = form.get("range")
    breaks: list[Any] = list(field(form, "breaks", list))
    if ends is not None:
        return [ends[0], *breaks]
    return [*breaks, EARLIEST if "calendar" in form else min(breaks, default=0) - 1]


def _becomes(rule: Rule, point: object) -> object:
    """What a point shows; a number is no label, and what has no place shows nothing that anybody shows."""
    number = rule.kind == "discretize"
    try:
        return ANYTHING if number and point == ANYTHING else rule.becomes(point)
    except CheckError:
        return ANYTHING


@dataclass(frozen=True, eq=False)
class _Release:
    """One release: its rows by what they show, and what that fits."""

    folder: Folder
    points: Mapping[str, Sequence[object]]
    rules: Mapping[str, Rule]

    def rows(self, kept: Sequence[str]) -> pl.DataFrame:
        """How many records show each combination of masked and kept values."""
        import polars as pl

        names = [*self.folder.recoding.rules, *kept]
        whole = [name for name in names if self.folder.table.schema[name].is_nested()]
        sets = pl.col(whole).list.sort().cast(pl.List(pl.String)).list.join("\0")
        texts = self.folder.table.with_columns(sets).select(pl.col(names).cast(pl.String))
        return texts.group_by(names).agg(pl.len().alias(SIZE))

    @cached_property
    def fits(self) -> dict[str, dict[object, frozenset[int]]]:
        """Of each masked column and each value shown: the points that it may stand for."""
        found: dict[str, dict[object, frozenset[int]]] = {}
        for name, rule in self.rules.items():
            shown = [_becomes(rule, point) for point in self.points[name]]
            found[name] = {v: frozenset(at for at, s in enumerate(shown) if s == v) for v in set(shown) - {ANYTHING}}
        return found

    def of(self, name: str, value: object, *, lifted: bool) -> frozenset[int] | None:
        """The points that a record may stand on; None for all of them."""
        if lifted or name not in self.fits:
            return None
        return self.fits[name].get(value, frozenset())

    def lifted(self, row: Mapping[str, object]) -> bool:
        """Whether a record shows the top everywhere, where some were lifted there: it may be anybody's."""
        rules = self.folder.recoding.rules
        return self.folder.recoding.lifted and all(row[name] == rule.top for name, rule in rules.items())


@dataclass(frozen=True)
class _Group:
    """Records that look alike in everything: how many, what the attacker sees of them, which points they may be at."""

    size: int
    known: tuple[object, ...]
    fits: Fits


class _Worlds:
    """Owns the groups of all releases by their kept values."""

    def __init__(self, releases: Sequence[_Release], kept: Sequence[str], on: Sequence[str]) -> None:
        self._masked = sorted({name for release in releases for name in release.folder.recoding.rules})
        self._by_value: dict[tuple[object, ...], list[list[_Group]]] = {}
        for at, release in enumerate(releases):
            for row in watched(release.rows(kept).iter_rows(named=True)):
                value = tuple(row[name] for name in kept)
                groups = self._by_value.setdefault(value, [[] for _ in releases])
                groups[at].append(self._group(release, row, on))

    def _group(self, release: _Release, row: Mapping[str, Any], on: Sequence[str]) -> _Group:
        lifted = release.lifted(row)
        known = (lifted, *(row[name] for name in on if name in release.folder.recoding.rules))
        fits = tuple(release.of(name, row.get(name), lifted=lifted) for name in self._masked)
        return _Group(int(row[SIZE]), known, fits)

    def fewest(self) -> int:
        """Over all targets; the values of the kept columns have nothing to do with each other."""
        most: dict[object, int] = {}
        parts: dict[object, list[tuple[_Part, list[int]]]] = {}
        for groups in watched(self._by_value.values()):
            for part in _parts(groups):
                for target, ways in part.targets.items():
                    parts.setdefault(target, []).append((part, ways))
        found: int | None = None
        for target, places in sorted(parts.items(), key=lambda item: sum(part.room(w) for part, w in item[1])):
            checkpoint()
            if found is not None and sum(part.seen.get(target, 0) for part, _ in places) >= found:
                continue
            most[target] = sum(part.most(target) for part, _ in places)
            if most[target] and (found is None or most[target] < found):
                found = most[target]
        if found is None:
            raise CheckError("the releases show nobody")
        return found


class _Part:
    """Groups of one value that can exchange people, and all ways through them."""

    def __init__(self, groups: Sequence[Sequence[_Group]], ways: Sequence[Way]) -> None:
        self._groups, self._ways = groups, ways
        self.targets: dict[object, list[int]] = {}
        self.seen: dict[object, int] = {}
        for number, way in enumerate(ways):
            target = tuple(None if g < 0 else groups[at][g].known for at, g in enumerate(way))
            self.targets.setdefault(target, []).append(number)

    def room(self, ways: Sequence[int]) -> int:
        """No more people than this."""
        return sum(min(self._groups[at][g].size for at, g in enumerate(self._ways[w]) if g >= 0) for w in ways)

    def most(self, target: object) -> int:
        """People like the target in the world that has the most of them."""
        import numpy as np

        optimize: Any = import_module("scipy.optimize")
        matrix, sizes = self._equations
        worth = np.zeros(len(self._ways))
        worth[self.targets[target]] = -1
        whole = np.full(len(self._ways), int(len(self._groups) > 2))
        found = optimize.milp(worth, integrality=whole, constraints=optimize.LinearConstraint(matrix, sizes, sizes))
        if found.status != 0:
            raise CheckError("the later release cannot hold the people of the earlier ones, or it cannot be counted")
        for other, ways in self.targets.items():
            self.seen[other] = max(self.seen.get(other, 0), round(float(found.x[ways].sum())))
        return self.seen[target]

    @cached_property
    def _equations(self) -> tuple[Any, Any]:
        """Every group is filled: a row for each group, a column for each way."""
        import numpy as np
        from scipy.sparse import coo_array

        rows = {g: n for n, g in enumerate(sorted({(at, g) for w in self._ways for at, g in enumerate(w) if g >= 0}))}
        cells = [(rows[at, g], number) for number, way in enumerate(self._ways) for at, g in enumerate(way) if g >= 0]
        place = np.array(cells).T
        matrix = coo_array((np.ones(len(cells)), (place[0], place[1])), shape=(len(rows), len(self._ways)))
        return matrix.tocsr(), np.array([self._groups[at][g].size for at, g in rows], dtype=float)


def _parts(groups: Sequence[Sequence[_Group]]) -> Iterator[_Part]:
    """The groups of one value, taken apart where no way leads from one to the other."""
    totals = [sum(group.size for group in of) for of in groups]
    if sorted(totals) != totals:
        raise CheckError("a later release has fewer records of some kind than an earlier one")
    ways = [
        way for came, before in enumerate([0, *totals[:-1]]) if totals[came] > before for way in _ways(groups, came)
    ]
    alike = {(at, g): (at, g) for at, of in enumerate(groups) for g in range(len(of))}

    def root(group: tuple[int, int]) -> tuple[int, int]:
        while alike[group] != group:
            alike[group] = alike[alike[group]]
            group = alike[group]
        return group

    for way in ways:
        met = [root((at, g)) for at, g in enumerate(way) if g >= 0]
        for group in met:
            alike[group] = met[0]
    together: dict[tuple[int, int], list[Way]] = {}
    for way in ways:
        together.setdefault(root(next((at, g) for at, g in enumerate(way) if g >= 0)), []).append(way)
    if {root(group) for group in alike} - set(together):
        raise CheckError("a release has a group that nobody can be in")
    return (_Part(groups, part) for part in together.values())


def _ways(groups: Sequence[Sequence[_Group]], came: int) -> list[Way]:
    """Every way of somebody who came with this release: what is shown on it has a point in common."""
    before = (-1,) * came
    ways = [((*before, g), group.fits) for g, group in enumerate(groups[came])]
    for of in groups[came + 1 :]:
        index = _Index(of)
        ways = [((*way, g), _common(fits, of[g].fits)) for way, fits in ways for g in index.fitting(fits)]
        if len(ways) > MOST:
            raise CheckError("there are too many ways through the groups to count them")
    return [way for way, _ in ways]


class _Index:
    """Owns for each point the groups that may stand there, as the bits of a number."""

    def __init__(self, groups: Sequence[_Group]) -> None:
        self._all = (1 << len(groups)) - 1
        self._anywhere = [0] * len(groups[0].fits) if groups else []
        self._at: list[dict[int, int]] = [{} for _ in self._anywhere]
        self._known: dict[tuple[int, frozenset[int]], int] = {}
        for g, group in enumerate(groups):
            for column, fits in enumerate(group.fits):
                if fits is None:
                    self._anywhere[column] |= 1 << g
                for point in fits or ():
                    self._at[column][point] = self._at[column].get(point, 0) | 1 << g

    def fitting(self, fits: Fits) -> Iterator[int]:
        """The groups that have a point in common with this on every column."""
        found = self._all
        for column, points in enumerate(fits):
            if points is not None and found:
                found &= self._near(column, points)
        while found:
            lowest = found & -found
            yield lowest.bit_length() - 1
            found ^= lowest

    def _near(self, column: int, points: frozenset[int]) -> int:
        if (column, points) not in self._known:
            near = self._anywhere[column]
            for point in points:
                near |= self._at[column].get(point, 0)
            self._known[column, points] = near
        return self._known[column, points]


def _common(first: Fits, second: Fits) -> Fits:
    """Of each column the points in common."""
    return tuple(b if a is None else a if b is None else a & b for a, b in zip(first, second, strict=True))
