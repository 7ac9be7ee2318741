"""`People`: from a release to numbers, points, clusters and groups, in the recipient's own library."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.data.masked import Masked
from sfumato.data.table import Column
from sfumato.display import Card, Grid
from sfumato.errors import ReleaseError, TableError, did_you_mean
from sfumato.people import frames
from sfumato.people.book import Book
from sfumato.people.clusters import cluster_points, clusters_by_density
from sfumato.people.estimates import Estimates
from sfumato.people.frames import Kind, check_kind, frame, interval_column, told_apart
from sfumato.people.likely_means import with_likely_means
from sfumato.people.likely_missing import drawn_missing
from sfumato.people.points import Points, own_points, spaced_points
from sfumato.people.raw_rows import raw_columns
from sfumato.people.routes import routed
from sfumato.people.shown_columns import Floats, Numbers
from sfumato.privacy.verify import Verdict
from sfumato.privacy.verify.canonical import QUOTED
from sfumato.privacy.verify.texts.readme import explained
from sfumato.privacy.verify.texts.snippet import CLASSES
from sfumato.publishing.orders import CENTRES, CODEBOOK, find_clusters, read_space
from sfumato.release.copies import copy_rows
from sfumato.release.exports.croissant import write_croissant
from sfumato.release.exports.export import export
from sfumato.release.reading import read_json
from sfumato.structure.released import ReleasedValues, Told
from sfumato.structure.released_groups import Codebook, Numbered, ReleasedGroups, tells_groups
from sfumato.structure.space import Space

How = Literal["expected", "middle", "low_high", "sample"]
COVERING = ("discretize", "suppress", "extent", "region")
"""How a column is masked that says of any raw value whether it is covered."""
FIRST = 5
"""Rows that a page shows."""
WITHOUT = ", or leave it out of what is learned, too: points(without=NAME)"
"""What else can be done about raw rows that lack a column."""


@dataclass(frozen=True, eq=False)
class People:
    """A released table as its recipient works with it.

    `verdict`: what verify found, None if it was not asked. Everything here follows from the release alone; the rows
    stand in the order of its table.
    """

    folder: Path
    certificate: Mapping[str, Any]
    rows: pa.Table
    kind: Kind
    verdict: Verdict | None = None

    def __repr__(self) -> str:
        return self._card().text()

    def _repr_html_(self) -> str:
        return self._card(rows=FIRST).html()

    def _card(self, rows: int = 0) -> Card:
        """Whether it was verified, the promise, each column, and in a page the first rows."""
        said = "not verified" if self.verdict is None else "verified"
        described = self.certificate["table"]["columns"]
        columns = [
            [one["name"], self._shown_kind(one["name"]), one["role"], _in_short(one["masked"])] for one in described
        ]
        grids = [Grid(("column", "kind", "role", "shows"), columns)]
        if rows:
            listed = self.rows.slice(0, rows).to_pylist()
            first = [["" if cell is None else str(cell) for cell in row.values()] for row in listed]
            grids.append(Grid(self.rows.column_names, first, title=f"The first of {len(self):,} rows"))
        lines = [self.guarantee, "table, numbers(), points(), clusters(), groups and codebook give what is in it."]
        title = f"People: {len(self):,} rows, {self.rows.num_columns} columns, {said}"
        return Card(title, lines, grids, state="plain" if self.verdict is None else "good")

    def _shown_kind(self, name: str) -> str:
        """The kind of a column, as its reader sees it: a date is a number only in how it is masked."""
        kind = self._kind_of(name)
        texts = kind == "number" and self._shows_texts(name)
        dates = self._intervals(name).dates if texts else frames.are_dates(self.rows.column(name))
        return "date or time" if dates and kind == "number" else kind.replace("_", " ")

    def __len__(self) -> int:
        return int(self.rows.num_rows)

    @property
    def guarantee(self) -> str:
        """What may be claimed."""
        return str(self.certificate["statement"])

    def to(self, kind: Kind) -> People:
        """The same, with tables in another library."""
        check_kind(kind)
        return replace(self, kind=kind)

    @property
    def table(self) -> Any:
        """The table as it is shown: labels, intervals and sets as categories, numbers as numbers, dates as dates (in
        pandas datetime64), true and false."""
        return frame({name: self._given(name) for name in self.rows.column_names}, self.kind)

    def numbers(self, how: How = "expected", *, draws: int = 1, seed: int = 0) -> Any:
        """The table with every interval as a number.

        "expected": the mean that the codebook tells of the group or the value; where it tells none, the one that those
        of others make likely, or the middle of the interval where it tells no means at all. "middle": always that.
        "low_high": both ends, as two columns, NAME_low and NAME_high. "sample": a row that may have been, `draws` times
        one below the other: numbers drawn inside their intervals around the mean, and labels drawn from what is shown
        by their shares, or where none are told by what all rows make likely; whole numbers where ends are. Where ends
        are days, so is every moment. The index of several draws (pandas) says which draw and which row each line is;
        elsewhere each draw is a block of as many lines as there are rows. From such rows a classifier learns best.
        Where an interval says `or missing`, "sample" draws as many missing numbers as all rows make likely.

        All rows of a group have one mean. So means of a masked number are exact by masked columns of which every group
        shows one label; by a column that goes out as it is they are drawn towards the mean of everybody, drawn or not:
        their order mostly stays, amounts do not. Its holder can make it quasi, with detail: {COLUMN: 1}. Correlations
        of masked numbers are too strong in "expected", and in "sample" nearer, rather too weak.
        """
        if how not in get_args(How):
            raise TableError(
                "how",
                f"it is one of {', '.join(get_args(How))}",
                given=repr(how),
                remedy=did_you_mean(how, get_args(How)),
            )
        if how == "sample":
            chance = np.random.default_rng(seed)
            drawn = [pa.table({n: self._drawn(n, chance) for n in self.rows.column_names}) for _ in range(draws)]
            every = pa.concat_tables(drawn, promote_options="permissive")
            found = frame({name: every.column(name) for name in every.column_names}, self.kind)
            return told_apart(found, draws, self.kind)
        columns: dict[str, Any] = {}
        for name in self.rows.column_names:
            columns |= self._numbers_of(name, how)
        return frame(columns, self.kind)

    def intervals(self, name: str) -> Any:
        """A column of intervals: pandas' own Interval type; a struct of low, high and closed in polars and Arrow."""
        return interval_column(name, self._intervals(name), self.kind)

    def points(
        self,
        rows: object = None,
        *,
        without: str | Sequence[str] = (),
        also: str | Sequence[str] = (),
        kind: Kind | None = None,
    ) -> Any:
        """(rows, dims): where each row stands, for clustering and learning; sets, intervals and missing values too.

        In the space of the release where it tells one, so that distances are those of its holder; else numbers from 0
        to 1 by what is shown, and two different labels one apart. Neither sensitive columns are in it nor the class
        that the masking was to keep (`classes`), which is there to be learned. `also` adds others, such as sensitive
        columns; `without` leaves some out. With `rows`, raw rows in the same space: what is learned from the masked
        points can be asked about them. A matrix; with `kind`, a table whose columns say what they are of.
        """
        left_out = self._named(without)
        found = self._points.without(left_out) if left_out else self._points
        more = [name for name in self._named(also) if name not in found.placed]
        if more:
            found = found.beside(self._own_points(more))
        made = found.shown if rows is None else found.raw(raw_columns(rows, [*found.placed], or_else=WITHOUT))
        return made if kind is None else frame({title: made[:, at] for at, title in enumerate(found.titles)}, kind)

    @property
    def classes(self) -> str | None:
        """The name of the column with the classes that the masking was to keep, which `points` leaves out; None where
        none were. The classes themselves are `people.table[people.classes]`."""
        return self.certificate.get(CLASSES)

    @property
    def dims(self) -> tuple[str, ...]:
        """(dims,): the attribute that each dimension of `points` is of."""
        return self._points.dims

    def _named(self, without: str | Sequence[str]) -> tuple[str, ...]:
        names = (without,) if isinstance(without, str) else tuple(without)
        for name in names:
            self._kind_of(name)
        return names

    def clusters(
        self, k: int | None = None, *, by_density: Literal["dbscan", "hdbscan"] | None = None
    ) -> NDArray[np.int64]:
        """(rows,): the cluster of each row, the largest first: as many as the release tells centres of, from where
        k-means starts; or k of them, the best of thirty starts.

        `by_density`: as many as there are, -1 for noise, with settings that follow from these rows: those of raw data
        would take every group that was masked alike for a cluster.
        """
        if by_density is not None:
            return clusters_by_density(self.points(), by_density)
        if k is None or (self._space is not None and k == len(self._space.centres)):
            return find_clusters(self.folder)
        return cluster_points(self.points(), k)

    @property
    def labels(self) -> NDArray[np.int64] | None:
        """(rows,): the cluster of the raw table in which the holder found each record, by the number of its centre; -1
        where the table shows several or none. None if labels do not go along."""
        told = self.certificate.get("labels")
        if told is None:
            return None
        numbers = {str(at): at for at in range(told["clusters"])} | {"noise": told["clusters"] - 1}
        column = Column.of(self.rows.column(told["column"]).cast(pa.string()))
        return np.array([*(numbers.get(text, -1) for text in column.labels), -1])[column.keys]

    @property
    def centres(self) -> NDArray[np.float64] | None:
        """(clusters, dims): where k-means on `points` starts to find the raw table's clusters; None if not told."""
        return None if self._space is None else self._space.start().astype(np.float64)

    @cached_property
    def groups(self) -> NDArray[np.int64]:
        """(rows,): the group of each row: those that show the same in every masked column have one number."""
        return self._numbered.of_row

    @property
    def weights(self) -> NDArray[np.int64]:
        """(groups,): how many rows each group has."""
        return np.bincount(self.groups, minlength=len(self._numbered.shown))

    @cached_property
    def codebook(self) -> Mapping[str, Any] | None:
        """What the release tells of its values or groups: means and shares; None where it tells nothing."""
        return Book(read_json(self.folder, CODEBOOK)) if CODEBOOK in self.certificate["files"] else None

    def route(self, rows: object) -> NDArray[np.int64]:
        """(raw rows,): the group whose values cover each raw row; -1 where none does, or more than one.

        A model that was learned group by group can so be asked about rows that nobody masked. That a row lies in a
        group says nothing about whether its person is among the released ones.
        """
        names = self._masked_names
        shown = {name: [group[at] for group in self._numbered.shown] for at, name in enumerate(names)}
        numbers = [name for name in names if self._kind_of(name) == "number"]
        treated = {column["name"]: column["masked"] for column in self.certificate["table"]["columns"]}
        if not names or not {treated[name] for name in names} <= {*COVERING}:
            raise ReleaseError(
                str(self.folder),
                "raw rows are routed where groups say which values they cover: intervals, sets, suppressed labels",
                given=f"a release masked by {self.certificate['mask']}",
                remedy="place them by people.points(rows)",
            )
        suppressed = [name for name in names if treated[name] == "suppress"]
        quoted = self.certificate["format"] >= QUOTED
        return routed(raw_columns(rows, names), shown, numbers=numbers, suppressed=suppressed, quoted=quoted)

    def export(self, path: str | Path) -> dict[str, int]:
        """Write a copy for another program: .xlsx (Excel), .dta (Stata), .sav (SPSS), .csv or .parquet.

        It is read back, compared cell by cell, and counted again; given is the smallest group of each claim. With the
        address of a database, which names a new table there, the database counts its copy itself.
        """
        if "://" in str(path):
            return copy_rows(self.rows, self.certificate, str(path))
        return export(self.rows, self.certificate, Path(path))

    def croissant(self) -> Path:
        """Write NAME.croissant.json beside the folder: the release as loaders of learning data take it (Croissant)."""
        return write_croissant(self.folder)

    @property
    def _unsensitive(self) -> tuple[str, ...]:
        described = self.certificate["table"]["columns"]
        return tuple(column["name"] for column in described if column["role"] != "sensitive")

    def _kind_of(self, name: str) -> str:
        for column in self.certificate["table"]["columns"]:
            if column["name"] == name:
                return str(column["kind"])
        names = self.rows.column_names
        raise TableError(
            name, "a column of the release is named", given="no such column", remedy=did_you_mean(name, names)
        )

    @cached_property
    def _masked(self) -> Masked:
        return Masked.of({name: self.rows.column(name) for name in self.rows.column_names})

    @cached_property
    def _masked_names(self) -> tuple[str, ...]:
        """Masked columns that show texts, in the order of the table: those by which groups are numbered."""
        described = self.certificate["table"]["columns"]
        return tuple(c["name"] for c in described if c["masked"] is not None and self._shows_texts(c["name"]))

    def _shows_texts(self, name: str) -> bool:
        column = self._masked[name]
        return isinstance(column, Column) and column.shows_labels

    @cached_property
    def _numbered(self) -> Numbered:
        return Numbered.of(self._masked, self._masked_names or self._unsensitive)

    @cached_property
    def _book(self) -> Codebook:
        if self.codebook is None:
            return ReleasedValues()
        return (ReleasedGroups if tells_groups(self.codebook) else ReleasedValues).from_json(self.codebook)

    @cached_property
    def _space(self) -> Space | None:
        return read_space(self.folder) if CENTRES in self.certificate["files"] else None

    @cached_property
    def _points(self) -> Points:
        if self._space is not None:
            return spaced_points(self._space, self._masked)
        names = [n for n in self._unsensitive if isinstance(self._masked[n], Column) and n != self.classes]
        return self._own_points(sorted(names, key=lambda name: self._kind_of(name) != "number"))  # as in its README

    def _own_points(self, names: Sequence[str]) -> Points:
        for name in names:
            if not isinstance(self._masked[name], Column):
                raise TableError(
                    name,
                    "numbers and labels have a place of their own",
                    given="a set of items",
                    remedy=f"make columns of its items, from people.table[{name!r}]",
                )
        return own_points({n: self._intervals(n) if self._kind_of(n) == "number" else self._told(n) for n in names})

    def _told(self, name: str, *, alone: bool = False) -> Told:
        """A column's entries; `alone`: without what a codebook tells."""
        return (ReleasedValues() if alone else self._book).told(name, self._masked)

    def _intervals(self, name: str, *, alone: bool = False) -> Numbers:
        if self._kind_of(name) != "number":
            raise TableError(
                name, "numbers have intervals", given="a column of labels", remedy="name a column of numbers"
            )
        dated = any(c["name"] == name and "calendar" in c for c in self.certificate["table"]["columns"])
        return Numbers.of(self._told(name, alone=alone), dates=dated)

    def _given(self, name: str) -> Any:
        """A column as it is released; where a masked one shows nothing but true and false, as what they say."""
        column, described = self.rows.column(name), self.certificate["table"]["columns"]
        masked = any(one["name"] == name and one["masked"] is not None for one in described)
        return frames.true_or_false(column) if masked else column

    def _numbers_of(self, name: str, how: How) -> dict[str, Any]:
        if self._kind_of(name) != "number" or not self._shows_texts(name):
            return {name: frames.as_moments(self._given(name))}
        found = self._intervals(name, alone=how == "middle")
        found = with_likely_means(found) if how == "expected" else found
        made = {f"{name}_low": found.low, f"{name}_high": found.high} if how == "low_high" else {name: found.mean}
        dates, days = found.dates, found.days
        return {key: frames.number_array(numbers[found.codes], dates=dates, days=days) for key, numbers in made.items()}

    def _drawn(self, name: str, chance: np.random.Generator) -> Any:
        given = self._given(name)
        if not self._shows_texts(name) or pa.types.is_boolean(given.type):
            return frames.as_moments(given)
        if self._kind_of(name) == "number":
            found = with_likely_means(self._intervals(name))
            numbers: Floats = found.drawn(chance)
            if (gone := self._estimates.missing(name)) is not None:
                numbers = np.where(drawn_missing(gone, chance), np.nan, numbers)
            return frames.number_array(numbers, dates=found.dates, whole=found.whole)
        return pa.array(self._estimates.labels(name).drawn(chance), pa.string()).dictionary_encode()

    @cached_property
    def _estimates(self) -> Estimates:
        return Estimates(self._told, groups=lambda: self.groups, clusters=lambda: self._told_clusters)

    @cached_property
    def _told_clusters(self) -> NDArray[np.int64] | None:
        """(rows,): the clusters that the release leads to; None where it tells no centres."""
        return None if self._space is None else self.clusters()


def _in_short(masked: str | None) -> str:
    """What a column shows, by how it was masked.

    >>> _in_short("extent"), _in_short(None)
    ("shown as what the record's group covers", 'as it is')
    """
    return re.split("[:;,]| such as", explained(masked, None, dotted=True))[0]
